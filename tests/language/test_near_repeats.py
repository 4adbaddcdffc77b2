"""Near repeats are found where a question is put a little otherwise, and never across numbers or denials."""

import random
from pathlib import Path

from tests.cases import each_case

from vivavoce.benchmarks import load
from vivavoce.core.records import Item
from vivavoce.language import near_repeats as module
from vivavoce.language.near_repeats import Wording, near_items, near_repeats

VIGNETTE = (
    "A 54-year-old man with a history of hypertension and type 2 diabetes comes to the emergency department "
    "with crushing chest pain that began 40 minutes ago and spreads to the left arm. He is pale and sweats. "
    "Blood pressure is 150/90 mmHg, the pulse 96 per minute. The electrocardiogram shows ST elevation in the "
    "inferior leads. He has no allergy. Which step is next?"
)


ONE_WORD_FOR_ANOTHER = [
    ("amlodipine", "pioglitazone"),
    ("systolic", "diastolic"),
    ("proximal", "distal"),
    ("anterior", "posterior"),
    ("tachycardia", "bradycardia"),
]
DENIED_ABROAD = [
    ("Welches Medikament ist in der Schwangerschaft {}zugelassen?", "nicht"),
    ("Das Medikament ist in der Stillzeit {}erlaubt, was ist die Dosis?", "kaum"),
    ("Mag is in de zwangerschap {}paracetamol gegeven worden?", "geen"),
    ("Quale farmaco {}è indicato in gravidanza per la donna in trattamento?", "non"),
]


def pairs(*questions: str) -> list[tuple[int, int]]:
    return near_repeats([Wording(question) for question in questions])


@each_case(
    ("first", "second"),
    [
        ("Which drug is first-line for malaria?", "What drug is the first-line for malaria"),
        ("Please answer briefly: is metformin safe in renal failure?", "Is metformin safe in renal failure?"),
        ("Describe the role of the tumour marker CA 125.", "What is the role of the tumor marker CA 125?"),
        ("What is sepsis?", "Describe sepsis."),
        (VIGNETTE, VIGNETTE.replace("Which step is next?", "Please answer: which is the step next?")),
    ],
)
def test_a_question_that_is_put_a_little_otherwise_is_a_near_repeat(first: str, second: str):
    assert [(0, 1)] == pairs(first, second)


@each_case(
    ("first", "second"),
    [
        ("Give 0.5 mg of lorazepam to this child?", "Give 5 mg of lorazepam to this child?"),
        ("Give 5 mg of lorazepam to this child?", "Give 5 g of lorazepam to this child?"),
        (
            "Give 5 mg of lorazepam daily to this child?",
            "Give 5 mg of lorazepam 2 times daily to this child?",
        ),
        ("Is amiodarone indicated in this man?", "Is amiodarone not indicated in this man?"),
        ("Is amiodarone indicated in this man?", "Isn't amiodarone indicated in this man?"),
        ("Which drug is indicated in gout?", "Which drug is contraindicated in gout?"),
        ("A man has fever and no cough. What now?", "A man has no fever and cough. What now?"),
        ("Which drug treats malaria best?", "Which drug treats asthma best?"),
        ("Does smoking cause depression?", "Does depression cause smoking?"),
        (
            "What should one eat before surgery of the bowel?",
            "What should one eat after surgery of the bowel?",
        ),
        ("Which drug lowers potassium in the blood?", "Which drug lowers potassium least in the blood?"),
        ("Is a T above 38 °C fever? T > 38", "Is a T above 38 °C fever? T < 38"),
        ("How is syphilis treated?", "Why is syphilis treated?"),
        (VIGNETTE, VIGNETTE.replace("54", "45")),
        (VIGNETTE, VIGNETTE.replace("150/90", "90/50")),
        (VIGNETTE, VIGNETTE.replace("mmHg", "kPa")),
        (VIGNETTE, VIGNETTE.replace("no allergy", "an allergy")),
        (VIGNETTE, VIGNETTE.replace("the left arm", "the right arm")),
        (VIGNETTE, VIGNETTE.replace("hypertension", "hypotension")),
        (
            "¿Está indicada la amiodarona en este hombre?",
            "¿No está indicada la amiodarona en este hombre?",
        ),
        (
            "Ist Amiodaron bei diesem Mann angezeigt?",
            "Ist Amiodaron bei diesem Mann nicht angezeigt?",
        ),
        ("胺碘酮适用于这名患者吗", "胺碘酮不适用于这名患者吗"),
        ("", "…"),
        ("What now?", "What?"),
        *(
            (VIGNETTE.replace("pale", first), VIGNETTE.replace("pale", second))
            for first, second in ONE_WORD_FOR_ANOTHER
        ),
        (VIGNETTE, VIGNETTE.replace("man", "woman")),
        (VIGNETTE, VIGNETTE.replace("that began", "that suddenly began")),
        (VIGNETTE, VIGNETTE.replace("Which step is next?", "Which is the diagnosis?")),
        ("How do you treat hypertension in adults?", "How do you treat resistant hypertension in adults?"),
        ("What is the treatment of hepatitis A in adults?", "What is the treatment of hepatitis in adults?"),
        ("What is passed from mother to child?", "What is passed to mother from child?"),
        ("Are drugs indicated in gout?", "Which drugs are indicated in gout?"),
        ("What is aspirin?", "What does aspirin do?"),
        ("Who has had a stroke?", "Who has a stroke?"),
        ("Can we give aspirin to children?", "Should we give aspirin to children?"),
        ("What should he take for his diabetes?", "What should she take for her diabetes?"),
        ("Is swelling of the leg seen in heart failure?", "Is swelling of the legs seen in heart failure?"),
        (
            "What follows a switch from warfarin to heparin?",
            "What follows a switch from heparin to warfarin?",
        ),
        *((text.format(""), text.format(f"{word} ")) for text, word in DENIED_ABROAD),
        ("Was liegt an der Leber vor?", "Was liegt der Leber vor?"),
    ],
)
def test_numbers_units_denials_and_other_words_make_another_question(first: str, second: str):
    assert [] == pairs(first, second)


