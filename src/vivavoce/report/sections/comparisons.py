"""Comparisons: the latest verdict on each pair of candidates, with charts, and the matrix of all pairs."""

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby, permutations, product
from typing import Any, NamedTuple

from vivavoce.core.measure_names import measure_name
from vivavoce.core.records import Measure
from vivavoce.report import charts
from vivavoce.report.charts.grid import Cell, Grid
from vivavoce.report.charts.sheet import Sheet, text_width
from vivavoce.report.charts.svg import STRONGEST, Drawing, Figure, drawing, figure, listed, short
from vivavoce.report.data import Board, Rows, board_of, by_board
from vivavoce.report.format import number
from vivavoce.store.comparisons import is_overtaken
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.score_table import JudgedCriterion
from vivavoce.studies.text import count
from vivavoce.studies.validation_status import status_of, weakest_status

MOST_CANDIDATES = 24
"""More of them have no room on a page: the first by their verdicts are drawn."""


class CellVerdict(NamedTuple):
    """A cell from the side of its row: a sign, words, and 1 or -1 where someone is better."""

    sign: str
    words: str
    side: int = 0


BETTER, WORSE = CellVerdict("▲", "better", 1), CellVerdict("▼", "worse", -1)
PREFERRED, NOT_PREFERRED = CellVerdict("▲", "preferred", 1), CellVerdict("▼", "not preferred", -1)
HIGHER, LOWER = CellVerdict("↑", "higher"), CellVerdict("↓", "lower")
NOT_WORSE, NOT_BETTER = CellVerdict("≥", "not worse"), CellVerdict("≤", "not better")
EITHER = {
    "equivalent": CellVerdict("=", "equivalent"),
    "cannot_tell": CellVerdict("?", "not significant"),
    "too_few": CellVerdict("n", "too few"),
    "depends": CellVerdict("!", "depends"),
    "incomparable": CellVerdict("×", "incomparable"),
}
ABSENT = CellVerdict("", "not compared")
MEANING = {
    BETTER: "the row is better",
    WORSE: "the row is worse",
    PREFERRED: "the judge prefers the row",
    NOT_PREFERRED: "the judge prefers the column",
    HIGHER: "the row is higher, which is not better",
    LOWER: "the row is lower, which is not worse",
    NOT_WORSE: "not worse by more than the margin",
    NOT_BETTER: "not better by more than the margin",
    EITHER["equivalent"]: "equivalent within the margin",
    EITHER["cannot_tell"]: "no significant difference",
    EITHER["too_few"]: "too few different cases to say",
    EITHER["depends"]: "missing scores could reverse it",
    EITHER["incomparable"]: "cannot be compared",
}


def matrix(rows: Rows) -> Figure:
    """Candidates against candidates, from the latest comparisons of one benchmark, metric, criterion, rater.

    A cell gives row minus column in the metric's own direction, and the verdict from the row's side. Colour
    is for verdicts alone: blue where the row is better, orange where it is worse, stronger as the difference
    grows; where nothing was found a cell stays without. `favours` decides the side, so lower may be
    better. A pair that was never compared says so. Who is better most often stands first. Fewer than three
    candidates give a sentence, and so do rows of more than one board: `matrices` is for those.
    """
    boards = {board_of(row) for row in rows}
    if len(boards) > 1:
        sentence = f"Pairs of {len(boards)} measures or benchmarks: a matrix holds one of them."
        return figure("All pairs", sentence, "pairs")
    first = rows[0] if rows else {}
    title = "All pairs"
    if rows:
        name = measure_name(first["metric"], first["criterion"], first.get("rater") or "")
        title += f" by {name} on {first['benchmark']}"
    return figure(title, _chart(rows), "pairs", title)


def matrices(rows: Rows) -> list[Figure]:
    """A matrix for each benchmark, metric, criterion and rater that three or more candidates share."""
    return [
        matrices_of_boards
        for matrices_of_boards in map(matrix, by_board(rows).values())
        if matrices_of_boards.svg is not None
    ]


