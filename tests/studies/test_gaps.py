"""Gaps: no category is read unless the profile of a candidate is shown to differ between categories."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studies.making import made, marked, row, score, write_lines

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.studies.comparing.gaps import COLUMNS


def study(run: Run, **settings: Any) -> Finding:
    return run.study("gaps", **settings)["gaps"]


def items(*sizes: int, prefix: str = "") -> list[dict[str, Any]]:
    """Items of the categories x, y, z …, so many of each."""
    named = [kind for kind, size in zip("xyzw", sizes, strict=False) for _ in range(size)]
    return [{"item": f"{prefix}q{n:02}", "category": kind} for n, kind in enumerate(named)]


def answers(asked: Sequence[dict[str, Any]], worth: dict[str, float], more: float = 0.0) -> dict[str, float]:
    """What each is worth by its category, and a little more on every third."""
    return {i["item"]: round(worth[i["category"]] + more * (n % 3), 6) for n, i in enumerate(asked)}


def table(folder: Path, asked: Sequence[dict[str, Any]], **worths: tuple[dict[str, float], float]) -> Run:
    said = {name: answers(asked, worth, more) for name, (worth, more) in worths.items()}
    return marked(folder, said, items=asked)


EVEN, TILTED = {"x": 0.5, "y": 0.5}, {"x": 0.2, "y": 0.8}


def test_a_profile_that_differs_is_found_and_named(tmp_path: Path) -> None:
    run = table(tmp_path, items(12, 12), A=(EVEN, 0.01), B=(EVEN, 0.02), C=(TILTED, 0.06))
    found = study(run)
    assert {True} == {r["differs"] for r in found.rows if r["candidate"] == "C"}
    assert (
        "Of 3 profiles tested (Holm; exam: 24 questions in 24 cases), these differ between categories: "
    ) in found.text
    assert "C on told: worth" in found.text
    r = row(found, candidate="C", category="x")
    assert (12, 12, pytest.approx(0.26)) == (r["n_items"], r["n_groups"], r["mean"])
    assert r["low"] < r["mean"] < r["high"]
    assert {tuple(COLUMNS)} == {tuple(r) for r in found.rows}


def test_a_hard_category_is_no_gap(tmp_path: Path) -> None:
    """All find y easy and x hard: their profiles are alike, whatever their level."""
    noise = np.random.default_rng(2).normal(scale=0.02, size=(3, 24))
    asked = items(12, 12)
    said = {
        name: {
            i["item"]: round(TILTED[i["category"]] + 0.04 * k + e, 6) for i, e in zip(asked, own, strict=True)
        }
        for k, (name, own) in enumerate(zip("ABC", noise, strict=True))
    }
    found = study(marked(tmp_path, said, items=asked))
    assert {False} == {r["differs"] for r in found.rows}
    assert (
        "Of 3 profiles tested (Holm; exam: 24 questions in 24 cases), none was shown to differ between "
        "categories: intervals by category are no gaps."
    ) == found.text


def test_the_test_is_that_of_the_value_less_the_mean_of_all(tmp_path: Path) -> None:
    asked = items(12, 12)
    found = study(table(tmp_path, asked, A=(EVEN, 0.01), B=(TILTED, 0.03)))
    a, b = (np.array(list(answers(asked, w, m).values())) for w, m in ((EVEN, 0.01), (TILTED, 0.03)))
    expected = stats.profile_test((a - b) / 2, [i["category"] for i in asked], range(24))
    r = row(found, candidate="A", category="y")
    assert pytest.approx((expected.f, expected.p)) == (r["f"], r["p"])
    assert pytest.approx(2 * r["p"]) == r["p_adjusted"]  # with two candidates both profiles are one


@pytest.fixture(scope="module")
def gaps_of_five(recorded: Run, paper: str) -> Finding:
    return study(recorded, items=paper)


def test_holm_runs_over_all_profiles_of_the_call(gaps_of_five: Finding) -> None:
    found = gaps_of_five
    ps: dict[tuple[str, str], tuple[float, float]] = {
        (r["criterion"], r["candidate"]): (r["p"], r["p_adjusted"]) for r in found.rows if r["p"] is not None
    }
    ordered = sorted(ps.values())
    highest = 0.0
    for place, (p, adjusted) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - place) * p))
        assert pytest.approx(highest) == adjusted
    assert f"Of {len(ordered)} profiles tested (Holm; " in found.text
    assert {(r["criterion"], r["candidate"]) for r in found.rows if r["differs"]} == {
        name for name, (_, p) in ps.items() if p <= 0.05
    }


def test_a_category_of_nine_cases_shows_counts_and_is_not_tested(gaps_of_five: Finding) -> None:
    """On the 61 common questions category 2 has nine; the test is of the other three."""
    r = row(gaps_of_five, criterion="harm", candidate="Gemini 2.5 Pro", category="2")
    assert (None, None, None, 9, "9 cases: counts only") == tuple(
        r[k] for k in ("mean", "low", "high", "n_groups", "reason")
    )
    assert r["f"] == row(gaps_of_five, criterion="harm", candidate="Gemini 2.5 Pro", category="1")["f"]


def test_a_category_of_one_case_makes_no_gap(tmp_path: Path) -> None:
    """Its one mean has no error that could be seen, and would be taken for certain."""
    rng = np.random.default_rng(4)
    asked = items(20, 20, 1)
    draws = {name: zip(asked, rng.uniform(0.4, 0.6, 41), strict=True) for name in "ABC"}
    said = {name: {i["item"]: round(v, 6) for i, v in drawn} for name, drawn in draws.items()}
    said["A"]["q40"] = 0.95
    found = study(marked(tmp_path, said, items=asked))
    assert {False} == {r["differs"] for r in found.rows}


@pytest.mark.parametrize(("sizes", "names"), [((24,), "x"), ((15, 9), "xy")])
def test_fewer_than_two_categories_of_ten_cases(tmp_path: Path, sizes: tuple[int, ...], names: str) -> None:
    found = study(table(tmp_path, items(*sizes), A=(EVEN, 0.01), B=(TILTED, 0.02)))
    assert {(None, None)} == {(r["p"], r["differs"]) for r in found.rows}
    assert (
        "fewer than two categories of 10 effective cases: too few to tell"
        == row(found, candidate="A", category="x")["reason"]
    )
    assert (
        "There is too little to tell whether any candidate's profile differs between categories (exam: 24 "
        "questions in 24 cases)."
    ) == found.text
    assert set(names) == {r["category"] for r in found.rows}


def test_measures_of_other_questions_are_named(tmp_path: Path) -> None:
    run = table(tmp_path, items(24), A=(EVEN, 0.01), B=(TILTED, 0.02))
    lines = [{"item": q["item"], "candidate": c, "value": 0.5} for q in items(24)[:8] for c in "AB"]
    run.import_scores(write_lines(tmp_path / "m.jsonl", lines), measure="panel", range={"*": (0, 1)})
    assert (
        "(told: worth on exam: 24 questions in 24 cases; panel on exam: 8 questions in 8 cases)."
        in study(run).text
    )


def test_items_without_a_category_are_in_none(tmp_path: Path) -> None:
    asked = [*items(12, 12), *({"item": f"n{k}"} for k in range(5))]
    said = {name: {i["item"]: 0.1 * (k % 4) for k, i in enumerate(asked)} for name in "AB"}
    found = study(marked(tmp_path, said, items=asked))
    assert {("x", 12), ("y", 12)} == {(r["category"], r["n_items"]) for r in found.rows}


def test_no_category_at_all(tmp_path: Path) -> None:
    said = {name: {f"q{k:02}": 0.1 * (k % 4) for k in range(12)} for name in "AB"}
    found = study(marked(tmp_path, said))
    assert () == found.rows
    assert found.text.startswith("There is too little to tell")


def test_one_candidate_has_no_profile(tmp_path: Path) -> None:
    found = study(table(tmp_path, items(12, 12), A=(TILTED, 0.01)))
    assert {"one candidate has no profile against others"} == {r["reason"] for r in found.rows}
    assert {None} == {r["differs"] for r in found.rows}
    assert row(found, category="x")["mean"] is not None


def test_candidates_that_are_all_alike_differ_nowhere(tmp_path: Path) -> None:
    found = study(table(tmp_path, items(12, 12), A=(TILTED, 0.01), B=(TILTED, 0.01)))
    assert {(0.0, 1.0, False)} == {(r["f"], r["p_adjusted"], r["differs"]) for r in found.rows}


def test_a_profile_without_spread_cannot_be_tested(tmp_path: Path) -> None:
    found = study(table(tmp_path, items(12, 12), A=(EVEN, 0.0), B=(TILTED, 0.0)))
    assert {(None, "no spread in any category")} == {(r["p"], r["reason"]) for r in found.rows}


def test_lower_is_better_has_the_same_gaps(tmp_path: Path) -> None:
    run = table(tmp_path, items(12, 12), A=(EVEN, 0.01), B=(EVEN, 0.02), C=(TILTED, 0.06))
    score(run, "told(direction=lower)")
    found = study(run)
    assert 2 * [True] * 2 == [r["differs"] for r in found.rows if r["candidate"] == "C"]


def test_questions_that_one_lacks_are_left_out_for_all(tmp_path: Path) -> None:
    asked = items(12, 12)
    said = {"A": answers(asked, EVEN, 0.01), "B": answers(asked[:-2], TILTED, 0.02)}
    assert {("x", 12), ("y", 10)} == {
        (r["category"], r["n_items"]) for r in study(marked(tmp_path, said, items=asked)).rows
    }


def test_floor_and_ceiling_are_left_out(tmp_path: Path) -> None:
    asked = items(12, 12)
    said = {name: answers(asked, EVEN, 0.01 * k) for k, name in enumerate("ABFC")}
    found = study(marked(tmp_path, said, items=asked, role={"F": "floor", "C": "ceiling"}))
    assert {"A", "B"} == {r["candidate"] for r in found.rows}


def test_two_benchmarks_are_kept_apart_and_named(tmp_path: Path) -> None:
    one, two = items(12, 12), items(12, 12, prefix="p")
    run = made(
        tmp_path,
        {"A": answers(one, EVEN, 0.01), "B": answers(one, EVEN, 0.02), "C": answers(one, TILTED, 0.06)},
        items=one,
        name="one",
    )
    flat = {name: answers(two, EVEN, 0.01) for name in "ABC"}
    made(tmp_path, flat, items=two, name="two", run=run)
    score(run)
    found = study(run)
    assert {("one", True), ("two", False)} == {
        (r["benchmark"], r["differs"]) for r in found.rows if r["candidate"] == "C"
    }
    assert "C on told: worth (one)" in found.text
    assert "(two)" not in found.text


def test_two_raters_are_tested_apart(panel: Callable[..., Run]) -> None:
    asked = items(12, 12)
    marks = [
        (c, i["item"], who, 1, round(5 * worth[i["category"]] + 0.1 * ((n * (k + 2)) % 5), 3))
        for who, tilt in (("Ann", EVEN), ("Bob", TILTED))
        for k, (c, worth) in enumerate({"A": EVEN, "B": EVEN, "C": tilt}.items())
        for n, i in enumerate(asked)
    ]
    found = study(panel(marks, items=asked))
    assert {("Ann", False), ("Bob", True)} == {
        (r["rater"], r["differs"]) for r in found.rows if r["candidate"] == "C"
    }
    assert "C on panel: worth by Bob" in found.text


def leaning(*lost: str) -> dict[str, dict[str, Any]]:
    """A is .3 better in x than in y, where B is even; in the categories `lost` three of A's scores failed."""
    asked = items(14, 14)
    said: dict[str, dict[str, Any]] = {
        "A": dict(answers(asked, {"x": 0.8, "y": 0.5}, 0.02)),
        "B": dict(answers(asked, EVEN, 0.05)),
    }
    for kind in lost:
        said["A"] |= dict.fromkeys([i["item"] for i in asked if i["category"] == kind][:3], "fail")
    return said


