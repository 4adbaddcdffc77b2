"""Claims turned and numbers replaced: hand-worked cases, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from vivavoce.language.invariants import NEGATION, invariants
from vivavoce.variants.altered_claims import is_english, negated, numbers
from vivavoce.variants.controls import Draw

DRAW = Draw(("b", "q"), 0)

TURNED = [
    ("Amoxicillin is indicated.", "Amoxicillin is not indicated."),
    ("Surgery is not indicated.", "Surgery is indicated."),
    ("The drug can cause cough.", "The drug cannot cause cough."),
    ("The drug cannot cause cough.", "The drug can cause cough."),
    ("Metformin isn't the cause.", "Metformin is the cause."),
    ("Warfarin does not cross the placenta.", "Warfarin does cross the placenta."),
    ("Do not stop the aspirin.", "Do stop the aspirin."),
    ("There is an increased risk of bleeding.", "There is no increased risk of bleeding."),
    ("There is no evidence of infection.", "There is evidence of infection."),
    ("The patient has no fever in the morning.", "The patient has fever in the morning."),
    ("The lesion has been removed.", "The lesion has not been removed."),
    ("Statins should be started.", "Statins should not be started."),
    ("The rash (a late sign) was visible.", "The rash (a late sign) was not visible."),
    ("Is it so? The stone is the cause.", "Is it so? The stone is not the cause."),
]


@each_case(("text", "expected"), TURNED)
def test_a_claim_is_turned_into_its_opposite(text, expected):
    edited = negated(text, DRAW)
    assert expected == edited.text
    assert "became" in edited.change


LEFT = [
    "Is the stone the cause of this?",
    "If the stone is large, remove it.",
    "All patients with this are treated.",
    "It is not only a sign of this.",
    "It is not a sign of A but of B.",
    "This may be the cause of it.",
    "Rivaroxaban",
    "She does not report any of this.",
    "It is always the cause of this.",
    "The drug that is given helps.",
]


@each_case("text", LEFT)
def test_what_has_no_sure_opposite_is_left_alone(text):
    assert isinstance(negated(text, DRAW), str)


@pytest.mark.parametrize(
    "text",
    [
        "La amoxicilina es el tratamiento de elección en la infección.",
        "Le traitement est la chirurgie et non les antibiotiques.",
        "Il farmaco non è indicato per la gravidanza.",
        "Die Behandlung ist nicht das Mittel der Wahl.",
        "答案是B。",
        "🩺" * 10,
        "",
    ],
)
def test_other_languages_are_left_out_and_said_so(text):
    assert not is_english(text)
    assert negated(text, DRAW) == "it is not in English: claims are turned in English only"


@each_case(("text", "expected"), TURNED)
def test_a_turned_claim_has_one_denial_more_or_less(text, expected):
    count = [sum(1 for _ in NEGATION.finditer(t)) for t in (text, negated(text, DRAW).text)]
    assert 1 == abs(count[0] - count[1])


REPLACED = [
    ("Give 5 mg of it.", {"Give 10 mg of it.", "Give 2 mg of it.", "Give 8 mg of it."}),
    ("Give 2.5mg of it.", {"Give 5.0mg of it.", "Give 1.2mg of it.", "Give 3.8mg of it."}),
    ("It cures 90% of them.", {"It cures 45% of them."}),
    ("A fever of 38.5 °C.", {"A fever of 36.5 °C.", "A fever of 40.5 °C."}),
    ("A pH of 7.30 is low.", {"A pH of 6.90 is low.", "A pH of 7.70 is low."}),
    ("At the age of 60 years.", {"At the age of 30 years.", "At the age of 90 years."}),
    ("Leukocytes 16,000/uL.", {"Leukocytes 32,000/uL.", "Leukocytes 8,000/uL.", "Leukocytes 24,000/uL."}),
    ("Take it for two weeks.", {"Take it for four weeks."}),
    ("A value of <50.", {"A value of <100.", "A value of <25.", "A value of <75."}),
    ("Aim at 0 mg.", {"Aim at 2 mg."}),
    ("In 2019 give 5 cm.", {"In 2019 give 10 cm.", "In 2019 give 2 cm.", "In 2019 give 8 cm."}),
]


@each_case(("text", "expected"), REPLACED)
def test_a_number_is_replaced_and_its_unit_stays(text, expected):
    found = {numbers(text, Draw(("b", f"q{k}"), 0)).text for k in range(40)}
    assert expected == found


@each_case(("text", "expected"), REPLACED)
def test_one_number_differs_and_no_unit_does(text, expected):
    old, new = invariants(text).numbers, invariants(numbers(text, DRAW).text).numbers
    assert 1 == sum(a != b for a, b in zip(old, new, strict=True))
    assert [unit for _, unit in old] == [unit for _, unit in new]


@each_case(
    "text",
    [
        "Published in 2019.",
        "Seen on 3 May and on 12/05/2020.",
        "As shown before [12] and [3, 4].",
        "As shown before (7).",
        "Give 5-10 mg or 2 to 3 tablets, at 120/80 mmHg.",
        "Type 2 diabetes, stage 3, option 4, B12, CD4, COVID-19 and receptor 2.",
        "A 29-year-old man.",
        "1. First\n2) Second",
        "Give 2,5 mg.",
        "Give it in 1 month.",
        "Nothing to count.",
        "007",
        "123456789",
        "",
        "٥ ملغ",
    ],
)
def test_what_measures_nothing_is_left_alone(text):
    assert numbers(text, DRAW) == "it has no number that the rules can change"


@given(st.text(max_size=300), st.integers(0, 5))
def test_any_text_is_changed_in_one_place_or_left_with_a_reason(text, seed):
    for make in (negated, numbers):
        edited = make(text, Draw(("b", "q"), seed))
        assert edited == make(text, Draw(("b", "q"), seed))
        if not isinstance(edited, str):
            assert edited.text != text


@given(
    st.decimals(0, 9999, places=2), st.sampled_from(["mg", "%", "years", "°C", "mmol/L"]), st.integers(0, 9)
)
def test_a_new_number_is_never_the_old_one_nor_below_nothing(number, unit, seed):
    text = f"A value of {number} {unit} here."
    edited = numbers(text, Draw(("b", "q"), seed))
    if not isinstance(edited, str):
        (old,), (new,) = invariants(text).numbers, invariants(edited.text).numbers
        assert old != new
        assert float(new[0]) > 0
