"""The metric of atomic facts on HIVMedQA's long answers, with recorded units. The verdicts are made up."""

import json
from pathlib import Path

import polars as pl
import pytest

from vivavoce.facts import clean
from vivavoce.run.run import Run, open_run

VERDICTS = ("supported", "contradicted", "supported", "unverifiable", "supported")
CANDIDATES = ("Gemma 3 27B", "Med42-70B")


@pytest.fixture(scope="module")
def scored(hivmedqa: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two candidates' first answers, split at sentences, with a verdict for each by its number."""
    folder = tmp_path_factory.mktemp("facts")
    run = open_run(folder / "hiv.viva")
    rows = map(json.loads, (hivmedqa / "responses.jsonl").read_text().splitlines())
    answers, units = folder / "answers.jsonl", folder / "units.jsonl"
    answers.write_text(
        "".join(f"{json.dumps(r)}\n" for r in rows if r["model"] in CANDIDATES and r["iteration"] == 1)
    )
    run.import_answers(
        answers, benchmark=f"hivmedqa(data='{hivmedqa}')",
        map={"item": "question_id", "repeat": "iteration", "candidate": "model", "text": "answer"},
    )  # fmt: skip
    names = ["item", "variant", "candidate"]
    table = run.responses.join(run.items.select("item", "variant", "question"), on=["item", "variant"])
    with units.open("w") as file:
        for row in table.iter_rows(named=True):
            for n, text in enumerate(clean(row["question"], row["text"] or "").sentences):
                unit = {name: row[name] for name in names} | {"unit": n + 1, "text": text}
                file.write(json.dumps({**unit, "verdict": VERDICTS[n % 5], "rater": "made up"}) + "\n")
    run.score(f"atomic_facts(splitter=recorded(file={units}), checker=recorded(file={units}), gamma=10, k=8)")
    return run


def test_every_recorded_unit_is_a_row_and_no_answer_failed(scored: Run):
    rows = scored.scores.filter(pl.col("criterion") == "supported")
    assert not scored.scores.filter(pl.col("status") == "failed").height
    units = rows.filter(pl.col("unit") != "")
    silent = rows.filter(pl.col("unit") == "")
    assert set(silent["status"]) <= {"unanswered"}
    assert units.height > 500
    answers = units.select("item", "variant", "candidate").n_unique()
    assert answers + silent.height == scored.responses.height == 184


def test_precision_is_that_of_the_recorded_verdicts_and_its_bounds_hold_it(scored: Run):
    scores = scored.scores
    units = scores.filter((pl.col("criterion") == "supported") & (pl.col("unit") != ""))
    by_hand = units.group_by("item", "variant", "candidate").agg(pl.col("value").mean())
    figures = scores.filter(pl.col("status") == "ok").pivot(
        "criterion", index=["item", "variant", "candidate"], values="value", aggregate_function="first"
    )
    both = figures.join(by_hand, on=["item", "variant", "candidate"])
    assert both.height > 150
    assert (both["precision"] - both["value"]).abs().max() < 1e-12
    assert both.select((pl.col("precision_low") <= pl.col("precision")).all()).item()
    assert both.select((pl.col("precision") <= pl.col("precision_high")).all()).item()
    assert both.select((pl.col("length_penalised") <= pl.col("precision")).all()).item()


def test_twins_of_a_question_have_units_of_their_own(scored: Run):
    units = scored.scores.filter((pl.col("criterion") == "supported") & (pl.col("unit") != ""))
    assert units.filter(pl.col("variant") != "").height > 50
    assert units.filter(pl.col("variant") == "").height > 50
