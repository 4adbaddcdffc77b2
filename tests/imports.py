"""The imports of a file of tests, those of the helpers that it imports included; read, not run.

They are found by their lines: each worker asks for those of all files, which take seconds to parse. An import
in a text that a test gives to a child process counts.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
_OURS = re.compile(r"^vivavoce\.")
_IMPORT = re.compile(
    r"^[ \t]*from ([\w.]+) import (\([^)]*\)|.+)|^[ \t]*import (.+)|^(\w.*\blazy_module\(.*)", re.MULTILINE
)
"""A statement: by `from` the module and its names, else the modules, else a line with `lazy_module`."""
_NAME = re.compile(r"([\w.*]+)(?: as \w+)?")
_LAZY = re.compile(r'\blazy_module\("([\w.]+)"\)')
_COMMENT = re.compile(r"#.*")


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
    for statement in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        module, members, modules, line = statement.groups()
        if module:
            names.update((module, *(f"{module}.{name}" for name in _NAME.findall(_COMMENT.sub("", members)))))
        elif modules:
            names.update(_NAME.findall(_COMMENT.sub("", modules)))
        else:
            names.update(_LAZY.findall(line))
    return frozenset(names)
