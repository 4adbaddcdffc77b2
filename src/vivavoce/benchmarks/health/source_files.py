"""Reading of published files: find them in a folder, take their rows, and say why a row is no item."""

import hashlib
import math
import unicodedata
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.benchmarks import Benchmark, item_or_exclusion
from vivavoce.core.errors import InputError, RowError, suggest
from vivavoce.core.json_text import read_json_file
from vivavoce.core.records import Exclusion, Item
from vivavoce.core.tables import Line, read_lines
from vivavoce.core.text import LONGEST, is_blank

DECODING: Mapping[str, Any] = {"temperature": 0, "max_tokens": 256, "stop": ("\n\n",), "chat_template": False}
"""How the healthcare suite of Arias-Duart et al. (2025) was asked: greedily, up to a blank line."""


class SourceLine(NamedTuple):
    """A row of a published file: the file's name, the row's number or id there, and its fields by column."""

    file: str
    number: int | str
    row: Mapping[str, Any]

    def fault(self, reason: str) -> RowError:
        """The error for a row that can be no item; `reason` holds no text of the row, so that it counts."""
        return RowError(f"{self.file}, row {self.number}: {reason}.", reason)

    def text(self, column: str) -> str:
        """The text in a column, as it stands there. Raises `RowError` where there is none, or it is blank."""
        value = self.row.get(column)
        if _is_null(value):
            raise self.fault(f"{column} is null")
        if not isinstance(value, str):
            raise self.fault(f"{column} is no text")
        return self._usable(column, value)

    def _usable(self, name: str, text: str) -> str:
        if not any(unicodedata.category(sign)[0] in "LNSP" for sign in text):
            raise self.fault(f"{name} is empty")
        if "\0" in text:  # a damaged file, and what programs in C take for the end of a text
            raise self.fault(f"{name} holds a NUL")
        if len(text) > LONGEST:
            raise self.fault(f"{name} has over {LONGEST:,} characters")
        return text

    def reference(self, text: str, question: str) -> tuple[str]:
        """The only reference of an open item. Raises `RowError` for what is asked, and for no usable text."""
        if text.strip() == question.strip():
            raise self.fault("the reference is what is asked")
        if is_blank(text):  # an option may be a sign alone, an answer in words not
            raise self.fault("the reference is empty")
        return (self._usable("the reference", text),)

    def options(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The texts as options, as they are. Raises `RowError` where two differ in white space alone."""
        options = tuple(texts)
        if len({" ".join(text.split()) for text in options}) < len(options):
            raise self.fault("two options are equal")
        return options

    def texts(self, column: str) -> tuple[str, ...]:
        """The texts of a list. Raises `RowError` for another value; the list may be empty."""
        value = self.row.get(column)
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.fault(f"{column} is null" if _is_null(value) else f"{column} is no list of texts")
        return tuple(value)

    def optional(self, column: str) -> str | None:
        """The trimmed text in a column, or a number as text; null where the column or its content is missing.

        Raises `RowError` for a list and the like.
        """
        value = self.row.get(column)
        if _is_null(value):
            return None
        if isinstance(value, str):
            return value.strip() or None
        if not isinstance(value, int | float):
            raise self.fault(f"{column} is no text")
        number = _as_integer(value)
        return str(value if number is None else number)

    def integer(self, column: str, low: int, high: int) -> int:
        """The whole number in a column, also written 2.0 or as text. Raises `RowError` for another value."""
        value = self.row.get(column)
        name = column or "the row number"
        if _is_null(value) or value == "":
            raise self.fault(f"{name} is null")
        number = _as_integer(value)
        if number is None:
            raise self.fault(f"{name} is no whole number")
        if not low <= number <= high:
            raise self.fault(f"{name} is not from {low} to {high}")
        return number


def _is_null(value: Any) -> bool:
    """True for null, and for the NaN that tables of numbers write for it."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _as_integer(value: Any) -> int | None:
    """The whole number that a value is or writes, else null."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() else None


@dataclass(frozen=True, kw_only=True)
class SourceFolder(Benchmark):
    """A benchmark read from `data`, the folder that holds its files as they were published."""

    data: Path

    @property
    @abstractmethod
    def files(self) -> tuple[Path, ...]:
        """The files that its items are read from. Raises `InputError` where one of them is missing."""

    @property
    def extra_files(self) -> tuple[Path, ...]:
        """The same, or none where one is missing: a card can be shown without its data."""
        try:
            return self.files
        except InputError:
            return ()


def find_file(benchmark: str, data: Path, *names: str) -> Path:
    """The first of these files that lies in the folder; a name may be a glob, as `data/test-*.parquet`.

    Raises `InputError` where there is none, or a glob fits several: parts of a split would be lost.
    """
    path = optional_file(benchmark, data, *names)
    if path is None:
        place = f"in {data}" if data.is_dir() else f"to read: there is no folder at {data}"
        raise InputError(
            f"{benchmark}: no {' or '.join(names)} {place}: data= names the folder that holds it."
        )
    return path


def optional_file(benchmark: str, data: Path, *names: str) -> Path | None:
    """As `find_file`, and null where there is none."""
    try:
        for name in names:
            paths = sorted(path for path in data.glob(name) if path.is_file())
            if len(paths) > 1:
                raise InputError(f"{benchmark}: {len(paths)} files in {data} are named {name}: keep one.")
            if paths:
                return paths[0]
    except OSError as error:
        raise InputError(f"{benchmark}: cannot read {data}: {error.strerror or error}.") from error
    return None


def read_source(path: Path, *needed: str, inside: str | None = None) -> Iterator[SourceLine]:
    """The rows of a csv, tsv, json, jsonl or parquet file.

    A .json file may also be one object that holds the list of rows under the name `inside`. Raises
    `InputError` where the first row lacks a column of `needed`, and as `core.tables.read_lines` does.
    """
    lines = _lines_inside(path, inside) if inside else None
    for k, line in enumerate(read_lines(path) if lines is None else lines):
        if k == 0:
            check_columns(path, line.row, needed)
        # 'path, line 7', 'path, entry 7' or 'path, row 7'
        yield SourceLine(path.name, int(line.where.rpartition(" ")[2]), line.row)


def _lines_inside(path: Path, name: str) -> Iterator[Line] | None:
    """The rows in the list `name` of a file that is one JSON object; null for any other file."""
    content = None
    with suppress(InputError):  # JSON lines, or what `read_lines` says of it
        content = read_json_file(path) if path.suffix.lower() == ".json" else None
    rows = content.get(name) if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return (Line(f"{path}, entry {number}", row) for number, row in enumerate(rows, 1))


def check_columns(path: Path, row: Mapping[str, Any], needed: Iterable[str]) -> None:
    """Raise `InputError` where a row lacks a column."""
    missing = [name for name in needed if name not in row]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}.{suggest(missing[0], list(row))}")


def refuse_other_base(path: Path, lines: Iterable[SourceLine], column: str, base: Literal[0, 1]) -> None:
    """Raise `InputError` where a column of keys from A to D does not count from the base of its layout.

    A copy of the data that counts otherwise would otherwise shift every key by one option.
    """
    contradiction = 4 if base == 0 else 0
    if any(_as_integer(line.row.get(column)) == contradiction for line in lines):
        raise InputError(
            f"{path}: {column} holds {contradiction}, and files of this layout count options from {base}: "
            f"take the published file."
        )


def items_of(
    lines: Iterable[SourceLine], make_item: Callable[[SourceLine], Item]
) -> Iterator[Item | Exclusion]:
    """The item that `make_item` makes of each row, or why the row is left out.

    Rows are left out where `make_item` raises `RowError`, where the item's format cannot use it, and where an
    earlier row bears its id. Of rows that ask one closed question with different keys, none stays.
    """
    outcomes = [(line, _item_of(line, make_item)) for line in lines]
    items = [item for _, item in outcomes if isinstance(item, Item)]
    first: dict[str, Item] = {}
    for item in items:
        first.setdefault(item.item, item)
    disputed = {item.item for item in items if _contradicts(item, first[item.item])}
    for line, outcome in outcomes:
        reason = _conflict(outcome, first, disputed) if isinstance(outcome, Item) else ""
        yield Exclusion(line.file, line.number, reason) if reason else outcome


def _contradicts(item: Item, first: Item) -> bool:
    """True if both ask one question and have different keys."""
    content = (item.question, item.context, item.options)
    return item.answer != first.answer and content == (first.question, first.context, first.options)


def _conflict(item: Item, first: Mapping[str, Item], disputed: Collection[str]) -> str:
    """Why an item cannot stay beside those of its id; '' if it can."""
    if item.item in disputed:
        return "rows with one question have different keys"
    if first[item.item] is item:
        return ""
    return (
        "it repeats an earlier row"
        if item.hash == first[item.item].hash
        else "an earlier row bears the same id"
    )


def _item_of(line: SourceLine, make_item: Callable[[SourceLine], Item]) -> Item | Exclusion:
    try:
        return item_or_exclusion(make_item(line), file=line.file, row=line.number)
    except RowError as error:
        return Exclusion(line.file, line.number, error.reason)


def content_id(*texts: str) -> str:
    """First 12 hex digits of SHA-256 over the texts, such as question and context, as they are."""
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
