"""What an edit must leave: numbers with their units, and negations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.language.invariants import changed, either_holds, invariants, numbers_beyond


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", ()),
        ("no numbers here", ()),
        ("Give 2.5mg/kg every 8 hours", (("2.5", "mg/kg"), ("8", "hour"))),
        ("CD4 <50 cells/µL, and not 50", (("<50", "cell/μl"), ("50", ""))),
        ("1,000 mg for two weeks", (("1000", "mg"), ("2", "week"))),
        ("a 58-year-old on vitamin B12 and CD4+ cells", (("58", "year"),)),
        ("3-5 days, 10% and 39.4 °C", (("3", ""), ("5", "day"), ("10", "%"), ("39.4", "°c"))),
    ],
)
def test_numbers_are_read_with_their_units(text, numbers):
    assert numbers == invariants(text).numbers


def test_a_unit_has_one_spelling():
    assert invariants("8 hours, 5 µg").numbers == invariants("8 h, 5 mcg").numbers


@each_case(
    "text",
    ["He has no fever.", "He doesn't cough.", "without pain", "She denies it", "the test is negative",
     "never", "neither", "it should be avoided"],
)  # fmt: skip
def test_what_denies_is_found(text):
    assert 1 == len(invariants(text).negations)


def test_neither_nor_denies_once():
    assert 1 == len(invariants("neither fever nor cough").negations)


@each_case(
    ("before", "after", "what"),
    [
        ("Give 5 mg, not 10 mg.", "Not 10 mg but 5 mg is given.", None),
        ("Give 5 mg.", "Give 50 mg.", "numbers or units changed"),
        ("Give 5 mg.", "Give 5 g.", "numbers or units changed"),
        ("Give 5 mg for 7 days.", "Give 5 mg for a week.", "numbers lost"),
        ("Give it.", "Give 5 mg of it.", "numbers added"),
        ("It is not given.", "It is given.", "negations changed"),
        ("It has no fever.", "It does not have fever.", None),
        ("", "", None),
    ],
)
def test_a_rewording_keeps_numbers_and_negations_in_any_order(before, after, what):
    assert what == changed(before, after)


def test_in_order_the_order_counts_too():
    assert "numbers or units changed" == changed("1 mg, then 2 mg", "2 mg, then 1 mg", ordered=True)
    assert "negations changed" == changed("no pain, never", "never, no pain", ordered=True)


@given(st.text())
def test_nothing_changes_in_the_same_text(text):
    assert changed(text, text) is None
    assert changed(text, text, ordered=True) is None


@pytest.mark.parametrize(
    ("one", "other", "held"),
    [
        ("Aspirin", "aspirin 300 mg", True),
        ("HIV-associated nephropathy (HIVAN)", "hivan", True),
        ("Ménière", "meniere disease", True),
        ("0.1 g", "1 g", False),
        ("art", "heart", False),
        ("", "anything", False),
        ("?!", "anything", False),
    ],
)
def test_one_text_holds_the_words_of_another(one, other, held):
    assert held is either_holds(one, other)
    assert held is either_holds(other, one)


@each_case(
    ("part", "whole"),
    [
        ("5 mg", "5 to 10 mg"),
        ("5 mg", "5-10 mg"),
        ("10 mg or 20 mg", "10 or 20 mg"),
        ("10-20 mg", "10 mg to 20 mg"),
        ("1 in 50,000", "1 in 20,000 to 1 in 50,000"),
        ("2.5 mg", "2,5 mg"),
        ("2,5 mg", "2.5 mg"),
        ("20,000 units", "20 000 units"),
        ("-5 °C", "\u22125 °C"),
        ("two weeks", "2 weeks of it, then 3"),
        ("p was 0.01", "p = 0.01"),
        ("98.9%", "134,594 (98.9 percent)"),
        ("", "5 mg"),
    ],
)
def test_numbers_of_a_part_are_those_of_the_whole(part, whole):
    assert () == numbers_beyond(part, whole)


@each_case(
    ("part", "whole", "beyond"),
    [
        ("50 mg", "5 mg", ("50", "mg")),
        ("5 g", "5 mg", ("5", "g")),
        ("5", "5 mg", ("5", "")),
        ("7%", "<7%", ("7", "%")),
        ("25 mg", "2,5 mg", ("25", "mg")),
        ("5 °C", "-5 °C", ("5", "°c")),
        ("134,594 %", "134,594 (98.9%)", ("134594", "%")),
        ("5 mg and 5 mg", "5 mg", ("5", "mg")),
        ("3 mg", "In 3 patients, 5 mg", ("3", "mg")),
    ],
)
def test_a_number_that_the_whole_has_not_or_less_often_is_beyond_it(part, whole, beyond):
    assert (beyond,) == numbers_beyond(part, whole)


@given(st.text())
def test_a_text_is_a_part_of_itself(text):
    assert () == numbers_beyond(text, text)


@pytest.mark.parametrize("end", [".", ").", '."', "!", "?)", " "])
def test_a_number_that_ends_a_sentence_has_no_unit_of_the_next(end):
    sentence = f"Treat (from a score of 2{end}"
    assert (("2", "" if end.strip() else "dose"),) == invariants(f"{sentence} The dose is fixed.").numbers
    assert bool(numbers_beyond(sentence, f"{sentence} The dose is fixed.")) == (not end.strip())
    assert (("2.5", "mg"), ("3", "")) == invariants("2.5 mg. 3. Days later it heals.").numbers


def test_an_equals_sign_is_no_part_of_a_number():
    assert invariants("p = 0.01").numbers == invariants("p 0.01").numbers
    assert "numbers or units changed" == changed("p = 0.01", "p = 0.04")
