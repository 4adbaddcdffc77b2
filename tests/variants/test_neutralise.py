"""Neutral texts: no statement of the answer, options' texts for numbers, and what is left is listed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.reading.test_answer_mentions import WORDS

from vivavoce.core.errors import InputError
from vivavoce.core.records import Response
from vivavoce.core.text import LONGEST
from vivavoce.reading.answer_mentions import answer_mentions
from vivavoce.run.vary.vary import vary
from vivavoce.store import read
from vivavoce.store.write import put_candidates, put_responses
from vivavoce.variants.neutralise import neutral

OPTIONS = ("A diet.", "Surgery.", "Octreotide, if any.", "Carcinoid", "Benzodiazepines.")


def text_of(text, **how):
    return neutral(text, OPTIONS, **how).text


@each_case(
    ("text", "expected"),
    [
        ("It lasts 2 hours. The answer is 2.", "It lasts 2 hours."),
        ("It lasts, so the correct option is C.", "It lasts."),
        ("A stenosis (Answer 4 correct). It hurts.", "A stenosis. It hurts."),
        ("Option C is correct because it is short.", "Because it is short."),
        ("Answers 1, 2 and 5 are treatments.", "A diet, Surgery and Benzodiazepines are treatments."),
        ("Options 1 and 3 are false.", "A diet; and Octreotide, if any are false."),
        ("The option B is false.", "Surgery is false."),
        ("Option B (Surgery) is false.", "Surgery is false."),
        ("Surgery (option B) is false.", "Surgery is false."),
        ("Las opciones 1 y 2 son falsas.", "A diet y Surgery son falsas."),
        ("La respuesta correcta es la 2. Dura poco.", "Dura poco."),
        ("La bonne réponse est la 3, car c'est court.", "Car c'est court."),
        ("La risposta corretta è la B. Dura poco.", "Dura poco."),
        ("Type 1 diabetes, grade 2, 5 mg for 3 days.", "Type 1 diabetes, grade 2, 5 mg for 3 days."),
    ],
)
def test_statements_go_and_numbers_become_words(text, expected):
    assert expected == text_of(text)
    assert expected == text_of(expected)


def test_what_cannot_be_mended_stays_and_is_listed():
    for text, left in (
        ("Option 6 is false.", ("Option 6",)),
        ("None of the above fits.", ("None of the above",)),
    ):
        assert (text, (), (), left) == neutral(text, OPTIONS)
    unknown = neutral("Answers 1 and 2 fit. The answer is 2.", OPTIONS, numbered=False)
    assert ("Answers 1 and 2 fit.", ("Answers 1 and 2",)) == (unknown.text, unknown.leaks)


def test_an_option_without_a_text_takes_no_number_away():
    assert ("Option 2",) == neutral("Option 2 is false.", ("x", " ")).leaks


def test_options_that_name_options_are_never_put_in():
    mended = neutral("Option 1 and option 2 differ.", ("as option 2", "as option 1"))
    assert ("Option 1", "option 2") == mended.leaks
    assert "Option 1 and option 2 differ." == mended.text


def test_a_text_that_would_grow_beyond_what_is_read_stays_as_it_is():
    text = "option 1 " * 2000
    mended = neutral(text, ("x" * (LONGEST // 1000), "y"))
    assert text == mended.text
    assert 2000 == len(mended.leaks)


@given(
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)), max_size=14).map("".join),
    st.lists(st.one_of(st.sampled_from(("2", "option 1", "Surgery.", "")), st.text(max_size=9)), max_size=4),
    st.booleans(),
)
def test_a_neutral_text_is_neutral_whatever_it_was(text, options, numbered):
    once = neutral(text, options, numbered=numbered)
    again = neutral(once.text, options, numbered=numbered)
    assert (once.text, (), ()) == again[:3]
    if text != once.text:
        assert all(m.kind != "answer" for m in answer_mentions(once.text))


TEXTS = {
    "q0": "It is short. The answer is B.",
    "q1": "Option 1 lasts, so it is out.",
    "q2": "It lasts 2 hours.",
    "q3": "The answer is 2.",
    "q4": "Option 9 is out. The answer is 2.",
    "q5": " ",
}


@pytest.fixture
def explained(question, holding):
    """Six explanations by a candidate, a ceiling and a floor; and one answer to an open question."""
    fields = {"format": "argument", "options": ("Lorazepam", "Surgery"), "answer": ("Surgery",)}
    run = holding([*(question(item, "Which?", **fields) for item in TEXTS), question("open")])
    with run.writing() as db:
        keys = {(i.item, i.variant): key for key, i in read.items_by_id(db).items()}
        candidates = put_candidates(db, {"A": "candidate", "gold": "ceiling", "label_only": "floor"})
        rows = [
            Response(benchmark="exam", item=item, candidate=who, text=text)
            for who in ("A", "gold", "label_only")
            for item, text in {**TEXTS, "open": "The answer is 2."}.items()
        ]
        put_responses(db, rows, items=keys, candidates=candidates)
    return run


def edits(run):
    with run.reading() as db:
        frame = read.responses(db)
    return {
        (r["item"], r["candidate"]): (r["text"], json.loads(r["meta"]))
        for r in frame.iter_rows(named=True)
        if r["edit"] == "neutralise"
    }


def test_neutral_answers_are_edits_that_say_what_was_changed(explained, nobody):
    finding = vary(explained, ["neutralise"], desk=nobody)
    made = edits(explained)
    assert {("q0", "A"), ("q0", "gold"), ("q1", "A")} == set(made)
    text, meta = made["q0", "A"]
    assert ("It is short.", "taken out: The answer is B.") == (text, meta["change"])
    assert meta["origin"].startswith("neutralise")
    assert "Lorazepam lasts, so it is out." == made["q1", "A"][0]
    row = finding.rows[0]
    assert (3, 2) == (row["made"], row["dropped"])
    reasons = row["reasons"]
    assert any("nothing names the answer" in reason for reason in reasons)
    assert any("says nothing but what the answer is" in reason for reason in reasons)
    assert any("is left: A: Option 9" in reason for reason in reasons)


def test_a_text_with_a_rest_is_kept_where_marked_and_names_it(explained, nobody):
    vary(explained, ["neutralise"], mark=True, desk=nobody)
    made = edits(explained)
    assert "Option 9 is out." == made["q4", "A"][0]
    assert ["Option 9"] == made["q4", "A"][1]["leaks"]
    assert "is left" in made["q4", "A"][1]["check"]


def test_numbers_in_a_ceilings_text_count_other_lists(explained, nobody):
    vary(explained, ["neutralise"], mark=True, desk=nobody)
    assert ("q1", "gold") not in edits(explained)
    with pytest.raises(InputError, match="Use another run"):
        vary(explained, ["neutralise(numbers=unknown)"], desk=nobody)


def test_twice_makes_nothing_new(explained, nobody):
    vary(explained, ["neutralise"], desk=nobody)
    assert 3 == vary(explained, ["neutralise"], desk=nobody).rows[0]["there"]


def test_one_candidate_can_be_named_and_must_be_there(explained, nobody):
    vary(explained, ["neutralise(candidate=gold)"], desk=nobody)
    assert {"gold"} == {who for _, who in edits(explained)}
    with pytest.raises(InputError, match="no candidate 'B'"):
        vary(explained, ["neutralise(candidate=B)"], desk=nobody)
