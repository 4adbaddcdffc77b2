"""A sheet of an Excel workbook as the texts that a CSV saved of it would hold. Needs the extra `excel`.

openpyxl reads the cells: 3 MB of Python with one small dependency, where `fastexcel` is 16 MB of machine
code that guesses a type for each column. What a file may unpack to is limited before it is parsed.
"""

import datetime
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, iterparse

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.extras import import_extra
from vivavoce.core.text import one_line

MOST_UNPACKED = 200_000_000
"""Bytes of a workbook when unpacked: a million cells of text."""
_MOST_ROWS = 1_048_576
_MOST_CELLS = 10_000_000
_MOST_MERGED = 100_000


class Sheet(NamedTuple):
    """The name of a sheet, and its rows that hold something: each with its number, and all of one width."""

    name: str
    rows: Iterator[tuple[int, list[str]]]


class _Structure(NamedTuple):
    """What openpyxl does not show of a sheet: merged ranges (row and column of the first and the last cell),
    and the first cell whose formula has no stored value.
    """

    merged: tuple[tuple[int, int, int, int], ...]
    without_value: str | None


def read_sheet(path: Path, name: str | None = None) -> Sheet:
    """The texts of the sheet `name`, by default the first one.

    An empty cell is '', a date ISO text, a whole number has no decimals, a formula is the value that was
    stored last; every cell of a merged range holds the value that is shown over it. Raises `ExtraError`
    without openpyxl, `InputError` for a file that is no workbook or unpacks to more than `MOST_UNPACKED`
    bytes, a sheet that there is not, a formula that was never computed, and a cell that shows an error such
    as #N/A.
    """
    openpyxl = import_extra("openpyxl", extra="excel", user="an Excel file")
    _check_size(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions, which hold no cell
        try:
            with path.open("rb") as stream:  # openpyxl leaves its own open on damage
                book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
                return _sheet(path, book, name)
        except InputError:
            raise
        except Exception as error:  # whatever a damaged workbook sets off in openpyxl
            raise InputError(
                f"{path} cannot be read as a workbook ({type(error).__name__}: {one_line(str(error), 100)})."
            ) from None


def _check_size(path: Path) -> None:
    """Raise `InputError` for what is no zip file, or states that it unpacks to too much.

    A file that states less than it holds is cut there, and fails its checksum.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{path} cannot be read as a workbook ({one_line(str(error), 100)}).") from None
    if unpacked > MOST_UNPACKED:
        raise InputError(
            f"{path} unpacks to {unpacked:,} bytes, and at most {MOST_UNPACKED:,} are read: save the sheet "
            "as CSV."
        )


def _sheet(path: Path, book: Any, name: str | None) -> Sheet:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise InputError(f"{path} has no sheet with cells.")
    if name is not None and name not in sheets:
        raise InputError(f"{path} has no sheet {name!r}.{suggest(name, list(sheets))}")
    sheet = sheets[name] if name is not None else next(iter(sheets.values()))
    place = f"{path}, sheet {sheet.title!r}"
    structure = _structure(path, sheet._worksheet_path, place)  # no public name leads to the part of a sheet
    if structure.without_value:
        raise InputError(
            f"{place}, cell {structure.without_value}: a formula without a stored value: open the workbook "
            "in a spreadsheet program and save it, or save the sheet as CSV."
        )
    sheet.reset_dimensions()  # a file may state any
    cells = sheet.iter_rows(min_row=1, max_row=_MOST_ROWS, min_col=1)
    rows = list(_rows(cells, _Merged(structure.merged), place))
    width = max((len(texts) for _, texts in rows), default=0)
    return Sheet(sheet.title, ((number, texts + [""] * (width - len(texts))) for number, texts in rows))


def _rows(
    rows_of_cells: Iterable[Sequence[Any]], merged: "_Merged", place: str
) -> Iterator[tuple[int, list[str]]]:
    """The rows that hold a text, each as far as its last one."""
    n_cells = 0
    for number, cells in enumerate(rows_of_cells, 1):
        n_cells += len(cells)
        if n_cells > _MOST_CELLS:  # an empty cell far to the right makes a row wide
            raise InputError(f"{place}: more than {_MOST_CELLS:,} cells: save the sheet as CSV.")
        texts = merged.row(number, [_text(cell, f"{place}, row {number}") for cell in cells])
        if any(texts):
            while not texts[-1]:
                texts.pop()
            yield number, texts


def _text(cell: Any, place: str) -> str:
    """A cell as CSV would hold it."""
    value = cell.value
    if cell.data_type == "e":
        raise InputError(f"{place}: a cell shows the error {one_line(str(value), 20)}: correct or empty it.")
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime():
            return value.isoformat(sep=" ")
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), str(value))


class _Merged:
    """The values that are shown over merged ranges, as the rows come."""

    def __init__(self, ranges: tuple[tuple[int, int, int, int], ...]) -> None:
        self.waiting = sorted(ranges, reverse=True)
        self.current: list[tuple[int, int, int, str]] = []
        self.width = 0

    def row(self, number: int, texts: list[str]) -> list[str]:
        """The row with the value of every merged range that covers it, as far as the first row is wide."""
        self.width = self.width or len(texts)
        self.current = [merged for merged in self.current if merged[0] >= number]
        while self.waiting and self.waiting[-1][0] <= number:
            _, start, bottom, end = self.waiting.pop()
            value = texts[start - 1] if start <= len(texts) else ""
            if value:
                self.current.append((bottom, start, end, value))
        for _, start, end, value in self.current:
            end = min(end, self.width)
            texts += [""] * (end - len(texts))
            texts[start - 1 : end] = [value] * (end - start + 1)
        return texts


_ESCAPED = re.compile(r"_x(00[01][0-9A-Fa-f])_")
"""How Excel writes control characters, such as the carriage return of a pasted text."""
_CELL = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})")


def _structure(path: Path, part: str, place: str) -> _Structure:
    merged: list[tuple[int, int, int, int]] = []
    without_value = None
    with zipfile.ZipFile(path) as archive, archive.open(part) as stream:
        for _, element in iterparse(stream):
            tag = element.tag.rpartition("}")[2]
            if tag == "c" and without_value is None and _is_uncomputed(element):
                without_value = element.get("r", "?")
            elif tag == "mergeCell":
                merged.append(_range(element.attrib, place))
            if tag in ("row", "mergeCell"):
                element.clear()
            if len(merged) > _MOST_MERGED:
                raise InputError(f"{place}: more than {_MOST_MERGED:,} merged ranges; save it as CSV.")
    return _Structure(tuple(merged), without_value)


def _is_uncomputed(cell: Element) -> bool:
    """True for a formula whose value was never stored; that of a text may be empty."""
    children = {child.tag.rpartition("}")[2]: child.text for child in cell}
    return "f" in children and not children.get("v") and cell.get("t") != "str"


def _range(attributes: Mapping[str, str], place: str) -> tuple[int, int, int, int]:
    """Row and column of the first and the last cell of a range such as A1:B2."""
    text = attributes.get("ref", "")
    cells = [_CELL.fullmatch(cell) for cell in text.replace("$", "").split(":")]
    if not cells or None in cells:
        raise InputError(f"{place}: {one_line(text, 20)!r} is no range of cells.")
    (top, start), (bottom, end) = (
        (int(cell[2]), _column(cell[1])) for cell in (cells[0], cells[-1]) if cell is not None
    )
    return top, start, bottom, end


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
