"""A run file holds what the migrations up to its format make, and nothing else: a stranger's may hold code.

A trigger, a view in place of ours, an index with an expression or a generated column would run while we read
or write. So what a file declares is compared, before anything is read, with what the migrations up to its
version declare. Names and statements of a stranger are hostile text.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import StoreError
from vivavoce.store.damage import damaged, display
from vivavoce.store.integrity import rehash
from vivavoce.store.schema import APPLICATION_ID, HASHES, MIGRATIONS
from vivavoce.store.stored_values import check_small_tables


class _Object(NamedTuple):
    """A row of `sqlite_master`, with its type and name as key."""

    table: str
    sql: str | None


# What ANALYZE makes: https://www.sqlite.org/fileformat2.html#stat1tab
_STATISTICS = {
    "sqlite_stat1": "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "sqlite_stat4": "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
}
_TOKEN = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|[^\s'"(),]++|['"(),]""")


def refuse_other_schema(
    db: sqlite3.Connection, path: Path, migrations: tuple[str, ...], database: str = "main"
) -> None:
    """Raise `StoreError` unless the database declares exactly what these migrations do.

    Indexes that SQLite makes for itself and the tables of ANALYZE may be there as well. The sentence names
    the first object that differs.
    """
    expected, _ = _expected(migrations)
    missing = dict.fromkeys(expected)
    roots: set[int] = set()
    for kind, name, table, sql, root in db.execute(
        f"SELECT type, name, tbl_name, sql, rootpage FROM {database}.sqlite_master"
    ):
        if root and root in roots:
            raise damaged(path, f"the {_label(kind, name, sql)} shares its pages with another object")
        roots.add(root)
        if (kind, name) in missing:
            del missing[kind, name]
            if not _is_equal(expected[kind, name], table, sql):
                raise StoreError(
                    f"{path} declares the {_label(kind, name, sql)} otherwise than a run of this format "
                    f"does. {_STRANGE}"
                )
        elif not _is_of_sqlite(kind, name, table, sql, expected):
            raise StoreError(
                f"{path} holds the {_label(kind, name, sql)}, which no run of this format has. {_STRANGE}"
            )
    for kind, name in missing:
        raise damaged(path, f"the {_label(kind, name, None)} is missing")


_STRANGE = (
    "Nothing was read from it and nothing was written: such a thing can run code. If you changed the file "
    "yourself, undo it with sqlite3; otherwise ask for another copy, or give another path."
)


@lru_cache(maxsize=32)
def _expected(migrations: tuple[str, ...]) -> tuple[Mapping[tuple[str, str], _Object], tuple[str, ...]]:
    """By type and name what these migrations make, in the words of this SQLite, and statements that do so."""
    with closing(sqlite3.connect(":memory:")) as db:
        for script in migrations:
            db.executescript(script)
        rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        inserts = [statement for statement in db.iterdump() if statement.startswith("INSERT ")]
    objects = {(kind, name): _Object(table, sql) for kind, name, table, sql in rows}
    return objects, (*(f"{sql};" for *_, sql in rows if sql), *inserts)


def _is_equal(expected: _Object, table: object, sql: object) -> bool:
    if table != expected.table:
        return False
    if sql == expected.sql:
        return True
    return isinstance(sql, str) and expected.sql is not None and normal(sql) == normal(expected.sql)


def normal(sql: str) -> str:
    """A statement in small letters with one space between its words, but for what stands in quotes.

    Versions of SQLite may space a table that was altered differently. Nothing but space is left out, so a
    comment or a word more makes another statement.
    """
    return " ".join(word if word[0] in "'\"" else word.lower() for word in _TOKEN.findall(sql))


def _is_of_sqlite(
    kind: object, name: object, table: object, sql: object, expected: Mapping[tuple[str, str], _Object]
) -> bool:
    """Whether SQLite makes such an object by itself: an index of a key, or a table of statistics."""
    if kind == "index" and sql is None:
        return ("table", table) in expected and str(name).startswith(f"sqlite_autoindex_{table}_")
    is_statistics = kind == "table" and name == table and name in _STATISTICS
    return is_statistics and normal(str(sql)) == normal(_STATISTICS[str(name)])


def _label(kind: object, name: object, sql: object) -> str:
    """'trigger 'x'': the kind and the name of an object, fit to be shown."""
    words = "virtual table" if str(sql)[:20].upper().startswith("CREATE VIRTUAL") else display(str(kind), 20)
    return f"{words} {display(str(name), 60)!r}"


class Connection(sqlite3.Connection):
    """A connection that knows which declarations of its file were compared with ours.

    SQLite works by the schema it has parsed as long as the file's schema number is the same.
    """

    compared: tuple[int, int] | None = None
    """The number of the schema and the format that were compared last; null before the first comparison."""
    is_unchanging = False
    """Whether SQLite takes it that nobody writes to the file."""


def format_number(db: sqlite3.Connection, path: Path, database: str = "main") -> int:
    """The number of migrations the file has had, 0 if it is empty; refuses what is not ours, or newer."""
    (number,) = db.execute(f"PRAGMA {database}.schema_version").fetchone()
    (application,) = db.execute(f"PRAGMA {database}.application_id").fetchone()
    (version,) = db.execute(f"PRAGMA {database}.user_version").fetchone()
    (strange,) = db.execute(f"SELECT EXISTS (SELECT 1 FROM {database}.sqlite_master)").fetchone()
    if application != APPLICATION_ID and (application or strange):
        raise StoreError(f"{path} is an SQLite file of another program, not a run: give another path.")
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} was written by a newer vivavoce (format {version}; this one knows {len(MIGRATIONS)}): "
            "upgrade with `pip install -U vivavoce`."
        )
    if version < 0:
        raise damaged(path, f"its format is numbered {version}")
    if not isinstance(db, Connection) or database != "main":
        refuse_other_schema(db, path, MIGRATIONS[:version], database)
    elif db.compared != (number, version):
        refuse_other_schema(db, path, MIGRATIONS[:version])
        db.compared = (number, version)
    return int(version)


def is_older(db: sqlite3.Connection, path: Path, database: str = "main") -> bool:
    """Whether the file is of an older format, or still empty. Raises as `format_number`."""
    return format_number(db, path, database) < len(MIGRATIONS)


def begin_reading(db: Connection, path: Path) -> None:
    """Begin a transaction that only reads: it sees one state of the file, whose small tables are checked.

    Declarations that changed since they were compared are compared again, in this state.
    """
    db.execute("PRAGMA query_only = ON")
    db.execute("BEGIN")
    format_number(db, path)
    check_small_tables(db)


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the tables up to today's format, within the transaction that is open; those of it stay."""
    version = format_number(db, path)
    scripts = MIGRATIONS[version:] if version else _expected(MIGRATIONS)[1]
    try:
        for statement in chain.from_iterable(map(_statements, scripts)):
            db.execute(statement)
        if scripts:
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        if version < HASHES:
            rehash(db)
    except sqlite3.IntegrityError as error:  # our migrations break no rule that a whole file keeps
        raise damaged(path, str(error)) from error


def _statements(script: str) -> Iterator[str]:
    """The statements of a script: `executescript` would commit the transaction that must hold them."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
