"""chrF (Popović 2015) and chrF++ (Popović 2017) of each answer, and pooled; equal to sacrebleu 2.x's `CHRF`.

The counts that pooling needs are no part of sacrebleu's interface, so they are made here; the tests hold
them to sacrebleu's values.
"""

import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.memo import Memo

Ints = NDArray[np.int64]
_END = (1 << 31) - 1
"""Stands behind each sequence, so that no run goes from one into the next."""


def runs_in_common(references: Sequence[Ints], answers: Sequence[Ints], of: Ints, orders: int) -> Ints:
    """Shape (answers, orders): n-grams in common with the reference `of[k]`, as multisets, for n from 1 on.

    The numbers of a sequence, such as code points, lie from 0 to 2^31 - 2.

    Each distinct n-gram of a reference has a number, and is looked up as one integer: the number of its first
    n - 1 places, then what stands at its last. Only where these matched is the answer compared further.
    """
    reference_codes, reference_starts, owners = _joined(references)
    answer_codes, answer_starts, pairs = _joined(answers)
    numbers, grams = owners, of[pairs]  # a 0-gram has the number of its reference
    owner_of = np.arange(len(references))
    common = np.zeros((len(answers), orders), dtype=np.int64)
    for n in range(orders):
        last = reference_codes[reference_starts + n]
        inside = last != _END
        reference_starts = reference_starts[inside]
        keys = numbers[inside] << 32 | last[inside]
        table, numbers, limits = np.unique(keys, return_inverse=True, return_counts=True)
        if not len(table):
            break
        keys = grams << 32 | answer_codes[answer_starts + n]
        position = np.minimum(np.searchsorted(table, keys), len(table) - 1)
        hits = np.flatnonzero(table[position] == keys)
        answer_starts, pairs, grams = answer_starts[hits], pairs[hits], position[hits]
        owner_of = owner_of[table >> 32]
        common[:, n] = _matched(pairs, grams, of, owner_of, limits, len(references))
    return common


def _joined(sequences: Sequence[Ints]) -> tuple[Ints, Ints, Ints]:
    """All sequences in one array, each with its end; the places but for ends; the sequence of each."""
    end = np.array([_END])
    codes = np.concatenate([part for sequence in sequences for part in (sequence, end)])
    places = np.flatnonzero(codes != _END)
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    return codes, places, np.repeat(np.arange(len(sequences)), lengths)


def _matched(pairs: Ints, grams: Ints, of: Ints, owner_of: Ints, limits: Ints, n_references: int) -> Ints:
    """By pair the sum over its reference's n-grams of the lesser of both counts.

    A cell for each n-gram of each pair's reference: those of one reference stand side by side in `owner_of`.
    """
    first = np.searchsorted(owner_of, np.arange(n_references + 1))
    sizes = np.diff(first)[of]
    stops = np.cumsum(sizes)
    shift = stops - sizes - first[of]
    times = np.bincount(grams + shift[pairs], minlength=stops[-1])
    gram_of = np.arange(stops[-1]) - np.repeat(shift, sizes)
    sums = np.concatenate([[0], np.cumsum(np.minimum(times, limits[gram_of]))])
    matched: Ints = sums[stops] - sums[stops - sizes]
    return matched


_CHARACTERS = 6
_WORDS = 2
_RECALL_WEIGHT = 4  # beta 2, squared
_PUNCTUATION = frozenset(string.punctuation)
_MOST = 1 << 18  # characters that are compared in one go
_NAMES = tuple(f"{name}_{i}" for i in range(1, _CHARACTERS + _WORDS + 1) for name in ("hyp", "ref", "match"))


