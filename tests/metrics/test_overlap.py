"""accuracy, exact, list_f1 and token_f1: hand-worked values, empties, ties, invariances."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.metrics import accuracy as accuracy_module
from vivavoce.metrics import token_f1 as token_f1_module
from vivavoce.metrics.token_f1 import f1


def mark(spec: str, parsed: object, stray: tuple[str, ...] = (), **fields: object) -> Value:
    metric = registry.build("metric", spec)
    item = Item(benchmark="b", item="q", format=metric.formats[0], question="?", **fields)
    row = Row(item, Response(benchmark="b", item="q", candidate="c", text=""), Reading("ok", parsed, stray))
    return metric.values([row], ScoringContext())[0][metric.criteria[0].criterion]


@pytest.mark.parametrize(
    ("parsed", "keyed", "wanted"),
    [("Warfarin", "Warfarin", 1.0), ("Heparin", "Warfarin", 0.0), (True, "True", 1.0), (False, "True", 0.0)],
)
def test_accuracy_is_one_for_the_keyed_answer_only(parsed, keyed, wanted):
    assert wanted == mark("accuracy", parsed, answer=(keyed,)).value


def list_f1(picked, keyed, stray=()):
    return mark("list_f1", tuple(picked), tuple(stray), answer=tuple(keyed))


def test_list_f1_hand_worked():
    """Two of three right, one wrong: precision 2/3, recall 2/4, F1 = 4/7."""
    got = list_f1("ABX", "ABCD")
    assert pytest.approx(4 / 7) == got.value
    assert {"tp": 2, "fp": 1, "fn": 2, "precision": 2 / 3, "recall": 2 / 4} == got.parts


def test_a_stray_entry_costs_precision_not_the_question():
    got = list_f1("AB", "AB", ["Ibuprofen"])
    assert pytest.approx(4 / 5) == got.value
    assert 1.0 == got.parts["recall"]
    assert "Ibuprofen" in got.note


def test_strays_alone_score_zero():
    assert 0.0 == list_f1((), "AB", ["x"]).value


def test_an_empty_pick_has_no_precision():
    got = list_f1((), "AB")
    assert 0.0 == got.value
    assert "precision" not in got.parts


@given(
    st.sets(st.sampled_from("ABCDEFG"), min_size=1),
    st.sets(st.sampled_from("ABCDEFG"), min_size=1),
    st.randoms(),
)
def test_list_f1_does_not_depend_on_order(picked, keyed, shuffler: random.Random):
    orders = [sorted(picked), sorted(picked, reverse=True), shuffler.sample(sorted(picked), len(picked))]
    assert 1 == len({list_f1(order, sorted(keyed)).value for order in orders})


def exact(answer, *references):
    return mark("exact", answer, references=references).value


@pytest.mark.parametrize(
    "answer",
    ["benign prostatic hyperplasia", "Benign prostatic hyperplasia.", "The  benign\nprostatic hyperplasia"],
)
def test_exact_ignores_case_full_stops_and_articles(answer):
    assert 1.0 == exact(answer, "Benign prostatic hyperplasia")


@each_case(
    ("answer", "reference"),
    [
        ("25 mg", "2.5 mg"),
        ("<50", ">50"),
        ("50", "<50"),
        ("2.5 g", "2.5 mg"),
        ("no warfarin", "warfarin"),
        ("-2", "2"),
        ("2,5 mg", "2.5 mg"),
        ("5 mg", ".5 mg"),
        ("CD4+", "CD4-"),
        ("Rh positive, Rh-", "Rh positive, Rh+"),
        (">5", "≯5"),
        ("5", "≠5"),
        ("10^4", "10³"),
        ("1 mmol/L", "18 mg/dL"),
        ("1 unit", "1 IU"),
        ("1 month", "30 days"),
        ("10-5 mg", "5-10 mg"),
        ("5 mg", "5 mg/kg"),
    ],
)
def test_exact_tells_doses_comparators_units_and_negations_apart(answer, reference):
    assert 0.0 == exact(answer, reference)


@each_case(
    ("answer", "reference"),
    [
        ("2.5mg", "2.5 mg"),
        ("1,000 mg", "1000 mg"),
        ("≥ 65", ">=65"),
        ("5 µg", "5 μg"),
        ("IL‑6", "IL-6"),
        (".5 mg", "0.5 mg"),
        ("10³ cells", "10^3 cells"),
        ("cells/mm³", "cells/mm3"),
        ("low- and high-dose", "low and high-dose"),
        ("1 g", "1000 mg"),
        ("500 µg", "0.5 mg"),
        ("every 1 h", "every 60 minutes"),
        ("5 to 10 mg", "0.005-0.01 g"),
    ],
)
def test_exact_takes_spellings_of_one_quantity_for_the_same(answer, reference):
    assert 1.0 == exact(answer, reference)


def test_exact_takes_any_of_the_references():
    assert 1.0 == exact("BPH", "benign prostatic hyperplasia", "BPH")


CLINICAL = st.lists(
    st.sampled_from(["the", "1 g", "1000 mg", "2.5", ",", "CD4+", "Ä", "no"]), max_size=5
).map(" ".join)


@given(answer=CLINICAL, reference=CLINICAL)
def test_where_exact_is_one_so_is_token_f1_by_the_same_words(answer, reference):
    exact_match = mark("exact", answer, references=(reference,)).value
    assert exact_match <= token_f1(answer, reference).value


def test_exact_beside_token_f1_reads_no_text_again(monkeypatch):
    read = []
    words = lambda text: read.append(text) or tuple(text.split())  # noqa: E731
    monkeypatch.setattr(token_f1_module, "TOKENS", {"clinical": words})
    monkeypatch.setattr(accuracy_module, "TOKENS", {"clinical": words})
    item = Item(benchmark="b", item="q", format="short", question="?", references=("stop it",))
    row = Row(item, Response(benchmark="b", item="q", candidate="c", text="stop"), Reading("ok", "stop"))
    context = ScoringContext()
    for spec in ("token_f1", "exact"):
        registry.build("metric", spec).values([row], context)
    assert ["stop", "stop it"] == sorted(read)


def token_f1(answer, *references, tokens="clinical"):
    return mark(f"token_f1(tokens={tokens})", answer, references=references)


def test_token_f1_hand_worked():
    """Answer of 4 words, reference of 3, 2 in common: P 1/2, R 2/3, F1 4/7."""
    got = token_f1("give oral aspirin daily", "aspirin daily please")
    assert pytest.approx(4 / 7) == got.value
    assert {"precision": 1 / 2, "recall": 2 / 3} == pytest.approx(got.parts)


@pytest.mark.parametrize(
    ("answer", "reference", "wanted"),
    # evaluate-v1.1.py of SQuAD: normalize_answer, f1_score; values worked by its rules
    [("The dose is 2.5 mg.", "dose is 25 mg", 1.0), ("an aspirin", "Aspirin!", 1.0), ("a b c", "d", 0.0),
     ("cat sat", "the cat", 2 / 3), ("New York's", "New Yorks", 1.0)],
)  # fmt: skip
def test_squad_tokens_follow_the_published_recipe(answer, reference, wanted):
    assert pytest.approx(wanted) == token_f1(answer, reference, tokens="squad").value


def test_a_changed_dose_is_a_word_that_differs():
    """Three words each, dose and is in common; SQuAD's recipe reads 2.5 as 25."""
    assert pytest.approx(2 / 3) == token_f1("The dose is 2.5 mg", "the dose is 25 mg").value
    assert 1.0 == token_f1("The dose is 2.5 mg", "the dose is 25 mg", tokens="squad").value


