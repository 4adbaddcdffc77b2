"""Readers of recorded responses: tables of ours or others, and the log files of other tools."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, dataclass_transform

from vivavoce.benchmarks import Loaded
from vivavoce.core import index, registry
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.records import Role
from vivavoce.core.tables import Line, read_lines


class Log(NamedTuple):
    """What a reader read: rows, the parts that candidates play, and sentences on what the files lack."""

    lines: Iterable[Line]
    roles: Mapping[str, Role] = {}
    notes: tuple[str, ...] = ()


@dataclass_transform(frozen_default=True, kw_only_default=True)
class LogReader(ABC):
    """Reads the files of another tool for `viva import`; register a subclass with `@log_reader("name")`."""

    @abstractmethod
    def accepts(self, path: Path, benchmark: Loaded) -> bool:
        """Whether this reader knows the file or folder at `path`, whose items are those of `benchmark`."""

    @abstractmethod
    def lines(self, path: Path, benchmark: Loaded) -> Iterable[Line]:
        """The rows, each with where it stands: `item`, `candidate`, `text`, and any other column of ours.

        Raise `InputError` where a row cannot be read, with the file, the place and what to do.
        """

    def log(self, path: Path, benchmark: Loaded) -> Log:
        """The rows of `lines`; with them, where the files tell, which candidates are a floor or a ceiling."""
        return Log(self.lines(path, benchmark))

    def file_hash(self, path: Path, benchmark: Loaded) -> str:
        """The hash of what was read, which goes into the run's provenance."""
        return file_hash(path)


class TableReader(LogReader):
    """Reads .jsonl, .csv, .tsv and .parquet files: what no other reader accepts."""

    def accepts(self, path: Path, benchmark: Loaded) -> bool:
        """Any file."""
        return True

    def lines(self, path: Path, benchmark: Loaded) -> Iterable[Line]:
        """The rows of the table as they are; the user names columns with `--map`."""
        return read_lines(path)


def reader_entries() -> list[registry.Entry]:
    """Every registered reader of logs, by name; of the package no module is imported that registers none."""
    for name in index.member_modules().get("log_reader", {}):
        registry.member("log_reader", name)
    return registry.entries("log_reader", walk=False)


def reader_of(path: Path, benchmark: Loaded) -> LogReader:
    """The first registered reader that accepts the path, and the reader of tables if there is none.

    Plugins are asked first: a reader that ships may accept every folder.
    """
    entries = sorted(reader_entries(), key=lambda entry: entry.origin == "vivavoce")
    readers: list[LogReader] = [entry.cls() for entry in entries]
    return next((reader for reader in readers if reader.accepts(path, benchmark)), TableReader())
