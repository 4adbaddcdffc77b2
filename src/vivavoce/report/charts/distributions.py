"""Distributions of the scores of single responses by candidate, with missing ones as a category.

A mean hides whether all answers were middling or half of them useless. Everything is counted in Polars: no
chart has a mark per answer, but for the points of a small exam.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.core.records import Criterion, Measure
from vivavoce.report.charts.lanes import Lanes, Scale
from vivavoce.report.charts.sheet import Line, Sheet, nice_ticks, text_width
from vivavoce.report.charts.svg import Drawing, Figure, drawing, figure, listed, mixed, short
from vivavoce.report.data import ScoredResponses, scored_responses
from vivavoce.report.format import number
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import MISSING, better_end
from vivavoce.studies.text import count, percent

FEW_VALUES = 7
"""Scores with at most this many different values are drawn as shares of a bar."""
MOST_POINTS = 200
"""Up to this many answers, all candidates together, are drawn one by one."""
MOST_CANDIDATES = 24
BINS = 40
HARD_SPACE = "\N{NO-BREAK SPACE}"
GREYS = {"unanswered": ("#d5d9de", "#000"), "unreadable": ("#9aa2ac", "#000"),
         "failed": ("#5a626c", "#fff"), "set_aside": ("#eef0f2", "#000")}  # fmt: skip
"""Fill and text colour, the same in light and dark mode."""


def distributions(
    scores: pl.DataFrame, measures: Mapping[int, Measure], probes: Collection[int] = ()
) -> list[Figure]:
    """A figure for each measure, benchmark and format: the scores of single answers by candidate.

    A score is the mean of an answer's passes. Criteria of few values are stacked bars of shares of all
    answers, in which unanswered, unreadable, failed and set aside have parts of their own; others are
    histograms (or points, if there are few) with the median and the middle half, and their missing answers
    counted beside them. What is missing is never drawn as a value. Edited answers are left out; so are
    candidates beyond the first 24 by name, which the figure says. Of the measures of probabilities (`probes`)
    questions are counted.
    """
    return distributions_of(scored_responses(scores, measures, probes))


def distributions_of(parts: Sequence[ScoredResponses]) -> list[Figure]:
    """The figures of `distributions`, from the scores of single answers."""
    return [_figure(part) for part in parts]


def _figure(part: ScoredResponses) -> Figure:
    title = f"{part.label}: {part.format} {part.thing}s on {part.benchmark}"
    names = part.answers["candidate"].unique().sort().to_list()
    first = names[:MOST_CANDIDATES]
    left_out = len(names) - len(first)
    part = part._replace(answers=select_rows(part.answers, pl.col("candidate").is_in(first)))
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


def _unbroken(text: str) -> str:
    """The text with hard spaces after numbers: where a line ends, a number stays with its word."""
    return re.sub(r"(?<=\d) ", HARD_SPACE, text)


def _left_out(n: int) -> list[str]:
    return [f"{n} further candidates are left out"] if n else []


def _bars(part: ScoredResponses, names: Sequence[str], left_out: int) -> Drawing | str:
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
    used = [state for state in fills if any(tally.get((name, state)) for name in names)]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        sheet.legend({_name(state): fills[state][0] for state in used})
        sheet.height += 6
        texts = [_unbroken(_counts_text(counts[name], part.thing)) for name in names]
        lanes = Lanes(sheet, names, texts, tall=28, style="soft small")
        for name, y in zip(names, lanes.at, strict=True):
            parts = [(tally.get((name, state), 0), *fills[state]) for state in used]
            _draw_bar(sheet, lanes.scale(0, sum(n for n, *_ in parts)), y, parts)
        sheet.height += 4
        sheet.notes(notes, lanes.left)
        return sheet

    notes = [f"share of all {part.thing}s; {better_end(part.measure)}", *_left_out(left_out)]
    description = listed(f"{short(name)}: {_shares(tally, name, used)}" for name in names)
    return drawing(f"Shares of {part.thing}s by score: {description}", draw)


def _draw_bar(sheet: Sheet, scale: Scale, y: float, parts: Sequence[tuple[int, str, str]]) -> None:
    """The parts of a bar one after the other, numbers with their fill and the colour of a text on it."""
    start = 0
    for n, fill, ink in parts:
        x, x2 = scale(start), scale(start + n)
        text = percent(n / scale.high)
        if n:
            sheet.box("outlined", x, y - 10, x2 - x, 20, fill=fill)
        if x2 - x > text_width(text, "small") + 4:
            sheet.text((x + x2) / 2, y, text, "small middle", fill=ink)
        start += n


def _shares(tally: Mapping[tuple[str, float | str], int], name: str, used: Sequence[float | str]) -> str:
    """`0 1 (25 %), 1 3 (75 %)`: how many of a candidate's answers have each value, and their share."""
    tallied = {state: tally[name, state] for state in used if tally.get((name, state))}
    total = sum(tallied.values())
    return ", ".join(f"{_name(state)} {n} ({percent(n / total)})" for state, n in tallied.items())


def _name(state: float | str) -> str:
    """A score, or the word for one that is missing."""
    return state.replace("_", " ") if isinstance(state, str) else number(state, ".3g")


def _goodness(value: float, values: Sequence[float], criterion: Criterion) -> float:
    """Where a value lies from worst, 0, to best, 1: on the declared range, or else among the values."""
    if criterion.low is None or criterion.high is None or criterion.high == criterion.low:
        return values.index(value) / max(1, len(values) - 1)
    share = (value - criterion.low) / (criterion.high - criterion.low)
    return share if criterion.direction == "higher" else 1 - share


def _shade(share: float) -> tuple[str, str]:
    """A fill from worst, light, to best, dark, and the colour of text on it."""
    fill = mixed((0xE3, 0xF1, 0xF2), (0x0A, 0x5C, 0x62), share)
    return fill, "#fff" if share > 0.77 else "#000"


