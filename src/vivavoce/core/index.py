"""Where names live: the module that holds a public name, and the one that registers a member of a kind.

It also says which metrics score where a call names none, so that finding those imports no others, and which
names were removed.

`tools/index.py` writes it into a file `index.json` of the package and of each folder of plugins that ships.
So one name costs the import of one module, and a folder that is deleted takes its names along.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from vivavoce.core.errors import suggest

PACKAGE = Path(__file__).parents[1]
SHIPPED = ("systems", "contrib")
"""Folders of plugins that ship. In each plugin's folder a module named like a kind registers its members."""
FILE = "index.json"
REMOVED: Mapping[str, Mapping[str, str]] = {
    "metric": {
        "conflict": "the metric conflict was removed: on recorded answers 33 % of its flags were right, and "
        "it found about 11 % of the conflicts. Scores by it stay in a run and count. `viva study RUN "
        "controls`, after `viva vary RUN control:kind=all`, shows which measures notice a negated claim or a "
        "changed number; the metric planted shows which answers adopt a wrong answer that the question "
        "suggests."
    }
}
"""By kind the names that are registered no more, each with why, and what to use."""


@cache
def public_names() -> Mapping[str, str]:
    """The place of each name that the package exports, as `vivavoce.core.records.Item`."""
    places: dict[str, str] = contents_of(PACKAGE / FILE)["public"]
    return places


@cache
def member_modules() -> Mapping[str, Mapping[str, str]]:
    """By kind, the module that registers each name and each alias."""
    modules: dict[str, dict[str, str]] = {}
    for contents in _all_contents():
        for kind, names in contents["members"].items():
            modules.setdefault(kind, {}).update(names)
    return modules


def unknown_name(kinds: Sequence[str], name: str, names: Sequence[str]) -> str:
    """The sentence for a name that none of these kinds has: that it was removed, or what may be meant.

    `names` are those to suggest.
    """
    if sentence := next((REMOVED[kind][name] for kind in kinds if name in REMOVED.get(kind, {})), None):
        return sentence
    words = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
    return f"no {words} named {name!r}.{suggest(name, list(names))}"


def metrics_by_default() -> list[str]:
    """The names of the metrics that declare themselves `by_default`."""
    return [name for contents in _all_contents() for name in contents["by_default"]]


@cache
def _all_contents() -> list[dict[str, Any]]:
    """What all files say; a folder without a file says nothing."""
    return [contents_of(folder / FILE) for folder in folders(FILE)]


def folders(file: str) -> list[Path]:
    """The folders of the index that have a file of this name: the package, and those of plugins that ship."""
    homes = (PACKAGE, *(PACKAGE / name for name in SHIPPED))
    return [folder for folder in homes if (folder / file).is_file()]


def contents_of(file: Path) -> dict[str, Any]:
    """What a file of the index says."""
    contents: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return contents


def spelling(name: str, names: Collection[str]) -> str | None:
    """The one of these names that is meant, whether a hyphen or an underscore was typed; null for none."""
    return next((entry for entry in names if entry.replace("_", "-") == name.replace("_", "-")), None)
