"""Diff: what became of scores, level and order, on small panels worked by hand."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.studies.making import row, write_lines

from vivavoce.core.errors import SelectionError
from vivavoce.core.records import Finding
from vivavoce.run.run import Run
from vivavoce.run.tables.load import load_scores, select_items
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.change import PARTS
from vivavoce.studies.comparing.diff import diff

Panel = Callable[..., Run]
Marks = Sequence[tuple[Any, ...]]
CASES = 12


def held(run: Run, one: str, other: str, *, items: str | None = None, margin: float | None = None) -> Finding:
    """The diff of the two rubrics of these names."""
    marks = with_view(run.file, load_scores, items=with_view(run.file, select_items, items))
    named = {m.metric.split("rubric=")[1].split(",")[0].rstrip(")"): m.signature for m in run.measures}
    return diff(marks, named[one], named[other], margin=margin)


def marks(name: str, values: Sequence[Any], *, rater: str = "Ann") -> list[tuple[Any, ...]]:
    """One score of a candidate for each case."""
    return [(name, f"q{n:02}", rater, 1, value) for n, value in enumerate(values)]


def second(run: Run, folder: Path, rows: Marks, *, measure: str = "panel(rubric=s)", **settings: Any) -> Run:
    """The same answers scored again; a null score failed."""
    lines = [
        {"candidate": candidate, "item": item, "rater": rater, "pass_no": n, "value": value,
         "criterion": criterion[0] if criterion else "worth", "read": "ok" if value is not None else "no"}
        for candidate, item, rater, n, value, *criterion in rows
    ]  # fmt: skip
    file = write_lines(folder / "second.jsonl", lines)
    run.import_scores(file, measure=measure, status="read", again=True, **{"range": {"*": (0, 5)}} | settings)
    return run


A = [0, 1, 2, 3, 4, 5, 1, 2, 3, 4, 2, 3]
B = [1, 1, 2, 2, 3, 4, 0, 1, 2, 3, 1, 2]
FOUR = {"A": A, "B": B, "D": [v / 2 for v in A], "E": [v / 2 for v in B]}


def of_four(change: Callable[[float], float]) -> Marks:
    """A score for each case of the four candidates, each changed alike."""
    return [mark for name, old in FOUR.items() for mark in marks(name, [change(v) for v in old])]


@pytest.fixture
def two(panel: Panel, tmp_path: Path) -> Callable[..., Finding]:
    """`two(new, …)`: the diff of A and B, scored 12 times each, against these new scores."""

    def made(
        new: Marks, *, old: Marks | None = None, margin: float | None = None, **settings: Any
    ) -> Finding:
        run = panel(old or [*marks("A", A), *marks("B", B)])
        return held(second(run, tmp_path, new, **settings), "r", "s", margin=margin)

    return made


def test_marks_that_did_not_move_are_said_not_to_have(two: Callable[..., Finding]) -> None:
    found = two([*marks("A", A), *marks("B", B)])
    moved, level = row(found, part="moved"), row(found, part="level", candidate="")
    assert (24, 0, 0, 0, 12, 0, 12) == tuple(moved[k] for k in PARTS["moved"][:7])
    assert (0, None, None, 1) == tuple(level[k] for k in ("difference", "low", "high", "p"))
    assert "all cases moved alike: without spread there is no interval" == level["reason"]
    assert (1, 1, 0, 0) == tuple(
        row(found, part="order")[k] for k in ("kendall", "n_same", "n_swapped", "n_verdicts_changed")
    )
    assert {"no score moved: old scores stay as they are"} == {
        r["reason"] for r in found.rows if r["part"] == "bridge"
    }
    assert "No score moved." in found.text
    assert not [r for r in found.rows if r["part"] in ("item", "pair", "carried")]


def test_moves_are_counted_by_hand(two: Callable[..., Finding]) -> None:
    """A gains 1 in five cases and loses 0.5 in one; B stays."""
    new = [v + 1 if n < 5 else v - 0.5 if n == 5 else v for n, v in enumerate(A)]
    found = two([*marks("A", new), *marks("B", B)], margin=1)
    moved = row(found, part="moved")
    assert (24, 6, 5, 1, 12, 6, 12, 1, 5) == tuple(moved[k] for k in PARTS["moved"])
    assert pytest.approx(4.5 / 24) == row(found, part="level", candidate="")["difference"]
    assert pytest.approx(4.5 / 12) == row(found, part="beyond", candidate="A")["difference"]
    assert pytest.approx(-4.5 / 12) == row(found, part="beyond", candidate="B")["difference"]
    assert ["q00", "q01", "q02", "q03", "q04", "q05"] == [
        r["item"] for r in found.rows if r["part"] == "item"
    ]
    assert (
        "6 of 24 scores moved, 5 up and 1 down, on 6 of 12 questions (12 cases); 5 by 1 or more."
        in found.text
    )


def test_a_judge_who_turns_the_order_swaps_the_pair(two: Callable[..., Finding]) -> None:
    found = two([*marks("A", B), *marks("B", A)])
    r, pair = row(found, part="order"), row(found, part="pair")
    assert (-1, 1, 0, 1) == tuple(r[k] for k in ("kendall", "n_swapped", "n_same", "n_pairs"))
    assert ("A", "B", True) == (pair["candidate"], pair["against"], pair["swapped"])
    assert (pair["difference_one"], pair["better_one"]) == (-pair["difference_other"], "A")
    assert "B" == pair["better_other"]
    assert (1, 1, 1) == (r["n_swapped_told_apart"], r["n_changed"], r["n_verdicts_changed"])
    assert pytest.approx(pair["difference_other"] - pair["difference_one"]) == pair["change"]
    assert pair["p_change"] <= 0.05
    assert ["B", "A"] == [p["candidate"] for p in found.rows if p["part"] == "rank"]


def test_swapping_the_signatures_turns_the_signs(panel: Panel, tmp_path: Path) -> None:
    run = second(
        panel([*marks("A", A), *marks("B", B)]), tmp_path, [*marks("A", B), *marks("B", [5] * CASES)]
    )
    there, back = held(run, "r", "s"), held(run, "s", "r")
    for part in ("level", "beyond"):
        for r in (r for r in there.rows if r["part"] == part):
            other = row(back, part=part, candidate=r["candidate"])
            assert pytest.approx(r["difference"]) == -other["difference"]
            assert r["p"] == other["p"]
    for name in ("alpha_ordinal", "quadratic_kappa", "percent"):
        values = [row(f, part="agreement", candidate="", coefficient=name)["value"] for f in (there, back)]
        assert pytest.approx(values[0]) == values[1]


def test_an_affine_judge_is_linked_and_an_old_candidate_is_carried(panel: Panel, tmp_path: Path) -> None:
    """new = 1 + old / 2; C had the old judge only."""
    run = panel([*of_four(float), *marks("C", [5] * CASES)])
    found = held(second(run, tmp_path, of_four(lambda v: 1 + v / 2)), "r", "s")
    line = row(found, part="bridge", method="deming")
    assert pytest.approx((1, 0.5, 0), abs=1e-9) == (line["intercept"], line["slope"], line["residual"])
    carried = row(found, part="carried", candidate="C")
    assert pytest.approx((5, 3.5)) == (carried["one"], carried["other"])
    assert [
        "outside the means that were linked, 0.917 to 2.5: the line is extended",
        "all candidates lie on the line: no interval",
    ] == carried["reason"].split("; ")
    assert (None, None) == (carried["low"], carried["high"])
    assert 12 == row(found, part="overlap")["n_only_one"]
    assert ("ok", None, 12) == tuple(row(found, part="status", status_other=None)[k] for k in PARTS["status"])


def test_what_leaves_the_scale_is_clipped_and_said(panel: Panel, tmp_path: Path) -> None:
    run = panel([*of_four(float), *marks("C", [5] * CASES)])
    found = held(second(run, tmp_path, of_four(lambda v: min(4.5, v + 1))), "r", "s")
    r = row(found, part="carried", candidate="C")
    assert (5, 5, True) == (r["other"], r["high"], r["clipped"])


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ([*marks("A", [3] * CASES), *marks("B", [3] * CASES)], "the scores of one of them do not vary"),
        (
            [*marks("A", [5 - v for v in A]), *marks("B", [5 - v for v in B])],
            "the two do not rise together: a line between them means nothing",
        ),
        ([*marks("A", B[:9]), *marks("B", A[:9])], "both scored 9 cases: too few for a bridge"),
        (
            [*marks("A", [v + 0.5 for v in B]), *marks("B", [v + 0.5 for v in B])],
            "both scored 2 candidates: the shifts of fewer than 4 do not tell how far the next one would "
            "shift",
        ),
    ],
)
def test_a_bridge_is_refused_where_it_would_not_bear(
    two: Callable[..., Finding], new: Marks, why: str
) -> None:
    found = two(new)
    line = row(found, part="bridge")
    assert (None, None, why) == (line["intercept"], line["slope"], line["reason"])
    assert f"No bridge: {why}." in found.text
    assert not [r for r in found.rows if r["part"] == "carried"]


def test_few_cases_are_described_and_not_judged(two: Callable[..., Finding]) -> None:
    found = two([*marks("A", B[:3]), *marks("B", A[:3])])
    assert {"3 cases: too few to tell"} == {r["reason"] for r in found.rows if r["part"] == "agreement"}
    order = row(found, part="order")
    assert ("3 cases: too few to tell pairs apart", None) == (order["reason"], order["n_verdicts_changed"])
    assert 3 == row(found, part="moved")["n_items"]


def test_one_case_has_a_shift_and_nothing_more(two: Callable[..., Finding]) -> None:
    r = row(two([*marks("A", [2]), *marks("B", [2])]), part="level", candidate="")
    assert (1.5, None, None, None) == tuple(r[k] for k in ("difference", "low", "high", "p"))
    assert "all that both scored is one case, and one case says nothing about the next" == r["reason"]


def test_a_judge_who_failed_throughout_leaves_nothing_to_compare(two: Callable[..., Finding]) -> None:
    found = two([*marks("A", [None] * CASES), *marks("B", [None] * CASES)])
    overlap = row(found, part="overlap")
    assert (0, 24, 0, 0, "no answer was scored by both") == tuple(
        overlap[k] for k in (*PARTS["overlap"], "reason")
    )
    assert ("ok", "failed", 24) == tuple(row(found, part="status")[k] for k in PARTS["status"])
    for part in ("moved", "agreement", "level", "order"):
        r = row(found, part=part)
        assert "no answer was scored by both" == r["reason"], part
    assert "there is nothing to compare." in found.text


def test_marks_on_other_scales_are_ordered_and_bridged_and_not_subtracted(
    two: Callable[..., Finding],
) -> None:
    found = two(of_four(lambda v: 20 * v), old=of_four(float), range={"*": (0, 100)})
    why = "the scales differ (0 to 5, then 0 to 100): only the order is compared"
    for part in ("moved", "agreement", "level"):
        assert why == row(found, part=part)["reason"]
    order, line = row(found, part="order"), row(found, part="bridge")
    assert (1, 0, 0) == (order["kendall"], order["n_changed"], order["n_verdicts_changed"])
    assert ("shift", 0, 20) == (line["method"], pytest.approx(line["intercept"], abs=1e-9), line["slope"])


def test_scales_without_limits_are_neither_bridged_nor_tested_for_a_change(
    two: Callable[..., Finding],
) -> None:
    finding = two(of_four(lambda v: 20 * v), old=of_four(float), range={"*": (0, None)})
    order = row(finding, part="order")
    assert "the scales differ, and not both have limits" == row(finding, part="bridge")["reason"]
    assert (None, None) == (order["n_changed"], order["n_verdicts_changed"])
    assert "The scales have no common unit: whether a difference changed is not tested." in finding.text


def test_a_verdict_that_only_one_test_finds_is_no_change(two: Callable[..., Finding]) -> None:
    """A is ahead in 11 cases, then in 8 and behind in 2: four cases changed, and p is .125 at least."""
    base = [2] * CASES
    old = [*marks("A", [3] * 11 + [2]), *marks("B", base)]
    finding = two([*marks("A", [3] * 8 + [2] * 2 + [1] * 2), *marks("B", base)], old=old)
    order = row(finding, part="order")
    assert (1, 0) == (order["n_told_apart_one"], order["n_told_apart_other"])
    assert (0, 0) == (order["n_changed"], order["n_verdicts_changed"])
    assert "No difference between two candidates is shown to have changed." in finding.text


def test_a_direction_that_was_turned_is_turned_back_for_the_order(two: Callable[..., Finding]) -> None:
    new = [*marks("A", [5 - v for v in A]), *marks("B", [5 - v for v in B])]
    found = two(new, direction={"*": "lower"})
    why = "higher was better and lower is now"
    assert f"{why}: only the order is compared" == row(found, part="level")["reason"]
    assert why == row(found, part="bridge")["reason"]
    assert 1 == row(found, part="order")["kendall"]


def test_passes_are_averaged_and_a_failed_one_is_left_out(two: Callable[..., Finding]) -> None:
    again = [("A", f"q{n:02}", "Ann", 2, None if n == 0 else min(5, v + 1)) for n, v in enumerate(A)]
    found = two([*marks("A", A), *again, *marks("B", B)])
    moved = row(found, part="moved")
    assert (10, 10) == (moved["n_moved"], moved["n_up"])
    assert pytest.approx(5 / 12) == row(found, part="level", candidate="A")["difference"]


def test_one_rater_each_is_paired_whatever_the_name(two: Callable[..., Finding]) -> None:
    found = two([*marks("A", A, rater="Bob"), *marks("B", B, rater="Bob")])
    assert {("Ann", "Bob")} == {(r["rater_one"], r["rater_other"]) for r in found.rows}


def test_several_raters_are_paired_by_name_and_the_rest_named(two: Callable[..., Finding]) -> None:
    old = [*marks("A", A), *marks("A", B, rater="Bob"), *marks("A", B, rater="Cy")]
    found = two([*marks("A", A), *marks("A", A, rater="Bob")], old=old)
    assert {("Ann", "Ann"), ("Bob", "Bob")} == {(r["rater_one"], r["rater_other"]) for r in found.rows}
    assert "Left out of worth, having scores under one only: Cy." in found.notes
    assert "\n\nworth by Bob on " in found.text


def test_silence_that_counts_otherwise_is_named(two: Callable[..., Finding]) -> None:
    found = two([*marks("A", A), *marks("B", B)], if_unanswered={"*": "set_aside"})
    assert any("silence was worst and is set_aside" in note for note in found.notes)


def test_the_order_of_the_rows_does_not_matter(panel: Panel, tmp_path: Path) -> None:
    run = second(panel([*marks("A", A), *marks("B", B)]), tmp_path, [*marks("A", B), *marks("B", A[::-1])])
    own = with_view(run.file, load_scores)
    one, other = sorted({m.signature for m in run.measures})
    straight = diff(own, one, other)
    for seed in (1, 2):
        shuffled = own._replace(scores=own.scores.sample(fraction=1, shuffle=True, seed=seed))
        assert straight.rows == diff(shuffled, one, other).rows


def test_what_cannot_be_held_beside_each_other_is_refused(panel: Panel, tmp_path: Path) -> None:
    old = [*marks("A", A), *marks("B", B)]
    run = second(panel(old), tmp_path, [(*mark, "tone") for mark in old])
    with pytest.raises(SelectionError, match="no criterion in common: worth and tone"):
        held(run, "r", "s")
    with pytest.raises(SelectionError, match="named twice"):
        held(run, "r", "r")
    with pytest.raises(SelectionError, match="above 0"):
        held(run, "r", "s", margin=0)
