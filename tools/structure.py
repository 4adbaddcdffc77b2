"""The structure of the package: rooms, the units of a room, the imports between them, and circles.

    python tools/structure.py circles    # circles between files, and between the units of a room
    python tools/structure.py rooms      # the pairs of rooms with imports between them

A room is a folder of the package, a unit a folder or a file directly in a room. Every import counts, those
inside functions and for typing too. `tests/test_layers.py` holds the structure to its rules.
"""

import argparse
import ast
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from import_graph import PACKAGE, imported_names
from import_graph import modules as modules_in

SOURCE = Path(__file__).resolve().parents[1] / "src" / "vivavoce"


@cache
def modules() -> dict[str, Path]:
    """The path of each module of the package, by its dotted name."""
    return modules_in(SOURCE, PACKAGE)


def room(module: str) -> str:
    """The room of a module: the first folder or file under the package, `__init__` for the package's face."""
    return [*module.split("."), "__init__"][1]


def unit(module: str) -> str:
    """The unit of its room that a module belongs to: a folder or a file directly in the room."""
    return [*module.split("."), "__init__", "__init__"][2]


@cache
def names_imported(module: str) -> frozenset[str]:
    """The dotted names that a module imports anywhere: `a.b.c` for `from a.b import c`. Parsed once."""
    return frozenset(imported_names(ast.parse(modules()[module].read_text(encoding="utf-8"))))


def modules_imported(module: str) -> set[str]:
    """The modules of the package that a module imports, itself excluded: `a.b` where `a.b.c` is no module."""
    ours = [name for name in names_imported(module) if name.split(".")[0] == PACKAGE]
    return {name if name in modules() else name.rpartition(".")[0] for name in ours} - {module}


@cache
def imports() -> dict[str, set[str]]:
    """For each module those of the package that it imports."""
    return {name: modules_imported(name) for name in modules()}


def circles(graph: Mapping[str, Collection[str]]) -> list[list[str]]:
    """The groups of two or more nodes each of which reaches all others, as sorted names; targets outside are
    ignored.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups = []

    def visit(name: str) -> None:  # Tarjan 1972; no chain of imports comes near the limit of recursion
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in graph[name]:
            if target in graph and target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            position = stack.index(name)
            if len(stack) - position > 1:
                groups.append(sorted(stack[position:]))
            del stack[position:]

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return sorted(groups)


def room_pairs() -> set[tuple[str, str]]:
    """The pairs of rooms (importer, imported) with an import between them; the package's face imports too.

    A room that is a single file (`_version`) is imported by all and not counted.
    """
    return {
        (room(importer), room(target))
        for importer, targets in imports().items()
        for target in targets
        if room(importer) != room(target) and (SOURCE / room(target)).is_dir()
    }


def unit_graph(name: str) -> dict[str, set[str]]:
    """The imports between the units of a room."""
    graph: dict[str, set[str]] = defaultdict(set)
    for importer, targets in imports().items():
        if room(importer) == name:
            graph[unit(importer)] |= {unit(t) for t in targets if room(t) == name} - {unit(importer)}
    return graph


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("circles")
    verbs.add_parser("rooms")
    options = parser.parse_args()
    if options.verb == "rooms":
        print("\n".join(f"{importer} -> {target}" for importer, target in sorted(room_pairs())))
    else:
        for circle in circles(imports()):
            print("files:", *circle)
        for name in sorted({room(module) for module in imports()}):
            for circle in circles(unit_graph(name)):
                print(f"units of {name}:", *circle)


if __name__ == "__main__":
    main()
