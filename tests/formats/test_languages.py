"""What is read in one language is read in its sisters: exceptions, labels, marks, denials, announcements.

Each kind was found on answers that had been written before the reader was mended on them.
"""

# ruff: noqa: E501 - a line of a table is an answer

from tests.cases import each_case
from tests.formats.test_reading import of
from tests.lengths import length

from vivavoce.core.parts import Parts
from vivavoce.core.records import Item, Reading
from vivavoce.formats import read_response
from vivavoce.reading.short_answers import short_answer

SIGNS = {
    "en": ("Fever", "Cough", "Rash", "Dyspnea", "Headache"),
    "ar": ("حمى", "سعال", "طفح", "ضيق التنفس", "صداع"),
    "ru": ("Лихорадка", "Кашель", "Сыпь", "Одышка", "Головная боль"),
    "uk": ("Гарячка", "Кашель", "Висип", "Задишка", "Головний біль"),
    "el": ("Πυρετός", "Βήχας", "Εξάνθημα", "Δύσπνοια", "Κεφαλαλγία"),
    "hi": ("बुखार", "खांसी", "दाने", "सांस फूलना", "सिरदर्द"),
    "bn": ("জ্বর", "কাশি", "ফুসকুড়ি", "শ্বাসকষ্ট", "মাথাব্যথা"),
    "fa": ("تب", "سرفه", "بثورات", "تنگی نفس", "سردرد"),
    "he": ("חום", "שיעול", "פריחה", "קוצר נשימה", "כאב ראש"),
    "zh": ("发热", "咳嗽", "皮疹", "呼吸困难", "头痛"),
    "ja": ("発熱", "咳", "発疹", "呼吸困難", "頭痛"),
    "ko": ("발열", "기침", "발진", "호흡곤란", "두통"),
    "th": ("ไข้", "ไอ", "ผื่น", "หอบ", "ปวดหัว"),
}  # fmt: skip
ACS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
LUNG = ("Alendronate", "Asthma", "COPD", "Pulmonary embolism")


def letters(text: str, options: tuple[str, ...]) -> str:
    """The letters of the options read, and the strays behind a plus; the status where none is."""
    reading = of("list", text, options)
    if reading.status != "ok":
        return reading.status
    named = "".join("ABCDE"[options.index(option)] for option in options if option in reading.parsed)
    return "+".join((named, *reading.stray))


@each_case(
    ("language", "text", "want"),
    [
        ("en", "Everything except headache", "ABCD"),
        ("en", "Except for headache, all of them.", "ABCD"),
        ("en", "Todas menos la D.", "ABCE"),
        ("en", "Todas, exceto a A.", "BCDE"),
        ("en", "Todas las opciones son correctas excepto la B.", "ACDE"),
        ("en", "Alle außer D.", "ABCE"),
        ("en", "Alle bis auf D treffen zu.", "ABCE"),
        ("en", "Mit Ausnahme von B sind alle richtig.", "ACDE"),
        ("en", "Toutes sauf la B.", "ACDE"),
        ("en", "Toutes à l'exception de la E.", "ABCD"),
        ("en", "Tutte tranne la C.", "ABDE"),
        ("en", "Todas as alternativas, exceto C, estão corretas.", "ABDE"),
        ("en", "Totes llevat de la E.", "ABCD"),
        ("en", "Alles behalve C.", "ABDE"),
        ("en", "Wszystkie oprócz B.", "ACDE"),
        ("en", "Všechny kromě C.", "ABDE"),
        ("en", "Alla utom C.", "ABDE"),
        ("en", "C dışında hepsi doğru.", "ABDE"),
        ("en", "Semua kecuali C.", "ABDE"),
        ("en", "Tất cả trừ C.", "ABDE"),
        ("ru", "Все, кроме Г.", "ABCE"),
        ("uk", "Усі, крім Б.", "ACDE"),
        ("el", "Όλα εκτός από το Β.", "ACDE"),
        ("ar", "جميعها ما عدا ب", "ACDE"),
        ("fa", "همه به جز ج", "ABDE"),
        ("hi", "ग को छोड़कर सभी सही हैं", "ABDE"),
        ("bn", "গ ছাড়া সব", "ABDE"),
        ("zh", "除了B都对。", "ACDE"),
        ("zh", "全部正确，除了E。", "ABCD"),
        ("ja", "B以外すべて。", "ACDE"),
        ("ja", "C以外は正しい。", "ABDE"),
        ("ko", "D를 제외한 모두.", "ABCE"),
        # turned round, left open, and among words that no list has
        ("en", "Alle außer D sind falsch.", "D"),
        ("en", "Ninguna excepto la B.", "B"),
        ("en", "Todas menos C o D.", "unreadable"),
        ("en", "Alle außer D und vielleicht Xylose.", "unreadable"),
        ("en", "Todas menos una.", "unreadable"),
    ],
)  # fmt: skip
def test_a_list_by_its_exceptions_is_all_the_others(language: str, text: str, want: str) -> None:
    assert want == letters(text, SIGNS[language])


