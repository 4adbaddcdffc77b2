"""Charts of facts: precision by temperature, with neighbours compared, and length against score."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivavoce.report.charts.sheet import Sheet, nice_ticks, tick_texts, widest
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short
from vivavoce.report.data import Rows
from vivavoce.report.format import interval, number

SIDE, TALL = 420.0, 220.0
"""The most room for a field across, and its height, in pixels."""
MOST_POINTS = 400
Axis = Callable[[float], float]


def temperature_curve(rows: Rows) -> Drawing | str:
    """The precision of one model at each temperature with its interval, and the steps from each to the next.

    `rows` are those of one model in the part `temperature`. A step is tested on the questions of both; no
    temperature is called the best.
    """
    points = [row for row in rows if row["figure"] == "precision" and row["value"] is not None]
    if len(points) < 2:
        return no_chart(rows, "Fewer than two temperatures with a precision.")
    points = sorted(points, key=lambda row: row["temperature"])
    steps = [row for row in rows if row["figure"] == "difference"]
    notes = [_step(row, points) for row in sorted(steps, key=lambda row: row["temperature"])]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        ends = [row[key] for row in points for key in ("value", "low", "high") if row[key] is not None]
        x, y = _field(
            sheet,
            (nice_ticks(points[0]["temperature"], points[-1]["temperature"]), "temperature"),
            (nice_ticks(min(ends), max(ends)), "precision, 95 % intervals"),
        )
        sheet.curve("curve", [(x(row["temperature"]), y(row["value"])) for row in points])
        with_ends = [row for row in points if row["low"] is not None]
        places = [(x(row["temperature"]), row) for row in with_ends]
        sheet.lines("thin", [(at, y(row["high"]), at, y(row["low"])) for at, row in places])
        for row in points:
            sheet.dot("dot", x(row["temperature"]), y(row["value"]))
        sheet.notes(notes)
        return sheet

    says = listed(f"at {row['temperature']:g} {number(row['value'])}" for row in points)
    return drawing(f"Precision of {short(points[0]['contrast'])} by temperature: {says}", draw)


def _step(row: Mapping[str, Any], points: Rows) -> str:
    """A step in words: both temperatures, the difference with its interval, and the verdict on it."""
    colder = next((p["temperature"] for p in points if p["candidate"] == row["against"]), None)
    sides = f"{row['temperature']:g} less {'the colder' if colder is None else f'{colder:g}'}"
    if row["value"] is None:
        return f"{sides}: {row['reason']}"
    ends = "" if row["low"] is None else f" ({interval(row['low'], row['high'])})"
    verdict = (row["verdict_code"] or "no verdict").replace("_", " ")
    return f"{sides}: {number(row['value'], '+.3f')}{ends}, {verdict}"


def length_against_score(lengths: Sequence[float], precisions: Sequence[float]) -> Drawing | str:
    """An answer per point: its facts with a verdict across, the share of them that is right upwards."""
    if len(lengths) < 3 or len(set(lengths)) < 2:
        return "Fewer than three answers, or all of one length: nothing to draw."
    stride = -(-len(lengths) // MOST_POINTS)
    points = list(zip(lengths, precisions, strict=True))[::stride]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        x, y = _field(
            sheet,
            (nice_ticks(0.0, max(lengths)), "facts with a verdict"),
            (nice_ticks(0.0, 1.0), "share of them that is right"),
        )
        for layer in range(4):  # points of one path do not darken each other
            sheet.points("cloud", [(x(n), y(share)) for n, share in points[layer::4]])
        sheet.notes([f"a point is an answer, {len(points):,} of {len(lengths):,}"])
        return sheet

    return drawing(f"Length against the share of right facts of {len(lengths):,} answers", draw)


def _field(
    sheet: Sheet, across: tuple[Sequence[float], str], up: tuple[Sequence[float], str]
) -> tuple[Axis, Axis]:
    """A field with its grid and the texts of both axes, and where values lie in it."""
    (columns, x_title), (rows, y_title) = across, up
    start, top = widest(tick_texts(rows), "small") + 10, 26.0
    right = start + min(SIDE, sheet.room - start - 14)
    bottom = top + TALL

    def x(value: float) -> float:
        return start + (value - columns[0]) / (columns[-1] - columns[0]) * (right - start)

    def y(value: float) -> float:
        return bottom - (value - rows[0]) / (rows[-1] - rows[0]) * TALL

    sheet.text(0, 8, y_title, "soft")
    sheet.lines("grid", [(start, y(tick), right, y(tick)) for tick in rows])
    sheet.lines("grid", [(x(tick), top, x(tick), bottom) for tick in columns])
    for tick, text in zip(rows, tick_texts(rows), strict=True):
        sheet.text(start - 6, y(tick), text, "soft small end")
    for tick, text in zip(columns, tick_texts(columns), strict=True):
        sheet.text(x(tick), bottom + 12, text, "soft small middle")
    sheet.text((start + right) / 2, bottom + 28, x_title, "soft middle")
    sheet.height = bottom + 42
    return x, y
