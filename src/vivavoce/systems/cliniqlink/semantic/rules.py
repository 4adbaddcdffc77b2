"""The rule books of ClinIQLink's semantic score: what is compared, what it weighs, and what the scale is.

One engine reads the fields, and never which book they are of. The faults named are those of the published
harness (ClinIQLink 2025, evaluate.py); the published book does as its code does, not as its paper says.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

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
"""What the published harness leaves out: the English stop words of NLTK's data (see NOTICE).

It has no, not and nor among them, and the D of vitamin D.
"""

KEPT: frozenset[str] = frozenset(
    {word for word in STOP_WORDS if word.endswith("n't") or (len(word) == 1 and word not in "ai")}
    | {"no", "nor", "not", "against", "above", "below", "before", "after", "over", "under", "off"}
    | {"more", "most", "few", "both", "only", "all", "any", "up", "down"}
)
"""Those that carry a fact in a medical answer: negation, direction, order, amount, names of one letter."""


WEIGHTS = (0.4, 0.4, 0.2)
"""What the layers weigh: words, sentence, paragraph. In both books."""
OFFSET = 0.25
"""Taken off the sum of the layers: what unrelated texts have in common. In both books."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the two books differ in."""

    uses_reading: bool
    """Published: the whole response is compared. The cue that the prompt asks for, and in multi-hop the chain
    of reasoning, count against the answer: the reference in the required form has 0.72 in short and 0.52 in
    multi-hop questions."""

    finished: bool
    """Published: a final period decides between 1.0 and 0.745. Here what ends a text, its blanks and its case
    are left out of every comparison."""

    echoes: Literal["question", "shown"]
    """Published: an answer that is the question has 0. One that repeats the wrong answer it is shown has
    0.58, more than most right explanations of why it is wrong; here it has 0 as well."""

    terms: Literal["heads", "words"]
    """Published: WordPieces, of which every continuation is dropped: "selinexor" is the term "se", and so is
    "secukinumab". Here a term is a word, or a number with its decimals."""

    unseen: Literal["lowest", "highest"]
    """Published: a term that the corpus has not weighs 1, the least there is, so rare terms count least."""

    corpus: Literal["answers", "references"]
    """Published: weights come from the field `answer` of every item: of "True" and "False", of nothing in
    multiple choice, and in both inverse formats of the wrong answers. Here from the distinct references of
    open questions."""

    stop_words: Set[str]
    """Published: no, not and nor are left out of all three layers, so a negated reference has 0.74."""

    only_stop_words: Literal["nothing", "all"]
    """What is compared of a text of stop words alone, such as the blood group A. Published: nothing, so its
    token layer is 0 whatever is answered."""

    paragraph: Literal["content", "whole"]
    """Published: the third layer is an affine function of the second, since it compares the same texts
    without their stop words. Here it compares the texts as they stand."""

    pairs: int
    """Pairs of references that the baseline is the mean of. Published: 50, drawn anew in each run; ten draws
    from one corpus gave 0.083 to 0.127. Here more; both are drawn by the texts, not by chance."""

    snap: float | None
    """Published: from here on a score is 1; but 0.75 is the most that texts which differ can reach, so it
    never happens. Only texts that are equal, case aside, have 1: a cliff."""

    rescaled: bool
    """Published: max(0, raw - 0.25), from 0 to 0.75. Here max(0, (raw - 0.25) / 0.75), from 0 to 1, which
    texts approach as they approach each other."""

    step_missing: float
    """What an answer that names no step is multiplied by. Published: 1, more than for the step next to the
    right one (0.7). Here 0, as for a step that is wrong by any distance."""


PUBLISHED = Rules(
    uses_reading=False,
    finished=False,
    echoes="question",
    terms="heads",
    unseen="lowest",
    corpus="answers",
    stop_words=STOP_WORDS,
    only_stop_words="nothing",
    paragraph="content",
    pairs=50,
    snap=0.95,
    rescaled=False,
    step_missing=1.0,
)
CORRECTED = Rules(
    uses_reading=True,
    finished=True,
    echoes="shown",
    terms="words",
    unseen="highest",
    corpus="references",
    stop_words=STOP_WORDS - KEPT,
    only_stop_words="all",
    paragraph="whole",
    pairs=1000,
    snap=None,
    rescaled=True,
    step_missing=0.0,
)
