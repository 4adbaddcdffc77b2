"""conflict: 1 where an answer changes what its reference says, with the places; a screen, not a verdict."""

import json
from pathlib import Path

import pytest

from vivavoce.contrib.conflicts import KINDS, MOST
from vivavoce.core import registry
from vivavoce.core.records import Item, Response, Row, Value
from vivavoce.formats import read_response
from vivavoce.metrics import ScoringContext


def mark(answer: str, *references: str) -> Value:
    item = Item(benchmark="b", item="q", format="short", question="?", references=references)
    row = Row(
        item, Response(benchmark="b", item="q", candidate="c", text=answer), read_response(item, answer)
    )
    (values,) = registry.build("metric", "conflict").values([row], ScoringContext())
    return values["conflict"]


def test_a_tenfold_dose_is_flagged_and_shown() -> None:
    found = mark("Give 50 mg of haloperidol.", "Give 5 mg of haloperidol.")
    assert (1.0, 'number: "50 mg" against "5 mg"') == (found.value, found.note)
    assert found.parts == {**dict.fromkeys(KINDS, 0.0), "number": 1.0}


def test_an_answer_that_agrees_is_not_flagged() -> None:
    assert Value(0.0, dict.fromkeys(KINDS, 0.0), None) == mark(
        "Haloperidol 0.005 g.", "Give 5 mg of haloperidol."
    )


def test_several_conflicts_are_counted_by_kind() -> None:
    found = mark("Give 50 mg IV of haloperidol.", "Give 5 mg IM of haloperidol.")
    assert (1.0, 1.0, 1.0) == (found.value, (found.parts or {})["number"], (found.parts or {})["route"])
    assert 'number: "50 mg" against "5 mg"; route: "IV" against "IM"' == found.note


def test_the_reference_with_the_fewest_conflicts_counts_in_any_order() -> None:
    references = (
        "Give 5 mg of haloperidol IM.",
        "Give 50 mg of haloperidol IM.",
        "Give 7 mg of haloperidol IM.",
    )
    answer = "Give 50 mg of haloperidol IV."
    forward, backward = mark(answer, *references), mark(answer, *reversed(references))
    assert forward == backward
    assert 'route: "IV" against "IM"' == forward.note


def test_of_references_with_as_many_conflicts_the_same_one_counts_in_any_order() -> None:
    references = ("Give 5 mg of haloperidol.", "Give 7 mg of haloperidol.")
    assert mark("Give 50 mg of haloperidol.", *references) == mark(
        "Give 50 mg of haloperidol.", *references[::-1]
    )


def test_a_note_names_eight_places_and_counts_the_rest() -> None:
    drugs = "aspirin heparin warfarin digoxin morphine insulin lithium codeine quinine".split()  # noqa: SIM905
    given = [". ".join(f"Give {n}{k} mg of {drug}" for k, drug in enumerate(drugs, 1)) for n in (1, 5)]
    found = mark(given[1], given[0])
    assert 9.0 == (found.parts or {})["number"]
    assert (found.note or "").endswith("; and 1 more")


def test_a_step_without_an_explanation_says_nothing_that_could_conflict() -> None:
    item = Item(
        benchmark="b", item="q", format="multi_hop_inverse", question="?", steps=("a", "b"), step=2,
        references=("Thrombin does not bind 5 mg.",),
    )  # fmt: skip
    row = Row(
        item, Response(benchmark="b", item="q", candidate="c", text="Step 2"), read_response(item, "Step 2")
    )
    (values,) = registry.build("metric", "conflict").values([row], ScoringContext())
    assert 0.0 == values["conflict"].value


def test_it_is_a_share_to_be_low_and_silence_is_set_aside() -> None:
    made = registry.build("metric", "conflict")
    (column,) = made.criteria
    assert ("conflict", 0.0, 1.0, "lower", "set_aside", "mean") == (
        column.criterion, column.low, column.high, column.direction, column.if_unanswered, column.pool
    )  # fmt: skip
    assert ("references",) == made.needs


def test_rows_keep_their_order() -> None:
    item = Item(benchmark="b", item="q", format="short", question="?", references=("Give 5 mg.",))
    texts = ("5 mg", "50 mg", "5 mg")
    rows = [
        Row(item, Response(benchmark="b", item="q", candidate="c", text=t), read_response(item, t))
        for t in texts
    ]
    values = registry.build("metric", "conflict").values(rows, ScoringContext())
    assert [0.0, 1.0, 0.0] == [v["conflict"].value for v in values]


@pytest.fixture(scope="module")
def golden(shared: Path) -> dict[str, tuple[list[str], str, str]]:
    """Tags, reference and answer of ClinIQLink's short and multi-hop golden cases."""
    cases = json.loads((shared / "data" / "cliniqlink" / "golden.json").read_text(encoding="utf-8"))["cases"]
    fields = {"short": "answer", "multi_hop": "answer", "short_inverse": "incorrect_explanation"}
    return {
        case["id"]: (case["tags"], case["item"][fields[case["qtype"]]], case["answer"])
        for case in cases
        if case["qtype"] in fields
    }


def test_the_negated_and_the_tenfold_golden_cases_carry_a_flag(golden) -> None:  # type: ignore[no-untyped-def]
    wanted = {"negated": "negation", "number-changed": "number"}
    seen = []
    for tags, reference, answer in golden.values():
        for tag in wanted.keys() & {*tags}:
            assert wanted[tag] in (mark(answer, reference).note or "")
            seen.append(tag)
    assert {*wanted} == {*seen}


def test_the_paraphrases_of_the_golden_cases_and_the_reference_itself_carry_none(golden) -> None:  # type: ignore[no-untyped-def]
    kinds = {"paraphrase", "perfect", "verbose", "near-perfect", "no-final-period", "template-prefix"}
    chosen = [case for case in golden.values() if kinds & {*case[0]}]
    assert len(chosen) >= 10
    for _, reference, answer in chosen:
        assert mark(answer, reference).value == 0.0, answer


def test_a_note_says_where_no_more_than_the_first_places_of_a_reference_are_compared() -> None:
    long = "Give 5 mg of haloperidol. " * (MOST + 1)
    said = f"of the reference no more than the first {MOST} places of a kind are compared"
    assert Value(0.0, dict.fromkeys(KINDS, 0.0), said) == mark("Give 5 mg of haloperidol.", long)
    assert f'number: "50 mg" against "5 mg"; {said}' == mark("Give 50 mg of haloperidol.", long).note
