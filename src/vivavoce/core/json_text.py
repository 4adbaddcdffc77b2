"""JSON of other people's files: only what we can keep, else one sentence, whatever the text is."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

MOST_LEVELS = 100

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_Pairs = Callable[[list[tuple[str, Any]]], Any]


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON number; write null where there is none")


def finite_number(word: str) -> float:
    """The number of a word. Raises `ValueError` where it is larger than any number can be."""
    number = float(word)
    if math.isinf(number):
        raise ValueError(f"{one_line(word, 20)} is larger than any number can be")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=finite_number)


# Other tools write NaN for a number that they lack; whoever reads it says what that means.
NAN_DECODER = json.JSONDecoder(parse_float=finite_number)


def _null_for_nan(word: str) -> None:
    return None if word == "NaN" else _no_number(word)


# Python and pandas write NaN for a cell that holds nothing.
_NULL_DECODER = json.JSONDecoder(parse_constant=_null_for_nan, parse_float=finite_number)


def read_json(text: str, pairs: _Pairs | None = None, *, nan: bool = False, nan_is_null: bool = False) -> Any:
    """The value that a JSON text stands for; `pairs` makes of an object's pairs what stands for it.

    With `nan` the word NaN is a float that is no number, with `nan_is_null` it is null.

    Raises `ValueError` with a clause that says what is wrong: no JSON, NaN, a number that is not finite or of
    thousands of digits, more than 100 levels, an escape that gives half of a character.
    """
    try:
        plain = NAN_DECODER if nan else _NULL_DECODER if nan_is_null else _DECODER
        decoder = plain if pairs is None else json.JSONDecoder(
            parse_constant=_no_number, parse_float=finite_number, object_pairs_hook=pairs
        )  # fmt: skip
        value = decoder.decode(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except ValueError as error:
        if str(error).startswith("Exceeds the limit"):  # Python's words, which advise to raise the limit
            raise ValueError("a number has thousands of digits") from None
        raise
    check_value(value, text)
    return value


def check_value(value: Any, text: str) -> None:
    """Raise `ValueError` for a value, read from `text`, that could not be written and read again."""
    if "\\u" in text and _SURROGATE.search(
        text
    ):  # half of a pair can be written in JSON, but is no character
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("a \\u escape gives half of a character") from None
        except RecursionError:
            raise ValueError(TOO_DEEP) from None
    # What is read here is written and read again from deeper in the program.
    if text.count("[") + text.count("{") > MOST_LEVELS and _is_deep(value):
        raise ValueError(TOO_DEEP)


TOO_DEEP = f"more than {MOST_LEVELS} levels of lists and objects"


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_LEVELS):
        level = [
            entry
            for outer in level
            if isinstance(outer, list | dict)
            for entry in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(entry, list | dict)
        ]
        if not level:
            return False
    return True


def read_json_file(path: Path) -> Any:
    """What a JSON file holds. Raises `InputError` where it cannot be read, and as `read_json`."""
    try:
        return read_json(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None
    except ValueError as error:
        raise InputError(f"{path}: broken JSON ({one_line(str(error), 100)}).") from None
