"""METEOR (Banerjee and Lavie 2005, Lavie and Agarwal 2007), equal to `meteor_score` of NLTK 3.10.

Words are matched in three stages: the same word, the same Porter stem, a WordNet synonym. With m matches in
c runs that follow each other in both texts, P = m / words of the answer, R = m / words of the reference,

    Fmean = P R / (alpha P + (1 - alpha) R),  value = (1 - gamma (c / m)^beta) Fmean.

As in NLTK, each stage goes through the answer from its end and takes the latest free word of the reference,
and the synonym stage looks up what the stem stage left: stems, which are often no words. Words are
lower-cased and split by `treebank_words`, as in ClinIQLink 2025.
"""

from collections.abc import Mapping, Sequence

from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.porter import stem
from vivavoce.metrics.treebank import lower_words
from vivavoce.metrics.wordnet import synonyms


@metric("meteor")
class Meteor(Metric):
    """METEOR against the reference, 0 to just under 1 (identical texts: 1 - gamma / words^beta).

    `alpha` weighs recall against precision, `beta` and `gamma` shape what broken order costs. With several
    references the best counts. It forgives inflections and everyday synonyms, but no terms of several
    words: heart attack is not myocardial infarction. A negation or another dose costs one word, and nearly
    every answer on the topic gets something for common words.

    Synonyms come from WordNet 3.0, Copyright 2006 by Princeton University, whose licence stands beside the
    table in `vivavoce/wordnet`.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5

    criteria = (Criterion(criterion="meteor"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1 or not 0 <= self.gamma <= 1 or self.beta < 0:
            raise ValueError("alpha and gamma must lie from 0 to 1, and beta must not be negative")

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The best over the references; no word in common gives 0.

        `parts` hold matches, chunks, precision and recall.
        """
        scores = []
        for row in rows:
            words = context.once(lower_words, row.reading.text)
            stems = list(map(stem, words))
            marks = (self._value(words, stems, context.once(_Reference, r)) for r in row.item.references)
            scores.append({"meteor": max(marks, key=lambda v: v.value or 0.0)})
        return scores

    def _value(self, words: list[str], stems: list[str], reference: "_Reference") -> Value:
        places = _aligned(words, stems, reference)
        matches, chunks = len(places) - places.count(-1), _chunks(places)
        if not matches:
            return Value(0.0, {"matches": 0, "chunks": 0, "precision": 0.0, "recall": 0.0})
        precision, recall = matches / len(words), matches / len(reference.words)
        # The order of operations is NLTK's, so that the floats are the same to the last bit.
        mean = (precision * recall) / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty = self.gamma * (chunks / matches) ** self.beta
        parts = {"matches": matches, "chunks": chunks, "precision": precision, "recall": recall}
        return Value((1 - penalty) * mean, parts)


class _Reference:
    """A reference's words and stems, the places of each word, and the synonyms met so far."""

    MAX_SYNONYMS = 1 << 16
    __slots__ = ("near", "places", "stem_set", "stems", "words")

    def __init__(self, text: str) -> None:
        self.words = lower_words(text)
        self.stems = list(map(stem, self.words))
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            self.places.setdefault(word, []).append(place)
        self.stem_set = frozenset(self.stems)
        self.near: dict[str, frozenset[str]] = {}

    def synonyms(self, word: str) -> frozenset[str]:
        """Those synonyms of `word` that are stems of this reference; kept, as answers share their words."""
        if len(self.near) >= self.MAX_SYNONYMS:
            self.near.clear()
        near = self.near[word] = synonyms(word) & self.stem_set
        return near


def _aligned(answer: list[str], stems: list[str], reference: _Reference) -> list[int]:
    """For each word of the answer the place of the reference's word it is matched with, or -1.

    As in NLTK equal words are matched first, then equal stems, then synonyms, always from the end.
    """
    matched = [-1] * len(answer)
    unmatched = _match_words(answer, reference, matched)
    free = set(range(len(reference.words))).difference(matched)
    by_stem: dict[str, list[int]] = {}
    for place in sorted(free):
        by_stem.setdefault(reference.stems[place], []).append(place)
    without_stem = []
    for i in unmatched:
        places = by_stem.get(stems[i])
        if places:
            matched[i] = places.pop()
        else:
            without_stem.append(i)
    for i in without_stem:
        near = reference.near.get(stems[i])
        words = reference.synonyms(stems[i]) if near is None else near
        if words:
            latest = max((by_stem[w] for w in words if by_stem.get(w)), key=lambda p: p[-1], default=None)
            if latest:
                matched[i] = latest.pop()
    return matched


def _match_words(answer: list[str], reference: _Reference, matched: list[int]) -> list[int]:
    """Match equal words, and return the places in the answer that stay without a match, from the end."""
    remaining: dict[str, int] = {}
    unmatched = []
    for i in range(len(answer) - 1, -1, -1):
        word = answer[i]
        places = reference.places.get(word)
        if places and (n := remaining.get(word, len(places))):
            remaining[word] = n - 1
            matched[i] = places[n - 1]
        else:
            unmatched.append(i)
    return unmatched


def _chunks(places: list[int]) -> int:
    """Into how many runs the matches fall that follow each other in both texts."""
    chunks, last = 0, -2
    for place in places:
        if place >= 0 and place != last + 1:
            chunks += 1
        last = place if place >= 0 else -2
    return chunks
