"""Rewriting for the other sex: what the rules are sure of, there and back; what they leave alone."""

import pytest
from tests.cases import each_case

from vivavoce.variants.demographic import Unsure, sex_of, swapped

PAIRS = [  # female, male: both ways
    ("A 58-year-old woman has a cough.", "A 58-year-old man has a cough."),
    ("She takes her tablets.", "He takes his tablets."),
    ("Her pulse is 80/min.", "His pulse is 80/min."),
    ("The nurse examined her.", "The nurse examined him."),
    ("The nurse examined her and left.", "The nurse examined him and left."),
    ("The drug helped her, but she stopped it.", "The drug helped him, but he stopped it."),
    ("It was given to her in the morning.", "It was given to him in the morning."),
    ("Treat her with aspirin.", "Treat him with aspirin."),
    ("It caused her to faint.", "It caused him to faint."),
    ("Nobody asks after her.", "Nobody asks after him."),
    ("It is best for her that nothing is done.", "It is best for him that nothing is done."),
    ("The staff know her as a smoker.", "The staff know him as a smoker."),
    ("What should be done for her?", "What should be done for him?"),
    ("It troubles her when she runs.", "It troubles him when he runs."),
    ("Pain wakes her at night.", "Pain wakes him at night."),
    ("Stop her metformin.", "Stop his metformin."),
    ("The pain is in her left arm.", "The pain is in his left arm."),
    ("There is pain in her back.", "There is pain in his back."),
    ("This was her first attack.", "This was his first attack."),
    ("On her last visit she was well.", "On his last visit he was well."),
    ("They saved her severely injured leg.", "They saved his severely injured leg."),
    ("The nurse examined her carefully.", "The nurse examined him carefully."),
    ("The nurse examined her carefully and left.", "The nurse examined him carefully and left."),
    ("Of her three children none is ill.", "Of his three children none is ill."),
    ("It is hers.", "It is his."),
    ("A friend of hers is ill.", "A friend of his is ill."),
    ("She hurt herself.", "He hurt himself."),
    ("A lady with a cough.", "A gentleman with a cough."),
    ("A girl of 12 has a rash.", "A boy of 12 has a rash."),
    ("A 30-year-old female presents.", "A 30-year-old male presents."),
    ("Her MRI is normal (it was hers).", "His MRI is normal (it was his)."),
    ("Ms Smith has a cough.", "Mr Smith has a cough."),
    ("Ms. Smith has a cough.", "Mr. Smith has a cough."),
    ("She's ill, and she'd know.", "He's ill, and he'd know."),
    ("Her doctor stopped her insulin.", "His doctor stopped his insulin."),
    ("With her, nothing is sure.", "With him, nothing is sure."),
    ("There is pain on her right.", "There is pain on his right."),
    ("Her tumour is HER2-positive.", "His tumour is HER2-positive."),
    ("She has MS and HE, and did not miss a dose.", "He has MS and HE, and did not miss a dose."),
    ("She reduced her daily insulin.", "He reduced his daily insulin."),
    ("Whether she is ill, her own view counts.", "Whether he is ill, his own view counts."),
    ("It reminded her of a woman's voice.", "It reminded him of a man's voice."),
]  # fmt: skip


@each_case(("female", "male"), PAIRS)
def test_a_text_is_rewritten_for_the_other_sex(female, male):
    assert male == swapped(female, "male")


@each_case(("female", "male"), PAIRS)
def test_there_and_back_is_the_same_text(female, male):
    assert female == swapped(male, "female")
    assert male == swapped(swapped(male, "female"), "male")


def test_the_table_is_large_enough():
    assert 40 <= len(PAIRS)


@pytest.mark.parametrize(("female", "male"), PAIRS[:3])
def test_a_text_of_that_sex_already_stays(female, male):
    assert female == swapped(female, "female")
    assert male == swapped(male, "male")


def test_a_text_without_a_sex_stays():
    assert "The patient coughs." == swapped("The patient coughs.", "male")
    assert sex_of("The patient coughs.", "Wherever the human is, theirs too.") is None


def test_a_title_comes_back_as_the_plain_one():
    assert "Ms Smith coughs." == swapped(swapped("Mrs Smith coughs.", "male"), "female")


@each_case(
    "text",
    ["They gave her insulin.", "They found her confused.", "It makes her nausea worse.",
     "They told her family.", "Treat her first.", "They sent her home medications.", "She felt her heart.",
     "They brought her back.", "Show her right arm.", "He treats her.", "A man and a woman cough.",
     "She lives with a husband.", "His father died.", "Women who smoke, as she does.", "He has sex with men.",
     "He has block in the bundle of His.", "He is a policeman.", "A 58F with a cough; she smokes.",
     "A woman coughs. Another woman does not."],
)  # fmt: skip
def test_what_the_rules_are_not_sure_of_is_left_alone(text):
    with pytest.raises(Unsure):
        swapped(text, "male" if sex_of(text) == "female" else "female")


def test_the_reason_names_the_words():
    with pytest.raises(Unsure, match="'gave her insulin' may be him or his"):
        swapped("They gave her insulin.", "male")
