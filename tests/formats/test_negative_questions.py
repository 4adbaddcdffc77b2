"""A question for the statement that is wrong: what is called wrong is then the choice."""

from tests.cases import each_case

from vivavoce.core.records import Item
from vivavoce.formats import read_response

OPTIONS = ("It inhibits DPP-4", "It causes weight gain", "It is taken by mouth", "It is safe in pregnancy")
WRONG = {
    "en": "Which of the following statements about sitagliptin is INCORRECT?",
    "en false": "A patient does not respond. Which statement is false?",
    "en not": "Which of these is not true of sitagliptin?",
    "es": "¿Cuál de las siguientes afirmaciones es incorrecta?",
    "de": "Welche Aussage ist falsch?",
    "fr": "Quelle affirmation est fausse ?",
    "it": "Quale affermazione è errata?",
    "pt": "Qual afirmação está incorreta?",
    "ca": "Quina afirmació és incorrecta?",
    "nl": "Welke bewering is onjuist?",
    "zh": "下列哪项说法是错误的？",
    "ja": "誤っているのはどれか。",
    "ko": "다음 중 옳지 않은 것은?",
    "ar": "أي من العبارات التالية خاطئة؟",
    "hi": "निम्न में से कौन सा कथन गलत है?",
    "ru": "Какое утверждение неверно?",
    "tr": "Aşağıdakilerden hangisi yanlıştır?",
    "pl": "Które stwierdzenie jest fałszywe?",
}
RIGHT = (
    "Which statement is correct?",
    "The last answer was wrong. Which drug helps?",
    "Which is NOT a sign of flu?",
)


def place(question: str, text: str) -> str:
    item = Item(benchmark="b", item="i", format="mcq", question=question, options=OPTIONS)
    reading = read_response(item, text)
    return "ABCD"[OPTIONS.index(reading.parsed)] if reading.status == "ok" else reading.status


@each_case(
    ("question", "text", "want"),
    [
        ("en", "Statement B is incorrect.", "B"),
        ("en", "Option B is false.", "B"),
        ("en", "B is wrong because the weight stays.", "B"),
        ("en", "A is true. B is false. C is true. D is true.", "B"),
        ("en", "The incorrect statement is B.", "B"),
        ("en", "It causes weight gain is not true.", "B"),
        ("en false", "Statement D is untrue.", "D"),
        ("en not", "Statement C is not correct.", "C"),
        ("en", "Statement A is true.", "unreadable"),
        ("en", "A is correct.", "A"),
        ("es", "La afirmación B es incorrecta.", "B"),
        ("es", "La B es falsa.", "B"),
        ("de", "Aussage B ist falsch.", "B"),
        ("de", "B trifft nicht zu.", "B"),
        ("fr", "L'affirmation B est fausse.", "B"),
        ("it", "L'affermazione B è errata.", "B"),
        ("pt", "A afirmação B está incorreta.", "B"),
        ("ca", "L'afirmació B és incorrecta.", "B"),
        ("nl", "Bewering B is onjuist.", "B"),
        ("zh", "选项B是错误的。", "B"),
        ("ja", "Bは誤りです。", "B"),
        ("ko", "B는 틀렸습니다.", "B"),
        ("ar", "العبارة (B) خاطئة.", "B"),
        ("hi", "कथन B गलत है।", "B"),
        ("ru", "Утверждение B неверно.", "B"),
        ("tr", "B yanlıştır.", "B"),
        ("pl", "Stwierdzenie B jest fałszywe.", "B"),
        ("en", "B", "B"),
        ("en", "Answer: B. A is false too, they say.", "B"),
    ],
)
def test_what_is_called_wrong_is_the_choice(question: str, text: str, want: str) -> None:
    assert want == place(WRONG[question], text)


@each_case(
    ("question", "text"),
    [
        (WRONG["en"], "B is not false."),
        (WRONG["en"], "B and C are incorrect."),
        (WRONG["en"], "B is incorrect. C is incorrect."),
        (WRONG["en"], "None of them is incorrect."),
        (WRONG["en"], "It is incorrect."),
        (WRONG["de"], "Aussage B ist nicht falsch."),
        (WRONG["zh"], "选项B不是错误的。"),
        (WRONG["es"], "La B y la C son falsas."),
        (RIGHT[0], "Statement B is incorrect."),
        (RIGHT[1], "B is wrong."),
        (RIGHT[2], "B is incorrect."),
        (RIGHT[0], "Aussage B ist falsch."),
        (RIGHT[0], "选项B是错误的。"),
    ],
)
def test_nothing_is_chosen_where_it_is_not_asked_or_not_clear(question: str, text: str) -> None:
    assert "unreadable" == place(question, text)


