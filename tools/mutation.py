"""Mutants of Python files: one small change each, chosen by a seed and recognised after edits of the file.

A mutant is known by its module, its function, its kind, the text that it changes and how; where a function
has the same text twice, by the place among them. So an edit elsewhere changes no mutant. `tools/mutants.py`
runs the tests against mutants.

The kinds:

- *comparison*: `<` becomes `<=` or `>=`, `==` becomes `!=`, `in` becomes `not in`.
- *constant*: an integer grows by one, another number doubles (zero becomes one), `True` becomes `False`.
- *branch*: the condition of an `if` or of a conditional expression becomes `False`.
- *exception*: a `raise`, or all that a handler does, becomes `pass`.

Annotations, decorators, f-strings and the conditions `TYPE_CHECKING` and `__name__ == …` stay as they are. A
branch that only raises is changed by its `raise` alone.
"""

import ast
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

KINDS = ("comparison", "constant", "branch", "exception")
_ORDERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


class Mutant(NamedTuple):
    """One change: `original` becomes `replacement` in a function of a module.

    `module` is its path below the package without `.py`, `function` the qualified name (`<module>` outside of
    functions). `change` says how (`< to <=`), `nth` counts the same change of the same text in that function
    from 0. `line` is where it was when it was chosen and no part of its identity.
    """

    module: str
    function: str
    kind: str
    original: str
    change: str
    nth: int
    line: int
    replacement: str

    @property
    def identity(self) -> tuple[str, str, str, str, str, int]:
        """What stays when other lines are edited."""
        return self[:6]


class Site(NamedTuple):
    """A mutant in one text: the characters from `start` to `end` are replaced."""

    mutant: Mutant
    start: int
    end: int

    def apply(self, text: str) -> str:
        """The text of the mutated file."""
        return text[: self.start] + self.mutant.replacement + text[self.end :]


class _Change(NamedTuple):
    kind: str
    first: ast.stmt | ast.expr
    last: ast.stmt | ast.expr
    change: str
    replacement: str


def sites(text: str, module: str) -> list[Site]:
    """All mutants of a file's text, in the order of the text. Raises `SyntaxError`."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    places = []
    counts: Counter[tuple[str, ...]] = Counter()
    for function, (kind, first, last, change, replacement) in _changes(ast.parse(text), ()):
        start = offset(first.lineno, first.col_offset)
        end = offset(last.end_lineno or 0, last.end_col_offset or 0)
        original = " ".join(text[start:end].split())
        counts[function, kind, original, change] += 1
        nth = counts[function, kind, original, change] - 1
        mutant = Mutant(module, function, kind, original, change, nth, first.lineno, replacement)
        places.append(Site(mutant, start, end))
    return sorted(places, key=lambda site: (site.start, site.end))


def compiles(text: str) -> bool:
    """Whether a text is Python."""
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _changes(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, _Change]]:
    """Every change of a tree, with the qualified name of the function or class that it is in."""
    for change in _of_node(node):
        yield ".".join(path) or "<module>", change
    for child in _children(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _changes(child, (*path, child.name))
        else:
            yield from _changes(child, path)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that may be changed."""
    if isinstance(node, ast.JoinedStr):
        return  # Python 3.11 does not say where in the file its parts are
    skipped = {"annotation", "returns", "decorator_list", "type_params"}
    if isinstance(node, ast.If) and _is_about_the_module(node.test):
        skipped |= {"test", "body"}
    for field, value in ast.iter_fields(node):
        if field not in skipped:
            parts = value if isinstance(value, list) else [value]
            yield from (part for part in parts if isinstance(part, ast.AST))


def _is_about_the_module(test: ast.expr) -> bool:
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return bool(names & {"TYPE_CHECKING", "__name__"})


def _of_node(node: ast.AST) -> Iterator[_Change]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _of_comparison(node)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = node.value
        changed = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 2
        changed = 1.0 if value == changed else changed
        yield _Change("constant", node, node, f"{value} to {changed}", repr(changed))
    elif isinstance(node, ast.If | ast.IfExp):
        body = node.body if isinstance(node, ast.If) else []
        only_raises = len(body) == 1 and isinstance(body[0], ast.Raise)
        if not (_is_about_the_module(node.test) or only_raises):
            yield _Change("branch", node.test, node.test, "condition to False", "False")
    elif isinstance(node, ast.Raise):
        yield _Change("exception", node, node, "raise to pass", "pass")
    elif isinstance(node, ast.ExceptHandler):
        single = node.body[0] if len(node.body) == 1 else None
        if not isinstance(single, ast.Raise | ast.Pass):
            yield _Change("exception", node.body[0], node.body[-1], "handler to pass", "pass")


def _of_comparison(node: ast.Compare) -> Iterator[_Change]:
    for operator in _ORDERS[type(node.ops[0])]:
        mutated = ast.Compare(node.left, [operator()], node.comparators)
        change = f"{_symbol(node.ops[0])} to {_symbol(operator())}"
        yield _Change("comparison", node, node, change, f"({ast.unparse(mutated)})")


