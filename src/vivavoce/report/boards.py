"""Which rows of findings belong together: a board is one rater's criterion on one benchmark."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.records import Measure
from vivavoce.studies.grids import key_of, labels

__all__ = ["Board", "Rows", "board_of", "by_board", "names_of"]

Rows = Sequence[Mapping[str, Any]]


class Board(NamedTuple):
    """Benchmark, metric, criterion and rater; a rule's rater is ''."""

    benchmark: str
    metric: str
    criterion: str
    rater: str


def board_of(row: Mapping[str, Any]) -> Board:
    """The board that a row of an estimate, a comparison or a study stands on."""
    return Board(row["benchmark"], row["metric"], row["criterion"], row.get("rater") or "")


def by_board(rows: Iterable[Mapping[str, Any]]) -> dict[Board, list[Mapping[str, Any]]]:
    """The rows of each board, all in their order."""
    made: dict[Board, list[Mapping[str, Any]]] = {}
    for row in rows:
        made.setdefault(board_of(row), []).append(row)
    return made


def names_of(measures: Mapping[int, Measure]) -> dict[tuple[str, str, str], str]:
    """Short names by metric, criterion and rater, for rows that bear no signature.

    Where several versions share these three the name is that of none: such a row may be of any.
    """
    short = labels(measures)
    made: dict[tuple[str, str, str], str] = {}
    for m in measures.values():
        key = (m.metric, m.criterion.criterion, m.rater)
        made[key] = f"{key[0]}: {key[1]}" if key in made else short[key_of(m)]
    return made
