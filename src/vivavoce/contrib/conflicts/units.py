"""Units as the screen compares them: more of them are alike than a fixed factor allows."""

from collections.abc import Sequence
from typing import NamedTuple

from vivavoce.reading import units
from vivavoce.reading.quantities import MOST
from vivavoce.reading.units import PER, UNITS

DAY = 86_400.0
YEAR = 365.25 * DAY
_ALIKE = {
    "charge": ("amount", 1.0),  # a milliequivalent is a millimole of what has a single charge
    "months": ("time", YEAR / 12),
    "unit": ("international", 1.0),
    "milli-international": ("international", 1e-3),
    **dict.fromkeys(("cells", "copies", "platelets", "colonies"), ("number", 1.0)),
    **dict.fromkeys(("breaths", "bpm"), ("beats", 1.0)),
}
"""Dimensions that a screen for changes takes for another one, and how much of its base unit theirs is."""


class Unit(NamedTuple):
    """A unit as it stands: `dimension`, `factor` to the base unit, the seconds it is `per` (or null)."""

    dimension: str
    factor: float
    per: float | None = None


def _as_screened(unit: units.Unit) -> Unit:
    dimension, size = _ALIKE.get(unit.dimension, (unit.dimension, 1.0))
    return Unit(dimension, size * float(unit.factor))


_TABLE = {name: _as_screened(unit) for name, unit in UNITS.items()}
_EACH = frozenset({"a", "an", "each", "every"})
_BREAKS = frozenset({",", "."})
_TIMES_A = frozenset({"once", "twice", "thrice", "times"})


def is_unit(word: str) -> bool:
    """Whether a word alone is the name of a unit."""
    return word in UNITS


def unit_at(words: Sequence[str], k: int) -> tuple[Unit | None, int]:
    """The unit, bare or composed, at word k behind a number, and the word after it; null and k if none is.

    "mg / kg / day", "l of oxygen per minute" and "g daily" are one unit each; "/ 1.73 m2" is passed over.
    """
    first, end = _numerator(words, k)
    if first is None:
        return None, k
    unit, end = _divided(first, words, end)
    if end == k:
        return None, k
    if unit.per is None and unit.dimension != "time":
        end, per = _daily(words, end)
        unit = unit._replace(per=per)
    return unit, end


def _numerator(words: Sequence[str], k: int) -> tuple[Unit | None, int]:
    """The bare unit at word k, and the word after it; a "/" or "per" at once divides a plain number."""
    unit, end = _single(words, k)
    if unit is None and _at(words, k, PER):
        return Unit("number", 1.0), k
    return unit, end


def _divided(unit: Unit, words: Sequence[str], end: int) -> tuple[Unit, int]:
    """The unit by all that divides it from word `end` on, and the word after the last divisor."""
    for _ in range(MOST):  # of "/ kg / kg / …" the factor would soon be 0
        start = _over(words, end, unit.per is None and unit.dimension != "time")
        divisor, following = _single(words, start) if start else (None, end)
        if divisor is None:
            return unit, end
        if divisor.dimension == "time":
            unit = unit._replace(per=divisor.factor * (24 if words[start - 1] == "24" else 1))
        elif divisor.dimension != "area":
            dimension = f"{unit.dimension}/{divisor.dimension}"
            unit = unit._replace(dimension=dimension, factor=unit.factor / divisor.factor)
        end = following
        if words[end : end + 2] == ["body", "weight"]:
            end += 2
    return unit, end


def _single(words: Sequence[str], k: int) -> tuple[Unit | None, int]:
    _, end = units.unit_at(words, k)
    return _TABLE.get(" ".join(words[k:end])), end


def _over(words: Sequence[str], k: int, rate: bool) -> int:
    """Where the unit stands that follows a "/" or "per" at word k; 0 if none does."""
    if _at(words, k, PER):
        start = k + 1
        if start + 1 < len(words) and words[start] in {"1.73", "1", "24"}:
            start += 1
        return start
    if not rate:
        return 0
    if _at(words, k, _EACH) and _time(words, k + 1):
        return k + 1
    return _over_behind_name(words, k)


def _over_behind_name(words: Sequence[str], k: int) -> int:
    """The same where what is measured stands between, as in "2 l of oxygen per minute"."""
    for near in range(k, min(k + (5 if _at(words, k, frozenset({"of"})) else 2), len(words))):
        if words[near] in _BREAKS | _TIMES_A or words[near][0].isdigit():
            return 0
        if near > k and words[near] in PER | {"a"} and _time(words, near + 1):
            return near + 1
    return 0


def _time(words: Sequence[str], k: int) -> bool:
    unit = _TABLE.get(words[k]) if k < len(words) else None
    return unit is not None and unit.dimension == "time"


def _daily(words: Sequence[str], k: int) -> tuple[int, float | None]:
    """Whether "daily" or "in 24 hours" follows at word k, or behind "of" and a name."""
    near = k
    if _at(words, k, frozenset({"of"})):
        near = min(k + 2, len(words))
    if _at(words, near, frozenset({"daily"})):
        return near + 1, DAY
    if words[near : near + 2] in (["in", "24"], ["every", "24"], ["over", "24"]) and _time(words, near + 2):
        return near + 3, DAY
    return k, None


def _at(words: Sequence[str], k: int, forms: frozenset[str]) -> bool:
    return k < len(words) and words[k] in forms
