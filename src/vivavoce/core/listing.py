"""What is registered of a kind, as rows: ours from files that are built, so that nothing of ours is imported.

`tools/index.py` writes a file `listed.json` beside each `index.json`.
"""

import inspect
from functools import cache
from typing import Any

from vivavoce.core import index, registry

FILE = "listed.json"


def listed(kind: registry.Kind) -> list[dict[str, Any]]:
    """A row for each name that is registered of a kind, by name."""
    rows = {row["name"]: {**row, "origin": "vivavoce"} for row in _rows_of_ours().get(kind, ())}
    imported = registry.entries(kind, walk=False)
    rows |= {entry.name: row_of(entry) for entry in imported if entry.name not in rows}
    return [{name: row[name] for name in sorted(row, key=_place)} for _, row in sorted(rows.items())]


_FIRST = ("name", "version", "origin", "what", "aliases")


def _place(column: str) -> int:
    return _FIRST.index(column) if column in _FIRST else len(_FIRST)


def row_of(entry: registry.Entry) -> dict[str, Any]:
    """The row of an entry; that of a build's recipe has its options as well."""
    options = {"options": _options(entry)} if entry.kind == "build_recipe" else {}
    return {
        "name": entry.name,
        "version": entry.version,
        "origin": entry.origin,
        "what": getattr(entry.cls, "about", None) or summary(entry.cls),
        "aliases": list(entry.aliases),
        **options,
    }


def _options(entry: registry.Entry) -> list[str]:
    """The options of a build's recipe, as they are typed; those without a default come first."""
    names = registry.settings(entry)
    needed = [name for name in names if name not in registry.defaults(entry)]
    ordered = [*needed, *(name for name in names if name not in needed)]
    return [f"--{name.rstrip('_').replace('_', '-')}" for name in ordered]


def summary(member: Any) -> str:
    """The first paragraph of the docstring of a class or a function, in one line."""
    return inspect.cleandoc(member.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def command_summaries() -> dict[str, str]:
    """The first paragraph of the help of each command of the package itself, by its name."""
    summaries: dict[str, str] = index.contents_of(index.PACKAGE / FILE)["commands"]
    return summaries


@cache
def _rows_of_ours() -> dict[str, list[dict[str, Any]]]:
    """By kind, the rows that all files hold; a folder without a file holds none."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for folder in index.folders(FILE):
        for kind, members in index.contents_of(folder / FILE)["members"].items():
            rows.setdefault(kind, []).extend(members)
    return rows
