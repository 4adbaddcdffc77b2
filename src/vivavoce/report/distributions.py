"""How the marks of single answers lie, candidate by candidate, with what is missing as its own category.

A mean hides whether all answers were middling or half of them useless. Everything is counted in Polars: no
chart has a mark per answer, but for the points of a small exam.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.records import Criterion, Measure
from vivavoce.report.drawing import (
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
from vivavoce.report.singles import MISSING, Part
from vivavoce.report.singles import parts as _parts
from vivavoce.report.wording import number
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["distributions"]

FEW_VALUES = 7
"""Marks of at most so many different values are shares in a bar."""
MOST_POINTS = 200
"""So many answers, all candidates together, are still shown one by one."""
MOST_CANDIDATES = 24
BINS = 40
WIDTH = 400.0
WHITE = "#fefefe"
"""Of text on fills that stay in the dark: the page turns what is paper white."""
GREYS = {"unanswered": ("#d5d9de", "#000000"), "unreadable": ("#9aa2ac", "#000000"),
         "failed": ("#5a626c", WHITE)}  # fmt: skip
"""Fill and the text on it: they are read in the light and in the dark alike."""


def distributions(
    scores: "pl.DataFrame", measures: Mapping[int, Measure], probes: Collection[int] = ()
) -> list[Figure]:
    """A figure for each measure, benchmark and format: the marks of single answers by candidate.

    A mark is the mean of an answer's passes. Criteria of few values are stacked bars of shares of all
    answers, in which unanswered, unreadable and failed have parts of their own; others are histograms (or
    points, if there are few) with the median and the middle half, and their missing answers counted beside
    them. What is missing is never drawn as a value. Edited answers are left out; so are candidates beyond
    the first 24 by name, which the figure says. Of the measures of probabilities (`probes`) questions are
    counted.
    """
    return [_figure(part) for part in _parts(scores, measures, probes)]


def _figure(part: Part) -> Figure:
    import polars as pl

    title = f"{part.label}: {part.format} {part.thing}s on {part.benchmark}"
    names = part.answers["candidate"].unique().sort().to_list()
    shown = names[:MOST_CANDIDATES]
    left_out = len(names) - len(shown)
    part = part._replace(answers=part.answers.filter(pl.col("candidate").is_in(shown)))
    values = part.answers["value"].drop_nulls().n_unique()
    draw = _bars if values <= FEW_VALUES else _histograms
    return figure(title, draw(part, shown, left_out), "marks", title)


def _counted(part: Part) -> dict[str, dict[str, int]]:
    """How many answers of each candidate have each status."""
    made: dict[str, dict[str, int]] = {}
    for candidate, status, n in part.answers.group_by("candidate", "status").len().iter_rows():
        made.setdefault(candidate, {})[status] = n
    return made


def _beside(counts: Mapping[str, int], thing: str) -> str:
    """`120 answers, 3 unanswered`."""
    n = sum(counts.values())
    missing = [f"{counts[s]:,} {s}" for s in MISSING if counts.get(s)]
    return ", ".join([count(n, thing), *missing])


def _better(criterion: Criterion) -> str:
    return f"{criterion.direction} is better"


def _left_out(n: int) -> list[str]:
    return [f"{n} further candidates are left out"] if n else []


def _bars(part: Part, names: Sequence[str], left_out: int) -> "alt.LayerChart | str":
    """Shares of all answers by value and by what is missing."""
    counts = _counted(part)
    tally = {
        (candidate, value): n
        for candidate, value, n in part.answers.group_by("candidate", "value").len().iter_rows()
        if value is not None
    }
    values = sorted({value for _, value in tally}, reverse=part.measure.criterion.direction == "lower")
    shades = {value: _shade(_goodness(value, values, part.measure.criterion)) for value in values}
    step, top = 28.0, 26.0
    cells, figures, told = [], [], []
    used: set[float | str] = set()
    for row, name in enumerate(names):
        total = sum(counts[name].values())
        start, parts = 0.0, []
        for what in (*values, *MISSING):
            n = tally.get((name, what), 0) if what in shades else counts[name].get(str(what), 0)
            if not n:
                continue
            used.add(what)
            fill, on = shades[what] if what in shades else GREYS[str(what)]
            end = start + n / total * WIDTH
            cells.append({"x": start, "x2": end, "y": top + row * step + 3, "y2": top + (row + 1) * step - 5,
                          "fill": fill, "value": _name(what), "candidate": name, "n": n})  # fmt: skip
            if end - start >= 26:
                figures.append({"x": (start + end) / 2, "y": top + (row + 0.5) * step - 1, "on": on,
                                "text": f"{100 * n / total:.0f} %"})  # fmt: skip
            parts.append(f"{_name(what)} {n} ({100 * n / total:.0f} %)")
            start = end
        told.append(f"{short(name)}: {', '.join(parts)}")
    bottom = top + len(names) * step
    key, squares, x = [], [], 0.0
    for what in (*values, *(s for s in MISSING if s in used)):
        fill = shades[what][0] if what in shades else GREYS[str(what)][0]
        squares.append({"x": x, "x2": x + 12, "y": 2, "y2": 14, "fill": fill})
        key.append({"x": x + 17, "y": 8.5, "text": _name(what)})
        x += 17 + 7.0 * len(_name(what)) + 16
    notes = [f"share of all {part.thing}s; {_better(part.measure.criterion)}", *_left_out(left_out)]
    layers = [
        boxes([*squares, *cells], stroke=SOFT, strokeWidth=0.5),
        words(key, align="left"),
        *([_on_cells(figures)] if figures else []),
        *_names(names, counts, top, step, [_beside(counts[name], part.thing) for name in names]),
        words([{"x": 0.0, "y": bottom + 14 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    says = f"Shares of {part.thing}s by mark: {listed(told)}"
    return composed(layers, width=max(WIDTH, x), height=bottom + 6 + 16 * len(notes), says=says)


def _name(what: float | str) -> str:
    """A mark, or the word for one that is missing."""
    return what if isinstance(what, str) else number(what, ".3g")


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

    made: alt.Chart = table(figures).mark_text(baseline="middle", fontSize=11).encode(
        **places(), text="text:N", color=alt.Color("on:N", scale=None))  # fmt: skip
    return made


def _names(
    names: Sequence[str], counts: Mapping[str, Any], top: float, step: float, beside: Sequence[str]
) -> list["alt.Chart"]:
    """The candidates to the left of their rows, and what is said of them to the right."""
    middles = [top + (k + 0.5) * step - 1 for k in range(len(names))]
    left = [{"x": -8.0, "y": y, "text": clean(name)} for y, name in zip(middles, names, strict=True)]
    right = [{"x": WIDTH + 12, "y": y, "text": text} for y, text in zip(middles, beside, strict=True)]
    return [
        words(left, align="right", limit=260),
        words(right, align="left", color=SOFT, fontSize=11, limit=340),
    ]


def _histograms(part: Part, names: Sequence[str], left_out: int) -> "alt.LayerChart | str":
    """A histogram, or the points, over the median and the middle half of each candidate's answers."""
    import polars as pl

    answers = part.answers.filter(pl.col("value").is_not_null())
    ends = _axis(part.measure.criterion, float(answers["value"].min()), float(answers["value"].max()))  # type: ignore[arg-type]
    low, high = ends[0], ends[-1]
    counts = _counted(part)
    quantiles = {
        row["candidate"]: row
        for row in answers.group_by("candidate").agg(
            pl.len().alias("n"),
            *(pl.col("value").quantile(q / 100, "linear").alias(f"q{q}") for q in (5, 25, 50, 75, 95)),
        ).iter_rows(named=True)
    }  # fmt: skip
    step, top = 46.0, 6.0

    def x(value: float) -> float:
        return (value - low) / (high - low) * WIDTH

    base = {name: top + k * step + 30 for k, name in enumerate(names)}
    bottom = top + len(names) * step
    guides: list[Line] = [(x(at), top, x(at), bottom) for at in ends]
    thin: list[Line] = []
    thick: list[Line] = []
    middles, told, beside = [], [], []
    for name in names:
        q, y = quantiles.get(name), base[name] + 7
        beside.append(_beside(counts[name], part.thing))
        if q is None:
            told.append(f"{short(name)}: no marks, {beside[-1]}")
            continue
        if q["n"] > 1:
            thin.append((x(q["q5"]), y, x(q["q95"]), y))
            thick.append((x(q["q25"]), y, x(q["q75"]), y))
        middles.append({"x": x(q["q50"]), "y": y})
        beside[-1] = f"median {_name(q['q50'])}; {beside[-1]}"
        told.append(
            f"{short(name)}: median {_name(q['q50'])}, middle half {_name(q['q25'])} to "
            f"{_name(q['q75'])}, {_beside(counts[name], part.thing)}"
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
        *_names(names, counts, top, step, beside),
        words([{"x": x(at), "y": bottom + 8, "text": _name(at)} for at in ends], fontSize=11),
        words([{"x": 0.0, "y": bottom + 28 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    says = f"Marks of single {part.thing}s: {listed(told)}"
    return composed(layers, width=WIDTH, height=bottom + 20 + 16 * len(notes), says=says)


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


def _areas(answers: "pl.DataFrame", base: Mapping[str, float], ends: Sequence[float]) -> "alt.Chart":
    """A histogram of each candidate as one shape; heights are shares, on one scale for all."""
    import altair as alt
    import polars as pl

    low, high = ends[0], ends[-1]
    place = ((pl.col("value") - low) / (high - low) * BINS).floor().cast(pl.Int32).clip(0, BINS - 1)
    tally = answers.group_by("candidate", place.alias("bin")).len()
    shares = tally.with_columns(share=pl.col("len") / pl.col("len").sum().over("candidate"))
    tallest = float(shares["share"].max())  # type: ignore[arg-type]
    height = {(name, k): share / tallest * 28 for name, k, _, share in shares.iter_rows()}
    rows = []
    for name, y in base.items():
        own = [k for k in range(BINS) if (name, k) in height]
        for k in range(own[0], own[-1] + 1) if own else ():
            ends_of_bin = {"y": y - height.get((name, k), 0.0), "y2": y, "name": name}
            rows += [{"x": at / BINS * WIDTH, **ends_of_bin} for at in (k, k + 1)]
    made: alt.Chart = table(rows).mark_area(color=BAND, opacity=1, stroke=None).encode(
        **places(), y2=alt.Y2("y2:Q"), detail="name:N")  # fmt: skip
    return made


def _points(answers: "pl.DataFrame", base: Mapping[str, float], x: Any) -> "alt.Chart":
    """An answer each; equal marks stand above each other as far as there is room."""
    rows = []
    seen: dict[tuple[str, int], int] = {}
    for name, value in answers.sort("candidate", "value").select("candidate", "value").iter_rows():
        at = (name, round(x(value) / 6))
        level = seen[at] = seen.get(at, -1) + 1
        rows.append({"x": x(value), "y": base[name] - 4 - min(level, 6) * 4})
    made: alt.Chart = table(rows).mark_point(
        shape="circle", fill=BAND, size=18, opacity=1, strokeWidth=0
    ).encode(**places())  # fmt: skip
    return made
