"""Published systems, recomputed from their published data: each figure beside the one that was printed.

A system is a module with a function `reproduce(data)`; what its paper prints stands in a file beside it. What
does not come out is named, with the reason where there is one.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.errors import SelectionError, suggest

__all__ = ["SYSTEMS", "Reproduction", "Table", "reproduce"]

SYSTEMS = {
    "cliniqlink": "vivavoce.reproduce.cliniqlink",
    "hivmedqa": "vivavoce.reproduce.hivmedqa",
}
"""What can be reproduced, and the module that does it."""


class Table(NamedTuple):
    """Figures as they are shown: recomputed ones with the published beside them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Reproduction(NamedTuple):
    """The figures under their keys, and the same as tables and sentences. What cannot be given is null."""

    rows: Mapping[str, Any]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def reproduce(name: str, data: Path) -> Reproduction:
    """Recompute what the system `name` published, from the files in the folder `data`.

    Raises `SelectionError` for a name that is none of `SYSTEMS`, and `InputError` for a folder or a file that
    cannot be used.
    """
    if name not in SYSTEMS:
        raise SelectionError(f"nothing named {name!r} can be reproduced.{suggest(name, list(SYSTEMS))}")
    found: Reproduction = import_module(SYSTEMS[name]).reproduce(data)
    return found
