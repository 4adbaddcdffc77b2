"""What was extracted elsewhere from texts, one row for each reference and each answer, read from a file.

The file is .jsonl, .csv or .parquet, with the columns

    item, entities                       always
    variant, benchmark                   '' if there is none: the base item, any benchmark
    candidate, repeat, edit              of an answer; repeat 1 and edit '' if there is none
    reference                            of a reference, which has no candidate: its number from 1; else 1

`item` may also be the id that the item was published under. What has no row was not extracted. Other columns
are left aside.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, Response
from vivavoce.core.tables import Line, read_lines

T = TypeVar("T")

_Of = tuple[str, str, str, str, int, str]
"""Benchmark, item, variant; then candidate, repeat and edit, or '', the reference's number and ''."""


class Annotations(NamedTuple, Generic[T]):
    """What stands in a file of answers and references."""

    by_key: Mapping[_Of, T]

    def answer(self, item: Item, response: Response) -> T | None:
        """What the file has of an answer; null if nothing."""
        return self._of(item, response.candidate, response.repeat, response.edit)

    def reference(self, item: Item, number: int) -> T | None:
        """What the file has of the item's reference of that number, from 1; null if nothing."""
        return self._of(item, "", number, "")

    def _of(self, item: Item, candidate: str, number: int, edit: str) -> T | None:
        names = [(item.item, item.variant), (item.alias or item.item, "" if item.alias else item.variant)]
        for benchmark in (item.benchmark, ""):
            for name, variant in names:
                entities = self.by_key.get((benchmark, name, variant, candidate, number, edit))
                if entities is not None:
                    return entities
        return None


def read_annotations(path: Path, entities_of: Callable[[Line], T]) -> Annotations[T]:
    """What a file holds, `entities_of` each line. Raises `InputError` naming a line that cannot be used or is
    there twice.
    """
    by_key: dict[_Of, T] = {}
    places: dict[_Of, str] = {}
    for line in read_lines(path):
        key = _key(line)
        if key in places:
            raise InputError(f"{line.where}: a second list of what {places[key]} lists: leave one of them.")
        by_key[key], places[key] = entities_of(line), line.where
    return Annotations(by_key)


def _key(line: Line) -> _Of:
    row = line.row
    for name in ("item", "entities"):
        if row.get(name) in (None, ""):
            raise InputError(f"{line.where}: a list of entities needs the column {name!r}.")
    benchmark, item, variant, candidate, edit = (
        _text(line, name) for name in ("benchmark", "item", "variant", "candidate", "edit")
    )
    if candidate and row.get("reference") not in (None, ""):
        raise InputError(f"{line.where}: a list is of an answer (candidate) or of a reference, not of both.")
    number = _number(line, "repeat" if candidate else "reference")
    return benchmark, item, variant, candidate, number, edit if candidate else ""


def _text(line: Line, name: str) -> str:
    value = line.row.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{line.where}: {name} must be text, not {value!r}.")
    return value or ""


def _number(line: Line, name: str) -> int:
    value = line.row.get(name)
    if value in (None, ""):
        return 1
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if type(value) is not int or value < 1:
        raise InputError(f"{line.where}: {name} must be a whole number from 1, not {value!r}.")
    return value
