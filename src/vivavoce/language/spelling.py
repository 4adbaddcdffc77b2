"""British and American spelling as one, by a rule for words: "haemorrhage" is read as "hemorrhage".

Only spellings are joined, never synonyms: "adrenaline" is another word than "epinephrine". Options that
differ in nothing else stay apart, because the spelling in the response then decides (`mentions.Options`).
"""

from functools import lru_cache

from vivavoce.core.text import lazy_pattern

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
    """The comparable form of a word in American spelling; every other token as it stands."""
    if len(form) < _SHORTEST or not form.isascii() or not form.isalpha():
        return form
    for pattern, american in _RULES:
        form = pattern.sub(american, form)
    return form
