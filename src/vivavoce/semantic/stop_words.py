"""English stop words, for texts that are compared by what remains.

The members are those of the Snowball project's English list (snowballstem.org; BSD 3-clause, © 2001 Martin
Porter, © 2002 Richard Boulton) as PostgreSQL ships it, here by word class; contractions and their halves are
formed by rule. The harness of ClinIQLink takes NLTK's list of 198 words, which grew from the same source, and
comes to the same words: no published value changes. NLTK's list of 2023 and before, 179 words, lacks the
pronouns' contractions; it would change one golden case, mh_10.
"""

__all__ = ["KEPT", "STOP_WORDS"]

_PRONOUNS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those
"""
_VERBS = "am is are was were be been being have has had having do does did doing can will should"
_PARTICLES = """
a an the and but if or because as until while of at by for with about against between into through during
before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very just
now
"""
_NEGATED = "are could did do does had has have is might must need sha should was were wo would"
_CONTRACTED = {
    "'d 'll 'm 've": "i",
    "'d 'll 're 've": "you we they",
    "'d 'll 's": "he she it",
    "'ll": "that",
    "'ve": "should",
}


def _contractions() -> set[str]:
    negated = {f"{verb}n't" for verb in _NEGATED.split()}
    return negated | {
        word + end for ends, words in _CONTRACTED.items() for word in words.split() for end in ends.split()
    }


def _halves() -> set[str]:
    """What is left of a contraction that is cut at its apostrophe; of ain't, ma'am, o'clock and y'all too."""
    negated = {f"{verb}n" for verb in _NEGATED.split()}
    return negated | {"t", "d", "ll", "m", "re", "s", "ve", "ain", "ma", "o", "y"}


STOP_WORDS: frozenset[str] = frozenset(
    {*_PRONOUNS.split(), *_VERBS.split(), *_PARTICLES.split()} | _contractions() | _halves()
)
"""What the published harness leaves out. It has no, not and nor among them, and the D of vitamin D."""

KEPT: frozenset[str] = frozenset(
    {word for word in STOP_WORDS if word.endswith("n't") or (len(word) == 1 and word not in "ai")}
    | {"no", "nor", "not", "against", "above", "below", "before", "after", "over", "under", "off"}
    | {"more", "most", "few", "both", "only", "all", "any", "up", "down"}
)
"""Those that carry a fact in a medical answer: negation, direction, order, amount, names of one letter."""
