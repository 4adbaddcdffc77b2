"""The folder of an export for another tool: its files, what was left out of them, and a README.txt."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from vivavoce.core.private_files import new_text, private_folder, write_private
from vivavoce.run.exchange.export_folder import LEFT_OUT, MADE_BY, README, export_folder
from vivavoce.store.runfile import RunFile

HIDDEN = "Texts of questions, answers and notes are replaced by marks."
_ALWAYS = f"""
{LEFT_OUT}: what is in no file, by reason, and the files that were written
"""


_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What some readers end a line at, and other controls that JSON lets stand."""


class FileWritten(NamedTuple):
    """A file that was written: its benchmark and candidate ('' for none), its rows and size.

    `left_out` counts by reason what is in no file; it stands with the first.
    """

    benchmark: str
    candidate: str
    rows: int
    bytes: int
    path: Path
    left_out: Mapping[str, int] = {}


class ExportedFiles:
    """The files of an export, in a folder that takes its place once all are written."""

    def __init__(self, folder: Path, to: Path) -> None:
        self.folder, self._to = folder, to
        self.left_out: Counter[str] = Counter()
        self._written: dict[str, FileWritten] = {}

    def new(self, name: str) -> Path:
        """The path of a new file of that name, which may lead into folders."""
        path = self.folder / name
        private_folder(path.parent)
        return path

    def unused(self, stem: str, *ends: str) -> str:
        """The stem, with a number where a file of that name and one of these ends is there already."""
        names = (f"{stem}-{n}" if n > 1 else stem for n in count(1))
        return next(n for n in names if not any((self.folder / f"{n}{end}").exists() for end in ends))

    @contextmanager
    def text(self, name: str) -> Iterator[TextIO]:
        """A new file of that name, open for text."""
        with new_text(self.new(name)) as stream:
            yield stream

    def add(self, name: str, rows: int, benchmark: str = "", candidate: str = "") -> None:
        """Count a file that is written."""
        size = (self.folder / name).stat().st_size
        self._written[name] = FileWritten(benchmark, candidate, rows, size, self._to / name)

    @property
    def written(self) -> tuple[FileWritten, ...]:
        """What was written, and with the first file what was left out."""
        first, *others = self._written.values()
        return (first._replace(left_out=self.counts), *others)

    @property
    def counts(self) -> dict[str, int]:
        """How much was left out, by reason."""
        return {reason: n for reason, n in sorted(self.left_out.items()) if n}

    @property
    def is_empty(self) -> bool:
        """Whether there is no file yet."""
        return not self._written

    def close(self, run: RunFile, about: str) -> None:
        """Write what was left out, and the README.txt."""
        body = {"left_out": self.counts, "files": sorted(self._written)}
        write_private(self.folder / LEFT_OUT, json.dumps(body, ensure_ascii=False, indent=1) + "\n")
        write_private(self.folder / README, f"{MADE_BY}: {run.path.name}\n{about}{_ALWAYS}")


@contextmanager
def exported_files(to: Path, run: RunFile, about: str) -> Iterator[ExportedFiles]:
    """The files of an export to `to`. Raises `StoreError` where something else lies there."""
    with export_folder(to, run, None) as folder:
        files = ExportedFiles(folder, to)
        yield files
        files.close(run, about)


def json_text(value: Any) -> str:
    """A value as JSON, on one line for every reader; NaN where a tool takes it so."""
    return _LINE_ENDS.sub(lambda end: f"\\u{ord(end[0]):04x}", json.dumps(value, ensure_ascii=False))
