"""Charts: claims on what they hold, and that hostile names stay names."""

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.report.charts import (
    SVG,
    assert_harmless,
    boxes,
    place,
    segments,
    sheets,
    spots,
    styled,
    texts,
    told,
    width,
)
from tests.report.test_report import HOSTILE, report
from tests.studies.making import exam, marked, score, twins

from vivavoce import stats
from vivavoce.core import registry
from vivavoce.core.errors import StoreError
from vivavoce.core.numbers import printed
from vivavoce.report import charts as plots
from vivavoce.report.charts import correlation as maps
from vivavoce.report.charts import estimate_plots
from vivavoce.report.charts.correlation import tree
from vivavoce.report.charts.distributions import GREYS, _shade
from vivavoce.report.charts.estimate_plots import cliques
from vivavoce.report.charts.sheet import Sheet, clean, fitting, nice_ticks, text_width, tick_texts, wrapped
from vivavoce.report.charts.svg import (
    CHART_CSS,
    LONGEST_TELLING,
    PALETTE,
    STRONGEST,
    Drawing,
    drawing,
    listed,
    unique,
)
from vivavoce.run.run import Run

WAYS = np.random.default_rng(7).normal(size=(5, 24))


def ranking(*ranks: tuple[str, float, int, int], distance: float = 1.0) -> list[dict[str, Any]]:
    """Rows of a ranking: name, mean rank, and the ranks left open; ranked as they stand."""
    return [
        {"benchmark": "exam", "metric": "told", "criterion": "told", "candidate": name, "rank": float(k),
         "rank_low": low, "rank_high": high, "mean_rank": mean_rank, "critical_difference": distance,
         "reason": None}
        for k, (name, mean_rank, low, high) in enumerate(ranks, 1)
    ]  # fmt: skip


FOUR = ranking(("Ann", 1.2, 1, 2), ("Ben", 1.9, 1, 3), ("Cleo", 2.8, 2, 3), ("Dan", 4.1, 4, 4))


def correlation(
    values: dict[tuple[int, int], float | None],
    names: tuple[str, ...],
    *,
    support: dict[tuple[int, int], float] | None = None,
    alike: tuple[tuple[int, int], ...] = (),
) -> list[dict[str, Any]]:
    """The system rows of a correlation finding."""
    return [
        {"benchmark": "exam", "a": names[i], "b": names[j], "level": "system", "coefficient": coefficient,
         "value": values[i, j], "n_candidates": 6, "by_construction": (i, j) in alike,
         "cluster_support": (support or {}).get((i, j)) if coefficient == "kendall" else None,
         "reason": None if values[i, j] is not None else "one side does not vary"}
        for i, j in combinations(range(len(names)), 2)
        for coefficient in ("kendall", "spearman", "pearson")
    ]  # fmt: skip


# Nearest are 0 and 2, then 1 and 3, then both pairs.
CROSSED = {(0, 1): 0.1, (0, 2): 0.9, (0, 3): 0.2, (1, 2): 0.15, (1, 3): 0.8, (2, 3): -0.1}
FIRM = {(0, 1): 1.0, (0, 2): 0.95, (0, 3): 1.0, (1, 2): 1.0, (1, 3): 0.6, (2, 3): 1.0}
MEASURES = ("rouge", "harm", "token_f1", "reasoning")


def pairs(*differences: float | None, **more: Any) -> list[dict[str, Any]]:
    made = []
    for k, d in enumerate(differences):
        ends = [None if d is None else d + by for by in (-0.1, 0.1, -0.2, 0.2)]
        keys = ("low", "high", "low_family", "high_family")
        made.append({"benchmark": "exam", "metric": "told", "criterion": "told", "a": "Ann", "b": f"B{k}",
                     "difference": d, **dict(zip(keys, ends, strict=True)), "set_low": d, "set_high": d,
                     "bound_low": None, "bound_high": None, "margin": None, "family": len(differences),
                     **more})  # fmt: skip
    return made


def titled(chart: Drawing | str, title: str) -> Drawing:
    assert isinstance(chart, Drawing)
    return chart.titled(title)


def along(left: float, right: float, low: float, high: float) -> Any:
    """What value lies at a place, by the places of two values."""
    return lambda x: low + (x - left) / (right - left) * (high - low)


