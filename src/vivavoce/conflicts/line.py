"""A text as one line of plain forms on which rules are regular expressions.

Number words are digits, abbreviations one word; " , " stands for a comma, " . " for a stronger break. Every
place of the line leads back to what was written there.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from vivavoce.conflicts.units import is_unit
from vivavoce.conflicts.words import COMMON, stem
from vivavoce.formats.tokens import CLAUSE, COMMA, Doc

__all__ = ["Line"]

_DIGITS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_MANY = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_AFTER_ONE = re.compile(
    r"(?:time|dose|tablet|(?:milli|micro)?(?:second|minute|hour|day|week|month|year|decade|gram|mg|litre|liter))s?$"
    r"|(?:hundred|thousand|million|third|quarter)$"
)
_LETTERS = {
    ("i", "v"): "iv", ("i", "m"): "im", ("s", "c"): "sc", ("p", "o"): "po", ("b", "d"): "bd",
    ("o", "d"): "od",
    ("q", "d"): "qd", ("b", "i", "d"): "bid", ("t", "i", "d"): "tid", ("t", "d", "s"): "tds",
    ("q", "i", "d"): "qid", ("q", "d", "s"): "qds", ("p", "r", "n"): "prn", ("i", "e"): "ie",
    ("e", "g"): "eg",
}  # fmt: skip
_LIST_MARK = re.compile(r"[ \t]*[.):\]][)*_]*(?=\s|$)")


class Line:
    """`text`, the line of forms; `doc`, what it was made of; `heads`, the places of its colons."""

    __slots__ = ("_at", "_ends", "_starts", "doc", "heads", "text")

    def __init__(self, written: str) -> None:
        self.doc = Doc(written)
        self.heads: list[int] = []
        self._at: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        pieces: list[str] = []
        length = 0
        for form, start, end in _pieces(self.doc):
            if pieces:
                strength = self.doc.breaks[start]
                sign = " . " if strength >= CLAUSE else " , " if strength == COMMA else " "
                if strength >= CLAUSE and ":" in self.doc.gap(start):
                    self.heads.append(length)
                pieces.append(sign)
                length += len(sign)
            self._at.append(length)
            self._starts.append(start)
            self._ends.append(end)
            pieces.append(form)
            length += len(form)
        self.text = "".join(pieces)

    def written(self, start: int, end: int) -> str:
        """What was written from place `start` of the line to place `end`, on one line."""
        if not self._at or start >= end:
            return ""
        first, last = (max(bisect_right(self._at, place) - 1, 0) for place in (start, end - 1))
        return " ".join(self.doc.surface(self._starts[first], self._ends[last]).split())

    def words(self, start: int, end: int) -> list[str]:
        """Stems of the words from `start` to `end` that say what it is about, in order."""
        return [
            stem(w)
            for w in self.text[start:end].split()
            if w[0].isalpha() and w not in COMMON and not is_unit(w)
        ]


def _pieces(doc: Doc) -> Iterator[tuple[str, int, int]]:
    """Forms with the tokens they stand for."""
    k = 0
    while k < len(doc):
        form, end = _number(doc, k) or _letters(doc, k) or (doc.forms[k], k + 1)
        if doc.tokens[k].kind == "n" and end == k + 1:
            form = _marked(doc, k) or form
        yield form, k, end
        k = end


def _letters(doc: Doc, k: int) -> tuple[str, int] | None:
    for size in (3, 2):
        word = _LETTERS.get(tuple(doc.forms[k : k + size]))
        if word and all(doc.gap(n) in {".", "/", ""} for n in range(k + 1, k + size)):
            return word, k + size
    return None


def _marked(doc: Doc, k: int) -> str | None:
    """A sign for a number that counts lines, cites a source or is half of a ratio: none is a quantity.

    But a dilution is: of 1:1000 the second half stays.
    """
    before, after = doc.gap(k), doc.gap(k + 1)
    if (k == 0 or "\n" in before) and _LIST_MARK.match(after) and doc.tokens[k].form.isdigit():
        return "#"
    if before.endswith("[") and after.startswith("]"):
        return "#"
    if after == ":" and k + 1 < len(doc) and doc.tokens[k + 1].kind == "n":
        return "#"
    if before == ":" and k and doc.tokens[k - 1].kind == "n":
        dilution = doc.forms[k - 1] == "1" and len(doc.tokens[k].form.replace(",", "")) > 2
        return None if dilution else "#"
    return None


def _number(doc: Doc, k: int) -> tuple[str, int] | None:
    """The number that begins at token k as plain digits, and the token after it; null if none does."""
    token = doc.tokens[k]
    if token.kind == "n":
        return _figures(doc, k)
    if token.kind != "w":
        return None
    following = doc.forms[k + 1] if k + 1 < len(doc) and doc.breaks[k + 1] == 0 else ""
    if token.form == "half" and following in {"a", "an"}:
        return "0.5", k + 2
    if token.form == "one" and not _AFTER_ONE.match(following):
        return None
    if token.form in _TENS:
        value, end = _TENS[token.form], k + 1
        if 0 < _DIGITS.get(following, 0) < 10:
            value, end = value + _DIGITS[following], k + 2
    elif token.form in _DIGITS:
        value, end = _DIGITS[token.form], k + 1
    else:
        return None
    while end < len(doc) and doc.breaks[end] == 0 and doc.forms[end] in _MANY:
        value, end = value * _MANY[doc.forms[end]], end + 1
    return str(value), end


def _power(doc: Doc, k: int) -> tuple[int, int] | None:
    """The power of ten in "x 10^9" at token k, and the token after it; null if it is something else."""
    if doc.forms[k : k + 2] == ["x", "10"]:
        return _raised(doc, k + 2)
    if doc.forms[k : k + 1] == ["10"] and doc.gap(k).strip() == "*":
        return _raised(doc, k + 1)
    return None


def _raised(doc: Doc, k: int) -> tuple[int, int] | None:
    """The power at token k that the number before is raised to, and the token after it; null if none is."""
    sign = doc.surface(k, k + 1) if k < len(doc) else ""
    start = k + 1 if sign in {"⁺", "⁻"} else k
    found = re.fullmatch(r"\^\+?(-?\d{1,2})", doc.forms[start]) if start < len(doc) else None
    if found is None or abs(int(found[1])) > 12:
        return None
    return int(found[1]) * (-1 if sign == "⁻" else 1), start + 1


def _figures(doc: Doc, k: int) -> tuple[str, int] | None:
    digits, end = doc.tokens[k].form, k + 1
    if re.fullmatch(r"[+-]?\d+,\d{1,2}", digits):
        digits = digits.replace(",", ".")
    if not re.fullmatch(r"[+-]?\d{1,15}(?:\.\d{1,15})?", digits):
        return "#", end
    power = _power(doc, end)
    if power is None and digits == "10" and (power := _raised(doc, end)) is not None:
        digits = "1"
    if power is not None:
        made = f"{float(digits) * 10.0 ** power[0]:.12f}".rstrip("0").rstrip(".")
        return (made if made not in {"", "0"} else "#"), power[1]
    while (
        end < len(doc)
        and doc.gap(end) == " "
        and re.fullmatch(r"[1-9]\d{0,2}(?:\d{3})*", digits)
        and re.fullmatch(r"\d{3}", doc.surface(end, end + 1))
        and len(digits) < 12
    ):
        digits, end = digits + doc.forms[end], end + 1
    if end < len(doc) and doc.breaks[end] == 0 and doc.forms[end] in _MANY:
        digits, end = f"{float(digits) * _MANY[doc.forms[end]]:.12g}", end + 1
        if "e" in digits:
            return "#", end
    return digits, end
