"""Counts of the house: rooms, modules, lines, banned names, comments, complexity, imports between rooms.

    python tools/counts.py              # a table by room, as docs/development.md shows it
    python tools/counts.py --json       # the same as JSON
    python tools/counts.py --names ROOM # where the banned names of a room are bound

`tests/test_house.py` holds the counts to their ceilings. Complexity is as radon counts it.
"""

import argparse
import ast
import io
import json
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from radon.complexity import cc_visit_ast

SOURCE = Path(__file__).resolve().parents[1] / "src" / "vivavoce"
BANNED = frozenset(
    [
        "found",
        "said",
        "told",
        "own",
        "made",
        "there",
        "here",
        "kept",
        "given",
        "asked",
        "wanted",
        "known",
        "one",
        "other",
        "whole",
        "drawn",
        "seen",
        "shown",
        "held",
        "stated",
        "read",
        "settled",
        "left",
        "apart",
        "beside",
        "turned",
    ]
)
"""Particles that name nothing: a name says what the thing is."""


class Binding(NamedTuple):
    """A banned name where it is bound; `level` is 'module', or the function or class it is bound in."""

    line: int
    name: str
    level: str


class Room(NamedTuple):
    """The counts of one room."""

    modules: int
    lines: int
    comments: int
    names: int
    banned: int
    complex: int


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(SOURCE.rglob("*.py"))


def room_of(module: Path) -> str:
    """The room a module is in: its first folder, or its name."""
    return module.relative_to(SOURCE).with_suffix("").parts[0]


def bindings(tree: ast.Module) -> Iterator[Binding]:
    """Every name that a module binds: variables, parameters, functions and classes."""
    yield from _bindings(tree, "module")


def _bindings(node: ast.AST, level: str) -> Iterator[Binding]:
    for child in ast.iter_child_nodes(node):
        inner = level
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Binding(child.lineno, child.name, level)
            inner = child.name
        elif isinstance(child, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            inner = level if level != "module" else "comprehension"
        elif isinstance(child, ast.arg):
            yield Binding(child.lineno, child.arg, level)
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield Binding(child.lineno, child.id, level)
        yield from _bindings(child, inner)


def banned(tree: ast.Module) -> list[Binding]:
    """Those of the names bound that name nothing."""
    return of_particles(bindings(tree))


def of_particles(names: Iterable[Binding]) -> list[Binding]:
    """Those of these names that name nothing."""
    return [binding for binding in names if binding.name.strip("_") in BANNED]


def comment_lines(text: str) -> int:
    """Lines that hold a comment which is no directive to a tool."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    directives = ("# noqa", "# type:", "# fmt:", "# pragma")
    return len(
        {t.start[0] for t in tokens if t.type == tokenize.COMMENT and not t.string.startswith(directives)}
    )


def complex_functions(tree: ast.Module) -> list[str]:
    """Functions over cyclomatic 10 as radon counts it. Raises `ImportError` without radon."""
    return [block.name for block in _flat(cc_visit_ast(tree)) if block.complexity > 10]


def _flat(blocks: Any) -> Iterator[Any]:
    for block in blocks:
        if hasattr(block, "methods"):
            continue  # radon lists the methods of a class beside it
        yield block
        yield from _flat(block.closures)


def arrows() -> set[tuple[str, str]]:
    """The imports between rooms, as pairs of rooms."""
    pairs = set()
    for module in modules():
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for parts in (name.split(".") for name in names):
                if parts[0] == "vivavoce" and len(parts) > 1 and (SOURCE / parts[1]).is_dir():
                    pairs.add((room_of(module), parts[1]))
    return {(importer, imported) for importer, imported in pairs if importer != imported}


def rooms() -> dict[str, Room]:
    """The counts by room."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0] * 6)
    for module in modules():
        text = module.read_text(encoding="utf-8")
        tree = ast.parse(text)
        names = [*bindings(tree)]
        figures = (
            *(1, len(text.splitlines()), comment_lines(text), len(names)),
            *(len(of_particles(names)), len(complex_functions(tree))),
        )
        row = totals[room_of(module)]
        for position, figure in enumerate(figures):
            row[position] += figure
    return {name: Room(*totals[name]) for name in sorted(totals)}


def table() -> str:
    """The counts as a table in Markdown."""
    by_room = rooms()
    total = Room(*map(sum, zip(*by_room.values(), strict=True)))  # type: ignore[arg-type]
    head = ("room", "modules", "lines", "comments", "names", "banned", "over 10")
    rows = [(name, *room) for name, room in [*by_room.items(), ("all", total)]]
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    lines += [
        f"| {name} | {modules_} | {n_lines:,} | {comments / n_lines:.1%} | {names:,} | {particles} | {hard} |"
        for name, modules_, n_lines, comments, names, particles, hard in rows
    ]
    return "\n".join([*lines, "", f"Imports between rooms: {len(arrows())} pairs."])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--names", metavar="ROOM")
    parser.add_argument("--complex", metavar="ROOM", help="the functions of a room over cyclomatic 10")
    options = parser.parse_args()
    if options.names or options.complex:
        counter: Counter[str] = Counter()
        for module in modules():
            tree = ast.parse(module.read_text(encoding="utf-8"))
            place = module.relative_to(SOURCE)
            if options.names and str(place).startswith(options.names):
                for binding in banned(tree):
                    counter[binding.name] += 1
                    print(f"{place}:{binding.line}: {binding.name} in {binding.level}")
            if options.complex and str(place).startswith(options.complex):
                for name in complex_functions(tree):
                    print(f"{place}: {name}")
        print(counter.most_common() if options.names else "")
    elif options.json:
        print(json.dumps({name: room._asdict() for name, room in rooms().items()}, indent=1))
    else:
        print(table())


if __name__ == "__main__":
    main()
