"""The leaderboard over seven formats, as a study found it: a row per candidate, a column per format."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.report import plots
from vivavoce.report.boards import Board, Rows, board_of
from vivavoce.report.drawing import Figure, figure
from vivavoce.report.wording import interval, percent, ranks
from vivavoce.studies.overall import OVERALL, SEVEN

__all__ = ["drawn", "leaderboard"]

RATES = {
    "empty": "empty",
    "unanswered": "unanswered",
    "readable": "readable",
    "invented": "options invented",
    "by_text": "options by text",
    "by_letter": "by letter",
    "by_both": "by both",
    "step_found": "wrong steps found",
}


def leaderboard(rows: Rows) -> list[dict[str, Any]]:
    """The rows of the study of overalls as texts: rank, overall and interval, seven columns, rates."""
    whole = [row for row in rows if row["format"] == OVERALL]
    several = len({_board(row) for row in whole}) > 1
    columns = {(_board(row), row["candidate"], row["format"]): row["estimate"] for row in rows}
    made = []
    for row in whole:
        ranked = row["rank"] is not None
        made.append(
            {
                "rank": ranks(plots.places(row)) if ranked else None,
                "candidate": row["candidate"],
                "overall": row["estimate"],
                "95 % interval": None if row["low"] is None else interval(row["low"], row["high"]),
                "tied with": row["tied_with"],
                **{name: columns.get((_board(row), row["candidate"], form)) for form, name in SEVEN.items()},
                **{name: None if row[key] is None else percent(row[key]) for key, name in RATES.items()},
                "questions": row["n_items"],
                "cases": row["n_groups"],
                **({"by": row["measure"], "benchmark": row["benchmark"]} if several else {}),
                "reason": row["reason"],
            }
        )
    return made


def drawn(rows: Rows) -> Iterator[Figure]:
    """Overalls with their intervals, and the ranks left open, for each board."""
    boards: dict[tuple[Board, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["format"] == OVERALL and row["estimate"] is not None:
            boards.setdefault(_board(row), []).append(row)
    for (board, _), own in boards.items():
        title = f"Overall by {own[0]['measure']} on {board.benchmark}"
        yield figure(title, plots.forest(own), "overall", title)
        yield figure(title, plots.rank_ranges(own), "overall-ranks", title)


def _board(row: Mapping[str, Any]) -> tuple[Board, str]:
    return board_of(row), row["signature"]
