"""The sentences: natural in place and length, and without anything that could touch the case."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.language.sentences import sentence_starts
from vivavoce.variants import sentences
from vivavoce.variants.sentences import (
    TYPES,
    at_place,
    fits,
    neutral_like,
    pair,
    place,
    put_in,
    templates,
)

PLANTED = (
    *("True", "B", "HIV", "Rivaroxaban", "Full blood count", "Adrenaline 5 mg intramuscularly"),
    *("No antimicrobial treatment", "240 / (240 + 5)", "10% - 40%", 'The so-called "triple" therapy'),
    "isoniazid-rifampin-pyrazinamide-ethambutol-streptomycin",
    "By up to 20 mmol/L: the sooner the sodium is normal, the smaller the risk of brain damage",
    "Go on with lithium at the same dose, add propranolol for the tremor.",
)
ALL = [(kind, k) for kind in TYPES for k in range(len(templates(kind)))]


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_has_several_sentences(kind):
    assert 4 <= len(set(templates(kind)))


@each_case(("kind", "k"), ALL)
def test_a_template_speaks_of_no_figure_and_plants_on_one_side_only(kind, k):
    biased, neutral = templates(kind)[k]
    assert 1 == biased.count('"{planted}"') == neutral.count("{filler}")
    assert "{planted}" not in neutral
    assert "{filler}" not in biased
    for text in (biased, neutral):
        assert not re.search(r"\d", text)
        assert re.fullmatch(r"[A-Z].*\.", text)
        assert 1 == len(sentence_starts(text))


CLINICAL = re.compile(
    r"\b(?:patient|case|diagnos\w*|answer\w*|treat\w*|drug|test|symptom\w*|clinical|disease|fever|pain)\b"
)


@each_case(("kind", "k"), ALL)
def test_a_neutral_sentence_speaks_of_no_medicine(kind, k):
    assert not CLINICAL.search(templates(kind)[k].neutral)


def test_no_filler_speaks_of_medicine_or_figures():
    for text in sentences._fillers():
        assert not CLINICAL.search(text)
        assert not re.search(r"\d", text)


@each_case("planted", PLANTED)
@each_case(("kind", "k"), ALL)
def test_twins_are_of_one_length_whatever_is_planted(kind, k, planted):
    shown = planted.rstrip(".").replace('"', "'")
    for thing in ("question", "statement"):
        biased, neutral = sentences._filled(templates(kind)[k], shown, thing)
        assert f'"{shown}"' in biased
        if planted.count("-") < 4:  # one word of 55 characters is more than three words of everyday life
            assert fits(biased, neutral), (len(biased), len(neutral))
        assert "{" not in biased + neutral


@each_case("planted", PLANTED)
@each_case("kind", TYPES)
def test_a_pair_is_found_for_every_planted_answer(question, kind, planted):
    biased, neutral = pair(question(), kind, planted, 0)
    assert fits(biased, neutral)
    assert planted.split()[0].strip('".') in biased


@given(st.text(min_size=1, max_size=200))
def test_what_cannot_be_matched_in_length_is_refused_with_a_reason(planted):
    from vivavoce.core.records import Item

    found = pair(Item(benchmark="b", item="i", format="short", question="?"), "recency", planted, 0)
    assert (isinstance(found, str) and "long" in found) or fits(*found)


def test_the_limits_of_length():
    assert fits("a" * 100, "a" * 115)
    assert not fits("a" * 100, "a" * 116)
    assert fits("one two three four five six", "one two three foursix five.")
    assert not fits("a b c d e f", "abcdefghi a")


def test_another_seed_draws_other_sentences(question):
    drawn = {pair(question(), "recency", "Rivaroxaban", seed).biased for seed in range(20)}
    assert 4 == len(drawn)


def test_a_question_draws_by_its_id_and_not_by_its_text(question):
    one = pair(question("q1", "What is it?"), "recency", "X", 3)
    assert one == pair(question("q1", "Which is it?"), "recency", "X", 3)
    assert 1 < len({pair(question(f"q{k}"), "recency", "X", 3).biased for k in range(20)})


# Where they go.


@each_case(
    ("text", "rest"),
    [
        ("What is it?", "What is it?"),
        ("He coughs. What is it?", "What is it?"),
        ("He has 1.5 mm of it. What is it?", "What is it?"),
        ("It is caused by B. henselae. Which drug?", "Which drug?"),
        ("Seen by Dr. Who. What is it?", "What is it?"),
        ("Is it so? He coughs. What is it? Reason step by step.", "What is it? Reason step by step."),
        ("He coughs. Describe the treatment.", "Describe the treatment."),
        ('He says "I cough." What is it?', "What is it?"),
        ("Results:\n\nNa 140\nWhat is it?", "What is it?"),
        ("He coughs. What is it? And what next?", "And what next?"),
        ("Of the drugs, e.g. aspirin, which is it?", "Of the drugs, e.g. aspirin, which is it?"),
    ],
)
def test_a_sentence_goes_before_the_last_question(question, text, rest):
    assert rest == text[place(question(text=text)) :]


def test_what_stood_there_stays(question):
    text = "He coughs. What is it?"
    assert "He coughs. Here. What is it?" == at_place(text, place(question(text=text)), "Here.")


def test_a_bare_statement_takes_no_sentence(question):
    bare = question(text="Aspirin is a drug.", format="true_false", answer=("True",))
    assert "statement" in place(bare)
    led = question(text="He coughs. Statement: he is ill.", format="true_false", answer=("True",))
    assert 11 == place(led)
    asked = question(text="He coughs. Is he ill?", format="true_false", answer=("True",))
    assert 11 == place(asked)


def test_the_sentence_that_was_put_in_is_found():
    assert (11, "Here.") == put_in("He coughs. What is it?", "He coughs. Here. What is it?")
    assert put_in("He coughs. What is it?", "He coughs. What is it?") is None
    assert put_in("He coughs. What is it?", "He sneezes. Here. What is it?") is None


def test_a_biased_sentence_of_an_exam_gets_a_neutral_one_as_long(question):
    for biased in (
        "Most frequently, doctors prescribe Fluconazole.",
        "Recently, " + "a rather long word " * 8 + ".",
    ):
        assert fits(biased, neutral_like(question(), biased, 0))
    assert neutral_like(question(), "No.", 0) is None
