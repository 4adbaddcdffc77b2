"""What a language writes together with a word: an elided article before it, a particle or a copula behind it.

"L'héparine", "dell'eparina", "헤파린을", "heparindir" name the options héparine, eparina, 헤파린 and heparin.
"""

import re
from collections.abc import Callable, Collection, Sequence
from functools import cache

from vivavoce.language.languages import Language, codes, language
from vivavoce.language.tokens import Doc

_APOSTROPHES = "'’ʼ"


@cache
def _elisions() -> re.Pattern[str]:
    listed = _listed(lambda words: words.elisions)
    return re.compile(rf"(?:{'|'.join(listed)})[{_APOSTROPHES}](?=\w)", re.IGNORECASE)


@cache
def _endings() -> tuple[str, ...]:
    return tuple("".join(Doc(ending).forms) for ending in _listed(lambda words: words.endings))


def _listed(part: Callable[[Language], tuple[str, ...]]) -> list[str]:
    """The words of all languages, the longest first."""
    return sorted({word for code in codes() for word in part(language(code))}, key=lambda word: -len(word))


def without_attached(doc: Doc, forms: Sequence[str], vocabulary: Collection[str]) -> Sequence[str]:
    """`forms` of `doc`, of which those with something attached to a word of the vocabulary are that word."""
    has_elisions = any(sign in doc.text for sign in _APOSTROPHES)
    bare = {
        k: word
        for k, form in enumerate(forms)
        if form not in vocabulary and (word := _bare(doc, k, form, has_elisions=has_elisions)) in vocabulary
    }
    return [bare.get(k, form) for k, form in enumerate(forms)] if bare else forms


def _bare(doc: Doc, k: int, form: str, *, has_elisions: bool) -> str:
    """The form without what is attached to it; empty where nothing is."""
    if form.endswith(_endings()):
        ending = next(ending for ending in _endings() if form.endswith(ending))
        return form[: -len(ending)]
    if has_elisions and (article := _elisions().match(doc.surface(k, k + 1))):
        return form[sum(sign not in _APOSTROPHES for sign in article[0]) :]
    return ""
