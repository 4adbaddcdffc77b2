"""The words of a text, for comparing answers by them."""

import re
import string
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from vivavoce.core.text import POWERS, SIGNS, lazy_pattern, raised_as_powers
from vivavoce.language.scripts import ACCENTS, LETTERS_WITHOUT_SPACES, MARKS, SYLLABLES, WORD

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
_ACCENTS = lazy_pattern(rf"[{ACCENTS}\u0640\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
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


_SHORTEST = 5
"""Letters of a word that the rule may change: shorter ones, such as "four" or "does", become others."""
_RULES = (
    (lazy_pattern(r"ae|oe"), "e"),  # anaemia, oedema, diarrhoea
    (lazy_pattern(r"(tum|col|lab|behavi|od|hum|flav|fav|harb|vap|rig|vig|neighb|hon)our"), r"\1or"),
    (lazy_pattern(r"is(?=(?:e|ed|es|er|ers|ing|ations?)$)"), "iz"),  # immunisation
    (lazy_pattern(r"ys(?=(?:e|ed|es|er|ing)$)"), "yz"),  # paralysed
    (lazy_pattern(r"(fib|lit|cent|tit|met|goit|calib|theat|maneuv)re(?=s?$)"), r"\1er"),
    (lazy_pattern(r"(lab|couns|tunn|chann|mod|canc)ell(?=ed$|ing$|or$|ors$|er$|ation$)"), r"\1el"),
    (lazy_pattern(r"(anal|catal|dial|homol)ogue"), r"\1og"),
    (lazy_pattern(r"(def|off)ence"), r"\1ense"),
    (lazy_pattern(r"^leuco"), "leuko"),
    (lazy_pattern(r"^programme(?=s?$)"), "program"),
    (lazy_pattern(r"^mould"), "mold"),
    (lazy_pattern(r"sulph"), "sulf"),
)


@lru_cache(maxsize=65536)
def one_spelling(form: str) -> str:
    """The comparable form of a word in American spelling: "haemorrhage" is "hemorrhage"; others as they are.

    Only spellings are joined, never synonyms: "adrenaline" is another word than "epinephrine".
    """
    if len(form) < _SHORTEST or not form.isascii() or not form.isalpha():
        return form
    for pattern, american in _RULES:
        form = pattern.sub(american, form)
    return form
