"""What an import reads: a file, another tool's results, or data in memory, as rows with a name and a hash."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError
from vivavoce.core.exclusions import Faulty
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.frames import data_lines
from vivavoce.core.records import Role
from vivavoce.core.tables import AS_FOUND, FEW_BYTES, Dialect, Line, Lines, is_file, open_table
from vivavoce.run.exchange.joins import By
from vivavoce.run.exchange.log_readers import LogReader, TableReader, reader_of
from vivavoce.run.exchange.table_files import Joined, hash_of, joined_tables, table_paths
from vivavoce.run.exchange.wide_tables import Columns, long_lines

Data = Any
"""A path, or rows in memory: a Polars or pandas frame, a list of dicts, a dict of columns, a data set."""


class Reading(NamedTuple):
    """What the user says of how data are to be read.

    That is how a file is written, which columns are models, what becomes of questions that can be none, where
    in a file's path its model stands, `by` what rows find their question, whether proposals are taken, and
    which columns hold the file's own scores of its answers, and which `raters` those of people; null where
    nobody says.
    """

    dialect: Dialect = AS_FOUND
    models: Columns = ()
    faulty: Faulty = "refuse"
    candidate_from: str | None = None
    by: By | None = None
    yes: bool = False
    scores: Sequence[str] | None = None
    raters: Sequence[str] | None = None


AS_IT_IS = Reading()


class Source(NamedTuple):
    """Rows to import, the name of what they are from, and the first 8 hex digits of its hash.

    `lines` can be read as often as needed; those of a table in a file are read from it each time.

    `dialect` is how a file was read, `guess` why that was guessed ('' where it was not), `models` the columns
    of a wide table, of which each row gave several.

    `roles` are the parts of candidates and `notes` the sentences that the reader of another tool's log has.

    `free` is whether its columns may have any names, and are to be matched; the log of another tool comes
    under ours. `in_memory` is whether they are from no file: a number may then stand for its text. `joined`
    are the tables of several files, whose folder is the name.
    """

    name: str
    lines: Iterable[Line]
    hash: str
    free: bool = True
    in_memory: bool = False
    dialect: Dialect = AS_FOUND
    guess: str = ""
    models: Columns = ()
    roles: Mapping[str, Role] = {}
    notes: tuple[str, ...] = ()
    joined: Joined | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it is from; none of data in memory."""
        if self.joined is not None:
            return tuple(self.joined.tables)
        return () if self.in_memory else (Path(self.name),)

    @property
    def is_small(self) -> bool:
        """Whether what is read of its files may stay in memory."""
        return sum(file.stat().st_size for file in self.files if file.is_file()) <= FEW_BYTES

    @property
    def read_as(self) -> dict[str, Any]:
        """How it was read, as far as there is something to say, for the run's provenance."""
        facts = {**self.dialect._asdict(), "guess": self.guess, "models_in_columns": self.models}
        return {name: value for name, value in facts.items() if value}

    @property
    def stem(self) -> str:
        """The name of a benchmark whose questions came from it: the file's stem, else `exam`."""
        return "exam" if self.in_memory else Path(self.name).stem or "exam"

    @property
    def record(self) -> dict[str, str]:
        """What provenance says of it."""
        file = "data in memory" if self.in_memory else Path(self.name).name
        return {"file": file, "file_hash": self.hash}

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise `InputError` where the file is another than that which was hashed, whatever came of it."""
        try:
            yield
        except Exception:
            self._refuse_changed()
            raise
        self._refuse_changed()

    def _refuse_changed(self) -> None:
        if self.free and not self.in_memory and hash_of(self.files) != self.hash:
            raise InputError(
                f"{self.name} changed while it was read: import it again when nothing writes to it. Nothing "
                "was imported."
            ) from None

    @contextmanager
    def named(self) -> Iterator[None]:
        """Put the name before the sentence of an `InputError` raised inside, unless it begins with it."""
        try:
            yield
        except InputError as error:
            sentence = str(error)
            raise InputError(
                sentence if sentence.startswith(self.name) else f"{self.name}: {error}"
            ) from None


def read_source(
    data: Data, benchmark: Loaded | None, reading: Reading = AS_IT_IS, named: Collection[str] = ()
) -> Source:
    """The rows of a path or of data in memory; a row per answer, also where each model has a column.

    The log of another tool is read as such where the `benchmark` is known. `named` are the fields that the
    user maps or sets. Raises `InputError` for what cannot be read, or not in this way.
    """
    source = _source_of(data, benchmark, reading)
    of_file = any(reading.dialect)
    if (of_file and source.in_memory) or ((of_file or reading.models) and not source.free):
        raise InputError(
            f"{source.name}: delimiter, encoding and sheet are for tables in files, columns of models for "
            "tables."
        )
    if not reading.models:
        return source
    lines = Lines(lambda: long_lines(source.lines, reading.models, named))
    with source.named():
        for _ in lines:  # whatever is wrong with a row is said with the name
            pass
    return source._replace(lines=lines, models=reading.models)


def _source_of(data: Data, benchmark: Loaded | None, reading: Reading) -> Source:
    if isinstance(data, Source):
        return data
    if benchmark is not None and isinstance(data, str | PathLike) and Path(data).exists():
        reader = reader_of(Path(data), benchmark)
        if not isinstance(reader, TableReader):
            return _log(Path(data), benchmark, reader)
    if len(paths := table_paths(data)) > 1:
        return of_tables(joined_tables(paths, reading.dialect))
    return _table(paths[0], reading.dialect) if paths else _memory(data)


def of_tables(joined: Joined) -> Source:
    """The tables of several files as one source."""
    dialects = {table.dialect for table in joined.tables.values()}
    dialect = dialects.pop() if len(dialects) == 1 else AS_FOUND
    guess = next((table.guess for table in joined.tables.values() if table.guess), "")
    return Source(str(joined.folder), joined.lines, joined.hash, dialect=dialect, guess=guess, joined=joined)


def _memory(data: Data) -> Source:
    lines = data_lines(data)
    text = json.dumps([line.row for line in lines], ensure_ascii=False, default=str)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return Source("the data", lines, digest, in_memory=True)


def _log(path: Path, benchmark: Loaded, reader: LogReader) -> Source:
    lines, roles, notes = reader.log(path, benchmark)
    digest = reader.file_hash(path, benchmark)
    return Source(str(path), list(lines), digest, free=False, roles=roles, notes=notes)


def _table(file: Path, dialect: Dialect) -> Source:
    if not is_file(file) and not file.is_dir():
        raise InputError(f"no file{'' if file.suffix else ' or folder'} at {file}.")
    digest = file_hash(file)
    table = open_table(file, dialect)
    notes = (f"{file.name} holds {table.layout}: each is a row.",) if table.layout else ()
    return Source(str(file), table.lines, digest, dialect=table.dialect, guess=table.guess, notes=notes)