def _histograms(part: ScoredResponses, names: Sequence[str], left_out: int) -> Drawing | str:
    """A histogram, or the points, over the median and the middle half of each candidate's answers."""
    answers = part.answers.filter(pl.col("value").is_not_null())
    ends = _axis(part.measure.criterion, float(answers["value"].min()), float(answers["value"].max()))  # type: ignore[arg-type]
    counts = {name: _counts_text(by_status, part.thing) for name, by_status in _counted(part).items()}
    quantiles = _quantiles(answers)
    single = answers.height <= MOST_POINTS
    heights = {} if single else _heights(answers, ends)
    notes = [
        f"{'small points: ' if single else 'height: share of '}{part.thing}s; dot: median; "
        f"band: middle half; line: 5 % to 95 %; {better_end(part.measure)}",
        *_left_out(left_out),
    ]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        texts = [
            f"median {_name(quantiles[name]['q50'])}; {counts[name]}" if name in quantiles else counts[name]
            for name in names
        ]
        lanes = Lanes(sheet, names, list(map(_unbroken, texts)), tall=46, style="soft small")
        scale = lanes.scale(ends[0], ends[-1])
        base = {name: y + 7 for name, y in zip(names, lanes.at, strict=True)}
        sheet.lines("grid", lanes.across([scale(edge) for edge in ends]))
        if single:
            sheet.points("points", _points(answers, base, scale))
        for name, y in base.items():
            sheet.curve("area", _outline(heights.get(name, {}), y, scale), closed=True)
        sheet.lines("grid", [(lanes.left, y, lanes.right, y) for y in base.values()])
        with_spread = {name: q for name, q in quantiles.items() if q["n"] > 1}
        sheet.lines("fine", _between(with_spread, base, scale, "q5", "q95"))
        sheet.lines("half", _between(with_spread, base, scale, "q25", "q75"))
        for name, q in quantiles.items():
            sheet.dot("dot", scale(q["q50"]), base[name] + 7, 4.2)
        lanes.axis(scale, ends)
        sheet.notes(notes, lanes.left)
        return sheet

    description = listed(
        f"{short(name)}: median {_name(q['q50'])}, middle half {_name(q['q25'])} to {_name(q['q75'])}, "
        f"{counts[name]}"
        if (q := quantiles.get(name))
        else f"{short(name)}: no scores, {counts[name]}"
        for name in names
    )
    return drawing(f"Scores of single {part.thing}s: {description}", draw)


def _between(
    quantiles: Mapping[str, Mapping[str, float]], base: Mapping[str, float], x: Scale, low: str, high: str
) -> list[Line]:
    """A line below each candidate's scores from one quantile to another."""
    return [(x(q[low]), base[name] + 7, x(q[high]), base[name] + 7) for name, q in quantiles.items()]


def _quantiles(answers: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """By candidate the number of values and five quantiles, interpolated."""
    values = pl.col("value")
    rows = answers.group_by("candidate").agg(
        pl.len().alias("n"),
        *(values.quantile(q / 100, "linear").alias(f"q{q}") for q in (5, 25, 50, 75, 95)),
    )
    return {row["candidate"]: row for row in rows.sort("candidate").iter_rows(named=True)}


def _axis(criterion: Criterion, lowest: float, highest: float) -> list[float]:
    """Round ticks from below the least to above the greatest score, inside the declared range."""
    ticks = nice_ticks(lowest, highest)
    low = -math.inf if criterion.low is None else criterion.low
    high = math.inf if criterion.high is None else criterion.high
    ticks_inside = [t for t in ticks if low <= t <= high]
    # A limit that is no multiple of the tick ends the axis itself.
    return sorted(
        {*ticks_inside, *((low,) if ticks[0] < low else ()), *((high,) if ticks[-1] > high else ())}
    )


def _heights(answers: pl.DataFrame, ends: Sequence[float]) -> dict[str, dict[int, float]]:
    """How tall each bin of each candidate is, in pixels: shares, on one scale for all."""
    low, high = ends[0], ends[-1]
    place = ((pl.col("value") - low) / (high - low) * BINS).floor().cast(pl.Int32).clip(0, BINS - 1)
    tally = answers.group_by("candidate", place.alias("bin")).len()
    shares = tally.with_columns(share=pl.col("len") / pl.col("len").sum().over("candidate"))
    tallest = float(shares["share"].max())  # type: ignore[arg-type]
    heights: dict[str, dict[int, float]] = {}
    for name, k, _, share in shares.iter_rows():
        heights.setdefault(name, {})[k] = share / tallest * 28
    return heights


def _outline(heights: Mapping[int, float], base: float, x: Scale) -> list[tuple[float, float]]:
    """The histogram of a candidate as one shape, on its base."""
    if not heights:
        return []
    first, last = min(heights), max(heights)

    def at(bin_edge: int) -> float:
        return x(x.low + bin_edge / BINS * (x.high - x.low))

    steps = [(at(k + side), base - heights.get(k, 0.0)) for k in range(first, last + 1) for side in (0, 1)]
    return [(at(first), base), *steps, (at(last + 1), base)]


def _points(answers: pl.DataFrame, base: Mapping[str, float], x: Scale) -> list[tuple[float, float]]:
    """An answer each; equal scores stand above each other as far as there is room."""
    points = []
    levels: dict[tuple[str, int], int] = {}
    for name, value in answers.sort("candidate", "value").select("candidate", "value").iter_rows():
        spot = (name, round(x(value) / 6))
        level = levels[spot] = levels.get(spot, -1) + 1
        points.append((x(value), base[name] - 4 - min(level, 6) * 4))
    return points
