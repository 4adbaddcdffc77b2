"""Write where names live: `index.json` in `src/vivavoce` and in each of its folders of plugins that ship.

Beside each stands `listed.json`, with what `viva list` and the help of commands say of the same members.

    python tools/index.py

The public names are those that `vivavoce/__init__.py` imports for type checkers. Members of the registry are
those that register themselves when everything is loaded, with their aliases. `tests/core/test_index.py` fails
where a file differs.
"""

import ast
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vivavoce.cli import commands
from vivavoce.core import listing, registry
from vivavoce.core.index import FILE, PACKAGE, SHIPPED


def public_names() -> dict[str, str]:
    """The place of each name that the package exports: all that its face imports, but for `_version`."""
    face = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for branch in face.body if isinstance(branch, ast.If) for node in branch.body]
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in imports
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def member_modules() -> dict[str, dict[str, dict[str, str]]]:
    """By folder ("" for the package's own) and kind, the module that registers each name and each alias."""
    modules: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
    for kind in registry.DOORS:
        for entry in registry.entries(kind):
            package, room, *_ = (*entry.cls.__module__.split("."), "")
            if package == "vivavoce":  # and not a plugin that is installed here
                names = modules[room if room in SHIPPED else ""][kind]
                names |= dict.fromkeys([entry.name, *entry.aliases], entry.cls.__module__)
    return modules


def listed_rows() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By folder and kind, the rows of all members, without where they come from: a reader knows."""
    rows: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for kind in registry.DOORS:
        for entry in registry.entries(kind):
            package, room, *_ = (*entry.cls.__module__.split("."), "")
            if package == "vivavoce":
                row = listing.row_of(entry)
                del row["origin"]
                rows[room if room in SHIPPED else ""][kind].append(row)
    return rows


def by_default(names: Iterable[str]) -> list[str]:
    """Those of these metrics that score where a call names none."""
    metrics = registry.members("metric")
    return sorted(name for name in names if name in metrics and metrics[name].by_default is True)


def indexes() -> dict[Path, str]:
    """What each file of the index has to say."""
    members = member_modules()
    contents: dict[Path, dict[str, Any]] = {
        PACKAGE / folder / FILE: {
            "members": members[folder],
            "by_default": by_default(members[folder]["metric"]),
        }
        for folder in ("", *SHIPPED)
    }
    contents[PACKAGE / FILE]["public"] = public_names()
    rows = listed_rows()
    contents |= {PACKAGE / folder / listing.FILE: {"members": rows[folder]} for folder in ("", *SHIPPED)}
    contents[PACKAGE / listing.FILE]["commands"] = {
        name: listing.summary(commands.function_of(name)) for name in commands.NAMES
    }
    return {
        file: json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        for file, content in contents.items()
    }


if __name__ == "__main__":
    for file, text in indexes().items():
        file.write_text(text, encoding="utf-8")
        print(file)
