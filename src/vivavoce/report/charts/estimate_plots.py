"""Charts of findings: pure functions from rows to Altair charts, or to a sentence where a chart says nothing.

Each takes the rows of one board (one benchmark and, for ranks, one criterion). What is told apart is told
apart by place, shape, lightness or words, never by hue alone. Altair is loaded when a chart is made.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.report.charts.svg import (
    BAND,
    DOT,
    INK,
    MARK,
    SOFT,
    Line,
    clean,
    composed,
    listed,
    no_chart,
    places,
    short,
    strokes,
    table,
    unique,
    words,
)
from vivavoce.report.data import Rows
from vivavoce.report.format import interval, number, ranks

if TYPE_CHECKING:
    import altair as alt


WIDTH = 380
TICK: Mapping[str, Any] = {"color": INK, "opacity": 1, "thickness": 1.5, "size": 18}
PARTS = (
    ("s2_group", "case", "#14323a", "#fff"),
    ("s2_item", "question", "#0b6e76", "#fff"),
    ("s2_interaction", "candidate × question", "#6fb1b5", "#000"),
    ("s2_repeat", "repeat", "#bfe0e2", "#000"),
    ("s2_pass", "examiner (pass)", "#eef6f6", "#000"),
)
"""The variance components in the order in which bars are stacked, from dark to light."""


def forest(rows: Rows) -> "alt.LayerChart | str":
    """Estimates, agreement, categories or differences of pairs, a line each, with their intervals.

    Differences: the thin line is the interval for all comparisons of the call, the thick one for the pair
    alone; 0 is drawn through, a margin dashed on both sides. Dotted: what failed marks leave open.
    """
    import altair as alt

    lines = _lines(rows)
    with_value = [line for line in lines if line["value"] is not None]
    if len(with_value) < 2:
        return "Fewer than two figures: nothing to set side by side."
    pairs = "difference" in rows[0]
    y = _names_axis([line["label"] for line in lines])

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=alt.Scale(zero=pairs, nice=True),
                     axis=alt.Axis(title=_axis_title(rows), tickCount=6, titleLimit=WIDTH + 240,
                                   titleAnchor="start"))  # fmt: skip

    def spans(low: str, high: str, **style: Any) -> list[alt.Chart]:
        bounded = [line for line in with_value if line[low] is not None and line[high] is not None]
        return (
            [table(bounded).mark_rule(**style).encode(x=x(low), x2=alt.X2(f"{high}:Q"), y=y)]
            if bounded
            else []
        )

    layers, margins = [], []
    if pairs:
        layers.append(table([{"at": 0}]).mark_rule(color=SOFT, strokeWidth=1).encode(x=x("at")))
        margins = [{"label": line["label"], "at": end} for line in with_value if line["margin"] is not None
              for end in (-line["margin"], line["margin"])]  # fmt: skip
    layers += [
        *spans("out_low", "out_high", color=SOFT, strokeWidth=1.5, strokeDash=[2, 3], yOffset=6),
        *spans("low", "high", color=INK, strokeWidth=1.5),
        *spans("thick_low", "thick_high", color=BAND, strokeWidth=8),
        *([table(margins).mark_tick(**TICK).encode(x=x("at"), y=y)] if margins else []),
        table(with_value).mark_point(**DOT, size=90).encode(x=x("value"), y=y),
        table(lines).mark_text(align="left", color=INK).encode(
            x=alt.value(WIDTH + 12), y=y, text="text:N"),
    ]  # fmt: skip
    says = listed(f"{short(line['label'])} {line['text']}" for line in lines)
    return composed(layers, width=WIDTH, height=alt.Step(26), says=f"Estimates with intervals: {says}")


def rank_ranges(rows: Rows) -> "alt.LayerChart | str":
    """The ranks that paired tests leave open to each candidate, a bar of whole places; the dot is by mean."""
    import altair as alt

    if sum(map(_has_interval, rows)) < 2:
        return no_chart(rows, "Fewer than two ranked candidates.")
    names = unique(row["candidate"] for row in rows)
    lines = [
        {"label": name, "rank": row["rank"], "low": row["rank_low"] - 0.4, "high": row["rank_high"] + 0.4,
         "text": ranks(rank_text(row))}
        for name, row in zip(names, rows, strict=True)
        if _has_interval(row)
    ]  # fmt: skip
    last = len(rows)
    y = _names_axis(names)
    scale = alt.Scale(domain=[0.5, last + 0.5], nice=False, zero=False)
    axis = alt.Axis(title="rank, 1 is best", orient="top", values=list(range(1, last + 1)), format="d",
                    titleAnchor="start", domain=False, ticks=False, labelOverlap=True)  # fmt: skip
    layers = [
        table(lines).mark_bar(height=14, cornerRadius=3, color=BAND, stroke=SOFT, strokeWidth=0.5).encode(
            x=alt.X("low:Q", scale=scale, axis=axis), x2=alt.X2("high:Q"), y=y),
        table(lines).mark_point(**DOT, size=90).encode(
            x=alt.X("rank:Q", scale=scale, axis=axis), y=y),
        table(lines).mark_text(align="left").encode(x=alt.value(WIDTH + 12), y=y, text="text:N"),
    ]  # fmt: skip
    says = listed(f"{short(line['label'])} {line['text']}" for line in lines)
    return composed(layers, width=WIDTH, height=alt.Step(24), says=f"Ranks left open: {says}")


def variance_bars(rows: Rows) -> "alt.LayerChart | str":
    """How the variance of marks divides into question, candidate x question, repeat and pass, as shares.

    A bar per row of the consistency study; rows without components are left out.
    """
    import altair as alt

    with_variance = [row for row in rows if sum(row[part] or 0.0 for part, *_ in PARTS) > 0]
    if len(with_variance) < 2:
        return no_chart(rows, "Fewer than two measures whose variance could be divided.")
    names = unique(_joined(with_variance, ("measure", "candidate")))
    lines = [
        line for name, row in zip(names, with_variance, strict=True) for line in _variance_lines(name, row)
    ]
    words_used = {line["part"] for line in lines}
    used = [part for part in PARTS if part[1] in words_used]
    y = _names_axis(names)
    scale = alt.Scale(domain=[0, 1], nice=False)
    axis = alt.Axis(title="share of the variance", format="%", tickCount=5, titleAnchor="start", grid=False)
    fill = alt.Color("part:N", scale=alt.Scale(domain=[p[1] for p in used], range=[p[2] for p in used]),
                     legend=alt.Legend(orient="top", title=None, symbolType="square", symbolStrokeWidth=0.5,
                                       direction="horizontal", columnPadding=18))  # fmt: skip
    layers = [
        table(lines).mark_bar(height=18, stroke=SOFT, strokeWidth=0.5).encode(
            x=alt.X("start:Q", scale=scale, axis=axis), x2=alt.X2("end:Q"), y=y, color=fill),
        table([line for line in lines if line["end"] - line["start"] >= 0.06]).mark_text().encode(
            x=alt.X("middle:Q", scale=scale, axis=axis), y=y, text="text:N",
            color=alt.Color("on:N", scale=None)),
    ]  # fmt: skip
    says = listed(f"{short(line['label'])}: {line['part']} {line['text']} %" for line in lines)
    return composed(layers, width=WIDTH + 60, height=alt.Step(26), says=f"Shares of the variance: {says}")


def _variance_lines(name: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of one bar, one after the other, as shares of the whole variance."""
    total, start, lines = sum(row[part] or 0.0 for part, *_ in PARTS), 0.0, []
    for part, word, _, on in PARTS:
        if row[part]:
            share = row[part] / total
            lines.append({"label": name, "part": word, "start": start, "end": start + share, "on": on,
                          "middle": start + share / 2, "text": f"{100 * share:.0f}"})  # fmt: skip
            start += share
    return lines


