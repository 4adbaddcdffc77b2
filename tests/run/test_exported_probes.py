"""What models told of their probabilities, out of a run and back: it is never taken for words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.store.told import GIVEN, tell
from tests.studies.making import exam, made, write_lines

from vivavoce.core.errors import InputError
from vivavoce.run.run import Run, open_run

TOLD = {"q1": -1.0, "q2": -2.0}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A answered in words and told of its probabilities, B told only; both are scored."""
    run = made(tmp_path, {"A": {"q1": "x y", "q2": "z"}})
    for candidate in ("A", "B"):
        tell(run, candidate, TOLD)
    run.score("token_f1", "perplexity")
    return run


def exported(run: Run, folder: Path, form: Any) -> Path:
    run.export(folder / "out", format=form)
    return folder / "out"


@pytest.fixture
def again(tmp_path: Path) -> Run:
    return open_run(tmp_path / "again.viva")


# Answers


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_export_is_read_back_without_what_probes_told(
    run: Run, again: Run, tmp_path: Path, form: Any
) -> None:
    out = exported(run, tmp_path, form)
    done = again.import_answers(out / f"responses.{form}", benchmark=exam(tmp_path, ["q1", "q2"]))
    assert (2, 2, 0, 4) == (done.responses, done.new, done.skipped, done.probes)
    same = ["item", "variant", "candidate", "repeat", "edit", "probe", "status", "text"]  # CSV knows no null
    assert run.responses.filter(probe="").select(same).equals(again.responses.select(same))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_record_is_never_exported_as_text(run: Run, tmp_path: Path, form: Any) -> None:
    read = pl.read_csv if form == "csv" else pl.read_parquet
    rows = read(exported(run, tmp_path, form) / f"responses.{form}").with_columns(
        pl.col("probe").fill_null("")
    )
    words, records = rows.filter(probe=""), rows.filter(probe=GIVEN)
    assert (["x y", "z"], [None] * 2) == (words["text"].to_list(), words["logprobs"].to_list())
    assert [None] * 4 == records["text"].to_list()
    logprobs = [json.loads(record)["references"][0]["logprob"] for record in records["logprobs"]]
    assert [-1.0, -1.0, -2.0, -2.0] == logprobs


def test_rows_of_probes_may_be_chosen_as_words(run: Run, again: Run, tmp_path: Path) -> None:
    """A file of others may have a column of that name for something else."""
    rows = [{"item": "q1", "candidate": "A", "text": "x", "probe": "third of the day"}]
    file = write_lines(tmp_path / "answers.jsonl", rows)
    assert 1 == again.import_answers(file, benchmark=exam(tmp_path, ["q1"]), set={"probe": ""}).new


def test_an_export_of_probes_alone_holds_no_answer(tmp_path: Path, again: Run) -> None:
    rows = [{"item": "q1", "candidate": "A", "text": "{}", "probe": GIVEN}]
    file = write_lines(tmp_path / "answers.jsonl", rows)
    with pytest.raises(InputError, match=r"holds no answer in words to .*: 1 rows are of probes"):
        again.import_answers(file, benchmark=exam(tmp_path, ["q1"]))
    assert not again.file.exists


def test_an_import_records_how_many_rows_were_of_probes(run: Run, again: Run, tmp_path: Path) -> None:
    out = exported(run, tmp_path, "csv")
    again.import_answers(out / "responses.csv", benchmark=exam(tmp_path, ["q1", "q2"]))
    with again.file.reading() as db:
        (body,) = db.execute("SELECT body FROM provenance").fetchone()
    assert 4 == json.loads(body)["probes"]


# Scores


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_exported_marks_say_which_are_of_probes(run: Run, tmp_path: Path, form: Any) -> None:
    read = pl.read_csv if form == "csv" else pl.read_parquet
    frame = read(exported(run, tmp_path, form) / f"scores.{form}").with_columns(pl.col("probe").fill_null(""))
    assert {("token_f1", ""), ("perplexity", GIVEN)} == set(frame.select("metric", "probe").iter_rows())


