"""The door of formats: a plugin's items are asked, read, scored and reported, and ours pass the check."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.studies.making import borrowed, exam

from vivavoce import formats
from vivavoce.benchmarks import load
from vivavoce.core import registry
from vivavoce.core.conversations import Message
from vivavoce.core.errors import InputError, SpecError
from vivavoce.core.records import Item, Reading
from vivavoce.formats.base import Format
from vivavoce.run.catalogue import fitting, listing
from vivavoce.run.run import open_run
from vivavoce.testing import check_format

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin_format.py"
SCRIPT = "script_concordance"


@pytest.fixture(autouse=True)
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(formats.FORMATS, "instances", {})
    with borrowed():
        yield


def script(name: str, answer: str = "1", **fields: Any) -> dict[str, Any]:
    return {
        "item": name, "format": SCRIPT, "answer": answer, "references": [],
        "question": "You think of pulmonary embolism. The D-dimer is normal.",
    } | fields  # fmt: skip


def item(**fields: Any) -> Item:
    return Item(
        **{"benchmark": "b", "item": "i", "format": SCRIPT, "question": "q", "answer": ("1",)} | fields
    )


def lines(folder: Path, **answers: str) -> Path:
    path = folder / "answers.jsonl"
    rows = [{"item": name, "candidate": "A", "text": text} for name, text in answers.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_example_keeps_what_ours_keep() -> None:
    registry.load_plugin(EXAMPLE)
    check_format(SCRIPT, [item(), item(answer=("2",), context="A man of 60."), item(answer=("-1",))])


FORMATS: list[tuple[str, dict[str, Any]]] = [
    ("mcq", {"options": ("Aspirin", "Heparin"), "answer": ("B",)}),
    ("true_false", {"answer": ("T",)}),
    ("list", {"options": ("Fever", "Murmur", "Rash"), "answer": ("A", "C")}),
    ("short", {"answer": ("Aspirin",)}),
    ("short_inverse", {"false_answer": "Heparin", "answer": ("Heparin is no antiplatelet drug.",)}),
    ("multi_hop", {"answer": ("Aspirin",), "steps": ("1. It hurts.", "2. It thins.")}),
    ("multi_hop_inverse", {"answer": ("It is a platelet.",), "steps": ("One.", "Two."), "step": 2}),
    ("longform", {"answer": ("Give aspirin and call for help.",)}),
    ("relation", {"options": ("Bind", "Cause"), "answer": ("aspirin | bind | COX-1",)}),
    ("argument", {"options": ("Aspirin", "Iron"), "answer": ("A",), "references": ("It thins.",)}),
    ("conversation", {"messages": (Message("user", "It hurts."),), "references": ("Rest.",)}),
]


@each_case(("name", "fields"), FORMATS)
def test_ours_keep_it(name: str, fields: dict[str, Any]) -> None:
    check_format(name, [item(format=name, **fields)])


def test_every_format_of_ours_is_checked_here() -> None:
    assert set(formats.FORMATS) == {name for name, _ in FORMATS}


def test_a_benchmark_of_the_format_is_scored_and_reported(tmp_path: Path) -> None:
    run = open_run(tmp_path / "r.viva", plugins=[EXAMPLE])
    benchmark = exam(tmp_path, [script("s1", "1"), script("s2", "-2"), script("s3", "0")])
    run.import_answers(lines(tmp_path, s1="I would say **+1**.", s2="-1", s3="-1 or 1"), benchmark=benchmark)
    run.score("accuracy")
    rows = {
        item: (status, value)
        for item, status, value in run.scores.select("item", "status", "value").iter_rows()
    }
    assert {"s1": ("ok", 1.0), "s2": ("ok", 0.0), "s3": ("unreadable", None)} == rows
    assert SCRIPT in run.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_candidates_are_asked_in_the_format(tmp_path: Path) -> None:
    run = open_run(tmp_path / "r.viva", plugins=[EXAMPLE])
    benchmark = exam(tmp_path, [script("s1", "1"), script("s2", "-2")])
    run.collect(benchmark, models=["baseline/reference", "baseline/random"])
    texts = {(c, i): text for c, i, text in run.responses.select("candidate", "item", "text").iter_rows()}
    assert ("1", "-2") == (texts["baseline/reference", "s1"], texts["baseline/reference", "s2"])
    assert set(formats.FORMATS[SCRIPT].fixed_options) >= {
        text for (name, _), text in texts.items() if name == "baseline/random"
    }


def test_the_format_is_listed_after_ours() -> None:
    registry.load_plugin(EXAMPLE)
    rows = listing("formats")
    assert SCRIPT == rows[-1]["name"]
    assert ["question", "answer", "context"] == rows[-1]["fields"]


def test_metrics_of_the_format_it_is_scored_as_fit() -> None:
    registry.load_plugin(EXAMPLE)
    assert "accuracy" in fitting([item()])
    assert fitting([item(format="mcq")]) == fitting([item()])
    accuracy = registry.build("metric", "accuracy")
    assert accuracy.applies_to(item())
    assert not registry.build("metric", "rouge(n=1)").applies_to(item())


def test_a_format_without_anything_is_an_open_question() -> None:
    @registry.format("plain")
    class Plain(Format):
        """An open question as it stands."""

        scored_as = "short"

    check_format("plain", [item(format="plain", answer=("Aspirin",))])
    assert "q" == formats.ask(item(format="plain"))
    assert registry.build("metric", "exact").applies_to(item(format="plain"))


def test_a_class_that_is_no_format_is_refused() -> None:
    with pytest.raises(SpecError, match=r"does not derive from vivavoce\.Format"):

        @registry.format("loose")
        class Loose:
            pass


def test_an_item_that_the_plugin_refuses_stops_the_benchmark(tmp_path: Path) -> None:
    registry.load_plugin(EXAMPLE)
    with pytest.raises(InputError, match=r"the answer must be a number from -2 to 2"):
        load(exam(tmp_path, [script("s1", "3")]))


def test_an_item_of_a_plugin_that_is_not_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"no format named '{SCRIPT}'"):
        load(exam(tmp_path, [script("s1")]))


class Careless(Format):
    """Reads what it should not."""

    def read(self, item: Item, text: str) -> Reading:
        if text.startswith("{"):
            raise ValueError("braces")
        return Reading("ok", text)


def test_the_check_names_the_rule_that_is_broken() -> None:
    registry.format("careless")(Careless)
    with pytest.raises(AssertionError, match="'<think>' is read as an answer"):
        check_format("careless", [item(format="careless")])
    with pytest.raises(AssertionError, match="no format is registered as nothing"):
        check_format("nothing", [item(format="nothing")])