def about(*values: float) -> Any:
    return pytest.approx(values, abs=0.01)


# Ranks


def test_each_candidate_stands_once_in_the_rank_ranges_with_its_interval() -> None:
    chart = plots.rank_ranges(FOUR)
    for narrow in (False, True):
        rank = along(*(place(chart, text, narrow=narrow)[0] for text in ("1", "3")), 1, 3)
        bars = [(rank(b["x"]), rank(b["x2"])) for b in boxes(chart, narrow=narrow)]
        assert [about(0.6, 2.4), about(0.6, 3.4), about(1.6, 3.4), about(3.6, 4.4)] == bars
        assert about(1, 2, 3, 4) == tuple(rank(x) for x, _ in spots(chart, "dot", narrow=narrow))
    said = texts(chart)
    for row, places in zip(FOUR, ("1–2", "1–3", "2–3", "4"), strict=True):
        assert 1 == said.count(row["candidate"])
        assert places in said


def test_two_candidates_of_one_name_keep_a_line_each() -> None:
    assert ["x", "x (2)", "x (2) (2)"] == unique(["x", "x", "x (2)"])


@pytest.mark.parametrize("draw", [plots.rank_ranges, plots.critical_difference])
def test_one_candidate_or_none_gives_a_sentence(draw: Any) -> None:
    alone = [FOUR[0] | {"rank": None, "mean_rank": None, "reason": "one candidate has no rank"}]
    assert "No chart: one candidate has no rank." == draw(alone)
    assert "Fewer than two ranked candidates." == draw([]) == draw(FOUR[:1])


# Critical difference


def test_bars_join_just_the_pairs_that_nemenyi_does_not_tell_apart() -> None:
    """On drawn scores of five candidates, and against the test's own p values."""
    means = WAYS + np.array([0, 0.5, 0.6, 1.4, 1.5])[:, None]
    found = stats.friedman(means, np.arange(24))
    apart = np.abs(found.mean_ranks[:, None] - found.mean_ranks)
    p = 1 - stats.studentized_range(apart * np.sqrt(2 * 6 * 24 / (5 * 6)), 5)
    distance = stats.nemenyi_distance(5, 24)
    rows = ranking(*((f"c{k}", float(r), 1, 5) for k, r in enumerate(found.mean_ranks)), distance=distance)
    order = np.argsort(found.mean_ranks)
    chart = plots.critical_difference(rows)
    rank = along(*(place(chart, text)[0] for text in ("1", "5")), 1, 5)
    joined = {
        frozenset((int(i), int(j)))
        for x, _, x2, _ in segments(chart, "joined")
        for i, j in combinations(order, 2)
        if rank(x) <= found.mean_ranks[i] and found.mean_ranks[j] <= rank(x2)
    }
    alike = {frozenset((i, j)) for i, j in combinations(range(5), 2) if p[i, j] > 0.05}
    assert alike == joined
    assert 0 < len(joined) < 10


def test_runs_of_mean_ranks() -> None:
    assert [(0, 1), (1, 2)] == cliques([1.2, 1.9, 2.8, 4.1], 1.0)
    assert [] == cliques([1.0, 2.0, 3.0], 1.0)
    assert [(0, 2)] == cliques([2.0, 2.0, 2.0], 0.5)


def test_the_diagram_names_every_candidate_and_its_distance() -> None:
    said = " ".join(texts(plots.critical_difference(FOUR)))
    for row in FOUR:
        assert 1 == said.count(row["candidate"])
        assert printed(row["mean_rank"]) in said
    assert "critical difference 1.00" in said


def test_what_the_bars_of_the_diagram_mean_is_said_where_there_are_any() -> None:
    words = "Joined: not told apart by mean ranks, a weaker test than that of the means."
    assert words in " ".join(texts(plots.critical_difference(FOUR)))
    apart = ranking(("Ann", 1.0, 1, 1), ("Ben", 2.5, 2, 2), distance=1.0)
    assert "Joined" not in " ".join(texts(plots.critical_difference(apart)))


# Correlation


