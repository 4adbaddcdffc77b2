"""How single scores lie: shares that add up, missing answers beside values and never among them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.report.charts import assert_harmless, boxes, corners, place, spots, texts, told, width
from tests.studies.making import SILENT, UNREADABLE, Answers, marked, twins

from vivavoce.core.records import Criterion, Measure
from vivavoce.report.charts.distributions import (
    BINS,
    GREYS,
    MOST_CANDIDATES,
    MOST_POINTS,
    _axis,
    _bars,
    _histograms,
    distributions,
)
from vivavoce.report.data import scored_responses


def table(
    marks: dict[str, list[float | str]], *, form: str = "short", metric: int = 1, passes: int = 1
) -> pl.DataFrame:
    """Score rows: an item for each score of a candidate, a status where the score is a word."""
    rows = [
        {"benchmark": "exam", "item": f"q{n}", "variant": "", "candidate": name, "repeat": 1, "edit": "",
         "pass_no": p, "value": None if isinstance(mark, str) else mark, "measure_id": metric, "format": form,
         "status": mark if isinstance(mark, str) else "ok"}
        for name, own in marks.items() for n, mark in enumerate(own) for p in range(1, passes + 1)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64})


def measure(**declared: Any) -> Measure:
    return Measure(metric="told", signature="told()@1", criterion=Criterion(criterion="told", **declared))


def bars(scores: pl.DataFrame, **declared: Any) -> list[dict[str, Any]]:
    """The segments of the bars, each with its candidate, its value by the key, and its share of the bar."""
    (part,) = scored_responses(scores, {1: measure(**declared)})
    names = sorted(set(scores["candidate"]))
    drawing = _bars(part, names, 0)
    found = boxes(drawing)
    key = {box["fill"]: word for box in found if box["x2"] - box["x"] == 12 for word in texts(drawing)
           if place(drawing, word, first=True) == (box["x"] + 17, box["y"] + 10.3)}  # fmt: skip
    own = [box for box in found if box["y2"] - box["y"] == 20]
    rows = sorted({box["y"] for box in own})
    left, right = min(box["x"] for box in own), max(box["x2"] for box in own)
    return [{"candidate": names[rows.index(box["y"])], "value": key[box["fill"]], "fill": box["fill"],
             "share": (box["x2"] - box["x"]) / (right - left)} for box in own]  # fmt: skip


YES_NO = {"Ann": [1.0, 1.0, 1.0, 0.0], "Ben": [1.0, "unanswered", "unreadable", "failed"]}


def test_shares_are_of_all_answers_and_fill_the_bar() -> None:
    cells = bars(table(YES_NO))
    by = {(c["candidate"], c["value"]): c["share"] for c in cells}
    assert {
        ("Ann", "0"): 0.25,
        ("Ann", "1"): 0.75,
        ("Ben", "1"): 0.25,
        ("Ben", "unanswered"): 0.25,
        ("Ben", "unreadable"): 0.25,
        ("Ben", "failed"): 0.25,
    } == {key: pytest.approx(share, abs=0.001) for key, share in by.items()}


def test_what_is_missing_is_never_drawn_as_a_value() -> None:
    cells = bars(table(YES_NO))
    missing = [c for c in cells if c["candidate"] == "Ben" and c["value"] != "1"]
    assert ["unanswered", "unreadable", "failed"] == [c["value"] for c in missing]
    assert [GREYS[c["value"]][0] for c in missing] == [c["fill"] for c in missing]
    values = {c["fill"] for c in cells if c["value"] in ("0", "1")}
    assert not values & {c["fill"] for c in missing}


def test_what_is_set_aside_has_a_part_of_its_own() -> None:
    answers = table({"Ann": [1.0, 1.0, 0.0, "set_aside"]})
    assert "set aside" in {c["value"] for c in bars(answers)}
    (figure,) = distributions(answers, {1: measure()})
    assert "4 answers, 1 set aside" in texts(figure.svg)


def test_the_best_value_is_the_darkest_and_the_last_whatever_the_direction() -> None:
    for direction, best in (("higher", "1"), ("lower", "0")):
        own = [c for c in bars(table(YES_NO), direction=direction) if c["candidate"] == "Ann"]
        assert best == own[-1]["value"]
        assert best == min(own, key=lambda c: sum(bytes.fromhex(c["fill"][1:])))["value"]


def test_the_text_alternative_counts_every_category() -> None:
    (figure,) = distributions(table(YES_NO), {1: measure()})
    assert "Ann: 0 1 (25 %), 1 3 (75 %)" in told(figure.svg)
    assert "Ben: 1 1 (25 %), unanswered 1 (25 %), unreadable 1 (25 %), failed 1 (25 %)" in told(figure.svg)
    assert "4 answers, 1 unanswered, 1 unreadable, 1 failed" in " ".join(texts(figure.svg))


def test_seven_values_are_bars_and_eight_are_not() -> None:
    for n, words in ((7, "Shares of answers by score"), (8, "Scores of single answers")):
        scores = table({"Ann": [k / 10 for k in range(n)]})
        (figure,) = distributions(scores, {1: measure()})
        assert words in told(figure.svg)


def spread(n: int, *, of: int = 100) -> list[float | str]:
    return [k % of / of for k in range(n)]


def test_quartiles_and_what_is_missing_are_told() -> None:
    """Of 0, .01, … 1 the median is .5, the quartiles .25 and .75."""
    marks = [*spread(100), 1.0, "unanswered", "failed"]
    (figure,) = distributions(table({"Ann": marks}), {1: measure()})
    missing = "103 answers, 1 unanswered, 1 failed"
    assert f"Ann: median 0.5, middle half 0.25 to 0.75, {missing}" in told(figure.svg)
    assert f"median 0.5; {missing}" in " ".join(texts(figure.svg))


def test_a_small_exam_shows_every_answer_and_a_large_one_a_shape() -> None:
    small, large = (
        scored_responses(table({"Ann": spread(n), "Ben": spread(n)}), {1: measure()})[0] for n in (100, 101)
    )
    assert MOST_POINTS == 200
    drawn = _histograms(small, ["Ann", "Ben"], 0)
    assert 200 == len(spots(drawn, "points"))
    assert [] == corners(drawn, "area")
    assert 2 == len(spots(drawn, "dot"))
    shapes = _histograms(large, ["Ann", "Ben"], 0)
    assert [] == spots(shapes, "points")
    assert 2 == len(spots(shapes, "dot"))
    assert all(len(outline) <= 2 * BINS + 2 for outline in corners(shapes, "area"))


def test_the_shape_of_each_candidate_has_the_same_area_whatever_its_number_of_answers() -> None:
    (part,) = scored_responses(table({"Ann": spread(1_000), "Ben": spread(300)}), {1: measure()})
    ann, ben = (sum(outline[0][1] - y for _, y in outline)
                for outline in corners(_histograms(part, ["Ann", "Ben"], 0), "area"))  # fmt: skip
    assert ann == pytest.approx(ben, rel=0.01)


def test_values_lie_on_the_axis_below_them() -> None:
    """The median of 0, .01, … .99 in the middle between 0 and 1."""
    (figure,) = distributions(table({"Ann": spread(100), "Ben": [0.0] * 9}), {1: measure()})
    for narrow in (False, True):
        ends = [place(figure.svg, text, narrow=narrow)[0] for text in ("0.0", "1.0")]
        (ann, _), (ben, _) = sorted(spots(figure.svg, "dot", narrow=narrow), key=lambda spot: spot[1])
        assert (pytest.approx(0.495, abs=0.001), 0) == tuple(
            (x - ends[0]) / (ends[1] - ends[0]) for x in (ann, ben)
        )


def test_a_large_run_stays_a_small_drawing() -> None:
    names = {f"candidate {k}": spread(4_000, of=997) for k in range(12)}
    (figure,) = distributions(table(names), {1: measure()})
    assert figure.svg is not None
    assert len(figure.svg) < 60_000


def test_passes_of_one_answer_are_one_mark() -> None:
    scores = table({"Ann": [0.0, 1.0]}, passes=2).with_columns(
        value=pl.when(pl.col("item") == "q0").then(pl.col("pass_no") - 1.0).otherwise(pl.col("value")),
        status=pl.when((pl.col("item") == "q1") & (pl.col("pass_no") == 2))
        .then(pl.lit("failed"))
        .otherwise(pl.lit("ok")),
    ).with_columns(value=pl.when(pl.col("status") == "ok").then(pl.col("value")))  # fmt: skip
    (part,) = scored_responses(scores, {1: measure()})
    assert [("q0", 0.5, "ok"), ("q1", 1.0, "ok")] == part.answers.sort("item").select(
        "item", "value", "status"
    ).rows()


def test_edited_answers_are_left_out() -> None:
    edited = table({"Ann": [0.0] * 5}).with_columns(edit=pl.lit("rephrase"))
    (figure,) = distributions(pl.concat([table({"Ann": [1.0] * 3}), edited]), {1: measure()})
    assert "Ann: 1 3 (100 %)" in told(figure.svg)


def test_a_candidate_without_any_mark_says_so() -> None:
    scores = table({"Ann": spread(100), "Ben": ["failed"] * 4})
    (figure,) = distributions(scores, {1: measure()})
    assert "Ben: no scores, 4 answers, 4 failed" in told(figure.svg)
    (nothing,) = distributions(table({"Ben": ["failed"] * 4}), {1: measure()})
    assert "Ben: failed 4 (100 %)" in told(nothing.svg)


def test_each_format_and_measure_has_a_figure_of_its_own() -> None:
    scores = pl.concat([table({"Ann": [1.0]}), table({"Ann": [0.0]}, form="mcq")])
    names = [figure.title for figure in distributions(scores, {1: measure()})]
    assert ["told: short answers on exam", "told: mcq answers on exam"] == names
    assert [] == distributions(scores.clear(), {1: measure()})
    assert [] == distributions(scores, {})


def test_of_many_candidates_the_figure_says_how_many_it_leaves_out() -> None:
    names = {f"c{k:02}": [1.0, 0.0] for k in range(MOST_CANDIDATES + 3)}
    (figure,) = distributions(table(names), {1: measure()})
    assert "3 further candidates are left out" in texts(figure.svg)
    assert "c24" not in texts(figure.svg)


def test_what_is_drawn_is_decided_by_the_candidates_that_are_shown() -> None:
    few: dict[str, list[float | str]] = {f"c{k:02}": [0.5] * 4 for k in range(MOST_CANDIDATES)}
    (figure,) = distributions(table({**few, "late": spread(50)}), {1: measure()})
    assert "Shares of answers by score: c00: 0.5 4 (100 %)" in told(figure.svg)


@pytest.mark.parametrize(
    ("low", "high", "least", "most", "ends"),
    [
        (0.0, 1.0, 0.0, 1.0, (0.0, 1.0)),
        (0.0, 1.0, 0.03, 0.42, (0.0, 0.5)),
        (1.0, 5.0, 1.2, 4.9, (1.0, 5.0)),
        (None, None, -7.3, 12.1, (-10.0, 15.0)),
        (0.0, None, 3.0, 999.0, (0.0, 1000.0)),
    ],
)
def test_the_axis_is_round_holds_all_marks_and_keeps_inside_the_range(
    low: float | None, high: float | None, least: float, most: float, ends: tuple[float, float]
) -> None:
    ticks = _axis(Criterion(criterion="told", low=low, high=high), least, most)
    assert ends == (ticks[0], ticks[-1])
    assert ticks[0] <= least
    assert ticks[-1] >= most
    assert 3 <= len(ticks) <= 9


@pytest.mark.parametrize("values", [spread(50), [0.0, 1.0]])
def test_hostile_names_stay_names(values: list[float | str]) -> None:
    names = ("<script>alert(1)</script>", '" onload="alert(1)', "\u202eמועמד", "x" * 200)
    (figure,) = distributions(table(dict.fromkeys(names, values)), {1: measure()})
    assert_harmless(figure.svg)
    assert "<script>alert(1)</script>" in texts(figure.svg)
    assert figure.svg is not None
    assert "\u202e" not in figure.svg
    assert width(figure.svg) <= 640


def test_marks_of_a_run_are_drawn_as_they_were_given(tmp_path: Path) -> None:
    said: Answers = {
        "Ann": twins([1.0, 1.0, 0.0, SILENT]),
        "Ben": twins([0.0, 0.0, UNREADABLE, 1.0]),
    }
    run = marked(tmp_path, said)
    measures = {k.key: k.measure for k in _measures(run)}
    (figure,) = [f for f in distributions(_scores(run), measures) if "worth" in f.title or "told" in f.title]
    assert "Ann: 0 1 (25 %), 1 2 (50 %), unanswered 1 (25 %)" in told(figure.svg)
    assert "Ben: 0 2 (50 %), 1 1 (25 %), unreadable 1 (25 %)" in told(figure.svg)


def _measures(run: Any) -> list[Any]:
    from vivavoce.store import read

    with run.file.reading() as db:
        return read.measures(db)


def _scores(run: Any) -> pl.DataFrame:
    from vivavoce.store import read

    with run.file.reading() as db:
        return read.scores(db, details=True)
