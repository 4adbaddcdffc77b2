"""Positions: the places picked over all questions, by hand; chance, few cases, and what is left out."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from tests.studies.making import row

from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.core.tables import SCORES, schema
from vivavoce.studies.contamination.positions import PositionRow, Positions
from vivavoce.studies.score_table import SAMPLED, ScoreTable
from vivavoce.studies.study import columns

BIAS = Measure(
    metric="options(rotate=true)",
    signature="options(norm=raw, of=letter, rotate=true)@1",
    criterion=Criterion(criterion="position_bias", direction="lower", if_unanswered="set_aside"),
)


def marks(*rows: Mapping[str, Any], measure: Measure = BIAS, weight: float | None = None) -> ScoreTable:
    """Score rows with these fields, of one measure."""
    types = dict(schema(SCORES)) | {"measure_id": pl.Int64(), "parts": pl.String()}
    plain = {
        **{
            "benchmark": "exam",
            "variant": "",
            "candidate": "A",
            "role": "candidate",
            "repeat": 1,
            "edit": "",
        },
        **{"pass_no": 1, "unit": "", "ballot": "", "value": 0.5, "status": "ok", "measure_id": 1},
    }
    table = pl.DataFrame([plain | {"group": one["item"]} | one for one in rows], schema=types, orient="row")
    return ScoreTable(table if weight is None else table.with_columns(weight=pl.lit(weight)), {1: measure})


def picked(item: str, picks: Sequence[float], **more: Any) -> dict[str, Any]:
    """A row whose parts count these picks."""
    counts = {f"pick_{j}": pick for j, pick in enumerate(picks, 1)}
    return {"item": item, "parts": json.dumps({"options": float(len(picks)), **counts})} | more


def same(picks: Sequence[float], n: int = 20, **more: Any) -> list[dict[str, Any]]:
    return [picked(f"q{i:02}", picks, **more) for i in range(n)]


def share(found: Any, position: int, **more: Any) -> dict[str, Any]:
    return row(found, figure="share", position=position, **more)


def test_shares_and_biases_worked_by_hand() -> None:
    """Half of the questions pick B in all orders, half each place once: B has (1 + 1/4) / 2."""
    found = Positions().findings(
        marks(*same([0, 4, 0, 0], 12), *[picked(f"r{i}", [1, 1, 1, 1]) for i in range(12)])
    )
    assert {columns(PositionRow)} == {tuple(r) for r in found.rows}
    assert [0.125, 0.625, 0.125, 0.125] == [share(found, j)["value"] for j in (1, 2, 3, 4)]
    assert [False, True, False, False] == [share(found, j)["favoured"] for j in (1, 2, 3, 4)]
    assert 0.5 == row(found, figure="position_bias")["value"]
    pooled = row(found, figure="pooled_bias")
    assert (0.5, None) == (pytest.approx(pooled["value"]), pooled["low"])
    r = share(found, 2)
    assert found.text == (
        "options, A on exam (24 questions of 4 options in 24 cases): of its picks place 1 0.13, "
        "place 2 0.63, place 3 0.13, place 4 0.13, where 0.25 is even; favoured: place 2 "
        f"({r['low_family']:.2f} to {r['high_family']:.2f}). Position bias 0.50 (0.31 to 0.69) by question, "
        "0.50 pooled."
    )


def test_intervals_are_wilson_by_group_alone_and_for_all_places() -> None:
    rows = [picked(f"q{i:02}", [3, 1] if i % 3 else [0, 4], group=f"g{i // 2}") for i in range(30)]
    values, groups = [0.75 if i % 3 else 0.0 for i in range(30)], [i // 2 for i in range(30)]
    r = share(Positions().findings(marks(*rows)), 1)
    alone = stats.estimate_mean(values, groups, low=0, high=1)
    both = stats.estimate_mean(values, groups, low=0, high=1, level=0.975)
    assert (30, 15) == (r["n_items"], r["n_groups"])
    assert pytest.approx((alone.value, alone.low, alone.high, alone.se)) == (
        r["value"], r["low"], r["high"], r["se"]
    )  # fmt: skip
    assert pytest.approx((both.low, both.high)) == (r["low_family"], r["high_family"])
    assert both.low < alone.low  # type: ignore[operator]


def test_the_family_is_all_places_of_all_candidates_and_benchmarks() -> None:
    """Two candidates on four places and one on two of another exam: 10 shares; nine cases count for none."""
    rows = [
        picked(f"q{i:02}", [2, 1, 1, 0] if i % 2 else [1, 1, 1, 1], candidate=c)
        for i in range(20)
        for c in "AB"
    ]
    rows += same([1, 1], 12, benchmark="other") + same([2, 0], 9, benchmark="small")
    found = Positions().findings(marks(*rows))
    r = share(found, 1, candidate="B")
    values, groups = [0.5 if i % 2 else 0.25 for i in range(20)], list(range(20))
    both = stats.estimate_mean(values, groups, low=0, high=1, level=1 - 0.05 / 10)
    assert pytest.approx((both.low, both.high)) == (r["low_family"], r["high_family"])
    assert found.notes[0].startswith("10 shares told together, over all candidates and benchmarks")


def test_a_place_that_only_the_family_weakens_is_not_favoured() -> None:
    rows = [picked(f"q{i:02}", [2, 0] if i % 4 else [0, 2]) for i in range(24)]
    assert share(Positions().findings(marks(*rows)), 1)["favoured"]
    several = [one | {"candidate": f"c{n}"} for n in range(9) for one in same([1, 1], 24)]
    assert not share(Positions().findings(marks(*rows, *several)), 1, candidate="A")["favoured"]


def test_content_alone_favours_no_place() -> None:
    found = Positions().findings(marks(*same([1, 1, 1])))
    both = tuple(row(found, figure=f"{f}_bias")["value"] for f in ("position", "pooled"))
    assert pytest.approx((0.0, 0.0), abs=1e-12) == both
    assert "no place was shown to be favoured" in found.text


def test_chance_raises_the_bias_by_question_and_not_the_pooled_one() -> None:
    """Four picks at random of four places: E|X/4 - 1/4| with X ~ Bin(4, 1/4) gives 27/64 after scaling."""
    rng = random.Random(4)
    rows = []
    for i in range(2000):
        places = rng.choices(range(4), k=4)
        rows.append(picked(f"q{i}", [float(places.count(j)) for j in range(4)]))
    found = Positions().findings(marks(*rows))
    assert row(found, figure="position_bias")["value"] == pytest.approx(27 / 64, abs=0.015)
    assert row(found, figure="pooled_bias")["value"] < 0.03
    assert not any(r["favoured"] for r in found.rows)


def test_repeats_and_passes_are_averaged_before_questions() -> None:
    rows = same([1, 1], 10)
    rows += [picked("q00", [2, 0], repeat=2), picked("q00", [2, 0], repeat=2, pass_no=2)]
    r = share(Positions().findings(marks(*rows)), 1)
    assert (10, pytest.approx((9 * 0.5 + 0.75) / 10)) == (r["n_items"], r["value"])


def test_questions_of_another_number_of_options_stand_apart() -> None:
    found = Positions().findings(marks(*same([2, 0]), *[picked(f"r{i}", [0, 0, 3]) for i in range(20)]))
    assert (1.0, 1.0) == (share(found, 1, options=2)["value"], share(found, 3, options=3)["value"])
    assert (3 + 1, 3 + 2) == tuple(sum(r["options"] == k for r in found.rows) for k in (2, 3))


def test_floors_edits_and_failed_marks_are_left_out() -> None:
    more = [
        *same([2, 0], role="floor", candidate="guess"),
        *same([2, 0], edit="noise"),
        {"item": "x", "status": "failed", "value": None, "parts": None},
    ]
    found = Positions().findings(marks(*same([1, 1]), *more))
    assert {("A", 20)} == {(r["candidate"], r["n_items"]) for r in found.rows}


def test_few_cases_give_counts_and_a_reason() -> None:
    found = Positions().findings(marks(*same([2, 0], 9)))
    assert {(None, 9, "9 cases: too few to tell")} == {
        (r["value"], r["n_groups"], r["reason"]) for r in found.rows
    }
    assert "9 cases: too few to tell; it takes 10 cases." in found.text


def test_the_order_of_rows_changes_nothing() -> None:
    rows = [picked(f"q{i:02}", [i % 3, 3 - i % 3], candidate=c) for i in range(30) for c in "BA"]
    first, second = Positions().findings(marks(*rows)), Positions().findings(marks(*reversed(rows)))
    assert first == second
    assert ["A", "B"] == list(dict.fromkeys(r["candidate"] for r in first.rows))


@pytest.mark.parametrize("nothing", [True, False])
def test_a_run_without_rotations_says_what_to_do(nothing: bool) -> None:
    other = Measure(metric="accuracy", signature="accuracy()@1", criterion=Criterion(criterion="accuracy"))
    found = Positions().findings(marks(measure=BIAS if nothing else other))
    assert () == found.rows
    assert "score options(rotate=true)" in found.text


def test_a_sample_is_counted_question_by_question_and_says_so() -> None:
    found = Positions().findings(marks(*same([1, 1]), weight=2.0))
    assert "A sample was asked: shares of places count each question alike." == found.notes[-1]
    assert SAMPLED not in found.notes
