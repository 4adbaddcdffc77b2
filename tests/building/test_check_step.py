"""`check_step`: our steps keep its rules, and one that breaks a rule is caught."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from vivavoce.core import registry
from vivavoce.core.records import Item
from vivavoce.models.engine.counting_client import CountingClient
from vivavoce.run.building.filters.base import Filter
from vivavoce.run.building.parts import Passage
from vivavoce.run.building.step import Drop, Lab, Step, StepResult
from vivavoce.store.runfile import RunFile
from vivavoce.testing import check_step

STUDY = {"benchmark": "b", "format": "longform"}
OPTIONS = ("pale skin", "a pulse", "a low pressure of the blood in the arteries")
ITEMS = [
    Item(**STUDY, item="a", question="What did the study find about sepsis?"),
    Item(**STUDY, item="c", question="What did the study find about sepsis"),
    Item(
        benchmark="b",
        item="d",
        format="mcq",
        question="Which is NOT a sign of shock?",
        options=OPTIONS,
        answer=("a pulse",),
    ),
]
PARTS = [*ITEMS, Passage(passage="p", text="A text.", source="t.txt", group="p")]


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    run = RunFile(tmp_path / "r.viva")
    with run.writing():
        pass
    return Lab("b", 0, CountingClient(run), "test")


FILTERS = [e.name for e in registry.entries("step") if issubclass(e.cls, Filter)
           and not registry.settings(e).keys() - registry.defaults(e).keys()]  # fmt: skip


@pytest.mark.parametrize(("name", "act"), list(itertools.product(FILTERS, ("false", "true"))))
def test_our_filters_keep_the_rules(name: str, act: str, lab: Lab) -> None:
    check_step(registry.build("step", f"{name}(act={act})"), PARTS, lab)
    check_step(registry.build("step", f"{name}(act={act})"), [], lab)


class _Faulty(Step):
    def __init__(self, fault: str) -> None:
        self.fault, self.calls = fault, 0

    def apply(self, parts, lab):
        self.calls += 1
        if self.fault == "another":
            return StepResult(parts[: self.calls])
        if self.fault == "twice":
            return StepResult([*parts, *parts[:1]])
        if self.fault == "reason":
            return StepResult(parts[1:], [Drop(parts[0], " ")])
        if self.fault == "both":
            return StepResult(parts, [Drop(parts[0], "it is there too")])
        if self.fault == "meta":
            parts[0].meta["x"] = self.calls
        if self.fault == "unreadable":
            return StepResult([replace(parts[0], meta={"x": (1, 2)}), *parts[1:]])
        return StepResult(parts)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("another", "another result each time"),
        ("twice", "two parts the id"),
        ("reason", "without a reason"),
        ("both", "came out"),
        ("meta", "changes a part|another result"),
        ("unreadable", "not what is read back"),
    ],
)
def test_a_step_that_breaks_a_rule_is_caught(fault: str, sentence: str, lab: Lab) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_step(_Faulty(fault), [replace(item, meta={}) for item in ITEMS], lab)


def test_a_step_that_breaks_none_passes(lab: Lab) -> None:
    check_step(_Faulty("none"), ITEMS, lab)
