"""Quantities as single tokens: a number and its unit together, the same in any unit of one dimension.

`1 g`, `1000 mg` and `1,000mg` are one token, `10 mg` and `100 mg` two that have nothing in common. A quantity
is a number, a range (`5-10 mg`, `5 mg to 10 mg`) or numbers with a slash (`120/80 mmHg`), then a unit. Units
may be divided (`mg/kg/day`, `mg per 24 h`, `g/100 ml`), and so may a plain number (`150 x 10^9/L`).

Two units have one dimension only if a fixed factor leads from one to the other, whatever the substance: mg
and µg, not mg and mmol, IU and mg, mEq and mmol, or months and days.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import compress
from typing import NamedTuple

from vivavoce.core.text import lazy_pattern
from vivavoce.language.tokens import number_form
from vivavoce.language.words import clinical_form, clinical_words


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


_PIECE = lazy_pattern(
    r"""
    (?P<number> (?<![\w.])\d+ (?: [.,·]\d+ | [\u00a0\u2009\u202f]\d{3}(?!\d)
        | [ ]0\d\d(?!\d) )* )       # 10 000 IU; but 2 500 mg may be two of 500 mg
    | \^[+-]?\d+ | [^\W\d_]+\d* | \w+ | [<>]=? | !?= | [^\s\w]
    """,
    re.VERBOSE,
)
_PLAIN = lazy_pattern(r"\d{1,15}(?:\.\d{1,15})?")
_POWER = lazy_pattern(r"\^([+-]?\d{1,2})")
_LETTER_FOLLOWS = lazy_pattern(r"[-.'][^\W\d_]")
_JOINS = {**dict.fromkeys(("-", "to", "till", "through"), "-"), "/": " / "}
_BOUNDS = frozenset({"<", ">", "<=", ">=", "!=", "±"})
_COUNTED = "fold"
"""The dimension of "3 times" and "3 x", which count what follows."""
MOST = 8
"""Numbers that share one unit, and units that divide it; fixed combinations of drugs seldom have over four.

