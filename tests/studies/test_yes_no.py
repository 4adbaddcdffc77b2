"""A yes/no judge against people: what it finds, of whom it misses more, and whom nobody may name."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.judging import EXPERT, JUDGE, Marks, card, judged, some
from tests.studies.making import write_lines

from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.comparing.yes_no import yes_no_rows, yes_no_sentences
from vivavoce.studies.rater_scores import LabelledScores

FIGURES = ("sensitivity", "specificity")


def marks_of(people: dict[str, list[int]], judge: dict[str, list[int]], rater: str = "Ann") -> Marks:
    """Item by item what Ann and the judge say of each candidate's answer."""
    return {
        JUDGE: [(name, f"q{k:02}", v, None) for name, values in judge.items() for k, v in enumerate(values)],
        EXPERT: [
            (name, f"q{k:02}", v, rater) for name, values in people.items() for k, v in enumerate(values)
        ],
    }


def yes_no(folder: Path, people: dict[str, list[int]], judge: dict[str, list[int]]) -> Finding:
    return card(judged(folder, marks_of(people, judge), range={"*": (0, 1)}), labels=EXPERT)


def figure(finding: Finding, name: str, candidate: str = "") -> dict[str, Any]:
    (row,) = some(finding, part="people", figure=name, candidate=candidate)
    return row


def wrong_on(values: list[int], kind: int, n: int) -> list[int]:
    """The values with the first n of a kind turned round."""
    positions = [k for k, v in enumerate(values) if v == kind][:n]
    return [1 - v if k in positions else v for k, v in enumerate(values)]


HALF = [1, 0] * 20


def test_sensitivity_and_specificity_are_shares_of_what_people_say(tmp_path: Path) -> None:
    """People say yes to 20 of 40, the judge to 16 of those; of their 20 noes it agrees with 18."""
    judge = [*wrong_on(HALF[:20], 1, 4), *wrong_on(HALF[20:], 0, 2)]
    finding = yes_no(tmp_path, {"A": HALF}, {"A": judge})
    rows = [figure(finding, name) for name in FIGURES]
    assert [(16, 20), (18, 20)] == [(r["n_right"], r["n_units"]) for r in rows]
    for row, right in zip(rows, ([0.0] * 4 + [1.0] * 16, [0.0] * 2 + [1.0] * 18), strict=True):
        expected = stats.estimate_mean(right, np.arange(20), low=0, high=1)
        assert (expected.value, expected.low, expected.high) == (row["value"], row["low"], row["high"])
    assert "people say yes to 20 answers, and the judge to 16 of them (sensitivity 0.80, " in finding.text
    assert "people say no to 20 answers, and the judge to 18 of them (specificity 0.90, " in finding.text
    # One candidate has no others to differ from.
    assert [] == some(finding, part="people", figure="sensitivity", contrast="by candidate")
    assert "candidate is shown" not in finding.text


def test_a_candidate_of_whom_the_judge_misses_more_is_named(tmp_path: Path) -> None:
    judge = {"A": wrong_on(HALF, 1, 1), "B": HALF, "C": wrong_on(HALF, 1, 14)}
    finding = yes_no(tmp_path, dict.fromkeys("ABC", HALF), judge)
    row = figure(finding, "sensitivity", "C")
    assert (6, 20, 6, "by candidate") == (row["n_right"], row["n_units"], row["n_tests"], row["contrast"])
    assert row["p"] < row["p_adjusted"] <= 0.05
    assert "sensitivity differs for C: 6 of 20 (0.30, " in finding.text
    assert ", with the other candidates 39 of 40 (p " in finding.text
    assert "Holm over 6 tests: 3 candidates, sensitivity and specificity" in finding.text
    assert "differs for A" not in finding.text
    assert "specificity differs" not in finding.text
    assert json.loads(json.dumps([dict(r) for r in finding.rows]))


def test_of_two_candidates_one_question_is_asked_once(tmp_path: Path) -> None:
    finding = yes_no(tmp_path, dict.fromkeys("AB", HALF), {"A": HALF, "B": wrong_on(HALF, 1, 12)})
    a, b = (figure(finding, "sensitivity", name) for name in "AB")
    assert (2, 2, a["p_adjusted"]) == (a["n_tests"], b["n_tests"], b["p_adjusted"])
    assert pytest.approx(2 * a["p"]) == a["p_adjusted"]


def test_a_judge_alike_with_all_names_nobody(tmp_path: Path) -> None:
    finding = yes_no(tmp_path, dict.fromkeys("AB", HALF), dict.fromkeys("AB", wrong_on(HALF, 1, 3)))
    assert (
        "no candidate is shown to have another sensitivity or specificity (permuted over cases"
        in finding.text
    )
    assert "differs for" not in finding.text


