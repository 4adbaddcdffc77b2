"""A clear letter in front of an explanation, letters of an abbreviation, and answers of base models."""

# ruff: noqa: E501 - a line of a table is one answer

import random

from tests.cases import each_case
from tests.formats.test_reading import of

DRUGS = ("Furosemide", "Hydrochlorothiazide", "Triamterene", "Acetazolamide")
ACS = ("Aspirin", "Heparin", "Warfarin", "Alteplase", "None of these")
RU = ("Аспирин", "Гепарин", "Варфарин", "Альтеплаза")
ZH = ("阿司匹林", "肝素", "华法林", "阿替普酶")
AR = ("أسبرين", "هيبارين", "وارفارين", "ألتيبلاز")
JA = ("アスピリン", "ヘパリン", "ワルファリン", "アルテプラーゼ")


def letter(text: str, options: tuple[str, ...] = DRUGS) -> str:
    reading = of("mcq", text, options)
    return "ABCDE"[options.index(reading.parsed)] if reading.status == "ok" else reading.status


@each_case(
    ("text", "options", "want"),
    [
        (" C. Explanation: The drug is 'Triamterene', which spares. Furosemide (option A) is a", DRUGS, "C"),
        (" C.  Explanation: The findings suggest a loss of sodium. Furosemide (", DRUGS, "C"),
        (" B. Explanation: The most likely drug is Hydrochlorothiazide, such as acetazolamide,", DRUGS, "B"),
        (" 'C'. Explanation: it spares potassium.", DRUGS, "C"),
        ("C. Explanation: it spares potassium. Furosemide does not.", DRUGS, "C"),
        ("C. Furosemide is a loop diuretic. Triamterene spares potassium.", DRUGS, "C"),
        ("B\n\nHeparin acts at once. Aspirin is best for secondary prevention.", ACS, "B"),
        ("B) because Aspirin is the correct drug only later.", ACS, "B"),
        (
            "(D) Alteplase dissolves clots. The answer would be Aspirin if the pain had gone",
            ACS,
            "unreadable",
        ),
        ("**A**\n\nExplanation: Heparin is often the first choice, but", ACS, "A"),
        ("A: Aspirin. Heparin would be right in pulmonary embolism.", ACS, "A"),
        ("Option B. Warfarin is the best choice in the long run", ACS, "B"),
        ("B. Heparin\n\nRationale: Warfarin is right later.", ACS, "B"),
        ("C. Begründung: Heparin ist richtig bei Embolie.", ACS, "C"),
        ("B. Explicación: la aspirina es correcta después. Aspirin", ACS, "B"),
        ("D. Explication : l'héparine est correcte. Heparin", ACS, "D"),
        ("A. Spiegazione: Heparin è corretto nella embolia.", ACS, "A"),
        ("Б. Объяснение: Аспирин правильный выбор позже.", RU, "B"),
        ("B。解析：阿司匹林是正确的二级预防药物。", ZH, "B"),
        ("ب. الشرح: أسبرين هو الصحيح لاحقا.", AR, "B"),
        ("B。解説：アスピリンが正解なのは後です。", JA, "B"),
        ("B. The patient needs it now.\n\nA is wrong. C is wrong. D is wrong.", ACS, "B"),
        ("<B>\n\nExplanation: Aspirin is the correct drug later.", ACS, "B"),
        ("<b>Heparin</b>", ACS, "B"),
        ("Answer: B Explanation: Warfarin is the first-line drug in the long run.", ACS, "B"),
        ("Ans: D Explanation: Option C is often chosen, but it is wrong.", ACS, "D"),
        ("B. A normal pulse would rule out heparin. Aspirin (option A) is less likely.", ACS, "B"),
        ("C The patient needs it for years. Aspirin is the drug of the first day.", ACS, "C"),
        ("B\n\nExplanation: it acts at once, and the answer would be A only in angina.", ACS, "B"),
        ("B\n\nA 45-year-old man has gout. Options: A. Colchicine B. Warfarin Answer: A", ACS, "B"),
        ("B\n\nInput: fever\nOutput: C", ACS, "B"),
        ("B\n\nNo fever was seen. The answer would be A only in angina.", ACS, "B"),
        ("B\n\nIt acts at once, and the answer would be A", ACS, "B"),
        ("B\n\nOn second thought the answer would be A", ACS, "A"),
        # look-alikes
        ("A, C and D are correct, so B.", ACS, "unreadable"),
        ("B\n\nNo, C.", ACS, "C"),
        ("A. Aspirin: too slow. B. Heparin: acts at once, the best choice. C. Warfarin: too slow.", ACS, "B"),
        ("A. Aspirin is wrong.\nB. Heparin is correct.\nC. Warfarin is wrong.", ACS, "B"),
        ("A is wrong. B is right.", ACS, "B"),
        ("A: incorrect, B: correct", ACS, "B"),
        ("A 60-year-old man needs heparin.", ACS, "B"),
        ("C. Wait, that is wrong. The answer is B.", ACS, "B"),
        ("C. Explanation: it is oral.\n\nFinal answer: B", ACS, "B"),
        ("C. Explanation: it is oral. The answer is B.", ACS, "unreadable"),
        (" A C D. Explanation: The drug is Triamterene.", DRUGS, "unreadable"),
        (
            " 'ABCD' which corresponds to the correct answer as Furosemide and Triamterene.",
            DRUGS,
            "unreadable",
        ),
        ("A, C. Explanation: The drug is Triamterene.", DRUGS, "unreadable"),
        ("A. C. D.", DRUGS, "unreadable"),
        ("A/C", DRUGS, "unreadable"),
        ("B and C. Explanation: Triamterene spares.", DRUGS, "unreadable"),
        ("A\nB\nC\nD", ACS, "unreadable"),
        ("C. Heparin", ACS, "unreadable"),
    ],
)
def test_a_clear_letter_in_front_beats_a_name_behind_it(
    text: str, options: tuple[str, ...], want: str
) -> None:
    assert want == letter(text, options)


