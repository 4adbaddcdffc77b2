"""Articles and lead-ins of a list are no entries, in many languages; numbers alone are no list of options."""

from tests.cases import each_case
from tests.formats.test_reading import of

SIGNS = ("Fever", "New murmur", "Splinter hemorrhages", "Pruritus", "Roth spots")
NUMBERED = ("1. Fever", "2. New murmur", "3. Splinter hemorrhages", "4. Pruritus", "5. Roth spots")
ACE = [SIGNS[0], SIGNS[2], SIGNS[4]]


@each_case(
    "text",
    [
        "The right ones are the A, the C and the E.",
        "Las correctas son la A, la C y la E.",
        "Son correctas A, C y E",
        "Las respuestas A, C y E son correctas.",
        "Les bonnes réponses sont la A, la C et la E.",
        "Richtig sind die A, die C und die E.",
        "Le corrette sono la A, la C e la E.",
        "As corretas são a A, a C e a E.",
        "Les correctes són la A, la C i la E.",
        "De juiste zijn A, C en E.",
        "正确的是A、C和E。",
        "正解はAとCとEです。",
        "정답은 A, C, E입니다.",
        "Правильные ответы: A, C и E.",
        "Doğru cevaplar A, C ve E.",
        "Poprawne odpowiedzi to A, C i E.",
        "सही उत्तर A, C और E हैं।",
        "الإجابات الصحيحة هي A و C و E.",
    ],
)
def test_articles_and_lead_ins_are_no_strays(text: str) -> None:
    reading = of("list", text, SIGNS)
    assert (ACE, ()) == (list(reading.parsed or ()), reading.stray)


@each_case(
    ("text", "stray"),
    [
        ("Fever, la Niña", ("la Niña",)),
        ("A, C y tos", ("tos",)),
        ("A, C und Husten", ("Husten",)),
        ("A, la tos", ("la tos",)),
    ],
)
def test_an_entry_with_an_article_is_a_stray(text: str, stray: tuple[str, ...]) -> None:
    assert stray == of("list", text, SIGNS).stray


@each_case("text", ["1, 3 and 5", "1, 3, 5", "1 y 3", "1 und 3", "1; 3; 5"])
def test_numbers_are_options_that_bear_them_or_unreadable(text: str) -> None:
    assert "unreadable" == of("list", text, SIGNS).status
    assert "1. Fever" in of("list", text, NUMBERED).parsed
