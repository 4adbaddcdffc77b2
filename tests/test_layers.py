"""Imports go downwards only and never in a circle; each rule is one test that lists all that break it."""

import ast
import re
import sys

from tests.tools.loading import tool

structure = tool("structure")

LAYERS = [
    {"__main__", "testing"},
    {"systems", "contrib"},
    {"cli"},
    {"web"},
    {"run", "pipeline"},
    {"notebook"},
    {"report", "people"},
    {"studies"},
    {"judging", "logprobs"},
    {"metrics"},
    {"facts", "variants", "benchmarks"},
    {"embeddings", "evaluators", "retrieval"},
    {"models"},
    {"formats"},
    {"reading"},
    {"privacy", "store", "stats"},
    {"language"},
    {"core"},
    {"_version"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
PAIRS = 158
"""Pairs of rooms with imports between them, which only become fewer."""
LONGEST = 450
"""Lines of a module. One that wants more holds two thoughts."""
PLUGINS = ("systems", "contrib")
_SQL = re.compile(
    r"\b(SELECT\b|INSERT (OR \w+ )?INTO\b|REPLACE INTO\b|UPDATE \S+ SET\b|DELETE FROM\b|VACUUM\b|PRAGMA \w"
    r"|(CREATE|DROP|ALTER) (TEMP |UNIQUE )?(TABLE|INDEX|VIEW|TRIGGER)\b|(ATTACH|DETACH|SAVEPOINT|RELEASE) \S"
    r"|JOIN \S+ (\w+ )?(USING|ON)\b|(ORDER|GROUP) BY\b|BEGIN\b|COMMIT\b|ROLLBACK\b)"
)
_SQL_WORDS = re.compile(
    r"\b(SELECT|INSERT|REPLACE|UPDATE|DELETE|VACUUM|PRAGMA|CREATE|DROP|ALTER|ATTACH|DETACH|SAVEPOINT|RELEASE|JOIN"
    r"|ORDER|GROUP|BEGIN|COMMIT|ROLLBACK)\b|execute|create_function"
)
"""Without one of these a file holds no SQL, and is not parsed for it."""
_SQL_CALLS = frozenset(("execute", "executemany", "executescript", "create_function"))


def lines(module: str) -> list[str]:
    return structure.modules()[module].read_text(encoding="utf-8").splitlines()


def sql_lines(text: str) -> list[int]:
    """The lines of a module on which a text that is SQL begins, or a connection is told to run some."""
    if not _SQL_WORDS.search(text):
        return []
    tree = ast.parse(text)
    bare = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings and such
    return sorted(
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in _SQL_CALLS)
        or (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node not in bare
            and _SQL.search(node.value)
        )
    )


def test_every_room_has_a_place():
    assert {structure.room(module) for module in structure.modules()} - {"__init__"} <= LEVEL.keys()


def test_no_import_is_relative():
    relative = [
        f"{module}:{node.lineno}"
        for module, path in structure.modules().items()
        if "from ." in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert [] == relative


def test_a_module_imports_only_from_below():
    upwards = [
        f"{importer} imports {target}"
        for importer, targets in structure.imports().items()
        for target in sorted(targets)
        if (above := structure.room(importer)) != (below := structure.room(target)) and above != "__init__"
        if LEVEL[above] >= LEVEL[below]
    ]
    assert [] == upwards


def test_nothing_in_the_core_imports_a_system_or_a_plugin_that_ships():
    for importer, targets in structure.imports().items():
        if structure.room(importer) not in PLUGINS:
            assert [] == [name for name in targets if structure.room(name) in PLUGINS], importer


def test_no_system_imports_another():
    for importer, targets in structure.imports().items():
        if structure.room(importer) in PLUGINS:
            system = (structure.room(importer), structure.unit(importer))
            plugins = [name for name in targets if structure.room(name) in PLUGINS]
            assert [] == [n for n in plugins if (structure.room(n), structure.unit(n)) != system], importer


def test_no_files_import_each_other_in_a_circle():
    assert [] == structure.circles(structure.imports())


def test_no_import_runs_back_between_the_units_of_a_room():
    rooms = {structure.room(name) for name in structure.modules()}
    assert {} == {room: c for room in rooms if (c := structure.circles(structure.unit_graph(room)))}


def test_pairs_of_rooms_with_imports_only_become_fewer():
    assert PAIRS >= len(structure.room_pairs()), "python tools/structure.py rooms"


def test_a_study_knows_no_model():
    for importer, targets in structure.imports().items():
        if structure.room(importer) == "studies":
            assert [] == [name for name in targets if structure.room(name) == "models"], importer


def test_statistics_use_numpy_and_scipy_only():
    allowed = {"numpy", "scipy", "vivavoce", *sys.stdlib_module_names}
    for module in structure.modules():
        if structure.room(module) == "stats":
            libraries = {name.split(".")[0] for name in structure.names_imported(module)}
            assert set() == libraries - allowed, module


def test_all_sql_stands_in_the_store():
    places = [
        f"{module}:{line}"
        for module, path in structure.modules().items()
        if structure.room(module) != "store"
        for line in sql_lines(path.read_text(encoding="utf-8"))
    ]
    assert [] == places


def test_sql_is_known_by_its_text_and_by_who_runs_it():
    text = '''"""Select the items, order by hand, and begin: DELETE FROM stands in a docstring."""
x = "SELECT item"
y = f"{a} JOIN b USING (c)"
run(db.execute)
help = "Select items; WHERE they stand is said below."
'''
    assert [2, 3, 4] == sql_lines(text)


def test_no_module_is_long():
    assert {} == {module: n for module in structure.modules() if (n := len(lines(module))) > LONGEST}


def test_circles_are_found_in_a_graph_that_has_some():
    graph = {
        "a": ["b"],
        "b": ["c", "outside"],
        "c": ["b"],
        "d": ["d", "a"],
        "e": ["f"],
        "f": ["g"],
        "g": ["e"],
    }
    assert [["b", "c"], ["e", "f", "g"]] == structure.circles(graph)
    assert [] == structure.circles({"a": ["b", "c"], "b": ["c"], "c": []})


def test_a_module_belongs_to_a_room_and_to_a_unit_of_it():
    names = ["vivavoce", "vivavoce.store", "vivavoce.store.read", "vivavoce.run.score.checks"]
    places = [("__init__", "__init__"), ("store", "__init__"), ("store", "read"), ("run", "score")]
    assert places == [(structure.room(name), structure.unit(name)) for name in names]