DRUGS = ("Metformin", "Empagliflozin", "Sitagliptin", "Insulin glargine")
EXCEPTION = {
    "not": "Which of the following is NOT an oral drug?",
    "except": "All of the following are oral EXCEPT:",
    "cause": "Which one does not cause weight loss?",
    "avoid": "Which drug should be avoided?",
    "contraindicated": "Which of the following is contraindicated?",
    "to avoid": "Which drug is best to avoid a stroke?",
    "excluded": "Which diagnosis must be excluded first?",
    "es": "¿Cuál de los siguientes NO es oral?",
    "of the patient": "Which is the best drug if he does not tolerate metformin?",
}


@each_case(
    ("question", "text", "want"),
    [
        ("not", "D is not oral.", "D"),
        ("not", "D: not oral", "D"),
        ("not", "Insulin glargine is not an oral drug.", "D"),
        ("not", "All are oral except D.", "D"),
        ("not", "Metformin is an oral drug.", "unreadable"),
        ("not", "A is oral.", "unreadable"),
        ("not", "A is not oral, D is not oral.", "unreadable"),
        ("not", "The answer is A. It is oral.", "A"),
        ("except", "Insulin glargine is not oral.", "D"),
        ("cause", "D does not cause weight loss; it causes weight gain.", "D"),
        ("cause", "D is not a drug.", "unreadable"),
        ("avoid", "B should be avoided.", "B"),
        ("avoid", "Avoid B.", "B"),
        ("contraindicated", "Sitagliptin is contraindicated.", "C"),
        ("contraindicated", "Sitagliptin is not contraindicated.", "unreadable"),
        ("contraindicated", "B is contraindicated in heart failure. C is safe.", "B"),
        ("contraindicated", "A is seldom contraindicated.", "unreadable"),
        ("contraindicated", "A is rarely contraindicated.", "unreadable"),
        ("avoid", "Metformin can be continued. Sitagliptin should be avoided.", "C"),
        ("to avoid", "A is to be avoided.", "unreadable"),
        ("excluded", "A is ruled out.", "unreadable"),
        ("not", "Metformin is not an oral drug? No, that is false.", "unreadable"),
        ("not", "Metformin is oral; insulin glargine is not.", "D"),
        ("not", "Metformin is oral and insulin glargine is not.", "D"),
        ("not", "Metformin is oral, whereas insulin glargine is not.", "D"),
        ("not", "A is not only an oral drug.", "unreadable"),
        ("es", "La D no es oral.", "D"),
        ("es", "Nadie dice que sitagliptin no es oral.", "unreadable"),
        ("of the patient", "B is tolerated.", "B"),
        ("of the patient", "Metformin is not tolerated. B is best.", "B"),
    ],
)
def test_what_is_said_to_be_the_exception_is_the_choice(question: str, text: str, want: str) -> None:
    item = Item(benchmark="b", item="i", format="mcq", question=EXCEPTION[question], options=DRUGS)
    reading = read_response(item, text)
    assert want == ("ABCD"[DRUGS.index(reading.parsed)] if reading.status == "ok" else reading.status)


@each_case(
    ("text", "want"),
    [
        ("The answer could be A or C depending on renal function.", "unreadable"),
        ("The answer is A or B unless he is pregnant.", "unreadable"),
        ("Prefer B to C.", "unreadable"),
        ("Correct: B. Incorrect: A, C, D.", "B"),
        ("Correct: B; wrong: A, C and D", "B"),
    ],
)
def test_a_list_of_letters_is_read_whole(text: str, want: str) -> None:
    item = Item(benchmark="b", item="i", format="mcq", question="Which is best?", options=DRUGS)
    reading = read_response(item, text)
    assert want == ("ABCD"[DRUGS.index(reading.parsed)] if reading.status == "ok" else reading.status)
