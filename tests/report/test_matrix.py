"""The matrix of pairs: what a cell may say, from whose side, and in what colour."""

from itertools import combinations
from typing import Any, get_args

import pytest
from tests.cases import each_case
from tests.report.charts import assert_harmless, boxes, styled, texts, told, width

from vivavoce.report.charts.svg import STRONGEST
from vivavoce.report.sections.comparisons import EITHER, MOST_CANDIDATES, _cell, matrices, matrix
from vivavoce.stats.verdict import Code


def pair(
    a: str,
    b: str,
    difference: float | None,
    code: str = "cannot_tell",
    favours: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {"benchmark": "exam", "metric": "told", "criterion": "worth", "rater": "", "a": a, "b": b,
            "difference": difference, "verdict_code": code, "favours": favours, "verdict": f"Said: {code}.",
            "margin": None, "family": 3, **more}  # fmt: skip


THREE = [
    pair("Ann", "Ben", 0.3, "better", "a"),
    pair("Ann", "Cleo", -0.1),
    pair("Ben", "Cleo", -0.4, "better", "b"),
]


def cells(rows: list[dict[str, Any]], style: str) -> list[dict[str, Any]]:
    """The cells of a matrix with this fill or frame."""
    return [box for box in boxes(matrix(rows).svg) if box["style"] == style]


def test_a_pair_stands_twice_with_its_sign_turned() -> None:
    figures = [text for text in texts(matrix(THREE).svg) if text[0] in "+−"]
    # By row: Ann and Cleo are better once, Ben is worse twice.
    assert ["−0.100", "+0.300", "+0.100", "+0.400", "−0.300", "−0.400"] == figures


def test_only_a_verdict_gives_a_cell_its_colour() -> None:
    assert {"+0.300 better", "+0.400 better"} == {cell["text"] for cell in cells(THREE, "good")}
    assert {"−0.300 worse", "−0.400 worse"} == {cell["text"] for cell in cells(THREE, "bad")}
    assert {"−0.100 not significant", "+0.100 not significant"} == {
        cell["text"] for cell in cells(THREE, "wash")
    }
    assert (2, 2) == (len(cells(THREE, "winner")), len(cells(THREE, "loser")))


def test_a_wider_difference_has_a_stronger_colour() -> None:
    weak, strong = sorted(cell["strength"] for cell in cells(THREE, "good"))
    assert weak == pytest.approx(0.12 + (STRONGEST - 0.12) * 0.75, abs=0.001)
    assert strong == STRONGEST


def test_where_lower_is_better_the_lower_one_is_blue() -> None:
    rows = [pair("Ann", "Ben", -0.3, "better", "a"), pair("Ann", "Cleo", 0.0), pair("Ben", "Cleo", 0.1)]
    said = texts(matrix(rows).svg)
    assert "row − column; coloured only where a verdict says who is better; lower is better" in said
    assert ["−0.300 better"] == [cell["text"] for cell in cells(rows, "good")]


@each_case(
    ("code", "favours", "one", "other"),
    [
        ("better", "a", "better", "worse"),
        ("better_by_margin", "b", "worse", "better"),
        ("equivalent", None, "equivalent", "equivalent"),
        ("not_worse", "a", "not worse", "not better"),
        ("not_worse", "b", "not better", "not worse"),
        ("cannot_tell", None, "not significant", "not significant"),
        ("too_few", None, "too few", "too few"),
        ("depends", None, "depends", "depends"),
    ],
)
def test_a_verdict_is_said_from_either_side(code: str, favours: str | None, one: str, other: str) -> None:
    pairs = {("Ann", "Ben"): pair("Ann", "Ben", 0.2, code, favours)}
    assert (0.2, one) == (_cell(pairs, "Ann", "Ben")[0], _cell(pairs, "Ann", "Ben")[1].words)
    assert (-0.2, other) == (_cell(pairs, "Ben", "Ann")[0], _cell(pairs, "Ben", "Ann")[1].words)


def test_every_verdict_has_its_place_in_a_cell() -> None:
    codes = {*get_args(Code)}
    assert codes == {*EITHER, "better", "better_by_margin", "not_worse", "higher", "higher_by_margin"}


def test_a_pair_that_was_never_compared_says_so_and_has_no_figure() -> None:
    rows = [pair("Ann", "Ben", 0.1), pair("Ann", "Cleo", 0.2)]
    said = texts(matrix(rows).svg)
    assert 2 == said.count("not compared")
    assert not [text for text in said if text in ("+0.000", "0.000")]


def test_what_cannot_be_compared_has_words_and_no_figure() -> None:
    rows = [pair("Ann", "Ben", None, "incomparable"), pair("Ann", "Cleo", 0.2), pair("Ben", "Cleo", 0.1)]
    said = texts(matrix(rows).svg)
    assert 2 == said.count("incomparable")
    assert 4 == sum(text[0] in "+−" for text in said)


def test_the_text_alternative_holds_every_difference_and_its_verdict() -> None:
    label = told(matrix(THREE).svg)
    for row, figure in zip(THREE, ("+0.300", "−0.100", "−0.400"), strict=True):
        assert f"{row['a']} minus {row['b']} {figure}: {row['verdict']}" in label
    assert label.startswith("All pairs by told: worth on exam. ")


def test_two_candidates_or_none_give_a_sentence() -> None:
    for rows in ([], THREE[:1]):
        made = matrix(rows)
        assert made.svg is None
        assert "Fewer than three candidates were compared: the verdicts say it all." == made.sentence


def test_rows_of_two_boards_are_never_mixed() -> None:
    mixed = [*THREE, *({**row, "criterion": "harm"} for row in THREE)]
    assert "Pairs of 2 measures or benchmarks: a matrix holds one of them." == matrix(mixed).sentence
    assert ["pairs-all-pairs-by-told-worth-on-exam", "pairs-all-pairs-by-told-harm-on-exam"] == [
        figure.name for figure in matrices(mixed)
    ]
    assert [] == matrices(THREE[:1]) == matrices([])


def test_pairs_of_several_calls_say_that_each_has_its_own_family() -> None:
    rows = [{**row, "call": k // 2, "family": 2 - k // 2} for k, row in enumerate(THREE)]
    assert "from 2 calls of compare, each corrected for its own family (2, 1)" in texts(matrix(rows).svg)
    assert not [t for t in texts(matrix(THREE).svg) if "calls of compare" in t]


def test_stale_rows_and_other_items_are_told() -> None:
    rows = [{**row, "stale": k == 0, "items": "some" if k else None} for k, row in enumerate(THREE)]
    said = texts(matrix(rows).svg)
    assert "answers or scores have come since some of these: compare again" in said
    assert "not all were made on the same items" in said


def test_twelve_candidates_have_signs_and_a_key() -> None:
    names = [f"candidate {k}" for k in range(12)]
    rows = [pair(a, b, 0.01 * k, "better" if k % 2 else "cannot_tell", "a" if k % 2 else None)
            for k, (a, b) in enumerate(combinations(names, 2))]  # fmt: skip
    svg = matrix(rows).svg
    said = texts(svg)
    assert (33, 33, 66) == (said.count("▲"), said.count("▼"), said.count("?"))
    assert "▲ the row is better; ▼ the row is worse; ? no significant difference" in said
    assert svg is not None
    assert len(svg) < 60_000


def test_hostile_and_long_names_stay_names() -> None:
    hostile = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eמועמד" + "x" * 200)
    rows = [pair(a, b, 0.1) for a, b in combinations(hostile, 2)]
    svg = matrix(rows).svg
    assert svg is not None
    assert_harmless(svg)
    assert "1  <script>alert(1)</script>" in texts(svg)
    assert "\u202e" not in svg
    assert width(svg) <= 640


def test_no_difference_has_no_sign() -> None:
    rows = [pair("Ann", "Ben", 0.0), pair("Ann", "Cleo", -0.00001), pair("Ben", "Cleo", 0.1)]
    assert 4 == texts(matrix(rows).svg).count("0.000")


def test_the_widest_difference_sets_the_decimals() -> None:
    rows = [pair("Ann", "Ben", 12.345), pair("Ann", "Cleo", 1.5), pair("Ben", "Cleo", 0.5)]
    assert {"+12.3", "+1.5", "+0.5"} <= set(texts(matrix(rows).svg))


def test_a_phone_gets_signs_where_words_have_no_room_and_a_list_of_names() -> None:
    names = ("Model A (made up)", "Model B (made up)", "Model C (made up)", "D", "E", "F")
    svg = matrix([pair(a, b, 0.1) for a, b in combinations(names, 2)]).svg
    for narrow, words in ((False, "not significant"), (True, "?")):
        on_cells = {box["text"] for box in boxes(svg, narrow=narrow) if box["style"] == "wash"}
        assert {f"+0.100 {words}", f"−0.100 {words}"} == on_cells
    listed = [e.text for e in styled(svg, narrow=True)]
    assert "1  Model A (made up)" in listed
    assert "? no significant difference" in listed


def test_of_three_hundred_candidates_the_first_are_drawn_and_the_rest_counted() -> None:
    names = [f"candidate {k}" for k in range(300)]
    svg = matrix([pair("candidate 0", name, 0.1, "better", "a") for name in names[1:]]).svg
    assert width(svg) <= 640
    assert f"{300 - MOST_CANDIDATES} further candidates left out" in texts(svg)
