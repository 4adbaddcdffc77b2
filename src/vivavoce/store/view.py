"""What a verb sees of a run: one state of the file, through one connection, checked once.

What a verb reads and writes goes through its view, which is handed down.
"""

import sqlite3
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from vivavoce.store.declared_schema import Connection, begin_reading
from vivavoce.store.runfile import Readable, RunFile, has_wal

T = TypeVar("T")
P = ParamSpec("P")


class View:
    """One state of a run, for one verb and one thread; `view_of` makes and ends it.

    Nothing is opened before something is read, so a run that is not there yet has a view too.
    """

    def __init__(self, run: RunFile) -> None:
        self.run = run
        self._readable: Readable | None = None
        self._writable: Connection | None = None
        self._known: dict[tuple[Hashable, ...], Any] = {}
        self._thread = threading.get_ident()
        self._ended = False

    @property
    def path(self) -> Path:
        """Where the run lies."""
        return self.run.path

    @property
    def exists(self) -> bool:
        """True if something lies at the path. Raises `StoreError` where the system does not let us look."""
        return self.run.exists

    @property
    def db(self) -> sqlite3.Connection:
        """The connection, in a transaction that reads this state.

        Raises `RunNotFound` if there is no file, `StoreError` if it is not a run of ours or is newer.
        """
        if threading.get_ident() != self._thread:
            raise RuntimeError("a view belongs to one thread: another opens its own.")
        if self._ended:
            raise RuntimeError("this view has ended: its verb is done.")
        if self._readable is None:
            self._readable = self.run.open_to_read()
        db = self._readable.db
        if not db.in_transaction:
            begin_reading(db, self.path)
        return db

    def fetch(
        self, reader: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a function reads of this state. It is read once, so whoever gets it must not change it."""
        key = (reader, *args, *options.items())
        if key not in self._known:
            self._known[key] = reader(self.db, *args, **options)
        value: T = self._known[key]
        return value

    def has_read(self, reader: Callable[..., object], *args: Hashable) -> bool:
        """Whether `fetch` has read this."""
        return (reader, *args) in self._known

    def renew(self) -> None:
        """See the run as it is when something is next read, this verb's own writing included."""
        self._known.clear()
        if self._readable and self._readable.is_live:
            self._readable.db.rollback()
        elif self._readable:  # a copy, which stays as it is
            self._readable.db.close()
            self._readable = None

    @contextmanager
    def writing(self, *, keep_state: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction that writes: all of the block is stored, or none of it.

        It has the view's own connection, and what is read after it is another state. With `keep_state` the
        view goes on to see what it saw, and all such transactions have a second connection; but the first one
        ends the state of a file without a write-ahead log, such as a copy, which gets one then.
        """
        if keep_state:
            db = self._db_to_write()
        else:
            self.renew()
            db = self._readable.db if self._readable and self._readable.is_live else None
        with self.run.writing() if db is None else self.run.writing_through(db) as writable:
            yield writable

    def _db_to_write(self) -> Connection | None:
        if self._writable is None:
            readable = self._readable
            if readable and readable.is_live and not has_wal(readable.db):
                self.renew()  # whoever reads keeps a file from getting a write-ahead log
            with self.run.explained():
                self._writable = self.run.open_to_write()
        return self._writable

    def close(self) -> None:
        """End the view, and its connections."""
        self._ended = True
        self._known.clear()
        for db in (self._readable and self._readable.db, self._writable):
            if db:
                db.close()
        self._readable = self._writable = None


def with_view(run: RunFile, verb: Callable[Concatenate[View, P], T], *args: P.args, **options: P.kwargs) -> T:
    """What a verb gives that works on a view of its own."""
    with view_of(run) as view:
        return verb(view, *args, **options)


@contextmanager
def view_of(run: RunFile) -> Iterator[View]:
    """A view of the run for one verb, which ends with the block."""
    view = View(run)
    with run.explained():
        try:
            yield view
        finally:
            view.close()
