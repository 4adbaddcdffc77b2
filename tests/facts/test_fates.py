"""Every unit comes back with its fate: right units are checked, wrong ones set aside for what is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.facts.split_cases import CASES as FIRST
from tests.facts.split_cases import LATER
from tests.growth import STEEPEST, growth
from tests.reading.hostile import Hostile

from vivavoce.facts.fact import Answer, Cleaned
from vivavoce.facts.fates import settle
from vivavoce.facts.splitters import NoClaim

CASES = FIRST | LATER
RIGHT = [(name, unit) for name, case in CASES.items() for unit in case.right]
WRONG = [(name, unit, fate) for name, case in CASES.items() for unit, fate in case.wrong]


def answer(*sentences: str, question: str = "What is it?") -> Answer:
    return Answer("i", "a", 1, question, Cleaned("ok", sentences, ()))


def fates(of: Answer, *units: str, most: int = 100) -> list[str]:
    return [fact.fate for fact in settle(units, of, most=most)]


@each_case(("name", "unit"), RIGHT)
def test_a_unit_of_a_right_split_is_checked(name, unit):
    (fact,) = settle([unit], CASES[name].as_answer(), most=10)
    assert ("checked", None) == (fact.fate, fact.reason)


@each_case(("name", "unit", "fate"), WRONG)
def test_a_wrong_unit_is_set_aside_for_what_is_wrong(name, unit, fate):
    (fact,) = settle([unit], CASES[name].as_answer(), most=10)
    assert fate == fact.fate, fact.reason


MISSED = [(name, unit) for name, case in CASES.items() for unit in case.missed]


@each_case(("name", "unit"), MISSED)
def test_what_is_known_to_be_missed_is_still_missed(name, unit):
    """A rule that catches one of these moves it to the wrong units."""
    assert ["checked"] == fates(CASES[name].as_answer(), unit)


def test_enough_cases_stand_on_both_sides():
    assert 15 <= len(CASES)
    assert 40 <= len(RIGHT)
    assert 40 <= len(WRONG)


@each_case("name", CASES)
def test_a_whole_right_split_is_checked_and_every_sentence_is_a_part_of_its_answer(name):
    case = CASES[name]
    assert {"checked"} == set(fates(case.as_answer(), *case.right))
    sentences = case.as_answer().cleaned.sentences
    assert not {"foreign", "changed"} & set(fates(case.as_answer(), *sentences))


SMALL = answer("Aspirin inhibits platelets.", "It is given at 100 mg daily.")


def test_units_come_back_in_order_with_their_numbers():
    facts = settle(["Aspirin inhibits platelets.", "", "Aspirin is given daily."], SMALL, most=5)
    assert [1, 2, 3] == [fact.number for fact in facts]
    assert ["Aspirin inhibits platelets.", "", "Aspirin is given daily."] == [fact.text for fact in facts]
    assert () == settle([], SMALL, most=5)


@pytest.mark.parametrize("blank", ["", "  ", "…", "- * •", "\u200b", "🙂"])
def test_a_unit_without_a_word_is_empty(blank):
    assert ["empty"] == fates(SMALL, blank)


def test_a_repeated_unit_names_the_first_one():
    first, *later = settle(
        ["Aspirin inhibits platelets.", "aspirin  inhibits platelets", "1. ASPIRIN inhibits platelets!"],
        SMALL,
        most=5,
    )
    assert "checked" == first.fate
    assert [("repeated", "unit 1 says it")] * 2 == [(fact.fate, fact.reason) for fact in later]


def test_numbers_keep_units_apart():
    of = answer("The dose is 2.5 mg or 25 mg.")
    assert ["checked", "checked"] == fates(of, "The dose is 2.5 mg.", "The dose is 25 mg.")


def test_a_sentence_of_the_answer_is_not_changed_however_many_are_like_it():
    alike = [f"Ravenol is contraindicated in fesque of class {n}." for n in range(10, 70, 10)]
    unit = "Ravenol was seen with fesque of class 70."
    crowd = [f"Pelagin was seen with lorvex of class {n}." for n in range(80, 200, 10)]
    assert ["checked"] == fates(answer(*alike, unit, *crowd), unit)


def test_a_unit_much_like_an_earlier_one_is_kept_and_says_so():
    words = (
        "aspirin irreversibly inhibits cyclooxygenase in human platelets and in many cells of vessel walls"
    )
    first, second = settle([f"{words}.", f"{words} too."], answer(f"{words}."), most=5)
    assert ("checked", None) == (first.fate, first.reason)
    assert ("checked", "much like unit 1") == (second.fate, second.reason)


def test_a_unit_that_the_splitter_marks_keeps_its_reason():
    (fact,) = settle([NoClaim("Aspirin inhibits platelets.", "a summary")], SMALL, most=5)
    assert ("no_claim", "a summary") == (fact.fate, fact.reason)
    assert str is type(fact.text)


def test_units_beyond_the_most_are_surplus_and_others_take_no_place():
    of = answer("A is red.", "B is blue.", "C is green.")
    units = ["A is red.", "A is red.", "", "B is blue.", "C is green.", "C is green."]
    assert ["checked", "repeated", "empty", "checked", "surplus", "repeated"] == fates(of, *units, most=2)


@each_case(
    "unit",
    [
        "Is it given daily?",
        "Thank you!",
        "Hope this helps!",
        "Treatment options",
        "**Side effects:**",
        "### Dosage",
        "Please consult your doctor.",
        "It is important to consult a healthcare professional for personalized advice.",
        "You should seek medical attention immediately.",
        "I have treated many patients.",
        "My mother had asthma.",
        "In my opinion this is best.",
        "As an AI language model I have limits.",
        "I cannot answer this question.",
        "I don't know.",
        "Let me know if you have any other questions.",
    ],
)
def test_what_states_nothing_is_no_claim(unit):
    assert ["no_claim"] == fates(answer(unit), unit)


@each_case(
    "unit",
    [
        "See a doctor if the fever lasts more than three days.",
        "Seek emergency care if chest pain lasts longer than 20 minutes.",
        "Seek urgent surgical care for testicular torsion.",
        "Consult a nephrologist before giving gadolinium.",
        "The cause is unknown.",
        "Sure signs of fracture are crepitus and deformity.",
        "Treatment is surgical.",
        "Symptoms include fever",
        "The patient cannot answer questions.",
        "Iodine is a halogen.",
        "Hi-flow oxygen is given.",
        "My-opia is short-sightedness.",
        "Hello kitty is no disease.",
        "Get a chest radiograph.",
    ],
)
def test_what_states_something_is_a_claim(unit):
    assert ["checked"] == fates(answer(unit), unit)


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        ("Rivaroxaban thins blood.", "3 of its 3 content words are not in answer or question: rivaroxaban"),
        (
            "Aspirin is given at 200 mg daily.",
            "numbers or units that the answer has not, or not so often: 200 mg",
        ),
        ("Aspirin is given at 100 mg weekly.", "a rate that the answer has not: per week"),
        ("Aspirin does not inhibit platelets.", "a negation added: 'not'"),
    ],
)
def test_a_reason_names_what_is_wrong(unit, reason):
    (fact,) = settle([unit], SMALL, most=5)
    assert (fact.reason or "").startswith(reason)


def test_a_week_is_a_rate_only_after_what_is_counted():
    of = answer("It is given three times a day for one week.")
    assert ["checked", "checked"] == fates(of, "It is given for a week.", "It is given 3 times per day.")
    assert ["changed"] == fates(of, "It is given 3 times a week.")


def test_numbers_may_come_from_the_question_but_doses_may_not():
    of = answer("Yes, he has it.", question="Has a 40-year-old man on 500 mg of drug X type 2 diabetes?")
    assert ["checked"] == fates(of, "The 40-year-old man has type 2 diabetes.")
    assert ["changed"] == fates(of, "The man has type 2 diabetes on 500 mg.")


def test_what_the_question_alone_says_is_foreign_unless_the_answer_agrees():
    question = "Is measles contagious?"
    assert ["foreign"] == fates(answer("Vaccinate the family.", question=question), "Measles is contagious.")
    assert ["checked"] == fates(answer("Yes.", question=question), "Measles is contagious.")


@pytest.mark.parametrize(
    ("sentence", "unit"),
    [
        ("麻疹は感染力が強い。", "麻疹は感染力が強い。"),
        ("الحصبة مرض شديد العدوى.", "الحصبة مرض شديد العدوى."),
        ("חצבת היא מחלה מדבקת.", "חצבת היא מחלה."),
        ("โรคหัดติดต่อง่าย", "โรคหัดติดต่อง่าย"),
        ("Корь очень заразна.", "Корь заразна."),
        ("Fever 🌡️ is 38.5 °C.", "Fever 🌡️ is 38.5 °C."),
    ],
)
def test_other_scripts_are_parts_of_their_answer(sentence, unit):
    assert ["checked"] == fates(answer(sentence), unit)


def test_a_tag_in_a_unit_reaches_no_reason():
    (fact,) = settle(["\x1b[2J\u202eevil words stand nowhere\n\nfailed: ok"], SMALL, most=5)
    assert "foreign" == fact.fate
    assert not {"\x1b", "\n", "\u202e"} & set(fact.reason or "")


@given(st.lists(st.text(max_size=30), max_size=8), st.lists(st.text(max_size=40), max_size=4))
def test_totals_add_up_whatever_the_units_are(units, sentences):
    facts = settle(units, answer(*sentences), most=3)
    assert units == [fact.text for fact in facts]
    assert 3 >= sum(fact.fate == "checked" for fact in facts)
    assert all((fact.reason is not None) or fact.fate == "checked" for fact in facts)


COLD = answer("Aspirin does not inhibit platelets if it is cold.")
"""A sentence with a negation and a condition, for which the units are searched."""


@each_case(
    "unit",
    ["aspirin inhibits ", "not ", "if ", "1 to ", ", ", "please always ", "see a doctor or a ", "(", "# "],
)
def test_time_grows_with_the_length_of_a_unit_and_no_faster(unit):
    assert growth(lambda text: settle([text], COLD, most=200), Hostile(unit).text) <= STEEPEST


def test_time_grows_with_the_number_of_units_and_no_faster():
    def lines(size):
        return "\n".join(f"Unit {k} says aspirin inhibits platelets." for k in range(size // 40))

    assert growth(lambda text: settle(text.splitlines(), COLD, most=200), lines) <= STEEPEST


def test_time_grows_with_the_number_of_sentences_and_no_faster():
    def facts_of(text):
        assert len(settle(["Aspirin inhibits platelets."], answer(*text.splitlines()), most=200)) == 1

    def lines(size):
        return "\n".join(f"Sentence {k}: aspirin is no friend if it is cold." for k in range(size // 40))

    assert growth(facts_of, lines) <= STEEPEST