def test_the_map_is_ordered_by_the_leaves_of_the_dendrogram() -> None:
    rows = correlation(CROSSED, MEASURES)
    grown = tree(rows)
    assert grown is not None
    assert (0, 2, 1, 3) == grown.leaves
    assert ["rouge", "token_f1", "harm", "reasoning"] == [
        name for name in texts(plots.correlation_map(rows)) if name in MEASURES
    ]
    assert [0.1, 0.2, 0.9125] == [pytest.approx(merger[2]) for merger in grown.mergers]


def test_darker_is_more_alike_and_figures_stand_in_the_cells() -> None:
    cells = boxes(plots.correlation_map(correlation(CROSSED, MEASURES)))
    light = {c["text"]: sum(bytes.fromhex(c["fill"][1:])) for c in cells if c["text"]}
    order = ["−0.10", "0.10", "0.15", "0.20", "0.80", "0.90"]
    assert order == sorted(light, key=light.__getitem__, reverse=True)


def test_cells_by_construction_are_marked() -> None:
    rows = correlation(CROSSED, MEASURES, alike=((1, 3),))
    chart = plots.correlation_map(rows)
    cells = [c for c in boxes(chart) if c["text"] == "0.80"]
    marks = [e.attrib["d"] for e in sheets(chart)[0].iter("path") if e.attrib["d"].endswith("Z")]
    assert 2 + 1 == len(marks)  # with the one that is explained below
    for cell, mark in zip(cells, marks, strict=False):
        assert f"{cell['x2']:g} {cell['y']:g}" in mark
    assert "Z" not in plots.correlation_map(correlation(CROSSED, MEASURES))


def test_support_stands_at_the_joints_of_the_tree_it_belongs_to() -> None:
    grown = tree(correlation(CROSSED, MEASURES, support=FIRM))
    assert grown is not None
    assert [0.95, 0.6, 1.0] == [merger[5] for merger in grown.mergers]
    said = texts(plots.correlation_map(correlation(CROSSED, MEASURES, support=FIRM)))
    assert {"95", "60"} <= set(said)
    assert "100" not in said


def test_support_of_another_tree_is_left_out() -> None:
    other = tree(correlation(CROSSED, MEASURES, support=FIRM | {(0, 1): 0.7}))
    assert other is not None
    assert [None] * 3 == [merger[5] for merger in other.mergers]


def test_a_correlation_that_is_undefined_keeps_the_order_and_draws_no_tree() -> None:
    rows = correlation(CROSSED | {(0, 1): None}, MEASURES)
    assert tree(rows) is None
    chart = plots.correlation_map(rows)
    assert list(MEASURES) == [text for text in texts(chart) if text in MEASURES]
    assert 2 == texts(chart).count("?")
    assert [] == styled(chart, "fine")


def test_two_measures_or_none_give_a_sentence() -> None:
    assert "Fewer than three measures" in plots.correlation_map(correlation({(0, 1): 0.5}, ("x", "y")))
    assert "Fewer than three measures" in plots.correlation_map([])
    nothing = correlation(dict.fromkeys(CROSSED, None), MEASURES)
    assert "No chart: one side does not vary." == plots.correlation_map(nothing)


# Forest, variance


def test_a_forest_has_both_intervals_the_zero_line_and_the_margin() -> None:
    chart = plots.forest(pairs(0.3, -0.1, None, margin=0.05))
    for narrow in (False, True):
        value = along(*(place(chart, text, narrow=narrow)[0] for text in ("0.0", "0.4")), 0.0, 0.4)
        spans = {style: [about(value(x), value(x2)) for x, _, x2, _ in segments(chart, style, narrow=narrow)]
                 for style in ("thin", "thick")}  # fmt: skip
        assert [(0.1, 0.5), (-0.3, 0.1)] == spans["thin"][:2]
        assert [(-0.05, -0.05), (0.05, 0.05)] * 2 == spans["thin"][2:]
        assert [(0.2, 0.4), (-0.2, 0.0)] == spans["thick"]
        assert about(0.3, -0.1) == tuple(value(x) for x, _ in spots(chart, "dot", narrow=narrow))
        assert (0, 0) in [
            about(value(x), value(x2)) for x, _, x2, _ in segments(chart, "axis", narrow=narrow)
        ]
    said = texts(chart)
    assert {"B0", "B1", "B2", "no figure", "0.300 (0.100 to 0.500)"} <= set(said)
    assert "difference, Ann − each, told" in said
    assert "thick: 95% for the pair alone; thin: for the family of 3; ticks: margin" in said