def test_four_of_a_kind_are_too_few_and_five_are_not(tmp_path: Path) -> None:
    for n, reason in ((4, "too few cases of the rarer kind (4)"), (5, None)):
        people = [1] * n + [0] * (40 - n)
        finding = yes_no(tmp_path / str(n), {"A": people}, {"A": people})
        row = figure(finding, "sensitivity")
        assert (reason, reason is None) == (row["reason"], row["value"] is not None)
        assert figure(finding, "specificity")["value"] == 1
        assert (f"sensitivity is not known: {reason}" in finding.text) == (reason is not None)


def test_grades_have_neither(tmp_path: Path) -> None:
    finding = card(
        judged(tmp_path, {JUDGE: [("A", f"q{k:02}", k % 3) for k in range(30)],
                          EXPERT: [("A", f"q{k:02}", k % 3, "Ann") for k in range(30)]}),
        labels=EXPERT,
    )  # fmt: skip
    assert [] == [r for r in finding.rows if r["figure"] in FIGURES]


def test_people_who_are_split_are_left_out(tmp_path: Path) -> None:
    marks = marks_of({"A": HALF}, {"A": HALF})
    bob = [("A", f"q{k:02}", 1 - v if k < 6 else v, "Bob") for k, v in enumerate(HALF)]
    finding = card(
        judged(tmp_path, {**marks, EXPERT: [*marks[EXPERT], *bob]}, range={"*": (0, 1)}), labels=EXPERT
    )
    row = figure(finding, "sensitivity")
    assert (17, 17, 6, 2) == (row["n_right"], row["n_units"], row["n_dropped"], row["n_raters"])


def test_a_draw_with_several_probabilities_is_weighted(tmp_path: Path) -> None:
    """Of yes the judge misses those drawn with 0.2, which stand for four times as many as those with 0.8."""
    people = [1] * 20 + [0] * 20
    judge = [0] * 5 + [1] * 15 + [0] * 20
    run = judged(tmp_path, {JUDGE: [("A", f"q{k:02}", v) for k, v in enumerate(judge)]}, range={"*": (0, 1)})
    rows = [
        {"candidate": "A", "item": f"q{k:02}", "rater": "Ann", "criterion": "worth", "value": v,
         "p": 0.2 if k < 5 else 0.8}
        for k, v in enumerate(people)
    ]  # fmt: skip
    file = write_lines(tmp_path / "people.jsonl", rows)
    run.import_scores(file, measure=EXPERT, range={"*": (0, 1)}, map={"probability": "p"})
    row = figure(card(run, labels=EXPERT), "sensitivity")
    assert (15, 20) == (row["n_right"], row["n_units"])
    weights = [5.0] * 5 + [1.25] * 15
    expected = stats.estimate_mean([0.0] * 5 + [1.0] * 15, np.arange(20), low=0, high=1, weights=weights)
    assert pytest.approx(15 * 1.25 / (25 + 15 * 1.25)) == row["value"]
    assert (expected.low, expected.high) == pytest.approx((row["low"], row["high"]))


def test_nobody_is_named_in_more_than_5_percent_where_all_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four candidates, 40 questions, errors that go together inside a question; the sentences are counted."""
    import polars as pl

    monkeypatch.setattr("vivavoce.stats.case_permutation.PERMUTATIONS", 499)
    criterion = Criterion(criterion="harm", low=0, high=1)
    measure = Measure(metric="judge(rubric=r)", criterion=criterion, rater="m", signature="judge(rubric=r)@1")
    rng, draws, hits = np.random.default_rng(4), 100, 0
    names = [(f"q{k}", c) for k in range(40) for c in "ABCD"]
    for _ in range(draws):
        truth = (rng.normal(size=(40, 1)) + rng.normal(size=(40, 4)) > 0).ravel()
        z = math.sqrt(0.4) * rng.normal(size=(40, 1)) + math.sqrt(0.6) * rng.normal(size=(40, 4))
        right = (z < 1.0).ravel()
        single = pl.DataFrame({
            "benchmark": "b", "item": [q for q, _ in names], "variant": "",
            "candidate": [c for _, c in names], "repeat": 1, "role": "candidate",
            "group": [q for q, _ in names], "person": "Ann",
            "judge": np.where(right, truth, ~truth) * 1.0, "label": truth * 1.0,
        })  # fmt: skip
        rows = list(yes_no_rows(measure, LabelledScores("b", single, pl.DataFrame()), None))
        assert 10 == len(rows)
        hits += any("differs for" in text for text in yes_no_sentences("judge", rows))
    assert hits / draws <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / draws)