@each_case(
    ("language", "text", "want"),
    [
        ("ar", "أ، ج، هـ", "ACE"),
        ("ar", "أ و د", "AD"),
        ("ru", "А, В и Д", "ACE"),
        ("ru", "Верно: А, Г. Неверно: Б, В.", "AD"),
        ("uk", "А, В та Г", "ACD"),
        ("el", "Α, Β και Δ", "ABD"),
        ("he", "א, ב, ד", "ABD"),
        ("hi", "क, ग और घ", "ACD"),
        ("bn", "ক, খ ও ঘ", "ABD"),
        ("th", "ก และ ง", "AD"),
        ("ko", "ㄱ, ㄷ", "AC"),
        ("ko", "A, D가 정답입니다.", "AD"),
        ("ja", "正しいのはaとcです。", "AC"),
        ("zh", "选ABD，不选C和E。", "ABD"),
        ("zh", "A对，B错，C对，D错", "AC"),
        ("en", "Son ciertas la a y la d.", "AD"),
        # denied beside what is listed
        ("en", "Richtig: A und D. Falsch: B und C.", "AD"),
        ("en", "A, B und D sind gefährlich, C und E nicht.", "ABD"),
        ("en", "A, B, D – nicht C.", "ABD"),
        ("en", "A, B en D, maar niet C.", "ABD"),
        ("en", "A, B och D men inte C", "ABD"),
        ("en", "A, B ve D; C değil.", "ABD"),
        ("en", "A ve D doğru, B ve C yanlış.", "AD"),
        ("en", "A, B and D (C and E are benign).", "ABD"),
        ("en", "A, B e D estão corretas.", "ABD"),
        ("en", "Les réponses A, B et D sont exactes.", "ABD"),
        ("en", "A et B sont correctes, les autres sont fausses.", "AB"),
        ("en", "Las correctas son A y B; las demás no.", "AB"),
        *(("en", text, "AB") for text in ("Nur A und B.", "Seulement A et B", "Solo A y B", "Apenas A e B", "Només A i B")),
        *(("en", text, "AB") for text in ("Alleen A en B", "Yalnızca A ve B", "Tylko A i B", "Endast A och B", "Hanya A dan B")),
        *(("ru", "Только А и Б", "AB"), ("zh", "只有A和B正确", "AB"), ("ja", "AとBのみ", "AB"), ("ko", "A와 B만", "AB")),
        ("en", "Correct answers: 1. Fever 2. Rash", "AC"),
        *(("en", text, "AC") for text in ("A ja, B nein, C ja, D nein", "A oui, B non, C oui", "A sí, B no, C sí, D no")),
        *(("en", text, "AC") for text in ("A (true), B (false), C (true)", "A: O, B: X, C: O, D: X", "A√ B× C√ D×")),
        ("en", "Fever und Cough, nicht aber Rash", "AB"),
        ("ko", "발열과 발진", "AC"),
        # not known is a state
        ("en", "أ، ج", "unreadable"),
        ("en", "1, 3 und 5", "unreadable"),
        ("en", "Fever, Fatigue", "A+Fatigue"),
        ("en", "Xaq vob B hox D", "unreadable"),
    ],
)  # fmt: skip
def test_a_list_is_read_by_labels_and_denials_of_its_language(language: str, text: str, want: str) -> None:
    assert want == letters(text, SIGNS[language])


