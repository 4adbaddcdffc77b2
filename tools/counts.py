"""Counts of the house: rooms, modules, lines, names that say nothing, comments, complexity, imports of rooms.

    python tools/counts.py               # a table by room, as docs/development.md shows it
    python tools/counts.py --json        # the same as JSON
    python tools/counts.py --names ROOM  # where a room binds names that say nothing; tests/cli is a room too
    python tools/counts.py --complex ROOM
    python tools/counts.py --pin         # the ceilings of tests/test_house.py at today's counts

`tests/test_house.py` holds the counts to their ceilings. Complexity is as radon counts it.
"""

import argparse
import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from radon.complexity import cc_visit_ast

from structure import SOURCE, modules, room, room_pairs

TESTS = SOURCE.parents[1] / "tests"
_PARTICLES = """
    apart asked beside drawn found given held here kept known left made one other own read said seen settled
    shown stated there told turned wanted whole
"""
PARTICLES = frozenset(_PARTICLES.split())
"""Participles and particles that name nothing: a name says what the thing is."""
_PARTS_OF_SPEECH = {
    "pronouns": """
        all another any anybody anyone anything both each either every everybody everyone everything he her
        hers herself him himself his it its itself me mine my neither nobody none nothing ones others our ours
        rest she some somebody someone something such that their theirs them themselves these they this those
        us we you your yours
    """,
    "question words": "how what whatever when where wherever which whichever who whoever whom whose why",
    "prepositions": """
        about above across after against along among around at before behind below beneath between beyond by
        despite down during except for from in inside into like near of off on onto out outside over per since
        through throughout till to toward towards under unlike until up upon versus via with within without
    """,
    "conjunctions": "although and because but if lest nor or so than though unless whereas whether while yet",
    "adverbs": """
        afterwards again ago ahead almost already also always anyway anywhere aside away back backward
        backwards elsewhere else even ever everywhere forth forward forwards hence hereby however indeed
        instead just meanwhile moreover never now nowhere often once only otherwise perhaps quite rather
        somewhere soon still then thereby therefore thus together too very
    """,
}
FUNCTION_WORDS = frozenset(word for words in _PARTS_OF_SPEECH.values() for word in words.split())
"""Words that join others and name nothing. Adjectives and numerals such as first, last and few are names."""


class Binding(NamedTuple):
    """A name where it is bound; `level` is 'module', or the function or class it is bound in."""

    line: int
    name: str
    level: str


class Room(NamedTuple):
    """The counts of one room."""

    modules: int
    lines: int
    comments: int
    names: int
    particles: int
    function_words: int
    complex: int


class Names(NamedTuple):
    """How many names are particles, and how many are function words."""

    particles: int
    function_words: int


class File(NamedTuple):
    """What is counted in one file: `empty` are the names that say nothing, `complex` functions over 10."""

    lines: int
    comments: int
    names: int
    empty: tuple[Binding, ...]
    complex: tuple[str, ...]


@cache
def file(path: Path) -> File:
    """The counts of a file, which is parsed once."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    names = [*bindings(tree)]
    empty = tuple(sorted(of_words(names, PARTICLES | FUNCTION_WORDS)))
    return File(
        len(text.splitlines()), comment_lines(text), len(names), empty, tuple(complex_functions(tree))
    )


def bindings(tree: ast.Module) -> Iterator[Binding]:
    """Every name that a module binds: variables, parameters, functions and classes, in no order."""
    nodes: list[tuple[ast.AST, str]] = [(tree, "module")]
    while nodes:
        node, level = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Binding(node.lineno, node.name, level)
            level = node.name
        elif isinstance(node, ast.arg):
            yield Binding(node.lineno, node.arg, level)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield Binding(node.lineno, node.id, level)
            continue  # nothing below binds a name
        elif isinstance(node, _OWN_SCOPE) and level == "module":
            level = "comprehension"
        nodes += [(child, level) for child in _children(node)]


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """As `ast.iter_child_nodes`, without contexts, which are a third of all nodes, and in half the time."""
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            yield from (child for child in value if isinstance(child, ast.AST))
        elif isinstance(value, ast.AST) and field != "ctx":
            yield value


_OWN_SCOPE = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def of_words(names: Iterable[Binding], words: frozenset[str]) -> list[Binding]:
    """Those of these names that are one of the words, underscores at either end aside."""
    return [binding for binding in names if binding.name.strip("_") in words]


def count_names(names: Sequence[Binding]) -> Names:
    """How many of these names say nothing."""
    return Names(len(of_words(names, PARTICLES)), len(of_words(names, FUNCTION_WORDS)))


def comment_lines(text: str) -> int:
    """Lines that hold a comment which is no directive to a tool."""
    matches = _TEXT_OR_COMMENT.finditer(text) if "#" in text else ()
    return sum(match[0][0] == "#" and not match[0].startswith(_DIRECTIVES) for match in matches)


_DIRECTIVES = ("# noqa", "# type:", "# fmt:", "# pragma")
_TEXT_OR_COMMENT = re.compile(
    r"""("{3}|'{3})(?:[^\\]|\\.)*?\1|(["'])(?:[^\\\n]|\\.)*?\2|\#[^\n]*""", re.DOTALL
)
"""What begins with a quotation mark or a hash, whole: a hash in a text begins no comment."""


