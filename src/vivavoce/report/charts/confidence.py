"""Charts of calibration: the reliability diagram, and risk against coverage with the threshold chosen.

Each shows one candidate by one kind of confidence, so that nothing is told apart by colour.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.report.charts.svg import (
    BAD,
    BAND,
    DOT,
    INK,
    LINE,
    MARK,
    SOFT,
    Line,
    boxes,
    clean,
    composed,
    listed,
    no_chart,
    places,
    short,
    strokes,
    table,
    words,
)
from vivavoce.report.data import Rows
from vivavoce.report.format import interval, number

if TYPE_CHECKING:
    import altair as alt

SIDE = 232.0
"""Width and height of the field from 0 to 100 %, in pixels."""
STRIP, GAP = 34.0, 40.0
"""Height of the strip of counts, and what lies between it and the field for the axis."""
HALF_BAR = 3.5
MOST_DOTS = 12
"""Points of a curve that are drawn as dots; more of them would be a string of beads."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _x(share: float) -> float:
    return share * SIDE


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _field(name: str, x_title: str, y_title: str, top: float) -> list["alt.Chart"]:
    """The frame of a panel: its grid, the texts of both axes, and the candidate's name above it."""
    at_y = [(1 - k / 4) * SIDE for k in range(5)]
    grid: list[Line] = [(0.0, y, SIDE, y) for y in at_y]
    grid += [(_x(t), 0.0, _x(t), SIDE) for t in TICKS]
    return [
        strokes(grid, color=LINE, strokeWidth=1),
        words(
            [{"x": _x(t), "y": SIDE + 11, "text": _percent(t)} for t in TICKS], fontSize=11, color=SOFT
        ),
        words(
            [{"x": -6.0, "y": y, "text": _percent(k * top / 4)} for k, y in enumerate(at_y)],
            align="right", fontSize=11, color=SOFT,
        ),
        words([{"x": SIDE / 2, "y": SIDE + 27, "text": x_title}], color=SOFT),
        words([{"x": -44.0, "y": -17.0, "text": y_title}], align="left", color=SOFT),
        words([{"x": -44.0, "y": -35.0, "text": clean(name)}], align="left", fontWeight="bold",
              limit=SIDE + 40),
    ]  # fmt: skip


def reliability_diagram(rows: Rows) -> "alt.LayerChart | str":
    """Share right by confidence, in the bins of one candidate: on the diagonal both agree.

    A bin is a dot with its 95 % interval; the strip below shows how the answers lie over confidences.
    """
    bins = _of(rows, "bin")
    if not bins:
        return no_chart(rows, "No answer has a confidence.")

    def y(share: float) -> float:
        return (1 - share) * SIDE

    spans: list[Line] = [
        (_x(row["confidence"]), y(row["low"]), _x(row["confidence"]), y(row["high"]))
        for row in _bounded(bins)
    ]
    dots = [{"x": _x(row["confidence"]), "y": y(row["value"])} for row in bins]
    most = max(row["coverage"] for row in bins)
    base = SIDE + GAP + STRIP
    # Inside the field as a whole, so that the bar at 100 % is as wide as the others.
    middles = [min(max(_x(row["confidence"]), HALF_BAR), SIDE - HALF_BAR) for row in bins]
    bars = [
        {"x": x - HALF_BAR, "x2": x + HALF_BAR, "y": base - STRIP * row["coverage"] / most, "y2": base}
        for x, row in zip(middles, bins, strict=True)
    ]
    total = sum(row["n"] for row in bins)
    layers = [
        *_field(bins[0]["candidate"], "confidence", "right, with 95 % interval", 1.0),
        strokes([(0.0, SIDE, SIDE, 0.0)], color=INK, strokeWidth=1, strokeDash=[4, 4]),
        *([strokes(spans, color=BAND, strokeWidth=4, strokeCap="butt")] if spans else []),
        table(dots).mark_point(size=55, **DOT).encode(**places()),
        boxes(bars, fill=MARK),
        strokes([(0.0, base, SIDE, base)], color=SOFT, strokeWidth=1),
        words(
            [{"x": 0.0, "y": base + 13, "text": f"answers by confidence, {total:,} in all"}],
            align="left", color=SOFT, fontSize=11,
        ),
    ]  # fmt: skip
    parts = listed(
        f"at {_percent(row['confidence'])} right in {_percent(row['value'])}, "
        f"{interval(row['low'], row['high'])}, {row['n']} answers"
        for row in bins
    )
    says = f"Reliability of {short(bins[0]['candidate'])}: {parts}"
    return composed(layers, width=SIDE, height=base + 20, says=says)


