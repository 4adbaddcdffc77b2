"""The layers of the semantic score: words aligned by weight, sentence, paragraph; and their scale.

Cosines are of encoder vectors. `Side` holds what one text gives to compare; `texts` says what must be
embedded for it, so that a batch takes one pass for each distinct text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.semantic.rules import OFFSET, WEIGHTS, Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

__all__ = ["Layers", "Side", "layers", "side", "texts"]

_NO_WORD = re.compile(r"\W|_")
_TERM = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?")
_ENDS = " \t\r\n.,;:!?*_\"'“”‘’…"


class Side(NamedTuple):
    """A text as the layers compare it: its terms, what remains without stop words, and the paragraph."""

    terms: tuple[str, ...]
    content: str
    whole: str


class Layers(NamedTuple):
    """Similarity by layer, their weighted sum, and the score on the book's scale.

    `token` and the score run from 0 to 1, `sentence` is a cosine, `paragraph` one above the baseline.
    """

    token: float
    sentence: float
    paragraph: float
    raw: float
    offset: float
    score: float
    snapped: bool


def side(text: str, rules: Rules, tokens: Callable[[str], Sequence[str]]) -> Side:
    """What a text gives to compare under these rules; `tokens` splits into WordPieces."""
    if rules.finished:
        text = " ".join(text.lower().split()).strip(_ENDS)
    words = [word for word in text.split() if not _left_out(word, rules)]
    if rules.only_stop_words == "all":
        words = words or text.split()
    content = " ".join(words)
    if rules.terms == "heads":
        terms = tuple(piece for piece in tokens(content) if piece.isalnum())
    else:
        found = tuple(term.replace("’", "'") for term in _TERM.findall(text))
        terms = tuple(term for term in found if term not in rules.stop_words)
        if rules.only_stop_words == "all":
            terms = terms or found
    return Side(terms, content, text if rules.paragraph == "whole" else content)


def _left_out(word: str, rules: Rules) -> bool:
    bare = word.strip(_ENDS) if rules.finished else word
    return bare.lower() in rules.stop_words or not _NO_WORD.sub("", word)


def texts(*sides: Side) -> set[str]:
    """What must be embedded to compare these."""
    return {text for one in sides for text in (*one.terms, one.content, one.whole)}


def layers(
    gold: Side,
    said: Side,
    vectors: Mapping[str, "Vector"],
    weight: Callable[[str], float],
    *,
    baseline: float,
    rules: Rules,
) -> Layers:
    """The layers between reference and answer, and the score.

    Without a term on one side the token layer is 0. On a scale that runs to 1 every layer is held between 0
    and 1, and two texts that are the same in every respect compared have exactly 1.
    """
    token = _aligned(gold.terms, said.terms, vectors, weight)
    sentence = _cosine(vectors[gold.content], vectors[said.content])
    paragraph = _cosine(vectors[gold.whole], vectors[said.whole])
    paragraph = max(0.0, (paragraph - baseline) / (1 - baseline))
    if rules.rescaled:
        token, sentence, paragraph = (min(max(x, 0.0), 1.0) for x in (token, sentence, paragraph))
        if gold == said and gold.whole:
            token = sentence = paragraph = 1.0  # and not 0.9999999, where only rounding tells them apart
    raw = sum(w * x for w, x in zip(WEIGHTS, (token, sentence, paragraph), strict=True))
    if rules.rescaled and gold == said and gold.whole:
        raw = 1.0
    offset = max(0.0, raw - OFFSET)
    score = offset / (1 - OFFSET) if rules.rescaled else offset
    snapped = rules.snap is not None and score >= rules.snap
    return Layers(token, sentence, paragraph, raw, offset, 1.0 if snapped else min(score, 1.0), snapped)


def _aligned(
    gold: Sequence[str],
    said: Sequence[str],
    vectors: Mapping[str, "Vector"],
    weight: Callable[[str], float],
) -> float:
    """F1 of the terms, each matched with the nearest of the other text, weighed by its rarity."""
    import numpy as np

    if not gold or not said:
        return 0.0
    one, other = (np.stack([vectors[term] for term in terms]).astype(np.float64) for terms in (gold, said))
    cosines = one @ other.T
    weights = [np.array([weight(term) for term in terms]) for terms in (gold, said)]
    recall = float(weights[0] @ cosines.max(axis=1) / weights[0].sum())
    precision = float(weights[1] @ cosines.max(axis=0) / weights[1].sum())
    both = precision + recall
    return 2 * precision * recall / both if both > 0 else 0.0


def _cosine(one: "Vector", other: "Vector") -> float:
    return float(one.astype("float64") @ other.astype("float64"))
