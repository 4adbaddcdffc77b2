"""Diff of published scores with and without the reference."""

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.studies.making import row
from tests.studies.test_diff import held

from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.stats import cluster_mean, holm, t_interval
from vivavoce.studies.comparing.change import PARTS

OLD, NEW = "medgpt", "medgpt_free"
CLAUDE, NVLM, MED42 = "Claude 3.5 Sonnet", "NVLM-70B", "Med42-70B"


@pytest.fixture(scope="module")
def found(published: Callable[..., Run], hivmedqa: Path, paper: str) -> Finding:
    """Comprehension, with the reference and without, on the paper's 63 questions."""
    run = published("comprehension", "harm")
    run.import_scores(
        hivmedqa / "judge_scores.csv",
        measure=f"judge(rubric={NEW}, model=gpt-4o-2024-08-06)",
        map={"item": "question_id", "repeat": "iteration", "candidate": "model"},
        criteria=["comprehension"],
        where={"supervised": "False"},
        status="parse_status",
        range={"comprehension": (0, 5)},
        blank="recorded",
    )
    return held(run, OLD, NEW, items=paper)


@pytest.fixture(scope="module")
def shifts(hivmedqa: Path) -> dict[str, dict[str, float]]:
    """New minus old by candidate and question, straight from the published file."""
    marks: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    with (hivmedqa / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["parse_status"] == "ok":
                key = line["model"], line["question_id"], line["iteration"]
                marks[key][line["supervised"]] = float(line["comprehension"])
    by_item: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (model, question, _), two in marks.items():
        if len(two) == 2:
            by_item[model, question].append(two["False"] - two["True"])
    shifts: dict[str, dict[str, float]] = defaultdict(dict)
    for (model, question), moves in by_item.items():
        shifts[model][question] = float(np.mean(moves))
    return shifts


@pytest.mark.parametrize(
    ("coefficient", "value"),
    [
        ("alpha_nominal", "0.0270"),
        ("alpha_ordinal", "0.0254"),
        ("alpha_interval", "-0.0145"),
        ("quadratic_kappa", "0.1688"),
        ("percent", "0.4222"),
    ],
)
def test_with_against_without_the_reference(found: Finding, coefficient: str, value: str) -> None:
    """Section 6 of docs/statistics.md: 315 rows, correlation hides a shift of level."""
    r = row(found, part="agreement", candidate=CLAUDE, coefficient=coefficient)
    assert (value, 315, 42) == (f"{r['value']:.4f}", r["n_answers"], r["n_groups"])
    assert r["low"] < r["value"] < r["high"]


def test_what_one_could_not_read_is_counted_and_not_compared(found: Finding) -> None:
    overlap = row(found, part="overlap")
    assert (3135, 1, 0, 14) == tuple(overlap[k] for k in PARTS["overlap"])
    assert [("ok", "ok", 3135), ("failed", "failed", 14), ("ok", "failed", 1)] == [
        tuple(r[k] for k in PARTS["status"]) for r in found.rows if r["part"] == "status"
    ]


def test_the_shift_of_level_is_that_of_the_file(
    found: Finding, shifts: dict[str, dict[str, float]], hivmedqa: Path, paper: str
) -> None:
    """Recomputed with NumPy; the questions of a case are told by the run's own items."""
    from vivavoce.benchmarks import load

    groups = {item.alias or item.item: item.group for item in load(paper).items}
    for name in (CLAUDE, NVLM, MED42):
        there = {question: d for question, d in shifts[name].items() if question in groups}
        mean = cluster_mean(list(there.values()), [groups[q] for q in there])
        r = row(found, part="level", candidate=name)
        assert (len(there), mean.n_groups) == (r["n_items"], r["n_groups"])
        assert mean.se is not None
        assert pytest.approx((mean.value, *t_interval(mean.value, mean.se, mean.df))) == (
            r["difference"], r["low"], r["high"],
        )  # fmt: skip
    assert "0.6889" == f"{row(found, part='level', candidate=CLAUDE)['difference']:.4f}"


def test_a_shift_beyond_the_others_is_paired_on_questions_that_all_have(
    found: Finding, shifts: dict[str, dict[str, float]], paper: str
) -> None:
    from vivavoce.benchmarks import load

    names = [i.alias or i.item for i in load(paper).items]
    shared = [q for q in names if all(q in shifts[name] for name in shifts)]
    table = np.array([[shifts[name][q] for q in shared] for name in shifts])
    assert (10, 60) == table.shape
    for k, name in enumerate(shifts):
        others = np.delete(table, k, axis=0).mean(axis=0)
        r = row(found, part="beyond", candidate=name)
        assert pytest.approx(float((table[k] - others).mean()), abs=1e-8) == r["difference"]
        assert 60 == r["n_items"]


def test_every_p_belongs_to_one_family(found: Finding) -> None:
    tested = [r for r in found.rows if r.get("p") is not None]
    assert {("level", ""), *(("beyond", r["candidate"]) for r in found.rows if r["part"] == "beyond")} == {
        (r["part"], r["candidate"]) for r in tested
    }
    assert {11} == {r["family"] for r in tested}
    assert pytest.approx(holm([r["p"] for r in tested]).tolist()) == [r["p_adjusted"] for r in tested]
    assert "11 tests of shifts made together: p by Holm." in found.notes


def test_order_is_compared_pair_by_pair(found: Finding) -> None:
    r = row(found, part="order")
    assert (10, 60, 40, 45) == tuple(r[k] for k in ("n_candidates", "n_items", "n_groups", "n_pairs"))
    assert 45 == r["n_same"] + r["n_swapped"] + r["n_tied"]
    pairs = [p for p in found.rows if p["part"] == "pair"]
    assert r["n_swapped"] == sum(p["swapped"] for p in pairs)
    changed = [p for p in pairs if p["p_change"] <= 0.05]
    assert (len(changed), sum(p["better_one"] != p["better_other"] for p in changed)) == (
        r["n_changed"], r["n_verdicts_changed"],
    )  # fmt: skip
    # Tests that differ are more than changes that are shown.
    differ = r["n_told_apart_one"] + r["n_told_apart_other"] - 2 * r["n_told_apart_alike"]
    assert (9, 0) == (differ, r["n_verdicts_changed"])
    ranks = {p["candidate"]: p for p in found.rows if p["part"] == "rank"}
    assert (1, 10) == (ranks["Gemini 2.5 Pro"]["rank_one"], ranks["Llama 3.2-1B-Instruct"]["rank_other"])


def test_the_items_that_moved_most_come_first(found: Finding) -> None:
    moves = [r for r in found.rows if r["part"] == "item"]
    sizes = [abs(r["difference"]) for r in moves]
    assert 10 == len(moves)
    assert sorted(sizes, reverse=True) == sizes
    assert all(pytest.approx(r["other"] - r["one"]) == r["difference"] for r in moves)


def test_the_mean_of_the_old_marks_is_carried_to_the_mean_of_the_new(found: Finding) -> None:
    level = row(found, part="level", candidate="")
    r, line = row(found, part="carried", point="mean"), row(found, part="bridge")
    assert ("shift", 10) == (line["method"], line["n_candidates"])
    assert pytest.approx((level["one"], level["other"]), abs=0.01) == (r["one"], r["other"])
    assert r["low"] < r["other"] < r["high"]


def test_the_sentences_name_units_and_numbers(found: Finding) -> None:
    assert "3,135 answers scored by both, 1 by the old one only, 0 by the new one only, 14 by neither." in (
        found.text
    )
    assert "on 63 of 63 questions (42 cases). Agreement: alpha (ordinal) 0.39 (0.26 to 0.50)" in found.text
    assert "A further candidate with an old mean of 3.55 is expected at 4.28 (3.92 to 4.65)." in found.text
    assert not {"significant", "substantial"} & set(str(found).split())


def test_a_criterion_of_one_only_and_the_ceiling_are_named(found: Finding) -> None:
    assert any(note.startswith("Only judge(") and note.endswith("has: harm.") for note in found.notes)
    assert "Floor and ceiling are no candidates and were left out: Rephrased Gold Answers." in found.notes
    assert {"comprehension"} == {r["criterion"] for r in found.rows}


def test_rows_have_the_columns_of_their_part(found: Finding) -> None:
    place = ("part", "benchmark", "criterion", "rater_one", "rater_other")
    for r in found.rows:
        assert (*place, *PARTS[r["part"]], "reason") == tuple(r)