@each_case(
    ("answer", "reference", "wanted"),
    [
        ("10 mg", "100 mg", 0.0),  # half in common while number and unit were two words
        ("1 g", "1000 mg", 1.0),
        ("aspirin 0.5 g", "aspirin 500 mg", 1.0),
        ("aspirin 1 g", "aspirin 100 mg", 1 / 2),
        ("5-10 mg", "5 mg to 10 mg", 1.0),
        ("5-10 mg", "5 mg", 0.0),
        ("10 mg/kg per day", "10 mg/kg/day", 1.0),
        ("10 mg/dL", "10 mmol/L", 0.0),
        ("10 IU", "10 mg", 0.0),
        ("<50 cells/µL", "<50 cells/mm3", 1.0),
        ("<50 cells/µL", ">50 cells/mm3", 0.0),
        ("5 mg 5 mg", "0.005 g", 2 / 3),  # P 1/2, R 1: multisets also of quantities
        ("10", "10 mg", 0.0),
    ],
)
def test_token_f1_takes_a_number_and_its_unit_for_one_word(answer, reference, wanted):
    assert pytest.approx(wanted) == token_f1(answer, reference).value
    assert pytest.approx(wanted) == token_f1(reference, answer).value


def test_the_published_recipe_knows_no_unit():
    assert pytest.approx(1 / 2) == token_f1("10 mg", "100 mg", tokens="squad").value
    assert 0.0 == token_f1("1 g", "1000 mg", tokens="squad").value


@pytest.mark.parametrize("name", ["token_f1", "exact"])
def test_scores_with_and_without_marks_of_words_are_two_measures(name):
    assert registry.signature(registry.build("metric", name)).endswith("@4")


def test_no_words_on_either_side():
    assert 1.0 == f1((), ()).value
    assert 0.0 == f1((), ("aspirin",)).value
    assert 0.0 == f1(("aspirin",), ()).value


def test_repeated_words_are_counted_as_multisets():
    assert pytest.approx(2 / 3) == token_f1("fever fever", "fever").value


@given(
    st.lists(st.sampled_from(["a1", "b1", "c1"])), st.lists(st.sampled_from(["a1", "b1", "c1"])), st.randoms()
)
def test_token_f1_ignores_word_order_and_is_symmetric(one, other, shuffler: random.Random):
    mixed = shuffler.sample(one, len(one))
    assert f1(tuple(one), tuple(other)).value == f1(tuple(mixed), tuple(other)).value
    assert pytest.approx(f1(tuple(one), tuple(other)).value) == f1(tuple(other), tuple(one)).value