def test_failed_marks_are_dashed_below() -> None:
    open_ended = {"set_low": 0.1, "set_high": 0.4, "bound_low": -0.2, "bound_high": 0.6}
    chart = plots.forest([*pairs(0.3, **open_ended), *pairs(0.1)])
    value = along(*(place(chart, text)[0] for text in ("0.0", "0.4")), 0.0, 0.4)
    ((x, y, x2, _),) = segments(chart, "open")
    assert about(-0.2, 0.6) == (value(x), value(x2))
    assert 6 == pytest.approx(y - spots(chart, "dot")[0][1])


def test_a_value_without_interval_is_a_dot_and_one_that_is_no_number_nothing() -> None:
    bare = {"low": None, "high": None, "low_family": None, "high_family": None}
    chart = plots.forest([*pairs(0.3, 0.1), *pairs(0.2, **bare)])
    assert (3, 2) == (len(spots(chart, "dot")), len(segments(chart, "thick")))
    assert "0.200" in texts(chart)
    assert not re.search("nan|inf", chart.__html__())


@pytest.mark.parametrize("value", [0.0, 0.5, -1e-9, 123_456.0])
def test_equal_values_stand_in_the_middle_of_an_axis_with_room(value: float) -> None:
    row = {"candidate": "Ann", "estimate": value, "low": value, "high": value}
    chart = plots.forest([row, row | {"candidate": "Ben"}])
    (left, _, right, _), *_ = segments(chart, "axis")
    (x, _), (other, _) = spots(chart, "dot")
    assert left < x == other < right
    assert len(set(texts(chart))) >= 5


@pytest.mark.parametrize("draw", [plots.forest, plots.rank_ranges, plots.critical_difference])
def test_three_hundred_candidates_keep_a_line_each_and_the_width(draw: Any) -> None:
    ranked = ranking(*((f"c{k}", 1.0 + k, max(1, k - 4), min(300, k + 5)) for k in range(300)))
    rows = [
        row | {"estimate": row["rank"], "low": row["rank"] - 1, "high": row["rank"] + 1} for row in ranked
    ]
    chart = draw(rows)
    assert width(chart) <= 640
    assert len(chart) < 120_000
    assert {f"c{k}" for k in range(300)} <= set(" ".join(texts(chart)).split())


def test_one_line_is_no_forest() -> None:
    (pair,) = pairs(0.3)
    for rows in ([], [{**pair, "estimate": 0.3} | {"difference": None}], pairs(None, None)):
        assert "Fewer than two figures: nothing to set side by side." == plots.forest(rows)


def test_one_difference_is_held_against_zero() -> None:
    chart = plots.forest(pairs(0.3))
    assert "difference" in texts(chart)
    assert "all candidates" not in texts(chart)


def test_shares_of_the_variance_fill_each_bar() -> None:
    blank = dict.fromkeys(("s2_group", "s2_item", "s2_interaction", "s2_repeat", "s2_pass"))
    rows = [
        blank | {"measure": "x", "candidate": "", "s2_item": 1.0, "s2_interaction": 2.0, "s2_repeat": 1.0},
        blank | {"measure": "y", "candidate": "", "s2_item": 0.0, "s2_repeat": 3.0, "s2_pass": 1.0},
        blank | {"measure": "z", "candidate": "", "reason": "one repeat only"},
    ]
    chart = plots.variance_bars(rows)
    for narrow in (False, True):
        share = along(*(place(chart, text, narrow=narrow)[0] for text in ("0 %", "100 %")), 0, 1)
        bars = [(b["text"], share(b["x"]), share(b["x2"])) for b in boxes(chart, narrow=narrow)
                if b["y2"] - b["y"] == 18]  # fmt: skip
        assert ["25", "50", "25", "75", "25"] == [text for text, *_ in bars]
        assert about(0, 0.25, 0.75, 0, 0.75) == tuple(start for _, start, _ in bars)
        assert about(0.25, 0.75, 1, 0.75, 1) == tuple(end for *_, end in bars)
    words = ["question", "candidate × question", "repeat", "examiner (pass)"]
    assert words == [text for text in texts(chart) if text in words]
    assert "No chart: one repeat only." == plots.variance_bars(rows[2:])