Without an end "5 mg/kg/kg/…" would make a number of thousands of digits.
"""


def quantity_tokens(text: str, *, pairs: bool = False) -> tuple[str, ...]:
    """`clinical_tokens` with each quantity as one token, in the base unit of its dimension.

    A comparator or sign stays with its quantity. A number that is not read, such as `2,5`, equals only the
    same number as written. The ends of a range keep their order. A number without a unit is a token of its
    own. `pairs` is that of `clinical_tokens`. Empty for a text without letters and digits.
    """
    form = clinical_form(text)
    tokens: list[str] = []
    position = 0
    for token, start, end in _Pieces(form).quantities():
        tokens += (*clinical_words(form, position, start, pairs=pairs), token)
        position = end
    return (*tokens, *clinical_words(form, position, pairs=pairs))


class _Size(NamedTuple):
    """What a unit, bare or divided, measures, and its exact size in base units."""

    dimension: str
    factor: Fraction


class _Part(NamedTuple):
    """A number of a quantity: its join to the one before, its value, its own unit or null, the next word."""

    join: str
    value: Fraction | str
    size: _Size | None
    stop: int


class _Pieces:
    """A clinical form cut into numbers, words and signs: `words`, and the places where they begin and end."""

    def __init__(self, form: str) -> None:
        matches = list(_PIECE.finditer(form)) if any(map(str.isdigit, form)) else []
        self.form = form
        self.words = [match[0] for match in matches]
        self.spans = [match.span() for match in matches]
        self.numbers = [match.lastgroup == "number" for match in matches]

    def quantities(self) -> Iterator[tuple[str, int, int]]:
        """The token of each quantity, and the places where it begins and ends."""
        stop = 0
        for k in compress(range(len(self.words)), self.numbers):
            if k < stop:  # part of the quantity before
                continue
            parts, stop = ([], k) if self.part_of_name(k) else self.parts(k)
            if parts:
                prefix, first = self.prefix(k)
                yield prefix + _token(parts), self.spans[first][0], self.spans[stop - 1][1]

    def parts(self, k: int) -> tuple[list[_Part], int]:
        """The numbers of the quantity at word k up to the last unit, and the word after it.

        None, and the word after the last number, if no unit follows: no later one of them has a unit either.
        """
        parts: list[_Part] = []
        n_whole, dimension, join = 0, "", ""
        while len(parts) < MOST and k < len(self.words) and self.numbers[k]:
            value, end = self.number(k)
            size, stop = self.unit(end)
            parts.append(_Part(join, value, size, stop))
            if size is not None:
                if n_whole and size.dimension != dimension:
                    break  # "75 mg - 5 days" are two
                n_whole, dimension = len(parts), size.dimension
            join = _JOINS.get(self.words[stop], "") if stop < len(self.words) else ""
            k = stop + bool(join)
            if not join:
                break
        return (parts[:n_whole], parts[n_whole - 1].stop) if n_whole else ([], k)

    def part_of_name(self, k: int) -> bool:
        """Whether word k stands behind letters and a hyphen: "omega-3"."""
        return k > 1 and self.hyphen(k - 1) and self.words[k - 2].isalpha()

    def number(self, k: int) -> tuple[Fraction | str, int]:
        """The number at word k with its power of ten, and the word after it; as written if it is not read."""
        written = number_form(self.words[k].replace(" ", ""))
        if not _PLAIN.fullmatch(written):
            return written, k + 1
        value = Fraction(written)
        if value == 10 and (exponent := self.exponent(k + 1)) is not None:
            return Fraction(10) ** exponent, k + 2
        times = self.words[k + 1 : k + 3]
        ten = k + (3 if times in (["x", "10"], ["*", "10"]) else 2)
        if (ten == k + 3 or times[:1] == ["x10"]) and (exponent := self.exponent(ten)) is not None:
            return value * Fraction(10) ** exponent, ten + 1
        return value, k + 1

    def exponent(self, k: int) -> int | None:
        """The power at word k; null if none is."""
        power = _POWER.fullmatch(self.words[k]) if k < len(self.words) else None
        return int(power[1]) if power else None

    def unit(self, k: int) -> tuple[_Size | None, int]:
        """The unit at word k with all that divides it, and the word after it; null and k if none is."""
        start = k + 1 if self.hyphen(k) else k  # "a 5-mg dose"
        bare, end = self.bare(start)
        if bare is None and self.words[start : start + 1] not in (["/"], ["per"]):
            return None, k
        dimension, factor = bare or Unit("", Fraction(1))
        divisors: list[str] = []
        while len(divisors) < MOST and (divisor := self.divisor(end, dimension)) is not None:
            size, end = divisor
            divisors.append(size.dimension)
            factor /= size.factor
        if not dimension and not divisors:
            return None, k
        return _Size("/".join([dimension, *sorted(divisors)]), factor), end

    def bare(self, k: int) -> tuple[Unit | None, int]:
        """The bare unit at word k, and the word after it; a letter in "5 L-dopa" or a new line is none."""
        unit, end = unit_at(self.words, k)
        if unit is None or unit.dimension == _COUNTED:
            return None, k
        start, stop = self.spans[k][0], self.spans[end - 1][1]
        if stop - start == 1 and self.words[k].isalpha():
            preceding = self.form[self.spans[k - 1][1] : start]
            if "\n" in preceding or _LETTER_FOLLOWS.match(self.form, stop):
                return None, k
        return unit, end

    def divisor(self, k: int, dimension: str) -> tuple[_Size, int] | None:
        """What divides a unit at word k: "/ kg", "per 24 h", "/ 100 ml"; null if it is another number."""
        if k + 1 >= len(self.words) or self.words[k] not in PER:
            return None
        count: Fraction | str = Fraction(1)
        start = k + 1
        if self.numbers[start]:
            count, start = self.number(start)
        unit, end = self.bare(start)
        if unit is None or isinstance(count, str) or not count:
            return None
        # "120/80 mmHg" and "5 mg/325 mg" are pairs, and no quotients
        if start > k + 1 and self.words[k] == "/" and dimension in {"", unit.dimension}:
            return None
        return _Size(unit.dimension, count * unit.factor), end

    def hyphen(self, k: int) -> bool:
        """Whether word k is a hyphen without blanks on either side."""
        return (
            0 < k < len(self.words) - 1
            and self.words[k] == "-"
            and self.spans[k - 1][1] == self.spans[k][0]
            and self.spans[k][1] == self.spans[k + 1][0]
        )

    def prefix(self, k: int) -> tuple[str, int]:
        """The comparator and sign before the number at word k, and the word where they begin."""
        sign = ""
        if k and self.words[k - 1] in {"+", "-"} and self.spans[k - 1][1] == self.spans[k][0]:
            place = self.spans[k - 1][0]
            if place == 0 or not (self.form[place - 1].isalnum() or self.form[place - 1] in "._)%"):
                sign, k = self.words[k - 1], k - 1
        if k and self.words[k - 1] in _BOUNDS:
            return self.words[k - 1] + sign, k - 1
        return sign, k


def _token(parts: Sequence[_Part]) -> str:
    """The one spelling of a quantity; a number without a unit has the one that follows."""
    size = parts[-1].size
    values: list[str] = []
    for part in reversed(parts):
        size = part.size or size
        factor = size.factor if size else Fraction(1)
        value = f"{part.value}*{factor}" if isinstance(part.value, str) else str(part.value * factor)
        values.append(part.join + value)
    return f"{''.join(reversed(values))} {size.dimension if size else ''}"
