"""Charts of findings: pure functions from rows to drawings, or to a sentence where a chart says nothing.

Each takes the rows of one board (one benchmark and, for ranks, one criterion). What is told apart is told
apart by place, shape, lightness or words, never by hue alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.numbers import printed
from vivavoce.report.charts.lanes import Lanes, Scale, tick_labels
from vivavoce.report.charts.sheet import Line, Sheet, clean, nice_ticks, text_width
from vivavoce.report.charts.svg import Drawing, drawing, listed, no_chart, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import interval, number, ranks
from vivavoce.studies.scale import JUDGE, phrase_of, scale_of_row

Placed = Sequence[tuple[Mapping[str, Any], float]]
"""Lines of a forest with the middles of their rows."""
PARTS = (
    ("s2_group", "case", "#14323a", "#fff"),
    ("s2_item", "question", "#0b6e76", "#fff"),
    ("s2_interaction", "candidate × question", "#6fb1b5", "#000"),
    ("s2_repeat", "repeat", "#bfe0e2", "#000"),
    ("s2_pass", "examiner (pass)", "#eef6f6", "#000"),
)
"""The variance components in the order in which bars are stacked, from dark to light."""


def forest(rows: Rows) -> Drawing | str:
    """Estimates, agreement, categories or differences of pairs, a line each, with their intervals.

    Differences: the thin line is the interval for all comparisons of the call, the thick one for the pair
    alone; 0 is drawn through, a margin dashed on both sides. Dotted: what failed scores leave open.
    """
    lines = _lines(rows)
    with_value = [line for line in lines if line["value"] is not None]
    if len(with_value) < (1 if rows and "difference" in rows[0] else 2):  # one pair is held against 0
        return "Fewer than two figures: nothing to set side by side."
    pairs = "difference" in rows[0]
    ticks = nice_ticks(*_extremes(with_value, pairs=pairs))

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        lanes = Lanes(sheet, [line["label"] for line in lines], [line["text"] for line in lines], tall=26)
        scale = lanes.scale(ticks[0], ticks[-1])
        sheet.lines("grid", lanes.across([scale(tick) for tick in ticks]))
        sheet.lines("axis", lanes.across([scale(0.0)] if pairs else []))
        placed = [(line, y) for line, y in zip(lines, lanes.at, strict=True) if line["value"] is not None]
        for style, low, high, offset in SPANS:
            sheet.lines(style, _spans(placed, scale, low, high, offset))
        sheet.lines("thin", _margins(placed, scale))
        for line, y in placed:
            sheet.dot(line["dot"], scale(line["value"]), y)
        lanes.axis(scale, ticks)
        sheet.notes(_axis_title(rows), x=lanes.left)
        return sheet

    says = listed(f"{short(line['label'])} {line['text']}" for line in lines)
    return drawing(f"Estimates with intervals: {says}", draw)


SPANS = (
    ("open", "out_low", "out_high", 6.0),
    ("thin", "low", "high", 0.0),
    ("thick", "thick_low", "thick_high", 0.0),
)
"""The lines of a row of the forest: style, columns of its ends, and how far below the row it lies."""
ENDS = tuple(column for _, *columns, _ in SPANS for column in columns)


def _extremes(lines: Rows, *, pairs: bool) -> tuple[float, float]:
    """The least and greatest place of the lines; of differences with 0 and the margins."""
    places = [line[key] for line in lines for key in ("value", *ENDS) if line[key] is not None]
    if pairs:
        places += [0.0, *(side * (line["margin"] or 0.0) for line in lines for side in (-1, 1))]
    return min(places), max(places)


def _spans(placed: Placed, scale: Scale, low: str, high: str, offset: float) -> list[Line]:
    """A horizontal line for each row that has both ends."""
    return [
        (scale(line[low]), y + offset, scale(line[high]), y + offset)
        for line, y in placed
        if line[low] is not None and line[high] is not None
    ]


def _margins(placed: Placed, scale: Scale) -> list[Line]:
    """A tick on both sides of 0 for each row that has a margin."""
    with_margin = [(line["margin"], y) for line, y in placed if line["margin"] is not None]
    places = [(scale(side * margin), y) for margin, y in with_margin for side in (-1, 1)]
    return [(x, y - 9, x, y + 9) for x, y in places]


def rank_ranges(rows: Rows) -> Drawing | str:
    """The ranks that paired tests leave open to each candidate, a bar of whole places; the dot is by mean."""
    if sum(map(_has_interval, rows)) < 2:
        return no_chart(rows, "Fewer than two ranked candidates.")
    names, texts = unique(row["candidate"] for row in rows), [ranks(rank_text(row)) for row in rows]
    last = len(rows)

    def draw(width: float) -> Sheet:
        sheet = Sheet(width, 36)
        lanes = Lanes(sheet, names, [text if text != "–" else "" for text in texts], tall=24)
        scale = lanes.scale(0.5, last + 0.5)
        places = list(range(1, last + 1))
        sheet.text(lanes.left, 8, "rank, 1 is best", "soft")
        tick_labels(sheet, scale, places, 26, [str(place) for place in places])
        sheet.lines("grid", lanes.across([scale(place) for place in places]))
        for row, y in zip(rows, lanes.at, strict=True):
            if _has_interval(row):
                start, end = scale(row["rank_low"] - 0.4), scale(row["rank_high"] + 0.4)
                sheet.box("span", start, y - 7, end - start, 14, rx=3)
                sheet.dot("dot", scale(row["rank"]), y)
        return sheet

    says = listed(
        f"{short(name)} {text}"
        for name, text, row in zip(names, texts, rows, strict=True)
        if _has_interval(row)
    )
    return drawing(f"Ranks left open: {says}", draw)


def variance_bars(rows: Rows) -> Drawing | str:
    """How the variance of scores divides into question, candidate x question, repeat and pass, as shares.

    A bar per row of the consistency study; rows without components are left out.
    """
    with_variance = [row for row in rows if sum(row[part] or 0.0 for part, *_ in PARTS) > 0]
    if len(with_variance) < 2:
        return no_chart(rows, "Fewer than two measures whose variance could be divided.")
    names = unique(_joined(with_variance, ("measure", "candidate")))
    bars = [_variance_lines(name, row) for name, row in zip(names, with_variance, strict=True)]
    words_used = {line["part"] for lines in bars for line in lines}
    ticks = [k / 5 for k in range(6)]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        sheet.legend({word: fill for _, word, fill, _ in PARTS if word in words_used})
        sheet.height += 6
        lanes = Lanes(sheet, names, [""] * len(names), tall=26)
        scale = lanes.scale(0.0, 1.0)
        for lines, y in zip(bars, lanes.at, strict=True):
            _draw_bar(sheet, scale, lines, y)
        lanes.axis(scale, ticks, [f"{100 * tick:.0f} %" for tick in ticks])
        sheet.notes(["share of the variance"], x=lanes.left)
        return sheet

    says = listed(
        f"{short(line['label'])}: {line['part']} {line['text']} %" for lines in bars for line in lines
    )
    return drawing(f"Shares of the variance: {says}", draw)


def _draw_bar(sheet: Sheet, scale: Scale, lines: Rows, y: float) -> None:
    """The parts of a bar, with their shares where there is room."""
    for line in lines:
        start, end = scale(line["start"]), scale(line["end"])
        sheet.box("outlined", start, y - 9, end - start, 18, fill=line["fill"])
        if end - start > text_width(line["text"]) + 6:
            sheet.text((start + end) / 2, y, line["text"], "middle", fill=line["on"])


def _variance_lines(name: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of one bar, one after the other, as shares of the whole variance."""
    total, start, lines = sum(row[part] or 0.0 for part, *_ in PARTS), 0.0, []
    for part, word, fill, ink in PARTS:
        if row[part]:
            share = row[part] / total
            lines.append({"label": name, "part": word, "start": start, "end": start + share, "fill": fill,
                          "on": ink, "text": printed(100 * share, ".0f")})  # fmt: skip
            start += share
    return lines


