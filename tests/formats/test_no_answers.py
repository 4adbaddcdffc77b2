"""Marks for no answer and refusals by language, and what only looks like one."""

# ruff: noqa: E501 - a line of a table holds several answers

from tests.cases import each_case
from tests.formats.test_reading import of

from vivavoce.language.languages import codes, language
from vivavoce.reading.refusal import only_refuses, refuses

ACS = ("Aspirin", "Heparin", "Warfarin", "Alteplase")
LANGUAGES = {code: language(code) for code in codes()}
BUT = {
    "en": "but", "es": "pero", "de": "aber", "fr": "mais", "it": "ma", "pt": "mas", "ca": "però", "nl": "maar",
    "pl": "ale", "ru": "но", "tr": "ama", "sv": "men", "cs": "ale", "uk": "але", "el": "αλλά", "he": "אבל",
    "fa": "ولی", "bn": "কিন্তু", "id": "tapi", "vi": "nhưng", "th": "แต่", "ar": "لكن", "hi": "लेकिन", "zh": "但",
    "ja": "しかし", "ko": "하지만",
}  # fmt: skip


def test_two_hundred_forms_of_a_refusal_are_listed_in_six_languages_and_catalan() -> None:
    counts = {code: len(LANGUAGES[code].refusals) for code in ("en", "es", "de", "fr", "it", "pt", "ca")}
    assert sum(counts.values()) >= 200
    assert min(counts.values()) >= 25


@each_case(
    ("code", "refusal"), [(code, refusal) for code, words in LANGUAGES.items() for refusal in words.refusals]
)
def test_a_listed_refusal_is_one_and_not_beside_an_answer(code: str, refusal: str) -> None:
    assert refuses(f"{refusal.capitalize()}.")
    assert "unanswered" == of("mcq", f"{refusal.capitalize()}.", ACS).status
    assert not only_refuses(f"{refusal.capitalize()}, {BUT[code]} heparin 5000 IU helps.")


@each_case("mark", [mark for words in LANGUAGES.values() for mark in words.not_applicable])
def test_a_mark_for_no_answer_is_unanswered(mark: str) -> None:
    for kind, options in (("mcq", ACS), ("list", ACS), ("true_false", ()), ("short", ())):
        assert "unanswered" == of(kind, mark, options).status, kind


@each_case(
    "text",
    [
        *("I can't say without the full guideline.", "I cannot tell from this.", "I can't determine which.", "Sorry, I can't say."),
        *("Es tut mir leid, aber dabei kann ich nicht helfen.", "k.A.", "No ho sé.", "Je ne sais pas.", "Non saprei dire."),
    ],
)  # fmt: skip
def test_what_says_nothing_is_unanswered(text: str) -> None:
    assert "unanswered" == of("mcq", text, ACS).status
    assert "unanswered" == of("true_false", text).status


@each_case(
    "text",
    [
        *("The patient cannot answer questions.", "She can't say her name.", "I can't say enough good about heparin.", "He gives up smoking."),
        *("El paciente no puede responder.", "No puede ayudar a nadie.", "No contesta a la insulina.", "No puedo respirar, dice."),
        *("Der Patient kann nicht antworten.", "Er weiß nicht, wo er ist.", "Keine Angst.", "Nicht zutreffend ist A."),
        *("Le patient ne peut pas répondre.", "Il ne sait pas marcher.", "Ne pas donner d'aspirine.", "Non disponible en France avant 2010"),
        *("Il paziente non può rispondere.", "Non sa camminare.", "O paciente não responde.", "El pacient no pot respondre."),
        *("Na 140 mmol/l", "NA", "Ka", "kA", "n = 40", "ND yag laser", "Sodium", "none of the drugs", "Unknown primary tumour"),
        *("无症状", "不明熱", "なし崩し", "없음증", "нет данных за инфаркт", "yok edici", "brak danych o leku"),
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_an_answer(text: str) -> None:
    assert "ok" == of("short", text).status
