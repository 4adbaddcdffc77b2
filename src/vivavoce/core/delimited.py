"""Delimited text: which character divides the columns, and the rows."""

import csv
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.encodings import text_lines
from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
"""By the words that need no quoting in a shell."""
_STATED = re.compile(r"sep=(.)\r?\n?", re.IGNORECASE | re.DOTALL)
_SAMPLE_LINES, _SAMPLE_CHARS = 1000, 1 << 20
_LONGEST_FIELD = 1 << 30
"""The default refuses an answer of more than 131,072 characters."""


class Delimiter(NamedTuple):
    """The character, and whether the file's first line states it as Excel does ('sep=;')."""

    char: str
    in_file: bool = False

    @property
    def word(self) -> str:
        """Its name where it has one."""
        return next((word for word, char in DELIMITERS.items() if char == self.char), repr(self.char))


def delimiter_char(name: str) -> str:
    """The character for a word such as `semicolon`, or for itself. Raises `InputError` for another text."""
    char = DELIMITERS.get(name.strip().lower(), "\t" if name == "\\t" else name)
    if len(char) != 1 or char.isalnum() or char in '"\r\n\0 ':
        raise InputError(
            f"{one_line(name, 20)!r} cannot divide columns: write {', '.join(DELIMITERS)} or one character."
        )
    return char


def with_delimiter(path: Path, codec: str, name: str) -> Delimiter:
    """The delimiter that the user states; a line of the file that states one is none of its rows."""
    first = next((text for _, text in text_lines(path, codec)), "")
    return Delimiter(delimiter_char(name), in_file=_stated_char(first) is not None)


def _stated_char(line: str) -> str | None:
    match = _STATED.fullmatch(line)
    return delimiter_char(match[1]) if match else None


def delimiter_of(path: Path, codec: str) -> Delimiter:
    """The character that divides a file's columns, by its header, and where that leaves two, by its rows.

    A candidate stands in the header outside quotes; one that leaves quotes in the names of columns gives way
    to one that does not. Of several, the one counts by which every row of the first thousand lines has as
    many fields as the header. Without any the file has one column. Raises `InputError` where two of them fit,
    or none of several.
    """
    texts = _sample(path, codec)
    if char := _stated_char(next(iter(texts), "")):
        return Delimiter(char, in_file=True)
    candidates = _candidates(texts) or {"\t" if path.suffix.lower() == ".tsv" else ",": False}
    fitting = [char for char, even in candidates.items() if even or len(candidates) == 1]
    if len(fitting) == 1:
        return Delimiter(fitting[0])
    names = " or ".join(Delimiter(char).word for char in fitting or candidates)
    raise InputError(f"{path}: cannot tell whether {names} divides its columns: state its delimiter.")


def _sample(path: Path, codec: str) -> list[str]:
    texts, chars = [], 0
    for _, text in islice(text_lines(path, codec), _SAMPLE_LINES):
        texts.append(text)
        chars += len(text)
        if chars > _SAMPLE_CHARS:
            break
    return texts


class _Widths(NamedTuple):
    """The number of fields of the header, whether every row of the sample has as many, and whether a name
    holds a quote.
    """

    header: int
    even: bool
    quotes: bool


def _candidates(texts: Sequence[str]) -> dict[str, bool]:
    """The characters that divide the header, and whether each divides all rows as evenly.

    Where some leave no quote in a name, only those.
    """
    widths = {char: _widths(texts, char) for char in DELIMITERS.values()}
    dividing = {char: of_char for char, of_char in widths.items() if of_char.header > 1}
    without_quotes = {char: of_char for char, of_char in dividing.items() if not of_char.quotes}
    return {char: of_char.even for char, of_char in (without_quotes or dividing).items()}


def _widths(texts: Sequence[str], char: str) -> _Widths:
    csv.field_size_limit(_LONGEST_FIELD)
    header: list[str] = []
    even = True
    rows = csv.reader(texts, delimiter=char, strict=True)
    try:
        for row in filter(any, rows):
            header = header or row
            even = even and len(row) == len(header)
    except csv.Error as error:  # the sample may end within quotes
        even = even and rows.line_num == len(texts) and "unexpected end" in str(error)
    return _Widths(len(header), even, any('"' in name for name in header))


def delimited_rows(path: Path, codec: str, delimiter: Delimiter) -> Iterator[tuple[int, list[str]]]:
    """The rows, each with the number of its last line; the line that states the delimiter is left out.

    Raises `InputError` for broken quotes.
    """
    offset = 1 if delimiter.in_file else 0
    texts = (text for _, text in islice(text_lines(path, codec), offset, None))
    rows = csv.reader(texts, delimiter=delimiter.char, strict=True)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        for row in rows:
            yield rows.line_num + offset, row
    except csv.Error as error:
        is_of_mac = "new-line" in str(error)
        reason = "a line end of old Macs, CR alone: save it with LF or CRLF" if is_of_mac else error
        raise InputError(f"{path}, line {rows.line_num + offset}: broken CSV ({reason}).") from None
