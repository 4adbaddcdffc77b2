"""docs/golden.md: every golden number reproduces from the real scores, and the table is the tool's."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

MISSED: dict[str, str] = {}
"""What does not reproduce, as 'section: what', with the reason. Nothing at present."""


@pytest.fixture(scope="module")
def golden(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden", root / "tools" / "golden.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["golden"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sections(golden, shared):
    return golden.sections(shared)


def test_every_number_is_within_half_a_unit_of_its_last_digit(sections):
    missed = {f"{s.title}: {row.what}": row.shown for s in sections for row in s.rows if not row.holds}
    assert set(MISSED) == set(missed), missed


def test_the_table_says_what_the_tool_writes(root, golden, sections):
    """When a number has moved for a reason: python tools/golden.py."""
    assert golden.document(sections) == (root / "docs" / "golden.md").read_text(encoding="utf-8")


def test_no_number_is_lost(sections):
    """A number taken out of the table is a number no longer checked."""
    assert 11 == len(sections)
    assert 421 <= sum(len(s.rows) for s in sections)


@pytest.mark.parametrize(
    ("printed", "found", "holds"),
    [
        (".0905", 0.0905499, True),
        (".0905", 0.0905501, False),
        ("-.0145", -0.01447, True),
        ("42", 42, True),
        ("42", 43, False),
        ("1", 1.0, True),
        ("1-4", "1-4", True),
        ("1-4", "1-5", False),
    ],
)
def test_half_a_unit_is_of_the_last_digit_printed(golden, printed, found, holds):
    assert holds is golden.Row("x", printed, found).holds


def test_a_miss_is_shown_and_counted(golden):
    text = golden.document([golden.Section("1. X", [golden.Row("x", ".09", 0.0951, "paired", "why")])])
    assert "| x | .09 | 0.0951 | no (why) | `paired` |" in text
    assert "0 reproduce, 1 do not" in text


def test_what_was_published_before_stands_beside_what_holds_now(golden):
    rows = golden.each("x", "SE .0921 (.0918); groups 42", (0.09207, 42), "paired")
    assert [(".0921", ".0918"), ("42", "")] == [(row.printed, row.before) for row in rows]
    text = golden.document([golden.Section("1. X", rows)])
    assert "| what | printed | CR1, published before | recomputed |" in text
    assert "| x: SE | .0921 | .0918 | 0.092070 | yes | `paired` |" in text
    assert "| x: groups | 42 |  | 42 | yes | `paired` |" in text
    assert "\n1 were other numbers" in text
