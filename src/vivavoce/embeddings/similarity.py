"""Similarity of texts by their vectors, which have length 1."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


def cosine(a: "Vector", b: "Vector") -> float:
    """The cosine of two vectors of length 1, summed in float64."""
    return float(a.astype("float64") @ b.astype("float64"))


def aligned_f1(
    reference: Sequence[str],
    response: Sequence[str],
    vectors: Mapping[str, "Vector"],
    weight: Callable[[str], float],
) -> float:
    """F1 of terms, each matched with the nearest term of the other text and weighted; 0 if a side is empty.

    Recall is the weighted mean over the reference's terms, precision that over the response's: greedy
    matching as in BERTScore (Zhang et al. 2020, arXiv:1904.09675).
    """
    import numpy as np  # on use: metrics that need this module are registered without numpy

    if not reference or not response:
        return 0.0
    a, b = (np.stack([vectors[term] for term in terms]).astype(np.float64) for terms in (reference, response))
    cosines = a @ b.T
    a_weights, b_weights = (np.array([weight(term) for term in terms]) for terms in (reference, response))
    recall = float(a_weights @ cosines.max(axis=1) / a_weights.sum())
    precision = float(b_weights @ cosines.max(axis=0) / b_weights.sum())
    both = precision + recall
    return 2 * precision * recall / both if both > 0 else 0.0
