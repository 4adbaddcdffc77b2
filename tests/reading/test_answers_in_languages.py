"""Answers that take themselves back, rank options, deny another thing, or name a range, in many languages."""

from tests.cases import each_case

from vivavoce.core.records import Item
from vivavoce.formats import read_response

LETTERS = "ABCDE"
OPTIONS = ("Fever", "Rash", "Cough", "Headache", "Myalgia")


def letters(text: str, form: str = "mcq", question: str = "Which is it?") -> str | None:
    """The letters of the options that are read; null for none."""
    item = Item(benchmark="b", item="i", format=form, question=question, options=OPTIONS, answer=OPTIONS[:1])
    parsed = read_response(item, text).parsed
    texts = [parsed] if isinstance(parsed, str) else parsed
    return None if not isinstance(texts, list | tuple) else "".join(LETTERS[OPTIONS.index(t)] for t in texts)


@each_case(
    "text",
    [
        *("C. Actually, B.", "C. Wait, no, B.", "C... hmm, actually no. B.", "C. Sorry, I meant B."),
        *("C. Scratch that, B.", "C. Korrektur: B.", "C. Nein, doch B.", "C. Moment, eigentlich B."),
        *("C. Nein, B.", "C. Nee, toch B.", "C. En fait, B.", "C. Non, attendez, B.", "C. En realidad, B."),
        *("C. Perdón, quise decir la B.", "C. Anzi, B.", "C. Na verdade, B.", "C. Correção: B."),
        *("C. Нет, вернее B.", "C. Исправление: B.", "C。不对，应该是B。", "答案：C。更正：B。"),
        *(
            "C。いや、B。",
            "C. 정정: B.",
            "C. Właściwie B.",
            "C. Hayır, aslında B.",
            "C. عفوا، B.",
            "C. नहीं, B.",
        ),
        *("C. Nej, förresten B.", "A. No, C. No, B."),
    ],
)
def test_the_last_correction_names_the_choice(text: str) -> None:
    assert "B" == letters(text)


@each_case(
    "text",
    [
        *("B. Actually, this is a classic sign.", "B. Wait times do not matter.", "B. Actually B is a sign."),
        *("B. Eigentlich ist C zu selten.", "B. En realidad, C es raro.", "Actually, B.", "B. Sorry."),
        "B. Rash\n\nExplanation: Fever is late. Incorrect: C. Cough is rare.",
        *("The answer is B.\n\nWait for results before Cough", "B) The least likely is Cough."),
    ],
)
def test_a_word_of_correction_without_another_option_corrects_nothing(text: str) -> None:
    assert "B" == letters(text)


@each_case(
    "text",
    [
        "D\n\nHold on, the fever is high, so it must be B.",
        "B. Oops, I misread: A.",
        "C. Moment, das passt zu: B.",
    ],
)
def test_a_correction_that_ends_with_another_option_leaves_none(text: str) -> None:
    assert letters(text) is None


@each_case(
    "text",
    [
        *("C is the least likely.", "The least likely option is C.", "C would be my last choice."),
        *("C ist am unwahrscheinlichsten.", "C es la menos probable.", "La moins probable est la C."),
        *("C è la meno probabile.", "C é a menos provável.", "C is het minst waarschijnlijk."),
        *("C jest najmniej prawdopodobne.", "C наименее вероятно.", "C är minst sannolikt.", "C最不可能。"),
        *("C ít có khả năng nhất.", "Cは最も可能性が低い。", "C가 가장 가능성이 낮습니다."),
    ],
)
def test_the_least_likely_option_is_a_choice_only_where_the_question_asks_for_it(text: str) -> None:
    assert letters(text) is None
    assert "C" == letters("C is the least likely.", question="Which sign is the least likely?")
    assert "C" == letters("C. It is least likely to cause bleeding.")


@each_case(
    "text",
    [
        *("Answer: B. No further tests.", "The answer is B. No other option fits.", "B (no interactions)"),
        *("B. Keine weiteren Untersuchungen nötig.", "B. Pas de fièvre.", "La respuesta es B (sin fiebre)."),
        *("B. Não há necessidade de outros exames.", "Ответ: B. Другие варианты не подходят."),
        *("B. Żadna inna odpowiedź nie pasuje.", "B. Geen andere optie past."),
    ],
)
def test_a_denial_of_another_thing_behind_the_letter_leaves_the_choice(text: str) -> None:
    assert "B" == letters(text)


@each_case("text", ["B (no role)", "B: no indication", "B. No.", "B: nicht richtig", "B - not indicated"])
def test_a_denial_of_the_option_behind_the_letter_turns_it_down(text: str) -> None:
    assert letters(text) is None


@each_case(
    "text, named",
    [
        *(("A to D", "ABCD"), ("A–E", "ABCDE"), ("A–C, E", "ABCE"), ("A-E", None), ("B through D", "BCD")),
        *(
            ("B bis D", "BCD"),
            ("De A à C", "ABC"),
            ("De la A a la D", "ABCD"),
            ("A到D", "ABCD"),
            ("A to D except B", "ACD"),
        ),
        *(
            ("A to C, but not B", "AC"),
            ("AからCまで", "ABC"),
            ("A, C", "AC"),
            ("A - B - C", "ABC"),
            ("A y C", "AC"),
            ("All except B to D", "AE"),
        ),
    ],
)
def test_a_range_names_all_between_its_ends(text: str, named: str | None) -> None:
    assert named == letters(text, "list")


