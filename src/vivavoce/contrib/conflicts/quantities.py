"""Quantities: a number or a range with its bound, its unit and the words around it."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.contrib.conflicts.clauses import Clauses
from vivavoce.contrib.conflicts.text import COMMON, Line, stem
from vivavoce.contrib.conflicts.units import YEAR, Unit, is_unit, unit_at
from vivavoce.core.text import lazy_pattern


class Quantity(NamedTuple):
    """What a text puts a figure on.

    `low` and `high` are as written and equal unless it is a range; `bound` is 1 for "more than", -1 for
    "less than", 0 for neither. `about` if it is said to be roughly so, `rejected` if it is what is not meant,
    `role` what a time is for, `noun` the word next to a bare number, `words` the stems around.
    """

    low: float
    high: float
    unit: Unit | None
    bound: int
    about: bool
    rejected: bool
    role: str
    noun: tuple[str, ...]
    words: tuple[str, ...]
    start: int
    end: int


_NUMBER = lazy_pattern(r"[+-]?\d+(?:\.\d+)?\Z")
_FRACTION = lazy_pattern(r"([1-9]) / ([1-9])\Z")
_TO = frozenset({"to", "-", "through", "till"})
_JOIN = frozenset({"and", "or", "/", ","})
_MORE = (
    r"(?:more|greater|higher|older|longer|larger|later|bigger|heavier) than|over|above|exceed(?:s|ed"
    r"|ing)?|at least"
    r"|minimum(?: \w+){0,4}? (?:of|is)|minimum|min|beyond|>=?|upwards of|at or above|at or over"
    r"|after|(?:no|not) (?:less|fewer|lower|younger) than|(?:not|never) (?:be )?below|not less than"
)
_LESS = (
    r"(?:less|fewer|lower|younger|smaller|shorter|earlier) than|under|below|at most|up to"
    r"|maximum(?: \w+){0,4}? (?:of|is)|maximum|max"
    r"|within|before|prior to|<=?|(?:no|not|nor|never) (?:\w+ ){0,2}?(?:by )?(?:more|greater|higher"
    r"|longer|later|older|over|above|exceed|exceeding)(?: than)?"
    r"|cannot exceed|limit(?:ed)?(?: \w+){0,5} to|at or under|at or below|not to exceed"
)
_BEFORE = lazy_pattern(
    rf"(?<!\S)(?:(?P<less>{_LESS})|(?P<more>{_MORE}))(?: or equal to)?(?: an?| the| of| age(?: of)?"
    rf"| about)*\ ?\Z"
)
_BEHIND = lazy_pattern(
    r" ?(?:(?:of age|old) )?(?:(?P<more>(?:or|and) (?:more|greater|higher|above|over|older|longer|up)\b"
    r"|at (?:the )?least\b|\(\+\)|\+)"
    r"|(?P<less>(?:or|and) (?:less|fewer|lower|below|under|younger)\b|at (?:the )?most\b|max(?:imum)?\b))"
)
_ABOUT = lazy_pattern(r"(?:about|approximately|around|roughly|nearly|almost|~|circa|approx)(?: an?)?\ ?\Z")
_ROLE = lazy_pattern(
    r"(?:^| )(?P<for>for|over|lasts?|lasting|duration of|course of)(?: at least| up to| an?)*\ ?\Z"
    r"|(?:^| )(?P<after>after|post|later than)(?: at least| an?)*\ ?\Z"
    r"|(?:^| )(?P<every>every|each)\ ?\Z"
)
_LATER = lazy_pattern(
    r" ?(?:(?P<after>later|after|post)|(?P<before>before|prior|earlier)|(?P<age>old|of age))\b"
)
_LABELS = frozenset(
    {
        "step",
        "table",
        "figure",
        "fig",
        "chapter",
        "section",
        "reference",
        "ref",
        "page",
        "item",
        "point",
        "option",
        "question",
        "answer",
    }
)
_COUNTED = frozenset({"day", "days", "week", "weeks", "month", "months"})


def find_quantities(line: Line, clauses: Clauses, taken: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """The quantities of a line in order; places `taken` by another rule are left out."""
    words, places = _figures(line.text)
    result: list[Quantity] = []
    busy = iter([*taken, (math.inf, math.inf)])
    begins, ends = next(busy)
    k = 0
    while k < len(words):
        while places[k] >= ends:
            begins, ends = next(busy)
        if not _NUMBER.match(words[k]) or begins <= places[k] < ends or _label(words, k):
            k += 1
            continue
        quantity, k = _quantity(line, clauses, words, places, k)
        result.append(quantity)
    return _shared(line, result)


def _figures(text: str) -> tuple[list[str], list[int]]:
    """The words of a line and their places, a fraction such as 1 / 2 as one decimal: 0.5.

    Of one digit each, the first the smaller; what has a further "/" is a date, 120 / 80 a pair.
    """
    words = text.split(" ") if text else []
    figures: list[str] = []
    places: list[int] = []
    position = k = 0
    while k < len(words):
        size = 3 if _fraction(words, k) else 1
        figures.append(str(int(words[k]) / int(words[k + 2])) if size == 3 else words[k])
        places.append(position)
        position += sum(map(len, words[k : k + size])) + size
        k += size
    return figures, places


def _fraction(words: Sequence[str], k: int) -> bool:
    """Whether words k to k + 2 are a fraction."""
    match = _FRACTION.match(" ".join(words[k : k + 3]))
    if match is None or match[1] >= match[2] or words[k - 1 : k] == ["/"]:
        return False
    return words[k + 3 : k + 4] != ["/"] or not _NUMBER.match(" ".join(words[k + 4 : k + 5]))


def _label(words: Sequence[str], k: int) -> bool:
    """Whether the number at word k names a step, a year or a place in a list of sources."""
    preceding = words[k - 1] if k else ""
    if preceding.rstrip("s") in _LABELS:
        return True
    following = words[k + 1] if k + 1 < len(words) else "."
    return bool(re.fullmatch(r"(?:19|20)\d\d", words[k])) and not (
        is_unit(following) or following in {"/", "per", "-", "to"}
    )


def _quantity(
    line: Line, clauses: Clauses, words: Sequence[str], places: Sequence[int], k: int
) -> tuple[Quantity, int]:
    """The quantity whose number is word k, and the word after it."""
    low, high, unit, stop = _size(words, k)
    place = places[k]
    end = places[stop] - 1 if stop < len(words) else len(line.text)
    preceding = line.text[max(0, place - 60) : place]
    preceding = preceding[preceding.rfind(" . ") + 3 :] if " . " in preceding else preceding
    following = line.text[end : end + 30]
    clause = clauses.at(place)
    begin, bound = place, 0
    if (m := _BEFORE.search(preceding)) is not None:
        bound = 1 if m["more"] else -1
        begin = place - len(preceding) + m.start()
    elif (m := _BEHIND.match(following)) is not None:
        bound = 1 if m["more"] else -1
        end += m.end()
    if line.text.startswith(("unless ", "except "), clause.start):
        bound = -bound  # "unless above 5" is up to 5
    role = ""
    if unit and unit.dimension == "time":
        m = _ROLE.search(preceding) or _LATER.match(following)
        role = (m.lastgroup or "") if m else ""
        if preceding.endswith("over ") and unit.factor < YEAR:
            bound = 0  # "over 20 minutes" is how long
    noun: tuple[str, ...] = ()
    if unit is None:
        noun = tuple(stem(w) for w in words[stop : stop + 3] if w not in COMMON and w[0].isalpha())[:2]
    about = _ABOUT.search(preceding) is not None
    around = _around(words, k, stop)
    return Quantity(low, high, unit, bound, about, clause.rejected, role, noun, around, begin, end), stop


def _size(words: Sequence[str], k: int) -> tuple[float, float, Unit | None, int]:
    """Low and high end of the number or range at word k, its unit, and the word after them."""
    low = high = float(words[k])
    unit, stop = unit_at(words, k + 1)
    if _is_range(words, k, stop):
        second, following = unit_at(words, stop + 2)
        if _NUMBER.match(words[stop + 1]) and (second is not None or unit is None):
            low = _in_unit(low, unit, second)
            last = float(words[stop + 1])
            low, high = sorted((low, abs(last) if words[stop] == "-" else last))
            unit, stop = second, following
    if unit is None and k and words[k - 1] in _COUNTED:
        unit, _ = unit_at(words, k - 1)  # "day 5", "weeks 2 to 4"
    return low, high, unit, stop


def _is_range(words: Sequence[str], k: int, stop: int) -> bool:
    """Whether word `stop` leads from the number at word k to a second one."""
    between = "between" in words[max(k - 2, 0) : k]
    return stop + 1 < len(words) and (words[stop] in _TO or (between and words[stop] == "and"))


def _in_unit(low: float, unit: Unit | None, second: Unit | None) -> float:
    """The low end of a range in the unit of its high end, where both units measure the same."""
    if unit and second and unit.dimension == second.dimension:
        low *= unit.factor / second.factor
    return low


def _around(words: Sequence[str], start: int, stop: int, reach: int = 14, limit: int = 6) -> tuple[str, ...]:
    """Stems of the nearest words of the same sentence, from near to far, on both sides."""
    stems: list[tuple[int, str]] = []
    for step, begin in ((-1, start - 1), (1, stop)):
        k, n = begin, 0
        while 0 <= k < len(words) and n < reach and words[k] != ".":
            word = words[k]
            if word[0].isalpha() and word not in COMMON and not is_unit(word):
                stems.append((n, stem(word)))
            k, n = k + step, n + 1
    return tuple(dict.fromkeys(word for _, word in sorted(stems)[:limit]))


def _shared(line: Line, quantities: list[Quantity]) -> list[Quantity]:
    """The same, with the units that the numbers of a list share."""
    _share_last_unit(line, quantities)
    _share_time_unit(line, quantities)
    return quantities


def _share_last_unit(line: Line, quantities: list[Quantity]) -> None:
    """Give the unit of the last number of a list to those before: "0, 1 and 6 months"."""
    for k in range(len(quantities) - 2, -1, -1):
        preceding, following = quantities[k], quantities[k + 1]
        between = line.text[preceding.end : following.start].split()
        if (
            preceding.unit is None
            and following.unit is not None
            and len(between) <= 2
            and between
            and set(between) <= _JOIN
        ):
            quantities[k] = preceding._replace(unit=following.unit, noun=(), role=following.role)


def _share_time_unit(line: Line, quantities: list[Quantity]) -> None:
    """Give a unit of time to the numbers of a list behind it: "day 0, 3 and 7"."""
    for k in range(1, len(quantities)):
        preceding, following = quantities[k - 1], quantities[k]
        between = line.text[preceding.end : following.start].split()
        if (
            following.unit is None
            and preceding.unit is not None
            and preceding.unit.dimension == "time"
            and between
            and set(between) <= _JOIN
        ):
            quantities[k] = following._replace(unit=preceding.unit, noun=(), role=preceding.role)