def rank_text(row: Mapping[str, Any]) -> str:
    """`1-4`, or `10` where one place is left."""
    low, high = row["rank_low"], row["rank_high"]
    if not _has_interval(row):
        return "–"
    return f"{low}-{high}" if high > low else f"{low}"


def _has_interval(row: Mapping[str, Any]) -> bool:
    return None not in (row["rank"], row["rank_low"], row["rank_high"])


def _lines(rows: Rows) -> list[dict[str, Any]]:
    """Rows of any study as label, value and ends: thick within thin, and what failed scores leave open."""
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
                "dot": "hollow" if scale_of_row(row) == JUDGE else "dot",
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
        if len(rows) == 1:
            return ["difference"]
        sides = [side for side in ("a", "b") if _varies(rows, side)]
        rows = [{**row, "pair": " − ".join(str(row[side]) for side in sides)} for row in rows]
        return _joined(rows, ("pair", "benchmark", "metric", "criterion", "rater"))
    named = [{**row, "scale": phrase_of(scale_of_row(row))} for row in rows]
    return _joined(named, ("candidate", "measure", "contrast", "category", "scale"))


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
    return [f"{kind}, bands: 95% intervals{_hollow(rows)}"]


def _difference_title(rows: Rows) -> list[str]:
    """Which side is taken from which, and what the two lines of an interval are."""
    first = rows[0]
    a, b = ("each" if _varies(rows, side) else clean(first[side]) for side in ("a", "b"))
    what = "difference on the log scale" if first.get("scale") == "log" else "difference"
    title = f"{what}, first − second" if a == b == "each" else f"{what}, {a} − {b}"
    if not _varies(rows, "criterion"):
        title += f", {clean(first['criterion'])}"
    margin = "; ticks: margin" if any(row["margin"] is not None for row in rows) else ""
    lines = f"thick: 95% for the pair alone; thin: for the family of {first['family']}{margin}"
    return [title, lines + _hollow(rows)]


