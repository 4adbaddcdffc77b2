"""Distributions of the scores of single responses by candidate, with missing ones as a category.

A mean hides whether all answers were middling or half of them useless. Everything is counted in Polars: no
chart has a mark per answer, but for the points of a small exam.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from vivavoce.core.records import Criterion, Measure
from vivavoce.report.charts.svg import (
    BAND,
    DOT,
    INK,
    LINE,
    SOFT,
    Figure,
    Line,
    boxes,
    clean,
    composed,
    figure,
    listed,
    mixed,
    places,
    short,
    strokes,
    table,
    words,
)
from vivavoce.report.data import ScoredResponses, scored_responses
from vivavoce.report.format import number
from vivavoce.studies.score_table import MISSING
from vivavoce.studies.text import count

if TYPE_CHECKING:
    import altair as alt

FEW_VALUES = 7
"""Scores with at most this many different values are drawn as shares of a bar."""
MOST_POINTS = 200
"""Up to this many answers, all candidates together, are drawn one by one."""
MOST_CANDIDATES = 24
BINS = 40
WIDTH = 400.0
WHITE = "#fefefe"
"""For text on fills that keep their colour in dark mode: the page inverts plain white."""
GREYS = {"unanswered": ("#d5d9de", "#000000"), "unreadable": ("#9aa2ac", "#000000"),
         "failed": ("#5a626c", WHITE), "set_aside": ("#eef0f2", "#000000")}  # fmt: skip
"""Fill and text colour, readable in light and dark mode."""


def distributions(
    scores: pl.DataFrame, measures: Mapping[int, Measure], probes: Collection[int] = ()
) -> list[Figure]:
    """A figure for each measure, benchmark and format: the marks of single answers by candidate.

    A mark is the mean of an answer's passes. Criteria of few values are stacked bars of shares of all
    answers, in which unanswered, unreadable, failed and set aside have parts of their own; others are
    histograms (or points, if there are few) with the median and the middle half, and their missing answers
    counted beside them. What is missing is never drawn as a value. Edited answers are left out; so are
    candidates beyond the first 24 by name, which the figure says. Of the measures of probabilities (`probes`)
    questions are counted.
    """
    return [_figure(part) for part in scored_responses(scores, measures, probes)]


def _figure(part: ScoredResponses) -> Figure:
    title = f"{part.label}: {part.format} {part.thing}s on {part.benchmark}"
    names = part.answers["candidate"].unique().sort().to_list()
    first = names[:MOST_CANDIDATES]
    left_out = len(names) - len(first)
    part = part._replace(answers=part.answers.filter(pl.col("candidate").is_in(first)))
    values = part.answers["value"].drop_nulls().n_unique()
    draw = _bars if values <= FEW_VALUES else _histograms
    return figure(title, draw(part, first, left_out), "marks", title)


def _counted(part: ScoredResponses) -> dict[str, dict[str, int]]:
    """How many answers of each candidate have each status."""
    counts: dict[str, dict[str, int]] = {}
    for candidate, status, n in part.answers.group_by("candidate", "status").len().iter_rows():
        counts.setdefault(candidate, {})[status] = n
    return counts


def _counts_text(counts: Mapping[str, int], thing: str) -> str:
    """`120 answers, 3 unanswered`."""
    n = sum(counts.values())
    missing = [f"{counts[s]:,} {_name(s)}" for s in MISSING if counts.get(s)]
    return ", ".join([count(n, thing), *missing])


def _better(criterion: Criterion) -> str:
    return f"{criterion.direction} is better"


def _left_out(n: int) -> list[str]:
    return [f"{n} further candidates are left out"] if n else []


def _bars(part: ScoredResponses, names: Sequence[str], left_out: int) -> "alt.LayerChart | str":
    """Shares of all answers by value and by what is missing."""
    counts = _counted(part)
    tally: dict[tuple[str, float | str], int] = {
        (name, status): counts[name].get(status, 0) for name in names for status in MISSING
    }
    by_value = part.answers.group_by("candidate", "value").len()
    for candidate, value, n in by_value.drop_nulls("value").iter_rows():
        tally[candidate, value] = n
    criterion = part.measure.criterion
    values = sorted({v for _, v in tally if isinstance(v, float)}, reverse=criterion.direction == "lower")
    fills = {value: _shade(_goodness(value, values, criterion)) for value in values} | GREYS
    step, top = 28.0, 26.0
    cells: list[dict[str, Any]] = []
    figures: list[dict[str, Any]] = []
    description = []
    for row, name in enumerate(names):
        y, total = top + row * step, sum(counts[name].values())
        start, parts = 0.0, []
        for what, (fill, on) in fills.items():
            n = tally.get((name, what), 0)
            if not n:
                continue
            end = start + n / total * WIDTH
            cells.append({"x": start, "x2": end, "y": y + 3, "y2": y + step - 5, "fill": fill,
                          "value": _name(what), "candidate": name, "n": n})  # fmt: skip
            if end - start >= 26:
                figures.append({"x": (start + end) / 2, "y": top + (row + 0.5) * step - 1, "on": on,
                                "text": f"{100 * n / total:.0f} %"})  # fmt: skip
            parts.append(f"{_name(what)} {n} ({100 * n / total:.0f} %)")
            start = end
        description.append(f"{short(name)}: {', '.join(parts)}")
    bottom = top + len(names) * step
    used = [what for what in fills if any(tally.get((name, what)) for name in names)]
    squares, key, width = _key({what: fills[what][0] for what in used})
    notes = [f"share of all {part.thing}s; {_better(criterion)}", *_left_out(left_out)]
    layers = [
        boxes([*squares, *cells], stroke=SOFT, strokeWidth=0.5),
        words(key, align="left"),
        *([_on_cells(figures)] if figures else []),
        *_names(names, top, step, [_counts_text(counts[name], part.thing) for name in names]),
        words([{"x": 0.0, "y": bottom + 14 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    says = f"Shares of {part.thing}s by mark: {listed(description)}"
    return composed(layers, width=max(WIDTH, width), height=bottom + 6 + 16 * len(notes), says=says)


def _key(
    fills: Mapping[float | str, str],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], float]:
    """The squares and words of the key above the bars, and how wide they are together."""
    squares, texts, x = [], [], 0.0
    for what, fill in fills.items():
        squares.append({"x": x, "x2": x + 12, "y": 2, "y2": 14, "fill": fill})
        texts.append({"x": x + 17, "y": 8.5, "text": _name(what)})
        x += 17 + 7.0 * len(_name(what)) + 16
    return squares, texts, x


def _name(what: float | str) -> str:
    """A mark, or the word for one that is missing."""
    return what.replace("_", " ") if isinstance(what, str) else number(what, ".3g")


def _goodness(value: float, values: Sequence[float], criterion: Criterion) -> float:
    """Where a value lies from worst, 0, to best, 1: on the declared range, or else among the values."""
    if criterion.low is None or criterion.high is None or criterion.high == criterion.low:
        return values.index(value) / max(1, len(values) - 1)
    share = (value - criterion.low) / (criterion.high - criterion.low)
    return share if criterion.direction == "higher" else 1 - share


def _shade(share: float) -> tuple[str, str]:
    """A fill from worst, light, to best, dark, and the colour of text on it."""
    fill = mixed((0xE3, 0xF1, 0xF2), (0x0A, 0x5C, 0x62), share)
    return fill, WHITE if share > 0.77 else "#000000"


def _on_cells(figures: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    chart: alt.Chart = table(figures).mark_text(baseline="middle", fontSize=11).encode(
        **places(), text="text:N", color=alt.Color("on:N", scale=None))  # fmt: skip
    return chart


def _names(names: Sequence[str], top: float, step: float, texts: Sequence[str]) -> list["alt.Chart"]:
    """The candidates to the left of their rows, and a text on each to the right."""
    middles = [top + (k + 0.5) * step - 1 for k in range(len(names))]
    at_left = [{"x": -8.0, "y": y, "text": clean(name)} for y, name in zip(middles, names, strict=True)]
    at_right = [{"x": WIDTH + 12, "y": y, "text": text} for y, text in zip(middles, texts, strict=True)]
    return [
        words(at_left, align="right", limit=260),
        words(at_right, align="left", color=SOFT, fontSize=11, limit=340),
    ]


def _histograms(part: ScoredResponses, names: Sequence[str], left_out: int) -> "alt.LayerChart | str":
    """A histogram, or the points, over the median and the middle half of each candidate's answers."""
    answers = part.answers.filter(pl.col("value").is_not_null())
    ends = _axis(part.measure.criterion, float(answers["value"].min()), float(answers["value"].max()))  # type: ignore[arg-type]
    low, high = ends[0], ends[-1]
    counts = _counted(part)
    quantiles = _quantiles(answers)
    step, top = 46.0, 6.0

    def x(value: float) -> float:
        return (value - low) / (high - low) * WIDTH

    base = {name: top + k * step + 30 for k, name in enumerate(names)}
    bottom = top + len(names) * step
    guides: list[Line] = [(x(at), top, x(at), bottom) for at in ends]
    thin: list[Line] = []
    thick: list[Line] = []
    middles, description, texts = [], [], []
    for name in names:
        q, y = quantiles.get(name), base[name] + 7
        n_text = _counts_text(counts[name], part.thing)
        if q is None:
            texts.append(n_text)
            description.append(f"{short(name)}: no marks, {n_text}")
            continue
        if q["n"] > 1:
            thin.append((x(q["q5"]), y, x(q["q95"]), y))
            thick.append((x(q["q25"]), y, x(q["q75"]), y))
        middles.append({"x": x(q["q50"]), "y": y})
        texts.append(f"median {_name(q['q50'])}; {n_text}")
        description.append(
            f"{short(name)}: median {_name(q['q50'])}, middle half {_name(q['q25'])} to "
            f"{_name(q['q75'])}, {n_text}"
        )
    single = answers.height <= MOST_POINTS
    shapes = _points(answers, base, x) if single else _areas(answers, base, ends)
    notes = [
        f"{'small points: ' if single else 'height: share of '}{part.thing}s; dot: median; "
        f"band: middle half; line: 5 % to 95 %; {_better(part.measure.criterion)}",
        *_left_out(left_out),
    ]
    layers = [
        strokes(guides, color=LINE, strokeWidth=1),
        shapes,
        strokes([(0, y, WIDTH, y) for y in base.values()], color=LINE, strokeWidth=1),
        *([strokes(thin, color=INK, strokeWidth=1.2)] if thin else []),
        *([strokes(thick, color=BAND, strokeWidth=6)] if thick else []),
        table(middles).mark_point(**DOT, size=70).encode(**places()),
        *_names(names, top, step, texts),
        words([{"x": x(at), "y": bottom + 8, "text": _name(at)} for at in ends], fontSize=11),
        words([{"x": 0.0, "y": bottom + 28 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    says = f"Marks of single {part.thing}s: {listed(description)}"
    return composed(layers, width=WIDTH, height=bottom + 20 + 16 * len(notes), says=says)


def _quantiles(answers: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """By candidate the number of values and five quantiles, interpolated."""
    values = pl.col("value")
    rows = answers.group_by("candidate").agg(
        pl.len().alias("n"),
        *(values.quantile(q / 100, "linear").alias(f"q{q}") for q in (5, 25, 50, 75, 95)),
    )
    return {row["candidate"]: row for row in rows.iter_rows(named=True)}


def _axis(criterion: Criterion, least: float, most: float) -> list[float]:
    """Round ticks from below the least to above the most mark, inside the declared range."""
    rough = (most - least) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    tick = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough)
    first, last = math.floor(least / tick), math.ceil(most / tick)
    ticks = [round(k * tick, 12) for k in range(first, last + 1)]
    low = -math.inf if criterion.low is None else criterion.low
    high = math.inf if criterion.high is None else criterion.high
    inside = [t for t in ticks if low <= t <= high]
    # A limit that is no multiple of the tick ends the axis itself.
    return sorted({*inside, *((low,) if ticks[0] < low else ()), *((high,) if ticks[-1] > high else ())})


def _areas(answers: pl.DataFrame, base: Mapping[str, float], ends: Sequence[float]) -> "alt.Chart":
    """A histogram of each candidate as one shape; heights are shares, on one scale for all."""
    import altair as alt

    low, high = ends[0], ends[-1]
    place = ((pl.col("value") - low) / (high - low) * BINS).floor().cast(pl.Int32).clip(0, BINS - 1)
    tally = answers.group_by("candidate", place.alias("bin")).len()
    shares = tally.with_columns(share=pl.col("len") / pl.col("len").sum().over("candidate"))
    tallest = float(shares["share"].max())  # type: ignore[arg-type]
    height = {(name, k): share / tallest * 28 for name, k, _, share in shares.iter_rows()}
    rows = []
    for name, y in base.items():
        bins = [k for k in range(BINS) if (name, k) in height]
        for k in range(bins[0], bins[-1] + 1) if bins else ():
            ends_of_bin = {"y": y - height.get((name, k), 0.0), "y2": y, "name": name}
            rows += [{"x": at / BINS * WIDTH, **ends_of_bin} for at in (k, k + 1)]
    chart: alt.Chart = table(rows).mark_area(color=BAND, opacity=1, stroke=None).encode(
        **places(), y2=alt.Y2("y2:Q"), detail="name:N")  # fmt: skip
    return chart


def _points(answers: pl.DataFrame, base: Mapping[str, float], x: Any) -> "alt.Chart":
    """An answer each; equal marks stand above each other as far as there is room."""
    rows = []
    levels: dict[tuple[str, int], int] = {}
    for name, value in answers.sort("candidate", "value").select("candidate", "value").iter_rows():
        at = (name, round(x(value) / 6))
        level = levels[at] = levels.get(at, -1) + 1
        rows.append({"x": x(value), "y": base[name] - 4 - min(level, 6) * 4})
    chart: alt.Chart = table(rows).mark_point(
        shape="circle", fill=BAND, size=18, opacity=1, strokeWidth=0
    ).encode(**places())  # fmt: skip
    return chart
