"""MoverScore (Zhao et al. 2019, EMNLP, arXiv:1909.02622): 1 less the least work that moves a text to another.

The states of a word piece in the last five hidden layers, each of length 1, are joined by power means: their
minimum, mean and maximum (p = -inf, 1, +inf) stand side by side, as in the paper. An n-gram is the mean of
its pieces by weight, scaled to length 1, and weighs their sum; the distance of two n-grams is Euclidean. Work
is the exact optimal transport between the n-grams of both texts, n x m, by POT's network simplex (Flamary et
al. 2021); the published code solves the same problem on (n + m) x (n + m).

As in the published code (moverscore 1.0.3) punctuation and pieces that continue a word are left out. There
the distance is squared, and CLS and SEP take part; here both are as the paper has them. Of a model with fewer
than five layers all are joined.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from vivavoce.core.extras import import_extra
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.registry import metric
from vivavoce.embeddings.encoder import Encoder, Encoding
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.encoder_metric import Weight, WeightedMetric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LAYERS = 5
"""The last so many hidden layers are joined."""
_SAME = 1e-12
"""Squared distances below it are rounding: the texts have the same n-gram."""


@metric("moverscore", version=2)
class MoverScore(WeightedMetric):
    """MoverScore against the reference: 1 for the same words, -1 at most for others.

    `n`: words or pairs of them are moved. `idf=true` weighs word pieces by their rarity in the references of
    the run, as the paper does; false weighs all alike. Of several references the best counts.

    Values depend on the encoder: compare those of one encoder only. It does not see a negation, another
    dose, or which of two sides.
    """

    n: Literal[1, 2] = 1
    idf: bool = True

    criteria = (Criterion(criterion="moverscore", low=-1.0),)

    @property
    def packages(self) -> Mapping[str, str]:
        """What runs the encoder, and POT, which finds the transport."""
        return {**super().packages, "ot": "mover"}

    def hidden_layers(self, encoder: Encoder) -> tuple[int, ...]:
        """The last five, or all."""
        return tuple(range(max(1, encoder.n_layers - LAYERS + 1), encoder.n_layers + 1))

    def compare(
        self, response: Encoding, reference: Encoding, item: Item, encoder: Encoder, context: ScoringContext
    ) -> Mapping[str, Value] | None:
        """1 less the work; `parts` hold how many n-grams each side has.

        A response of marks alone is at the far end; beside such a reference there is no value.
        """
        weight = self.weight(item, encoder, context)
        words = encoder.words(response.pieces)
        vectors, weights = n_grams(response, words, self.n, weight)
        others, other_weights = n_grams(reference, encoder.words(reference.pieces), self.n, weight)
        if not len(other_weights) or (words and not len(weights)):
            return None
        if not words:
            return {"moverscore": Value(-1.0, note="no word")}
        work = transport(weights, other_weights, distances(vectors, others))
        parts = {"work": work, "ngrams": len(weights), "reference_ngrams": len(other_weights)}
        return {"moverscore": Value(1.0 - work, parts)}


def n_grams(encoding: Encoding, words: Sequence[int], n: int, weight: Weight) -> "tuple[Floats, Floats]":
    """The vectors of a text's n-grams that weigh something, (n-grams, 3 dimensions), and their weights.

    `words` are the places of pieces that are words. Fewer than n are one n-gram.
    """
    import numpy as np

    places = np.array(words, dtype=np.intp)
    states = power_means([layer[places] for layer in encoding.states.values()])
    weights = np.array([weight(encoding.pieces.ids[k]) for k in words], dtype=np.float64)
    size = min(n, len(words))
    if not size:
        return states, weights
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(len(words)), size)
    sums = weights[windows].sum(axis=1)
    weighted = (weights[windows][:, :, None] * states[windows]).sum(axis=1)
    weighted, sums = weighted[sums > 0], sums[sums > 0]
    return weighted / np.linalg.norm(weighted, axis=1, keepdims=True), sums


def power_means(layers: "list[NDArray[np.float32]]") -> "Floats":
    """The minimum, mean and maximum of states over layers, each state of length 1 before, side by side."""
    import numpy as np

    stacked = np.stack(layers).astype(np.float64)
    stacked /= np.maximum(np.linalg.norm(stacked, axis=-1, keepdims=True), np.finfo(np.float64).tiny)
    return np.concatenate([stacked.min(axis=0), stacked.mean(axis=0), stacked.max(axis=0)], axis=-1)


def distances(a: "Floats", b: "Floats") -> "Floats":
    """Euclidean distances of vectors of length 1, 0 to 2: an array of shape (n, m)."""
    import numpy as np

    squared = 2.0 - 2.0 * (a @ b.T)
    return np.sqrt(np.where(squared < _SAME, 0.0, squared))


def transport(a: "Floats", b: "Floats", costs: "Floats") -> float:
    """The least work that moves the weights `a`, (n,), to `b`, (m,), each taken as shares, at these costs."""
    ot = import_extra("ot", extra="mover", user="moverscore")
    return float(ot.emd2(a / a.sum(), b / b.sum(), costs, numItermax=1_000_000))
