"""An option counts only in words that are known: a text of any other language may turn down what it names."""

import random
import unicodedata

from tests.cases import each_case
from tests.formats.test_reading import of
from tests.lengths import length

from vivavoce.language.tokens import Doc
from vivavoce.reading.word_roles import role

OTHERS = ("Option two", "Option three", "Option four")
NONE = "unreadable"


def chosen(text: str, option: str, *rivals: str) -> str:
    """`1` where the option is read as chosen, the other option's text, or the status."""
    reading = of("mcq", text, (option, *(rivals or OTHERS)))
    if reading.status != "ok":
        return reading.status
    return "1" if reading.parsed == option else str(reading.parsed)


@each_case(
    ("text", "option"),
    [
        ("Das ist keine Pneumonie.", "Pneumonie"),  # de: this is no pneumonia
        ("Eine Pneumonie kann ausgeschlossen werden.", "Pneumonie"),  # de: a pneumonia can be ruled out
        ("No es neumonía.", "Neumonía"),  # es: it is not pneumonia
        ("Se descarta neumonía.", "Neumonía"),  # es: pneumonia is ruled out
        ("Ce n'est pas une pneumonie.", "Pneumonie"),  # fr: this is not a pneumonia
        ("On exclut une pneumonie.", "Pneumonie"),  # fr: one rules out a pneumonia
        ("Non è polmonite.", "Polmonite"),  # it: it is not pneumonia
        ("Si esclude una polmonite.", "Polmonite"),  # it: pneumonia is ruled out
        ("Não é pneumonia.", "Pneumonia"),  # pt: it is not pneumonia
        ("No és pneumònia.", "Pneumònia"),  # ca: it is not pneumonia
        ("Het is geen pneumonie.", "Pneumonie"),  # nl: it is no pneumonia
        ("这不是肺炎。", "肺炎"),  # zh: this is not pneumonia
        ("排除肺炎。", "肺炎"),  # zh: pneumonia is ruled out
        ("非肺炎", "肺炎"),  # zh: no pneumonia
        ("选项A是错误的。", "肺炎"),  # zh: option A is wrong
        ("A不正确", "肺炎"),  # zh: A is not right
        ("不选A", "肺炎"),  # zh: do not choose A
        ("答案不是A。", "肺炎"),  # zh: the answer is not A
        ("未分化癌", "分化癌"),  # zh: undifferentiated carcinoma, which holds "differentiated carcinoma"
        ("肺动脉高血压", "高血压"),  # zh: pulmonary hypertension, which holds "hypertension"
        (
            "非小细胞肺癌",
            "小细胞肺癌",
        ),  # zh: non-small-cell lung cancer, which holds "small-cell lung cancer"
        ("抗凝固薬", "凝固薬"),  # ja: an anticoagulant, which holds "coagulant"
        ("肺炎ではありません。", "肺炎"),  # ja: it is not pneumonia
        ("肺炎は否定的です。", "肺炎"),  # ja: pneumonia is unlikely
        ("肺炎は考えにくい。", "肺炎"),  # ja: pneumonia is hard to think
        ("答えはAではない。", "肺炎"),  # ja: the answer is not A
        ("Aは不適切です。", "肺炎"),  # ja: A is not suitable
        ("정답은 A가 아닙니다.", "폐렴"),  # ko: the answer is not A
        ("A는 오답입니다.", "폐렴"),  # ko: A is a wrong answer
        ("폐렴 아님", "폐렴"),  # ko: not pneumonia
        ("ليس A", "الربو"),  # ar: not A
        ("الإجابة ليست A.", "الربو"),  # ar: the answer is not A
        ("لا يوجد الربو", "الربو"),  # ar: there is no asthma
        ("تم استبعاد الربو.", "الربو"),  # ar: asthma was ruled out
        ("यह अस्थमा नहीं है।", "अस्थमा"),  # hi: this is not asthma
        ("उत्तर A नहीं है।", "अस्थमा"),  # hi: the answer is not A
        ("A गलत है।", "अस्थमा"),  # hi: A is wrong
        ("Это не астма.", "Астма"),  # ru: this is not asthma
        ("Астма маловероятна.", "Астма"),  # ru: asthma is unlikely
        ("Астма исключена.", "Астма"),  # ru: asthma is ruled out
        ("Правильный ответ не A.", "Астма"),  # ru: the right answer is not A
        ("A değil.", "Astım"),  # tr: not A
        ("Doğru cevap A değil.", "Astım"),  # tr: the right answer is not A
        ("Cevap: astım değil", "Astım"),  # tr: answer: not asthma
        ("Yanlış: A", "Astım"),  # tr: wrong: A
        ("Astım dışlandı.", "Astım"),  # tr: asthma was ruled out
        ("To nie jest astma.", "Astma"),  # pl: this is not asthma
        ("Wykluczono astma.", "Astma"),  # pl: ruled out: asthma
        ("Odpowiedź A jest błędna.", "Astma"),  # pl: the answer A is wrong
        ("پاسخ A نیست.", "آسم"),  # fa: the answer is not A
        ("بیمار آسم ندارد.", "آسم"),  # fa: the patient has no asthma
        ("উত্তর A নয়।", "হাঁপানি"),  # bn: the answer is not A
        ("Αποκλείεται άσθμα.", "Άσθμα"),  # el: asthma is ruled out
        ("Jawabannya bukan A.", "Asma"),  # id: the answer is not A
        ("Pasien tidak menderita asma.", "Asma"),  # id: the patient does not suffer from asthma
        ("Đây không phải là hen.", "Hen"),  # vi: this is not asthma
        ("Đáp án không phải là A.", "Hen"),  # vi: the answer is not A
        ("ไม่ใช่ A", "หืด"),  # th: not A
        ("זו אינה אסתמה.", "אסתמה"),  # he: this is not asthma
        ("Це не астма.", "Астма"),  # uk: this is not asthma
        ("Není to astma.", "Astma"),  # cs: it is not asthma
        ("Det är inte astma.", "Astma"),  # sv: it is not asthma
        ("Det er ikke astma.", "Astma"),  # da and no: it is not asthma
        ("Se ei ole astma.", "Astma"),  # fi: it is not asthma
        ("Ez nem asztma.", "Asztma"),  # hu: this is not asthma
        ("Nu este astm.", "Astm"),  # ro: it is not asthma
        ("Hii si pumu.", "Pumu"),  # sw: this is not asthma
        ("Hindi ito hika.", "Hika"),  # tl: this is not asthma
        ("See ei ole astma.", "Astma"),  # et: this is not asthma
        ("Tai ne astma.", "Astma"),  # lt: this is not asthma
        ("Tā nav astma.", "Astma"),  # lv: it is not asthma
        ("To nije astma.", "Astma"),  # hr: this is not asthma
        ("Hau ez da asma.", "Asma"),  # eu: this is not asthma
        ("Nid asthma yw hwn.", "Asthma"),  # cy: this is not asthma
        ("Ní asma é seo.", "Asma"),  # ga: this is not asthma
        ("Þetta er ekki astmi.", "Astmi"),  # is: this is not asthma
        ("Nuk është astma.", "Astma"),  # sq: it is not asthma
        ("Dit is nie asma nie.", "Asma"),  # af: this is not asthma
        ("Bu astma deyil.", "Astma"),  # az: this is not asthma
        ("Тази болест не е астма.", "Астма"),  # bg: this disease is not asthma
        ("Ово није астма.", "Астма"),  # sr: this is not asthma
        ("یہ دمہ نہیں ہے۔", "دمہ"),  # ur: this is not asthma
        ("இது ஆஸ்துமா அல்ல.", "ஆஸ்துமா"),  # ta: this is not asthma
        ("ఇది ఆస్తమా కాదు.", "ఆస్తమా"),  # te: this is not asthma
        ("આ અસ્થમા નથી.", "અસ્થમા"),  # gu: this is not asthma
        ("ეს ასთმა არ არის.", "ასთმა"),  # ka: this is not asthma
        ("Սա ասթմա չէ։", "ասթմա"),  # hy: this is not asthma
        ("ይህ አስም አይደለም።", "አስም"),  # am: this is not asthma
        ("Astım, bence yanlış.", "Astım"),  # tr: asthma, I think it is wrong
        ("The cough is old. Bu astım değil.", "Astım"),  # tr behind English: this is not asthma
    ],
)
def test_a_rejection_in_any_language_chooses_nothing(text: str, option: str) -> None:
    assert NONE == chosen(text, option)


