"""Comparisons: the latest verdict on each pair of candidates, with charts, and the matrix of all pairs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.core.records import Measure
from vivavoce.report import charts
from vivavoce.report.charts.svg import (
    BAD,
    GOOD,
    LINE,
    SOFT,
    STRONGEST,
    WASH,
    Figure,
    boxes,
    clean,
    composed,
    figure,
    listed,
    places,
    short,
    table,
    words,
)
from vivavoce.report.data import Board, Rows, board_of, by_board
from vivavoce.report.format import number
from vivavoce.report.sections.findings import overtaken
from vivavoce.studies.raters.validation_status import status_of, weakest_status
from vivavoce.studies.score_table import JudgedCriterion

if TYPE_CHECKING:
    import altair as alt


MOST_WITH_WORDS = 8
"""With more candidates a cell has room for a sign only."""


class CellVerdict(NamedTuple):
    """A cell from the side of its row: a sign, words, and 1 or -1 where someone is better."""

    sign: str
    words: str
    side: int = 0


BETTER, WORSE = CellVerdict("▲", "better", 1), CellVerdict("▼", "worse", -1)
PREFERRED, NOT_PREFERRED = CellVerdict("▲", "preferred", 1), CellVerdict("▼", "not preferred", -1)
NOT_WORSE, NOT_BETTER = CellVerdict("≥", "not worse"), CellVerdict("≤", "not better")
EITHER = {
    "equivalent": CellVerdict("=", "equivalent"),
    "cannot_tell": CellVerdict("?", "cannot tell"),
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
    NOT_WORSE: "not worse by more than the margin",
    NOT_BETTER: "not better by more than the margin",
    EITHER["equivalent"]: "equivalent within the margin",
    EITHER["cannot_tell"]: "this exam cannot tell",
    EITHER["too_few"]: "too few different cases to say",
    EITHER["depends"]: "depends on marks that failed",
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
    what = dict.fromkeys(str(first[k]) for k in ("metric", "criterion", "rater") if first.get(k))
    title = f"All pairs by {', '.join(what)} on {first['benchmark']}" if rows else "All pairs"
    return figure(title, _chart(rows), "pairs", title)


def matrices(rows: Rows) -> list[Figure]:
    """A matrix for each benchmark, metric, criterion and rater that three or more candidates share."""
    return [
        matrices_of_boards
        for matrices_of_boards in map(matrix, by_board(rows).values())
        if matrices_of_boards.svg is not None
    ]


def _chart(rows: Rows) -> "alt.LayerChart | str":
    pairs = {(row["a"], row["b"]): row for row in rows}
    names = _order(rows)
    if len(names) < 3:
        return "Fewer than three candidates were compared: the verdicts say it all."
    wide = len(names) <= MOST_WITH_WORDS
    size, tall = (84.0, 44.0) if wide else (54.0, 36.0)
    top = 24.0
    widest = max((abs(r["difference"]) for r in rows if r["difference"] is not None), default=0.0) or 1.0
    marks = _Marks([], [], [], [], [])
    for down, row_name in enumerate(names):
        for across, column_name in enumerate(names):
            spot = _Spot(across * size, top + down * tall, size, tall)
            if row_name == column_name:
                marks.cells.append(spot.inset(1) | {"fill": LINE, "strength": 0.5})
            else:
                marks.add(spot, *_cell(pairs, row_name, column_name), widest, wide=wide)
    bottom = top + len(names) * tall
    labels = [
        {"x": -8.0, "y": top + (k + 0.5) * tall, "text": f"{clean(name)}  {k + 1}"}
        for k, name in enumerate(names)
    ]
    heads = [{"x": (k + 0.5) * size, "y": top - 10, "text": str(k + 1)} for k in range(len(names))]
    notes = _notes(rows, names, wide)
    layers = [
        *marks.layers(),
        words(labels, align="right", limit=260),
        words(heads, color=SOFT),
        words([{"x": 0.0, "y": bottom + 16 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    description = listed(
        f"{short(row['a'])} minus {short(row['b'])} {_signed(row['difference'], widest)}: {row['verdict']}"
        if row["difference"] is not None
        else f"{short(row['a'])} and {short(row['b'])}: {row['verdict']}"
        for row in rows
    )
    height = bottom + 8 + 16 * len(notes)
    return composed(
        layers, width=len(names) * size, height=height, says=f"Differences of pairs: {description}"
    )


class _Spot(NamedTuple):
    """A cell's upper left corner and its size, in pixels."""

    x: float
    y: float
    width: float
    height: float

    def inset(self, by: float) -> dict[str, Any]:
        """The rectangle so far inside the cell."""
        return {"x": self.x + by, "x2": self.x + self.width - by,
                "y": self.y + by, "y2": self.y + self.height - by}  # fmt: skip


