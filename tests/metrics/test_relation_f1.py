"""relation_f1: what is found, what is wrong, and what is missed."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce.core import registry
from vivavoce.core.records import Item, Response, Row, Value
from vivavoce.formats import check, key, read_response
from vivavoce.formats.relation import relation_key as rel
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.testing import check_metric

TYPES = ("Cause", "Treat")
ITEM = check(
    Item(
        benchmark="b", item="1", format="relation", question="Which relations?", options=TYPES,
        answer=(
            rel(["aspirin", "ASA"], "Treat", ["headache"], novel=True),
            rel(["ASA", "aspirin"], "Cause", ["ulcer", "gastric ulcer"], novel=False),
            rel(["ibuprofen"], "Cause", ["gastric ulcer", "ulcer"], novel=True),
        ),
    )
)  # fmt: skip
EITHER, AS_KEYED = "relation_f1(direction=false)", "relation_f1(direction=true)"


def build(spec: str) -> Metric:
    metric: Metric = registry.build("metric", spec)
    return metric


def score(text: str, spec: str = EITHER, item: Item = ITEM) -> Value:
    response = Response(benchmark="b", item="1", candidate="A", text=text)
    (values,) = build(spec).values([Row(item, response, read_response(item, text))], ScoringContext())
    return values["micro_f1"]


def counts(text: str, spec: str = EITHER) -> tuple[float, ...]:
    parts = score(text, spec).parts or {}
    return tuple(parts[name] for name in ("tp", "fp", "fn"))


def test_worked_by_hand() -> None:
    """Of three relations one is found by another name, one has the wrong type, one is missed: F1 2/5."""
    found = score("  asa |Treat| HEADACHE\nibuprofen | Treat | ulcer")
    assert {"tp": 1, "fp": 1, "fn": 2} == found.parts
    assert pytest.approx(2 / 5) == found.value


@each_case(
    ("text", "expected"),
    [
        ("None.", (0, 0, 3)),
        ("aspirin | Treat | headache\nASA | Treat | headache", (1, 0, 2)),  # twice by two names
        ("aspirin | Treat | ulcer\nASA | Treat | gastric ulcer", (0, 1, 3)),  # one mistake by two names
        ("aspirin | Treat | headache\nASA | Treat", (1, 1, 2)),  # a stray
        ("aspirin | Treat | migraine", (0, 1, 3)),  # an entity that the text does not have
        ("aspirin | Soothes | headache", (0, 1, 3)),
        ("headache | Treat | aspirin", (1, 0, 2)),
        ("headache | Treat | aspirin\naspirin | Treat | headache", (1, 0, 2)),
        ("fever | Treat | aspirin\naspirin | Treat | fever", (0, 1, 3)),
    ],
)
def test_counts_of_one_answer(text: str, expected: tuple[float, ...]) -> None:
    assert expected == counts(text)


def test_where_direction_counts_the_ends_must_stand_as_keyed() -> None:
    assert (0, 1, 3) == counts("headache | Treat | aspirin", AS_KEYED)
    assert (1, 0, 2) == counts("aspirin | Treat | headache", AS_KEYED)
    assert (0, 2, 3) == counts("fever | Treat | aspirin\naspirin | Treat | fever", AS_KEYED)


def test_where_novelty_counts_it_must_be_said_and_right() -> None:
    spec = "relation_f1(direction=false, novel=true)"
    assert (1, 0, 2) == counts("aspirin | Treat | headache | novel", spec)
    assert (0, 1, 3) == counts("aspirin | Treat | headache | known", spec)
    assert (0, 1, 3) == counts("aspirin | Treat | headache", spec)
    assert (1, 0, 2) == counts("aspirin | Treat | headache | known")
    silent = check(replace(ITEM, answer=("a | Cause | b",)))
    assert (True, False) == tuple(build(spec).applies_to(item) for item in (ITEM, silent))


def test_a_note_shows_the_strays_and_stays_short() -> None:
    assert "no relation: ASA | Treat" == score("aspirin | Treat | headache\nASA | Treat").note
    long = score("|x" * 400_000)
    assert (0, 1, 3) == tuple((long.parts or {}).values())
    assert len(long.note or "") < 500


def test_the_key_is_all_right() -> None:
    for spec in (EITHER, AS_KEYED, "relation_f1(direction=true, novel=true)"):
        assert 1.0 == score(key(ITEM), spec).value


def test_the_order_of_an_answer_and_of_the_key_changes_nothing() -> None:
    lines = ["ASA | Treat | headache", "ulcer | Cause | aspirin", "aspirin | Cause | fever", "x | y"]
    answers = {score("\n".join(order)).value for order in itertools.permutations(lines)}
    keys = {
        score("\n".join(lines), item=replace(ITEM, answer=order)).value
        for order in itertools.permutations(ITEM.answer)
    }
    assert {2 * 2 / (2 * 2 + 2 + 1)} == answers == keys


def test_a_relation_that_the_key_says_twice_is_one() -> None:
    twice = check(replace(ITEM, answer=("a | Cause | b", "B | Cause | A", "a | Cause | b")))
    assert {"tp": 1, "fp": 0, "fn": 0} == score("a | Cause | b", item=twice).parts
    assert {"tp": 0, "fp": 0, "fn": 2} == score("None.", AS_KEYED, item=twice).parts


def test_it_keeps_the_rules_of_metrics() -> None:
    for spec in (EITHER, "relation_f1(direction=true, novel=true)"):
        check_metric(spec)


def test_silence_misses_every_relation(tmp_path: Path) -> None:
    """Pooled over two abstracts: 2 * 3 / (2 * 3 + 3), where the mean of F1 by abstract would be 1/2."""
    import vivavoce as viva

    def row(name: str, text: str) -> dict[str, Any]:
        return {
            "id": name, "question": f"Which relations has {name}?", "format": "relation",
            "options": list(TYPES), "answer": list(ITEM.answer), "model": "A", "response": text,
        }  # fmt: skip

    rows = [row("1", key(ITEM)), row("2", "")]
    run = viva.evaluate(rows, metrics=[EITHER], to=tmp_path / "exam.viva")
    (estimate,) = run.estimates().rows
    assert pytest.approx(6 / 9) == estimate["estimate"]
    assert ("pooled", 2, 1) == tuple(estimate[name] for name in ("view", "n_items", "n_unanswered"))
