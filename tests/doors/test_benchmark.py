"""The door of benchmarks: a plugin's items are loaded with their card, selected, collected and scored."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studies.making import borrowed

from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.run.catalogue import describe, listing
from vivavoce.run.run import open_run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin_benchmark.py"


@pytest.fixture(autouse=True)
def plugins() -> Iterator[None]:
    with borrowed():
        registry.load_plugin(EXAMPLE)
        yield


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """The example's benchmark of two drugs."""
    (tmp_path / "doses.txt").write_text("paracetamol: 4 g\nibuprofen: 2.4 g\n", encoding="utf-8")
    return f"doses(file={tmp_path / 'doses.txt'})"


def test_items_and_card_are_loaded_and_checked(spec: str) -> None:
    loaded = load(spec)
    assert ["paracetamol", "ibuprofen"] == [item.item for item in loaded.items]
    assert "What is the highest daily dose of ibuprofen?" == loaded.items[1].question
    assert ("doses", "own") == (loaded.card.name, loaded.card.access)


def test_the_signature_holds_the_hash_of_the_file(spec: str, tmp_path: Path) -> None:
    signature = load(spec).signature
    assert signature.endswith(registry.file_hash(tmp_path / "doses.txt"))


def test_it_is_collected_and_scored(spec: str, tmp_path: Path) -> None:
    run = open_run(tmp_path / "r.viva", plugins=[EXAMPLE])
    run.collect(spec, models=["baseline/reference"])
    run.score("exact")
    assert [1.0, 1.0] == run.scores["value"].to_list()
    assert str(EXAMPLE) in registry.plugins()


def test_it_is_listed_and_described() -> None:
    (row,) = [row for row in listing("benchmarks") if row["name"] == "doses"]
    assert row["what"].startswith("Highest daily doses from a text file")
    assert row["origin"].startswith("plugin ")
    assert ["file"] == describe("doses")["needs"]


def test_a_class_that_derives_from_nothing_is_refused() -> None:
    with pytest.raises(
        SpecError, match=r"does not derive from vivavoce\.Benchmark: write `class Loose\(Benchmark\):`"
    ):

        @registry.benchmark("loose")
        class Loose:
            pass