def test_options_context_and_what_is_shown_count_as_the_question_does():
    question, options = "Which drug is first-line?", ("amlodipine", "lisinopril", "atenolol", "hydralazine")
    of_malaria = Wording("Which drug treats malaria first?", options=options)
    wordings = [
        Wording(question, options=options),
        Wording(f"Please: {question}", options=options[::-1]),
        Wording(f"Please: {question}", options=("quinine", "artesunate", "mefloquine", "primaquine")),
        Wording(f"Please: {question}", context="A man of 40.", options=options),
        Wording(f"Please: {question}", options=options, exhibit="image 2"),
        of_malaria,
        of_malaria._replace(question="Which drug treats asthma first?"),
    ]
    assert [(0, 1)] == near_repeats(wordings)


def test_equal_wordings_are_no_pair_and_the_first_stands_for_all():
    question = "Which drug is first-line for malaria?"
    assert [] == pairs(question, question.upper(), f"({question})")
    assert [(0, 2)] == pairs(
        question, question.upper(), f"Please tell: {question}", f"Please tell: {question}!"
    )
    assert [] == near_repeats([])
    assert [] == near_repeats([Wording(question)])
    assert [(1, 3)] == near_repeats([None, Wording(question), None, Wording(f"Please: {question}")])


def test_later_turns_and_what_was_made_in_a_run_repeat_nothing():
    question = "Which drug is first-line for malaria?"
    fields = {"benchmark": "exam", "format": "short"}
    first, second = Item(item="a", question=question, **fields), f"Please: {question}"
    assert [(0, 1)] == near_items([first, Item(item="b", question=second, **fields)])
    assert [] == near_items([first, Item(item="b", question=second, origin="vary()", **fields)])
    assert [] == near_items([first, Item(item="b", question=second, follows="z", **fields)])


def test_the_pairs_do_not_depend_on_the_order():
    words = [
        "aorta",
        "bronchus",
        "colon",
        "duodenum",
        "oesophagus",
        "femur",
        "gall",
        "heart",
        "ileum",
        "jejunum",
        "kidney",
        "liver",
    ]
    chance = random.Random(3)
    templates = [f"What of the {' and the '.join(chance.sample(words, 7))} is it?" for _ in range(60)]
    questions = [*dict.fromkeys(templates), *(f"Please: {q}" for q in templates[:20])]
    expected = {frozenset((questions[a], questions[b])) for a, b in pairs(*questions)}
    assert 20 <= len(expected)
    for _ in range(3):
        chance.shuffle(questions)
        assert expected == {frozenset((questions[a], questions[b])) for a, b in pairs(*questions)}


def test_the_work_grows_with_the_questions_and_not_with_their_pairs(monkeypatch):
    """One template, with one to four other words in each: every text is read once, and none is compared."""
    texts_read = []
    content_text = module.content_text
    monkeypatch.setattr(module, "content_text", lambda text: texts_read.append(text) or content_text(text))
    words = ["".join(chr(97 + int(digit)) for digit in f"{n:04}") for n in range(3_000)]
    questions = [f"{VIGNETTE} {' and '.join(words[n : n + n % 4 + 1])}?" for n in range(3_000)]
    assert [] == pairs(*questions)
    assert 2 * len(questions) == len(texts_read)
    alike = [f"{'please ' * n}{VIGNETTE}" for n in range(3_000)]
    assert [(0, n) for n in range(1, 3_000)] == pairs(*alike)


def test_more_questions_than_can_be_looked_at_are_not_known(monkeypatch):
    monkeypatch.setattr(module, "MOST_QUESTIONS", 1)
    items = [Item(item=n, question=f"{n}?", benchmark="exam", format="short") for n in "ab"]
    assert near_items(items) is None
    assert [] == near_items(items[:1])


@each_case(
    ("spec", "expected"),
    [
        ("sample", 0),
        ("hivmedqa(data={}/data/hivmedqa, subset=all)", 0),
        ("cliniqlink(data={}/data/cliniqlink)", 0),
        ("casimedicos(data={}/data/casimedicos)", 0),
        ("dahl(data={}/data/dahl)", 0),
    ],
)
def test_published_exams_have_no_near_repeats(shared: Path, spec: str, expected: int):
    items = load(spec.format(shared)).items
    assert expected == sum(items[a].item != items[b].item for a, b in near_items(items) or ())
