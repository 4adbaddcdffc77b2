"""What SQLite does for the statements of a run: how it plans each, and in how many steps it runs them."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

STEPS = 50
"""Steps of SQLite's machine are counted by so many; a statement that takes fewer counts for none."""
SMALL = ("benchmarks", "exclusion_lists", "measures", "score_checksums")
"""Tables that do not grow with items, answers or scores."""


class Statement(NamedTuple):
    """A statement as it was run, and the lines of its plan: number, number of the parent, what is done."""

    sql: str
    plan: tuple[tuple[int, int, str], ...]


class Record:
    """The statements that connections ran, and how many steps those of one text took together."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.steps: Counter[str] = Counter()
        self._latest = ""

    def add(self, db: sqlite3.Connection, sql: str, parameters: Any) -> None:
        """Ask SQLite for the plan of a statement that is about to run."""
        self._latest = " ".join(sql.split())
        if self._latest.startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE TEMP")):
            rows = sqlite3.Connection.execute(db, f"EXPLAIN QUERY PLAN {sql}", parameters)
            plan = tuple((number, parent, detail) for number, parent, _, detail in rows)
            self.statements.append(Statement(self._latest, plan))

    def count(self) -> None:
        """Count steps of the latest statement."""
        self.steps[self._latest] += STEPS

    def faults(self) -> dict[str, list[str]]:
        """By statement the lines of its plan that `repeated_reading` finds."""
        return {s.sql: lines for s in self.statements if (lines := repeated_reading(s))}


@contextmanager
def recorded() -> Iterator[Record]:
    """All that connections run which are opened in the block."""
    record, connect = Record(), sqlite3.connect

    class Recording(sqlite3.Connection):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            self.set_progress_handler(record.count, STEPS)

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            record.add(self, sql, parameters)
            return super().execute(sql, parameters)

        def executemany(self, sql: str, rows: Any, /) -> sqlite3.Cursor:
            rows = list(rows)
            if rows:
                record.add(self, sql, rows[0])
            return super().executemany(sql, rows)

    def recording(*arguments: Any, factory: type = sqlite3.Connection, **options: Any) -> sqlite3.Connection:
        bases = (Recording,) if factory is sqlite3.Connection else (Recording, factory)
        kind = type(factory.__name__, bases, {})
        return connect(*arguments, factory=kind, **options)

    sqlite3.connect = recording
    try:
        yield record
    finally:
        sqlite3.connect = connect


def repeated_reading(statement: Statement) -> list[str]:
    """The lines of a plan by which a large table is read or indexed once for each row of another.

    The loops of a join are lines of one parent: each but the first runs once for every row of those before
    it, and a correlated subquery for every row around it. There a table has to be searched by its key.
    """
    return list(_repeated(statement, 0))


def _repeated(
    statement: Statement, parent: int, *, is_inner: bool = False, is_correlated: bool = False
) -> Iterator[str]:
    lines = [(number, detail) for number, owner, detail in statement.plan if owner == parent]
    results = [detail.split()[1] for _, detail in lines if detail.startswith(("CO-ROUTINE", "MATERIALIZE"))]
    for number, detail in lines:
        action = detail.split()[0]
        if action in ("SCAN", "SEARCH"):
            name = detail.split()[1]
            if is_inner and _reads_much(statement.sql, detail, name in results):
                yield detail
            if _indexes_anew(statement.sql, detail, is_correlated):
                yield detail
            is_inner = True
        elif action == "CORRELATED":
            yield from _repeated(statement, number, is_inner=True, is_correlated=True)
        elif action in ("LIST", "SCALAR"):  # what does not depend on the row around it runs once
            yield from _repeated(statement, number)
        elif action in ("MULTI-INDEX", "INDEX"):
            yield from _repeated(statement, number, is_inner=is_inner, is_correlated=is_correlated)
            is_inner = True
        else:
            yield from _repeated(statement, number, is_inner=is_correlated, is_correlated=is_correlated)


def _reads_much(sql: str, detail: str, is_result: bool) -> bool:
    table = _table(sql, detail.split()[1])
    is_named = re.search(rf"\b{table}\b", sql)
    if detail.startswith("SEARCH"):  # by the measure alone it reads all scores of the measure
        by_measure = table in ("scores", "evidence") and "(measure_id=?)" in detail
        return bool(by_measure and is_named and "theirs." in sql)
    if is_result or detail == "SCAN CONSTANT ROW" or table in SMALL:
        return False
    # Tables that an INSERT does not name are those that point to its table. SQLite reads them for each row
    # only while a transaction lacks keys, which one of ours never does.
    return bool(is_named or not sql.startswith("INSERT"))


def _indexes_anew(sql: str, detail: str, is_correlated: bool) -> bool:
    # The rows of a subquery can have no other index, and get it once. A table has one that lasts, or is to
    # get one: each statement would make it anew, and only where SQLite's estimate is that it pays.
    return "AUTOMATIC" in detail and (is_correlated or _table(sql, detail.split()[1]) not in ("", *SMALL))


def _table(sql: str, name: str) -> str:
    """The table that a plan calls by its name or alias; empty for a subquery."""
    if "." in name or name.startswith("("):
        return name.partition(".")[2]
    alias = rf"(?:AS )?{name}\b(?! ?\()"
    if match := re.search(rf"(?:FROM|JOIN|UPDATE|INTO|,) (?:\w+\.)?(\w+) {alias}", sql):
        return match[1]
    return "" if re.search(rf"\) {alias}", sql) else name
