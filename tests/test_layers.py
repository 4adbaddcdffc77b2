"""Imports go downwards only: each room may use what lies below it, and nothing beside or above."""

import ast
import sys
from pathlib import Path

import pytest

LAYERS = [
    {"__main__"},
    {"cli"},
    {"exams"},
    {"run"},
    {"report", "people", "reproduce"},
    {"studies"},
    {"collect", "score", "build", "interchange", "catalogue", "selection", "vary"},
    {"benchmarks", "metrics", "facts", "edits"},
    {"ask", "rubrics", "entities", "semantic", "conflicts", "probes"},
    {"models", "formats", "retrieval"},
    {"store", "prompts", "text", "wordnet", "net", "privacy"},
    {"registry", "tables"},
    {"specs", "records"},
    {"stats"},
    {"errors", "_version"},
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
SOURCE = Path(__file__).resolve().parents[1] / "src" / "vivavoce"
MODULES = sorted(p for p in SOURCE.rglob("*.py") if p.relative_to(SOURCE).parts != ("__init__.py",))


def room(module: Path) -> str:
    return module.relative_to(SOURCE).with_suffix("").parts[0]


def imports(module: Path) -> list[str]:
    """Every module of ours that is imported anywhere in the file, inside functions and for typing too."""
    found = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "vivavoce":
            found += [f"vivavoce.{name.name}" for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively: layers could not be read"
            found.append(node.module or "")
    return [name for name in found if name.startswith("vivavoce.")]


def test_every_room_has_a_place():
    assert {room(module) for module in MODULES} <= LEVEL.keys()


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_imports_only_from_below(module):
    here = room(module)
    for name in imports(module):
        there = name.split(".")[1]
        if there != here:
            assert LEVEL[here] < LEVEL[there], f"{here} imports {name}"


def test_statistics_use_numpy_and_scipy_only():
    allowed = {"numpy", "scipy", "vivavoce", *sys.stdlib_module_names}
    for module in (SOURCE / "stats").glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = [n.name for n in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= allowed, module


def test_no_module_is_longer_than_400_lines():
    long = {m.name: n for m in MODULES if (n := len(m.read_text(encoding="utf-8").splitlines())) > 400}
    assert {} == long