@each_case(
    "text, named",
    [
        *(("Nur D und E treffen nicht zu.", "ABC"), ("Falsch sind nur D und E.", "ABC")),
        *(("Solo son falsas la B y la D.", "ACE"), ("只有B和D是错误的", "ACE")),
        *(("Неверны только A и D.", "BCE"), ("Only A and C are not signs", "BDE")),
        *(("Alleen B en E zijn onjuist.", "ACD"), ("Apenas A e B não estão corretas.", "CDE")),
        *(("Only A and B", "AB"), ("Not only A and B", "AB"), ("A and B only, no others", "AB")),
        *(("D und E treffen nicht zu.", None), ("A e B não estão corretas", None)),
    ],
)
def test_a_list_of_the_only_wrong_ones_names_the_others(text: str, named: str | None) -> None:
    assert named == letters(text, "list")


def test_an_option_that_begins_with_no_takes_nothing_back() -> None:
    options = ("Aspirin", "No treatment", "Warfarin", "Heparin")
    item = Item(benchmark="b", item="i", format="mcq", question="Which?", options=options, answer=options[:1])
    assert "Heparin" == read_response(item, "D\n\nNo treatment (option B) is a").parsed


def test_true_and_false_can_be_taken_back() -> None:
    item = Item(benchmark="b", item="i", format="true_false", question="Is it?", answer=("True",))
    for text in ("Richtig. Nein, falsch.", "Vrai. Non, faux.", "True. No, false."):
        assert read_response(item, text).parsed is False, text
    assert read_response(item, "True. No false positives are known.").parsed is True


@each_case(
    "text",
    [
        *(
            "B (no C)",
            "B. No C.",
            "B. Actually, no C",
            "B. En realidad, no C.",
            "B。其实不是C。",
            "B. Wait, no C.",
        ),
        *(
            "B. Na verdade, não C.",
            "B，不应选C。",
            "B. Actually it isn't C.",
            "B. Korrektur: nicht C.",
            "B. 아니 C.",
        ),
        *(
            "Bです。間違いはC。",
            "B. My mistake would be C.",
            "B. My mistake: C.",
            "B. Ошибка: C.",
            "B。错了：C。",
        ),
        *("B. Wait, is it C?", "B. Attendez, est-ce C ?", "B. Actually, as with C.", "B. Actually, maybe C."),
    ],
)
def test_a_denied_a_faulty_or_a_doubtful_option_corrects_nothing(text: str) -> None:
    assert letters(text) in {"B", None}


@each_case(
    "text",
    [
        *(
            "B: 没有作用",
            "B: 无效",
            "B：无临床意义",
            "B: нет показаний",
            "B: sin efecto",
            "B: pas de bénéfice",
        ),
        *("B: sem indicação", "B: no procede", "B. Kein Nutzen.", "B: no benefit", "B: no clinical benefit"),
        *("B (kein Stellenwert)", "B. Nessuna utilità.", "B: geen effect", "**B**: no activity"),
        *("A. Doch A ist zu selten.", "A. But A is wrong.", "A. Pero A es falsa."),
    ],
)
def test_an_option_without_merit_is_no_choice(text: str) -> None:
    assert letters(text) is None


@each_case(
    "text, named",
    [
        *(("A, B, not C to E", "AB"), ("A and B, but not C to E.", "AB"), ("D, E (not A–C)", "D")),
        *(("Not A to C", None), ("Prefer A to D", None), ("I changed my answer from A to D", None)),
        *(("A bis C falsch", ""), ("A, B, except C to E", None), ("Between A to D: B", None)),
        *(("Die richtigen Antworten sind A bis C.", "ABC"), ("A to C are common signs.", "ABC")),
        *(("A and B. Only C is wrong.", None), ("A und B. Nur C ist falsch.", None)),
        *(
            ("Only C is wrong. A and B.", None),
            ("A, B. Только C неверно.", None),
            ("Only C is wrong.", "ABDE"),
        ),
    ],
)
def test_a_list_is_read_only_where_nothing_denies_or_contradicts_it(text: str, named: str | None) -> None:
    assert named == letters(text, "list")


@each_case(
    "text, named",
    [
        *(("C is likely; B is least likely", None), ("The least likely is B. A is most likely.", None)),
        *(("A is not least likely, B is.", "B"), ("Most likely: A. Least likely: B.", None)),
        *(("C es probable; B es la menos probable.", None), ("Least likely: B", "B"), ("B", "B")),
        ("A is not the least likely; C is the least likely.", "C"),
    ],
)
def test_the_least_likely_option_is_asked_for_and_named_alone(text: str, named: str | None) -> None:
    assert named == letters(text, question="Which is least likely?")
