"""The chart of the examiner's card: raters against kinds of control, a sign, a colour and a figure each."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.report.charts.sheet import LINE_HEIGHT, Sheet, wrapped
from vivavoce.report.charts.svg import STRONGEST, Drawing, drawing, listed, no_chart, short
from vivavoce.report.data import Rows
from vivavoce.report.format import number

CELL, MOST_CELL, TALL = 40.0, 72.0, 36.0
"""The least and the greatest width of a cell, and its height."""
MOST_RATERS = 24


class Sign(NamedTuple):
    """How a verdict looks: a sign that no colour is needed to read, a fill, a frame, and words."""

    sign: str
    fill: str
    frame: str
    words: str


SIGNS: Mapping[str | None, Sign] = {
    "not_fooled": Sign("✓", "good", "winner", "not fooled"),
    "fooled": Sign("✗", "bad", "loser", "fooled"),
    "not_shown": Sign("?", "wash", "framed", "not shown"),
    None: Sign("–", "wash", "framed", "no verdict"),
}


def controls_grid(rows: Rows) -> Drawing | str:
    """Raters in rows and kinds of control in columns, all kinds together last, on one benchmark.

    A cell has the sign of its verdict and P(real > control) + P(tie) / 2. Where a line of cells has no room,
    as on a phone, columns go on in a further grid.
    """
    if not any(row["difference"] is not None for row in rows):
        return no_chart(rows, "No chart: no control has a score.")
    kinds = list(dict.fromkeys(row["control"] for row in rows if row["control"] != "all"))
    columns = [*kinds, "all"]
    cards: dict[str, dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        cards.setdefault(str(row["measure"]), {})[row["control"]] = row
    names = list(cards)[:MOST_RATERS]

    def draw(width: float) -> Sheet:
        sheet = Sheet(width)
        fit = max(1, int(width // CELL))
        for start in range(0, len(columns), fit):
            _block(sheet, cards, names, columns, range(start, min(start + fit, len(columns))))
        sheet.height += 4
        sheet.notes(_notes(columns, len(cards) - len(names)))
        return sheet

    says = (
        f"{short(name)}: {kind} {SIGNS[row['verdict']].words}"
        for name in names
        for kind, row in cards[name].items()
    )
    return drawing(f"Examiners against control cases: {listed(says)}", draw)


def _block(
    sheet: Sheet,
    cards: Mapping[str, Mapping[str, Mapping[str, Any]]],
    names: Sequence[str],
    columns: Sequence[str],
    places: range,
) -> None:
    """Some of the columns, for every rater: numbers above, a line with the name, a line of cells."""
    size = min(MOST_CELL, sheet.room / len(places))
    for k, place in enumerate(places):
        sheet.text((k + 0.5) * size, sheet.height + LINE_HEIGHT / 2, _head(columns, place), "soft middle")
    sheet.height += LINE_HEIGHT
    for name in names:
        for line in wrapped(name, sheet.room, most=2):
            sheet.text(0, sheet.height + LINE_HEIGHT / 2 + 2, line)
            sheet.height += LINE_HEIGHT
        sheet.height += 4
        for k, place in enumerate(places):
            row = cards[name].get(columns[place])
            if row is not None:
                _cell(sheet, k * size, size, row)
        sheet.height += TALL + 4
    sheet.height += 8


def _head(columns: Sequence[str], place: int) -> str:
    return "all" if columns[place] == "all" else str(place + 1)


def _cell(sheet: Sheet, x: float, size: float, row: Mapping[str, Any]) -> None:
    sign, top = SIGNS[row["verdict"]], sheet.height
    coloured = row["verdict"] in ("fooled", "not_fooled")
    sheet.box(sign.fill, x + 1, top, size - 2, TALL, fill_opacity=STRONGEST / 2 if coloured else None)
    sheet.box(sign.frame, x + 2, top + 1, size - 4, TALL - 2, fill="none")
    sheet.text(x + size / 2, top + 10, sign.sign, "bold middle")
    if row["p_greater"] is not None:
        sheet.text(x + size / 2, top + 26, number(row["p_greater"], ".2f"), "middle")


def _notes(columns: Sequence[str], n_left_out: int) -> list[str]:
    numbered = ", ".join(f"{k} {name}" for k, name in enumerate(columns[:-1], 1))
    signs = ", ".join(f"{sign.sign} {sign.words}" for sign in SIGNS.values())
    notes = [
        numbered,
        signs,
        "The figure is the probability that the real text scores above its control, a tie being half.",
    ]
    if n_left_out > 0:
        notes.append(f"{n_left_out} further in the table alone.")
    return notes
