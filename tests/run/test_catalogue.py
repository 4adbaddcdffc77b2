"""What `viva list` and `viva show` say."""

from pathlib import Path

import pytest

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.records import Criterion, Item
from vivavoce.metrics import Metric
from vivavoce.run.catalogue import describe, fitting, listing, metrics_of


def test_every_metric_and_benchmark_is_listed_with_what_it_is() -> None:
    for kind in ("metrics", "benchmarks"):
        rows = listing(kind)  # type: ignore[arg-type]
        assert sorted(row["name"] for row in rows) == [row["name"] for row in rows]
        assert all(row["what"] and "\n" not in row["what"] for row in rows)
    assert {"accuracy", "rouge", "token_f1"} <= {row["name"] for row in listing("metrics")}
    assert {"csv", "hivmedqa", "jsonl"} <= {row["name"] for row in listing("benchmarks")}


def test_every_format_is_listed_with_the_fields_it_uses() -> None:
    rows = {row["name"]: row for row in listing("formats")}
    assert {"mcq", "true_false", "list", "short", "longform"} < set(rows)
    assert {"short_inverse", "multi_hop", "multi_hop_inverse"} < set(rows)
    assert {"relation", "argument", "conversation"} < set(rows)
    assert 11 == len(rows)
    assert "options" in rows["mcq"]["fields"]
    assert all(row["answered"] and row["read as"] for row in rows.values())


def test_a_name_that_needs_settings_says_which() -> None:
    row = describe("rouge")
    assert ["n"] == row["needs"]
    assert row["settings"][0].startswith("n: 1|2|L")
    assert "signature" not in row


def test_a_metric_is_shown_with_signature_and_criteria() -> None:
    row = describe("token_f1()")
    assert ("metric", "token_f1", "token_f1(tokens=clinical)@4") == (
        row["kind"],
        row["spec"],
        row["signature"],
    )
    assert ["tokens: clinical|pairs|squad (default clinical)"] == row["settings"]
    assert ["f1"] == [criterion["criterion"] for criterion in row["criteria"]]
    assert ["references"] == row["needs"]


def test_a_benchmark_is_shown_with_its_card(tmp_path: Path) -> None:
    file = tmp_path / "exam.jsonl"
    file.write_text("{}", encoding="utf-8")
    row = describe(f"jsonl(path={file})")
    assert ("benchmark", "exam", "own") == (row["kind"], row["card"]["name"], row["card"]["access"])
    assert row["signature"].endswith("@1#" + registry.file_hash(file))


def test_the_card_of_hivmedqa_tells_its_faults(tmp_path: Path) -> None:
    card = describe(f"hivmedqa(data={tmp_path})")["card"]
    assert any("63 of the 92" in fault for fault in card["faults"])
    assert "revision" not in card
    assert card["revision_note"]


def test_paths_and_lists_can_be_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in registry.DOORS:
        registry.entries(kind)
    monkeypatch.setattr(registry, "_entries", dict(registry._entries))

    @registry.metric("pathy")
    class Pathy(Metric):
        rubric: Path = Path("rubrics/kind.md")
        labels: tuple[str, ...] = ("a",)

        criteria = (Criterion(criterion="mark"),)
        formats = ("short",)
        needs = ()

        def values(self, rows: object, context: object) -> list[object]:
            return []

    row = describe("pathy")
    assert [
        "rubric: a path (default rubrics/kind.md)",
        "labels: [text, …] (default [a])",
    ] == row["settings"]
    assert "pathy" == row["spec"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("rogue", "no metric, benchmark or variation named 'rogue'. Did you mean 'rouge'?"),
        ("rouge(n=5)", "rouge(n=5): n takes 1|2|L"),
        ("rouge(", "cannot read the spec 'rouge('"),
    ],
)
def test_what_cannot_be_shown_is_named(spec: str, words: str) -> None:
    with pytest.raises(SpecError) as error:
        describe(spec)
    assert words in str(error.value)


def test_the_metrics_that_fit_a_format_are_found_as_they_are_typed() -> None:
    closed = Item(benchmark="b", item="1", format="mcq", question="?", options=("A", "B"), answer=("A",))
    short = Item(benchmark="b", item="2", format="short", question="?", references=("A",))
    assert "accuracy" in fitting([closed])
    assert any(name.startswith("rouge(n=1|2|") for name in fitting([short, closed]))
    assert "exact" not in fitting([closed])
    assert [] == fitting([])


def test_metrics_are_built_from_their_specs() -> None:
    assert ["accuracy", "rouge(n=L)"] == [str(made) for made in metrics_of(["accuracy", "rouge(n=L)"])]


def test_every_mistake_among_metrics_is_told_at_once() -> None:
    with pytest.raises(SpecError) as error:
        metrics_of(["rogue(n=L)", "accuracy", "token_f1(token=squad)", "hivmedqa"])
    starts = ("no metric named 'rogue'", "token_f1 has no setting", "hivmedqa is a benchmark")
    for said, start in zip(str(error.value).split("\n"), starts, strict=True):
        assert said.startswith(start)