@each_case(
    ("text", "option"),
    [
        ("It is asthma.", "Asthma"),
        ("Asthma irreversibly zorps.", "Asthma"),
        (
            "Die wahrscheinlichste Diagnose ist eine Pneumonie.",
            "Pneumonie",
        ),  # de: the most likely diagnosis is
        ("Lo más probable es una neumonía.", "Neumonía"),  # es: the most likely is a pneumonia
        (
            "Le diagnostic le plus probable est une pneumonie.",
            "Pneumonie",
        ),  # fr: the most likely diagnosis is
        ("La diagnosi più probabile è una polmonite.", "Polmonite"),  # it: the most likely diagnosis is
        ("O diagnóstico mais provável é pneumonia.", "Pneumonia"),  # pt: the most likely diagnosis is
        ("El diagnòstic més probable és pneumònia.", "Pneumònia"),  # ca: the most likely diagnosis is
        (
            "De meest waarschijnlijke diagnose is een pneumonie.",
            "Pneumonie",
        ),  # nl: the most likely diagnosis is
        ("诊断为肺炎。", "肺炎"),  # zh: it is diagnosed as pneumonia
        (
            "最可能的诊断是肺炎，因为患者咳嗽。",
            "肺炎",
        ),  # zh: the most likely is pneumonia, because of the cough
        ("患者咳嗽，故选A。", "肺炎"),  # zh: the patient coughs, so choose A
        ("本题选A", "肺炎"),  # zh: for this question choose A
        ("肺炎です。", "肺炎"),  # ja: it is pneumonia
        ("正解はAです。", "肺炎"),  # ja: the right answer is A
        ("したがって、肺炎が最も考えられる。", "肺炎"),  # ja: therefore pneumonia is most likely
        ("정답은 A입니다.", "폐렴"),  # ko: the answer is A
        ("الإجابة الصحيحة هي الربو.", "الربو"),  # ar: the right answer is asthma
        (
            "التشخيص هو الربو لأن المريض يسعل.",
            "الربو",
        ),  # ar: the diagnosis is asthma because the patient coughs
        ("सही उत्तर A है।", "अस्थमा"),  # hi: the right answer is A
        ("यह अस्थमा है।", "अस्थमा"),  # hi: this is asthma
        ("Это астма.", "Астма"),  # ru: this is asthma
        ("Правильный ответ: A, потому что больной кашляет.", "Астма"),  # ru: A, because the patient coughs
        ("Doğru cevap A.", "Astım"),  # tr: the right answer is A
        ("En olası tanı astım.", "Astım"),  # tr: the most likely diagnosis is asthma
        ("Prawidłowa odpowiedź to A.", "Astma"),  # pl: the right answer is A
        ("پاسخ صحیح A است.", "آسم"),  # fa: the right answer is A
        ("সঠিক উত্তর: A", "হাঁপানি"),  # bn: right answer: A
        ("Η σωστή απάντηση είναι A.", "Άσθμα"),  # el: the right answer is (Latin) A
        ("Jawaban yang benar adalah asma.", "Asma"),  # id: the right answer is asthma
        ("Đáp án đúng là A.", "Hen"),  # vi: the right answer is A
        ("คำตอบ: A", "หืด"),  # th: answer: A
        ("התשובה הנכונה היא A.", "אסתמה"),  # he: the right answer is A
        ("Правильна відповідь: A", "Астма"),  # uk: right answer: A
        ("Správná odpověď je A.", "Astma"),  # cs: the right answer is A
        ("Rätt svar är A.", "Astma"),  # sv: the right answer is A
    ],
)
def test_what_is_affirmed_in_known_words_counts(text: str, option: str) -> None:
    assert chosen(text, option) == "1"


