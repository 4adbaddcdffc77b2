"""Which files of tests have a long form: those that draw examples, or whose lengths `tests.lengths` gives."""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
LONG_FORM = {"hypothesis", "tests.lengths"}


@cache
def has_long_form(file: Path) -> bool:
    """Whether a file, or a module of the tests that it imports, has one. Its conftest.py does not count."""
    names = _imported(file)
    if any(name.split(".")[0] == "hypothesis" or name in LONG_FORM for name in names):
        return True
    helpers = (TESTS.parent.joinpath(*name.split(".")).with_suffix(".py") for name in names)
    return any(helper.exists() and has_long_form(helper) for helper in helpers if helper != file)


def _imported(file: Path) -> frozenset[str]:
    """The modules that a file imports; of `from tests import x` both `tests` and `tests.x`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    return frozenset(names)