class _Marks(NamedTuple):
    """What the cells show: fills, frames of verdicts, differences, and words."""

    cells: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    figures: list[dict[str, Any]]
    verdicts: list[dict[str, Any]]
    absent: list[dict[str, Any]]

    def add(
        self, spot: _Spot, difference: float | None, verdict: CellVerdict, widest: float, *, wide: bool
    ) -> None:
        share = 0.12 + (STRONGEST - 0.12) * abs(difference or 0.0) / widest
        fill = {1: GOOD, -1: BAD}.get(verdict.side)
        self.cells.append(spot.inset(1) | {"fill": fill or WASH, "strength": share if fill else 1.0})
        if fill:
            self.edges.append(spot.inset(2) | {"edge": fill})
        middle, centre = spot.x + spot.width / 2, spot.y + spot.height / 2
        below = 0
        if difference is not None:
            below = 8
            self.figures.append({"x": middle, "y": centre - 8, "text": _signed(difference, widest)})
        text = verdict.words if wide else verdict.sign or "–"
        (self.absent if verdict is ABSENT else self.verdicts).append(
            {"x": middle, "y": centre + below, "text": text}
        )

    def layers(self) -> list["alt.Chart"]:
        layers = [boxes(self.cells)]
        if self.edges:
            layers.append(_edges(self.edges))
        if self.figures:
            layers.append(words(self.figures, fontSize=12, fontWeight="bold"))
        if self.verdicts:
            layers.append(words(self.verdicts, fontSize=11))
        if self.absent:
            layers.append(words(self.absent, fontSize=11, color=SOFT))
        return layers


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
    if row["verdict_code"] == "not_worse":
        return difference, NOT_WORSE if first else NOT_BETTER
    return difference, EITHER[row["verdict_code"] or "incomparable"]


def _notes(rows: Rows, names: Sequence[str], wide: bool) -> list[str]:
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
        notes += _legend(rows, names)
    return notes + _differing_calls(rows)


def _legend(rows: Rows, names: Sequence[str]) -> list[str]:
    """What the signs mean that stand in the cells, three to a line."""
    pairs = {(row["a"], row["b"]): row for row in rows}
    used = {_cell(pairs, first, second)[1] for first, second in permutations(names, 2)}
    entries = [f"{verdict.sign} {meaning}" for verdict, meaning in MEANING.items() if verdict in used]
    if ABSENT in used:
        entries.append("– not compared")
    return ["; ".join(entries[k : k + 3]) for k in range(0, len(entries), 3)]


def _differing_calls(rows: Rows) -> list[str]:
    notes = []
    families = {row["call"]: row["family"] for row in rows if "call" in row}
    if len(families) > 1:
        sizes = ", ".join(map(str, families.values()))
        notes.append(f"from {len(families)} calls of compare, each corrected for its own family ({sizes})")
    if any(row.get("stale") for row in rows):
        notes.append("answers or marks have come since some of these: compare again")
    if len({row.get("items") for row in rows}) > 1:
        notes.append("not all were made on the same items")
    return notes


def _edges(edges: Sequence[dict[str, Any]]) -> "alt.Chart":
    """The frame of a cell with a verdict: readable without the shade of its fill."""
    import altair as alt

    ends = {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
    stroke = alt.Stroke("edge:N", scale=None)
    chart: alt.Chart = (
        table(edges).mark_rect(filled=False, strokeWidth=2).encode(**places(), **ends, stroke=stroke)
    )
    return chart


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
                "stale": overtaken(finding, provenance, metric=row["metric"]),
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