@each_case(
    "option",
    [
        *(
            "Pneumonie",
            "肺炎",
            "心不全",
            "폐렴",
            "الربو",
            "अस्थमा",
            "Астма",
            "Astım",
            "आस्थमा",
            "হাঁপানি",
            "Άσθμα",
        ),
        *("Hen suyễn", "หืด", "אסתמה", "ஆஸ்துமா", "ასთმა", "ասթմա", "አስም", "ជំងឺហឺត", "ຫືດ"),
    ],
)
def test_the_option_or_its_label_alone_counts_in_every_language(option: str) -> None:
    texts = (
        option,
        f"**{option}**",
        f"{option}.",
        f"A. {option}",
        f"A) {option}",
        "A",
        "(A)",
        "**A**",
        "Answer: A",
    )
    texts = (*texts, f"Answer: {option}", f"\\boxed{{{option}}}")
    assert {text: "1" for text in texts} == {text: chosen(text, option) for text in texts}


def test_what_is_turned_down_leaves_the_other() -> None:
    assert chosen("Aではなく、Bです。", "心不全", "肺炎") == "肺炎"  # not A but B
    assert chosen("A选项错误，因此选B项。", "心衰", "肺炎") == "肺炎"  # option A is wrong, so choose B
    assert NONE == chosen("Astım değil, KOAH olabilir", "Astım", "KOAH")  # not asthma, COPD is possible


