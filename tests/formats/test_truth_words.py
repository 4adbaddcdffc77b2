"""True and False in sixteen languages, and what only looks like a verdict."""

# ruff: noqa: E501 - a line of a table holds several answers

from tests.cases import each_case
from tests.formats.test_reading import truth

NEITHER = {"unreadable", "unanswered"}


@each_case(
    ("text", "want"),
    [
        ("Correct.", True),
        ("Incorrect.", False),
        ("That is incorrect.", False),
        ("This statement is correct.", True),
        ("The statement is not correct.", False),
        ("Wrong.", False),
        ("Das stimmt nicht.", False),
        ("Das stimmt.", True),
        ("Die Aussage ist nicht korrekt.", False),
        ("Korrekt.", True),
        ("Unwahr", False),
        ("Correcto.", True),
        ("Incorrecto", False),
        ("Esto no es cierto.", False),
        ("Cierto", True),
        ("Exact.", True),
        ("Inexact", False),
        ("C'est exact.", True),
        ("Ce n'est pas exact.", False),
        ("Corretto.", True),
        ("Errata", False),
        ("Sbagliato.", False),
        ("Certo.", True),
        ("Errado.", False),
        ("Isso não é correto.", False),
        ("Cert", True),
        ("Fals.", False),
        ("Aquesta afirmació és incorrecta.", False),
        ("Waar", True),
        ("Niet waar", False),
        ("Onjuist.", False),
        ("Dat is juist.", True),
        ("正确", True),
        ("错误。", False),
        ("不正确", False),
        ("该说法是错误的。", False),
        ("答案：正确", True),
        ("对", True),
        ("不对。", False),
        ("正しい", True),
        ("誤り", False),
        ("この記述は正しい。", True),
        ("正しくない", False),
        ("間違いです。", False),
        ("참", True),
        ("거짓", False),
        ("틀렸습니다.", False),
        ("정답: 참", True),
        ("صحيح", True),
        ("خطأ", False),
        ("غير صحيح", False),
        ("العبارة صحيحة.", True),
        ("الإجابة: خطأ", False),
        ("सही", True),
        ("गलत", False),
        ("यह कथन गलत है।", False),
        ("यह सही नहीं है।", False),
        ("Верно", True),
        ("Неверно.", False),
        ("Это неправда.", False),
        ("Утверждение верно.", True),
        ("Doğru", True),
        ("Yanlış", False),
        ("Bu doğru değil.", False),
        ("Bu ifade yanlıştır.", False),
        ("Prawda", True),
        ("Fałsz", False),
        ("To nieprawda.", False),
    ],
)
def test_a_verdict_is_read_in_its_language(text: str, want: bool) -> None:
    assert want == truth(text)


@each_case(
    "text",
    [
        *("The correct dose is 5 mg.", "Right ventricular failure.", "The right dose was wrong for him.", "Wrong drug"),
        *("Der richtige Weg ist weit.", "Das stimmt nur manchmal überein.", "El tratamiento correcto es otro."),
        *("Waar is de patiënt?", "Een juiste diagnose", "Certo giorno", "Cert pacient", "Exactement 5 mg"),
        *("不完全正确", "部分正确", "可能正确", "是否正确？", "错误率为5%", "对照组", "正しいとは限らない", "部分的に正しい"),
        *("참고하세요", "거짓말을 했다", "صحيح نہیں ہے", "صحیح نہیں", "सही छैन", "बरोबर नाही", "सही दवा दें"),
        *("Не совсем верно", "Верно ли это?", "Правильно подобранная доза", "Tam doğru değil denemez", "Doğru tedavi"),
        *("Częściowo prawda", "Prawdopodobnie", "Yes.", "はい", "是", "نعم", "हाँ", "Да", "Evet", "Tak"),
    ],
)  # fmt: skip
def test_what_is_no_verdict_is_neither(text: str) -> None:
    assert truth(text) in NEITHER
