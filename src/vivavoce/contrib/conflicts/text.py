"""A text as one line of plain forms on which rules are regular expressions.

Number words are digits, abbreviations one word; " , " stands for a comma, " . " for a stronger break. Every
place of the line leads back to what was written there.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from vivavoce.contrib.conflicts.units import is_unit
from vivavoce.reading.tokens import CLAUSE, COMMA, Doc

COMMON = frozenset(Path(__file__).with_name("common_words.txt").read_text(encoding="utf-8").split())
"""Function words, and predicates that say whether something is done, found or so, whatever it is.

The list was written for vivavoce.
"""

_SPELT = (("ae", "e"), ("oe", "e"), ("our", "or"), ("sulph", "sulf"), ("yse", "yze"), ("ise", "ize"))
_ENDS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ically", "ical", "ies", "ied", "ed", "es", "al", "ly",
    "ic", "s", "e", "y",
)  # fmt: skip
_SAME = {
    "epinephrine": "adrenaline", "acetaminophen": "paracetamol", "albuterol": "salbutamol", "rifampin":
    "rifampicin", "kidney": "renal", "hepatic": "liver", "cardiac": "heart", "pulmonary": "lung",
    "glucose": "sugar", "dtg": "dolutegravir", "inh": "isoniazid", "antiretroviral": "art", "kids":
    "child", "children": "child", "tumor": "tumour", "neoplasm": "tumour", "newborns": "birth",
    "newborn": "birth", "women": "woman", "men": "man", "hypertension": "pressure", "platelets":
    "platelet", "pulse": "heart", "feet": "foot", "teeth": "tooth",
}  # fmt: skip


@lru_cache(maxsize=65536)
def stem(form: str) -> str:
    """A form cut to what its inflections share: at most seven letters, spelling as in American English.

    Too short for a dictionary and enough for an alignment: "placental" and "placenta" are one.
    """
    form = _SAME.get(form, form)
    for british, american in _SPELT:
        form = form.replace(british, american)
    for end in _ENDS:
        if form.endswith(end) and len(form) - len(end) >= 4 and not form.endswith("ss"):
            form = form[: -len(end)]
            break
    return form[:7]


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
_TOO_LARGE = 10**16
"""No number that is read: "one thousand thousand …" has no end."""
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
    preceding, following = doc.gap(k), doc.gap(k + 1)
    if _counts_line(doc, k) or (preceding.endswith("[") and following.startswith("]")):
        return "#"
    if following == ":" and _is_number(doc, k + 1):
        return "#"
    if preceding == ":" and _is_number(doc, k - 1):
        dilution = doc.forms[k - 1] == "1" and len(doc.tokens[k].form.replace(",", "")) > 2
        return None if dilution else "#"
    return None


def _counts_line(doc: Doc, k: int) -> bool:
    """Whether token k is the number of a line in a list."""
    begins_line = k == 0 or "\n" in doc.gap(k)
    return begins_line and bool(_LIST_MARK.match(doc.gap(k + 1))) and doc.tokens[k].form.isdigit()


def _is_number(doc: Doc, k: int) -> bool:
    """Whether there is a token k, and it is written in digits."""
    return 0 <= k < len(doc) and doc.tokens[k].kind == "n"


def _number(doc: Doc, k: int) -> tuple[str, int] | None:
    """The number that begins at token k as plain digits, and the token after it; null if none does."""
    token = doc.tokens[k]
    if token.kind == "n":
        return _figures(doc, k)
    if token.kind != "w":
        return None
    following = _unbroken(doc, k + 1)
    if token.form == "half" and following in {"a", "an"}:
        return "0.5", k + 2
    if token.form == "one" and not _AFTER_ONE.match(following):
        return None
    spelt = _spelt(token.form, following)
    if spelt is None:
        return None
    value, end = spelt[0], k + spelt[1]
    while _unbroken(doc, end) in _MANY:
        value, end = min(value * _MANY[doc.forms[end]], _TOO_LARGE), end + 1
    return "#" if value == _TOO_LARGE else str(value), end


def _unbroken(doc: Doc, k: int) -> str:
    """The form at token k; empty if a sign stands before it, or the text ends."""
    return doc.forms[k] if k < len(doc) and doc.breaks[k] == 0 else ""


def _spelt(form: str, following: str) -> tuple[int, int] | None:
    """The value of a number word, and its number of tokens: two in "twenty one"; null for another word."""
    if form not in _TENS:
        return (_DIGITS[form], 1) if form in _DIGITS else None
    units = _DIGITS.get(following, 0)
    return (_TENS[form] + units, 2) if 0 < units < 10 else (_TENS[form], 1)


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
    exponent = re.fullmatch(r"\^\+?(-?\d{1,2})", doc.forms[start]) if start < len(doc) else None
    if exponent is None or abs(int(exponent[1])) > 12:
        return None
    return int(exponent[1]) * (-1 if sign == "⁻" else 1), start + 1


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
        return _multiplied(digits, power[0]), power[1]
    while _continues(doc, digits, end):
        digits, end = digits + doc.forms[end], end + 1
    if _unbroken(doc, end) in _MANY:
        digits, end = f"{float(digits) * _MANY[doc.forms[end]]:.12g}", end + 1
        if "e" in digits:
            return "#", end
    return digits, end


def _multiplied(digits: str, power: int) -> str:
    """A number times a power of ten in plain digits; a sign where none of its digits remains."""
    plain = f"{float(digits) * 10.0**power:.12f}".rstrip("0").rstrip(".")
    return plain if plain not in {"", "0"} else "#"


def _continues(doc: Doc, digits: str, k: int) -> bool:
    """Whether token k is the next three digits of a number that is grouped by spaces: "10 000"."""
    return (
        k < len(doc)
        and doc.gap(k) == " "
        and re.fullmatch(r"[1-9]\d{0,2}(?:\d{3})*", digits) is not None
        and re.fullmatch(r"\d{3}", doc.surface(k, k + 1)) is not None
        and len(digits) < 12
    )


class Conflict(NamedTuple):
    """A conflict of `kind`: words of the answer (places `start` to `end`) against words of the reference."""

    kind: str
    answer: str
    reference: str
    start: int
    end: int


def alike(a: Collection[str], b: Collection[str]) -> float:
    """Share of the words of the smaller side that the larger has; 1 where a side has none."""
    if not a or not b:
        return 1.0
    return len(set(a) & set(b)) / min(len(set(a)), len(set(b)))


class HasWords(Protocol):
    """A statement that is compared by the words around it."""

    @property
    def words(self) -> Collection[str]:
        """The words."""


Statement = TypeVar("Statement", bound=HasWords)


def most_alike(words: Collection[str], statements: Sequence[Statement]) -> tuple[float, Statement | None]:
    """The share of `words` in the statement that has most of them, and the first such; null if none is."""
    fits = [(alike(statement.words, words), -k, statement) for k, statement in enumerate(statements)]
    fit, _, best = max(fits, key=lambda f: f[:2], default=(0.0, 0, None))
    return fit, best
