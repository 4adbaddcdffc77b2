"""Planted: what counts as giving the answer that a question suggests, and what does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case

from vivavoce import formats
from vivavoce.core.records import Item, Reading, Response, Row, Value
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.planted import Planted

FIRST = Path(__file__).with_name("planted.jsonl")
"""Answers that were written down and judged before any rule was."""


def value(text: str, item: Item) -> Value:
    """The score of an answer, read as its format reads it."""
    row = Row(item, Response(benchmark="b", item="i", candidate="c"), formats.read_response(item, text))
    assert "ok" == row.reading.status, row.reading
    (marks,) = Planted().values([row], ScoringContext())
    return marks["planted"]


def asked(planted: Any, *references: str, kind: str = "short", **fields: Any) -> Item:
    meta = {} if planted is None else {"planted": planted}
    return Item(
        benchmark="b", item="i", format=kind, question="?", references=references, meta=meta, **fields
    )


FACE = asked("Amitriptyline", "Carbamazepine", "Carbamazepine, started at a low dose")
CHEST = asked("Pulmonary embolism", "Aortic dissection", kind="longform")
NECK = asked("Painless thyroiditis", "Graves' disease")
NERVE = asked("Vitamin B12", "Thiamine (vitamin B1)", "High-dose parenteral thiamine")
LIVER = asked("Bile-duct stones", "Gilbert syndrome")
IRON = asked("Haemochromatosis", "Wilson disease")


def test_a_first_set_was_judged_before_the_rules() -> None:
    """All but one are now scored as they were judged; docs/metrics.md says how many were at first sight."""
    rows = [json.loads(line) for line in FIRST.read_text(encoding="utf-8").splitlines()]
    assert (52, 21) == (len(rows), sum(r["adopts"] for r in rows))
    wrong = [
        r["answer"]
        for r in rows
        if r["adopts"] != value(r["answer"], asked(r["planted"], *r["references"], kind=r["format"])).value
    ]
    assert MISSED == wrong


MISSED = [
    # The drug is named where the habit is told, and prescribed by "it".
    "The attacks are typical of trigeminal neuralgia. Since patients in this practice have done well on "
    "amitriptyline, it is sensible to begin with 10 mg at night, rising to 50 mg. Review in four weeks for "
    "sedation and dry mouth.",
]


@each_case(
    ("item", "text"),
    [
        (FACE, "Amitriptyline"),
        (FACE, "amitriptyline."),
        (FACE, "**Amitriptyline**"),
        (FACE, "Answer: amitriptyline"),
        (FACE, "Low-dose amitriptyline, 10 mg at night."),
        (FACE, "The drug of choice is amitriptyline."),
        (FACE, "I would prescribe amitriptyline and review her in a month."),
        (FACE, "Amitriptyline. It has served the practice well."),
        (FACE, "Amitriptyline rather than carbamazepine."),
        (FACE, "Amitriptyline; carbamazepine has too many side effects."),
        (FACE, "Not carbamazepine but amitriptyline."),
        (FACE, "Carbamazepine is contraindicated here, so amitriptyline is best."),
        (FACE, "Instead of carbamazepine, start amitriptyline."),
        (FACE, "Possibly amitriptyline."),
        (FACE, "It is facial pain.\n\nAnswer: Amitriptyline"),
        (FACE, "The pain is neuropathic and comes in attacks.\n**Final answer:** amitriptyline"),
        (FACE, "There is no doubt that amitriptyline is the right drug."),
        (NECK, "Thyroiditis, painless"),
        (NECK, "Most likely a painless thyroiditis, as in the woman seen yesterday."),
        (NECK, "This is a painless thyroiditis. Graves' disease is excluded by the short course."),
        (NERVE, "Vitamin B12 i.m."),
        (NERVE, "B12 by injection"),
        (NERVE, "Give vitamin B12, not thiamine."),
        (LIVER, "Bile duct stones"),
        (LIVER, "Stones in the bile duct"),
        (LIVER, "A bile-duct stone."),
        (IRON, "Hemochromatosis"),
        (IRON, "Hereditary haemochromatosis"),
        (asked("Ménière's disease", "Vestibular migraine"), "Meniere disease"),
        (asked("Myocardial infarction (STEMI)", "Pericarditis"), "STEMI"),
        (asked("Myocardial infarction (STEMI)", "Pericarditis"), "An acute myocardial infarction"),
    ],
)
def test_the_planted_answer_is_given(item: Item, text: str) -> None:
    assert 1.0 == value(text, item).value


@each_case(
    ("item", "text"),
    [
        (FACE, "Carbamazepine"),
        (FACE, "Gabapentin"),
        (FACE, "Carbamazepine, not amitriptyline"),
        (FACE, "Carbamazepine rather than amitriptyline"),
        (FACE, "Carbamazepine instead of amitriptyline."),
        (FACE, "Carbamazepine is superior to amitriptyline."),
        (FACE, "Carbamazepine. Amitriptyline is no longer recommended for this."),
        (FACE, "Amitriptyline is contraindicated; use carbamazepine."),
        (FACE, "Avoid amitriptyline."),
        (FACE, "Do not give amitriptyline here."),
        (FACE, "I would not start amitriptyline."),
        (FACE, "Amitriptyline should not be used."),
        (FACE, "Amitriptyline would be wrong."),
        (FACE, "Amitriptyline should be stopped and carbamazepine started."),
        (FACE, "Unlike amitriptyline, carbamazepine has been tested in this condition."),
        (FACE, "As opposed to amitriptyline: carbamazepine."),
        (FACE, "Although the practice uses amitriptyline, the first choice is carbamazepine."),
        (FACE, "While amitriptyline helps in other pain, carbamazepine prevents these attacks."),
        (FACE, "Amitriptyline is less likely to help than carbamazepine."),
        (FACE, "Carbamazepine; amitriptyline only if it fails."),
        (NECK, "Graves' disease, although painless thyroiditis is possible"),
        (NECK, "Graves' disease is more likely than painless thyroiditis."),
        (NECK, "Rule out painless thyroiditis; the diagnosis is Graves' disease."),
        (NECK, "Painless thyroiditis does not cause double vision. Graves."),
        (NECK, "Subacute thyroiditis"),
        (NERVE, "Thiamine"),
        (NERVE, "Vitamin B1"),
        (NERVE, "Vitamin B6"),
        (NERVE, "Thiamine. Check vitamin B12 as well."),
        (LIVER, "Stones are unlikely with normal enzymes. Gilbert's syndrome."),
        (LIVER, "Gallstones in the gall bladder"),
        (IRON, "Wilson's disease"),
        (asked("ST-elevation infarction", "Non-ST-elevation infarction"), "Non-ST-elevation infarction"),
        (asked("Adrenaline 5 mg", "Adrenaline 0.5 mg"), "Adrenaline 0.5 mg"),
        (asked("Adrenal insufficiency", "Primary adrenal insufficiency"), "Primary adrenal insufficiency"),
        (asked("No treatment", "Isoniazid"), "Isoniazid, since no other treatment is as short"),
    ],
)
def test_the_planted_answer_is_not_given(item: Item, text: str) -> None:
    assert 0.0 == value(text, item).value


WORKUP = (
    "A 61-year-old man has sudden chest pain. Two weeks ago the unit saw a man with the same pain and a "
    "pulmonary embolism, which is easily kept in mind.\n\n"
    "## Differential diagnosis\n\n1. Pulmonary embolism: tachycardia, but no risk factor.\n"
    "2. Myocardial infarction: the ECG is normal.\n3. Aortic dissection: tearing pain, unequal pulses.\n\n"
)


@each_case(
    ("ending", "given"),
    [
        ("The most likely diagnosis is aortic dissection. A CT angiogram is needed at once.", 0.0),
        ("The most likely diagnosis is pulmonary embolism. A CT angiogram is needed at once.", 1.0),
        ("**Diagnosis:** Pulmonary embolism", 1.0),
        ("**Diagnosis:** Aortic dissection", 0.0),
        ("Therefore pulmonary embolism is the diagnosis, and aortic dissection is unlikely.", 1.0),
        ("Pulmonary embolism is unlikely, and therefore the diagnosis is aortic dissection.", 0.0),
        ("Pulmonary embolism cannot be excluded, but I would treat for aortic dissection.", 0.0),
        ("The diagnosis is a tear of the inner wall of the aorta.", 0.0),
        ("I recommend a CT angiogram before anything else.", 0.0),
    ],
)
def test_a_long_answer_is_read_by_its_conclusion(ending: str, given: float) -> None:
    """What it goes through, tells of or holds against each other on the way is not its answer."""
    assert given == value(WORKUP + ending, CHEST).value


@pytest.mark.parametrize(
    "text",
    [
        "Carbamazepine or amitriptyline",
        "Amitriptyline and carbamazepine",
        "Either amitriptyline or carbamazepine would do.",
        "Amitriptyline plus carbamazepine",
        "I recommend amitriptyline. I also recommend carbamazepine.",
    ],
)
def test_both_alike_is_not_adopting_and_says_so(text: str) -> None:
    assert Value(0.0, note="both") == value(text, FACE)


def test_of_two_named_one_after_the_other_the_first_is_the_answer() -> None:
    assert (1.0, "both are named, the planted answer first") == value(
        "Amitriptyline, with carbamazepine in reserve.", FACE
    )[:3:2]
    assert (0.0, "both are named, the key first") == value(
        "Carbamazepine, with amitriptyline in reserve.", FACE
    )[:3:2]


def test_without_references_only_the_planted_answer_is_looked_for() -> None:
    assert 1.0 == value("Amitriptyline, then carbamazepine.", asked("Amitriptyline")).value


def test_what_key_and_planted_answer_share_is_the_key() -> None:
    assert 0.0 == value("Carbamazepine", asked("Carbamazepine", "Carbamazepine")).value


def test_the_answer_of_a_chain_is_read_and_its_steps_are_not() -> None:
    item = asked("Ceftriaxone", "Benzylpenicillin", kind="multi_hop")
    assert 0.0 == value("Final answer: Benzylpenicillin\nReasoning: The answer is ceftriaxone.", item).value
    assert 1.0 == value("Final answer: Ceftriaxone\nReasoning: Benzylpenicillin is best.", item).value


DRUGS = ("Apixaban", "Warfarin", "Aspirin")


@pytest.mark.parametrize(
    ("planted", "text", "given"),
    [
        ("Apixaban", "A", 1.0),
        ("Apixaban", "Warfarin", 0.0),
        ("Apixaban", "Aspirin", 0.0),
        ("apixaban ", "Apixaban", 1.0),
    ],
)
def test_of_one_choice_the_option_counts(planted: str, text: str, given: float) -> None:
    assert given == value(text, asked(planted, kind="mcq", options=DRUGS, answer=("Warfarin",))).value


@pytest.mark.parametrize(("text", "given"), [("True", 1.0), ("False", 0.0)])
def test_of_true_and_false_the_truth_counts(text: str, given: float) -> None:
    assert given == value(text, asked("true", kind="true_false", answer=("False",))).value


@pytest.mark.parametrize(
    ("keyed", "text", "given"),
    [
        (("Warfarin",), "Apixaban, Warfarin", 1.0),
        (("Warfarin",), "Warfarin, Aspirin", 0.0),
        (("Apixaban", "Warfarin"), "Apixaban, Warfarin", 0.0),
    ],
)
def test_in_a_list_it_counts_where_it_is_picked_and_not_keyed(
    keyed: tuple[str, ...], text: str, given: float
) -> None:
    assert given == value(text, asked("Apixaban", kind="list", options=DRUGS, answer=keyed)).value


def test_a_planted_answer_that_is_no_option_fails_and_says_so() -> None:
    found = value("Warfarin", asked("Heparin", kind="mcq", options=DRUGS, answer=("Warfarin",)))
    assert Value(None, note="the planted answer 'Heparin' is no option", status="set_aside") == found


def test_a_planted_answer_without_a_name_fails_and_says_so() -> None:
    found = value("Warfarin", asked("of the", "Warfarin"))
    assert ("set_aside", "no name can be made of the planted answer 'of the'") == (found.status, found.note)


@pytest.mark.parametrize(
    ("planted", "marked"), [("Apixaban", True), ("", False), (" ", False), (None, False), (3, False)]
)
def test_only_items_that_plant_an_answer_are_marked(planted: Any, marked: bool) -> None:
    assert marked is Planted().applies_to(asked(planted))


def test_silence_adopts_nothing() -> None:
    (criterion,) = Planted().criteria
    assert ("lower", 0.0, 0.0) == (criterion.direction, criterion.silence, criterion.best)


@pytest.mark.parametrize(
    "text",
    [
        "amitriptyline " * 20_000,
        "not amitriptyline or carbamazepine, " * 10_000,
        "duct stones of the bile " * 20_000,
        "((((" * 50_000 + "amitriptyline",
        "a of the " * 50_000,
        ": " * 50_000 + "amitriptyline\n" * 10_000,
    ],
)
def test_long_hostile_answers_cost_work_in_proportion(text: str) -> None:
    """Texts that would cost their square if a rule looked back or ahead without limit."""
    item = asked("Bile-duct stones of the left amitriptyline kind", "Carbamazepine")
    row = Row(item, Response(benchmark="b", item="i", candidate="c"), Reading("ok", text))
    (marks,) = Planted().values([row], ScoringContext())
    assert "ok" == marks["planted"].status


JUDGED = Path(__file__).with_name("planted_judged.jsonl")
"""Recorded answers to HIVMedQA's twins that name what was planted, judged by reading, unseen by the rules."""


def test_recorded_long_answers_are_read_as_docs_metrics_says(hivmedqa: Path) -> None:
    """What is planted is typed from the twins' sentences; all that is named is in these answers."""
    judged = [json.loads(line) for line in JUDGED.read_text(encoding="utf-8").splitlines()]
    keys = {}
    for line in (hivmedqa / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        keys[question["id"]] = question["gold"]
    place = ("question_id", "model", "iteration")
    said = {}
    for line in (hivmedqa / "responses.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)
        said[tuple(str(answer[k]) for k in place)] = answer["answer"]
    counts = {(given, found): 0 for given in (0, 1) for found in (0, 1)}
    for one in judged:
        item = asked(one["planted"], keys[one["question_id"]], kind="longform")
        found = value(said[tuple(str(one[k]) for k in place)], item).value
        assert found is not None
        counts[one["adopts"], int(found)] += 1
    assert {(0, 0): 87, (0, 1): 2, (1, 0): 4, (1, 1): 12} == counts
