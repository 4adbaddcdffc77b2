"""The key of an examination paper: a table of numbers and right options, as a ministry publishes it.

A table is a file with a column of numbers and one of keys, perhaps several times side by side (`V;RC;V;RC`),
or a PDF of such columns.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from vivavoce.benchmarks.column_names import folded
from vivavoce.core.delimited import delimited_rows, delimiter_of
from vivavoce.core.encodings import encoding_of
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, is_file, open_table
from vivavoce.core.text import one_line

_NUMBER_WORDS = """
number question question_no question_number no n num item id q v v0 version_0
pregunta numero nº número p preg n_pregunta nº_pregunta num_pregunta numero_pregunta numero_de_pregunta
frage nr fragenummer domanda questao questao_no numero_da_questao
"""
_NUMBER_COLUMNS = frozenset(_NUMBER_WORDS.split())
_KEY_COLUMNS = (
    *("answer", "key", "correct", "correct_answer", "correct_option", "solution", "ans"),
    *("respuesta", "clave", "rc", "correcta", "respuesta_correcta", "opcion_correcta", "solucion", "resp"),
    *(
        "losung",
        "antwort",
        "richtige_antwort",
        "bonne_reponse",
        "reponse",
        "risposta",
        "gabarito",
        "resposta",
    ),
)
_ANNULLED = frozenset(
    ["", "-", "–", "x", "anulada", "anul", "annulled", "impugnada", "void", "cancelled", "null", "none"]
)
_TOKEN = re.compile(r"(\d{1,3})[.):]?|([A-Ha-h])[.)]?|(anulada|anul|annulled|impugnada|[-–xX])")
_FEWEST = 2
"""Numbers in a row that are a column of numbers."""


class _Entry(NamedTuple):
    """The number of a question and its key as they are written, and where."""

    place: str
    number: str
    key: str


def read_keys(path: Path, n_options: int, pages: Sequence[str] | None = None) -> dict[int, int | None]:
    """The right option by number of question, counted from 1; null where it is annulled.

    `pages` are the texts of a key in PDF. Raises `InputError` for a table without numbers or keys, a number
    that stands there twice, and a key that names no option.
    """
    keys: dict[int, int | None] = {}
    for place, number_text, key in _entries(path) if pages is None else _of_pages(path, pages):
        if not re.fullmatch(r"\d{1,3}(?:\.0)?", number_text):
            raise InputError(f"{place}: {one_line(number_text, 20)!r} is no number of a question.")
        number = int(float(number_text))
        if number in keys:
            raise InputError(f"{place}: the question {number} stands there twice.")
        keys[number] = _option(key, n_options, place)
    if not keys:
        raise InputError(f"{path} holds no key.")
    return keys


def _entries(path: Path) -> Iterator[_Entry]:
    """The rows of a table, of tables side by side those of each in turn."""
    rows = _text_rows(path)
    pairs = _side_by_side(path, [folded(name) for name in rows[0][1]]) if rows else []
    if not pairs:
        yield from (_of_row(line, path) for line in open_table(path).lines)
    for (number, key), (line, row) in product(pairs, rows[1:]):
        if len(row) > key and row[number].strip():
            yield _Entry(f"{path}, line {line}", row[number].strip(), row[key].strip())


def _text_rows(path: Path) -> list[tuple[int, list[str]]]:
    """The rows of a delimited text file; none of another file."""
    if path.suffix.lower() not in (".csv", ".tsv", ".txt") or not is_file(path):
        return []
    codec = encoding_of(path).codec
    return list(delimited_rows(path, codec, delimiter_of(path, codec)))


def _side_by_side(path: Path, header: Sequence[str]) -> list[tuple[int, int]]:
    """The places of each column of numbers and of its keys, where there are several of one name.

    Raises `InputError` for several of different names, which are versions of a paper.
    """
    numbers = [k for k, name in enumerate(header) if name in _NUMBER_COLUMNS]
    keys = [k for k, name in enumerate(header) if name in _KEY_COLUMNS]
    if len(keys) < _FEWEST or len(numbers) != len(keys) or any(map(int.__gt__, numbers, keys)):
        return []
    names = list(dict.fromkeys(header[number] for number in numbers))
    if len(names) > 1:
        raise InputError(
            f"{path}: it has keys of several versions ({', '.join(names)}): keep the two columns of one."
        )
    return list(zip(numbers, keys, strict=True))


def _of_row(line: Line, path: Path) -> _Entry:
    columns = {folded(str(name)): value for name, value in line.row.items()}
    number = next((columns[name] for name in columns if name in _NUMBER_COLUMNS), None)
    answers = [columns[name] for name in _KEY_COLUMNS if name in columns]
    if number is None or not answers:
        raise InputError(f"{path}: columns number and answer are needed; it has {', '.join(columns)}.")
    return _Entry(line.where, str(number).strip(), str("" if answers[0] is None else answers[0]).strip())


def _of_pages(path: Path, pages: Sequence[str]) -> Iterator[_Entry]:
    """The pairs of a PDF: a number and its key on a line, or a column of numbers and one of as many keys.

    Lines with other words are heads, and no pairs.
    """
    for page, text in enumerate(pages, 1):
        place, column = f"{path}, page {page}", list[str]()
        for line in text.split("\n"):
            words = line.split()
            tokens = [match for word in words if (match := _TOKEN.fullmatch(word))]
            if not words or len(tokens) < len(words):
                continue
            values = [next(filter(None, token.groups())) for token in tokens]
            if len(values) % 2:
                column += values
            else:
                yield from (
                    _Entry(place, number, key) for number, key in zip(values[::2], values[1::2], strict=True)
                )
        yield from _of_columns(column, place)


def _of_columns(values: Sequence[str], place: str) -> Iterator[_Entry]:
    """Columns of numbers in a row, each with as many keys behind it.

    Raises `InputError` where there are fewer: an empty cell leaves no trace, and which one is it?
    """
    start = 0
    while start < len(values):
        end = start + 1
        while end < len(values) and values[end].isdigit() and _follows(values[end - 1], values[end]):
            end += 1
        numbers, keys = values[start:end], values[end : 2 * end - start]
        if len(numbers) >= _FEWEST and len(keys) < len(numbers):
            raise InputError(
                f"{place}: {len(numbers)} numbers from {numbers[0]} and {len(keys)} keys behind them: write "
                "the key as a table number,answer."
            )
        if len(numbers) >= _FEWEST:
            yield from (_Entry(place, number, key) for number, key in zip(numbers, keys, strict=True))
            end += len(keys)
        start = end


def _follows(number: str, following: str) -> bool:
    return number.isdigit() and int(following) == int(number) + 1


def _option(word: str, n_options: int, place: str) -> int | None:
    if word.casefold() in _ANNULLED:
        return None
    option = (
        int(float(word))
        if re.fullmatch(r"\d(?:\.0)?", word)
        else ord(word.upper()) - 64
        if len(word) == 1
        else 0
    )
    if not 1 <= option <= n_options:
        raise InputError(f"{place}: the key {one_line(word, 20)!r} names none of {n_options} options.")
    return option