def _chart(rows: Rows) -> Drawing | str:
    pairs = {(row["a"], row["b"]): row for row in rows}
    names_in_order = _order(rows)
    if len(names_in_order) < 3:
        return "Fewer than three candidates were compared: the verdicts say it all."
    names = names_in_order[:MOST_CANDIDATES]
    widest = max((abs(r["difference"]) for r in rows if r["difference"] is not None), default=0.0) or 1.0
    cells = {(a, b): _cell(pairs, a, b) for a, b in permutations(names, 2)}
    figures = (_signed(difference, widest) for difference, _ in cells.values() if difference is not None)
    narrowest = max((text_width(figure, "bold") for figure in figures), default=0.0) + 6
    wordy = max(text_width(verdict.words, "small") for _, verdict in cells.values()) + 8

    def draw(room: float) -> Sheet:
        sheet = Sheet(room)
        wide = Grid(Sheet(room), names, widest=84, least=narrowest).size >= wordy
        grid = Grid(sheet, names, widest=84 if wide else 54, tall=44 if wide else 36, least=narrowest)
        for (row, row_name), (column, column_name) in product(enumerate(names), repeat=2):
            spot = grid.cell(row, column)
            if row_name == column_name:
                sheet.box("blank", *_inset(spot, 1))
            else:
                _draw_cell(sheet, spot, *cells[row_name, column_name], widest, wide=wide)
        sheet.height += 6
        sheet.notes(_notes(rows, cells, len(names_in_order) - len(names), wide), grid.indent)
        grid.list_names()
        return sheet

    description = listed(
        f"{short(row['a'])} minus {short(row['b'])} {_signed(row['difference'], widest)}: {row['verdict']}"
        if row["difference"] is not None
        else f"{short(row['a'])} and {short(row['b'])}: {row['verdict']}"
        for row in rows
    )
    return drawing(f"Differences of pairs: {description}", draw)


def _inset(spot: Cell, padding: float) -> tuple[float, float, float, float]:
    """The rectangle so far inside the cell: its corner, width and height."""
    return spot.x + padding, spot.y + padding, spot.width - 2 * padding, spot.height - 2 * padding


def _draw_cell(
    sheet: Sheet, spot: Cell, difference: float | None, verdict: CellVerdict, widest: float, *, wide: bool
) -> None:
    """The fill of a cell and, where someone is better, its frame; the difference over the verdict."""
    if verdict.side:
        share = 0.12 + (STRONGEST - 0.12) * abs(difference or 0.0) / widest
        sheet.box("good" if verdict.side > 0 else "bad", *_inset(spot, 1), fill_opacity=share)
        # Readable without the shade of the fill.
        sheet.box("winner" if verdict.side > 0 else "loser", *_inset(spot, 2))
    else:
        sheet.box("wash", *_inset(spot, 1))
    figure = "" if difference is None else _signed(difference, widest)
    has_figure = figure and text_width(figure, "bold") <= spot.width - 5
    if has_figure:
        sheet.text(spot.middle, spot.centre - 8, figure, "bold middle")
    text = verdict.words if wide else verdict.sign or "–"
    style = "small middle soft" if verdict is ABSENT else "small middle"
    sheet.text(spot.middle, spot.centre + (8 if has_figure else 0), text, style)


def _order(rows: Rows) -> list[str]:
    """The candidates: who is better in more pairs than worse first, then as they were compared."""
    ahead: dict[str, int] = {}
    for row in rows:
        for side, opposite in (("a", "b"), ("b", "a")):
            won = _decided(row) and {side: 1, opposite: -1}.get(row["favours"], 0)
            ahead[row[side]] = ahead.get(row[side], 0) + (won or 0)
    return sorted(ahead, key=lambda name: -ahead[name])


def _decided(row: Mapping[str, Any]) -> bool:
    return row["verdict_code"] in ("better", "better_by_margin")


def _cell(
    pairs: Mapping[tuple[str, str], Mapping[str, Any]], row_name: str, column_name: str
) -> tuple[float | None, CellVerdict]:
    """The difference seen from the row, and the verdict from its side."""
    reversed_pair = (row_name, column_name) not in pairs
    row = pairs.get((column_name, row_name) if reversed_pair else (row_name, column_name))
    if row is None:
        return None, ABSENT
    difference = row["difference"]
    if reversed_pair and difference is not None:
        difference = -difference
    first = row["favours"] == ("b" if reversed_pair else "a")
    if _decided(row):
        sides = (PREFERRED, NOT_PREFERRED) if row.get("judge_alone") else (BETTER, WORSE)
        return difference, sides[not first]
    if str(row["verdict_code"]).startswith("higher"):
        return difference, HIGHER if (difference or 0.0) > 0 else LOWER
    if row["verdict_code"] == "not_worse":
        return difference, NOT_WORSE if first else NOT_BETTER
    return difference, EITHER[row["verdict_code"] or "incomparable"]


