"""BERTScore (Zhang et al. 2020, arXiv:1904.09675), equal to bert-score 0.3.13 to 1e-6.

Each word piece of the response is matched with the nearest of the reference by the cosine of their states in
a hidden layer, and the reverse:

    P = sum over the response of w_i max_j cos(x_i, y_j) / sum of w_i, R likewise over the reference,
    F1 = 2 P R / (P + R).

The marks that open and close a text (CLS, SEP) weigh nothing but may be matched with, as there. With a
baseline b of the layer a value is (value - b) / (1 - b).
"""

import csv
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.registry import metric
from vivavoce.embeddings.encoder import Encoder, Encoding
from vivavoce.metrics import ScoringContext
from vivavoce.metrics.encoder_metric import Weight, WeightedMetric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NAMES = ("f1", "precision", "recall")


@metric("bertscore", version=2)
class BERTScore(WeightedMetric):
    """BERTScore against the reference: F1, precision and recall, 0 to 1; below 0 with a baseline.

    `layers`: the number of a hidden layer (0: the embeddings), by default the last; or a list, and each layer
    has criteria of its own, such as `f1_layer_3`. bert-score has a layer for each model it knows, such as 17
    of roberta-large: state it to have its numbers. `idf=true` weighs word pieces by their rarity in the
    references of the run. `baseline`: a file as bert-score has them, with the columns LAYER, P, R and F.

    Of several references the best counts, for each criterion by itself. Values lie close together and have
    no meaning by themselves: differences do. It does not see a negation, another dose, or which of two sides.
    """

    layers: int | tuple[int, ...] | None = None
    baseline: Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        listed = self.layers if isinstance(self.layers, tuple) else (self.layers or 0,)
        if not listed or len(set(listed)) < len(listed) or min(listed) < 0:
            raise ValueError(
                "layers is the number of a hidden layer, 0 or more, or a list of them, each once"
            )
        if self.baseline is not None and self.layers is None:
            raise ValueError("a baseline belongs to a layer: state layers too")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """F1, precision and recall, of each layer if several are listed."""
        return tuple(
            Criterion(criterion=name, low=self._rescaled(0.0, layer, number))
            for layer in self._listed
            for name, number in self._columns(layer).items()
        )

    @property
    def _listed(self) -> tuple[int | None, ...]:
        return self.layers if isinstance(self.layers, tuple) else (self.layers,)

    def _columns(self, layer: int | None) -> dict[str, str]:
        """The criteria of a layer, each with the number that it is."""
        suffix = f"_layer_{layer}" if isinstance(self.layers, tuple) else ""
        return {f"{name}{suffix}": name for name in _NAMES}

    def hidden_layers(self, encoder: Encoder) -> tuple[int, ...]:
        """The layers as stated, or the last."""
        return tuple(encoder.n_layers if layer is None else layer for layer in self._listed)

    def compare(
        self, response: Encoding, reference: Encoding, item: Item, encoder: Encoder, context: ScoringContext
    ) -> Mapping[str, Value] | None:
        """F1, precision and recall of each layer.

        Before a baseline values are held between 0 and 1: rounding goes beyond 1, and real encoders give
        nothing below 0.
        """
        weight = self.weight(item, encoder, context)
        sides = [_weights(e.pieces.ids, weight, encoder.edge_ids) for e in (response, reference)]
        if not all(side.sum() > 0 for side in sides):
            return None
        values = {}
        for layer, number in zip(self._listed, self.hidden_layers(encoder), strict=True):
            matched = greedy_match(response.states[number], reference.states[number], *sides)
            for name, part in self._columns(layer).items():
                values[name] = Value(self._rescaled(min(max(matched[part], 0.0), 1.0), layer, part))
        return values

    def _rescaled(self, value: float, layer: int | None, name: str) -> float:
        if self.baseline is None or layer is None:
            return value
        baseline = _read_baseline(self.baseline, layer)[name]
        return (value - baseline) / (1 - baseline)


def greedy_match(
    response: "NDArray[np.float32]",
    reference: "NDArray[np.float32]",
    response_weights: "NDArray[np.float64]",
    reference_weights: "NDArray[np.float64]",
) -> dict[str, float]:
    """Precision, recall and F1 of two texts' states, (pieces, dimensions) each; F1 is 0 where both are."""
    cosines = _unit(response) @ _unit(reference).T
    precision = float(cosines.max(axis=1) @ response_weights / response_weights.sum())
    recall = float(cosines.max(axis=0) @ reference_weights / reference_weights.sum())
    both = precision + recall
    f1 = 2 * precision * recall / both if both > 0 else 0.0
    return {"f1": f1, "precision": precision, "recall": recall}


def _unit(states: "NDArray[np.float32]") -> "NDArray[np.float32]":
    import numpy as np

    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    unit: NDArray[np.float32] = states / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


def _weights(ids: Sequence[int], weight: Weight, edges: frozenset[int]) -> "NDArray[np.float64]":
    import numpy as np

    return np.array([0.0 if piece in edges else weight(piece) for piece in ids])


@lru_cache(maxsize=64)
def _read_baseline(path: Path, layer: int) -> dict[str, float]:
    """The baselines of a layer. Raises `InputError` for a file that has none, or one that is 1 or more."""
    needed = "a file with the columns LAYER, P, R and F is needed, as bert-score has them"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = [line for line in csv.DictReader(file) if line.get("LAYER") == str(layer)]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"the baseline {path} cannot be read ({error}): {needed}.") from error
    if not lines:
        raise InputError(f"the baseline {path} has no line for layer {layer}: {needed}.")
    return {name: _below_1(lines[0].get(name[0].upper()), f"{path}, layer {layer}") for name in _NAMES}


def _below_1(cell: str | None, place: str) -> float:
    try:
        value = float(cell or "")
    except ValueError:
        value = math.nan
    if not -1 <= value < 1:
        raise InputError(
            f"the baseline {place}: P, R and F must be numbers from -1 to below 1, not {cell!r}."
        )
    return value
