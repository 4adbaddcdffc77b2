"""A sample of an exam: what is a mean over the exam weighs its questions, the rest says that it does not."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.making import Answers, made, marked, row, score

from vivavoce import stats
from vivavoce.run.run import Run
from vivavoce.store import read
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.studies.score_table import SAMPLED

A = {"a1": 1, "a2": 0, "a3": 1, "b1": 0, "b2": 0}
B = {"a1": 0, "a2": 0, "a3": 1, "b1": 1, "b2": 1}


Weights = Sequence[float | None]


def named(n: int) -> list[str]:
    """n items in two categories, each beginning with that of its own."""
    return ["a1", "a2", "a3", "b1", "b2"] if n == 5 else [f"{'ab'[k % 2]}{k}" for k in range(n)]


def asked(
    folder: Path, answers: Answers, weights: Weights, spec: str = "told", *, prefix: str = "", **settings: Any
) -> Run:
    """A scored run of which each item stands for so many, null for what was asked whole.

    Weights come from `viva collect --sample`; here they are put in by hand.
    """
    names = [prefix + name for name in named(len(weights))]
    items = [{"item": name, "category": name.removeprefix(prefix)[0]} for name in names]
    run = marked(folder, answers, spec, items=items, **settings)
    with run.file.writing() as db:
        for name, weight in zip(names, weights, strict=True):
            if weight is not None:
                db.execute("UPDATE items SET weight = ? WHERE item = ?", (weight, name))
        renew_table_hashes(db)
    return run


STRATIFIED = (10.0, 10.0, 10.0, 5.0, 5.0)
"""30 questions of which 3 were asked, and 10 of which 2 were."""


def wide(folder: Path, weights: Weights) -> Run:
    """Three candidates with two answers each to 24 questions."""
    rng = np.random.default_rng(4)
    answers: Answers = {
        name: {item: [round(x, 2) for x in rng.uniform(0, 1, 2).tolist()] for item in named(24)}
        for name in ("A", "B", "C")
    }
    return asked(folder, answers, weights)


def everything(run: Run) -> str:
    """All that estimates, comparisons and studies find, as text: floats to the last digit."""
    found = [run.estimates(worst_at=2, tail=0.5), run.compare("A", "B", "C", metric="told")]
    found += [run.compare("A", "B", metric="told", population="fixed", margin=0.1), *run.study().values()]
    return json.dumps([one.rows for one in found])


def test_a_mean_is_the_textbook_stratified_mean(tmp_path: Path) -> None:
    """(30 * 2/3 + 10 * 0) / 40 for A, (30 * 1/3 + 10 * 1) / 40 for B; the plain means are 2/5 and 3/5."""
    run = asked(tmp_path, {"A": A, "B": B}, STRATIFIED)
    found = run.estimates()
    assert pytest.approx(0.5) == row(found, candidate="A")["estimate"]
    assert pytest.approx(0.5) == row(found, candidate="B")["estimate"]
    expected = stats.estimate_mean(list(A.values()), range(5), weights=STRATIFIED, low=0, high=1)
    assert expected[1:3] == tuple(row(found, candidate="A")[k] for k in ("low", "high"))
    assert found.notes == (
        "Of exam a sample was asked, 5 of 40 questions; each counts for as many as it stands for.",
    )


def test_compare_weighs_means_differences_and_errors(tmp_path: Path) -> None:
    run = asked(tmp_path, {"A": A, "B": B}, STRATIFIED)
    found = run.compare("A", "B", metric="told")
    assert pytest.approx(0, abs=1e-12) == found.rows[0]["difference"]
    assert "A 0.500, B 0.500" in found.text
    assert SAMPLED in found.notes
    d = np.array(list(A.values())) - np.array(list(B.values()))
    expected = stats.paired(d, range(5), weights=STRATIFIED)
    assert (expected.p, expected.effective_groups) == (found.rows[0]["p"], found.rows[0]["effective_cases"])
    assert (None, None, None) == tuple(found.rows[0][k] for k in ("low", "high", "mde"))  # five cases only


def test_a_difference_of_a_question_that_stands_for_many_weighs_more(tmp_path: Path) -> None:
    """A is ahead by 1 in one of 12 questions, and that stands for 89 of 100."""
    answers = {
        "A": {f"{'ab'[k % 2]}{k}": int(k == 0) for k in range(12)},
        "B": {f"{'ab'[k % 2]}{k}": 0 for k in range(12)},
    }
    run = asked(tmp_path, answers, [89.0] + [1.0] * 11)
    assert pytest.approx(0.89) == run.compare("A", "B", metric="told").rows[0]["difference"]


def test_weights_of_1_change_no_digit(tmp_path: Path) -> None:
    assert everything(wide(tmp_path / "none", [None] * 24)) == everything(wide(tmp_path / "one", [1.0] * 24))


def test_an_even_sample_changes_no_digit_either(tmp_path: Path) -> None:
    """Every question stands for 4: means are those of the questions asked."""
    assert everything(wide(tmp_path / "none", [None] * 24)) == everything(wide(tmp_path / "four", [4.0] * 24))


def test_the_scale_of_weights_is_of_no_account(tmp_path: Path) -> None:
    weights = np.random.default_rng(3).integers(2, 30, 24).astype(float)
    one, other = (wide(tmp_path / name, (weights * c).tolist()) for name, c in (("a", 1), ("b", 0.25)))
    both = (run.estimates(worst_at=2, tail=0.5).rows for run in (one, other))
    for left, right in zip(*both, strict=True):
        assert pytest.approx({k: v for k, v in left.items() if isinstance(v, float)}) == {
            k: v for k, v in right.items() if isinstance(v, float)
        }
    left, right = (run.compare("A", "B", metric="told").rows[0] for run in (one, other))
    for name in ("difference", "low", "high", "p", "p_flip", "mde"):
        assert pytest.approx(left[name]) == right[name], name


def test_uneven_weights_move_every_view(tmp_path: Path) -> None:
    plain = wide(tmp_path / "none", [None] * 24).estimates(worst_at=2, tail=0.5)
    weighed = wide(tmp_path / "some", [1.0, 9.0] * 12).estimates(worst_at=2, tail=0.5)
    for one, other in zip(plain.rows, weighed.rows, strict=True):
        if (one["candidate"], one["view"]) == (other["candidate"], other["view"]):
            assert one["estimate"] != other["estimate"], one["view"]


def test_bounds_of_failed_marks_are_weighted(tmp_path: Path) -> None:
    """The score that failed stands for 5 of 10 questions: 1/2 if it is worst, 1 if it is best."""
    answers = {"A": {"a0": 1, "b1": 1, "a2": "fail"}}
    run = asked(tmp_path, answers, [3.0, 2.0, 5.0])
    found = row(run.estimates(), candidate="A")
    assert pytest.approx((1.0, 0.5, 1.0)) == tuple(found[k] for k in ("estimate", "set_low", "set_high"))


def test_a_veto_is_weighted(tmp_path: Path) -> None:
    """The answer over the line stands for 5 of 10 questions."""
    answers = {"A": {"a0": 1, "b1": 1, "a2": 0.5}}
    run = asked(tmp_path, answers, [3.0, 2.0, 5.0], "told(criteria_named=[x, y])")
    found = run.estimates(veto=["told[x] < 0.6"])
    assert pytest.approx(0.5) == row(found, view="veto", criterion="y")["estimate"]


def test_a_pooled_figure_is_of_weighted_counts(tmp_path: Path) -> None:
    """F1 of tp 1 fp 0 fn 1 (standing for 3) and tp 2 fp 2 fn 0: 2 * 5 / (10 + 2 + 3); unweighted 6 / 9."""
    answers = {
        "A": {"a0": "tp=1 fp=0 fn=1", "b1": "tp=2 fp=2 fn=0"},
        "B": {"a0": "tp=1 fp=0 fn=0", "b1": "tp=2 fp=0 fn=0"},
    }
    found = {}
    for name, weights in (("some", [3.0, 1.0]), ("none", [None, None])):
        run = asked(tmp_path / name, answers, weights, "counted")
        found[name] = row(run.estimates("counted"), candidate="A")["estimate"]
        compared = run.compare("A", "B", metric="counted").rows[0]
        assert pytest.approx(found[name] - 1) == compared["difference"]
    assert pytest.approx({"some": 10 / 15, "none": 6 / 9}) == found


def test_ranking_is_by_weighted_means_and_says_what_is_not(tmp_path: Path) -> None:
    run = wide(tmp_path, [1.0, 9.0] * 12)
    ranked = run.study("ranking")["ranking"]
    means = {r["candidate"]: r["estimate"] for r in run.estimates().rows}
    assert pytest.approx(means) == {r["candidate"]: r["mean"] for r in ranked.rows}
    assert "means and ranks are weighted; mean ranks and Friedman's test count each question alike" in str(
        ranked
    )


def test_gaps_weigh_means_by_category(tmp_path: Path) -> None:
    run = wide(tmp_path, [2.0] * 12 + [3.0] * 12)
    found = run.study("gaps")["gaps"]
    values = run.scores.filter(candidate="A").group_by("item").agg(y="value").sort("item")
    y = {item: float(np.mean(v)) for item, v in values.iter_rows()}
    inside = [(y[f"a{k}"], 2.0 if k < 12 else 3.0) for k in range(0, 24, 2)]
    expected = sum(v * w for v, w in inside) / sum(w for _, w in inside)
    assert pytest.approx(expected) == row(found, candidate="A", category="a")["mean"]


@pytest.mark.parametrize("study", ["agreement", "consistency", "correlation", "gaps", "ranking"])
def test_a_study_says_that_a_sample_was_asked(tmp_path: Path, study: str) -> None:
    sampled = wide(tmp_path / "some", [1.0, 9.0] * 12).study(study)[study]
    whole = wide(tmp_path / "none", [None] * 24).study(study)[study]
    assert "A sample was asked" in " ".join(sampled.notes)
    assert "A sample was asked" not in " ".join(whole.notes)


def test_marks_bear_a_weight_in_a_sampled_run_alone(tmp_path: Path) -> None:
    """A column of a million ones would be 8 MB for nothing."""
    for name, weights in (("some", [2.0] + [1.0] * 4), ("none", [None] * 5), ("ones", [1.0] * 5)):
        run = asked(tmp_path / name, {"A": A}, weights)
        with run.file.reading() as db:
            frame, bare = read.scores(db, details=True), read.scores(db)
        assert (name == "some") == ("weight" in frame.columns)
        assert "weight" not in bare.columns


def test_a_second_exam_that_was_asked_whole_is_as_it_was(tmp_path: Path) -> None:
    items = [{"item": "z" + name, "category": name[0]} for name in A]
    answers = {"A": {"z" + k: v for k, v in A.items()}}
    alone = asked(tmp_path / "alone", answers, [None] * 5, prefix="z", name="whole")
    both = asked(tmp_path / "both", {"A": A}, STRATIFIED)
    made(tmp_path / "both", answers, items=items, name="whole", run=both)
    score(both)
    expected = row(alone.estimates(), benchmark="whole")
    assert expected == row(both.estimates(), benchmark="whole")
