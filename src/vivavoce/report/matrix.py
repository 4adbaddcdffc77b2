"""The matrix of pairs: for each two candidates the difference, and what a comparison lets be said of it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.report.boards import Rows, board_of, by_board
from vivavoce.report.drawing import (
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
from vivavoce.report.wording import number

if TYPE_CHECKING:
    import altair as alt

__all__ = ["matrices", "matrix"]

MOST_WITH_WORDS = 8
"""With more candidates a cell has room for a sign only."""


class Said(NamedTuple):
    """What a cell says from its row's side: a sign, words, and 1 or -1 where someone is better."""

    sign: str
    words: str
    side: int = 0


BETTER, WORSE = Said("▲", "better", 1), Said("▼", "worse", -1)
NOT_WORSE, NOT_BETTER = Said("≥", "not worse"), Said("≤", "not better")
EITHER = {
    "equivalent": Said("=", "equivalent"),
    "cannot_tell": Said("?", "cannot tell"),
    "too_few": Said("n", "too few"),
    "depends": Said("!", "depends"),
    "incomparable": Said("×", "incomparable"),
}
ABSENT = Said("", "not compared")
MEANING = {
    BETTER: "the row is better",
    WORSE: "the row is worse",
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
    return [made for made in map(matrix, by_board(rows).values()) if made.svg is not None]


def _chart(rows: Rows) -> "alt.LayerChart | str":
    pairs = {(row["a"], row["b"]): row for row in rows}
    names = _order(rows)
    if len(names) < 3:
        return "Fewer than three candidates were compared: the verdicts say it all."
    wide = len(names) <= MOST_WITH_WORDS
    size, tall = (84.0, 44.0) if wide else (54.0, 36.0)
    top = 24.0
    widest = max((abs(r["difference"]) for r in rows if r["difference"] is not None), default=0.0) or 1.0
    cells, edges, figures = [], [], []
    verdicts: list[dict[str, Any]] = []
    absent: list[dict[str, Any]] = []
    for down, one in enumerate(names):
        for across, other in enumerate(names):
            x, y = across * size, top + down * tall
            spot = {"x": x + 1, "x2": x + size - 1, "y": y + 1, "y2": y + tall - 1}
            if one == other:
                cells.append(spot | {"fill": LINE, "strength": 0.5})
                continue
            difference, said = _cell(pairs, one, other)
            share = 0.12 + (STRONGEST - 0.12) * abs(difference or 0.0) / widest
            fill = {1: GOOD, -1: BAD}.get(said.side)
            cells.append(spot | {"fill": fill or WASH, "strength": share if fill else 1.0})
            if fill:
                edges.append({"x": x + 2, "x2": x + size - 2, "y": y + 2, "y2": y + tall - 2, "edge": fill})
            middle = x + size / 2
            if difference is not None:
                figures.append({"x": middle, "y": y + tall / 2 - 8, "text": _signed(difference, widest)})
            below = 8 if difference is not None else 0
            (absent if said is ABSENT else verdicts).append(
                {"x": middle, "y": y + tall / 2 + below, "text": said.words if wide else said.sign or "–"}
            )
    bottom = top + len(names) * tall
    labels = [
        {"x": -8.0, "y": top + (k + 0.5) * tall, "text": f"{clean(name)}  {k + 1}"}
        for k, name in enumerate(names)
    ]
    heads = [{"x": (k + 0.5) * size, "y": top - 10, "text": str(k + 1)} for k in range(len(names))]
    notes = _notes(rows, names, wide)
    layers = [
        boxes(cells),
        *([_edges(edges)] if edges else []),
        *([words(figures, fontSize=12, fontWeight="bold")] if figures else []),
        *([words(verdicts, fontSize=11)] if verdicts else []),
        *([words(absent, fontSize=11, color=SOFT)] if absent else []),
        words(labels, align="right", limit=260),
        words(heads, color=SOFT),
        words([{"x": 0.0, "y": bottom + 16 + 16 * k, "text": line} for k, line in enumerate(notes)],
              align="left", color=SOFT),
    ]  # fmt: skip
    told = listed(
        f"{short(row['a'])} minus {short(row['b'])} {_signed(row['difference'], widest)}: {row['verdict']}"
        if row["difference"] is not None
        else f"{short(row['a'])} and {short(row['b'])}: {row['verdict']}"
        for row in rows
    )
    height = bottom + 8 + 16 * len(notes)
    return composed(layers, width=len(names) * size, height=height, says=f"Differences of pairs: {told}")


def _order(rows: Rows) -> list[str]:
    """The candidates: who is better in more pairs than worse first, then as they were compared."""
    ahead: dict[str, int] = {}
    for row in rows:
        for side, other in (("a", "b"), ("b", "a")):
            won = _decided(row) and {side: 1, other: -1}.get(row["favours"], 0)
            ahead[row[side]] = ahead.get(row[side], 0) + (won or 0)
    return sorted(ahead, key=lambda name: -ahead[name])


def _decided(row: Mapping[str, Any]) -> bool:
    return row["verdict_code"] in ("better", "better_by_margin")


def _cell(
    pairs: Mapping[tuple[str, str], Mapping[str, Any]], one: str, other: str
) -> tuple[float | None, Said]:
    """The difference seen from the row, and the verdict from its side."""
    turned = (one, other) not in pairs
    row = pairs.get((other, one) if turned else (one, other))
    if row is None:
        return None, ABSENT
    difference = row["difference"]
    if turned and difference is not None:
        difference = -difference
    first = row["favours"] == ("b" if turned else "a")
    if _decided(row):
        return difference, BETTER if first else WORSE
    if row["verdict_code"] == "not_worse":
        return difference, NOT_WORSE if first else NOT_BETTER
    return difference, EITHER[row["verdict_code"]]


def _notes(rows: Rows, names: Sequence[str], wide: bool) -> list[str]:
    """How to read the cells, and what is not the same for all of them."""
    logs = " on the log scale" if any(row.get("scale") == "log" for row in rows) else ""
    notes = [f"row − column{logs}; coloured only where a verdict says who is better"]
    if any(_decided(row) and (row["difference"] < 0) == (row["favours"] == "a") for row in rows):
        notes[0] += "; lower is better"
    margins = {row["margin"] for row in rows if row["margin"] is not None}
    if margins:
        notes.append(f"margin: {', '.join(f'{m:g}' for m in sorted(margins))}")
    if not wide:
        pairs = {(row["a"], row["b"]): row for row in rows}
        used = {_cell(pairs, one, other)[1] for one in names for other in names if one != other}
        key = [f"{said.sign} {meaning}" for said, meaning in MEANING.items() if said in used]
        key += ["– not compared"] if ABSENT in used else []
        notes += ["; ".join(key[k : k + 3]) for k in range(0, len(key), 3)]
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
    """The frame of a cell with a verdict: it can be told without the shade of its fill."""
    import altair as alt

    ends = {"x2": alt.X2("x2:Q"), "y2": alt.Y2("y2:Q")}
    own = alt.Stroke("edge:N", scale=None)
    made: alt.Chart = (
        table(edges).mark_rect(filled=False, strokeWidth=2).encode(**places(), **ends, stroke=own)
    )
    return made


def _signed(value: float, widest: float) -> str:
    """A difference with as many decimals as the widest of the chart leaves room for."""
    form = f"+.{3 if widest < 1 else 2 if widest < 10 else 1}f"
    return number(value, form) if float(format(value, form)) else format(value, form)[1:]
