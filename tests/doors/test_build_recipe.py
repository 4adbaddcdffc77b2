"""The door for steps and recipes: a plugin's are run, stored and refused like ours."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import vivavoce as viva
from vivavoce.core import registry
from vivavoce.core.errors import InputError, SpecError

PLUGIN = Path(__file__).resolve().parents[2] / "examples" / "plugin_build_recipe.py"
ROWS = [{"id": "a", "question": "What is Sepsis?"}, {"id": "b", "question": "What is shock?"}]


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    file = tmp_path / "bank.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return file


def test_a_plugin_s_recipe_runs_from_the_command_line(
    tmp_path: Path, bank: Path, viva: Callable[..., Any]
) -> None:
    words = [
        "build",
        tmp_path / "b.viva",
        "on_subject",
        "--from",
        bank,
        "--word",
        "sepsis",
        "--plugin",
        PLUGIN,
    ]
    rows = json.loads(viva(*words, "--plugin", PLUGIN, "--json").stdout)["rows"]
    assert [("parse", 2, 0), ("subject", 1, 1)] == [(r["step"], r["n_out"], r["dropped"]) for r in rows]
    assert {"no sepsis in it": 1} == rows[1]["reasons"]


def test_two_parts_with_one_id_stop_the_step_and_store_nothing_of_it(tmp_path: Path, bank: Path) -> None:
    @registry.step("doubled")
    class Doubled(viva.Step):
        def apply(self, parts: Any, lab: Any) -> viva.StepResult:
            return viva.StepResult([*parts, *parts])

    @registry.build_recipe("twice")
    class Twice(viva.BuildRecipe):
        from_: tuple[str, ...]

        def steps(self) -> dict[str, viva.Step]:
            from vivavoce.run.building.questions import Questions

            return {"parse": Questions(files=self.from_), "double": Doubled()}

    run = viva.open(tmp_path / "b.viva")
    with pytest.raises(InputError, match="double: the id 'a' stands there twice"):
        run.build("twice", from_=[str(bank)])
    assert ["parse"] == [row["step"] for row in run.status().rows if row["about"] == "build"]


def test_a_class_without_the_base_is_refused_and_told_what_to_write() -> None:
    with pytest.raises(SpecError, match=r"the step 'loose' does not derive from vivavoce\.Step: write"):
        registry.step("loose")(type("Loose", (), {"apply": lambda self, parts, lab: None}))
    with pytest.raises(SpecError, match="the build_recipe 'bare' has no steps"):
        registry.build_recipe("bare")(type("Bare", (viva.BuildRecipe,), {}))


def test_the_example_has_at_most_forty_lines() -> None:
    assert 40 >= len(PLUGIN.read_text(encoding="utf-8").splitlines())