@each_case(
    "text",
    [
        *("k.A.", "k. A.", "K.A.", "Vit. C", "vit. B", "Hep. B", "hep. C", "e.g.", "i.e.", "n.a.", "N.A.", "z.B."),
        *("b.i.d.", "a.m.", "d.h.", "d. h.", "c.f.", "v.a.", "u.a.", "a. c.", "p.e.", "d.C.", "a.C.", "e.v."),
        *("s.c.", "p.c.", "Gr. A", "grp. B", "Infl. A", "Fig. B", "Tab. C", "Abb. A", "Kat. B", "A.D. 1900"),
        *("т.е.", "и т.д.", "вит. C", "геп. B", "гр. A", "B.1.1.7", "St. B", "Stad. C", "E. coli", "C. difficile"),
        *("Vitamin C", "维生素C", "ビタミンC", "비타민 C", "витамин C", "فيتامين C", "विटामिन C", "witamina C"),
    ],
)  # fmt: skip
def test_an_abbreviation_is_no_letter(text: str) -> None:
    assert letter(text, ACS) in {"unreadable", "unanswered"}


@each_case(
    ("text", "want"),
    [
        ("B, e.g. because aspirin is slow", "B"),
        ("z. B. Heparin", "B"),
        ("B (z.B. bei Embolie)", "B"),
        ("A.", "A"),
        ("b.", "B"),
        ("B.Heparin", "B"),
        ("e.", "E"),
        ("B. i.v. Heparin", "B"),
        ("Answer: C, i.e. warfarin", "C"),
    ],
)
def test_a_letter_beside_an_abbreviation_counts(text: str, want: str) -> None:
    assert want == letter(text, ACS)


NAMES = (
    *("Furosemide", "Triamterene", "Heparin", "Warfarin", "Metoprolol", "Digoxin", "Amiodarone", "Naloxone"),
    *(
        "Acute pancreatitis",
        "Pulmonary embolism",
        "Crohn disease",
        "Graves disease",
        "Iron deficiency anemia",
    ),
    *(
        "Decreased renal perfusion",
        "Mitral regurgitation",
        "Increased cardiac output",
        "Vitamin B12 deficiency",
    ),
)
CLAUSES = (
    *("The patient has signs of {x}.", "{x} is the most likely diagnosis in such patients, but", "{x} is correct when"),
    *("This is consistent with {x}.", "Although {x} is often chosen, it", "{x} (option {l}) is a", "Unlike {x},"),
    *("The best treatment is often {x}.", "The findings, fever and cough, point to", "In contrast, {x} causes"),
    *("The correct answer would be {x} if the patient were older.", "It acts on the tubules.", "Option {l} is wrong."),
    *("A 60-year-old man with vitamin C deficiency would have", "{x} can be ruled out.", "Which is why {x}"),
)  # fmt: skip
FORMS = (
    "{l}",
    "{l}.",
    " {l}",
    " ({l})",
    "{l})",
    "{l}. {t}",
    "{l}: {t}",
    "{l}\n",
    "**{l}**",
    " '{l}'.",
    "{l}. {t}.",
)
HEADS = (
    " Explanation: ",
    "\n\nExplanation: ",
    "\n",
    "\n\n",
    " Explanation: The answer is explained as follows. ",
)
NEXT = (
    "\n\nQuestion: What next?\nA. {x}\nB. {y}\nAnswer: {l}",
    "\n\n### Question\n{x}?\nAnswer: {l}",
    "\nQ: {x}?\nA: {y}",
)


def answers(n: int, seed: int = 5) -> list[tuple[tuple[str, ...], str, str]]:
    """Answers of base models as MedQA has them: options, the letter of the first line, and the text."""
    draw = random.Random(seed)
    rows = []
    for _ in range(n):
        options = tuple(draw.sample(NAMES, 4))
        k = draw.randrange(4)

        def fill(text: str, options: tuple[str, ...] = options, k: int = k) -> str:
            x, y = draw.choice(options), draw.choice(NAMES)
            return text.format(x=x, y=y, l=draw.choice("ABCD"))

        text = draw.choice(FORMS).format(l="ABCD"[k], t=options[k])
        kind = draw.random()
        if kind < 0.6:
            text += draw.choice(HEADS) + " ".join(
                fill(draw.choice(CLAUSES)) for _ in range(draw.randint(1, 6))
            )
        elif kind < 0.8:
            text += fill(draw.choice(NEXT))
        rows.append((options, "ABCD"[k], text[:200]))
    return rows


def test_of_2000_answers_of_base_models_the_first_line_is_read() -> None:
    rows = answers(2000)
    readings = [(want, letter(text, options), text) for options, want, text in rows]
    wrong = [
        (want, got, text) for want, got, text in readings if got not in {want, "unreadable", "unanswered"}
    ]
    silent = [(want, text) for want, got, text in readings if got in {"unreadable", "unanswered"}]
    assert [] == wrong[:5]
    assert 2 > len(silent), silent[:5]
