"""What is left of a response, rule by rule; the published cases, and attacks."""

import json
from dataclasses import dataclass
from functools import partial

import pytest
from tests.cases import each_case
from tests.growth import STEEPEST, growth
from tests.reading.hostile import Hostile

from vivavoce.facts import clean
from vivavoce.language.sentences import sentences

CASES = [f"P{number:02}" for number in range(1, 19)]


@pytest.fixture(scope="module")
def cases(shared):
    lines = json.loads((shared / "data" / "dahl" / "preprocess_cases.json").read_text(encoding="utf-8"))
    return {case["id"]: case for case in lines["cases"] if case["kind"] == "preprocess"}


@pytest.mark.parametrize("name", CASES)
def test_a_written_case_is_cleaned_as_expected(cases, name):
    cleaned = clean(**cases[name]["input"])
    expected = cases[name]["expected"]
    assert (expected["status"], expected["sentences"], expected["removed"]) == (
        cleaned.status,
        list(cleaned.sentences),
        list(cleaned.removed),
    )


def test_no_written_case_is_left_out(cases):
    assert CASES == sorted(cases)


@dataclass
class Attack:
    """A response, and the sentences that must be left of it."""

    response: str
    sentences: tuple[str, ...]
    question: str = "What is it?"
    finish_reason: str | None = None
    removed: tuple[str, ...] | None = None


ATTACKS = {
    "blank": Attack("", (), removed=()),
    "white space": Attack(" \u00a0\n\t", (), removed=()),
    "a rule and no words": Attack("---", (), removed=()),
    "a number alone is an answer, no list marker": Attack("3.", ("3.",), "How many lobes?"),
    "no alone is an answer, not cut": Attack("Is it? No.", ("No.",), "Is it?", removed=("prompt",)),
    "no final stop and no finish reason": Attack(
        "Iron is low. C is D", ("Iron is low.",), removed=("incomplete",)
    ),
    "no final stop after stop": Attack(
        "Iron is low. C is D", ("Iron is low.", "C is D"), finish_reason="stop"
    ),
    "dots after a length limit": Attack("Iron is low. It is ...", ("Iron is low.",), finish_reason="length"),
    "dots after a stop": Attack("It depends...", ("It depends...",), finish_reason="stop"),
    "Windows line ends": Attack("Iron is low.\r\nZinc is high.\r\n", ("Iron is low.", "Zinc is high.")),
    "a question that a true sentence begins with": Attack(
        "Metformin lowers glucose.", ("Metformin lowers glucose.",), "Metformin", removed=()
    ),
    "a question that goes on in the response": Attack(
        "Is aspirin safe in pregnancy? Low doses are.",
        ("Is aspirin safe in pregnancy?", "Low doses are."),
        "Is aspirin safe?",
        removed=(),
    ),
    "a question of regex characters": Attack(
        "What is (a+b)*[c]? .*\nA pattern.", ("A pattern.",), "What is (a+b)*[c]? .*", removed=("prompt",)
    ),
    "a question in bold with a bold label": Attack(
        "**What is CRP (a protein)?**\n\n**Answer:** CRP is a protein.",
        ("CRP is a protein.",),
        "What is CRP (a protein)?",
        removed=("prompt",),
    ),
    "a question again later": Attack("A hormone. What is it? It is small.", ("A hormone.", "It is small.")),
    "turns of a chat template": Attack(
        "<|start_header_id|>user<|end_header_id|>\n\nWhat is it?<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\nIt is iron.<|eot_id|>",
        ("It is iron.",),
        removed=(),
    ),
    "thinking": Attack("<think>Perhaps 5 mg.</think>Give 10 mg.", ("Give 10 mg.",), removed=()),
    "thinking that never ends": Attack("<think>Give 5 mg.", (), removed=()),
    "a table": Attack(
        "| Drug | Dose |\n|---|---|\n| A | 5 mg |", ("| Drug | Dose |", "| A | 5 mg |"), removed=()
    ),
    "a nested list": Attack(
        "- Drugs:\n  - one.\n    - two.\n  1. three.", ("- Drugs:", "- one.", "- two.", "1. three.")
    ),
    "markers alone on their lines": Attack(
        "1.\nOlder age.\n2.\nSmoking.\n3.", ("1. Older age.", "2. Smoking."), removed=("incomplete",)
    ),
    "hostile HTML stays text": Attack(
        "<b onclick=x>Iron.</b>\n<script>alert(1)</script> is bad.",
        ("<b onclick=x>Iron.</b>", "<script>alert(1)</script> is bad."),
    ),
    "Japanese": Attack(
        "鉄は低い。亜鉛は高い。最も多い", ("鉄は低い。", "亜鉛は高い。"), removed=("incomplete",)
    ),
    "Arabic": Attack("هل هذا صحيح؟ نعم. الدواء آمن.", ("هل هذا صحيح؟", "نعم.", "الدواء آمن.")),
    "Hindi": Attack("दवा सुरक्षित है। यह सस्ती है।", ("दवा सुरक्षित है।", "यह सस्ती है।")),
    "powers are numbers": Attack(
        "It holds 10⁵ copies. It holds 105 copies.", ("It holds 10⁵ copies.", "It holds 105 copies.")
    ),
    "a naked decimal is another dose": Attack("Give .5 mg.\nGive 5 mg.", ("Give .5 mg.", "Give 5 mg.")),
    "a minus of any kind is a sign": Attack(
        "Keep at –5 °C.\nKeep at 5 °C.", ("Keep at –5 °C.", "Keep at 5 °C.")
    ),
    "a ratio is no fraction": Attack("Dilute 1:10.\nDilute 1/10.", ("Dilute 1:10.", "Dilute 1/10.")),
    "a repetition keeps the place of the first": Attack(
        "Iron is low. Zinc is high. IRON is low!", ("Iron is low.", "Zinc is high."), removed=("duplicate",)
    ),
    "it as a finding is a claim": Attack(
        "It cannot be determined by ultrasound before week 12.",
        ("It cannot be determined by ultrasound before week 12.",),
        removed=(),
    ),
    "a hedge behind a claim leaves the claim": Attack(
        "Iron is low, but I am not sure why.", ("Iron is low, but I am not sure why.",), removed=()
    ),
}


