"""Rows of other people's files under our names, with plain types and an error that says where."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from vivavoce.core.endings import SERVER_ERROR, server_error
from vivavoce.core.errors import InputError
from vivavoce.core.numbers import LARGEST
from vivavoce.core.records import Item, Response
from vivavoce.core.tables import Line
from vivavoce.core.text import has_line_ends, one_line, refuse_line_ends

_NAMES = ("item", "variant", "candidate", "criterion", "rater", "ballot", "edit")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))\s*")
"""A number that can only be meant so: three digits behind the comma may be thousands."""
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")


def by_name(items: Iterable[Item]) -> dict[tuple[str, str], Item]:
    """Items by every name they answer to: published id, or base id and variant."""
    names = {(item.item, item.variant): item for item in items}
    return {(item.alias, ""): item for item in items if item.alias} | names


def named(lines: Iterable[Line], matched: Mapping[str, str], needed: Mapping[str, str]) -> Iterator[Line]:
    """Rows that have what they need. `needed` gives for each column how the user can name it.

    Raises `InputError` when one is absent, or empty where only `text` may be.
    """
    for line in lines:
        row = line.row
        for name, remedy in needed.items():
            if name not in row:
                raise InputError(
                    f"{line.where}: no column {name!r} (there are {', '.join(row)}): {remedy} names it."
                )
            if name != "text" and row[name] in (None, ""):
                raise InputError(f"{line.where}: the column {matched.get(name, name)!r} is empty.")
        for name in _NAMES:
            if name in row and has_line_ends(row[name]):
                refuse_line_ends(row[name], f"{line.where}, {name}")
        yield line


def refuse_blank_twins(names: Iterable[str], where: str, what: str) -> None:
    """Raise `InputError` for two names that differ in blanks alone, as 'A' and 'A ': one is meant."""
    first: dict[str, str] = {}
    for name in names:
        twin = first.setdefault(" ".join(name.split()), name)
        if twin != name:
            raise InputError(
                f"{where}: the {what} {twin!r} and {name!r} differ in blanks alone: write them alike."
            )


MOST_NAMED = 5


def outside(rows: int, items: Collection[str]) -> str:
    """The sentence that counts the rows about items outside the benchmark, which an import skips.

    The same for answers and for scores; empty where there is no such row. `items` are their names.
    """
    if not rows:
        return ""
    be = "row is about an item" if rows == 1 else "rows are about items"
    were = "was" if rows == 1 else "were"
    return f"{rows:,} {be} outside the benchmark and {were} skipped: {listed(items)}."


def listed(items: Collection[str]) -> str:
    """The first names of items, and dots where there are more."""
    return ", ".join(list(items)[:MOST_NAMED]) + (" …" if len(items) > MOST_NAMED else "")


def without_server_error(response: Response) -> Response:
    """The response; one with the error of a server for a text has failed, and its `meta` keeps the text."""
    error = server_error(response.text) if response.text else None
    if error is None:
        return response
    details = {**response.meta, SERVER_ERROR: response.text}
    return replace(response, status="failed", text=None, error=response.error or error, meta=details)


def count_server_error(response: Response, errors: Counter[str]) -> None:
    """Count what the error of a server says where it came in place of this response."""
    if SERVER_ERROR in response.meta:
        errors[response.error or ""] += 1


def of_probe(line: Line) -> bool:
    """Whether a row of an export is about what a model told of its probabilities, not about words."""
    return line.row.get("probe") not in (None, "")


def text_of(line: Line, name: str) -> str | None:
    """A text, also when written as a number; null when absent."""
    value = line.row.get(name)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    raise InputError(
        f"{line.where}: {name} must be text, not {type(value).__name__}: {one_line(str(value), 40)}."
    )


def _range(least: int | None, most: float) -> str:
    bounds = ("" if least is None else f" from {least}", f" to {most:,.0f}" if most < LARGEST else "")
    return "".join(bounds)


def number_of(
    row: Mapping[str, Any],
    name: str,
    kind: type[int] | type[float],
    where: str,
    default: Any = None,
    *,
    least: int | None = None,
    most: float = LARGEST,
) -> Any:
    """A whole or decimal number, also when written as text; the default when absent.

    `0,75` is 0.75. Raises `InputError` for what is no number, is not finite, has no room in 64 bits, is below
    `least` or above `most`, and for `1,234`, which some write for 1234 and others for 1.234.
    """
    value = row.get(name)
    if value in (None, ""):
        return default
    if isinstance(value, str) and _DECIMAL_COMMA.fullmatch(value):
        value = value.replace(",", ".")
    try:
        exact = isinstance(value, int) or (isinstance(value, str) and _WHOLE.fullmatch(value))
        number = int(value) if exact else float(value)
        if isinstance(value, bool) or not math.isfinite(number) or "_" in str(value):
            raise ValueError
        if kind is int and (number != int(number) or not -(2**63) <= number < 2**63):
            raise ValueError
        if (least is not None and number < least) or abs(number) > most:
            raise ValueError
        return kind(number)  # 1.0 is a whole number too: tables write it so when some rows have none
    except (TypeError, ValueError, OverflowError):
        what = ("a whole number" if kind is int else "a number") + _range(least, most)
        either = "; its comma may divide thousands or decimals" if "," in str(value) else ""
        raise InputError(
            f"{where}: {name} must be {what}, not {one_line(repr(value), 40)}{either}."
        ) from None
