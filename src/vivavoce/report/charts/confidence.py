"""Charts of calibration: the reliability diagram, and risk against coverage with the threshold chosen.

Each shows one candidate by one kind of confidence, so that nothing is told apart by colour. They are small
enough for a phone and have one width.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivavoce.report.charts.sheet import LINE_HEIGHT, Sheet
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short
from vivavoce.report.data import Rows
from vivavoce.report.format import interval, number
from vivavoce.studies.text import percent

SIDE = 232.0
"""Width and height of the field from 0 to 100 %, in pixels."""
LEFT, TOP, WIDTH = 50.0, 50.0, 322.0
"""Where the field begins, and the width of the whole."""
STRIP, GAP = 34.0, 40.0
"""Height of the strip of counts, and what lies between it and the field for the axis."""
HALF_BAR = 3.5
MOST_DOTS = 12
"""Points of a curve that are drawn as dots; more of them would be a string of beads."""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _x(share: float) -> float:
    return LEFT + share * SIDE


def _y(share: float) -> float:
    return TOP + (1 - share) * SIDE


def _field(name: object, x_title: str, y_title: str, top: float) -> Sheet:
    """A sheet with the frame of a panel: its grid, the texts of both axes, and the candidate's name."""
    sheet = Sheet(WIDTH)
    sheet.lines("grid", [(LEFT, _y(t), _x(1), _y(t)) for t in TICKS])
    sheet.lines("grid", [(_x(t), TOP, _x(t), _y(0)) for t in TICKS])
    for t in TICKS:
        sheet.text(_x(t), _y(0) + 12, percent(t), "soft small middle")
        sheet.text(LEFT - 6, _y(t), percent(t * top), "soft small end")
    sheet.text(_x(0.5), _y(0) + 28, x_title, "soft middle")
    sheet.text(0, 8, name, "bold", room=WIDTH)
    sheet.text(0, 28, y_title, "soft")
    sheet.height = _y(0) + GAP
    return sheet


def reliability_diagram(rows: Rows) -> Drawing | str:
    """Share right by confidence, in the bins of one candidate: on the diagonal both agree.

    A bin is a dot with its 95 % interval; the strip below shows how the answers lie over confidences.
    """
    bins = _of(rows, "bin")
    if not bins:
        return no_chart(rows, "No answer has a confidence.")
    total, highest = sum(row["n"] for row in bins), max(row["coverage"] for row in bins)

    def draw(_: float) -> Sheet:
        sheet = _field(bins[0]["candidate"], "confidence", "right, with 95 % interval", 1.0)
        sheet.lines("diagonal", [(_x(0), _y(0), _x(1), _y(1))])
        sheet.lines("error", [
            (_x(row["confidence"]), _y(row["low"]), _x(row["confidence"]), _y(row["high"]))
            for row in _bounded(bins)
        ])  # fmt: skip
        for row in bins:
            sheet.dot("dot", _x(row["confidence"]), _y(row["value"]), 4)
        base = sheet.height + STRIP
        for row in bins:
            # Inside the field as a whole, so that the bar at 100 % is as wide as the others.
            middle = min(max(_x(row["confidence"]), LEFT + HALF_BAR), _x(1) - HALF_BAR)
            height = STRIP * row["coverage"] / highest
            sheet.box("mark", middle - HALF_BAR, base - height, 2 * HALF_BAR, height)
        sheet.lines("axis", [(LEFT, base, _x(1), base)])
        sheet.height = base + 4
        sheet.notes([f"answers by confidence, {total:,} in all"], LEFT, "soft small")
        return sheet

    parts = listed(
        f"at {percent(row['confidence'])} right in {percent(row['value'])}, "
        f"{interval(row['low'], row['high'])}, {row['n']} answers"
        for row in bins
    )
    return drawing(f"Reliability of {short(bins[0]['candidate'])}: {parts}", draw)


def risk_coverage_curve(rows: Rows) -> Drawing | str:
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
    notes = []
    if risk is not None:
        notes = [f"dashed: the promise, errors below {100 * risk:g} %", _threshold_note(by_figure)]

    def y(share: float) -> float:
        return _y(min(share, top) / top)

    def draw(_: float) -> Sheet:
        sheet = _field(points[0]["candidate"], "questions answered", "errors among the answered", top)
        band = _bounded(points)
        if len(band) > 1:
            upper_edge = [(_x(r["coverage"]), y(r["high"])) for r in band]
            lower_edge = [(_x(r["coverage"]), y(r["low"])) for r in reversed(band)]
            sheet.curve("haze", [*upper_edge, *lower_edge], closed=True)
        line = [(_x(r["coverage"]), y(r["value"])) for r in points]
        sheet.curve("curve", line)
        for point in line if len(line) <= MOST_DOTS else ():
            sheet.dot("dot", *point, 3)
        if risk is not None:
            _promise(sheet, by_figure, y)
        sheet.height += LINE_HEIGHT / 2
        sheet.notes(notes, style="soft small")
        return sheet

    parts = listed(f"{percent(r['coverage'])} answered, {number(r['value'])} wrong" for r in points)
    says = f"Risk by coverage of {short(points[0]['candidate'])}: {'; '.join([*notes, parts])}"
    return drawing(says, draw)


def _of(rows: Rows, part: str) -> list[Mapping[str, Any]]:
    """The rows of bins or of the curve, from the left."""
    x = "confidence" if part == "bin" else "coverage"
    return sorted((row for row in rows if row["figure"] == part), key=lambda row: float(row[x]))


def _bounded(rows: Rows) -> list[Mapping[str, Any]]:
    """Those that have an interval."""
    return [row for row in rows if row["low"] is not None]


def _promise(sheet: Sheet, by_figure: Mapping[str, Mapping[str, Any]], y: Callable[[float], float]) -> None:
    """The line of the promised risk, and the threshold that keeps it where there is one."""
    height = y(by_figure["threshold"]["risk"])
    sheet.lines("promise", [(LEFT, height, _x(1), height)])
    if "answered" in by_figure:
        x, y_place = _x(by_figure["answered"]["value"]), y(by_figure["errors_answered"]["value"])
        sheet.lines("thin", [(x, y_place, x, _y(0))])
        sheet.curve(
            "chosen", [(x - 6, y_place), (x, y_place - 6), (x + 6, y_place), (x, y_place + 6)], closed=True
        )


def _threshold_note(by_figure: Mapping[str, Mapping[str, Any]]) -> str:
    if "answered" not in by_figure:
        return "no threshold keeps it with confidence"
    threshold, share = by_figure["threshold"]["value"], by_figure["answered"]["value"]
    return f"diamond: confidence of {threshold:g} or more answers {percent(share)}"


def _top(risks: Sequence[float], risk: float | None) -> float:
    """The upper end of the axis: a quarter of the scale at least, and room above the curve and promise."""
    return next(
        end for end in (0.2, 0.4, 0.6, 0.8, 1.0) if end >= min(1.0, 1.2 * max(*risks, risk or 0.0, 0.0))
    )