def _notes(
    rows: Rows, cells: Mapping[tuple[str, str], tuple[float | None, CellVerdict]], left_out: int, wide: bool
) -> list[str]:
    """How to read the cells, and what is not the same for all of them."""
    logs = " on the log scale" if any(row.get("scale") == "log" for row in rows) else ""
    notes = [f"row − column{logs}; coloured only where a verdict says who is better"]
    decided = [row for row in rows if _decided(row) and row["difference"] is not None]
    if any((row["difference"] < 0) == (row["favours"] == "a") for row in decided):
        notes[0] += "; lower is better"
    margins = {row["margin"] for row in rows if row["margin"] is not None}
    if margins:
        notes.append(f"margin: {', '.join(f'{m:g}' for m in sorted(margins))}")
    if not wide:
        notes.append(_legend({verdict for _, verdict in cells.values()}))
    if left_out:
        notes.append(f"{count(left_out, 'further candidate')} left out")
    return notes + _differing_calls(rows)


def _legend(verdicts: Collection[CellVerdict]) -> str:
    """What the signs mean that stand in the cells."""
    meanings = MEANING | {ABSENT: "not compared"}
    return "; ".join(
        f"{verdict.sign or '–'} {meaning}" for verdict, meaning in meanings.items() if verdict in verdicts
    )


def _differing_calls(rows: Rows) -> list[str]:
    notes = []
    families = {row["call"]: row["family"] for row in rows if "call" in row}
    if len(families) > 1:
        sizes = ", ".join(map(str, families.values()))
        notes.append(f"from {len(families)} calls of compare, each corrected for its own family ({sizes})")
    if any(row.get("stale") for row in rows):
        notes.append("answers or scores have come since some of these: compare again")
    if len({row.get("items") for row in rows}) > 1:
        notes.append("not all were made on the same items")
    return notes


def _signed(value: float, widest: float) -> str:
    """A difference with as many decimals as the widest of the chart leaves room for."""
    form = f"+.{3 if widest < 1 else 2 if widest < 10 else 1}f"
    return number(value, form) if float(format(value, form)) else format(value, form)[1:]


def latest_comparisons(findings: Rows, provenance: Rows) -> list[Mapping[str, Any]]:
    """The latest comparison of each pair, metric and criterion, in the order of the calls.

    `stale`: answers arrived, or were scored by this metric, after it.
    """
    latest: dict[tuple[Board, frozenset[str]], Mapping[str, Any]] = {}
    for call, finding in enumerate(findings):
        for row in finding["rows"]:
            pair = board_of(row), frozenset((row["a"], row["b"]))
            latest.pop(pair, None)
            latest[pair] = row | {
                "call": call,
                "made_at": finding["made_at"][:10],
                "items": finding["settings"].get("items"),
                # An overall rests on several metrics: scores by any of them overtake it.
                "stale": is_overtaken(
                    finding, provenance, metric=None if row["metric"] == OVERALL else row["metric"]
                ),
            }
    return list(latest.values())


def with_figures(
    comparisons: Rows, measures: Mapping[int, Measure], stamps: Mapping[JudgedCriterion, str]
) -> list[dict[str, Any]]:
    """The comparisons with their `stamp`; the first of several on one scale in a call has their `figure`."""
    criteria = {(m.metric, m.criterion.criterion): m.criterion for m in measures.values()}

    def scale(row: Mapping[str, Any]) -> tuple[Any, ...]:
        c = criteria.get((row["metric"], row["criterion"]))
        return (row["call"], row["benchmark"], row["metric"], row.get("scale"), c and (c.low, c.high))

    result = []
    for _, part in groupby(comparisons, key=scale):
        same_scale = list(part)
        chart = None
        if sum(row["difference"] is not None for row in same_scale) > 1:
            title = f"{same_scale[0]['metric']} on {same_scale[0]['benchmark']}"
            chart = figure(f"Differences in {title}", charts.forest(same_scale), "differences", title)
        for n, row in enumerate(same_scale):
            stamp = _weakest_stamp(row, measures.values(), stamps)
            result.append({**row, "figure": chart if n == 0 else None, "stamp": stamp})
    return result


def _weakest_stamp(
    row: Mapping[str, Any], measures: Iterable[Measure], stamps: Mapping[JudgedCriterion, str]
) -> str | None:
    """The weakest stamp of the measures that a comparison may be of.

    A comparison bears no signature: several versions of its metric, and all of a jury's judges, qualify.
    """
    rater = row.get("rater") or ""
    return weakest_status(
        status_of(stamps, row["benchmark"], m)
        for m in measures
        if m.criterion.criterion == row["criterion"]
        and ((m.metric, m.rater) == (row["metric"], rater) or (rater == "jury" and m.metric in row["metric"]))
    )