def _hollow(rows: Rows) -> str:
    """What a hollow dot means, where there is one."""
    return "; hollow: by the judge alone" if any(scale_of_row(row) == JUDGE for row in rows) else ""


JOINED = "Joined: not told apart by mean ranks, a weaker test than that of the means."
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


def critical_difference(rows: Rows) -> Drawing | str:
    """Candidates by mean rank; bars join those that Nemenyi's test does not tell apart.

    Mean ranks say how often a candidate is ahead, not by how much: the order may differ from that by mean.
    """
    lines = sorted((r for r in rows if r["mean_rank"] is not None), key=lambda r: r["mean_rank"])
    if len(lines) < 2 or lines[0]["critical_difference"] is None:
        return no_chart(rows, "Fewer than two ranked candidates.")
    distance = float(lines[0]["critical_difference"])
    mean_ranks = [float(r["mean_rank"]) for r in lines]
    names = [clean(r["candidate"]) for r in lines]
    joined = cliques(mean_ranks, distance)

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        _mean_rank_diagram(sheet, names, mean_ranks, distance, joined)
        sheet.notes([JOINED] if joined else [])
        return sheet

    by_candidate = listed(f"{short(name)} {printed(k)}" for name, k in zip(names, mean_ranks, strict=True))
    return drawing(f"Mean ranks, critical difference {printed(distance)}: {by_candidate}", draw)


LEAST_SCALE, STEP, AXIS = 200.0, 20.0, 40.0
"""The least width of the scale between names; the distance of their lines; and where the scale lies."""


