"""The leaderboard over seven formats, as a study found it: a row per candidate, a column per format."""

from collections.abc import Iterator, Mapping
from typing import Any

from vivavoce.core.registry import section
from vivavoce.report import charts
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Board, Rows, board_of
from vivavoce.report.format import interval, percent, ranks
from vivavoce.report.section import Section
from vivavoce.studies.comparing.overall_columns import SEVEN
from vivavoce.studies.overall_design import OVERALL

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


@section("overall")
class Overall(Section):
    """The leaderboard of ClinIQLink's paper, and that of groups of benchmarks."""

    order = 10
    table_open = True

    def charts(self, rows: Rows) -> Iterator[Figure]:
        """Overalls with their intervals and rank intervals, for each board."""
        boards: dict[tuple[Board, str], list[Mapping[str, Any]]] = {}
        for row in rows:
            if row["format"] == OVERALL and row["estimate"] is not None:
                boards.setdefault(_board(row), []).append(row)
        for (board, _), on_board in boards.items():
            title = f"Overall by {on_board[0]['measure']} on {board.benchmark}"
            yield figure(title, charts.forest(on_board), "overall", title)
            yield figure(title, charts.rank_ranges(on_board), "overall-ranks", title)

    def table(self, rows: Rows) -> Rows:
        """The table as the paper prints it: a row per candidate."""
        return leaderboard(rows)


def leaderboard(rows: Rows) -> list[dict[str, Any]]:
    """The rows of the study of overalls as texts: rank, overall and interval, its parts, rates."""
    overalls = [row for row in rows if row["format"] == OVERALL]
    many_boards = len({_board(row) for row in overalls}) > 1
    columns = {(_board(row), row["candidate"], row["format"]): row["estimate"] for row in rows}
    titles = _part_titles(rows)
    table = []
    for row in overalls:
        by_format = {
            name: columns.get((_board(row), row["candidate"], form)) for form, name in titles.items()
        }
        board = {"by": row["measure"], "benchmark": row["benchmark"]} if many_boards else {}
        table.append(_leaderboard_row(row, by_format, board))
    return table


def _part_titles(rows: Rows) -> dict[str, str]:
    """Column titles by part: the seven formats where any of them is there, and the benchmarks of groups."""
    parts = dict.fromkeys(row["format"] for row in rows if row["format"] != OVERALL)
    benchmarks = {name: name for name in parts if name not in SEVEN}
    return (SEVEN if len(benchmarks) < len(parts) else {}) | benchmarks


def _leaderboard_row(
    row: Mapping[str, Any], by_format: Mapping[str, Any], board: Mapping[str, Any]
) -> dict[str, Any]:
    """An overall with its rank, its columns, its rates, and what names its board where there are several."""
    return {
        "rank": None if row["rank"] is None else ranks(charts.rank_text(row)),
        "candidate": row["candidate"],
        "overall": row["estimate"],
        "95 % interval": None if row["low"] is None else interval(row["low"], row["high"]),
        "not separated from": row["tied_with"],
        **by_format,
        **{name: None if row[key] is None else percent(row[key]) for key, name in RATES.items()},
        "questions": row["n_items"],
        "cases": row["n_groups"],
        **board,
        "reason": row["reason"],
    }


def _board(row: Mapping[str, Any]) -> tuple[Board, str]:
    return board_of(row), row["signature"]
