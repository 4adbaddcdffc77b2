"""Conflicts of number, unit and comparator.

Quantities are aligned by what they measure, numbers in names ("L4", "type 1", "second") by the name.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.contrib.conflicts.clauses import Clauses
from vivavoce.contrib.conflicts.quantities import Quantity
from vivavoce.contrib.conflicts.text import Conflict, Line, alike, most_alike, stem
from vivavoce.contrib.conflicts.units import is_unit

_SAME_THING = 0.34
"""Share of the words around that two quantities must have in common to speak of the same thing."""
_KIN = ("mass", "volume", "amount", "international", "number")


def quantity_conflicts(
    expected: Sequence[Quantity], actual: Sequence[Quantity], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each quantity of the reference that the answer lacks, against the one that the answer has instead."""
    claimed = [q for q in actual if not q.rejected]
    affirmed = [q for q in expected if not q.rejected]
    unmatched = []
    for quantity in affirmed:
        equals = [q for q in claimed if _equal(quantity, q)]
        if not equals:
            unmatched.append(quantity)
        elif all(q.bound * quantity.bound < 0 for q in equals):  # "more than" against "less than"
            nearest = max(equals, key=lambda q: alike(q.words, quantity.words))
            yield _conflict("comparator", nearest, quantity, answer, reference)
    yield from _swapped(affirmed, claimed, reference, answer)
    free = [q for q in claimed if not any(_equal(e, q) for e in affirmed)]
    alone = len(affirmed) == 1 and len({(q.low, q.high) for q in claimed}) == 1
    for quantity, instead in _aligned(unmatched, free, alone):
        yield _conflict(_kind(quantity, instead), instead, quantity, answer, reference)


def _aligned(
    expected: Sequence[Quantity], actual: Sequence[Quantity], alone: bool
) -> Iterator[tuple[Quantity, Quantity]]:
    """Pairs of quantities of the same thing, the best fits first, each quantity once."""
    pairs = sorted(
        (-_fit(a, e, alone), i, j)
        for i, e in enumerate(expected)
        for j, a in enumerate(actual)
        if _comparable(e, a)
    )
    used_expected: set[int] = set()
    used_actual: set[int] = set()
    for fit, i, j in pairs:
        if -fit >= _SAME_THING and i not in used_expected and j not in used_actual:
            used_expected.add(i)
            used_actual.add(j)
            yield expected[i], actual[j]