@each_case(
    ("text", "want"),
    [
        ("A: ×, B: ○, C: ×, D: ×", "B"),
        ("a × b ○ c × d ×", "B"),
        ("① × ② ○ ③ × ④ ×", "B"),
        ("A(X), B(X), C(O), D(X)", "C"),
        ("○ Heparin\n× Aspirin\n× Warfarin", "B"),
        ("A √ B × C × D ×", "A"),
        # signs of numbers are none
        ("Heparin 2 × 5000 IU, so B", "B"),
    ],
)  # fmt: skip
def test_circles_and_crosses_judge_options(text: str, want: str) -> None:
    assert want == choice(text)


def choice(text: str, options: tuple[str, ...] = ACS) -> str:
    """The letter of the option read, or the status."""
    reading = of("mcq", text, options)
    return "ABCDE"[options.index(reading.parsed)] if reading.status == "ok" else reading.status


@each_case(
    ("text", "want"),
    [
        *(("○", True), ("×", False), ("✗", False), ("√", True), ("答え：○", True), ("정답: X", False)),
        *(("Sai.", False), ("Påståendet är falskt.", False), ("Nepravda", False), ("נכון", True), ("মিথ্যা", False)),
        *(("De bewering is juist.", True), ("The claim does not hold.", False), ("Vero, ma solo in parte.", None)),
        *(("Hayır, yanlış.", False), ("Так, правда.", True), ("L'énoncé est exact.", True)),
        *(("?", None), ("--", None), ("Verdadeiro ou Falso: Verdadeiro", True)),
    ],
)  # fmt: skip
def test_a_mark_or_a_word_of_any_language_is_a_verdict(text: str, want: bool | None) -> None:
    assert want == of("true_false", text).parsed


@each_case(
    ("text", "want"),
    [
        ("Aspirin is off the table because of the ulcer; heparin it is.", "B"),
        ("Heparin was already tried and failed.", "unreadable"),
        ("I would give heparin off-label.", "B"),
        ("Heparin? No. Warfarin? No. Alteplase? Yes.", "D"),
        ("¿Aspirin? No. ¿Heparin? Sí.", "B"),
        ("Switch from aspirin to alteplase.", "D"),
        ("B is often chosen, but it is wrong. D.", "D"),
        ("If I had to pick one, it would be D.", "D"),
        ("Best: D; second best: B.", "D"),
        ("Cap heparin.", "unreadable"),
        ("En vez de aspirin, heparin.", "B"),
        ("Ein Fall für Heparin; Aspirin scheidet aus, Warfarin ebenfalls.", "B"),
        ("Die Antworten A und C scheiden aus, B ist zu aggressiv. Daher D.", "unreadable"),
        ("Sowohl A als auch B sind möglich.", "unreadable"),
        ("you Heparin lxb Heparin", "unreadable"),
        ("Heparin ist hier überflüssig.", "unreadable"),
        ("Heparin ist wahrscheinlicher als Warfarin.", "B"),
        ("Hier trifft nur C zu.", "C"),
        ("Cが正しく、Aは誤り。", "C"),
        ("C가 맞고 A는 틀립니다.", "C"),
        ("La B y la C son falsas.", "unreadable"),
        ("Correcta: D. Incorrectas: A, B y C.", "D"),
        ("A correta é a B.", "B"),
        ("Option B 20 % is the first-line treatment.", "B"),
        # labels
        ("Antwort C trifft zu.", "C"),
        ("Antwort C trifft nicht zu.", "unreadable"),
        ("Antwort b ist richtig.", "B"),
        ("Richtig ist c).", "C"),
        ("La opción correcta es la c.", "C"),
        ("Doğru cevap b şıkkı.", "B"),
        ("Doğru seçenek D'dir.", "D"),
        ("答えはCになります。", "C"),
        ("The answer is option number 3.", "C"),
        ("Ich würde mich für D entscheiden.", "D"),
        # a letter and a sentence on one line
        ("B Option D is often chosen, but it is wrong.", "B"),
        ("[C] Option B is often chosen.", "C"),
        ("'C' Heparin is incorrect because it acts at once.", "C"),
        ("Answer: C Heparin is the first-line treatment in pregnancy.", "unreadable"),
        (" A Alteplase is the first-line treatment. Option C is often chosen.", "unreadable"),
        ("**A** A normal pulse rules out the others.", "A"),
    ],
)  # fmt: skip
def test_a_choice_is_read_as_any_careful_person_reads_it(text: str, want: str) -> None:
    assert want == choice(text)