def risk_coverage_curve(rows: Rows) -> "alt.LayerChart | str":
    """Errors among the answered, by the share of questions answered, of one candidate.

    The band is 95 % for each point alone; the dashed line is the risk that was promised, the dot the
    threshold that keeps it.
    """
    points = _of(rows, "curve")
    if not points:
        return no_chart(rows, "No answer has a confidence.")
    by_figure = {row["figure"]: row for row in rows}
    risk = by_figure["threshold"]["risk"] if "threshold" in by_figure else None
    top = _top([r["value"] for r in points], risk)

    def y(share: float) -> float:
        return (1 - min(share, top) / top) * SIDE

    band = [{"x": _x(r["coverage"]), "y": y(r["low"]), "y2": y(r["high"])} for r in _bounded(points)]
    line = [{"x": _x(r["coverage"]), "y": y(r["value"])} for r in points]
    layers = [
        *_field(points[0]["candidate"], "questions answered", "errors among the answered", top),
        *_curve(line, band),
    ]
    notes = []
    if risk is not None:
        layers += _promise(by_figure, y)
        notes = [f"dashed: the promise, errors below {100 * risk:g} %", _threshold_note(by_figure)]
    lines = [{"x": -44.0, "y": SIDE + 48 + 16 * k, "text": note} for k, note in enumerate(notes)]
    layers += [words(lines, align="left", color=SOFT, fontSize=11, limit=SIDE + 60)] if lines else []
    parts = listed(f"{_percent(r['coverage'])} answered, {number(r['value'])} wrong" for r in points)
    says = f"Risk by coverage of {short(points[0]['candidate'])}: {'; '.join([*notes, parts])}"
    return composed(layers, width=SIDE, height=SIDE + GAP + STRIP + 20, says=says)


def _of(rows: Rows, what: str) -> list[Mapping[str, Any]]:
    """The rows of bins or of the curve, from the left."""
    x = "confidence" if what == "bin" else "coverage"
    return sorted((row for row in rows if row["figure"] == what), key=lambda row: float(row[x]))


def _bounded(rows: Rows) -> list[Mapping[str, Any]]:
    """Those that have an interval."""
    return [row for row in rows if row["low"] is not None]


def _curve(line: Sequence[dict[str, Any]], band: Sequence[dict[str, Any]]) -> "list[alt.Chart]":
    """The line over its band, with dots where they are few."""
    layers = [_area(band)] if len(band) > 1 else []
    layers.append(_path(line))
    if len(line) <= MOST_DOTS:
        layers.append(table(line).mark_point(size=26, **DOT).encode(**places()))
    return layers


def _promise(by_figure: Mapping[str, Mapping[str, Any]], y: Callable[[float], float]) -> "list[alt.Chart]":
    """The line of the promised risk, and the threshold that keeps it where there is one."""
    height = y(by_figure["threshold"]["risk"])
    layers = [strokes([(0.0, height, SIDE, height)], color=BAD, strokeWidth=1.5, strokeDash=[6, 4])]
    if "answered" not in by_figure:
        return layers
    at = {"x": _x(by_figure["answered"]["value"]), "y": y(by_figure["errors_answered"]["value"])}
    diamond = {**DOT, "shape": "diamond", "fill": INK}
    return [
        *layers,
        strokes([(at["x"], at["y"], at["x"], SIDE)], color=INK, strokeWidth=1.5),
        table([at]).mark_point(size=90, **diamond).encode(**places()),
    ]


def _threshold_note(by_figure: Mapping[str, Mapping[str, Any]]) -> str:
    if "answered" not in by_figure:
        return "no threshold keeps it with confidence"
    least, share = by_figure["threshold"]["value"], by_figure["answered"]["value"]
    return f"diamond: confidence of {least:g} or more answers {_percent(share)}"


def _top(risks: Sequence[float], risk: float | None) -> float:
    """The upper end of the axis: a quarter of the scale at least, and room above the curve and promise."""
    return next(
        end for end in (0.2, 0.4, 0.6, 0.8, 1.0) if end >= min(1.0, 1.2 * max(*risks, risk or 0.0, 0.0))
    )


def _area(band: Sequence[dict[str, Any]]) -> "alt.Chart":
    import altair as alt

    chart: alt.Chart = table(band).mark_area(color=BAND, opacity=0.3).encode(**places(), y2=alt.Y2("y2:Q"))
    return chart


def _path(line: Sequence[dict[str, Any]]) -> "alt.Chart":
    chart: alt.Chart = table(line).mark_line(color=MARK, strokeWidth=2).encode(**places())
    return chart
