"""chrF (Popović 2015) and chrF++ (Popović 2017) of each answer, and pooled; equal to sacrebleu 2.x's `CHRF`.

The counts that pooling needs are no part of sacrebleu's interface, so they are made here; the tests hold
them to sacrebleu's values.
"""

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext

_CHARACTERS = 6
_WORDS = 2
_RECALL_WEIGHT = 4  # beta 2, squared
_PUNCTUATION = frozenset(string.punctuation)


@metric("chrf")
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
        counted = _with_words if self.words else _characters
        scores = []
        for row in rows:
            answer = counted(row.reading.text)  # counts of an answer are large, and wanted once
            matches = (_matches(answer, context.once(counted, r)) for r in row.item.references)
            best = max(matches, key=_f)
            parts = {
                f"{name}_{i}": count
                for i, order in enumerate(best, 1)
                for name, count in zip(("hyp", "ref", "match"), order, strict=True)
            }
            value = Value(min(_f(best), 1.0), parts)
            scores.append({"chrf": value, "corpus_chrf": value})
        return scores


Counts = tuple[Counter[str], ...]


def _characters(text: str) -> Counts:
    bare = "".join(text.split())
    return tuple(
        Counter(bare[i : i + n] for i in range(len(bare) - n + 1)) for n in range(1, _CHARACTERS + 1)
    )


def _with_words(text: str) -> Counts:
    words = [part for word in text.split() for part in _parts(word)]
    grams = (
        Counter(" ".join(words[i : i + n]) for i in range(len(words) - n + 1)) for n in range(1, _WORDS + 1)
    )
    return (*_characters(text), *grams)


def _parts(word: str) -> tuple[str, ...]:
    """A word with one mark split off: the last character if it is one, else the first."""
    if len(word) > 1 and word[-1] in _PUNCTUATION:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in _PUNCTUATION:
        return word[0], word[1:]
    return (word,)


def _matches(answer: Counts, reference: Counts) -> list[tuple[int, int, int]]:
    """By order: runs of the answer, of the reference, in common. Without any in the reference none counts."""
    return [
        (
            answer_order.total() if reference_order else 0,
            reference_order.total(),
            sum(
                min(times, answer_order[run]) for run, times in reference_order.items() if run in answer_order
            ),
        )
        for answer_order, reference_order in zip(answer, reference, strict=True)
    ]


def _f(orders: list[tuple[int, int, int]]) -> float:
    """F of the mean precision and the mean recall over the orders that both texts have."""
    precision = recall = 0.0
    shared = [order for order in orders if order[0] and order[1]]
    for (
        n_answer,
        n_reference,
        match,
    ) in shared:  # added one by one, so that the floats are sacrebleu's on any Python
        precision += match / n_answer
        recall += match / n_reference
    if not precision + recall:
        return 0.0
    precision, recall = precision / len(shared), recall / len(shared)
    score = (1 + _RECALL_WEIGHT) * precision * recall
    return score / (_RECALL_WEIGHT * precision + recall)
