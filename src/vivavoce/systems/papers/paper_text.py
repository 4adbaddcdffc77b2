"""The text of a paper with pages and lines, in each of the orders that its columns may be read in."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import ExtraError, InputError
from vivavoce.core.tables import is_file
from vivavoce.core.text import is_blank
from vivavoce.retrieval.documents import Unusable
from vivavoce.retrieval.extraction import decoded, plain
from vivavoce.retrieval.folder import MOST_BYTES
from vivavoce.retrieval.reader_process import FileReader

_NUMBER_ALONE = re.compile(r"\s*\d{1,4}\s*")
_HALVES = re.compile(r"(.*?\S)?(\s{3,})(\S.*)")
_MOST_TEXT, _MOST_PAGES = 5_000_000, 2_000
"""Bytes of a text, and pages of any paper, above which it is none."""
_RIGHT = 20
"""Blanks at the beginning of a line that stands in the right column alone."""


class Place(NamedTuple):
    """Where a text begins: the page, null in a text without pages, and the line on it, from 1."""

    page: int | None
    line: int | None

    def __str__(self) -> str:
        return f"line {self.line}" if self.page is None else f"page {self.page}, line {self.line}"


class Line(NamedTuple):
    """A line, and where it stands."""

    text: str
    place: Place


class PaperText:
    """Lines in one order, as one text."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self.text = "\n".join(line.text for line in lines)
        self._starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0))

    def place(self, offset: int) -> Place:
        """Where the sign at an offset stands."""
        return self._lines[bisect_right(self._starts, offset) - 1].place


def read_paper(path: Path) -> Iterator[PaperText]:
    """The paper in every order in which it may be read, the likeliest first.

    Raises `InputError` where it is no text or PDF, and `ExtraError` where no package reads it.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder: give the paper as a PDF or as its text.")
    if not is_file(path):
        raise InputError(f"no file {path}: give the paper as a PDF or as its text.")
    most = MOST_BYTES if path.suffix.lower() == ".pdf" else _MOST_TEXT
    if path.stat().st_size > most:
        raise InputError(f"{path} has more than {most:,} bytes: no paper is so long.")
    for pages in _readings(path):
        if len(pages) > _MOST_PAGES:
            raise InputError(f"{path} has more than {_MOST_PAGES:,} pages: no paper is so long.")
        yield from map(PaperText, _orders(pages))


def _orders(pages: Sequence[str]) -> Iterator[Sequence[Line]]:
    """The lines as they come, then without numbers of pages, headers and footers, then column by column."""
    lines = [
        Line(text, Place(number if len(pages) > 1 else None, k))
        for number, page in enumerate(pages, 1)
        for k, text in enumerate(page.split("\n"), 1)
    ]
    unnumbered = [line for line in lines if not _NUMBER_ALONE.fullmatch(line.text)]
    yield lines
    yield unnumbered
    if len(pages) > 1:
        yield from (_without_edges(unnumbered, edges) for edges in ((0,), (-1,), (0, -1)))
    yield _by_column(unnumbered)


def _readings(path: Path) -> Iterator[Sequence[str]]:
    """The pages of a text; of a PDF as its columns are placed, then in the file's own order."""
    if path.suffix.lower() != ".pdf":
        try:
            yield [plain(page) for page in decoded(path).split("\f", _MOST_PAGES)]
        except Unusable as error:
            raise InputError(f"{path}: {error}. Give the paper as a PDF or as its text.") from None
        return
    faults: list[Exception] = []
    with FileReader() as reader:
        for kind in ("columns", "pdf"):
            try:
                yield reader.document(path, path.name, kind)[0].texts
            except (Unusable, ExtraError) as error:
                faults.append(error)
    if len(faults) > 1:
        missing = [fault for fault in faults if isinstance(fault, ExtraError)]
        raise missing[0] if missing else InputError(f"{path}: {faults[0]}.")


def _without_edges(lines: Sequence[Line], places: Sequence[int]) -> list[Line]:
    """The lines without the first or last of each page, which may be a header or a footer."""
    full = [line for line in lines if not is_blank(line.text)]
    pages = [[*page] for _, page in groupby(full, key=lambda line: line.place.page)]
    edges = {page[k].place for page in pages for k in places}
    return [line for line in lines if line.place not in edges]


def _by_column(lines: Sequence[Line]) -> list[Line]:
    """The left halves of each page's lines, then the right ones; a gap of blanks parts them."""
    ordered: list[Line] = []
    right: list[Line] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        halves = _HALVES.fullmatch(line.text)
        if halves and (halves[1] or len(halves[2]) >= _RIGHT):
            ordered.append(line._replace(text=halves[1] or ""))
            right.append(line._replace(text=halves[3]))
        else:
            ordered.append(line)
        if following is None or following.place.page != line.place.page:
            ordered += right
            right = []
    return ordered