# --- random scripts

FIRST, LAST = 0xA1, 0x1E94B
LETTERS = [
    c
    for c in map(chr, range(FIRST, LAST))
    if c.isalpha() and not unicodedata.normalize("NFKD", c)[0].isascii()
]
"""The letters of all scripts but Latin ones, in whatever form."""


def word(random_: random.Random) -> str:
    """A word of neighbouring letters of one script, or of Latin ones, that no list has."""
    while True:
        start = random_.randrange(len(LETTERS) - 40)
        letters = LETTERS[start : start + 40] if random_.random() < 0.8 else "bdfgjkpqvwxyz"
        text = "".join(random_.choice(letters) for _ in range(random_.randint(3, 9)))
        if text in Doc(text).text and {role(form, form) for form in Doc(text).forms} & {"strange", "outside"}:
            return text


FRAMES = (
    *(
        "{w} {o}",
        "{o} {w}",
        "{w} {o} {w}",
        "{w}: {o}",
        "{o}: {w}",
        "{o}, {w}",
        "{w}, {o}",
        "{o} ({w})",
        "{w} A",
    ),
    *("A {w}", "A. {o} {w}", "**{o}** {w}", "A: {w}", "{w} (A) {w}", "Answer: {o} {w}", "Answer: {w} {o}"),
    *("Answer: A {w}", "{w} {w} {o} {w} {w}.", "{w} {w}: A", "{o} - {w}"),
)


def test_no_claim_stands_beside_an_unknown_word_of_any_script() -> None:
    random_ = random.Random(20)
    claims = []
    for _ in range(length(2_000, 20_000)):
        option = random_.choice(("Asthma", "肺炎", "Астма", "الربو", "Astım", word(random_)))
        frame = random_.choice(FRAMES)
        text = frame.replace("{o}", option)
        while "{w}" in text:
            text = text.replace("{w}", word(random_), 1)
        if option not in OTHERS and chosen(text, option) != NONE:
            claims.append((text, option))
    assert [] == claims
