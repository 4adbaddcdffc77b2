"""Where names live: the module that holds a public name, and the one that registers a member of a kind.

`tools/index.py` writes it into a file `index.json` of the package and of each folder of plugins that ships.
So one name costs the import of one module, and a folder that is deleted takes its names along.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
SHIPPED = ("systems", "contrib")
"""Folders of plugins that ship. In each plugin's folder a module named like a kind registers its members."""
FILE = "index.json"


@cache
def public_names() -> Mapping[str, str]:
    """The place of each name that the package exports, as `vivavoce.core.records.Item`."""
    places: dict[str, str] = _contents_of(PACKAGE / FILE)["public"]
    return places


@cache
def member_modules() -> Mapping[str, Mapping[str, str]]:
    """By kind, the module that registers each name and each alias. A folder without a file has none."""
    modules: dict[str, dict[str, str]] = {}
    for folder in (PACKAGE, *(PACKAGE / name for name in SHIPPED)):
        if (file := folder / FILE).is_file():
            for kind, names in _contents_of(file)["members"].items():
                modules.setdefault(kind, {}).update(names)
    return modules


def _contents_of(file: Path) -> dict[str, Any]:
    contents: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return contents