def test_failed_scores_that_decide_a_profile_leave_no_verdict(tmp_path: Path) -> None:
    """With three of fourteen at 0 the lead in x is gone."""
    found = study(marked(tmp_path, leaning("x"), items=items(14, 14)))
    assert {(None, True, "it depends on the 3 scores that failed")} == {
        (r["differs"], r["depends_on_failed"], r["reason"]) for r in found.rows if r["candidate"] == "A"
    }
    assert found.text.startswith(
        "The profiles of A on told: worth and B on told: worth depend on the 3 scores that failed: score "
        "them again before deciding. "
    )
    r = row(found, candidate="A", category="x")
    assert (11, pytest.approx(0.82, abs=0.01)) == (r["n_items"], r["mean"])
    assert pytest.approx((r["mean"] * 11 / 14, (r["mean"] * 11 + 3) / 14)) == (r["set_low"], r["set_high"])
    assert r["bound_low"] < r["set_low"] < r["low"] < r["high"] < r["bound_high"]


def test_a_profile_that_no_filling_turns_is_found(tmp_path: Path) -> None:
    """B's one failed score in x can take .07 from a lead of .3."""
    said = leaning()
    said["B"]["q00"] = "fail"
    found = study(marked(tmp_path, said, items=items(14, 14)))
    assert {(True, False)} == {(r["differs"], r["depends_on_failed"]) for r in found.rows}
    assert "depend on" not in found.text


def test_categories_are_filled_against_each_other_too(tmp_path: Path) -> None:
    """Failures in both categories leave the profile alone if all are low, and not if those in x alone are."""
    said = leaning("x", "y")
    found = study(marked(tmp_path, said, items=items(14, 14)))
    assert {(None, True)} == {(r["differs"], r["depends_on_failed"]) for r in found.rows}


def test_without_failures_the_bounds_are_the_figures(tmp_path: Path) -> None:
    found = study(marked(tmp_path, leaning(), items=items(14, 14)))
    for r in found.rows:
        assert (r["mean"], r["mean"], r["low"], r["high"], False) == (
            r["set_low"], r["set_high"], r["bound_low"], r["bound_high"], r["depends_on_failed"],
        )  # fmt: skip


def test_failed_scores_without_a_limit_have_no_bounds_and_no_verdict(tmp_path: Path) -> None:
    spec = "told(low=null, high=null, silence=set_aside)"
    found = study(marked(tmp_path, leaning("x"), spec, items=items(14, 14)))
    r = row(found, candidate="A", category="x")
    assert (None, None, None, True) == (r["set_low"], r["set_high"], r["differs"], r["depends_on_failed"])
    assert "a scale without a limit has no bound" in r["reason"]