@each_case(
    ("text", "want"),
    [
        ("A family history of asthma.", "unreadable"),
        ("A patient with asthma.", "unreadable"),
        ("A patient with asthma would wheeze; a clot is seen: pulmonary embolism.", "D"),
        ("A family history of asthma does not matter. The diagnosis is COPD.", "C"),
        ("A patient with sudden dyspnea most likely has a pulmonary embolism.", "D"),
        ("An asthma attack is a diagnosis of exclusion. Pulmonary embolism.", "D"),
        ("COPD would cause a wheeze. The calf points to D.", "D"),
    ],
)  # fmt: skip
def test_what_belongs_to_the_case_is_no_answer(text: str, want: str) -> None:
    assert want == choice(text, LUNG)


@each_case(
    ("text", "want"),
    [
        ("The answer is: Addison disease", "Addison disease"),
        ("答え：肺炎", "肺炎"),
        ("A resposta é: 12 mg", "12 mg"),
        ("Правильный ответ: 40 мг", "40 мг"),
        ("الإجابة: داء أديسون", "داء أديسون"),
        ("Odpověď: 40 mg", "40 mg"),
    ],
)  # fmt: skip
def test_a_short_answer_is_what_its_language_announces(text: str, want: str) -> None:
    assert want == short_answer(text)


@each_case(
    ("text", "want"),
    [
        ("步骤1：发热。\n步骤2：咳嗽。\n最终答案：肺炎", "肺炎"),
        ("Шаг 1: боль.\nОкончательный ответ: перикардит", "перикардит"),
        ("1단계: 저나트륨혈증\n최종 답변: 애디슨병", "애디슨병"),
        ("Adım 1: hiponatremi.\nNihai cevap: Addison hastalığı", "Addison hastalığı"),
        ("Stap 1: pijn.\nEindantwoord: pericarditis", "pericarditis"),
    ],
)  # fmt: skip
def test_a_chain_ends_with_the_answer_that_its_language_announces(text: str, want: str) -> None:
    assert want == of("multi_hop", text).parsed.answer


def test_the_head_of_a_sentence_that_a_limit_cut_takes_nothing_back() -> None:
    item = Item(benchmark="b", item="i", format="mcq", question="q", options=ACS)
    for text in ("C. Explanation: it acts slowly. No ", "Answer: C. Warfarin\n\nIt acts slowly. A"):
        assert Reading("ok", "Warfarin") == read_response(item, Parts(text, ending="cut")), text


def test_a_denial_an_aside_or_a_mark_without_end_costs_work_in_proportion() -> None:
    """Patterns that cost their square if a denial, an aside or a doubt is looked for anew at each option."""
    for pattern in ("не ", "не А ", "A (B, ", "A × ", "alle außer A ", "1. A 2. ", "Heparin? No. "):
        text = pattern * (length(4_000, 60_000) // len(pattern)) + " Aspirin"
        for kind in ("mcq", "list", "true_false"):
            assert of(kind, text, ACS).status in {"ok", "unanswered", "unreadable"}, (kind, pattern)
