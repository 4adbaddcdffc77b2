"""Lists of entities that were made elsewhere, one for each reference and each answer, read from a file.

A row for each list, as .jsonl, .csv or .parquet, with the columns

    item, entities                       always; in a .csv the list is a JSON array
    variant, benchmark                   '' if there is none: the base item, any benchmark
    candidate, repeat, edit              of an answer; repeat 1 and edit '' if there is none
    reference                            of a reference, which has no candidate: its number from 1; else 1

`item` may also be the id that the item was published under. An empty list says that there is no entity; what
has no row has no list. Other columns are left aside.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, TypeVarTuple

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json
from vivavoce.core.records import Item, Response
from vivavoce.core.tables import Line, read_lines
from vivavoce.systems.hivmedqa.entities.lemmas import fold

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


def cached_by_file(make: Callable[[Path, *Ts], T]) -> Callable[[Path, *Ts], T]:
    """`make`, called again only for another path, other arguments, or a file written since.

    Arguments must be hashable.
    """

    @lru_cache(maxsize=8)
    def cached(path: Path, stamp: tuple[int, int], *args: *Ts) -> T:
        return make(path, *args)

    def call(path: Path, *args: *Ts) -> T:
        return cached(path, _stamp(path), *args)

    return call


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):  # `make` says it in words
        return 0, 0
    return status.st_mtime_ns, status.st_size


_Of = tuple[str, str, str, str, int, str]
"""Benchmark, item, variant; then candidate, repeat and edit, or '', the reference's number and ''."""


class Lists(NamedTuple):
    """Entities in lower case, each once, in the order of the file."""

    by_key: Mapping[_Of, tuple[str, ...]]

    def answer(self, item: Item, response: Response) -> tuple[str, ...] | None:
        """The list of an answer; null if there is none."""
        return self._of(item, response.candidate, response.repeat, response.edit)

    def reference(self, item: Item, number: int) -> tuple[str, ...] | None:
        """The list of the item's reference of that number, from 1; null if there is none."""
        return self._of(item, "", number, "")

    def _of(self, item: Item, candidate: str, number: int, edit: str) -> tuple[str, ...] | None:
        names = [(item.item, item.variant), (item.alias or item.item, "" if item.alias else item.variant)]
        for benchmark in (item.benchmark, ""):
            for name, variant in names:
                entities = self.by_key.get((benchmark, name, variant, candidate, number, edit))
                if entities is not None:
                    return entities
        return None


@cached_by_file
def read_lists(path: Path) -> Lists:
    """The lists in a file. Raises `InputError` naming a line that cannot be used or is there twice."""
    lists: dict[_Of, tuple[str, ...]] = {}
    places: dict[_Of, str] = {}
    for line in read_lines(path):
        key, entities = _row(line)
        if key in places:
            raise InputError(f"{line.where}: a second list of what {places[key]} lists: leave one of them.")
        lists[key], places[key] = entities, line.where
    return Lists(lists)


def _row(line: Line) -> tuple[_Of, tuple[str, ...]]:
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
    return (benchmark, item, variant, candidate, number, edit if candidate else ""), _entities(line)


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


def _entities(line: Line) -> tuple[str, ...]:
    entities: Any = line.row["entities"]
    if isinstance(entities, str):
        try:
            entities = read_json(entities)
        except ValueError:
            raise InputError(f"{line.where}: entities must be a JSON array, not {entities[:60]!r}.") from None
    if not isinstance(entities, list) or not all(isinstance(e, str) and fold(e) for e in entities):
        raise InputError(f"{line.where}: entities must be a list of texts that are not blank.")
    return tuple(dict.fromkeys(entity.lower() for entity in entities))
