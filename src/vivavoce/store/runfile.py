"""Opening a run file: one transaction to read in, one to write in, and a clear sentence when it cannot be.

Connections are short: each `reading` or `writing` block opens one and closes it, so a run object may cross
threads and forks, and several processes may write. Writers wait for each other up to a minute.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import RunNotFound, StoreError
from vivavoce.core.private_files import create_private, not_written, whole_file
from vivavoce.store.damage import DamagedValue, damaged
from vivavoce.store.declared_schema import Connection, begin_reading, format_number, is_older, migrate
from vivavoce.store.disks import network_disk, network_disks_allowed
from vivavoce.store.schema import LINKS
from vivavoce.store.sqlite_errors import Unwritable, explain
from vivavoce.store.strange_files import check_unopened, is_empty, refuse_special_files, side_file
from vivavoce.store.writer_lock import is_writing, only_writer

WAIT_SECONDS = 60.0
_UNCHANGING = "mode=ro&immutable=1"  # SQLite neither locks such a file nor lays files beside it
_NO_ROOM = (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMOPEN)
_CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


class Readable(NamedTuple):
    """A connection to read a run through, and whether it follows the file.

    One to a copy, or to a file that is taken as unchanging, sees nothing new and is never written through.
    """

    db: Connection
    is_live: bool


class RunFile:
    """A run on disk. Naming a path creates nothing; the file appears when something is first written.

    A file is not trusted. One that declares anything but what our migrations make is refused before it is
    read, and nothing is written to it or beside it. While another process writes, it waits `wait_s` seconds,
    by default a minute.

    On a network disk a run is read, and written only with `network_disk`, by default as the environment says:
    with a rollback journal, by one process at a time, and read as a copy of its own.
    """

    def __init__(self, path: Path, *, wait_s: float | None = None, network_disk: bool | None = None) -> None:
        self.path = path
        self._wait_s = wait_s
        self._network_disk_allowed = network_disk
        self._checked: tuple[int, int] | None = None  # the device and number of the file that was checked

    @property
    def exists(self) -> bool:
        """True if a file that is not empty lies here. Raises `StoreError` where we may not look."""
        try:
            return self.path.exists() and not is_empty(self.path)
        except OSError as error:
            raise StoreError(f"cannot look for a run at {self.path}: {error.strerror or error}.") from error

    def check_folder(self) -> None:
        """Raise `StoreError` where there is no folder to put the run in."""
        if not self.path.parent.is_dir():
            raise StoreError(f"no folder {self.path.parent} to put the run in.")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the run, which cannot be written through.

        An older file is brought up to date first; one that cannot be written stays as it is, and a copy is
        read.
        Raises `RunNotFound` if there is no file, `StoreError` if it is not a run of ours or is newer.
        """
        with self.explained(), closing(self.open_to_read().db) as db:
            begin_reading(db, self.path)
            yield db

    @contextmanager
    def writing(self, *, source: "RunFile | None" = None) -> Iterator[sqlite3.Connection]:
        """One transaction: all of the block is stored, or none of it.

        The tables of another run, `source`, can be read in it under the name `theirs`.
        """
        if source:
            with source.reading():  # refuses what is no run, and brings an older one up to date
                pass
        self._refuse_network_disk()
        with self._alone(), self.explained(), closing(self._connect()) as db:
            if source:
                source._attach(db)
            with self._transaction(db, source):
                yield db

    @contextmanager
    def writing_through(self, db: Connection) -> Iterator[sqlite3.Connection]:
        """As `writing`, through a connection to the file that is open and in no transaction."""
        self._refuse_network_disk()
        with self._alone(), self.explained():
            db.execute("PRAGMA query_only = OFF")
            try:
                with self._transaction(db, None):
                    yield db
            finally:
                db.execute("PRAGMA query_only = ON")

    def _refuse_network_disk(self) -> None:
        if self._refused_disk:
            raise Unwritable(
                f"{self.path} lies on a network disk ({self._refused_disk}), where locks do not hold between "
                "machines: copy it to a local disk, use it there, and copy it back with `viva copy`; or let "
                "one process at a time write it there, with --network-disk."
            )

    @contextmanager
    def _transaction(self, db: Connection, source: "RunFile | None") -> Iterator[None]:
        if not has_wal(db) and not self._rolls_back:  # a new file, or a copy
            _use_wal(db)
        db.execute("BEGIN IMMEDIATE")
        try:
            migrate(db, self.path)
            yield
        except BaseException as error:
            if db.in_transaction:  # a full disk has rolled back already
                db.execute("ROLLBACK")
            if source and isinstance(error, sqlite3.IntegrityError):  # rows that a whole run does not hold
                raise damaged(source.path, str(error)) from error
            raise
        db.execute("COMMIT")

    @contextmanager
    def connected(self) -> Iterator[sqlite3.Connection]:
        """A connection that stays open for many small transactions, each begun and ended by the caller.

        Another thread may use it in this one's place, not at the same time.

        What is committed survives the end of the process at any instant, though not of the power: waiting for
        the disk after each answer would cost more than the answer.
        """
        with self._alone():
            with self.writing():
                pass
            with self.explained(), closing(self._connect()) as db:
                if not self._rolls_back:
                    db.execute("PRAGMA synchronous = NORMAL")
                yield db

    def copy(self, to: Path) -> None:
        """Write a compact copy to a path where nothing lies yet (`VACUUM INTO`), also while others write."""
        hint = " It is an empty file: remove it and copy again." if is_empty(to) else ""
        occupied = StoreError(f"{to} is there already: a copy never overwrites.{hint}")
        if to.exists() or to.is_symlink():
            raise occupied
        if not to.parent.is_dir():
            raise StoreError(f"no folder {to.parent} to put the copy in.")
        if not self.exists:
            raise self._not_found()
        with self.explained(to), closing(self._connect()) as db:
            try:
                with whole_file(to) as draft:
                    with suppress(OSError):  # SQLite says what is wrong with the path
                        create_private(draft)
                    db.execute("VACUUM INTO ?", (str(draft),))
                    _forget_links(draft)
            except OSError as error:  # a FileExistsError: another process made it since we looked
                is_late = isinstance(error, FileExistsError)
                raise (occupied if is_late else StoreError(not_written("copy", to, error))) from None

    def open_to_read(self) -> Readable:
        """A connection to the tables as they are made today; `begin_reading` begins to read through it.

        Raises `RunNotFound` if there is no file, `StoreError` if it is not a run of ours or is newer, and
        SQLite's errors, which `explained` puts in words.
        """
        if not self.exists:
            raise self._not_found()
        db = self._connect()
        try:
            if is_older(db, self.path):  # an older file, or one that is still empty
                with self.writing():
                    pass
            if self._rolls_back:  # a view that stays open would keep the writer from ending its transaction
                with closing(db):
                    return Readable(_copied(db), is_live=False)
        except Unwritable:
            with closing(db):
                return Readable(_lifted(db, self.path), is_live=False)
        except BaseException:
            db.close()
            raise
        return Readable(db, is_live=not db.is_unchanging)

    def _not_found(self) -> RunNotFound:
        empty = " (the file is empty: what was to write it ended too early)" if is_empty(self.path) else ""
        return RunNotFound(f"no run at {self.path}{empty}: `viva import {self.path} …` makes one.")

    def open_to_write(self) -> Connection | None:
        """A connection for many transactions of `writing_through`; null on a network disk.

        There each transaction has a connection of its own, which looks anew for what other machines did.
        """
        return None if self._network_disk else self._connect()

    def _connect(self) -> Connection:
        """A connection to a file whose schema was compared with ours; it may be one of an older format."""
        refuse_special_files(self.path)
        self.check_folder()
        self._refuse_writer_at_work()
        try:
            if self._is_wal:
                with suppress(Unwritable, sqlite3.OperationalError):  # it can be read all the same
                    self._leave_wal()
            self._check_once()
            db = self._open()
            if self._wait_s is not None:
                db.execute(f"PRAGMA busy_timeout = {round(1_000 * self._wait_s)}")
        except UnicodeDecodeError as error:  # a message of SQLite's on a schema that is no text
            raise damaged(self.path, "its schema is no text") from error
        try:
            format_number(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    def _refuse_writer_at_work(self) -> None:
        """Raise `StoreError` for what another machine may be writing on a network disk."""
        suffixes = ("-wal",) if self._rolls_back else ("-wal", "-journal")
        for suffix in suffixes if self._network_disk else ():
            if side_file(self.path, suffix).exists():
                raise StoreError(
                    f"{self.path} lies on a network disk ({self._network_disk}), and by the {suffix} file "
                    "beside it a writer is at work there, or was killed: copy all its files to a local disk "
                    "and use it there."
                )

    def _leave_wal(self) -> None:
        """Give a file that was written on a local disk a rollback journal; nobody else writes meanwhile."""
        with self._alone(), closing(_unread(f"{self.path.absolute().as_uri()}?mode=rw")) as db:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")  # so that the -wal file needs no shared memory
            db.execute("PRAGMA journal_mode = DELETE")

    def _check_once(self) -> None:
        """Check the file without opening it for writing, unless this object has done so."""
        if self.exists and not (self._rolls_back and is_writing(self.path)):  # it was checked before
            status = self.path.stat()
            if self._checked != (status.st_dev, status.st_ino):
                check_unopened(self.path, lambda db: format_number(db, self.path))
                self._checked = (status.st_dev, status.st_ino)

    def _open(self) -> Connection:
        address = self.path.absolute().as_uri()
        if self._refused_disk or self._is_wal:
            return _open(f"{address}?{_UNCHANGING}")
        try:
            create_private(self.path)
        except OSError as error:  # SQLite says what else is wrong with the path
            if self.path.is_symlink():
                raise StoreError(f"cannot make {self.path}: {error.strerror or error}.") from error
        try:
            return _open(f"{address}?mode=rwc")
        except sqlite3.OperationalError as error:
            # On a read-only or full disk SQLite cannot lay its files beside the run; none is needed to read.
            if not self._holds_all(error):
                raise
            return _open(f"{address}?{_UNCHANGING}")

    def _holds_all(self, error: sqlite3.OperationalError) -> bool:
        """Whether the file alone is the run, and the error is that no file can be laid beside it."""
        code, wal = error.sqlite_errorcode, side_file(self.path, "-wal")
        if code & 0xFF == sqlite3.SQLITE_FULL or code in _NO_ROOM:
            return self.exists and (is_empty(wal) or not wal.exists())
        return code & 0xFF in _CLOSED and self.exists and not wal.exists()

    def _attach(self, db: sqlite3.Connection) -> None:
        """Make the tables of this run readable through another connection, under the name `theirs`.

        Raises `StoreError` for an older file, which `reading` could not bring up to date.
        """
        address = self.path.absolute().as_uri()
        attach = "ATTACH ? AS theirs"
        try:
            db.execute(attach, (f"{address}?{_UNCHANGING}" if self._refused_disk else f"{address}?mode=ro",))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in _CLOSED or side_file(self.path, "-wal").exists():
                raise
            db.execute(attach, (f"{address}?{_UNCHANGING}",))  # a read-only disk, as in `_open`
        if is_older(db, self.path, "theirs"):
            raise StoreError(
                f"{self.path} is of an older format, and cannot be brought up to date where it lies: copy it "
                "to a folder that can be written, and name that copy."
            )

    @cached_property
    def _network_disk(self) -> str | None:
        return network_disk(self.path)

    @property
    def _rolls_back(self) -> bool:
        """Whether it lies on a network disk and may be written there."""
        allowed = self._network_disk_allowed
        return bool(self._network_disk) and (network_disks_allowed() if allowed is None else allowed)

    @property
    def _refused_disk(self) -> str | None:
        """The type of the network disk on which it must not be written."""
        return None if self._rolls_back else self._network_disk

    @property
    def _is_wal(self) -> bool:
        """Whether a file that is to have a rollback journal has a write-ahead log, by its header.

        It is looked at once in a process: closing the file again would end SQLite's own locks on it.
        """
        if not self._rolls_back or not self.exists:
            return False
        status = self.path.stat()
        key = status.st_dev, status.st_ino
        if key not in _ROLLING_BACK and not _has_wal(self.path):
            _ROLLING_BACK.add(key)
        return key not in _ROLLING_BACK

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """On a network disk, nobody else writes while the block runs."""
        if not self._rolls_back:
            yield
            return
        with only_writer(self.path, wait_s=self._wait_s or WAIT_SECONDS):
            yield

    @contextmanager
    def explained(self, written: Path | None = None) -> Iterator[None]:
        """Turn SQLite's errors into one sentence that says what to do."""
        path = written or self.path
        try:
            yield
        except sqlite3.DatabaseError as error:
            if sentence := explain(error, self.path, path, self._wait_s or WAIT_SECONDS):
                raise sentence from error
            raise
        except DamagedValue as error:
            raise damaged(self.path, error.subject) from error
        except UnicodeEncodeError as error:
            raise StoreError(
                f"nothing of this step was written to {path}: {error.object!r:.80} holds half of a surrogate "
                "pair, which is no character."
            ) from error


def has_wal(db: sqlite3.Connection) -> bool:
    """Whether the file has a write-ahead log, so that one may write to it while others read."""
    return bool(db.execute("PRAGMA main.journal_mode").fetchone() == ("wal",))


def _unread(address: str) -> Connection:
    # Not one thread's alone: what `connected` gives may be used by another in its place.
    return sqlite3.connect(
        address,
        uri=True,
        timeout=WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )


def _open(address: str) -> Connection:
    db = _unread(address)
    try:
        db.execute("PRAGMA trusted_schema = OFF")  # no function of a file's schema may do anything
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("SELECT 1 FROM sqlite_master").fetchone()  # connecting alone does not read the file
        db.is_unchanging = address.endswith(_UNCHANGING)
    except BaseException:
        db.close()
        raise
    return db


_ROLLING_BACK: set[tuple[int, int]] = set()
"""Devices and numbers of files that have a rollback journal."""


def _has_wal(path: Path) -> bool:
    """Whether SQLite would open the file with a write-ahead log: the versions in its header are 2."""
    try:
        with path.open("rb") as stream:
            return stream.read(20)[18:20] == b"\2\2"
    except OSError:
        return False


def _copied(db: sqlite3.Connection) -> Connection:
    """A copy as it is now, which lasts as long as its connection."""
    copy = _open("")
    try:
        db.backup(copy)
    except BaseException:
        copy.close()
        raise
    return copy


def _lifted(old: sqlite3.Connection, path: Path) -> Connection:
    """A copy of an older run as it would be today, which lasts as long as its connection."""
    new = _open("")  # SQLite keeps it in memory, and what does not fit among the files of the system
    try:
        old.backup(new)
        new.execute("BEGIN")
        migrate(new, path)
        new.execute("COMMIT")
    except BaseException:
        new.close()
        raise
    return new


def _use_wal(db: sqlite3.Connection) -> None:
    # Changing the journal needs the file alone and does not wait for others by itself.
    end = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            db.execute("PRAGMA main.journal_mode = WAL")  # not that of a run beside it
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)


def _forget_links(copy: Path) -> None:
    """Take the links that sign people in out of a copy: they open the run that they were drawn for."""
    with closing(_open(f"{copy.absolute().as_uri()}?mode=rw")) as db:
        if format_number(db, copy) >= LINKS:
            overwrite_deleted(db)
            db.execute("DELETE FROM sign_in_links")


def overwrite_deleted(db: sqlite3.Connection) -> None:
    """From now on what is deleted through this connection is overwritten with zeros (`secure_delete`).

    Copies of it may still stand in the `-wal` file until the last connection ends.
    """
    db.execute("PRAGMA secure_delete = ON")