def _names_axis(names: Sequence[str]) -> "alt.Y":
    """A line for each name, from the top."""
    import altair as alt

    axis = alt.Axis(title=None, labelLimit=280, labelPadding=8, domain=False, ticks=False, grid=False)
    return alt.Y("label:N", scale=alt.Scale(domain=list(names)), axis=axis)


def rank_text(row: Mapping[str, Any]) -> str:
    """`1-4`, or `10` where one place is left."""
    low, high = row["rank_low"], row["rank_high"]
    if not _has_interval(row):
        return "–"
    return f"{low}-{high}" if high > low else f"{low}"


def _has_interval(row: Mapping[str, Any]) -> bool:
    return None not in (row["rank"], row["rank_low"], row["rank_high"])


def _lines(rows: Rows) -> list[dict[str, Any]]:
    """Rows of any study as label, value and ends: thick within thin, and what failed marks leave open."""
    lines = []
    for name, row in zip(unique(_names(rows)), rows, strict=True):
        value = next((row[k] for k in ("difference", "estimate", "value", "mean") if k in row), None)
        low, high = row.get("low_family", row["low"]), row.get("high_family", row["high"])
        failed = row["set_low"] != row["set_high"] if "set_low" in row else bool(row.get("n_failed"))
        lines.append(
            {
                "label": name,
                "value": value,
                "low": low,
                "high": high,
                "thick_low": row["low"],
                "thick_high": row["high"],
                "out_low": row.get("bound_low") if failed else None,
                "out_high": row.get("bound_high") if failed else None,
                "margin": row.get("margin"),
                "text": _figures(value, low, high),
            }
        )
    return lines


