"""ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), bit for bit those of rouge-score 0.1.2, stemmed or not.

ROUGE-n counts n-grams in common, as multisets; ROUGE-L the longest common subsequence. The value is F1,
precision and recall stand in `parts`. With several references the one with the best F1 counts.
`n=1+L` is the mean of the F1 of ROUGE-1 and ROUGE-L, as ClinIQLink 2025 prints it (there with the stemmer).
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.metrics.porter import stem

_WORD_CHARACTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
_NOT_LATIN = "no reference is in Latin letters, and ROUGE's words are runs of a-z and 0-9"
_BLANKED = bytes(c if c in _WORD_CHARACTERS else ord(" ") for c in range(256))


@metric("rouge", version=2, aliases={"rouge1": {"n": 1}, "rouge2": {"n": 2}, "rougeL": {"n": "L"}})
class Rouge(Metric):
    """ROUGE F1 against the reference, 0 to 1.

    `n`: 1 or 2 for n-grams, L for the longest common subsequence, 1+L for the mean of both; `stemmer=true`
    compares Porter stems of words of more than three letters.

    Words are runs of a-z and 0-9: accents and other scripts are lost, 2.5 mg is the words 2, 5 and mg. Items
    whose references are in another script are set aside. It rewards the reference's wording and punishes
    length; it does not see a negation or a changed dose.
    """

    n: Literal[1, 2, "L", "1+L"]
    stemmer: bool = False

    criteria = (Criterion(criterion="f1"),)
    formats = ("short", "short_inverse", "multi_hop", "multi_hop_inverse", "longform")
    needs = ("references",)

    def not_applicable(self, item: Item) -> str | None:
        """The reason where every reference is in another script: the published tokeniser leaves no word."""
        return None if any(map(_is_latin, item.references)) else _NOT_LATIN

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """F1 in 0 to 1.

        Only references with a word, and with most of their letters Latin, are compared; a row without such a
        reference is set aside. An answer without a word has 0.
        """
        split = stems if self.stemmer else words
        prepare, overlap = _WAYS[self.n, self.stemmer]
        scores = []
        for row in rows:
            answer = context.once(split, row.reading.text)
            references = [context.once(prepare, r) for r in row.item.references if context.once(_is_latin, r)]
            if not references:
                scores.append({"f1": Value(None, note=_NOT_LATIN, status="set_aside")})
                continue
            # max keeps the first of equals, as rouge-score's score_multi does
            best = max((overlap(r, answer) for r in references), key=lambda candidate: candidate.f1)
            scores.append({"f1": Value(best.f1, best.parts)})
        return scores


def _is_latin(text: str) -> bool:
    """Whether a text has words, and no more letters of other scripts than Latin ones; figures alone do."""
    if text.isascii() or not words(text):
        return bool(words(text))
    letters = [c for c in text if c.isalpha()]
    # the single figure of a Chinese sentence would stand for all of it
    return 2 * sum(unicodedata.name(c, "").startswith("LATIN") for c in letters) >= len(letters)


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


class _Counted:
    """A reference's n-grams with their counts."""

    __slots__ = ("counts", "n", "total")

    def __init__(self, tokens: list[str], n: int) -> None:
        self.n = n
        self.counts: dict[Any, int] = dict(Counter(tokens if n == 1 else pairwise(tokens)))
        self.total = max(len(tokens) - n + 1, 0)


class _Masked:
    """A reference's words, each with the bits of the places where it stands."""

    __slots__ = ("masks", "total")

    def __init__(self, tokens: list[str]) -> None:
        self.masks: dict[str, int] = {}
        for place, token in enumerate(tokens):
            self.masks[token] = self.masks.get(token, 0) | 1 << place
        self.total = len(tokens)


class _Overlap(NamedTuple):
    """F1, and what it is made of."""

    f1: float
    parts: dict[str, float]


def _by_counts(reference: _Counted, answer: list[str]) -> _Overlap:
    """Overlap of n-grams: only the reference's are counted in the answer, each up to its own count."""
    remaining = reference.counts.copy()
    grams = answer if reference.n == 1 else pairwise(answer)
    common = 0
    for gram in filter(remaining.__contains__, grams):  # most words of an answer are none of the reference's
        if remaining[gram]:
            remaining[gram] -= 1
            common += 1
    return _overlap(common, reference.total, max(len(answer) - reference.n + 1, 0))


def _by_subsequence(reference: _Masked, answer: list[str]) -> _Overlap:
    """Longest common subsequence, a row of the table as one integer (Crochemore et al. 2001; Hyyrö 2004).

    The zero bits of `row` among the reference's places count the length.
    """
    full = row = (1 << reference.total) - 1
    for mask in filter(None, map(reference.masks.get, answer)):
        hits = row & mask
        row = (row + hits) | (row - hits)
    return _overlap(reference.total - (row & full).bit_count(), reference.total, len(answer))


def _overlap(common: int, n_reference: int, n_answer: int) -> _Overlap:
    # The order of operations is rouge-score's, so that the floats are the same to the last bit.
    precision = common / max(n_answer, 1)
    recall = common / max(n_reference, 1)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
    return _Overlap(f1, {"precision": precision, "recall": recall})


def _by_both(reference: tuple[_Counted, _Masked], answer: list[str]) -> _Overlap:
    """The mean of the F1 of ROUGE-1 and ROUGE-L, which stand in `parts`."""
    unigram, sequence = _by_counts(reference[0], answer).f1, _by_subsequence(reference[1], answer).f1
    return _Overlap((unigram + sequence) / 2, {"rouge_1": unigram, "rouge_l": sequence})


class _Way(NamedTuple):
    """How a reference is prepared, and how an answer is compared with it."""

    prepare: Callable[[str], Any]
    overlap: Callable[[Any, list[str]], _Overlap]


def _ways(split: Callable[[str], list[str]]) -> dict[int | str, _Way]:
    return {
        1: _Way(lambda text: _Counted(split(text), 1), _by_counts),
        2: _Way(lambda text: _Counted(split(text), 2), _by_counts),
        "L": _Way(lambda text: _Masked(split(text)), _by_subsequence),
        "1+L": _Way(lambda text: (_Counted(split(text), 1), _Masked(split(text))), _by_both),
    }


_WAYS = {
    (n, stemmer): way for stemmer in (False, True) for n, way in _ways(stems if stemmer else words).items()
}
