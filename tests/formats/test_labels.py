"""Labels of options in other forms, and options that are the labels of other options."""

import pytest
from tests.cases import each_case
from tests.formats.test_reading import of

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item
from vivavoce.formats import check

EN = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
AR = ("أسبرين", "هيبارين", "وارفارين", "ألتيبلاز")
FA = ("آسپرین", "هپارین", "وارفارین", "آلتپلاز")
HI = ("एस्पिरिन", "हेपरिन", "वारफेरिन", "अल्टेप्लेस")
RU = ("Аспирин", "Гепарин", "Варфарин", "Альтеплаза")
EL = ("Ασπιρίνη", "Ηπαρίνη", "Βαρφαρίνη", "Αλτεπλάση")
HE = ("אספירין", "הפרין", "וורפרין", "אלטפלאז")
TH = ("แอสไพริน", "เฮพาริน", "วาร์ฟาริน", "อัลเทพเลส")
ZH = ("阿司匹林", "肝素", "华法林", "阿替普酶")
JA = ("アスピリン", "ヘパリン", "ワルファリン", "アルテプラーゼ")
KO = ("아스피린", "헤파린", "와파린", "알테플라제")
DE = ("Aspirin", "Heparin", "Marcumar", "Alteplase")
NUMBERED = ("1. Aspirin", "2. Heparin", "3. Warfarin", "4. Alteplase")
GROUPS = ("B", "C", "D", "E")
COUNTS = ("4", "1", "2", "3")
STAGES = ("Stage 2", "Stage 3", "Stage 1", "Stage 4")
BOTH = ("Fever", "Cough", "Rash", "Both A and B", "None of the above")


def place(text: str, options: tuple[str, ...]) -> int | str:
    """The place of the option that is read, from 1, or the status."""
    reading = of("mcq", text, options)
    return options.index(reading.parsed) + 1 if reading.status == "ok" else reading.status


@each_case(
    ("text", "options", "want"),
    [
        ("(B)", EN, 2),
        ("B)", EN, 2),
        ("②", EN, 2),
        ("Ⓑ", EN, 2),
        ("⒝", EN, 2),
        ("Ｂ", EN, 2),
        ("（Ｂ）", ZH, 2),
        ("𝐁", EN, 2),
        ("𝗕.", EN, 2),
        ("2️⃣", EN, 2),
        ("❷", EN, 2),
        ("⑵", JA, 2),
        ("Answer: Ⓒ", EN, 3),
        ("Final answer: ③", EN, 3),
        ("The correct option is ⒟.", EN, 4),
        ("答案：②", ZH, 2),
        ("正解は③です。", JA, 3),
        ("정답: ④", KO, 4),
        ("정답은 ②입니다.", KO, 2),
        ("B\u200b", EN, 2),
        ("\ufeffB", EN, 2),
        ("\u2068B\u2069", EN, 2),
        ("الإجابة الصحيحة هي (ب).", AR, 2),
        ("الخيار الصحيح هو: ج", AR, 3),
        ("الجواب: د", AR, 4),
        ("أ", AR, 1),
        ("ب) هيبارين", AR, 2),
        ("الإجابة: ت", AR, 3),
        ("پاسخ: ب", FA, 2),
        ("پاسخ صحیح گزینه ۲ است.", FA, 2),
        ("گزینه ج", FA, 3),
        ("گزینه ۳ صحیح است.", FA, 3),
        ("उत्तर: (ख)", HI, 2),
        ("सही उत्तर ग है।", HI, 3),
        ("विकल्प (घ)", HI, 4),
        ("विकल्प 3", HI, 3),
        ("Ответ: Б", RU, 2),
        ("Правильный ответ: Г", RU, 4),
        ("Правильный ответ — Б.", RU, 2),
        ("б)", RU, 2),
        ("Вариант 3", RU, 3),
        ("Απάντηση: Γ", EL, 3),
        ("Σωστή απάντηση: Δ", EL, 4),
        ("התשובה: ב", HE, 2),
        ("התשובה הנכונה היא ג.", HE, 3),
        ("คำตอบ: ข", TH, 2),
        ("ตอบ ค", TH, 3),
        ("答案：乙", ZH, 2),
        ("选丙。", ZH, 3),
        ("正解：イ", JA, 2),
        ("答えはウです。", JA, 3),
        ("選択肢エ", JA, 4),
        ("정답: 나", KO, 2),
        ("정답은 다입니다.", KO, 3),
        ("ㄴ", KO, 2),
        ("정답은 3번입니다.", KO, 3),
        ("2番", JA, 2),
        ("正解は2番です。", JA, 2),
        ("选项3", ZH, 3),
        ("Option 2", EN, 2),
        ("The correct answer is option 3.", EN, 3),
        ("Opción 2", EN, 2),
        ("La respuesta correcta es la opción 4.", EN, 4),
        ("Antwort: Option 2", DE, 2),
        ("Alternativa 3", EN, 3),
        ("Seçenek 2", EN, 2),
        ("2.", NUMBERED, 2),
        ("2", NUMBERED, 2),
        ("(3)", NUMBERED, 3),
        ("Answer: 4", NUMBERED, 4),
        ("B", NUMBERED, 2),
        ("Heparin", NUMBERED, 2),
    ],
)
def test_a_label_in_another_form_is_its_option(text: str, options: tuple[str, ...], want: int) -> None:
    assert want == place(text, options)


