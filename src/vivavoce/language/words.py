"""The words of a text, for comparing answers by them."""

import re
import string
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from vivavoce.core.text import POWERS, SIGNS, lazy_pattern, raised_as_powers
from vivavoce.language.scripts import LETTERS_WITHOUT_SPACES, MARKS, SYLLABLES, WORD

_CLINICAL = re.compile(
    rf"""
    (?P<number> (?:[<>]=?|!?=|±)?\s?               # <50 and < 50 are one word, and not 50
        (?<![\w.])[+-]?\d+(?:,\d{{3}})*(?:\.\d+)?  # 2.5 and 1,000 are one word each
        (?:\^[+-]?\d+)? )                          # 10^3
    | (?P<unit> %|‰|°[cf]?\b                       # mg/dl, μg/kg/min
        | [^\W\d_]++(?:[{MARKS}]++[^\W\d_]*+)*+(?:/[^\W\d_][\w{MARKS}]*+)+ )
    | (?P<word> {WORD}(?:['-]{WORD})*              # beta-2, crohn's
        (?: \+ | -(?=[\s.,;)]|$)(?!\s(?:and|or|to)\b) )? )  # cd4+ is not cd4-; "low- and high-dose" is low
    """,
    re.VERBOSE,
)
_ACCENTS = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]"
)
"""Marks that are no part of a word's spelling: accents, and points that Hebrew and Arabic seldom write."""
_ALONE = lazy_pattern(rf"[{SYLLABLES}{LETTERS_WITHOUT_SPACES}]")
_EDGE = lazy_pattern(
    rf"(?<=[{SYLLABLES}{LETTERS_WITHOUT_SPACES}])(?=[^\W_{SYLLABLES}{LETTERS_WITHOUT_SPACES}])"
    rf"|(?<=[^\W_{SYLLABLES}{LETTERS_WITHOUT_SPACES}])(?=[{SYLLABLES}{LETTERS_WITHOUT_SPACES}])"
)
_CHARACTER = lazy_pattern(
    rf"[{SYLLABLES}{LETTERS_WITHOUT_SPACES}](?<![{MARKS}])[{MARKS}]*+|[^{SYLLABLES}{LETTERS_WITHOUT_SPACES}]+"
)
_ARTICLE = re.compile(r"\b(?:[Aa]n|[Tt]he|a)\b(?!-)")  # an upper-case A is the A of vitamin A


def clinical_tokens(text: str, *, pairs: bool = False) -> tuple[str, ...]:
    """Words for comparing clinical answers, without case, accents, punctuation or articles.

    Numbers keep their decimals, sign and comparator (`<50` is not `50`, `2.5` is neither `25` nor `2` and
    `5`); thousands commas go (`1,000` is `1000`, `2,5` stays two numbers); units keep their slash
    (`mg/dl`), and `2.5mg` is the two words of `2.5 mg`. A closing sign stays (`CD4+` is not `CD4-`), raised
    digits are powers (`10³` is `10^3`, `mm²` is `mm2`). Empty for a text without letters and digits.

    Letters keep the marks that are vowels or tones. A run in a script without spaces between words (Han,
    kana, Thai, Lao, Khmer, Burmese) is its characters, each with its marks; with `pairs` each two that follow
    each other, and the character where it is alone.
    """
    return clinical_words(clinical_form(text), pairs=pairs)


def clinical_form(text: str) -> str:
    """`text` as `clinical_tokens` compares it: its letters, numbers and signs in one spelling."""
    text = raised_as_powers(_ARTICLE.sub(" ", text).translate(SIGNS)).translate(POWERS)
    text = re.sub(r"(?<![\w.])\.(?=\d)", "0.", text.casefold())  # .5 mg is 0.5 mg, not 5 mg
    if not text.isascii():
        # Only the general marks go: in other scripts vowels are written as marks.
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
        if _ALONE.search(text):
            text = _EDGE.sub(" ", text)
    # 2.5mg; b12 and hba1c stay whole
    return re.sub(r"(?<![\w.])(?<!\d,)(\d+(?:[.,]\d+)*)(?=[^\W\d_])", r"\1 ", text)


def clinical_words(
    form: str, start: int = 0, end: int | None = None, *, pairs: bool = False
) -> tuple[str, ...]:
    """The clinical tokens between two places of a `clinical_form`."""
    stop = len(form) if end is None else end
    words = tuple(_bare(match) for match in _CLINICAL.finditer(form, start, stop))
    if form.isascii() or not _ALONE.search(form, start, stop):
        return words
    return tuple(part for word in words for part in _divided(word, pairs=pairs))


def _divided(word: str, *, pairs: bool) -> Iterator[str]:
    """The characters of a word, or pairs of them, where its script has no spaces; else the word."""
    if not _ALONE.search(word):
        yield word
        return
    run: list[str] = []
    for part in (*_CHARACTER.findall(word), ""):
        if part and _ALONE.match(part):
            run.append(part)
            continue
        joined = pairs and len(run) > 1
        yield from map("".join, pairwise(run)) if joined else run
        run = []
        if bare := part.strip("'-"):
            yield bare


def _bare(match: re.Match[str]) -> str:
    if match.lastgroup != "number":
        return match[0]
    return re.sub(r"[\s,]", "", match[0])


def squad_tokens(text: str) -> tuple[str, ...]:
    """Words by SQuAD's recipe: lower case, ASCII punctuation deleted, then a, an and the, split at blanks.

    Deleting punctuation makes 2.5 the word 25; it is here for comparison with published figures.
    """
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return tuple(re.sub(r"\b(a|an|the)\b", " ", bare).split())