def _mean_rank_diagram(
    sheet: Sheet,
    names: Sequence[str],
    mean_ranks: Sequence[float],
    distance: float,
    joined: Sequence[tuple[int, int]],
) -> None:
    """The scale of ranks with the critical distance over it, the bars, and a line to the name of each place.

    Names stand at both sides. Where they would leave the scale too little room, as on a phone, each stands
    at the end of its line.
    """
    n, half = len(names), (len(names) + 1) // 2
    texts = [f"{name}  {printed(k)}" for name, k in zip(names, mean_ranks, strict=True)]
    gutters = [max(map(text_width, side), default=0.0) + 14 for side in (texts[:half], texts[half:])]
    at_sides = sheet.room - sum(gutters) >= LEAST_SCALE
    start, stop = (gutters[0], sheet.room - gutters[1]) if at_sides else (8.0, sheet.room - 8)
    x = Scale(1, n, start, stop)
    _draw_distance(sheet, x, distance)
    places = range(1, n + 1)
    tick_labels(sheet, x, places, AXIS - 11, [str(k) for k in places])
    sheet.lines("fine", [(start, AXIS, stop, AXIS), *((x(k), AXIS - 5, x(k), AXIS) for k in places)])
    y_labels = AXIS + 24 + 9 * len(joined)
    labels = (_labels_at_sides if at_sides else _labels_below)(sheet, names, mean_ranks, x, y_labels)
    sheet.lines("joined", [
        (x(mean_ranks[i]) - 3, AXIS + 12 + 9 * k, x(mean_ranks[j]) + 3, AXIS + 12 + 9 * k)
        for k, (i, j) in enumerate(joined)
    ])  # fmt: skip
    for label in labels:
        sheet.text(label.x, label.y, label.text, label.style, room=label.room)
    sheet.height = max(label.y for label in labels) + 16


class _Label(NamedTuple):
    """A text beside the line to its place."""

    x: float
    y: float
    text: str
    style: str
    room: float


def _draw_distance(sheet: Sheet, x: Scale, distance: float) -> None:
    """The critical distance as a line over the scale."""
    end, words = min(x(1 + distance), sheet.room), f"critical difference {printed(distance)}"
    sheet.lines("thin", [(x.start, 8, end, 8), (x.start, 4, x.start, 12), (end, 4, end, 12)])
    fits = end + 8 + text_width(words) <= sheet.room
    sheet.text(end + 8 if fits else end - 8, 8, words, "" if fits else "end halo")


def _labels_at_sides(
    sheet: Sheet, names: Sequence[str], mean_ranks: Sequence[float], x: Scale, y_labels: float
) -> list[_Label]:
    """Lines that go down and to a side, the better half to the left; the texts at their ends."""
    n, half, labels = len(names), (len(names) + 1) // 2, []
    for place, (name, rank) in enumerate(zip(names, mean_ranks, strict=True)):
        better = place < half
        y = y_labels + STEP * (place if better else n - 1 - place)
        end = x.start - 8 if better else x.stop + 8
        sheet.lines("axis", [(x(rank), AXIS, x(rank), y), (x(rank), y, end, y)])
        if better:
            labels.append(_Label(end - 4, y, f"{name}  {printed(rank)}", "end", end))
        else:
            labels.append(_Label(end + 4, y, f"{printed(rank)}  {name}", "", sheet.room - end))
    return labels


def _labels_below(
    sheet: Sheet, names: Sequence[str], mean_ranks: Sequence[float], x: Scale, y_labels: float
) -> list[_Label]:
    """Lines that go straight down, each to its text: to the right of its end where that has room."""
    labels = []
    for place, (name, rank) in enumerate(zip(names, mean_ranks, strict=True)):
        y, text, x_place = y_labels + STEP * (len(names) - 1 - place), f"{name}  {printed(rank)}", x(rank)
        sheet.lines("axis", [(x_place, AXIS, x_place, y + 5)])
        if x_place < sheet.room / 2 or x_place + 6 + text_width(text) <= sheet.room:
            labels.append(_Label(x_place + 6, y, text, "halo", sheet.room - x_place - 6))
        else:
            labels.append(_Label(x_place - 6, y, text, "end halo", x_place - 6))
    return labels
