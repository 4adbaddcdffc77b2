"""Imports go downwards only, and nothing in the core imports a published system or a plugin that ships."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

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
    {"core"},
    {"_version"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
SOURCE = Path(__file__).resolve().parents[1] / "src" / "vivavoce"
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p.relative_to(SOURCE).parts != ("__init__.py",))
LONGEST = 450
"""Lines of a module. One that wants more holds two thoughts."""


def room(module: Path) -> str:
    return module.relative_to(SOURCE).with_suffix("").parts[0]


@cache
def imports(module: Path) -> list[str]:
    """Every module of ours that is imported anywhere in the file, inside functions and for typing too."""
    names = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "vivavoce":
            names += [f"vivavoce.{name.name}" for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively: layers could not be read"
            names.append(node.module or "")
    return [name for name in names if name.startswith("vivavoce.")]


def test_every_room_has_a_place():
    assert {room(module) for module in MODULES} <= LEVEL.keys()


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_imports_only_from_below(module):
    importer = room(module)
    for name in imports(module):
        imported = name.split(".")[1]
        if imported != importer:
            assert LEVEL[importer] < LEVEL[imported], f"{importer} imports {name}"


def test_nothing_in_the_core_imports_a_system_or_a_plugin_that_ships():
    for module in MODULES:
        if room(module) not in ("systems", "contrib"):
            names = [name for name in imports(module) if name.split(".")[1] in ("systems", "contrib")]
            assert [] == names, module


def test_no_system_imports_another():
    for module in MODULES:
        if room(module) in ("systems", "contrib"):
            folder = ".".join(("vivavoce", *module.relative_to(SOURCE).parts[:2]))
            names = [n for n in imports(module) if n.split(".")[1] in ("systems", "contrib")]
            assert all(name.startswith(folder) for name in names), module


def test_statistics_use_numpy_and_scipy_only():
    allowed = {"numpy", "scipy", "vivavoce", *sys.stdlib_module_names}
    for module in (SOURCE / "stats").glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [n.name for n in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, module


def test_no_module_is_long():
    lengths = {m.name: n for m in MODULES if (n := len(m.read_text(encoding="utf-8").splitlines())) > LONGEST}
    assert {} == lengths