@each_case("name", ATTACKS)
def test_an_attack_leaves_what_answers(name):
    attack = ATTACKS[name]
    cleaned = clean(attack.question, attack.response, finish_reason=attack.finish_reason)
    assert attack.sentences == cleaned.sentences
    assert ("ok" if attack.sentences else "empty") == cleaned.status
    if attack.removed is not None:
        assert attack.removed == cleaned.removed


@each_case(
    "response",
    [
        "I don't know",
        "I don’t know.",
        "None",
        "**Unknown**",
        "N/A",
        "Unfortunately, I cannot answer. I am unsu",
        "Based on the text given, I cannot determine the dose.",
        "There is not enough information to answer.",
    ],
)
def test_a_response_that_says_nothing_of_the_world_is_noncommittal(response):
    cleaned = clean("What is it?", response)
    assert ("noncommittal", ()) == (cleaned.status, cleaned.sentences)
    assert "noncommittal" in cleaned.removed


def test_a_known_prompt_of_any_wording_goes():
    prompt = "You are a careful doctor. Reply in full sentences.\n\nWhat is it?\nReply:"
    cleaned = clean("What is it?", f"{prompt} It is iron.", prompt=prompt)
    assert (("It is iron.",), ("prompt",)) == (cleaned.sentences, cleaned.removed)


@pytest.mark.parametrize(
    "wording",
    ["please don't share false information.", "tell me you don’t know. Never share false information."],
)
def test_the_instruction_of_dahl_goes_without_a_known_prompt(wording):
    instruction = (
        "An examination question from the biomedical domain will be given. Please answer the question as "
        f"truthfully as possible. If you don’t know the answer to a question, {wording}"
    )
    cleaned = clean("What is it?", f"{instruction}\n\nWhat is it?\nIt is iron.")
    assert (("It is iron.",), ("prompt",)) == (cleaned.sentences, cleaned.removed)


def test_ten_thousand_repetitions_are_one_sentence():
    cleaned = clean("What is it?", "Iron is low. " * 10_000)
    assert (("Iron is low.",), ("duplicate",)) == (cleaned.sentences, cleaned.removed)


def test_cleaning_twice_changes_nothing():
    for attack in ATTACKS.values():
        once = clean(attack.question, attack.response, finish_reason=attack.finish_reason)
        again = clean(attack.question, once.text, finish_reason="stop")
        assert once.sentences == again.sentences


@each_case(
    "unit",
    [
        "word ",
        ". ",
        "A. ",
        "A: ",
        "What is it? ",
        "\n- 1.",
        ".[",
        ". [1]",
        ".)",
        "<|",
        "*_ ",
        "<think>",
        "A.B.",
    ],
)
def test_time_grows_with_the_length_of_one_line(unit):
    assert growth(partial(clean, "What is it?"), Hostile(unit, tail="x").text) <= STEEPEST


def test_short_forms_end_no_sentence():
    text = (
        "Give 0.5 mg/kg b.i.d. for 5 d. Then stop, e.g. after a rash. Give 500 mg p.o. 3 times daily, max. 4 "
        "g. See Fig. 2 and No. 5 (Smith et al. 2020). S. aureus and S. Typhi are bacteria. The U.S. Task "
        "Force agrees. Patients lack vitamin D. Most have hepatitis B. Some do not.[3] Others do. "
        "(See above.) “Next” is it."
    )
    assert (
        "Give 0.5 mg/kg b.i.d. for 5 d.",
        "Then stop, e.g. after a rash.",
        "Give 500 mg p.o. 3 times daily, max. 4 g.",
        "See Fig. 2 and No. 5 (Smith et al. 2020).",
        "S. aureus and S. Typhi are bacteria.",
        "The U.S. Task Force agrees.",
        "Patients lack vitamin D.",
        "Most have hepatitis B.",
        "Some do not.[3]",
        "Others do.",
        "(See above.)",
        "“Next” is it.",
    ) == sentences(text)


def test_a_list_in_one_line_keeps_its_numbers():
    assert ("Risks: 1. Age.", "2. Smoking.", "3. BMI > 30.") == sentences(
        "Risks: 1. Age. 2. Smoking. 3. BMI > 30."
    )


def test_no_text_has_no_sentence():
    assert () == sentences("") == sentences("\n---\n***")
