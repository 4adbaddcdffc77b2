"""JSON of other people's files: only what we can keep, else one sentence, whatever the text is."""

import json
import math
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

MOST_LEVELS = 100

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no JSON number; write null where there is none")


def finite_number(word: str) -> float:
    """The number of a word. Raises `ValueError` where it is larger than any number can be."""
    number = float(word)
    if math.isinf(number):
        raise ValueError(f"{one_line(word, 20)} is larger than any number can be")
    return number


_TWICE = "stands there twice"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs. Raises `ValueError` for a key that stands there twice: which is meant?"""
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for number, key in enumerate(keys) if key in keys[:number])
        raise ValueError(f"the key {one_line(repr(twice), 60)} {_TWICE}")
    return value


class Decoder(json.JSONDecoder):
    """Python's decoder of JSON, without numbers that are not finite and keys that stand twice.

    `json.loads(…, cls=Decoder)` reads what a program answers, where NaN is a float that is no number; with
    `parse_float=float` a number beyond floats is infinite, as in fields that nobody reads.
    """

    def __init__(
        self,
        *,
        parse_constant: Callable[[str], Any] | None = None,
        parse_float: Callable[[str], float] = finite_number,
    ) -> None:
        super().__init__(parse_constant=parse_constant, parse_float=parse_float, object_pairs_hook=_object)


_DECODER = Decoder(parse_constant=_no_number)


# Other tools write NaN for a number that they lack; whoever reads it says what that means.
NAN_DECODER = Decoder()


def _null_for_nan(word: str) -> None:
    return None if word == "NaN" else _no_number(word)


# Python and pandas write NaN for a cell that holds nothing.
_NULL_DECODER = Decoder(parse_constant=_null_for_nan)


def read_json(text: str, *, nan: bool = False, nan_is_null: bool = False) -> Any:
    """The value that a JSON text stands for.

    With `nan` the word NaN is a float that is no number, with `nan_is_null` it is null.

    Raises `ValueError` with a clause that says what is wrong: no JSON, a key that stands twice in an object
    (with the line where the object begins), NaN, a number that is not finite or of thousands of digits, more
    than 100 levels, an escape that gives a NUL or half of a character.
    """
    try:
        value = (NAN_DECODER if nan else _NULL_DECODER if nan_is_null else _DECODER).decode(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except ValueError as error:
        if str(error).startswith("Exceeds the limit"):  # Python's words, which advise to raise the limit
            raise ValueError("a number has thousands of digits") from None
        if str(error).endswith(_TWICE) and "\n" in text:
            raise json.JSONDecodeError(str(error), text, _place_of_twice(text)) from None
        raise
    check_value(value, text)
    return value


def _place_of_twice(text: str) -> int:
    """Where the object begins in which a key stands twice: the C decoder does not say."""
    begun: list[int] = []
    module: Any = json

    def parse(start: tuple[str, int], *settings: Any) -> Any:
        begun.append(start[1] - 1)
        value = module.decoder.JSONObject(start, *settings)
        begun.pop()
        return value

    decoder: Any = json.JSONDecoder(object_pairs_hook=_object)
    decoder.parse_object = parse
    with suppress(ValueError, RecursionError):
        module.scanner.py_make_scanner(decoder)(text, len(text) - len(text.lstrip()))
    return begun[-1] if begun else 0


def check_value(value: Any, text: str) -> None:
    """Raise `ValueError` for a value, read from `text`, that could not be written and read again."""
    if "\\u0000" in text and _NUL.search(text):
        raise ValueError("a \\u escape gives a NUL, which no text holds")
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
