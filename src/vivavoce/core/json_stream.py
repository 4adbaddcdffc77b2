"""JSON files of any size, read piece by piece: the members of an object, lists entry by entry, lines.

Python's own decoder reads each piece from a window over the file, so that memory holds the largest piece and
no more.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NoReturn, TextIO

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import NAN_DECODER, TOO_DEEP, check_value, read_json
from vivavoce.core.text import one_line

CHUNK = 1 << 18
"""Characters that are read at a time."""
MOST_CHARACTERS = 1 << 28
"""Characters of the longest piece that is read."""

_BLANKS = re.compile(r"[ \t\r\n]*")
_IN_NUMBERS = re.compile(r"[-+.eE0-9]*")


def members(path: Path, *streamed: str) -> Iterator[tuple[str, Any]]:
    """The members of the object that a JSON file holds: each name with its value.

    The entries of lists under the names in `streamed` come one by one, each with that name; a dot leads into
    an object, as `results.results`, whose members then bear dotted names. NaN is a float
    that is no number. Raises `InputError` with the file and what is wrong: no object, broken or cut JSON, a
    piece of more than `MOST_CHARACTERS`, and what `read_json` refuses.
    """
    with _opened(path) as stream:
        window = _Window(path, stream)
        window.take("{")
        yield from _members(window, streamed, "")


def _members(window: "_Window", streamed: Sequence[str], inside: str) -> Iterator[tuple[str, Any]]:
    """The members of an object whose opening brace is behind us; `inside` is where it stands, with a dot."""
    if window.at("}"):
        return
    names: set[str] = set()
    while True:
        name = inside + window.name(names)
        if name in streamed and window.at("["):
            yield from ((name, entry) for entry in window.entries())
        elif any(path.startswith(f"{name}.") for path in streamed) and window.at("{"):
            yield from _members(window, streamed, f"{name}.")
        else:
            yield name, window.value()
        if not window.at(","):
            window.take("}")
            return


def entries(path: Path) -> Iterator[Any]:
    """The entries of the list that a JSON file holds. Raises `InputError` as `members`."""
    with _opened(path) as stream:
        window = _Window(path, stream)
        window.take("[")
        yield from window.entries()


def lines(path: Path) -> Iterator[tuple[int, Any]]:
    """The values of a file of JSON lines, each with the number of its line, blank lines left out.

    Raises `InputError` as `members`, with the line.
    """
    try:
        with path.open("rb") as stream:
            for number in count(1):
                raw = stream.readline(MOST_CHARACTERS + 1)
                if not raw:
                    return
                if raw.strip():
                    yield number, _line(path, number, raw)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None


def _line(path: Path, number: int, raw: bytes) -> Any:
    """The value in a line. Raises `InputError` for one too long, of another encoding, or no JSON."""
    if len(raw) > MOST_CHARACTERS:
        raise InputError(
            f"{path}, line {number}: it has more than {MOST_CHARACTERS:,} bytes, and none so long is read."
        )
    try:
        return read_json(raw.decode("utf-8-sig" if number == 1 else "utf-8"), nan=True)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}: no UTF-8 text ({error.reason}).") from None
    except ValueError as error:
        raise InputError(f"{path}, line {number}: broken JSON ({one_line(str(error), 100)}).") from None


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from None


class _Window:
    """The part of a file that is in memory, and how far it was read."""

    def __init__(self, path: Path, stream: TextIO) -> None:
        self.path, self.stream = path, stream
        self.text, self.place, self.before, self.ended = "", 0, 0, False

    def refuse(self, why: str) -> NoReturn:
        """Raise the error for this place."""
        raise InputError(f"{self.path}, character {self.before + self.place + 1:,}: broken JSON ({why}).")

    def fill(self, characters: int = 0) -> None:
        """Drop what was read, and read on: this many characters, a chunk at least."""
        self.before += self.place
        self.text, self.place = self.text[self.place :], 0
        if len(self.text) > MOST_CHARACTERS:
            raise InputError(
                f"{self.path}, character {self.before + 1:,}: a single entry has more than "
                f"{MOST_CHARACTERS:,} characters, and none so long is read."
            )
        try:
            more = self.stream.read(min(max(CHUNK, characters), MOST_CHARACTERS + 1))
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path} is no UTF-8 text ({error.reason}).") from None
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror or error}.") from None
        self.text += more
        self.ended = not more

    def skip_blanks(self) -> None:
        """Go on to the next character that is no blank, or to the end."""
        while True:
            match = _BLANKS.match(self.text, self.place)
            self.place = match.end() if match else self.place
            if self.place < len(self.text) or self.ended:
                return
            self.fill()

    def at(self, mark: str) -> bool:
        """Whether the next character but blanks is this one, which is then behind us."""
        self.skip_blanks()
        if self.text[self.place : self.place + 1] != mark:
            return False
        self.place += 1
        return True

    def take(self, mark: str) -> None:
        """Go on behind this character. Raises `InputError` where another stands."""
        if not self.at(mark):
            self.refuse(f"{mark} expected, {'the end' if self.ended else 'something else'} found")

    def name(self, earlier: set[str]) -> str:
        """The name of the next member, and its colon; it is none of the `earlier` ones, and joins them."""
        key = self.value()
        if not isinstance(key, str):
            self.refuse("a member without a name")
        if key in earlier:
            self.refuse(f"the key {one_line(repr(key), 60)} stands there twice")
        earlier.add(key)
        self.take(":")
        return key

    def entries(self) -> Iterator[Any]:
        """The entries of a list whose opening bracket is behind us."""
        if self.at("]"):
            return
        while True:
            yield self.value()
            if not self.at(","):
                self.take("]")
                return

    def value(self) -> Any:
        """The next value, with as much more of the file as it takes."""
        self.skip_blanks()
        while True:
            try:
                value, end = NAN_DECODER.raw_decode(self.text, self.place)
                # A window may end within a number, as `0.` of `0.5`, which decodes as 0.
                following = _IN_NUMBERS.match(self.text, end)
                if self.ended or following is None or following.end() < len(self.text):
                    break
            except json.JSONDecodeError as error:
                if self.ended:
                    self.refuse(one_line(error.msg, 60))
            except RecursionError:
                self.refuse(TOO_DEEP)
            except ValueError as error:  # a number that is none
                self.refuse(one_line(str(error), 60))
            self.fill(len(self.text))
        try:
            check_value(value, self.text[self.place : end])
        except ValueError as error:
            self.refuse(str(error))
        self.place = end
        return value