def test_marks_of_probes_are_not_put_onto_words(run: Run, tmp_path: Path) -> None:
    out = exported(run, tmp_path, "csv")
    before = run.scores.height
    done = run.import_scores(
        out / "scores.csv", measure="panel()", where={"candidate": "A"},
        range={"*": (0, None)},
    )  # fmt: skip
    assert (2, 6, ("f1",)) == (done.scores, done.probes, done.criteria)
    assert 2 == run.scores.height - before
    assert run.scores.filter(metric="panel")["value"].max() <= 1


def test_a_choice_of_nothing_but_marks_of_probes_is_refused(run: Run, tmp_path: Path) -> None:
    out = exported(run, tmp_path, "csv")
    with pytest.raises(InputError, match=r"the 12 rows chosen score what models told of their probabilities"):
        run.import_scores(out / "scores.csv", measure="panel()", where={"metric": "perplexity"})


def test_marks_are_not_imported_under_the_name_of_a_metric_of_probabilities(run: Run, tmp_path: Path) -> None:
    """A table of `Run.scores` has no column that tells them apart."""
    run.scores.write_csv(tmp_path / "scores.csv")
    with pytest.raises(InputError, match=r"perplexity scores a model.s log-prob.* another name"):
        run.import_scores(
            tmp_path / "scores.csv", measure="perplexity(given=question)",
            where={"metric": "perplexity", "candidate": "A"}, range={"*": (0, None)},
        )  # fmt: skip


def test_a_criterion_may_be_named_probe(run: Run, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "marks.jsonl", [{"item": "q1", "candidate": "A", "probe": 0.5}])
    done = run.import_scores(file, measure="panel()", criteria=["probe"], range={"*": (0, 1)})
    assert (1, 0) == (done.scores, done.probes)


# Parts of a run, and redaction


def test_a_part_says_how_many_calls_of_no_item_it_lacks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    run.export(tmp_path / "part.viva", format="run", items=exam(tmp_path / "one", ["q1"]))
    part = open_run(tmp_path / "part.viva")
    assert {"A", "B"} == set(part.responses.filter(probe=GIVEN)["candidate"])
    with part.file.reading() as db:
        (body,) = db.execute("SELECT body FROM provenance WHERE verb = 'export'").fetchone()
        assert [] == db.execute("SELECT * FROM calls").fetchall()
    assert {"probe": 4} == json.loads(body)["calls_left_out"]


def test_the_readme_of_chosen_items_says_which_calls_it_lacks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()

    def said(**settings: Any) -> str:
        run.export(tmp_path / "out", format="csv", **settings)
        return " ".join((tmp_path / "out" / "README.txt").read_text(encoding="utf-8").split())

    sentence = "A request about probabilities, and one to a judge, is kept under no item"
    one = exam(tmp_path / "one", ["q1"])
    assert sentence in said(items=one)
    assert pl.read_csv(tmp_path / "out" / "calls.csv").is_empty()
    assert sentence not in said(items=one, table=["scores"])
    assert sentence not in said()


def test_what_a_probe_told_is_redacted_as_a_whole(run: Run, tmp_path: Path) -> None:
    run.export(tmp_path / "out", format="parquet", redact=True)
    texts = pl.read_parquet(tmp_path / "out" / "responses.parquet").filter(probe=GIVEN)["logprobs"]
    assert all(text.startswith("[redacted: ") for text in texts)
    said = " ".join((tmp_path / "out" / "README.txt").read_text(encoding="utf-8").split())
    assert "A record of log-likelihoods is such a text as a whole" in said


def test_the_shell_reads_an_export_back(viva: Callable[..., Any], run: Run, tmp_path: Path) -> None:
    out = exported(run, tmp_path, "csv")
    asked = ("--benchmark", exam(tmp_path, ["q1", "q2"]), "--json")
    (done,) = json.loads(viva("import", tmp_path / "again.viva", out / "responses.csv", *asked).stdout)[
        "rows"
    ]
    assert (2, 4) == (done["responses"], done["probes"])