@metric("chrf", version=2)
class Chrf(Metric):
    """chrF2 from 0 to 1 (sacrebleu prints it times 100): F with recall weighted 2 over runs of characters.

    Runs of 1 to 6 characters, blanks aside; `words=2` adds single words and pairs (chrF++). `chrf` is the
    mean of the answers' own values, `corpus_chrf` pools the counts of all answers first. `parts`: `hyp_i`,
    `ref_i` and `match_i` for each order i: 1 to 6 characters, then with `words=2` 7 and 8 for one and two
    words. With several references the best counts.

    Inflections and compound words cost little, which suits clinical terms; but long answers share runs of
    letters by chance, so unrelated text gets 0.1 to 0.3, and a negation or another dose hardly shows.
    """

    words: Literal[0, 2] = 0

    criteria = (
        Criterion(criterion="chrf"),
        Criterion(criterion="corpus_chrf", pool="chrf", if_unanswered="set_aside"),  # silence has no counts
    )
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The answer's own chrF under both names; nothing in common gives 0."""
        return [score for part in _parts_of(rows) for score in self._scores(part)]

    def _scores(self, rows: Sequence[Row]) -> Iterator[dict[str, Value]]:
        pairs = _Pairs.of(rows)
        counts = [_counts(pairs, _characters, _CHARACTERS)]
        if self.words:
            numbers: dict[str, int] = {}
            counts.append(_counts(pairs, lambda text: _words(text, numbers), self.words))
        by_pair = iter(np.concatenate(counts, axis=1).tolist())
        for row in rows:
            best = max((next(by_pair) for _ in row.item.references), key=_f)
            parts = dict(zip(_NAMES, chain.from_iterable(best), strict=False))
            value = Value(min(_f(best), 1.0), parts)
            yield {"chrf": value, "corpus_chrf": value}


def _parts_of(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows in parts of `_MOST` characters, so that memory does not grow with the batch."""
    part: list[Row] = []
    size = 0
    for row in rows:
        part.append(row)
        size += sum(len(row.reading.text) + len(reference) for reference in row.item.references)
        if size > _MOST:
            yield part
            part, size = [], 0
    if part:
        yield part


class _Pairs(NamedTuple):
    """Each row's answer beside each of its references; texts stand once, and pairs name their places."""

    references: list[str]
    answers: list[str]
    reference_of: list[int]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "_Pairs":
        """Pairs in the order of rows and of their references."""
        places: dict[str, int] = {}
        of = [places.setdefault(r, len(places)) for row in rows for r in row.item.references]
        return cls(list(places), [row.reading.text for row in rows for _ in row.item.references], of)


def _counts(pairs: _Pairs, sequence: Callable[[str], Ints], orders: int) -> Ints:
    """Shape (pairs, orders, 3): runs of the answer, of the reference, in common.

    Where the reference is too short for an order none of the answer's runs counts.
    """
    references, answers = list(map(sequence, pairs.references)), list(map(sequence, pairs.answers))
    of = np.array(pairs.reference_of)
    shorter = np.arange(orders)
    in_reference = np.maximum(np.array(list(map(len, references)))[of, None] - shorter, 0)
    in_answer = np.maximum(np.array(list(map(len, answers)))[:, None] - shorter, 0)
    common = runs_in_common(references, answers, of, orders)
    return np.stack([np.where(in_reference > 0, in_answer, 0), in_reference, common], axis=2)


def _characters(text: str) -> Ints:
    """The code points of a text without its blanks."""
    return np.frombuffer("".join(text.split()).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.int64)


def _words(text: str, numbers: dict[str, int]) -> Ints:
    """The words of a text, marks apart, by number; new ones are added to `numbers`."""
    words: Iterable[str] = chain.from_iterable(map(_PARTS.__getitem__, text.split()))
    return np.array([numbers.setdefault(word, len(numbers)) for word in words], dtype=np.int64)


def _split(word: str) -> tuple[str, ...]:
    """A word with one mark split off: the last character if it is one, else the first."""
    if len(word) > 1 and word[-1] in _PUNCTUATION:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in _PUNCTUATION:
        return word[0], word[1:]
    return (word,)


_PARTS = Memo(_split)


def _f(orders: Sequence[Sequence[int]]) -> float:
    """F of the mean precision and the mean recall over the orders that both texts have."""
    precision = recall = 0.0
    shared = [order for order in orders if order[0] and order[1]]
    for n_answer, n_reference, match in shared:  # one by one, so that floats are sacrebleu's on any Python
        precision += match / n_answer
        recall += match / n_reference
    if not precision + recall:
        return 0.0
    precision, recall = precision / len(shared), recall / len(shared)
    score = (1 + _RECALL_WEIGHT) * precision * recall
    return score / (_RECALL_WEIGHT * precision + recall)
