"""BLEU (Papineni et al. 2002) of each answer, and pooled over a whole exam.

Equal to sacrebleu 2.x (`BLEU(effective_order=True)`, Post 2018) with `smooth=exp|none`, to NLTK's
`sentence_bleu` with smoothing method 1 (Chen and Cherry 2014) with `smooth=method1`. ClinIQLink 2025 is
`bleu(smooth=method1, tokens=words)`.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain
from typing import Literal, NamedTuple

from vivavoce.core.extras import import_extra
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.memo import Memo
from vivavoce.metrics.tokens import without_words
from vivavoce.metrics.treebank import lower_words

_ORDERS = 4
_NAMES = (
    *(f"{name}_{n}" for name in ("correct", "total") for n in range(1, _ORDERS + 1)),
    *("length_answer", "length_reference"),
)
_LOG_OF_ZERO = -9999999999.0  # sacrebleu's


@metric("bleu", version=2)
class Bleu(Metric):
    """BLEU-4 from 0 to 1 (sacrebleu prints it times 100): n-gram precision and a penalty for shortness.

    `bleu` is the mean of the answers' own values, `corpus_bleu` pools the n-gram counts of all answers
    first, which is the figure papers print; the two differ. `parts`: `correct_n` and `total_n` for n-grams
    of 1 to 4 words, `length_answer`, `length_reference`. `tokens=13a` splits as mteval-v13a does and minds
    case, `words` is NLTK's Treebank splitting in lower case; `zh`, `char` and `ja-mecab` are sacrebleu's, for
    Chinese, for single characters of any script, and for Japanese, which needs "sacrebleu[ja]". Items whose
    references the setting cannot part into words are set aside. `smooth` says what an order without a match
    counts: `exp` halves again and again, `method1` puts 0.1, `none` gives 0. Several references are pooled,
    as BLEU defines it.

    Made for whole texts of translations: on short answers the value is mostly smoothing, a right paraphrase
    gets next to nothing, and a negation or another dose costs a few n-grams.
    """

    smooth: Literal["exp", "method1", "none"] = "exp"
    tokens: Literal["13a", "words", "zh", "char", "ja-mecab"] = "13a"

    criteria = (
        Criterion(criterion="bleu"),
        Criterion(criterion="corpus_bleu", pool="bleu", if_unanswered="set_aside"),  # silence has no counts
    )
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def __post_init__(self) -> None:
        if self.tokens == "ja-mecab" and not all(map(find_spec, ("MeCab", "ipadic"))):
            raise ValueError('tokens=ja-mecab needs mecab-python3 and ipadic: pip install "sacrebleu[ja]"')

    @property
    def packages(self) -> Mapping[str, str]:
        """sacrebleu, which splits words."""
        return {"sacrebleu": "text"}

    def not_applicable(self, item: Item) -> str | None:
        """The reason where spaces divide no words in the references, and `tokens` does not either."""
        return without_words(item.references, self.tokens, tuple(_WAYS))

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """The answer's own BLEU under both names; no word in common gives 0."""
        split, prepare = _WAYS[self.tokens], _PREPARED[self.tokens]
        score = _SCORES[self.smooth]
        scores = []
        for row in rows:
            references = context.once(prepare, row.item.references)
            matches = references.matches(context.once(split, row.reading.text))
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
        return dict(zip(_NAMES, (*self.correct, *self.total, self.answer, self.reference), strict=True))


class _References:
    """The n-grams of an item's references, each with a number from 1 on.

    An n-gram is numbered by the number of its first n - 1 words and that of its last word, so that those of
    an answer are read word by word, and no further than they match.
    """

    def __init__(self, references: Sequence[list[str]]) -> None:
        self._words: dict[str, int] = {}
        self._longer: list[dict[tuple[int, int], int]] = [{} for _ in range(_ORDERS - 1)]
        counts = list(map(self._count, references))
        self._lengths = list(map(len, references))
        sizes = [len(self._words) + 1, *(len(numbers) + 1 for numbers in self._longer)]
        # By order and number: how often the reference has it that has it most.
        self._limits = [
            [max(count[order][number] for count in counts) for number in range(size)]
            for order, size in enumerate(sizes)
        ]

    def _count(self, words: list[str]) -> list[Counter[int]]:
        """Number the n-grams of one reference, and count them by order."""
        counts: list[Counter[int]] = [Counter() for _ in range(_ORDERS)]
        preceding: list[int] = []
        for word in words:
            last = self._words.setdefault(word, len(self._words) + 1)
            ending = [last]
            for numbers, start in zip(self._longer, preceding, strict=False):
                ending.append(numbers.setdefault((start, last), len(numbers) + 1))
            for count, number in zip(counts, ending, strict=False):
                count[number] += 1
            preceding = ending
        return counts

    def matches(self, answer: list[str]) -> "_Matches":
        """N-grams count as often as the reference has them that has them most; the nearest length counts."""
        remaining = [limits.copy() for limits in self._limits]
        correct = [0] * _ORDERS
        preceding: list[int] = []  # the n-grams of references that end at the word before, by order
        for last in map(self._words.get, answer):
            if not last:  # most words of an answer are none of the references'
                preceding = []
                continue
            ending = [last]
            for order, start in enumerate(preceding[: _ORDERS - 1]):
                number = self._longer[order].get((start, last))
                if not number:
                    break  # no longer n-gram can match where no shorter one does
                ending.append(number)
            for order, number in enumerate(ending):
                if remaining[order][number]:
                    remaining[order][number] -= 1
                    correct[order] += 1
            preceding = ending
        length = len(answer)
        nearest = min(self._lengths, key=lambda r: (abs(r - length), r))
        return _Matches(correct, [max(length - n, 0) for n in range(_ORDERS)], length, nearest)


