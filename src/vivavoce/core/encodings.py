"""The encoding of a text file: stated by a mark or by the user, else found by a rule; and its lines."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is the beginning of this one
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_NO_FILES = {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf_7"}
"""Codecs of Python that no table is written in."""
_SEVERAL_BYTES = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_LETTERS_IN_A_ROW = re.compile(rb"[\x83\x8a\x8c\x8e\x9a\x9c\x9e\x9f\xaa\xb5\xba\xc0-\xff]{4}")
_UNASSIGNED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


LONGEST_LINE = 1 << 28
"""Bytes of the longest line that is read; memory holds a few times as many."""


class Encoding(NamedTuple):
    """A Python codec, and why a guess was made; '' where the file or the user states it."""

    codec: str
    why: str = ""


def codec_of(name: str) -> str:
    """Python's name of an encoding. Raises `InputError` for one that there is not."""
    try:
        codec = codecs.lookup(name.strip())
    except (LookupError, ValueError):
        codec = None
    if (
        codec is None
        or codec.name.replace("-", "_") in _NO_FILES
        or not getattr(codec, "_is_text_encoding", True)
    ):
        raise InputError(
            f"no encoding is named {one_line(name, 40)!r}: write utf-8, utf-16, cp1252 (Windows, Western "
            "Europe), latin-1 or another codec of Python."
        )
    return codec.name


def marked_encoding(path: Path) -> str | None:
    """The encoding that the file's byte order mark states; null without one."""
    start = _opening(path, 4)
    return next((codec for mark, codec in _MARKS.items() if start.startswith(mark)), None)


def encoding_of(path: Path) -> Encoding:
    """The encoding of a table: its byte order mark, else UTF-8 if it is that, else perhaps cp1252.

    A file that is no UTF-8 is taken for cp1252 (Windows, Western Europe; latin-1 differs in signs that no
    text holds) unless something speaks against it: a character of several bytes in UTF-8 elsewhere in the
    file, a byte that cp1252 does not assign, or four accented letters in a row, which are another alphabet.
    Then it raises `InputError` with the first line that is no UTF-8, as for a NUL, which no text file has.
    """
    if codec := marked_encoding(path):
        return Encoding(codec)
    first: UnicodeDecodeError | None = None
    first_line, against = 0, ""
    for number, raw in _raw_lines(path):
        if b"\0" in raw:
            raise InputError(
                f"{path}, line {number}: a NUL byte, which no text holds: the file is damaged or no text, or "
                "it is UTF-16 without a mark (state its encoding: utf-16-le)."
            )
        if raw.isascii():
            continue
        try:
            raw.decode()
            against = "other characters of the file are"
        except UnicodeDecodeError as error:
            if first is None:
                first, first_line = error, number
            against = against or _against_cp1252(raw)
    if first is None:
        return Encoding("utf-8")
    if against:
        raise not_utf8(path, first_line, first, against)
    word = _word_around(first.object, first.start).decode("cp1252")
    return Encoding(
        "cp1252",
        f"line {first_line} is not UTF-8; as cp1252 it reads {word!r}, and --encoding states another one",
    )


def _against_cp1252(raw: bytes) -> str:
    """What speaks against cp1252 in a line that is not UTF-8; '' if nothing does."""
    if _SEVERAL_BYTES.search(raw):
        return "other characters of the file are"
    return "cp1252 does not fit either" if _UNASSIGNED.search(raw) or _LETTERS_IN_A_ROW.search(raw) else ""


def not_utf8(path: Path, number: int, error: UnicodeDecodeError, against: str = "") -> InputError:
    """The sentence for a line that is not UTF-8."""
    byte = error.object[error.start]
    return InputError(
        f"{path}, line {number}: byte {error.start + 1} ({byte:#04x}) is not UTF-8"
        f"{f', and {against}' if against else ''}; save the file as UTF-8 and try again, or state its "
        "encoding."
    )


def _word_around(raw: bytes, position: int) -> bytes:
    """The word that a byte stands in, and at most 20 bytes before and behind."""
    start, end = position, position + 1
    while start > max(0, position - 20) and raw[start - 1 : start].strip(b' \t\r\n,;|"'):
        start -= 1
    while end < min(len(raw), position + 20) and raw[end : end + 1].strip(b' \t\r\n,;|"'):
        end += 1
    return raw[start:end]


def text_lines(path: Path, codec: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file, ended by a line feed, line ends kept, a byte order mark skipped.

    Raises `InputError` naming the line that the encoding cannot read.
    """
    if codec in ("utf-8", "utf-8-sig"):
        yield from _utf8_lines(path)
        return
    number = 0
    try:
        with path.open(encoding=codec, newline="\n") as stream:
            while text := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(text) > LONGEST_LINE:
                    raise _too_long(path, number)
                if "\0" in text:
                    raise InputError(f"{path}, line {number}: a NUL, which no text holds; it is not {codec}.")
                yield number, text.removeprefix("\ufeff") if number == 1 else text
    except OSError as error:
        raise _unreadable(path, error) from error
    except UnicodeError as error:
        raise InputError(
            f"{path}, after line {number}: not {codec} ({one_line(str(error), 80)}); state its encoding."
        ) from None


def _utf8_lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, raw in _raw_lines(path):
        try:
            yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(path, number, error) from None


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as stream:
            number = 0
            while raw := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise _too_long(path, number)
                yield number, raw
    except OSError as error:
        raise _unreadable(path, error) from error


def _too_long(path: Path, number: int) -> InputError:
    return InputError(
        f"{path}, line {number}: it has more than {LONGEST_LINE:,} bytes, and none so long is read: write a "
        "row on each line."
    )


def _opening(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(size)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot read {path}: {error.strerror or error}.")
