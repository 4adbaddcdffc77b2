"""Ranks by measure: whether measures agree on the order of candidates."""

from collections.abc import Mapping

from vivavoce.report.charts.lanes import Lanes, tick_labels
from vivavoce.report.charts.sheet import Sheet, clean, text_width
from vivavoce.report.charts.svg import Drawing, drawing, listed, mixed, no_chart, short, unique
from vivavoce.report.data import Rows
from vivavoce.report.format import number

LEAST_MEASURES, LEAST_CANDIDATES = 3, 3
WIDEST, TALL = 64.0, 26.0
"""The greatest width of a cell, and the height of a row, in pixels."""


def ranks_by_measure(rows: Rows) -> Drawing | str:
    """A row per candidate, a numbered column per measure, the rank in its cell, the first the darkest.

    `rows` are those of the study `ranking` on one benchmark. Candidates stand by the mean of their ranks. A
    measure that ranks nobody is left out; a candidate that it does not rank has an empty cell.
    """
    by_measure: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["rank"] is not None:
            by_measure.setdefault(str(row["measure"]), {})[row["candidate"]] = row["rank"]
    candidates = _by_mean_rank(by_measure)
    if len(by_measure) < LEAST_MEASURES or len(candidates) < LEAST_CANDIDATES:
        return no_chart(rows, "Fewer than three measures that rank three candidates.")
    names, measures = unique(candidates), list(by_measure)

    def draw(room: float) -> Sheet:
        sheet = Sheet(room, 24)
        lanes = Lanes(sheet, names, [""] * len(names), tall=TALL)
        width = min(WIDEST, (lanes.right - lanes.left) / len(measures))

        def start(column: int) -> float:
            return lanes.left + column * width

        numbers = [str(k) for k in range(1, len(measures) + 1)]
        places = range(len(measures))
        tick_labels(sheet, lambda k: start(int(k)) + width / 2, places, 12, numbers, "soft middle")
        for candidate, y in zip(candidates, lanes.at, strict=True):
            for column, measure in enumerate(measures):
                rank = by_measure[measure].get(candidate)
                _cell(sheet, start(column), y, width, rank, len(by_measure[measure]))
        sheet.height += 6
        sheet.notes(["rank by each measure, 1 is best; candidates by the mean of their ranks"])
        for k, measure in zip(numbers, measures, strict=True):
            sheet.text(0, sheet.height + 8, f"{k}  {clean(measure)}", room=sheet.room)
            sheet.height += 16
        return sheet

    says = listed(
        f"{short(name)} {', '.join(_rank_text(ranks.get(candidate)) for ranks in by_measure.values())}"
        for name, candidate in zip(names, candidates, strict=True)
    )
    return drawing(f"Ranks by {listed(map(short, measures))}: {says}", draw)


def _by_mean_rank(by_measure: Mapping[str, Mapping[str, float]]) -> list[str]:
    """All candidates that a measure ranks, by the mean of their ranks, then by name."""
    ranks: dict[str, list[float]] = {}
    for of_measure in by_measure.values():
        for candidate, rank in of_measure.items():
            ranks.setdefault(candidate, []).append(rank)
    return sorted(ranks, key=lambda name: (sum(ranks[name]) / len(ranks[name]), str(name)))


def _cell(sheet: Sheet, x: float, y: float, width: float, rank: float | None, last: int) -> None:
    top, height = y - TALL / 2, TALL - 1
    if rank is None:
        sheet.box("wash framed", x, top, width - 1, height)
        return
    share = 1.0 if last < 2 else 1 - (rank - 1) / (last - 1)
    fill = mixed((0xFC, 0xFE, 0xFE), (0x0A, 0x5C, 0x62), share**2)
    sheet.box("", x, top, width - 1, height, fill=fill)
    text = _rank_text(rank)
    if text_width(text, "small") <= width - 2:
        sheet.text(x + width / 2, y, text, "small middle", fill="#fff" if share > 0.88 else "#000")


def _rank_text(rank: float | None) -> str:
    return "–" if rank is None else number(rank, ".3g")
