"""No definition of stats is kept for nobody: code outside of it reaches each, at once or through others.

Whatever runs or shows the product counts: the package, `bench`, `tools` and `examples`, and no test.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOM = "vivavoce.stats"


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
    """The names that a file takes from the face of stats: `stats.x`, `from vivavoce.stats import x`."""
    nodes = list(ast.walk(tree))
    names = {
        n.attr
        for n in nodes
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "stats"
    }
    faces = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == ROOM]
    return names | {alias.name for face in faces for alias in face.names}


def unreached(modules: Mapping[str, str], outside: list[str]) -> set[Definition]:
    """The definitions of modules, texts by name, that no text outside reaches; `__init__` is their face."""
    trees = {name: ast.parse(text) for name, text in modules.items()}
    face = imported(trees.pop("__init__"))
    uses: dict[Definition, set[Definition]] = {}
    for module, tree in trees.items():
        homes = imported(tree)
        homes |= {name: Definition(module, name) for _, names in head(tree) for name in names}
        for node, names in head(tree):
            for name in names:
                uses[Definition(module, name)] = {homes[use] for use in loaded(node) if use in homes}
    border = set[Definition]()
    for text in outside:
        tree = ast.parse(text)
        border |= {*imported(tree).values(), *(face[name] for name in taken(tree) if name in face)}
    reached = set[Definition]()
    while border:
        reached |= border
        border = set[Definition]().union(*(uses.get(one, ()) for one in border)) - reached
    return uses.keys() - reached


def test_every_definition_is_reached(root: Path) -> None:
    room = root / "src" / "vivavoce" / "stats"
    modules = {file.stem: file.read_text(encoding="utf-8") for file in room.glob("*.py")}
    outside = [
        text
        for folder in ("src", "bench", "tools", "examples")
        for file in (root / folder).rglob("*.py")
        if room not in file.parents and "stats" in (text := file.read_text(encoding="utf-8"))
    ]
    assert set() == unreached(modules, outside)


def test_what_only_its_own_kind_names_is_found() -> None:
    """`parts` bears the name of a variable in what is reached, `spare` calls what is."""
    modules = {
        "__init__": "from vivavoce.stats.means import mean, parts, spare",
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
    expected = {("means", "parts"), ("means", "spare"), ("sums", "LEAST"), ("sums", "Sum")}
    assert expected == unreached(modules, ["from vivavoce import stats\nstats.mean([1])"])
    assert expected - {("sums", "Sum")} == unreached(
        modules, ["from vivavoce.stats import mean\nfrom vivavoce.stats.sums import Sum\nmean(Sum())"]
    )
