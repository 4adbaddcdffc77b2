"""The graph of imports: which modules a file imports, and which tests reach a module.

    from import_graph import Graph
    graph = Graph.of(ROOT)
    graph.tests_reaching(["vivavoce.stats.paired"])   # {"tests.stats.test_paired": 1, ...}

It reads files and imports none of them. An import counts wherever it stands in a file: at the head, inside a
function, for typing only, and inside a text that is Python code (a test gives such texts to a child process).
What is loaded by name alone is found by that name: a neighbour that a file with `import_module` names, such
as the commands of `viva`, in a test `"vivavoce.retrieval.reader_process"`, the entry
`@metric("rouge")` of a test that writes "rouge", and the fixture `viva` of a `conftest.py`.

The graph says too much rather than too little, but it is no proof: a test that starts a shell script, or that
walks over all members of the registry, may reach a module that the graph does not give it.
"""

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeGuard

PACKAGE, TESTS, CONFTEST = "vivavoce", "tests", "conftest.py"
REGISTRY = "vivavoce.core.registry"
DOORS = frozenset(
    {"benchmark", "build_recipe", "command", "exporter", "format", "log_reader", "metric", "provider",
     "recipe", "reproduction", "rules", "section", "step", "study", "variation"}
)  # fmt: skip
"""Decorators that register a member under a name; `vivavoce.core.registry` defines them."""
_SCRIPT = re.compile(r"[\w./-]{1,200}\.py")
_SPEC = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?=$|[(:/])")