@each_case(
    ("text", "options"),
    [
        ("2", EN),  # a position may count from 0 or from 1, or be a dose
        ("Answer: 2", EN),
        ("2 mg", EN),
        ("2 mg", NUMBERED),
        ("Option 7", EN),
        ("Option 2.5", EN),
        ("Option 25", EN),
        ("⑨", EN),
        ("Ⓩ", EN),
        ("② ③", EN),
        ("Ответ: В", RU),  # the third letter, or a Latin B
        ("В", RU),
        ("В этом случае нужна операция.", RU),  # "in"
        ("А может быть, и нет.", RU),  # "but"
        ("Это С-реактивный белок.", RU),
        ("و", AR),
        ("لا", AR),
        ("甲状腺", ZH),  # the thyroid
        ("丙型肝炎", ZH),  # hepatitis C
        ("乙型肝炎", ZH),
        ("答案：甲状腺", ZH),
        ("答えはインスリンです。", JA),  # insulin begins as the label does
        ("エ", EN),
        ("나는 모르겠습니다.", KO),  # "I do not know"
        ("다 맞습니다.", KO),  # "all are right"
        ("가장 좋은 것은 없습니다.", KO),
        ("न", HI),
        ("ख नहीं।", HI),
        ("Б", EN),
        ("ب", EN),
        ("Б и Г", RU),
        ("أ و ب", AR),
        ("विकल्प 2 या 3", HI),
        ("Option 2 or option 3", EN),
        ("Option 2 is wrong.", EN),
        ("گزینه ۲ نادرست است.", FA),
        ("정답은 2번이 아닙니다.", KO),
        ("하루 2번", KO),  # twice a day
    ],
)
def test_what_only_looks_like_a_label_is_none(text: str, options: tuple[str, ...]) -> None:
    assert place(text, options) in {"unreadable", "unanswered"}


