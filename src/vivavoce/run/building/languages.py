"""The language of a text, by its commonest words: enough to tell languages apart, and no more."""

import re
from collections import Counter

from vivavoce.core.prompts import Unreadable

_WORDS = {
    "en": "the of and in is are to with which what for that by from as on at an following patient was were",
    "es": "el la los las de del que y en una un con por para se su es al cual cuál siguientes paciente como",
    "fr": "le la les des du et est une un dans pour que qui avec sur par quel quelle suivantes patient aux",
    "de": "der die das und ist ein eine mit von zu den welche welcher bei nicht dem des folgenden wird für",
    "it": "il lo la gli le di del che e un una con per è in nel della quale seguenti paziente sono da",
    "pt": "o a os as do da dos das que e em um uma com por para não se qual seguintes doente são no na",
}
LANGUAGES = {"de": "German", "en": "English", "es": "Spanish", "fr": "French", "it": "Italian",
             "pt": "Portuguese"}  # fmt: skip
"""The languages that are told apart, by their code."""
_COMMON = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
FEWEST = 3
"""Common words without which a text is not judged."""


def language_of(text: str) -> str | None:
    """The code of the language of a text; null where too few common words say it, or two say it alike."""
    words = Counter(word.casefold() for word in _WORD.findall(text))
    hits = {code: sum(words[word] for word in common) for code, common in _COMMON.items()}
    (first, n), (_, second) = Counter(hits).most_common(2)
    return first if n >= FEWEST and n > second else None


def refuse_other_language(text: str, expected: str) -> None:
    """Raise `Unreadable` for a text that is clearly in another language than expected."""
    language = language_of(text)
    if language not in (None, expected):
        raise Unreadable(f"it is written in {LANGUAGES[language]}, not in {LANGUAGES[expected]}")
