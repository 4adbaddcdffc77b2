"""What an import reads: a file, another tool's results, or data in memory, as rows with a name and a hash."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks import Loaded
from vivavoce.core.errors import InputError
from vivavoce.core.frames import data_lines
from vivavoce.core.registry import file_hash
from vivavoce.core.tables import Line, is_file, read_lines
from vivavoce.pipeline.exchange.log_readers import TableReader, reader_of

Data = Any
"""A path, or rows in memory: a Polars or pandas frame, a list of dicts, a dict of columns, a data set."""


class Source(NamedTuple):
    """Rows to import, the name of what they are from, and the first 8 hex digits of its hash.

    `free` is whether its columns may have any names, and are to be matched; the log of another tool comes
    under ours. `in_memory` is whether they are from no file: a number may then stand for its text.
    """

    name: str
    lines: Sequence[Line]
    hash: str
    free: bool = True
    in_memory: bool = False

    @contextmanager
    def named(self) -> Iterator[None]:
        """Put the name before the sentence of an `InputError` raised inside."""
        try:
            yield
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None


def read_source(data: Data, benchmark: Loaded | None) -> Source:
    """The rows of a path or of data in memory.

    The log of another tool is read as such where the `benchmark` is known. Raises `InputError` for what
    cannot be read.
    """
    if not isinstance(data, str | PathLike):
        lines = data_lines(data)
        text = json.dumps([line.row for line in lines], ensure_ascii=False, default=str)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return Source("the data", lines, digest, in_memory=True)
    file = Path(data)
    if not is_file(file) and not file.is_dir():
        raise InputError(f"no file{'' if file.suffix else ' or folder'} at {file}.")
    if benchmark is None:
        return Source(str(file), list(read_lines(file)), file_hash(file))
    reader = reader_of(file, benchmark)
    lines = list(reader.lines(file, benchmark))
    return Source(str(file), lines, reader.file_hash(file, benchmark), free=isinstance(reader, TableReader))


def default_name(data: Data) -> str:
    """The name of a benchmark whose questions came from these data: the file's stem, else `exam`."""
    return Path(data).stem if isinstance(data, str | PathLike) else "exam"
