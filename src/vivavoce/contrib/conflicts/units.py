"""Units: what they measure, and how much of its base unit one of them is."""

from collections.abc import Sequence
from typing import NamedTuple

DAY = 86_400.0
YEAR = 365.25 * DAY


class Unit(NamedTuple):
    """A unit as it stands: its `dimension`, the `factor` to the base unit, the seconds it is `per` (or null).

    Base units are g, l, mol, s, m, mmHg, °C. Milliequivalents count as millimoles: right for single charges.
    """

    dimension: str
    factor: float
    per: float | None = None


_PREFIXES = (
    ("kilo", "k", 1e3), ("", "", 1.0), ("deci", "d", 1e-1), ("centi", "c", 1e-2), ("milli", "m", 1e-3),
    ("micro", "μ", 1e-6), ("micro", "u", 1e-6), ("micro", "mc", 1e-6), ("nano", "n", 1e-9),
    ("pico", "p", 1e-12), ("femto", "f", 1e-15),
)  # fmt: skip
_METRIC = (
    ("mass", ("gram", "gramme"), ("g", "gm"), ("kg", "g", "gm", "mg", "μg", "ug", "mcg", "ng", "pg")),
    ("volume", ("litre", "liter"), ("l",), ("l", "dl", "cl", "ml", "μl", "ul", "mcl", "nl", "pl", "fl")),
    ("amount", ("mole", "mol"), ("mol",), ("mol", "mmol", "μmol", "umol", "nmol", "pmol")),
    ("amount", ("equivalent",), ("eq",), ("eq", "meq")),
    ("length", ("metre", "meter", "micron"), ("m",), ("m", "cm", "mm", "μm", "um", "nm", "km")),
)
_TIMES = {
    "ms msec millisecond": 1e-3, "s sec second": 1.0, "min minute": 60.0, "h hr hour hourly": 3600.0,
    "d day": DAY,
    "wk week": 7 * DAY, "mo month": 30.4375 * DAY, "y yr year": YEAR, "decade": 3652.5 * DAY,
}  # fmt: skip
_OTHERS = {
    "international": {"iu": 1.0, "unit": 1.0, "international unit": 1.0, "miu": 1e-3, "u": 1.0},
    "pressure": {"mmhg": 1.0, "mm hg": 1.0, "kpa": 7.50062, "cmh2o": 0.735559},
    "share": {"%": 1.0, "percent": 1.0, "per cent": 1.0, "percentage point": 1.0, "‰": 0.1},
    "celsius": {"° c": 1.0, "degree c": 1.0, "degree celsius": 1.0, "celsius": 1.0,
    "degree centigrade": 1.0, "c": 1.0},
    "fahrenheit": {"° f": 1.0, "degree f": 1.0, "degree fahrenheit": 1.0, "fahrenheit": 1.0, "f": 1.0},
    "energy": {"kcal": 1.0, "kilocalorie": 1.0, "kj": 0.239006},
    "radiation": {"gy": 1.0, "gray": 1.0, "cgy": 0.01},
    "fold": {"fold": 1.0, "x": 1.0, "time": 1.0},
    "number": {"cell": 1.0, "copy": 1.0, "copies": 1.0, "platelet": 1.0, "cfu": 1.0},
    "beats": {"bpm": 1.0, "beat": 1.0, "breath": 1.0},
    "volume": {"mm3": 1e-6, "mm ^3": 1e-6, "cubic millimetre": 1e-6, "cubic millimeter": 1e-6, "cc": 1e-3,
    "cm3": 1e-3},
    "area": {"m2": 1.0, "m ^2": 1.0, "square metre": 1.0, "square meter": 1.0, "cm2": 1e-4, "cm ^2": 1e-4,
    "mm2": 1e-6},
}  # fmt: skip


def _metric_units() -> dict[str, Unit]:
    """The metric units by name and by symbol, with each prefix."""
    units: dict[str, Unit] = {}
    for dimension, names, symbols, allowed in _METRIC:
        for long, short, factor in _PREFIXES:
            for name in names:
                units[long + name] = Unit(dimension, factor * (1e-6 if name == "micron" else 1.0))
            units.update({short + s: Unit(dimension, factor) for s in symbols if short + s in allowed})
    return units


def _table() -> dict[str, Unit]:
    """The units by name and by symbol, in the singular and in the plural."""
    table = _metric_units()
    for listed, seconds in _TIMES.items():
        table.update({name: Unit("time", seconds) for name in listed.split()})
    for dimension, others in _OTHERS.items():
        table.update({name: Unit(dimension, factor) for name, factor in others.items()})
    plural = {name + "s": unit for name, unit in table.items() if len(name) > 2 and name[-1].isalpha()}
    degrees = {
        name.replace("degree", "degrees"): unit for name, unit in table.items() if name.startswith("degree")
    }
    return plural | {"hrs": table["hr"], "mins": table["min"]} | degrees | table


_TABLE = _table()
_PER = frozenset({"/", "per"})
_EACH = frozenset({"a", "an", "each", "every"})
_BREAKS = frozenset({",", "."})
_TIMES_A = frozenset({"once", "twice", "thrice", "times"})


def is_unit(word: str) -> bool:
    """Whether a word alone is the name of a unit."""
    return word in _TABLE


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
    if unit is None and _at(words, k, _PER):
        return Unit("number", 1.0), k
    return unit, end


def _divided(unit: Unit, words: Sequence[str], end: int) -> tuple[Unit, int]:
    """The unit by all that divides it from word `end` on, and the word after the last divisor."""
    while True:
        start = _over(words, end, unit.per is None and unit.dimension != "time")
        divisor, after = _single(words, start) if start else (None, end)
        if divisor is None:
            return unit, end
        if divisor.dimension == "time":
            unit = unit._replace(per=divisor.factor * (24 if words[start - 1] == "24" else 1))
        elif divisor.dimension != "area":
            dimension = f"{unit.dimension}/{divisor.dimension}"
            unit = unit._replace(dimension=dimension, factor=unit.factor / divisor.factor)
        end = after
        if words[end : end + 2] == ["body", "weight"]:
            end += 2


def _single(words: Sequence[str], k: int) -> tuple[Unit | None, int]:
    for size in (2, 1):
        unit = _TABLE.get(" ".join(words[k : k + size]))
        if unit is not None:
            return unit, k + size
    return None, k


def _over(words: Sequence[str], k: int, rate: bool) -> int:
    """Where the unit stands that follows a "/" or "per" at word k; 0 if none does."""
    if _at(words, k, _PER):
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
        if near > k and words[near] in _PER | {"a"} and _time(words, near + 1):
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
