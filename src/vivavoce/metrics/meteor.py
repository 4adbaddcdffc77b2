"""METEOR (Banerjee and Lavie 2005, Lavie and Agarwal 2007), equal to `meteor_score` of NLTK 3.10.

Words are matched in three stages: the same word, the same Porter stem, a WordNet synonym. With m matches in
c runs that follow each other in both texts, P = m / words of the answer, R = m / words of the reference,

    Fmean = P R / (alpha P + (1 - alpha) R),  value = (1 - gamma (c / m)^beta) Fmean.

As in NLTK, each stage goes through the answer from its end and takes the latest free word of the reference,
and the synonym stage looks up what the stem stage left: stems, which are often no words. With `tokens=words`
they are lower-cased and split by `treebank_words`, as in ClinIQLink 2025.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import compress
from operator import itemgetter
from typing import Literal

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.language.stems import stem
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.memo import Memo
from vivavoce.metrics.tokens import TOKENS, without_words
from vivavoce.metrics.treebank import lower_words
from vivavoce.metrics.wordnet import synonyms

_LATEST = itemgetter(-1)
_WAYS: Mapping[str, Callable[[str], Sequence[str]]] = {
    "words": lower_words,
    "clinical": TOKENS["clinical"],
    "pairs": TOKENS["pairs"],
}


@metric("meteor", version=2)
class Meteor(Metric):
    """METEOR against the reference, 0 to just under 1 (identical texts: 1 - gamma / words^beta).

    `alpha` weighs recall against precision, `beta` and `gamma` shape what broken order costs. With several
    references the best counts. It forgives inflections and everyday synonyms, but no terms of several
    words: heart attack is not myocardial infarction. A negation or another dose costs one word, and nearly
    every answer on the topic gets something for common words. Stems and synonyms are English: in another
    language only equal words match. `tokens=words` is NLTK's splitting, at blanks; `clinical` and `pairs` are
    those of `token_f1`. Items whose references the setting cannot part into words are set aside.

    Synonyms come from WordNet 3.0, Copyright 2006 by Princeton University, whose licence stands beside the
    table in `vivavoce/wordnet`.
    """

    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    tokens: Literal["words", "clinical", "pairs"] = "words"

    criteria = (Criterion(criterion="meteor"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1 or not 0 <= self.gamma <= 1 or self.beta < 0:
            raise ValueError("alpha and gamma must lie from 0 to 1, and beta must not be negative")

    def not_applicable(self, item: Item) -> str | None:
        """The reason where spaces divide no words in the references, and `tokens` does not either."""
        return without_words(item.references, self.tokens, tuple(_WAYS))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The best over the references; no word in common gives 0.

        `parts` hold matches, chunks, precision and recall.
        """
        split, prepare = _WAYS[self.tokens], _PREPARED[self.tokens]
        scores = []
        for row in rows:
            words = context.once(split, row.reading.text)
            values = (self._value(words, context.once(prepare, r)) for r in row.item.references)
            scores.append({"meteor": max(values, key=lambda v: v.value or 0.0)})
        return scores

    def _value(self, words: Sequence[str], reference: "_Reference") -> Value:
        place_of = _aligned(words, reference)
        matches, chunks = len(place_of), _chunks(place_of)
        if not matches:
            return Value(0.0, {"matches": 0, "chunks": 0, "precision": 0.0, "recall": 0.0})
        precision, recall = matches / len(words), matches / len(reference.words)
        # The order of operations is NLTK's, so that the floats are the same to the last bit.
        mean = (precision * recall) / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty = self.gamma * (chunks / matches) ** self.beta
        parts = {"matches": matches, "chunks": chunks, "precision": precision, "recall": recall}
        return Value((1 - penalty) * mean, parts)


class _Reference:
    """A reference's words and stems, the places of each word, and what is known of the words of answers."""

    __slots__ = ("comparable", "near", "places", "stem_set", "stems", "words")

    def __init__(self, split: Callable[[str], Sequence[str]], text: str) -> None:
        self.words = split(text)
        self.stems = list(map(stem, self.words))
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(self.words):
            self.places.setdefault(word, []).append(place)
        self.stem_set = frozenset(self.stems)
        # Kept, as answers to one question share their words.
        self.near = Memo(self._near)
        self.comparable = Memo(self._comparable)

    def _near(self, word: str) -> frozenset[str]:
        """Those synonyms of `word` that are stems of this reference."""
        return synonyms(word) & self.stem_set

    def _comparable(self, word: str) -> bool:
        """Whether any stage may match `word`; most words of an answer none can."""
        root = stem(word)
        return word in self.places or root in self.stem_set or bool(self.near[root])


_PREPARED = {name: partial(_Reference, split) for name, split in _WAYS.items()}


def _aligned(answer: Sequence[str], reference: _Reference) -> dict[int, int]:
    """By place in the answer the place of the reference's word it is matched with.

    As in NLTK equal words are matched first, then equal stems, then synonyms, always from the end.
    """
    comparable = compress(range(len(answer)), map(reference.comparable.__getitem__, answer))
    place_of: dict[int, int] = {}
    unmatched = _match_words(answer, [*comparable][::-1], reference, place_of)
    by_stem: dict[str, list[int]] = {}
    for place in sorted(set(range(len(reference.words))).difference(place_of.values())):
        by_stem.setdefault(reference.stems[place], []).append(place)
    without_stem = []
    for i in unmatched:
        root = stem(answer[i])
        places = by_stem.get(root)
        if places:
            place_of[i] = places.pop()
        else:
            without_stem.append((i, root))
    for i, root in without_stem:
        free = [by_stem[w] for w in reference.near[root] if by_stem.get(w)]
        if free:
            place_of[i] = max(free, key=_LATEST).pop()
    return place_of


def _match_words(
    answer: Sequence[str], places: list[int], reference: _Reference, place_of: dict[int, int]
) -> list[int]:
    """Match equal words at these places of the answer, from the end; the places that stay without a match."""
    remaining: dict[str, int] = {}
    unmatched = []
    for i in places:
        word = answer[i]
        same = reference.places.get(word)
        if same and (n := remaining.get(word, len(same))):
            remaining[word] = n - 1
            place_of[i] = same[n - 1]
        else:
            unmatched.append(i)
    return unmatched


def _chunks(place_of: dict[int, int]) -> int:
    """Into how many runs the matches fall that follow each other in both texts."""
    return sum(place_of.get(i - 1) != place - 1 for i, place in place_of.items())