# All of them


def test_a_chart_is_the_same_each_time_whatever_was_drawn_before() -> None:
    first, again = (plots.correlation_map(correlation(CROSSED, MEASURES, support=FIRM)) for _ in range(2))
    assert isinstance(first, Drawing)
    assert isinstance(again, Drawing)
    assert (first, first.__html__()) == (again, again.__html__())


def test_hostile_names_are_texts_in_every_chart() -> None:
    names = (*HOSTILE, 'a" opacity="1" onload="x', "\x00\ud800\x1b", "xlink:href='//x'")
    n = len(names)
    named = ranking(*((name, 1.0 + k, 1, n) for k, name in enumerate(names)))
    charts = (
        plots.rank_ranges(named),
        plots.critical_difference(named),
        plots.correlation_map(
            correlation({(i, j): 1 / (i + j) for i, j in combinations(range(n), 2)}, names)
        ),
        plots.forest([row for name in names for row in pairs(0.1, a=name)]),
    )
    for chart in charts:
        assert_harmless(chart)
        said = " ".join(" ".join(texts(chart)).split())
        for name in names:
            assert " ".join(clean(name).split()) in said


@pytest.mark.parametrize(
    "names", [("א" * 200, "ب" * 40, "x" * 200), tuple(f"candidate {k}" for k in range(12))]
)
def test_long_names_right_to_left_names_and_twelve_of_them_are_drawn(names: tuple[str, ...]) -> None:
    named = ranking(*((name, 1.0 + k, 1, len(names)) for k, name in enumerate(names)))
    for chart in (plots.rank_ranges(named), plots.critical_difference(named)):
        assert width(chart) <= 640  # names are cut, not the page
        assert all(
            float(sheet.attrib["width"]) <= limit
            for sheet, limit in zip(sheets(chart), (640, 330), strict=True)
        )
        assert len(chart) < 60_000
        assert names[0][:59] in told(chart)
        assert names[0][:61] not in told(chart) or len(names[0]) < 61


def test_marks_that_turn_the_direction_of_a_text_are_shown_as_marks() -> None:
    assert "a\ufffdb\ufffdc" == clean("a\u202eb\u2066c")


# What a chart says to those who do not see it


def test_a_chart_is_an_image_that_says_its_title_and_its_figures() -> None:
    root = ElementTree.fromstring(titled(plots.rank_ranges(FOUR), "Ranks on the exam"))
    assert "img" == root.attrib["role"]
    assert (
        "Ranks on the exam. Ranks left open: Ann 1–2; Ben 1–3; Cleo 2–3; Dan 4" == root.attrib["aria-label"]
    )
    assert ["Ranks on the exam"] == [t.text for t in root.iter(f"{SVG}title")]


def test_the_figures_of_a_correlation_map_are_said() -> None:
    says = told(plots.correlation_map(correlation(CROSSED, MEASURES)))
    for (i, j), value in CROSSED.items():
        pair = {f"{MEASURES[i]} and {MEASURES[j]} ", f"{MEASURES[j]} and {MEASURES[i]} "}
        figure = printed(value).replace("-", "−")
        assert any(f"{words}{figure}" in says for words in pair)


def test_what_is_said_ends_where_it_gets_too_long_and_says_so() -> None:
    said = listed(f"{'x' * 90} {k}" for k in range(100))
    assert len(said) <= LONGEST_TELLING + 20
    whole = said.count("x" * 90)
    assert said.endswith(f"; and {100 - whole} more")
    assert "" == listed([])
    assert "y" * 9_000 == listed(["y" * 9_000])  # a single part is not left out


