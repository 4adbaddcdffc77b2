"""The door for variations: a plugin's variants are checked and stored like ours; a base class is needed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vivavoce import Outcome, Variation
from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.records import Item
from vivavoce.variants import Stock

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin_variation.py"
ITEM = Item(benchmark="b", item="q1", format="short", question="Which drug?", references=("aspirin",))


def test_a_plugin_s_variants_are_stored_from_the_command_line(
    tmp_path: Path, viva: Callable[..., Any]
) -> None:
    exam = tmp_path / "exam.jsonl"
    exam.write_text('{"id": "q1", "question": "Which drug?", "format": "short", "answer": "aspirin"}\n')
    words = [
        "vary",
        tmp_path / "run.viva",
        "hurried",
        "--items",
        f"jsonl(path={exam})",
        "--plugin",
        PLUGIN,
        "--json",
    ]
    first, second = (json.loads(viva(*words).stdout)["rows"][0] for _ in range(2))
    assert [(1, 0), (0, 1)] == [(row["made"], row["there"]) for row in (first, second)]


def test_the_example_gives_a_reason_where_it_makes_nothing() -> None:
    registry.load_plugin(PLUGIN)
    hurried = registry.build("variation", "hurried(sentence='Which')")
    (outcome,) = hurried.makes(Stock([ITEM]), None)
    assert Outcome("hurried", "q1", reason="it is in a hurry already") == outcome


def test_the_example_has_at_most_thirty_lines() -> None:
    assert 30 >= len(PLUGIN.read_text(encoding="utf-8").splitlines())


def test_a_class_without_the_base_is_refused_and_told_what_to_write() -> None:
    with pytest.raises(
        SpecError, match=r"the variation 'loose' does not derive from vivavoce\.Variation: write"
    ):
        registry.variation("loose")(type("Loose", (), {"makes": lambda self, stock, client: []}))
    with pytest.raises(SpecError, match="the variation 'bare' has no makes: every variation needs that"):
        registry.variation("bare")(type("Bare", (Variation,), {}))
