"""What an edit must leave as it is: numbers with their units, and negations. Pure functions of text.

The check is strict on purpose: a text that says the same in other numbers ("a week" for "7 days") or with
another count of negations counts as changed. What is lost that way is counted; a changed dose that passes
would not be.
"""

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from vivavoce.core.text import SIGNS
from vivavoce.language.words import clinical_tokens

_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100", "thousand": "1000",
    "half": "0.5",
}  # fmt: skip
_SPELLINGS = (
    "mg milligram milligrams, g gram grams, kg kilogram kilograms, ng, pg, μg µg mcg ug microgram, "
    "l liter litre liters litres, ml milliliter millilitre milliliters millilitres, dl, fl, mol, mmol, nmol, "
    "μmol µmol umol, pmol, meq, mosm, iu, u, unit units, % percent, mmhg, kpa, cm, mm, m, bpm, hz, gy, °c, "
    "°f, kcal, cfu, second seconds sec s, minute minutes min, hour hours hr h, day days d, week weeks wk, "
    "month months, year years yr y, times time, dose doses, tablet tablets, drop drops, puff puffs, "
    "cell cells, copy copies, degree degrees"
)
_UNITS = {word: words.split()[0] for words in _SPELLINGS.split(",") for word in words.split()}
_NUMBER = re.compile(r"(?:[<>]=?|!=?|±)?[+-]?\d+(?:\.\d+)?(?:\^[+-]?\d+)?")
NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nobody|nothing|without|cannot|non|absent|absence|den(?:y|ies|ied|ying)|"
    r"negative|lacks?|lacking|free\sof|contraindicated|avoid(?:s|ed|ing)?|unlikely)\b|n['’]t\b",
    re.IGNORECASE,
)


class Invariants(NamedTuple):
    """Numbers with their units ('' where there is none), and words that deny, both in their order."""

    numbers: tuple[tuple[str, str], ...]
    negations: tuple[str, ...]


@lru_cache(maxsize=256)  # of a question that is varied in many ways, the rest is the same text
def invariants(text: str) -> Invariants:
    """The numbers and negations of a text.

    Numbers are read as clinical tokens are: `2.5mg` is 2.5 mg, `<50` is not 50, `1,000` is 1000; `= 5` is 5,
    and number words from two on count as their figures. Units are brought to one spelling, hours and `h`
    alike. Empty for a text without either.
    """
    tokens = _tokens(text)
    numbers = []
    for k, token in enumerate(tokens):
        if _NUMBER.fullmatch(token):
            next_token = tokens[k + 1] if k + 1 < len(tokens) else ""
            numbers.append((token, _unit(next_token)))
    return Invariants(tuple(numbers), tuple(word[0].casefold() for word in NEGATION.finditer(text)))


def numbers_beyond(part: str, text: str) -> tuple[tuple[str, str], ...]:
    """The numbers of `part`, with their units, that `text` has not, or has less often; in no order.

    Both are read as by `invariants`, but for two ends of one range or list, which share the unit that stands
    behind the last one: "5 mg" is part of "5 to 10 mg". A comma before one or two digits may be that of a
    decimal (2,5), and a blank that of thousands (20 000), on either side.
    """
    readings = [Counter(_sharing_units(reading)) for reading in (text, _european(text))]
    extra = [
        Counter(_sharing_units(reading)) - numbers
        for reading in dict.fromkeys((part, _european(part)))
        for numbers in readings
    ]
    return tuple(min(extra, key=Counter.total).elements())


_JOINED = re.compile(r"(?<=\d) ?[-/] ?(?=\d)")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])")
_THOUSANDS = re.compile(r"(?<![\d.,])(\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+)(?!\d)")


@lru_cache(maxsize=64)
def _european(text: str) -> str:
    joined = _THOUSANDS.sub(lambda match: "".join(match[0].split()), text)
    return _DECIMAL_COMMA.sub(r"\1.\2", joined)


@lru_cache(maxsize=64)  # parts of one text are looked for one after the other
def _sharing_units(text: str) -> tuple[tuple[str, str], ...]:
    """The numbers of a text with their units; one without takes that of the number that `to`, `or`, `and`, a
    dash or a stroke joins to it.
    """
    tokens = _tokens(_JOINED.sub(" to ", text.translate(SIGNS)))
    numbers: list[tuple[str, str]] = []
    unit, place = "", -3
    for k in range(len(tokens) - 1, -1, -1):
        if _NUMBER.fullmatch(tokens[k]):
            joined = k + 2 == place and tokens[k + 1] in ("to", "or", "and")
            unit = (_unit(tokens[k + 1]) if k + 1 < len(tokens) else "") or (unit if joined else "")
            place = k
            numbers.append((tokens[k], unit))
    return tuple(numbers[::-1])


_END_AFTER_NUMBER = re.compile(r"(?<=\d)[\"')\]”’]{0,3}[.!?][.!?\"')\]”’]*\s+")


def _tokens(text: str) -> list[str]:
    """The words of a text; one without a sign follows a number that ends a sentence."""
    # What the next sentence begins with is no unit: "a score of 2. The dose is ...".
    first, *tails = _END_AFTER_NUMBER.split(text)
    return [*_words(first), *(word for sentence in tails for word in ("", *_words(sentence)))]


def _words(text: str) -> list[str]:
    # an equals sign is part of a clinical token ("p = 0.01"), and none of the number
    words = (word.removeprefix("=") for word in clinical_tokens(text))
    return [_WORDS.get(t, t) for word in words for t in _split(word)]


def _split(token: str) -> list[str]:
    """58-year-old is three words, a range of two numbers two."""
    parts = token.split("-")
    return parts if len(parts) > 1 and all(parts) and not _NUMBER.fullmatch(token) else [token]


def _unit(word: str) -> str:
    parts = word.split("/")
    return "/".join(_UNITS.get(part, part) for part in parts) if len(parts) > 1 else _UNITS.get(word, "")


def changed(before: str, after: str, *, ordered: bool = False) -> str | None:
    """What of the invariants of `before` is otherwise in `after`, as a clause; null where nothing is.

    Without `ordered`, the order in which they stand may differ, and one negation may stand for another ("has
    no fever", "does not have fever"): only how many there are is compared.
    """
    old, new = invariants(before), invariants(after)
    if ordered:
        if old.numbers != new.numbers:
            return "numbers or units changed"
        return None if old.negations == new.negations else "negations changed"
    if Counter(old.numbers) != Counter(new.numbers):
        lost, come = (
            (Counter(old.numbers) - Counter(new.numbers)),
            (Counter(new.numbers) - Counter(old.numbers)),
        )
        return "numbers or units changed" if lost and come else "numbers lost" if lost else "numbers added"
    return None if len(old.negations) == len(new.negations) else "negations changed"


def either_holds(first: str, second: str) -> bool:
    """True if one of the texts holds the words of the other in a row, without case, accents or punctuation.

    A text without words is in none.
    """
    a, b = sorted((clinical_tokens(first), clinical_tokens(second)), key=len)
    return bool(a) and f" {' '.join(a)} " in f" {' '.join(b)} "  # no token holds a blank
