"""Near duplicates among many texts: MinHash of character n-grams, banded, and verified by exact Jaccard.

Broder (1997), "On the resemblance and containment of documents"; Leskovec, Rajaraman and Ullman, "Mining of
Massive Datasets", chapter 3. Time grows with the length of the texts, not with the pairs of them.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vivavoce import stats
from vivavoce.core.item_content import content_text

GRAM = 5
"""Characters of an n-gram: a changed word of a question of 120 characters leaves about four in five."""
N_HASHES, BAND = 64, 4
"""16 bands of 4: texts of similarity 0.8 share a band with a chance of 0.9998, those of 0.3 of 0.12."""
_SALT = 20_251
_LARGE = 50
"""Texts of one band beyond which a text is compared with the first of them and its neighbours alone."""
_CHUNK = 4_000_000
"""N-grams hashed at once."""

Hashes = npt.NDArray[np.uint64]


class Near(NamedTuple):
    """Two texts, by their places, and the share of their n-grams that both have."""

    first: int
    second: int
    similarity: float


def near_duplicates(texts: Sequence[str], threshold: float = 0.8) -> list[Near]:
    """Pairs of texts whose sets of character 5-grams have a Jaccard similarity of at least `threshold`.

    Case, accents of typing, spaces and punctuation do not count (`core.item_content.content_text`). Equal
    texts have similarity 1. Pairs are sorted by their places; none for fewer than two texts. Raises
    `ValueError` for a threshold outside 0 to 1.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold {threshold}: a similarity lies above 0 and is at most 1")
    grams = [_grams(content_text(text)) for text in texts]
    if len(grams) < 2:
        return []
    pairs = _candidates(_signatures(grams))
    scored = ((a, b, jaccard(grams[a], grams[b])) for a, b in pairs)
    return sorted(Near(a, b, similarity) for a, b, similarity in scored if similarity >= threshold)


def jaccard(first: Hashes, second: Hashes) -> float:
    """The share of the members of both sets that are in each; 0 where both are empty."""
    shared = np.intersect1d(first, second, assume_unique=True).size
    union = first.size + second.size - shared
    return float(shared / union) if union else 0.0


def _grams(text: str) -> Hashes:
    """The set of a text's n-grams, as sorted hashes; a shorter text is one n-gram."""
    codes = np.frombuffer(text.ljust(GRAM).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    codes = codes.astype(np.uint64)
    total = np.zeros(codes.size - GRAM + 1, dtype=np.uint64)
    for k in range(GRAM):
        total = total * np.uint64(0x9E3779B97F4A7C15) + codes[k : k + total.size] + np.uint64(1)
    return np.unique(_mixed(total))


def _mixed(values: Hashes) -> Hashes:
    """Each value with its bits mixed (splitmix64), so that the least of many is a fair draw."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _signatures(grams: Sequence[Hashes]) -> Hashes:
    """For each text the least of its n-grams under each hash function; (texts, hashes)."""
    salts = stats.random_words(stats.seeded_rng(_SALT), N_HASHES)
    signatures = np.empty((len(grams), N_HASHES), dtype=np.uint64)
    for start, end in _chunks([gram.size for gram in grams]):
        values = np.concatenate(grams[start:end])
        offsets = np.cumsum([0, *(gram.size for gram in grams[start : end - 1])])
        for k, salt in enumerate(salts):
            signatures[start:end, k] = np.minimum.reduceat(_mixed(values ^ salt), offsets)
    return signatures


def _chunks(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = total = 0
    for place, size in enumerate(sizes):
        if total and total + size > _CHUNK:
            yield start, place
            start, total = place, 0
        total += size
    yield start, len(sizes)


def _candidates(signatures: Hashes) -> set[tuple[int, int]]:
    """Pairs that agree in all hashes of at least one band."""
    pairs: set[tuple[int, int]] = set()
    for start in range(0, N_HASHES, BAND):
        band = np.zeros(len(signatures), dtype=np.uint64)
        for k in range(start, start + BAND):
            band = _mixed(band * np.uint64(31) + signatures[:, k])
        order = np.argsort(band, kind="stable")
        starts = np.flatnonzero(np.diff(band[order], prepend=band[order[:1]] + np.uint64(1)))
        for members in np.split(order, starts[1:]):
            if members.size > 1:
                pairs.update(_pairs(members.tolist()))
    return pairs


def _pairs(members: list[int]) -> Iterator[tuple[int, int]]:
    if len(members) <= _LARGE:
        yield from ((a, b) for k, a in enumerate(members) for b in members[k + 1 :])
        return
    for before, member in pairwise(members):
        yield before, member
        if before != members[0]:
            yield members[0], member
