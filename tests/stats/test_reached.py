"""No definition of stats is kept for nobody: code outside of it reaches each, at once or through others.

Whatever runs or shows the product counts: the package, `bench`, `tools` and `examples`, and no test.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from vivavoce import stats

ROOM, SOURCE = "vivavoce.stats", Path(stats.__file__).parent


class Definition(NamedTuple):
    """A function, class or constant at the head of a module of stats."""

    module: str
    name: str


def bound(node: ast.AST) -> set[str]:
    """The names that a statement binds, and those bound within it."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return names | {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def head(tree: ast.Module) -> Iterator[tuple[ast.stmt, set[str]]]:
    """The functions, classes and constants of a module, and the names that each statement defines."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node, {node.name}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield node, set[str]().union(*map(bound, targets))


def loaded(node: ast.AST) -> set[str]:
    """The names that a statement takes from its module: loaded, and not bound within it."""
    if isinstance(node, ast.ClassDef):  # a method has names of its own
        return set[str]().union(*map(loaded, [*node.bases, *node.decorator_list, *node.body]))
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names - bound(node)


def imported(tree: ast.AST) -> dict[str, Definition]:
    """The definition that each name imported from a module of stats stands for."""
    return {
        alias.asname or alias.name: Definition(node.module.removeprefix(f"{ROOM}."), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{ROOM}.")
        for alias in node.names
    }


def taken(tree: ast.AST) -> set[str]:
    """The public names that a file takes from the face: `stats.x`, `from vivavoce.stats import x`."""
    nodes = list(ast.walk(tree))
    sources = {(n.module, alias.name) for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}
    names = {name for module, name in sources if module == ROOM}
    if ("vivavoce", "stats") in sources:
        attributes = (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
        names |= {n.attr for n in attributes if n.value.id == "stats"}
    return {name for name in names if not name.startswith("_")}


def unreached(
    modules: Mapping[str, ast.Module], face: Mapping[str, str], outside: Iterable[ast.Module]
) -> set[Definition]:
    """The definitions of `modules` that no file outside reaches.

    `face` holds the module of each name that can be taken from the package itself.
    """
    uses: dict[Definition, set[Definition]] = {}
    for module, tree in modules.items():
        homes = imported(tree)
        homes |= {name: Definition(module, name) for _, names in head(tree) for name in names}
        for node, names in head(tree):
            for name in names:
                uses[Definition(module, name)] = {homes[use] for use in loaded(node) if use in homes}
    border = set[Definition]()
    for tree in outside:
        border |= {*imported(tree).values()}
        border |= {Definition(face[name], name) for name in taken(tree) if name in face}
    reached = set[Definition]()
    while border:
        reached |= border
        border = set[Definition]().union(*(uses.get(one, ()) for one in border)) - reached
    return uses.keys() - reached


@pytest.fixture(scope="module")
def outside(root: Path) -> dict[str, ast.Module]:
    """The files that may use stats, by their paths."""
    return {
        str(file.relative_to(root)): ast.parse(text)
        for folder in ("src", "bench", "tools", "examples")
        for file in (root / folder).rglob("*.py")
        if SOURCE not in file.parents and "stats" in (text := file.read_text(encoding="utf-8"))
    }


def test_every_definition_is_reached(outside: dict[str, ast.Module]) -> None:
    modules = {file.stem: ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.glob("*.py")}
    face = modules.pop("__init__")
    assert set() == unreached(modules, stats._MODULES, (*outside.values(), face))


def test_what_is_taken_from_the_face_is_public_there(outside: dict[str, ast.Module]) -> None:
    """Type checkers take any name of its modules for one of its own."""
    assert {} == {
        file: names for file, tree in outside.items() if (names := taken(tree) - stats._MODULES.keys())
    }


def test_what_only_its_own_kind_names_is_found() -> None:
    """`parts` bears the name of a variable in what is reached, `spare` calls what is."""
    texts = {
        "means": (
            "from vivavoce.stats.sums import total\n"
            "def mean(x):\n    parts = total(x)\n    return parts\n"
            "def parts(x):\n    return x\n"
            "def spare(x):\n    return mean(x)\n"
        ),
        "sums": (
            "LEAST = 1\ndef total(x): ...\nclass Sum:\n    def total(self):\n        return total(self)\n"
        ),
    }
    modules = {name: ast.parse(text) for name, text in texts.items()}
    face = dict.fromkeys(("mean", "parts", "spare"), "means")
    expected = {("means", "parts"), ("means", "spare"), ("sums", "LEAST"), ("sums", "Sum")}
    assert expected == unreached(modules, face, [ast.parse("from vivavoce import stats\nstats.mean([1])")])
    text = "from vivavoce.stats import mean\nfrom vivavoce.stats.sums import Sum\nmean(Sum())"
    assert expected - {("sums", "Sum")} == unreached(modules, face, [ast.parse(text)])