def _swapped(
    expected: Sequence[Quantity], actual: Sequence[Quantity], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Two quantities that have changed places: each stands nearest to the other's word."""
    actual_by_word, expected_by_word = _by_nearest_word(actual), _by_nearest_word(expected)
    named = [(word, q) for word, q in expected_by_word.items() if word in actual_by_word]
    positions = {word: k for k, word in enumerate(expected_by_word)}
    for k, (word, first) in enumerate(named):
        for other_word, second in named[k + 1 :]:
            if positions[other_word] - positions[word] > 8:  # a window, so that time grows with length alone
                break
            at_first, at_second = actual_by_word[word], actual_by_word[other_word]
            if _equal(first, second) or _dimension(first) != _dimension(second):
                continue
            if _exchanged(first, second, at_first, at_second):
                yield _conflict("number", at_first, first, answer, reference)
                return


def _by_nearest_word(quantities: Sequence[Quantity]) -> dict[str, Quantity]:
    """The first quantity at each word."""
    return {quantity.words[0]: quantity for quantity in reversed(quantities) if quantity.words}


def _exchanged(first: Quantity, second: Quantity, at_first: Quantity, at_second: Quantity) -> bool:
    """Whether each of two quantities stands at the word of the other one."""
    return _equal(first, at_second) and _equal(second, at_first) and not _equal(first, at_first)


def _fit(actual: Quantity, expected: Quantity, alone: bool) -> float:
    shared = alike(actual.words, expected.words)
    if alone and shared > 0:
        return 1.0
    if (expected.low, expected.high) == (actual.low, actual.high):
        shared = max(shared, _SAME_THING)  # the same figures with another unit
    if actual.unit == expected.unit and actual.bound == expected.bound:
        shared *= 1.05
    return shared


def _kind(expected: Quantity, actual: Quantity) -> str:
    raw = (expected.low, expected.high) == (actual.low, actual.high)
    return "unit" if raw and expected.unit != actual.unit else "number"


def _conflict(kind: str, actual: Quantity, expected: Quantity, answer: Line, reference: Line) -> Conflict:
    return Conflict(
        kind,
        answer.written(actual.start, actual.end),
        reference.written(expected.start, expected.end),
        actual.start,
        actual.end,
    )


def _dimension(quantity: Quantity) -> str:
    if quantity.unit is None:
        return ""
    return {"fahrenheit": "celsius"}.get(quantity.unit.dimension, quantity.unit.dimension)


_OTHER_ROLES = ({"age", "for"}, {"for", "after"}, {"for", "every"}, {"before", "after"})
"""Roles of which no two quantities are of the same thing."""


def _comparable(expected: Quantity, actual: Quantity) -> bool:
    """Whether two unequal quantities could be of the same thing."""
    if {expected.role, actual.role} in _OTHER_ROLES:
        return False
    dimensions = _dimension(expected), _dimension(actual)
    if dimensions[0] != dimensions[1]:
        same_figures = (expected.low, expected.high) == (actual.low, actual.high)
        return same_figures and all(dimensions) and {d.split("/")[0] for d in dimensions} <= {*_KIN}
    if expected.unit is None or actual.unit is None:
        return _comparable_counts(expected, actual)
    if _inside(expected, actual) or _inside(actual, expected):
        return False
    return (expected.unit.per is None) == (actual.unit.per is None)


def _comparable_counts(expected: Quantity, actual: Quantity) -> bool:
    """The same of two numbers without a unit."""
    if (expected.high < 1) != (actual.high < 1):  # a portion is not a count
        return False
    ranges = expected.low != expected.high, actual.low != actual.high
    if ranges[0] != ranges[1] and (expected.bound or actual.bound):
        return False
    if expected.noun and actual.noun:
        return bool({*expected.noun} & {*actual.noun})
    return expected.noun == actual.noun and (all(ranges) or _near_words(expected, actual))


def _near_words(expected: Quantity, actual: Quantity) -> bool:
    """Whether one of the two nearest words is the same; a side without words is near to any."""
    if not expected.words or not actual.words:
        return True
    return bool({*expected.words[:2]} & {*actual.words[:2]})


def _inside(single: Quantity, span: Quantity) -> bool:
    """Whether a single value lies within the range of the other."""
    if span.low == span.high or single.low != single.high:
        return False
    value, bounds = _base(single.low, single), (_base(span.low, span), _base(span.high, span))
    return bounds[0] <= value <= bounds[1]


def _base(value: float, quantity: Quantity) -> float:
    if quantity.unit is None:
        return value
    if quantity.unit.dimension == "fahrenheit":
        return (value - 32) / 1.8
    return value * quantity.unit.factor


def _equal(expected: Quantity, actual: Quantity) -> bool:
    """Whether both are the same in whatever notation; one without a unit is taken at its figures."""
    if expected.unit is None or actual.unit is None:
        return _equal_figures(expected, actual)
    if _dimension(expected) != _dimension(actual):
        return False
    sizes = [
        (_base(expected.low, expected), _base(actual.low, actual)),
        (_base(expected.high, expected), _base(actual.high, actual)),
    ]
    if "celsius" in _dimension(expected):
        return all(abs(e - a) < 0.06 for e, a in sizes)
    return _equal_amounts(sizes, (expected.unit.per, actual.unit.per), _tolerance(expected, actual))


def _equal_figures(expected: Quantity, actual: Quantity) -> bool:
    """Whether the figures are the same, or one side is a portion and the other its percentage."""
    same_figures = (expected.low, expected.high) == (actual.low, actual.high)
    return same_figures or _portion(expected, actual) or _portion(actual, expected)


def _equal_amounts(
    sizes: Sequence[tuple[float, float]], pers: tuple[float | None, float | None], tolerance: float
) -> bool:
    """Whether pairs of sizes in base units are equal, as they are or each by the time that it is `per`."""
    if all(_near(e, a, tolerance) for e, a in sizes):
        return None in pers or pers[0] == pers[1]
    if pers[0] and pers[1] and pers[0] != pers[1]:
        return all(_near(e / pers[0], a / pers[1], tolerance) for e, a in sizes)
    return False


def _tolerance(expected: Quantity, actual: Quantity) -> float:
    """The share by which two equal quantities may differ in their base unit."""
    if expected.unit is not None and actual.unit is not None and _dimension(expected) == "time":
        factors = expected.unit.factor, actual.unit.factor
        # A month is not a whole number of weeks, nor a year of months.
        if factors[0] != factors[1] and max(factors) > 2.5e6:
            return 0.09
    return 0.1 if expected.about or actual.about else 0.006


def _portion(bare: Quantity, actual: Quantity) -> bool:
    """Whether 0.95 stands for 95%."""
    if bare.unit is not None or actual.unit is None or actual.unit.dimension != "share":
        return False
    return _near(100 * bare.low, actual.low, 0.006) and _near(100 * bare.high, actual.high, 0.006)


def _near(a: float, b: float, share: float) -> bool:
    return abs(a - b) <= share * max(abs(a), abs(b))


class Label(NamedTuple):
    """A numbered name: what is numbered (`name`), the number, and the words of its clause."""

    name: str
    number: str
    rejected: bool
    words: frozenset[str]
    start: int
    end: int


_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
_ROMAN = {
    r: str(n)
    for n, r in enumerate(["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"], 1)
}
_KINDS = (
    "type|stage|grade|class|phase|group|category|factor|trimester|generation|nerve|cn|il|hiv|hsv|hpv"
    "|interleukin|schedule|lead|level"
)
_LABEL = re.compile(
    rf"""
    (?<!\d\ )\b(?P<ordinal>{"|".join(_ORDINALS)})\ (?P<noun>[^\W\d]{{3,}})
    | \b(?P<n>\d+)\ (?:st|nd|rd|th)\ (?P<noun2>[^\W\d]{{3,}})
    | \b(?P<kind>{_KINDS})\ (?P<value>\d+[a-z]?|[ivx]+|[a-d])\b(?!\ (?:-|to|or|and)\ \d)
    | \b(?P<code>[^\W\d_]{{1,4}})(?P<rest>\d{{1,3}}(?:[a-z]\d?)?)\b
    """,
    re.VERBOSE,
)
_SAME_LABEL = 0.5


def find_labels(line: Line, clauses: Clauses) -> list[Label]:
    """The numbered names of a line in order."""
    numbered = []
    for m in _LABEL.finditer(line.text):
        if m["ordinal"]:
            name, number = "ordinal " + stem(m["noun"]), str(_ORDINALS.index(m["ordinal"]) + 1)
        elif m["n"]:
            name, number = "ordinal " + stem(m["noun2"]), m["n"]
        elif m["kind"]:
            name, number = m["kind"], _ROMAN.get(m["value"], m["value"])
        elif is_unit(m[0]) or (m["code"] == "q"):
            continue
        else:
            name, number = m["code"], m["rest"]
        clause = clauses.at(m.start())
        words = frozenset(line.words(max(clause.start, m.start() - 80), min(clause.end, m.end() + 80)))
        numbered.append(Label(name, number, clause.rejected, words - {stem(m[0])}, m.start(), m.end()))
    return numbered


def _numbered_names(labels: Sequence[Label]) -> set[tuple[str, str]]:
    """Name and number of each label that is not rejected."""
    return {(label.name, label.number) for label in labels if not label.rejected}


def _labels_without(labels: Sequence[Label], names: set[tuple[str, str]]) -> list[Label]:
    """The labels that are not rejected and whose name and number are not in `names`."""
    return [n for n in labels if not n.rejected and (n.name, n.number) not in names]


def label_conflicts(
    expected: Sequence[Label], actual: Sequence[Label], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each number of a name that the answer has not, against another that it gives to the same name."""
    affirmed, has = _numbered_names(expected), _numbered_names(actual)
    free = _labels_without(actual, affirmed)
    for label in _labels_without(expected, has):
        fit, best = most_alike(label.words, [n for n in free if n.name == label.name])
        if best is None or fit < _SAME_LABEL:
            continue
        yield Conflict(
            "number",
            answer.written(best.start, best.end),
            reference.written(label.start, label.end),
            best.start,
            best.end,
        )
        return
