"""Units of measurement: what each one measures, and how much of its base unit it is.

Two units have one dimension only if a fixed factor leads from one to the other, whatever the substance: mg
and µg, not mg and mmol, IU and mg, mEq and mmol, or months and days.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A bare unit: its `dimension`, and the exact `factor` to the base unit of that dimension.

    Base units are g, l, mol, s, m and mmHg; those of other dimensions stand in the table with the factor 1.
    """

    dimension: str
    factor: Fraction


_PREFIXES = (
    ("kilo", "k", "1e3"), ("", "", "1"), ("deci", "d", "1e-1"), ("centi", "c", "1e-2"),
    ("milli", "m", "1e-3"), ("micro", "μ", "1e-6"), ("micro", "u", "1e-6"), ("micro", "mc", "1e-6"),
    ("nano", "n", "1e-9"), ("pico", "p", "1e-12"), ("femto", "f", "1e-15"),
)  # fmt: skip
_METRIC = (
    ("mass", ("gram", "gramme"), ("g", "gm"), ("kg", "g", "gm", "mg", "μg", "ug", "mcg", "ng", "pg")),
    ("volume", ("litre", "liter"), ("l",), ("l", "dl", "cl", "ml", "μl", "ul", "mcl", "nl", "pl", "fl")),
    ("amount", ("mole", "mol"), ("mol",), ("mol", "mmol", "μmol", "umol", "nmol", "pmol")),
    ("charge", ("equivalent",), ("eq",), ("eq", "meq")),
    ("length", ("metre", "meter", "micron"), ("m",), ("m", "cm", "mm", "μm", "um", "nm", "km")),
)
_TIMES = {
    "ms msec millisecond": "1e-3", "s sec second": "1", "min minute": "60", "h hr hour hourly": "3600",
    "d day": "86400", "wk week": "604800",
}  # fmt: skip
# neither is a whole number of days
_MONTHS = {"mo month": "1", "y yr year": "12", "decade": "120"}
_OTHERS = {
    "international": {"iu": "1", "international unit": "1"},
    "milli-international": {"miu": "1"},  # MIU, a million of them, is written alike but for case
    "unit": {"unit": "1", "u": "1"},
    "pressure": {"mmhg": "1", "mm hg": "1", "kpa": "7.50062", "cmh2o": "0.735559"},
    "share": {"%": "1", "percent": "1", "per cent": "1", "percentage point": "1", "‰": "0.1"},
    "celsius": {"° c": "1", "degree c": "1", "degree celsius": "1", "celsius": "1",
    "degree centigrade": "1", "c": "1"},
    "fahrenheit": {"° f": "1", "degree f": "1", "degree fahrenheit": "1", "fahrenheit": "1", "f": "1"},
    "energy": {"kcal": "1", "kilocalorie": "1", "kj": "0.239006"},
    "radiation": {"gy": "1", "gray": "1", "cgy": "0.01"},
    "fold": {"fold": "1", "x": "1", "time": "1"},
    "cells": {"cell": "1"}, "copies": {"copy": "1", "copies": "1"}, "platelets": {"platelet": "1"},
    "colonies": {"cfu": "1"}, "beats": {"beat": "1"}, "breaths": {"breath": "1"}, "bpm": {"bpm": "1"},
    "volume": {"mm3": "1e-6", "mm ^3": "1e-6", "cubic millimetre": "1e-6", "cubic millimeter": "1e-6",
    "cc": "1e-3", "cm3": "1e-3"},
    "area": {"m2": "1", "m ^2": "1", "square metre": "1", "square meter": "1", "cm2": "1e-4",
    "cm ^2": "1e-4", "mm2": "1e-6"},
}  # fmt: skip


def _metric_units() -> dict[str, Unit]:
    """The metric units by name and by symbol, with each prefix."""
    units: dict[str, Unit] = {}
    for dimension, names, symbols, allowed in _METRIC:
        for long, short, power in _PREFIXES:
            factor = Fraction(power)
            for name in names:
                units[long + name] = Unit(dimension, factor / 10**6 if name == "micron" else factor)
            units.update({short + s: Unit(dimension, factor) for s in symbols if short + s in allowed})
    return units


def _table() -> dict[str, Unit]:
    """The units by name and by symbol, in the singular and in the plural."""
    table = _metric_units()
    for dimension, times in (("time", _TIMES), ("months", _MONTHS)):
        for names, factor in times.items():
            table.update({name: Unit(dimension, Fraction(factor)) for name in names.split()})
    for dimension, units in _OTHERS.items():
        table.update({name: Unit(dimension, Fraction(factor)) for name, factor in units.items()})
    return _plurals(table) | {"hrs": table["hr"], "mins": table["min"]} | table


def _plurals(table: Mapping[str, Unit]) -> dict[str, Unit]:
    """The plurals of names of three letters or more, of "degree celsius" both "degrees celsius" and "…s"."""
    plurals = {name + "s": unit for name, unit in table.items() if len(name) > 2 and name[-1].isalpha()}
    degrees = {name: unit for name, unit in table.items() if name.startswith("degree")}
    return plurals | {name.replace("degree", "degrees"): unit for name, unit in degrees.items()}


UNITS = _table()
"""The units by name and symbol, in lower case; words of a name are joined by a blank ("mm hg", "° c")."""
PER = frozenset({"/", "per"})
"""What stands between a unit and one that divides it."""


def unit_at(words: Sequence[str], k: int) -> tuple[Unit | None, int]:
    """The bare unit at word k, the longest name first, and the word after it; null and k if none is."""
    for name in (words[k : k + 2], words[k : k + 1]):
        unit = UNITS.get(" ".join(name))
        if unit is not None:
            return unit, k + len(name)
    return None, k
