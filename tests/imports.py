"""The imports of a file of tests, those of the helpers that it imports included; read, not run."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
_OURS = re.compile(r"^vivavoce\.")


def reaches(file: Path, names: Iterable[str]) -> bool:
    """Whether a file imports one of these modules or packages, or a helper of the tests that it imports does.

    Modules of ours are named by their room, as `models.local`. An import in a function and `lazy_module("…")`
    count. Its conftest.py does not.
    """
    reached = {_OURS.sub("", module) for module in _reached(file)}
    return any(name == module or module.startswith(f"{name}.") for name in names for module in reached)


@cache
def _reached(file: Path) -> frozenset[str]:
    reached, files = set[str](), [file]
    for helper in files:  # grows while it is read
        names = _imported(helper)
        paths = (TESTS.parent.joinpath(*name.split(".")).with_suffix(".py") for name in names - reached)
        files += [path for path in paths if path.exists() and path not in files]
        reached |= names
    return frozenset(reached)


@cache
def _imported(file: Path) -> frozenset[str]:
    """The modules that a file imports; of `from tests import x` both `tests` and `tests.x`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_module":
            names.add(ast.literal_eval(node.args[0]))
    return frozenset(names)
