"""The verdict that a checker's reply says: true, false, or neither."""

import re
import unicodedata

from vivavoce.core.text import spoken
from vivavoce.facts.fact import KnowledgeWord

_NOT = r"(?:\bnot|\bcannot|\bnever|n't)"
_BAD = re.compile(
    rf"\b(?:partially|partly|mostly|half|sometimes|largely|somewhat|almost|nearly)\W+(?:\w+\W+){{0,2}}?(?:true|false)\b"
    r"|\b(?:true|false)\W+(?:\w+\W+){0,3}?(?:partially|partly)\b"
    rf"|{_NOT}\s+(?:untrue|false)\b"
    # "not entirely true", "I cannot say that this is true": a negation of something else than the word alone
    rf"|{_NOT}\s+(?!true\b)[^.,;:!?\n]{{1,80}}?\b(?:true|false)\b"
    # "unclear whether this is true", "true only if …", "could be true", "is it true?": nothing is said of it
    r"|\b(?:if|whether|unless)\s+[^.,;:!?\n]{0,60}?\b(?:true|false)\b"
    r"|\b(?:true|false)\s+(?:only\s+)?(?:if|unless)\b"
    r"|\b(?:could|might|may|would|can)\s+(?:\w+\s+)?be\s+(?:true|false)\b"
    r"|\bis\s+(?:it|this|that)\s+(?:true|false)\b|\b(?:true|false)\s*\?"
    r"|\bi(?:'m|\s+am)\s+(?:not\s+(?:sure|certain)|unsure|uncertain)\b"
)
_UNTRUE = re.compile(rf"{_NOT}\s+true\b|\buntrue\b")
_WORD = re.compile(r"\b(?:true|false)\b")


def verdict(text: str) -> KnowledgeWord:
    """What a reply says of a fact: `true`, `false`, or `bad` where it says neither or both.

    "Not true" and "untrue" are false. A part of the truth ("partially true"), "not false", a negation of
    more than the word ("not entirely true"), and doubt ("true only if …", "may be true") are bad. Else
    exactly one of the two words, as a whole word in any case, decides. What the checker thought before its
    reply does not count. An empty reply is bad.

    DAHL's own rule, by substrings, is `vivavoce.systems.dahl.published_text.substring_verdict`.
    """
    plain = unicodedata.normalize("NFKC", spoken(text).text).replace("’", "'").lower()
    if _BAD.search(plain):
        return "bad"
    words = set(_WORD.findall(_UNTRUE.sub(" false ", plain)))
    return "true" if words == {"true"} else "false" if words == {"false"} else "bad"
