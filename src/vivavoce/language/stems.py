"""Stems of English words: Porter's with the extensions of NLTK, as in rouge-score and METEOR, and bare ones.

M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980); the steps below bear its numbers. The
extensions are a short list of irregular words, endings in -ied, -ies, -alli, -fulli and -logi, and a final y.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

_IRREGULAR = {
    **{"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"},
    **{"innings": "inning", "outings": "outing", "cannings": "canning"},
    **{w: w for w in ("sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")},
}
_STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize")),
    *(("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful")),
    *(("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
_STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", "")),
    ("ness", ""),
)
# -ement before -ment before -ent: the first that fits decides, whether or not it may come off
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism"),
    *("ate", "iti", "ous", "ive", "ize"),
)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a word in lower case. Words of one or two letters are their own stems."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word)[-2] == "c":  # step 1c
        word = word[:-1] + "i"
    return _final(_derived(_replaced(_compound(word), _STEP_3)))


def _shape(word: str) -> str:
    """A v for each vowel and a c for each consonant; y is a vowel where it follows a consonant."""
    letters, last = [], "v"
    for letter in word:
        last = "v" if letter in "aeiou" or (letter == "y" and last == "c") else "c"
        letters.append(last)
    return "".join(letters)


def _measure(word: str) -> int:
    """Porter's m: how often a consonant follows a vowel."""
    return _shape(word).count("vc")


def _short(word: str) -> bool:
    """Porter's *o: it ends consonant, vowel, consonant other than w, x and y; or it is vowel, consonant."""
    shape = _shape(word)
    return (shape[-3:] == "cvc" and word[-1] not in "wxy") or shape == "vc"


def _replaced(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    """`word` with its ending replaced if something measurable stands before it."""
    for old, new in endings:
        if word.endswith(old):
            return word[: -len(old)] + new if _measure(word[: -len(old)]) else word
    return word


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    bare = word[:-2] if word.endswith("ed") else word[:-3] if word.endswith("ing") else ""
    shape = _shape(bare)
    if "v" not in shape:
        return word
    if bare.endswith(("at", "bl", "iz")):
        return bare + "e"
    if bare[-2:-1] == bare[-1] and shape[-1] == "c":
        return bare if bare[-1] in "lsz" else bare[:-1]
    return bare + "e" if shape.count("vc") == 1 and _short(bare) else bare


def _compound(word: str) -> str:
    """Step 2. What is left of -alli goes through it once more."""
    while word.endswith("alli") and _measure(word[:-4]):
        word = word[:-2]
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) else word
    return _replaced(word, _STEP_2)


def _derived(word: str) -> str:
    """Step 4."""
    for ending in _STEP_4:
        if word.endswith(ending):
            bare = word[: -len(ending)]
            off = _measure(bare) > 1 and (ending != "ion" or bare[-1] in "st")
            return bare if off else word
    return word


def _final(word: str) -> str:
    """Step 5: a silent e, a double l."""
    if word.endswith("e"):
        bare = word[:-1]
        m = _measure(bare)
        if m > 1 or (m == 1 and not _short(bare)):
            word = bare
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_ENDING = re.compile(r"(?:ies|ied|ing|ed|es|s|ly|e|y)$")
_PREFIX = 4
"""Letters that two forms of one word share at least."""


@lru_cache(maxsize=1 << 16)
def bare_stem(word: str) -> str:
    """The word without the common endings of English."""
    bare = _ENDING.sub("", word)
    return bare if len(bare) >= 3 else word


def _alike(first: str, second: str) -> bool:
    """True if two stems are forms of one word, such as reduc and reduct, or treat and treatment."""
    short, longer = sorted((first, second), key=len)
    shared = next((k for k, (a, b) in enumerate(zip(short, longer, strict=False)) if a != b), len(short))
    return shared >= _PREFIX and shared >= len(short) - 2 and len(longer) - shared <= 6


class Vocabulary:
    """Words of a text in which others are looked up, whatever their endings."""

    def __init__(self, words: Iterable[str]) -> None:
        self._stems = {bare_stem(word) for word in words}
        self._by_beginning: dict[str, list[str]] = {}
        for known_form in sorted(self._stems):
            self._by_beginning.setdefault(known_form[:_PREFIX], []).append(known_form)

    def holds(self, word: str) -> bool:
        """True if the word, or another form of it, is in the text."""
        form = bare_stem(word)
        if form in self._stems:
            return True
        return any(_alike(form, near) for near in self._by_beginning.get(form[:_PREFIX], ()))
