"""The words of a text, for comparing answers by them."""

import re
import string
import unicodedata

from vivavoce.core.text import POWERS, SIGNS, raised_as_powers

_CLINICAL = re.compile(
    r"""
    (?P<number> (?:[<>]=?|!?=|±)?\s?               # <50 and < 50 are one word, and not 50
        (?<![\w.])[+-]?\d+(?:,\d{3})*(?:\.\d+)?    # 2.5 and 1,000 are one word each
        (?:\^[+-]?\d+)? )                          # 10^3
    | (?P<unit> %|‰|°[cf]?\b | [^\W\d_]+(?:/[^\W\d_]\w*)+ )  # mg/dl, μg/kg/min
    | (?P<word> [^\W_]+(?:['-][^\W_]+)*            # beta-2, crohn's
        (?: \+ | -(?=[\s.,;)]|$)(?!\s(?:and|or|to)\b) )? )  # cd4+ is not cd4-; "low- and high-dose" is low
    """,
    re.VERBOSE,
)
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]")
_ARTICLE = re.compile(r"\b(?:[Aa]n|[Tt]he|a)\b(?!-)")  # an upper-case A is the A of vitamin A


def clinical_tokens(text: str) -> tuple[str, ...]:
    """Words for comparing clinical answers, without case, accents, punctuation or articles.

    Numbers keep their decimals, sign and comparator (`<50` is not `50`, `2.5` is neither `25` nor `2` and
    `5`); thousands commas go (`1,000` is `1000`, `2,5` stays two numbers); units keep their slash
    (`mg/dl`), and `2.5mg` is the two words of `2.5 mg`. A closing sign stays (`CD4+` is not `CD4-`), raised
    digits are powers (`10³` is `10^3`, `mm²` is `mm2`). Empty for a text without letters and digits.
    """
    return clinical_words(clinical_form(text))


def clinical_form(text: str) -> str:
    """`text` as `clinical_tokens` compares it: its letters, numbers and signs in one spelling."""
    text = raised_as_powers(_ARTICLE.sub(" ", text).translate(SIGNS)).translate(POWERS)
    text = re.sub(r"(?<![\w.])\.(?=\d)", "0.", text.casefold())  # .5 mg is 0.5 mg, not 5 mg
    if not text.isascii():
        # Only the general marks go: in other scripts vowels are written as marks.
        text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))
    # 2.5mg; b12 and hba1c stay whole
    return re.sub(r"(?<![\w.])(?<!\d,)(\d+(?:[.,]\d+)*)(?=[^\W\d_])", r"\1 ", text)


def clinical_words(form: str, start: int = 0, end: int | None = None) -> tuple[str, ...]:
    """The clinical tokens between two places of a `clinical_form`."""
    stop = len(form) if end is None else end
    return tuple(_bare(match) for match in _CLINICAL.finditer(form, start, stop))


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
