"""The board as files: a page, and a table beside it that no spreadsheet takes for formulas."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from vivavoce.core.errors import StoreError
from vivavoce.core.private_files import private_folder, write_all_private
from vivavoce.core.spreadsheets import defused
from vivavoce.core.text import printable
from vivavoce.systems.cliniqlink.submissions.board import BoardRow, Leaderboard
from vivavoce.systems.cliniqlink.submissions.page import html_page
from vivavoce.systems.cliniqlink.submissions.terms import COLUMNS, MOST_SUBMISSIONS

MARK = b'name="generator" content="vivavoce'
HEADER = b"place,team,system,date,size_class,"
"""What the table's first line begins with."""


class BoardFiles(NamedTuple):
    """The page and the table."""

    page: Path
    table: Path


def write_board(board: Leaderboard, page: Path) -> BoardFiles:
    """Write the page, and beside it the table as CSV; earlier ones of a board are replaced.

    Raises `StoreError` where anything else lies there, before either is written.
    """
    if page.suffix != ".html":
        example = page.with_suffix(".html") if page.name else page / "leaderboard.html"
        raise StoreError(f"the board is a page: give a path such as {example} with --to.")
    files = BoardFiles(page, page.with_suffix(".csv"))
    try:
        for path, mark in ((files.page, MARK), (files.table, HEADER)):
            if path.exists() and mark not in path.read_bytes()[:4_000]:
                raise StoreError(f"{path} is there already and is no board: give another path with --to.")
        private_folder(page.parent)
        write_all_private({files.page: board_page(board), files.table: _csv(board.rows)})
    except OSError as error:
        raise StoreError(
            f"cannot write the board to {page}: {error.strerror or error}. Give another path with --to."
        ) from None
    return files


def board_page(board: Leaderboard) -> str:
    """The page: who leads, the table, and what is not on it."""
    return html_page(
        "board.html",
        board=board,
        columns=COLUMNS,
        most=MOST_SUBMISSIONS,
        any_missing=any(row.n_missing for row in board.rows),
        any_failed=any(row.n_failed for row in board.rows),
        any_unshared=any((row.n_common or row.n_questions) < row.n_questions for row in board.rows),
    )


def _csv(rows: Sequence[BoardRow]) -> str:
    order = ("place", "team", "system", "date", "size_class")
    named = [
        {name: printable(value) if isinstance(value, str) else value for name, value in row.flat.items()}
        for row in rows
    ]
    table = defused(pl.DataFrame(named, infer_schema_length=None))
    return table.select(*order, pl.exclude(*order)).write_csv()
