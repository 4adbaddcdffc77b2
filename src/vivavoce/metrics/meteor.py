"""METEOR (Banerjee and Lavie 2005, Lavie and Agarwal 2007), equal to `meteor_score` of NLTK 3.10.

Words are matched in three stages: the same word, the same Porter stem, a WordNet synonym. With m matches in
c runs that follow each other in both texts, P = m / words of the answer, R = m / words of the reference,

    Fmean = P R / (alpha P + (1 - alpha) R),  value = (1 - gamma (c / m)^beta) Fmean.

As in NLTK, each stage goes through the answer from its end and takes the latest free word of the reference,
and the synonym stage looks up what the stem stage left: stems, which are often no words. Words are
lower-cased and split by `treebank_words`, as in ClinIQLink 2025.
"""

from collections.abc import Mapping, Sequence

from vivavoce.metrics import Lab
from vivavoce.metrics.porter import stem
from vivavoce.metrics.treebank import lower_words
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import metric
from vivavoce.wordnet import synonyms


@metric("meteor")
class Meteor:
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

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """The best over the references; no word in common gives 0.

        `parts` hold matches, chunks, precision and recall.
        """
        made = []
        for row in rows:
            words = lab.once(lower_words, row.reading.text)
            stems = list(map(stem, words))
            marks = (self._value(words, stems, lab.once(_Reference, r)) for r in row.item.references)
            made.append({"meteor": max(marks, key=lambda v: v.value or 0.0)})
        return made

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

    KEPT = 1 << 16
    __slots__ = ("known", "near", "places", "stems", "words")

    def __init__(self, text: str) -> None:
        self.words = lower_words(text)
        self.stems = list(map(stem, self.words))
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            self.places.setdefault(word, []).append(place)
        self.known = frozenset(self.stems)
        self.near: dict[str, frozenset[str]] = {}

    def synonyms(self, word: str) -> frozenset[str]:
        """Those synonyms of `word` that are stems of this reference; kept, as answers share their words."""
        if len(self.near) >= self.KEPT:
            self.near.clear()
        found = self.near[word] = synonyms(word) & self.known
        return found


def _aligned(answer: list[str], stems: list[str], reference: _Reference) -> list[int]:
    """For each word of the answer the place of the reference's word it is matched with, or -1."""
    matched = [-1] * len(answer)
    free = set(range(len(reference.words)))
    left: dict[str, int] = {}
    rest = []
    for i in range(len(matched) - 1, -1, -1):
        word = answer[i]
        places = reference.places.get(word)
        if places and (n := left.get(word, len(places))):
            left[word] = n - 1
            matched[i] = places[n - 1]
            free.remove(places[n - 1])
        else:
            rest.append(i)

    by_stem: dict[str, list[int]] = {}
    for place in sorted(free):
        by_stem.setdefault(reference.stems[place], []).append(place)
    still = []
    for i in rest:
        root = stems[i]
        if by_stem.get(root):
            matched[i] = by_stem[root].pop()
        else:
            still.append((i, root))

    near, look_up = reference.near, reference.synonyms
    for i, root in still:
        words = near.get(root)
        if words is None:
            words = look_up(root)
        if words:
            latest = max((by_stem[w] for w in words if by_stem.get(w)), key=lambda p: p[-1], default=None)
            if latest:
                matched[i] = latest.pop()
    return matched


def _chunks(places: list[int]) -> int:
    """Into how many runs the matches fall that follow each other in both texts."""
    chunks, last = 0, -2
    for place in places:
        if place >= 0 and place != last + 1:
            chunks += 1
        last = place if place >= 0 else -2
    return chunks
