"""Conflicts of number, unit and comparator: quantities aligned by what they measure."""

from collections.abc import Iterator, Sequence

from vivavoce.conflicts.found import Conflict, alike
from vivavoce.conflicts.line import Line
from vivavoce.conflicts.quantities import Quantity

__all__ = ["amounts"]

_NEAR = 0.34
"""Share of the words around that two quantities must have in common to speak of the same thing."""
_KIN = ("mass", "volume", "amount", "international", "number")


def amounts(
    wanted: Sequence[Quantity], said: Sequence[Quantity], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each quantity of the reference that the answer has not, against the one it has in its place."""
    meant = [q for q in said if not q.turned]
    open_ = []
    for quantity in wanted:
        if quantity.turned:
            continue
        same = [q for q in meant if _equal(quantity, q)]
        if not same:
            open_.append(quantity)
        elif all(q.bound * quantity.bound < 0 for q in same):
            best = max(same, key=lambda q: alike(q.words, quantity.words))
            yield _conflict("comparator", best, quantity, answer, reference)
    known = [q for q in wanted if not q.turned]
    yield from _swapped(known, meant, reference, answer)
    free = [q for q in meant if not any(_equal(w, q) for w in known)]
    lone = len({(q.low, q.high) for q in meant}) == 1
    pairs = sorted(
        (
            (-_fit(q, w, lone and len(known) == 1), i, j)
            for i, w in enumerate(open_)
            for j, q in enumerate(free)
            if _comparable(w, q)
        ),
    )
    used_wanted: set[int] = set()
    used_said: set[int] = set()
    for fit, i, j in pairs:
        if -fit < _NEAR or i in used_wanted or j in used_said:
            continue
        used_wanted.add(i)
        used_said.add(j)
        yield _conflict(_kind(open_[i], free[j]), free[j], open_[i], answer, reference)


def _swapped(
    wanted: Sequence[Quantity], said: Sequence[Quantity], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Two quantities that have changed places: each stands nearest to the other's word."""
    by_word = {q.words[0]: q for q in reversed(said) if q.words}
    first: dict[str, Quantity] = {q.words[0]: q for q in reversed(wanted) if q.words}
    named = list(first.items())
    for k, (word, one) in enumerate(named):
        for other, two in named[k + 1 : k + 9]:
            here, there = by_word.get(word), by_word.get(other)
            if here is None or there is None or _equal(one, two) or _dimension(one) != _dimension(two):
                continue
            if _equal(one, there) and _equal(two, here) and not _equal(one, here):
                yield _conflict("number", here, one, answer, reference)
                return


def _fit(said: Quantity, wanted: Quantity, lone: bool) -> float:
    shared = alike(said.words, wanted.words)
    if lone and shared > 0:
        return 1.0
    if (wanted.low, wanted.high) == (said.low, said.high):
        shared = max(shared, _NEAR)  # the same figures with another unit
    if said.unit == wanted.unit and said.bound == wanted.bound:
        shared *= 1.05
    return shared


def _kind(wanted: Quantity, said: Quantity) -> str:
    raw = (wanted.low, wanted.high) == (said.low, said.high)
    return "unit" if raw and wanted.unit != said.unit else "number"


def _conflict(kind: str, said: Quantity, wanted: Quantity, answer: Line, reference: Line) -> Conflict:
    return Conflict(
        kind,
        answer.written(said.start, said.end),
        reference.written(wanted.start, wanted.end),
        said.start,
        said.end,
    )


def _dimension(quantity: Quantity) -> str:
    if quantity.unit is None:
        return ""
    return {"fahrenheit": "celsius"}.get(quantity.unit.dimension, quantity.unit.dimension)


def _comparable(wanted: Quantity, said: Quantity) -> bool:
    """Whether two unequal quantities could be of the same thing."""
    one, two = _dimension(wanted), _dimension(said)
    if {wanted.role, said.role} in ({"age", "for"}, {"for", "after"}, {"for", "every"}, {"before", "after"}):
        return False
    if one != two:
        raw = (wanted.low, wanted.high) == (said.low, said.high)
        return raw and bool(one and two) and {one.split("/")[0], two.split("/")[0]} <= {*_KIN}
    if not one:
        if (wanted.high < 1) != (said.high < 1):  # a portion is no count
            return False
        spans = wanted.low != wanted.high, said.low != said.high
        if spans[0] != spans[1] and (wanted.bound or said.bound):
            return False
        if wanted.noun and said.noun:
            return bool({*wanted.noun} & {*said.noun})
        near = all(spans) or bool({*wanted.words[:2]} & {*said.words[:2]})
        return wanted.noun == said.noun and (near or not wanted.words or not said.words)
    if _inside(wanted, said) or _inside(said, wanted):
        return False
    return (wanted.unit.per is None) == (said.unit.per is None)  # type: ignore[union-attr]


def _inside(one: Quantity, two: Quantity) -> bool:
    """Whether a single value lies within the range of the other."""
    if two.low == two.high or one.low != one.high:
        return False
    value, bounds = _base(one.low, one), (_base(two.low, two), _base(two.high, two))
    return bounds[0] <= value <= bounds[1]


def _base(value: float, quantity: Quantity) -> float:
    if quantity.unit is None:
        return value
    if quantity.unit.dimension == "fahrenheit":
        return (value - 32) / 1.8
    return value * quantity.unit.factor


def _equal(wanted: Quantity, said: Quantity) -> bool:
    """Whether both are the same in whatever notation; one without a unit is taken at its figures."""
    if wanted.unit is None or said.unit is None:
        return (wanted.low, wanted.high) == (said.low, said.high) or (
            _portion(wanted, said) or _portion(said, wanted)
        )
    if _dimension(wanted) != _dimension(said):
        return False
    rough = 0.1 if wanted.about or said.about else 0.006
    calendar = _dimension(wanted) == "time" and wanted.unit.factor != said.unit.factor
    if calendar and max(wanted.unit.factor, said.unit.factor) > 2.5e6:
        rough = 0.09
    sizes = [
        (_base(w, wanted), _base(s, said)) for w, s in ((wanted.low, said.low), (wanted.high, said.high))
    ]
    if "celsius" in _dimension(wanted):
        return all(abs(w - s) < 0.06 for w, s in sizes)
    if all(_near(w, s, rough) for w, s in sizes):
        pers = wanted.unit.per, said.unit.per
        return None in pers or pers[0] == pers[1]
    if wanted.unit.per and said.unit.per and wanted.unit.per != said.unit.per:
        return all(_near(w / wanted.unit.per, s / said.unit.per, rough) for w, s in sizes)
    return False


def _portion(bare: Quantity, said: Quantity) -> bool:
    """Whether 0.95 stands for 95%."""
    if bare.unit is not None or said.unit is None or said.unit.dimension != "share":
        return False
    return _near(100 * bare.low, said.low, 0.006) and _near(100 * bare.high, said.high, 0.006)


def _near(one: float, two: float, share: float) -> bool:
    return abs(one - two) <= share * max(abs(one), abs(two))