def _symbol(operator: ast.cmpop) -> str:
    return ast.unparse(ast.Compare(ast.Name("a"), [operator], [ast.Name("b")]))[2:-2]


def choose(package: Path, rooms: Iterable[str], n: int, seed: int) -> list[Mutant]:
    """`n` mutants of a package that compile, as equally many of each room and of each kind as there are.

    The order is that of a hash of the seed and the mutant's identity, so that a new function elsewhere takes
    at most the place that its own hash gives it. A function has at most one of them. Raises `ValueError` for
    a room that is not there.
    """
    piles = []
    for room in rooms:
        if not (package / room).is_dir():
            raise ValueError(f"no folder {room} in {package}")
        by_kind: dict[str, list[Mutant]] = defaultdict(list)
        for file in sorted((package / room).rglob("*.py")):
            module = file.relative_to(package).with_suffix("").as_posix()
            for site in sites(file.read_text(encoding="utf-8"), module):
                by_kind[site.mutant.kind].append(site.mutant)
        piles.append([sorted(by_kind[kind], key=lambda m: _rank(m, seed), reverse=True) for kind in KINDS])
    return _round_robin(Finder(package), piles, n)


def _round_robin(finder: "Finder", piles: list[list[list[Mutant]]], n: int) -> list[Mutant]:
    """The first of each kind in each room, then the second, and so on; the last of a pile is its first."""
    chosen: list[Mutant] = []
    functions: set[tuple[str, str]] = set()
    while len(chosen) < n and any(pile for room in piles for pile in room):
        for position in range(len(KINDS)):
            for room in piles:
                mutant = next(_usable(finder, room[position], functions), None)
                if mutant and len(chosen) < n:
                    chosen.append(mutant)
                    functions.add((mutant.module, mutant.function))
    return sorted(chosen)


def _usable(finder: "Finder", pile: list[Mutant], functions: set[tuple[str, str]]) -> Iterator[Mutant]:
    while pile:
        mutant = pile.pop()
        if (mutant.module, mutant.function) not in functions and finder.mutated(mutant) is not None:
            yield mutant


def _rank(mutant: Mutant, seed: int) -> str:
    return hashlib.sha256(repr((seed, mutant.identity)).encode()).hexdigest()


class Finder:
    """Finds mutants again in a package that may have been edited since they were chosen."""

    def __init__(self, package: Path):
        """`package` is the folder of the package's modules."""
        self._package = package
        self._texts: dict[str, str] = {}
        self._sites: dict[str, list[Site]] = {}

    def path(self, module: str) -> Path:
        """The file of a module."""
        return self._package / f"{module}.py"

    def text(self, module: str) -> str:
        """The text of a module's file."""
        if module not in self._texts:
            self._texts[module] = self.path(module).read_text(encoding="utf-8")
        return self._texts[module]

    def mutated(self, mutant: Mutant) -> str | None:
        """The text of its module with the change; null for one that is lost or is no Python then."""
        site = self.find(mutant)
        text = site.apply(self.text(site.mutant.module)) if site else ""
        return text if text and compiles(text) else None

    def find(self, mutant: Mutant) -> Site | None:
        """The mutant in today's files, or null where nothing or more than one place answers to it.

        First where it was. Then the same text elsewhere in its module; then the same change in its function,
        whose text was rewritten (a local name, say); then the same function of a module that was moved.
        """
        of_module = self._of(mutant.module) if self.path(mutant.module).is_file() else []
        exact = [s for s in of_module if s.mutant.identity == mutant.identity]
        same_text = [s for s in of_module if s.mutant[2:5] == mutant[2:5]]
        same_function = [
            s
            for s in of_module
            if (s.mutant.function, s.mutant.change) == (mutant.function, mutant.change)
            and s.mutant.kind == mutant.kind
        ]
        for candidates in (exact, same_text, same_function):
            if len(candidates) == 1:
                return candidates[0]
        moved = self._moved(mutant)
        return moved[0] if len(moved) == 1 else None

    def _of(self, module: str) -> list[Site]:
        if module not in self._sites:
            self._sites[module] = sites(self.text(module), module)
        return self._sites[module]

    def _moved(self, mutant: Mutant) -> list[Site]:
        """The same change of a function of that name in other modules: of the same file name, if any is."""
        words = mutant.function.rpartition(".")[2]
        modules = (file.relative_to(self._package) for file in sorted(self._package.rglob("*.py")))
        matches = [
            site
            for name in (module.with_suffix("").as_posix() for module in modules)
            if words == "<module>" or words in self.text(name)
            for site in self._of(name)
            if site.mutant[1:6] == mutant[1:6]
        ]
        stem = mutant.module.rpartition("/")[2]
        return [s for s in matches if s.mutant.module.rpartition("/")[2] == stem] or matches


def as_row(mutant: Mutant) -> dict[str, str | int]:
    """A mutant as JSON holds it."""
    return mutant._asdict()


def of_row(row: Mapping[str, object]) -> Mutant:
    """A mutant as JSON holds it, further keys ignored. Raises `KeyError` for one that lacks a key."""
    return Mutant(*(row[field] for field in Mutant._fields))  # type: ignore[arg-type]
