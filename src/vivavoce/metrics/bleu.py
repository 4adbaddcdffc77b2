"""BLEU (Papineni et al. 2002) of each answer, and pooled over a whole exam.

Equal to sacrebleu 2.x (`BLEU(effective_order=True)`, Post 2018) with `smooth=exp|none`, to NLTK's
`sentence_bleu` with smoothing method 1 (Chen and Cherry 2014) with `smooth=method1`. ClinIQLink 2025 is
`bleu(smooth=method1, tokens=words)`.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from vivavoce.core.extras import import_extra
from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.treebank import lower_words

_ORDERS = 4


@metric("bleu")
class Bleu(Metric):
    """BLEU-4 from 0 to 1 (sacrebleu prints it times 100): n-gram precision and a penalty for shortness.

    `bleu` is the mean of the answers' own values, `corpus_bleu` pools the n-gram counts of all answers
    first, which is the figure papers print; the two differ. `parts`: `correct_n` and `total_n` for n-grams
    of 1 to 4 words, `length_answer`, `length_reference`. `tokens=13a` splits as mteval-v13a does and minds
    case, `words` is NLTK's Treebank splitting in lower case. `smooth` says what an order without a match
    counts: `exp` halves again and again, `method1` puts 0.1, `none` gives 0. Several references are pooled,
    as BLEU defines it.

    Made for whole texts of translations: on short answers the value is mostly smoothing, a right paraphrase
    gets next to nothing, and a negation or another dose costs a few n-grams.
    """

    smooth: Literal["exp", "method1", "none"] = "exp"
    tokens: Literal["13a", "words"] = "13a"

    criteria = (
        Criterion(criterion="bleu"),
        Criterion(criterion="corpus_bleu", pool="bleu", if_unanswered="set_aside"),  # silence has no counts
    )
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    @property
    def packages(self) -> Mapping[str, str]:
        """sacrebleu, which splits words and smooths."""
        return {"sacrebleu": "text"}

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The answer's own BLEU under both names; no word in common gives 0."""
        tokens = _thirteen_a if self.tokens == "13a" else lower_words
        counted = _counted_13a if self.tokens == "13a" else _counted_treebank
        score = _smoothed if self.smooth == "method1" else _sacrebleu(self.smooth)
        scores = []
        for row in rows:
            references = [context.once(counted, r) for r in row.item.references]
            matches = _matches(context.once(tokens, row.reading.text), references)
            value = Value(min(score(matches), 1.0), matches.parts())
            scores.append({"bleu": value, "corpus_bleu": value})
        return scores


class _Matches(NamedTuple):
    """BLEU's sufficient statistics: matched and all n-grams of the answer by order, and both lengths."""

    correct: list[int]
    total: list[int]
    answer: int
    reference: int

    def parts(self) -> dict[str, float]:
        """The statistics by the names under which rows are pooled."""
        return {
            **{f"correct_{n}": count for n, count in enumerate(self.correct, 1)},
            **{f"total_{n}": count for n, count in enumerate(self.total, 1)},
            "length_answer": self.answer,
            "length_reference": self.reference,
        }


class _Counted:
    """A reference's n-grams with their counts, by order."""

    __slots__ = ("counts", "length")

    def __init__(self, words: list[str]) -> None:
        self.length = len(words)
        self.counts: list[dict[Any, int]] = [Counter(_grams(words, n)) for n in range(1, _ORDERS + 1)]


def _thirteen_a(text: str) -> list[str]:
    """Words as sacrebleu splits them, run by run.

    Only two rules of 13a look across white space, so they come first; what a run gives is kept.
    """
    split = _run_splitter()
    words: list[str] = []
    for run in text.rstrip().replace("<skipped>", "").replace("-\n", "").split():
        words += split(run)
    return words


def _sacrebleu_class() -> Any:
    """The class `BLEU` of sacrebleu, which comes with the extra `text`."""
    return import_extra("sacrebleu.metrics.bleu", extra="text", user="bleu").BLEU


@cache
def _run_splitter() -> Callable[[str], tuple[str, ...]]:
    tokenise = _sacrebleu_class()(tokenize="13a").tokenizer
    return lru_cache(maxsize=1 << 16)(lambda run: tuple(tokenise(run).split()))


def _counted_13a(text: str) -> _Counted:
    return _Counted(_thirteen_a(text))


def _counted_treebank(text: str) -> _Counted:
    return _Counted(lower_words(text))


def _grams(words: list[str], n: int) -> Any:
    if n == 1:
        return words
    return pairwise(words) if n == 2 else zip(*(words[i:] for i in range(n)), strict=False)


def _matches(answer: list[str], references: list[_Counted]) -> _Matches:
    """An n-gram counts at most as often as in the reference that has it most; the nearest length counts."""
    correct = []
    for n in range(1, _ORDERS + 1):
        limits = references[0].counts[n - 1]
        if len(references) > 1:
            limits = Counter(limits)
            for reference in references[1:]:
                limits |= Counter(reference.counts[n - 1])
        times_seen: dict[Any, int] = {}
        common = 0
        for gram in filter(limits.__contains__, _grams(answer, n)):
            times_seen[gram] = times = times_seen.get(gram, 0) + 1
            common += times <= limits[gram]
        correct.append(common)
        if not common:  # no longer n-gram can match where no shorter one does
            correct += [0] * (_ORDERS - n)
            break
    length = len(answer)
    nearest = min((r.length for r in references), key=lambda r: (abs(r - length), r))
    return _Matches(correct, [max(length - n, 0) for n in range(_ORDERS)], length, nearest)


@cache
def _sacrebleu(smooth: str) -> Any:
    compute = _sacrebleu_class().compute_bleu

    def score(matches: _Matches) -> float:
        result = compute(
            list(matches.correct),
            list(matches.total),
            matches.answer,
            matches.reference,
            smooth,
            effective_order=True,
        )
        return float(result.score) / 100

    return score


def _smoothed(matches: _Matches) -> float:
    """NLTK's `sentence_bleu` with method 1: an order without a match counts 0.1, of at least one n-gram."""
    if not matches.correct[0]:
        return 0.0
    brevity = 1.0 if matches.answer > matches.reference else math.exp(1 - matches.reference / matches.answer)
    logs = (
        math.log((count or 0.1) / max(total, 1))
        for count, total in zip(matches.correct, matches.total, strict=True)
    )
    return brevity * math.exp(math.fsum(log / _ORDERS for log in logs))