def _prepared(split: Callable[[str], list[str]], references: tuple[str, ...]) -> _References:
    return _References(list(map(split, references)))


def _thirteen_a(text: str) -> list[str]:
    """Words as sacrebleu splits them, run by run.

    Only two rules of 13a look across white space, so they come first; what a run gives is kept.
    """
    runs = text.rstrip().replace("<skipped>", "").replace("-\n", "").split()
    return list(chain.from_iterable(map(_RUNS.__getitem__, runs)))


def _run_words(run: str) -> tuple[str, ...]:
    """The words of a run without white space inside.

    Only full stops, commas, hyphens and entities need sacrebleu's own rules; one stop or comma at the end
    always comes off, and any other mark stands alone.
    """
    body, end = (run[:-1], (run[-1],)) if run[-1] in ".," else (run, ())
    if body.isalnum():
        return (body, *end)
    if body and _TRICKY.search(body) is None:
        return (*_MARK.sub(_spaced, body).split(), *end)
    # what is left of "<skip<skipped>ped>" is not skipped once more
    return tuple(_tokenizer("13a")(run.replace("<skipped>", "< skipped >")).split())


def _spaced(mark: re.Match[str]) -> str:
    return f" {mark[0]} "


_RUNS = Memo(_run_words)
_TRICKY = re.compile("[.,&]|[0-9]-")
_MARK = re.compile(r"[{-~[-`!-&(-+:-@/]")


@cache
def _tokenizer(name: str) -> Callable[[str], str]:
    """A tokeniser of sacrebleu, which comes with the extra `text`."""
    library = import_extra("sacrebleu.metrics.bleu", extra="text", user="bleu")
    tokenise: Callable[[str], str] = library.BLEU(tokenize=name).tokenizer
    return tokenise


def _as_sacrebleu_splits(name: str, text: str) -> list[str]:
    return _tokenizer(name)(text.rstrip()).split()


_WAYS: Mapping[str, Callable[[str], list[str]]] = {
    "13a": _thirteen_a,
    "words": lower_words,
    **{name: partial(_as_sacrebleu_splits, name) for name in ("zh", "char", "ja-mecab")},
}
_PREPARED = {name: partial(_prepared, split) for name, split in _WAYS.items()}


def _exponential(matches: _Matches) -> float:
    """Smooth as sacrebleu does: the k-th order without a match counts 1 / 2^k matches."""
    return _as_sacrebleu(matches, [0.5, 0.25, 0.125])


def _unsmoothed(matches: _Matches) -> float:
    """Do not smooth, as in sacrebleu: next to nothing where an order is without a match."""
    return _as_sacrebleu(matches, [0.0] * (_ORDERS - 1))


def _as_sacrebleu(matches: _Matches, substitutes: Sequence[float]) -> float:
    """The value of sacrebleu's `compute_bleu` with effective order: its operations, for equal floats.

    `substitutes` stand for the counts of orders without a match, one after the other.
    """
    if not matches.correct[0]:
        return 0.0
    instead = iter(substitutes)
    precisions = [
        100.0 * (count or next(instead)) / total
        for count, total in zip(matches.correct, matches.total, strict=True)
        if total
    ]
    logs = [math.log(p) if p else _LOG_OF_ZERO for p in precisions]
    short = matches.answer < matches.reference
    brevity = math.exp(1 - matches.reference / matches.answer) if short else 1.0
    return brevity * math.exp(sum(logs) / len(logs)) / 100


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


_SCORES = {"exp": _exponential, "none": _unsmoothed, "method1": _smoothed}