def complex_functions(tree: ast.Module) -> list[str]:
    """Functions over cyclomatic 10 as radon counts it. Raises `ImportError` without radon."""
    return [block.name for block in _flat(cc_visit_ast(tree)) if block.complexity > 10]


def _flat(blocks: Any) -> Iterator[Any]:
    for block in blocks:
        if hasattr(block, "methods"):
            continue  # radon lists the methods of a class beside it
        yield block
        yield from _flat(block.closures)


def rooms() -> dict[str, Room]:
    """The counts by room."""
    rows: dict[str, list[Room]] = defaultdict(list)
    for module, path in modules().items():
        counts = file(path)
        sizes = (1, counts.lines, counts.comments, counts.names)
        rows[room(module)].append(Room(*sizes, *count_names(counts.empty), len(counts.complex)))
    return {name: Room(*map(sum, zip(*rows[name], strict=True))) for name in sorted(rows)}


def names_in_tests() -> dict[str, Names]:
    """By folder of tests how many names say nothing; '.' are the files that are in no folder."""
    by_folder: dict[str, list[Names]] = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        folder = path.relative_to(TESTS).parts[0] if path.parent != TESTS else "."
        names = [*bindings(ast.parse(path.read_text(encoding="utf-8")))]
        by_folder[folder].append(count_names(names))
    return {folder: Names(*map(sum, zip(*counts, strict=True))) for folder, counts in by_folder.items()}


def table() -> str:
    """The counts as a table in Markdown."""
    by_room = rooms()
    total = Room(*map(sum, zip(*by_room.values(), strict=True)))
    head = ("room", "modules", "lines", "comments", "names", "particles", "function words", "over 10")
    rows = [(name, *room) for name, room in [*by_room.items(), ("all", total)]]
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    lines += [
        f"| {name} | {n_modules} | {n_lines:,} | {comments / n_lines:.1%} | {n_names:,} | {particles} "
        f"| {function_words:,} | {n_complex} |"
        for name, n_modules, n_lines, comments, n_names, particles, function_words, n_complex in rows
    ]
    in_tests = Names(*map(sum, zip(*names_in_tests().values(), strict=True)))
    return "\n".join(
        [
            *(*lines, ""),
            f"Imports between rooms: {len(room_pairs())} pairs. In tests/: {in_tests.particles:,} particles, "
            f"{in_tests.function_words:,} function words.",
        ]
    )


def ceilings() -> str:
    """The ceilings of `tests/test_house.py` at today's counts, to paste; `ruff format` breaks the lines."""
    by_room, in_tests = rooms(), names_in_tests()
    columns: dict[str, dict[str, int]] = {
        "PARTICLES": {name: room.particles for name, room in by_room.items()},
        "FUNCTION_WORDS": {name: room.function_words for name, room in by_room.items()},
        "LINES": {name: room.lines for name, room in by_room.items()},
        "IN_TESTS": {folder: sum(names) for folder, names in in_tests.items()},
    }
    pinned = {name: {key: n for key, n in counts.items() if n} for name, counts in columns.items()}
    totals = [sum(values) for values in zip(*by_room.values(), strict=True)]
    both = f"MODULES, COMPLEX = {totals[0]}, {totals[-1]}"
    return "\n".join([*(f"{name}: dict[str, int] = {counts}" for name, counts in pinned.items()), both])


def print_names(place: str) -> None:
    """Print where the files below a place, such as `cli` or `tests/cli`, bind names that say nothing."""
    counter: Counter[str] = Counter()
    for path, name in _files_below(place):
        for binding in file(path).empty:
            counter[binding.name] += 1
            print(f"{name}:{binding.line}: {binding.name} in {binding.level}")
    print(counter.most_common())


def print_complex(place: str) -> None:
    """Print the functions of the files below a place that are over cyclomatic 10."""
    for path, name in _files_below(place):
        for function in file(path).complex:
            print(f"{name}: {function}")


def _files_below(place: str) -> Iterator[tuple[Path, Path]]:
    """The Python files below a room or a folder of tests, each with its path from there."""
    root = TESTS.parent if place.startswith("tests") else SOURCE
    below = root / place
    for path in sorted(below.rglob("*.py")) if below.is_dir() else [below.with_suffix(".py")]:
        yield path, path.relative_to(root)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pin", action="store_true", help="print ceilings at today's counts")
    parser.add_argument("--names", metavar="ROOM", help="the names of a room that say nothing")
    parser.add_argument("--complex", metavar="ROOM", help="the functions of a room over cyclomatic 10")
    options = parser.parse_args()
    views: dict[str, Callable[[], object]] = {
        "names": lambda: print_names(options.names),
        "complex": lambda: print_complex(options.complex),
        "pin": lambda: print(ceilings()),
        "json": lambda: print(json.dumps({name: r._asdict() for name, r in rooms().items()}, indent=1)),
    }
    chosen = next((view for name, view in views.items() if getattr(options, name)), lambda: print(table()))
    chosen()


if __name__ == "__main__":
    main()
