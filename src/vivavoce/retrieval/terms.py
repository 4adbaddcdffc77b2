"""The words that passages are searched by: numbers, units and words of clinical texts, in one spelling."""

import re
from collections.abc import Iterator

from vivavoce.language.words import clinical_tokens, one_spelling

_STOP_WORDS = """
about above after again all also although am among an and any are as at be because been before being below
between both but by can cannot could did do does doing down during each either every few for from further had
has have having he her here hers him his how however if in into is it its itself just many may me might more
most much must my neither no nor not of off often on only onto or other our out over own per rather she should
since so some such than that the their them then there these they this those though through thus to too under
until up upon us usually very was we were what when where whether which while who whom whose why will with
within would yes yet you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that a fact and a passage may share without speaking of the same thing."""
CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
"""Scripts without blanks between words, as a part of a pattern's class."""

_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[a-z])")
_JOINT = re.compile(r"/|(?<=[^\W_])-(?=[^\W_])")
_SCRIPTS = re.compile(rf"[{CJK}]+|[^{CJK}]+")
_WORD = re.compile(rf"[{CJK}]+")
_NUMBER = re.compile(r"[+-]?\d+\.\d+")
_COMPARED = "<>=!±"


def terms(text: str) -> list[str]:
    """The terms of a text in order, repeated ones too; empty where it holds stop words alone.

    They are `clinical_tokens`, so 2.5 mg, 25 mg and 2,500 mg are three doses. For searching, a comparator is
    left out (`<50` meets `50`), 2.50 is 2.5, compounds and units fall into their parts, plurals lose their s,
    spellings are American (`anaemia` meets `anemia`), Chinese, Japanese and Korean words become pairs of
    characters, and a word broken at a line end is joined.
    """
    joined = _HYPHENATED.sub("", text).replace("’", "'")
    return [term for token in clinical_tokens(joined, pairs=True) for term in _terms_of(token)]


def _terms_of(token: str) -> Iterator[str]:
    if token.isascii() and token.isalpha():
        if token not in STOP_WORDS:
            yield _base(token)
        return
    bare = token.lstrip(_COMPARED)
    if _NUMBER.fullmatch(bare):
        bare = bare.rstrip("0").rstrip(".")
    for part in _JOINT.split(bare):
        word = part.removesuffix("'s")
        if not word or word in STOP_WORDS:
            continue
        for script in _SCRIPTS.findall(word):
            yield from _pairs(script) if _WORD.match(script) else (_base(script),)


def _pairs(word: str) -> Iterator[str]:
    yield from (word[k : k + 2] for k in range(max(1, len(word) - 1)))


def _base(word: str) -> str:
    return one_spelling(_singular(word))


def _singular(word: str) -> str:
    """An English noun without its plural: the S stemmer of Harman (1991), How effective is suffixing?."""
    if len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    if word.endswith("es"):
        return word if word.endswith(("aes", "ees", "oes")) else word[:-1]
    return word if word.endswith(("us", "ss", "is")) else word[:-1]
