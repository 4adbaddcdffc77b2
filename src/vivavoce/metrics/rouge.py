"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), bit for bit those of rouge-score 0.1.2, stemmed or not.

ROUGE-n counts n-grams in common, as multisets; ROUGE-L the longest common subsequence. The value is F1,
precision and recall stand in `parts`. With several references the one with the best F1 counts.
`n=1+L` is the mean of the F1 of ROUGE-1 and ROUGE-L, as ClinIQLink 2025 prints it (there with the stemmer).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from operator import attrgetter
from typing import Literal, NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.specs import UNSIGNED_DEFAULT
from vivavoce.language.scripts import scripts
from vivavoce.language.stems import stem
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.tokens import TOKENS, without_words

_WORD_CHARACTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_NOT_LATIN = "no reference is in Latin letters, as the words of tokens=latin are: take tokens=clinical"
_F1 = attrgetter("f1")
_BLANKED = bytes(c if c in _WORD_CHARACTERS else ord(" ") for c in range(256))


@metric("rouge", version=3, aliases={"rouge1": {"n": 1}, "rouge2": {"n": 2}, "rougeL": {"n": "L"}})
class Rouge(Metric):
    """ROUGE F1 against the reference, 0 to 1.

    `n`: 1 or 2 for n-grams, L for the longest common subsequence, 1+L for the mean of both; `stemmer=true`
    compares Porter stems of words of more than three letters.

    With `tokens=latin`, as published, words are runs of a-z and 0-9: accents and other scripts are lost, 2.5
    mg is the words 2, 5 and mg, and items whose references are in another script are set aside. `clinical`
    and `pairs` are the words of `token_f1`, for any script. It rewards the reference's wording and punishes
    length; it does not see a negation or a changed dose.
    """

    n: Literal[1, 2, "L", "1+L"]
    stemmer: bool = False
    tokens: Literal["latin", "clinical", "pairs"] = field(default="latin", metadata=UNSIGNED_DEFAULT)

    criteria = (Criterion(criterion="f1"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def __post_init__(self) -> None:
        if self.stemmer and self.tokens != "latin":
            raise ValueError("stemmer=true goes with tokens=latin: the stems are English")

    def not_applicable(self, item: Item) -> str | None:
        """The reason where every reference is in a script of which the tokeniser leaves no word."""
        if self.tokens != "latin":
            return without_words(item.references, self.tokens, tuple(TOKENS))
        return None if any(map(_is_latin, item.references)) else _NOT_LATIN

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """F1 in 0 to 1.

        With `tokens=latin` only references with a word, and with most of their letters Latin, are compared; a
        row without such a reference is set aside. An answer without a word has 0.
        """
        prepare = _stemmed if self.stemmer else _PREPARED[self.tokens]
        overlap = _OVERLAPS[self.n]
        scores = []
        for row in rows:
            text = row.reading.text
            references = filter(None, [context.once(prepare, r) for r in row.item.references])
            overlaps = [overlap(r, context.once(r.numbered, text)) for r in references]
            if overlaps:
                best = max(overlaps, key=_F1)  # the first of equals, as rouge-score's score_multi does
                scores.append({"f1": Value(best.f1, best.parts)})
            else:
                scores.append({"f1": Value(None, note=_NOT_LATIN, status="set_aside")})
        return scores


def _is_latin(text: str) -> bool:
    """Whether a text has words, and no more letters of other scripts than Latin ones; figures alone do."""
    if text.isascii() or not words(text):
        return bool(words(text))
    letters = scripts(text)
    # the single figure of a Chinese sentence would stand for all of it
    return 2 * letters["Latin"] >= letters.total()


def words(text: str) -> list[str]:
    """Runs of a-z and 0-9 in the lower-cased text."""
    # As re.findall("[a-z0-9]+", …), without a regex: what is not ASCII becomes "?", and that a blank.
    return text.lower().encode("ascii", "replace").translate(_BLANKED).decode("ascii").split()


def stems(text: str) -> list[str]:
    """The words of `text`, those of more than three letters as their stems."""
    return list(map(_stem, words(text)))


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return stem(word) if len(word) > 3 else word


class _Reference:
    """A reference's words, each with a number from 1 on, in the order in which they first stand."""

    def __init__(self, text: str, split: Callable[[str], Sequence[str]]) -> None:
        self._split = split
        self._number_of: dict[str, int] = {}
        numbers = self._number_of
        self.numbers = tuple(numbers.setdefault(word, len(numbers) + 1) for word in split(text))

    def numbered(self, answer: str) -> "Numbers":
        """The numbers of an answer's words, None for a word that the reference has not.

        All kinds of ROUGE compare by these alone, so an answer is split once and then read for any of them.
        """
        return tuple(map(self._number_of.get, _split_once(self._split, answer)))

    @cached_property
    def counts(self) -> list[int]:
        """How often each word stands, by its number."""
        counts = [0] * (len(self._number_of) + 1)
        for number in self.numbers:
            counts[number] += 1
        return counts

    @cached_property
    def pairs(self) -> dict[tuple[int | None, int | None], int]:
        """How often each two words follow each other."""
        numbers: Numbers = self.numbers
        return dict(Counter(pairwise(numbers)))

    @cached_property
    def masks(self) -> list[int]:
        """The bits of the places where each word stands, by its number."""
        masks = [0] * (len(self._number_of) + 1)
        for place, number in enumerate(self.numbers):
            masks[number] |= 1 << place
        return masks


Numbers = tuple[int | None, ...]


@lru_cache(maxsize=1)  # the references of an item ask for the words of one answer, one after the other
def _split_once(split: Callable[[str], Sequence[str]], text: str) -> Sequence[str]:
    return split(text)


def _plain(text: str) -> _Reference | None:
    return _Reference(text, words) if _is_latin(text) else None


def _stemmed(text: str) -> _Reference | None:
    return _Reference(text, stems) if _is_latin(text) else None


_PREPARED: Mapping[str, Callable[[str], _Reference | None]] = {
    "latin": _plain,
    **{name: partial(_Reference, split=TOKENS[name]) for name in ("clinical", "pairs")},
}


class _Overlap(NamedTuple):
    """F1, and what it is made of."""

    f1: float
    parts: dict[str, float]


def _words_in_common(reference: _Reference, answer: Numbers) -> _Overlap:
    """ROUGE-1: each word counts as often as the reference has it."""
    remaining = reference.counts.copy()
    common = 0
    for number in filter(None, answer):  # most words of an answer are none of the reference's
        if remaining[number]:
            remaining[number] -= 1
            common += 1
    return _overlap(common, len(reference.numbers), len(answer))


def _pairs_in_common(reference: _Reference, answer: Numbers) -> _Overlap:
    """ROUGE-2: each two words that follow each other count as often as the reference has them."""
    remaining = reference.pairs.copy()
    common = 0
    for pair in pairwise(answer):
        if pair[0] and pair[1] and remaining.get(pair):
            remaining[pair] -= 1
            common += 1
    return _overlap(common, max(len(reference.numbers) - 1, 0), max(len(answer) - 1, 0))


def _subsequence(reference: _Reference, answer: Numbers) -> _Overlap:
    """ROUGE-L: the longest common subsequence, a row of the table as one integer.

    The zero bits of `row` among the reference's places count the length (Crochemore et al. 2001; Hyyrö 2004).
    """
    masks, total = reference.masks, len(reference.numbers)
    full = row = (1 << total) - 1
    for number in filter(None, answer):
        hits = row & masks[number]
        row = (row + hits) | (row - hits)
    return _overlap(total - (row & full).bit_count(), total, len(answer))


def _overlap(common: int, n_reference: int, n_answer: int) -> _Overlap:
    # The order of operations is rouge-score's, so that the floats are the same to the last bit.
    precision = common / max(n_answer, 1)
    recall = common / max(n_reference, 1)
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return _Overlap(f1, {"precision": precision, "recall": recall})


def _both(reference: _Reference, answer: Numbers) -> _Overlap:
    """The mean of the F1 of ROUGE-1 and ROUGE-L, which stand in `parts`."""
    unigram, sequence = _words_in_common(reference, answer).f1, _subsequence(reference, answer).f1
    return _Overlap((unigram + sequence) / 2, {"rouge_1": unigram, "rouge_l": sequence})


_OVERLAPS: dict[int | str, Callable[[_Reference, Numbers], _Overlap]] = {
    1: _words_in_common,
    2: _pairs_in_common,
    "L": _subsequence,
    "1+L": _both,
}