# Colours


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def laid_on(colour: str, ground: str, strength: float) -> str:
    """What is seen where a colour lies on a ground with this opacity."""
    pairs = [(int(colour[k : k + 2], 16), int(ground[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(a * strength + b * (1 - strength)):02x}" for a, b in pairs)


def test_contrast_is_that_of_the_standard() -> None:
    assert 21 == pytest.approx(contrast("#000000", "#ffffff"))
    assert 4.48 == pytest.approx(
        contrast("#777777", "#ffffff"), abs=0.005
    )  # the well-known grey just below AA


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_texts_and_marks_stand_out_from_their_ground(scheme: int) -> None:
    colours = {name.removeprefix("--"): pair[scheme] for name, pair in PALETTE.items()}
    for ground in ("paper", "wash"):
        for text in ("ink", "soft"):
            assert contrast(colours[text], colours[ground]) >= 4.5
        for mark in ("mark", "good", "bad", "soft"):
            assert contrast(colours[mark], colours[ground]) >= 3
    assert contrast(colours["band"], colours["paper"]) >= 3
    for fill in ("good", "bad", "mark"):
        assert contrast(colours["ink"], laid_on(colours[fill], colours["paper"], STRONGEST)) >= 4.5


def test_texts_on_fills_that_do_not_turn_stand_out() -> None:
    pairs = [(fill, on) for _, _, fill, on in estimate_plots.PARTS] + list(GREYS.values())
    pairs += [shade(k / 50) for k in range(51) for shade in (_shade, maps._shade)]
    pairs += [maps._shade(-k / 50) for k in range(51)]
    for fill, on in pairs:
        long = {"#fff": "#ffffff", "#000": "#000000"}.get(on, on)
        assert contrast(fill, long) >= 4.5, (fill, on)


def test_in_a_page_a_drawing_takes_the_pages_colours() -> None:
    """By classes, whose rules name the page's variables with the light colours where there are none."""
    page = titled(plots.forest(pairs(0.3, -0.1, margin=0.05)), "Differences").__html__()
    assert not re.search(r"#[0-9a-f]{3}|style=", page)
    assert {(n, light) for n, (light, _) in PALETTE.items()} == set(
        re.findall(r"var\((--[a-z]+),(#[0-9a-f]{6})\)", CHART_CSS)
    )
    classes = {name for value in re.findall(r'class="([^"]+)"', page) for name in value.split()}
    assert classes <= set(re.findall(r"\.(v-[a-z]+)\b", CHART_CSS))
    assert "<title>" not in page  # it would hover over the chart
    assert 1 == page.count("Differences")  # and is said still
    ElementTree.fromstring(page)


def test_the_page_gives_every_colour_a_light_and_a_dark_value() -> None:
    """In this order; the dark one is for screens only, so that print is light."""
    css = (Path(plots.__file__).parents[1] / "page" / "page.css").read_text(encoding="utf-8")
    for name, (light, dark) in PALETTE.items():
        given = re.findall(rf"{name}: (#[0-9a-f]{{6}});", css)
        assert [light, dark] == given, name
    assert "@media screen and (prefers-color-scheme: dark)" in css


def test_a_file_of_its_own_stands_on_white_without_a_page() -> None:
    drawing = titled(plots.forest(pairs(0.3, -0.1)), "Differences")
    assert not re.search("var\\(|style=|class=", drawing)
    assert re.search(r'<rect x="-4" y="-4" width="\d+" height="\d+" fill="#ffffff"/>', drawing)


# The widths


def test_a_phone_has_a_form_of_its_own_and_a_small_drawing_one_form() -> None:
    wide, narrow = sheets(plots.forest(pairs(0.3, -0.1)))
    assert ("v-wide", "v-narrow") == (wide.get("class"), narrow.get("class"))
    assert float(wide.attrib["width"]) <= 640
    assert float(narrow.attrib["width"]) <= 330
    (single,) = sheets(drawing("a line", lambda room: _line(Sheet(room))))
    assert single.get("class") is None


def _line(sheet: Sheet) -> Sheet:
    sheet.lines("thin", [(0, 0, 100, 0)])
    return sheet


def test_names_stand_above_their_row_where_there_is_no_room_beside_it() -> None:
    chart = plots.forest(pairs(0.3, -0.1))
    for narrow, above in ((False, False), (True, True)):
        (x, y), (dot_x, dot_y) = place(chart, "B0", narrow=narrow), spots(chart, "dot", narrow=narrow)[0]
        assert above == (y < dot_y - 8)
        assert above or x < dot_x


@pytest.mark.parametrize(
    ("text", "pixels"),
    [("", 0), ("Model A (made up)", 102.0), ("iiii", 10.7), ("0.350", 30.0), ("漢字", 24), ("e\u0301", 6.7)],
)
def test_widths_of_texts_are_those_of_helvetica(text: str, pixels: float) -> None:
    """Sums of Adobe's Core 14 AFM at 12 pixels; of Chinese signs squares, of accents nothing."""
    assert pixels == pytest.approx(text_width(text), abs=0.06)


def test_a_text_is_cut_to_its_room_and_breaks_between_words() -> None:
    assert "short" == fitting("short", 100)
    cut = fitting("x" * 10_000, 100)
    assert cut.endswith("…")
    assert 80 < text_width(cut) <= 100
    assert ["one two", "three"] == wrapped("one two three", 45)
    assert [] == wrapped("", 45)
    assert 1 == len(wrapped("x" * 500, 45))
    assert ["one two", "three …"] == wrapped("one two three four", 45, most=2)


def test_a_name_of_a_hundred_thousand_letters_costs_a_line() -> None:
    for name in ("word " * 20_000, "x" * 100_000, "i" * 100_000):
        named = ranking((name, 1.0, 1, 2), ("Ben", 2.0, 1, 2), ("Cleo", 3.0, 3, 3))
        for chart in (plots.rank_ranges(named), plots.critical_difference(named),
                      plots.forest([*pairs(0.1, a=name), *pairs(0.2, a=name)])):  # fmt: skip
            assert width(chart) <= 640
            assert len(chart) < 10_000


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.03, 0.42, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (-7.3, 12.1, [-10, -5, 0, 5, 10, 15]),
        (0, 0, [-1, -0.5, 0, 0.5, 1]),
        (1e-9, 4e-9, [1e-9, 2e-9, 3e-9, 4e-9]),
        (2e12, 7e12, [2e12, 3e12, 4e12, 5e12, 6e12, 7e12]),
    ],
)
def test_ticks_are_round_and_hold_the_values(low: float, high: float, ticks: list[float]) -> None:
    assert ticks == pytest.approx(nice_ticks(low, high))
    assert len(set(tick_texts(ticks))) == len(ticks)


def test_the_report_is_imported_without_templates() -> None:
    code = "import sys, vivavoce.report, vivavoce.report.charts; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()


# In the report


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three candidates on twelve questions, two repeats, two measures that differ in their direction."""
    said = {
        name: {
            q: [round(v, 2), round(v / 2, 2)] for q, v in twins([base + 0.01 * k for k in range(12)]).items()
        }
        for name, base in (("Ann", 0.8), ("Ben", 0.5), ("Cleo", 0.1))
    }
    return marked(tmp_path, said)


def test_a_report_without_studies_names_the_command(run: Run) -> None:
    page = report(run)
    assert "None was asked for: viva study run.viva ." in page.text
    assert "Rank" not in page.text
    assert "Ranks left open" not in page.source


def test_studies_bring_their_sentences_charts_and_tables(run: Run) -> None:
    found = run.study()
    page = report(run)
    general = {name for name, cls in registry.members("study").items() if not cls.special}
    assert general - {"size"} == set(found)  # nobody has a card; no twins, no judge
    for study in found:
        assert f"{study.capitalize()} " in page.text
        for line in found[study].text.splitlines():
            assert line in page.text
    assert page.tags["figure"] >= 3
    assert "Table: 3 rows" in page.text


def test_rank_ranges_enter_the_leaderboard(run: Run) -> None:
    run.study("ranking")
    page = report(run)
    assert "Candidate Rank Mean" in page.text
    for row in run.estimates("told").rows:
        place = {"Ann": 1, "Ben": 2, "Cleo": 3}[row["candidate"]]
        assert f"{row['candidate']} {place} {printed(row['estimate'], '.3f')}" in page.text
    assert "Rank: the places that paired tests leave open" in page.text


def test_ranks_of_other_items_stay_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    part = exam(tmp_path / "part", [f"q{n:02}" for n in range(11)])
    run.study("ranking", items=part)
    text = report(run).text
    assert "Candidate Mean" in text
    assert "This was made on other items than those of this report." in text
    text = report(run, items=part.replace("jsonl(path=", "jsonl( path = ")).text
    assert "Candidate Rank Mean" in text
    assert "This was made on" not in text


def test_studies_that_marks_have_overtaken_say_so(run: Run) -> None:
    run.study("ranking")
    assert "have come since" not in report(run).text
    score(run, "told(least=0.1)")
    text = report(run).text
    assert "Answers or scores have come since: viva study run.viva ranking again" in text
    assert "since the ranks were made" not in text  # they are of a metric that nothing has touched


def test_a_finding_whose_sentences_were_not_kept(run: Run) -> None:
    run.study("gaps")
    with run.file.writing() as db:
        db.execute("UPDATE findings SET settings = json_remove(settings, '$.text')")
    assert (
        "The sentences of this finding were not kept; viva study run.viva gaps makes them."
        in report(run).text
    )


def test_a_family_of_comparisons_has_a_forest_and_a_single_one_has_not(run: Run, tmp_path: Path) -> None:
    pair = marked(tmp_path / "pair", {"Ann": twins([0.8, 0.7] * 6), "Ben": twins([0.5] * 12)})
    assert "Estimates with intervals" not in report(pair).source
    page = report(run)
    assert 1 == page.source.count("Estimates with intervals")
    assert "Ann − Cleo" in page.text


def test_every_chart_is_written_under_a_safe_name(tmp_path: Path) -> None:
    hostile = ["../../<script>alert(1)</script>", "CON", "\u202egnp.\u202c"]
    values = {name: twins([0.3 * k + 0.01 * n for n in range(12)]) for k, name in enumerate(hostile)}
    run = marked(tmp_path, values)
    run.study()
    run.compare(*hostile, metric="told")
    folder = tmp_path / "new" / "plots"
    page = report(run, plots=folder)  # which asks nothing of anyone, see there
    assert "<script>alert" not in page.source
    files = sorted(path.name for path in folder.iterdir())
    assert files
    assert all(re.fullmatch(r"[a-z0-9-]+\.svg", name) for name in files)
    assert {
        f"{what}-on-exam.svg"
        for what in (
            "leaderboard-told-worth",
            "ranks-told-worth",
            "differences-told",
            "marks-told-worth-short-answers",
        )
    } <= set(files)
    assert "pairs-all-pairs-by-told-worth-on-exam.svg" in files
    assert len(files) - 1 == page.tags["figure"]  # the page draws the leaderboard by itself
    for name in files:
        drawn = (folder / name).read_text(encoding="utf-8")
        ElementTree.fromstring(drawn)
        assert "<script" not in drawn
    before = {name: (folder / name).read_bytes() for name in files}
    run.report(plots=folder)
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder_that_cannot_be_made_is_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot make the folder .*: .*\. Give another path with --plots\."):
        run.report(plots=tmp_path / "file")


def by_measures(**orders: str) -> list[dict[str, Any]]:
    """The rows of a ranking by each measure: its candidates, the best first."""
    return [
        row | {"measure": measure}
        for measure, order in orders.items()
        for row in ranking(*((name, 1.0 + k, 1, len(order)) for k, name in enumerate(order)))
    ]


def test_ranks_by_measure_have_a_row_per_candidate_and_a_column_per_measure():
    chart = plots.ranks_by_measure(by_measures(rouge="abc", judge="acb", bleu="bca"))
    cells = [box["text"] for box in boxes(chart) if box["text"]]
    # by mean rank: a 1, 1, 3; b 2, 3, 1; c 3, 2, 2
    assert ["1", "1", "3", "2", "3", "1", "3", "2", "2"] == cells
    assert isinstance(chart, plots.Drawing)
    assert "a 1, 1, 3" in chart.__html__()


def test_a_measure_that_ranks_nobody_has_no_column_and_an_unranked_candidate_an_empty_cell():
    rows = by_measures(rouge="abc", judge="ab", bleu="bca")
    rows += [row | {"rank": None} for row in by_measures(empty="abc")]
    chart = plots.ranks_by_measure(rows)
    assert "empty" not in str(chart)
    assert 8 == len([box for box in boxes(chart) if box["text"]])
    assert 9 == len(boxes(chart))


def test_two_measures_or_two_candidates_have_no_chart_of_ranks():
    for rows in (by_measures(rouge="abc", judge="acb"), by_measures(a="ab", b="ab", c="ba"), []):
        assert not isinstance(plots.ranks_by_measure(rows), plots.Drawing)