def _figures(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "no figure"
    ends = "" if low is None or high is None else f" ({interval(low, high)})"
    return f"{number(value)}{ends}"


def _names(rows: Rows) -> list[str]:
    """What tells the rows apart; what they share stands in the axis title."""
    if rows and "difference" in rows[0]:
        sides = [side for side in ("a", "b") if _varies(rows, side)]
        rows = [{**row, "pair": " − ".join(str(row[side]) for side in sides)} for row in rows]
        return _joined(rows, ("pair", "benchmark", "metric", "criterion", "rater"))
    return _joined(rows, ("candidate", "measure", "contrast", "category"))


def _joined(rows: Rows, columns: Sequence[str]) -> list[str]:
    """The words in which rows differ, by column; all of a column's words if they differ in none."""
    differing = [c for c in columns if rows and c in rows[0] and _varies(rows, c)] or columns[:1]
    return [", ".join(str(row[c]) for c in differing if row.get(c)) or "all candidates" for row in rows]


def _varies(rows: Rows, column: str) -> bool:
    return len({row.get(column) for row in rows}) > 1


def _axis_title(rows: Rows) -> list[str]:
    first = rows[0]
    if "difference" in first:
        return _difference_title(rows)
    kind = "mean"
    if "value" in first and "estimate" not in first:
        kind = str(first.get("coefficient", "value")).replace("_", " ")
    return [f"{kind}, bands: 95% intervals"]


def _difference_title(rows: Rows) -> list[str]:
    """Which side is taken from which, and what the two lines of an interval are."""
    first = rows[0]
    a, b = ("each" if _varies(rows, side) else clean(first[side]) for side in ("a", "b"))
    what = "difference on the log scale" if first.get("scale") == "log" else "difference"
    title = f"{what}, first − second" if a == b == "each" else f"{what}, {a} − {b}"
    if not _varies(rows, "criterion"):
        title += f", {clean(first['criterion'])}"
    margin = "; ticks: margin" if any(row["margin"] is not None for row in rows) else ""
    return [title, f"thick: 95% for the pair alone; thin: for the family of {first['family']}{margin}"]


JOINED = ("Joined: not told apart by mean ranks,", "a weaker test than that of the means.")
"""What the bars of the diagram mean, beside rank intervals that may tell the same candidates apart."""


def cliques(mean_ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """First and last place of each largest run of sorted mean ranks less than `distance` apart."""
    runs: list[tuple[int, int]] = []
    for first, low in enumerate(mean_ranks):
        last = max(
            k for k, rank in enumerate(mean_ranks) if k == first or (rank - low < distance and k > first)
        )
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs


def critical_difference(rows: Rows) -> "alt.LayerChart | str":
    """Candidates by mean rank; bars join those that Nemenyi's test does not tell apart.

    Mean ranks say how often a candidate is ahead, not by how much: the order may differ from that by mean.
    """

    lines = sorted((r for r in rows if r["mean_rank"] is not None), key=lambda r: r["mean_rank"])
    if len(lines) < 2 or lines[0]["critical_difference"] is None:
        return no_chart(rows, "Fewer than two ranked candidates.")
    n, distance = len(lines), float(lines[0]["critical_difference"])
    ranks = [float(r["mean_rank"]) for r in lines]
    joined = cliques(ranks, distance)
    width, step, axis = 340.0, 20.0, 36.0
    below = axis + 14 + 9 * len(joined) + 10
    half = (n + 1) // 2
    height = below + step * max(half - 1, 0) + 10

    def x(rank: float) -> float:
        return (rank - 1) / (n - 1) * width

    leaders: list[Line] = []
    at_left: list[dict[str, Any]] = []
    at_right: list[dict[str, Any]] = []
    for place, (row, rank) in enumerate(zip(lines, ranks, strict=True)):
        name = clean(row["candidate"])
        if place < half:
            y, end = below + step * place, -8.0
            at_left.append({"x": end - 4, "y": y, "text": f"{name}  {rank:.2f}"})
        else:
            y, end = below + step * (n - 1 - place), width + 8
            at_right.append({"x": end + 4, "y": y, "text": f"{rank:.2f}  {name}"})
        leaders += [(x(rank), axis, x(rank), y), (x(rank), y, end, y)]
    ticks = [(x(k), axis - 5, x(k), axis) for k in range(1, n + 1)]
    numbered = [k for k in range(1, n + 1) if n <= 20 or k % 5 == 0 or k == 1]
    span = x(1 + distance)
    layers = [
        strokes(leaders, color=SOFT, strokeWidth=1),
        strokes([(0, axis, width, axis), *ticks], color=INK, strokeWidth=1),
        strokes([(0, 4, span, 4), (0, 0, 0, 8), (span, 0, span, 8)], color=INK, strokeWidth=1.5),
    ]
    if joined:
        bars = [
            {"x": x(ranks[i]) - 3, "x2": x(ranks[j]) + 3, "y": axis + 12 + 9 * k, "first": i, "last": j}
            for k, (i, j) in enumerate(joined)
        ]
        layers.append(table(bars).mark_rule(color=MARK, strokeWidth=5).encode(**places(), x2="x2:Q"))
    layers += [
        words([{"x": x(k), "y": axis - 13, "text": str(k)} for k in numbered]),
        words([{"x": span + 8, "y": 5, "text": f"critical difference {distance:.2f}"}], align="left"),
        words(at_left, align="right", limit=260),
        words(at_right, align="left", limit=260),
    ]
    if joined:
        layers.append(words([{"x": 0.0, "y": height + 8 + 16 * k, "text": line}
                             for k, line in enumerate(JOINED)], align="left", color=SOFT))  # fmt: skip
        height += 16 * len(JOINED)
    by_candidate = listed(f"{short(r['candidate'])} {k:.2f}" for r, k in zip(lines, ranks, strict=True))
    says = f"Mean ranks, critical difference {distance:.2f}: {by_candidate}"
    return composed(layers, width=width, height=height, says=says)