def modules(folder: Path, package: str) -> dict[str, Path]:
    """Every Python file below a folder by its dotted name, which starts with `package`."""
    names = {}
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder).with_suffix("").parts
        names[".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))] = file
    return names


def imported_names(tree: ast.AST) -> Iterator[str]:
    """The dotted names that a tree imports: `a.b.c` for `import a.b.c` and for `from a.b import c`.

    Relative imports are left out: no file here has one, and the test of the layers refuses them.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


class File(NamedTuple):
    """What one file says about others.

    `imports` are dotted names, `faces` the names that it binds by `from … import`, with what each stands for,
    `definitions` those that it defines itself, `texts` its string constants without docstrings, `members` the
    names that it registers, `arguments` the names of the parameters of its functions. `fixtures` are those of
    a `conftest.py`: a test depends on a fixture that it names, and on what stands outside of them.
    """

    imports: frozenset[str]
    faces: Mapping[str, str]
    definitions: frozenset[str]
    texts: frozenset[str]
    members: frozenset[str]
    arguments: frozenset[str]
    fixtures: Mapping[str, "File"]


def scan(file: Path) -> File:
    """What a file says about others, its stub included. Raises `SyntaxError` for one that is no Python."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if (stub := file.with_suffix(".pyi")).is_file():
        tree.body += ast.parse(stub.read_text(encoding="utf-8")).body
    fixtures = {node.name: node for node in tree.body if _is_fixture(node)} if file.name == CONFTEST else {}
    outside = ast.Module([node for node in tree.body if node not in fixtures.values()], [])
    return _contents(outside)._replace(fixtures={name: _contents(node) for name, node in fixtures.items()})


def _is_fixture(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and any("fixture" in ast.dump(d) for d in node.decorator_list)


def _contents(tree: ast.AST) -> File:
    faces, texts, prose = dict[str, str](), set[str](), set[str]()
    members, arguments = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.add(str(node.value.value))
        elif isinstance(node, ast.ImportFrom) and node.module:
            faces |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.arg):
            arguments.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            members |= {name for decorator in node.decorator_list for name in _registered(decorator)}
    texts -= prose
    imports = {*_used_names(tree), *(name for text in texts for name in _of_code(text))}
    return File(
        frozenset(imports),
        faces,
        frozenset(_defined(tree)),
        frozenset(texts),
        frozenset(members),
        frozenset(arguments),
        fixtures={},
    )


def _defined(tree: ast.AST) -> Iterator[str]:
    """The functions, classes and constants at the head of a file."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _used_names(tree: ast.AST) -> set[str]:
    """The names that a tree imports; where it takes only attributes of one (`stats.holm`), these instead."""
    names = set(imported_names(tree))
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            bound |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            bound |= {alias.asname: alias.name for alias in node.names if alias.asname}
    attributes: dict[str, set[str]] = {name: set() for name in bound}
    loads, through = Counter[str](), Counter[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in bound:
            loads[node.id] += 1
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
            attributes[node.value.id].add(f"{bound[node.value.id]}.{node.attr}")
            through[node.value.id] += 1
    for name, target in bound.items():
        if 0 < loads[name] == through[name]:
            names = names - {target} | attributes[name]
    return names


def _registered(decorator: ast.expr) -> Iterator[str]:
    """The name, and the shorthand names, that a decorator registers; none where it registers nothing."""
    if not (isinstance(decorator, ast.Call) and decorator.args):
        return
    function, first = decorator.func, decorator.args[0]
    door = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if door in DOORS and isinstance(first, ast.Constant) and isinstance(first.value, str):
        yield first.value
        for keyword in decorator.keywords:
            if isinstance(keyword.value, ast.Dict):
                keys = (key for key in keyword.value.keys if isinstance(key, ast.Constant))
                yield from (key.value for key in keys if isinstance(key.value, str))


def _of_code(text: str) -> Iterator[str]:
    """The names that a text imports, if it is Python code of several words."""
    if "import " in text and PACKAGE in text:
        try:
            tree = ast.parse(textwrap.dedent(text))
        except (SyntaxError, ValueError):
            return
        yield from imported_names(tree)


class Graph:
    """The files of a package and of its tests, and the imports between them."""

    def __init__(self, files: Mapping[str, Path]):
        """`files` by dotted name."""
        self.files = dict(files)
        self._contents = {name: scan(file) for name, file in self.files.items()}

    @classmethod
    def of(cls, root: Path) -> "Graph":
        """The graph of a repository: `src/vivavoce` and `tests`."""
        return cls(modules(root / "src" / PACKAGE, PACKAGE) | modules(root / "tests", TESTS))

    def name_of(self, file: Path) -> str | None:
        """The dotted name of a file; null for one that is no module of the graph."""
        return self._names.get(file.resolve())

    @cached_property
    def _names(self) -> dict[Path, str]:
        return {file.resolve(): name for name, file in self.files.items()}

    @cached_property
    def imports(self) -> dict[str, frozenset[str]]:
        """The modules that each module imports, and for tests those that they load by name."""
        plain = {name: self._imports_of(name, content) for name, content in self._contents.items()}
        full = {name: frozenset(imported) - {name} for name, imported in plain.items()}
        for name, content in self._contents.items():
            if name.split(".")[0] == TESTS:
                by_fixture = [self._imports_of(name, fixture) for fixture in self._fixtures_of(name)]
                imported = plain[name].union(self._conftests_of(name), *by_fixture)
                # Only a file that reaches the registry can load a member by its name.
                if REGISTRY in _steps(imported, full):
                    for part in (content, *self._fixtures_of(name)):
                        imported |= self._members_named(part.texts)
                full[name] = frozenset(imported) - {name}
        return full

    def _imports_of(self, name: str, content: File) -> set[str]:
        imported = {home for dotted in content.imports for home in self._homes(dotted)}
        if "importlib.import_module" in content.imports:
            folder = name if self._is_face(name) else name.rpartition(".")[0]
            imported.update(f"{folder}.{text}" for text in content.texts if f"{folder}.{text}" in self.files)
        if name.split(".")[0] == PACKAGE:
            return imported  # what a text means elsewhere in the package depends on none of its members
        for text in content.texts:
            if text == PACKAGE:
                imported |= {f"{PACKAGE}.__main__"} & self.files.keys()  # python -m vivavoce
            elif text.startswith(f"{PACKAGE}."):
                imported.update(self._homes(text))  # what a test replaces, or a module that it starts
            elif _SCRIPT.fullmatch(text) and (sibling := self.name_of(self.files[name].parent / text)):
                imported.add(sibling)
        return imported

    def _members_named(self, texts: Iterable[str]) -> set[str]:
        specs = (match[0].replace("-", "_") for text in texts if (match := _SPEC.match(text)))
        return {home for spec in specs for home in self._members.get(spec, ())}

    def _homes(self, imported: str) -> Iterator[str]:
        """The modules behind a dotted name: the longest part that is a module, or where that took the name.

        `vivavoce.stats.holm` is a name of the package's face, which takes it from
        `vivavoce.stats.multiplicity`: the importer depends on the latter, and not on all of the face.
        """
        module, name = imported, ""
        while module and module not in self.files:
            module, _, name = module.rpartition(".")
        if not module:
            return
        source = self._source(module, name) if self._is_face(module) else None
        if source is None or source == imported:
            yield module
        else:
            yield from self._homes(source)

    def _source(self, face: str, name: str) -> str | None:
        """The dotted name that a package's face binds to a name; null where it imports none of that name."""
        content = self._contents[face]
        starred = sorted(dotted.removesuffix(".*") for dotted in content.imports if dotted.endswith(".*"))
        homes = (m for m in starred if m in self.files and name in self._contents[m].definitions)
        return content.faces.get(name) or next((f"{home}.{name}" for home in homes), None)

    def _is_face(self, module: str) -> bool:
        return self.files[module].name == "__init__.py"

    @cached_property
    def _members(self) -> dict[str, set[str]]:
        """The modules that register a name, of any kind."""
        homes: dict[str, set[str]] = {}
        for name, content in self._contents.items():
            if name.split(".")[0] == PACKAGE:
                for member in content.members:
                    homes.setdefault(member.replace("-", "_"), set()).add(name)
        return homes

    def _conftests_of(self, name: str) -> list[str]:
        """The files `conftest.py` that pytest loads for a test."""
        parts = name.split(".")
        names = (".".join((*parts[:depth], "conftest")) for depth in range(1, len(parts)))
        return [conftest for conftest in names if conftest in self.files and conftest != name]

    def _fixtures_of(self, name: str) -> list[File]:
        """The fixtures that a test names, and those that these name."""
        fixtures: dict[str, File] = {}
        for conftest in self._conftests_of(name):
            fixtures |= self._contents[conftest].fixtures
        arguments = {key: fixture.arguments for key, fixture in fixtures.items()}
        named = _steps(self._contents[name].arguments, arguments)
        return [fixtures[key] for key in named if key in fixtures]

    @cached_property
    def importers(self) -> dict[str, frozenset[str]]:
        """The modules that import each module."""
        reverse: dict[str, set[str]] = {name: set() for name in self.files}
        for importer, names in self.imports.items():
            for imported in names:
                reverse[imported].add(importer)
        return {name: frozenset(names) for name, names in reverse.items()}

    def reach(self, starts: Iterable[str]) -> dict[str, int]:
        """Every module that one of these reaches by imports, with the fewest steps; these themselves by 0."""
        return _steps(starts, self.imports)

    def reached_by(self, targets: Iterable[str]) -> dict[str, int]:
        """Every module that reaches one of these by imports, with the fewest steps; these themselves by 0.

        Whoever imports a module of a package runs the package's `__init__.py` as well: for such a target the
        importers of all modules below it count, one step further away.
        """
        targets = list(targets)
        steps = _steps(targets, self.importers)
        for face in (target for target in targets if self._is_face(target)):
            below = [name for name in self.files if name.startswith(f"{face}.")]
            for name, distance in _steps(below, self.importers).items():
                steps[name] = min(distance + 1, steps.get(name, distance + 1))
        return steps

    def tests_reaching(self, targets: Iterable[str]) -> dict[str, int]:
        """The modules of tests that reach one of these, with the fewest steps, the nearest first."""
        steps = self.reached_by(targets)
        tests = {name: steps[name] for name in steps if is_test(name)}
        return dict(sorted(tests.items(), key=lambda pair: (pair[1], pair[0])))


def is_test(name: str) -> bool:
    """Whether a dotted name is a file that pytest collects."""
    parts = name.split(".")
    return parts[0] == TESTS and parts[-1].startswith("test_")


def _steps(starts: Iterable[str], edges: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """The fewest steps along the edges from any of the starts."""
    steps = dict.fromkeys(starts, 0)
    border = list(steps)
    while border:
        neighbours = []
        for name in border:
            for neighbour in edges.get(name, ()):
                if neighbour not in steps:
                    steps[neighbour] = steps[name] + 1
                    neighbours.append(neighbour)
        border = neighbours
    return steps