@each_case(
    ("text", "options", "want"),
    [
        ("B", GROUPS, "unreadable"),  # the label of C, and the text of the first
        ("(C)", GROUPS, "unreadable"),
        ("Answer: D", GROUPS, "unreadable"),
        ("b", GROUPS, "unreadable"),
        ("The answer is C.", GROUPS, "unreadable"),
        ('{"answer": "B"}', GROUPS, "unreadable"),
        ("A", GROUPS, 1),  # no option's text
        ("E", GROUPS, 4),  # no option's label
        ("A. B", GROUPS, 1),
        ("B. C", GROUPS, 2),
        ("C) D", GROUPS, 3),
        ("A: B", GROUPS, 1),
        ("Option B", GROUPS, 2),
        ("Option C is right.", GROUPS, 3),
        ("Group B", GROUPS, 1),
        ("A", ("O", "A", "B", "AB"), "unreadable"),
        ("AB", ("O", "A", "B", "AB"), 4),
        ("D", ("O", "A", "B", "AB"), 4),
        ("B", ("A", "B", "AB", "O"), 2),  # label and text are one option
        ("2", COUNTS, 3),
        ("Answer: 2", COUNTS, 3),
        ("Option 2", COUNTS, "unreadable"),
        ("Option 4", COUNTS, "unreadable"),
        ("②", COUNTS, "unreadable"),
        ("C", COUNTS, 3),
        ("Option 2", STAGES, "unreadable"),
        ("Option 4", STAGES, 4),
        ("Stage 3", STAGES, 2),
        ("B", STAGES, 2),
        ("II", ("I", "II", "III", "IV"), 2),
        ("C", ("I", "II", "III", "IV"), 3),
        ("Both A and B", BOTH, 4),
        ("A and B", BOTH, 4),
        ("Both A and B are correct.", BOTH, 4),
        ("The answer is A and B.", BOTH, 4),
        ("D", BOTH, 4),
        ("A", BOTH, 1),
        ("A and C", BOTH, "unreadable"),
        ("A or B", BOTH, "unreadable"),
        ("A & B", ("Fever", "Cough", "A and B", "All of the above"), 3),
    ],
)
def test_an_option_that_is_the_label_of_another(text: str, options: tuple[str, ...], want: int | str) -> None:
    assert want == place(text, options)


def test_the_reason_names_both_meanings() -> None:
    reason = of("mcq", "B", GROUPS).reason or ""
    assert "label of one option and the text of another" in reason


def test_own_labels_of_the_options_come_first() -> None:
    assert 2 == place("ب", ("أ) أسبرين", "ب) هيبارين", "ج) وارفارين"))
    assert 3 == place("В", ("А) Аспирин", "Б) Гепарин", "В) Варфарин"))
    assert 1 == place("イ", ("イ. アスピリン", "ロ. ヘパリン", "ハ. ワルファリン"))
    assert {"A. Fever", "C. Rash"} == set(of("list", "A, C", ("A. Fever", "B. Cough", "C. Rash")).parsed)


def test_a_list_of_labels_that_are_texts_is_unreadable() -> None:
    assert "unreadable" == of("list", "B, C", GROUPS).status
    assert ["B", "E"] == list(of("list", "A, E", GROUPS).parsed)


def test_lists_take_labels_in_other_forms() -> None:
    assert [AR[0], AR[2]] == list(of("list", "أ، ج", AR).parsed)
    assert [RU[1], RU[3]] == list(of("list", "Б, Г", RU).parsed)
    assert [JA[0], JA[2]] == list(of("list", "ア、ウ", JA).parsed)
    assert [EN[0], EN[2]] == list(of("list", "①③", EN).parsed)
    assert [EN[0], EN[2]] == list(of("list", "Options 1 and 3", EN).parsed)


@each_case(
    "options", [("Heparin", "Aspirin", "heparin"), ("Acute  renal failure", "Acute renal failure", "X")]
)
def test_options_that_only_spaces_or_case_tell_apart_are_refused(options: tuple[str, ...]) -> None:
    item = Item(benchmark="b", item="i", format="mcq", question="q", options=options, answer=(options[0],))
    with pytest.raises(InputError, match="differ in nothing but"):
        check(item)


def test_case_tells_short_symbols_apart() -> None:
    item = Item(
        benchmark="b", item="i", format="mcq", question="q", options=("AA", "Aa", "aa"), answer=("Aa",)
    )
    assert ("Aa",) == check(item).answer
