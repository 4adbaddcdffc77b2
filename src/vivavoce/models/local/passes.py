"""The forward passes of a way of scoring: counted, or run on a model.

A way is written once against `Passes`, which only write down their shapes, so that the cost of two ways on a
batch can be compared beforehand. `ForwardPasses` go through the model.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from vivavoce.models.local.forward import Fit, Results, Row, TokenCounter, batches, causal
from vivavoce.models.local.packing import Pack, feed

R = TypeVar("R", bound=Fit)


class Shape(NamedTuple):
    """The shape of a pass: so many rows of so many places, padding included, after `before` others."""

    rows: int
    length: int
    before: int = 0

    @property
    def places(self) -> int:
        """Places that go through the model."""
        return self.rows * self.length

    @property
    def pairs(self) -> int:
        """Pairs of a place and a place that attention compares it with, hidden ones included."""
        return self.places * (self.before + self.length)


class Passes:
    """Passes that are only counted, in `shapes`; a past is the number of its tokens."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.shapes: list[Shape] = []

    def batches(self, rows: Sequence[R], batch: int) -> Iterator[list[R]]:
        """The rows in batches of at most `batch`, the longest first."""
        return batches(self.model, rows, batch)

    def causal(self, rows: Sequence[Row], *, past: Any = None, keep: bool = False) -> Any:
        """One pass of rows that need no mask of their own, after `past` if given; a past if `keep`."""
        self._count([len(row) for row in rows], past or 0)
        return self.shapes[-1].before + self.shapes[-1].length if keep else None

    def packed(self, rows: Sequence[Pack], *, past: Any = None, start: int = 0) -> None:
        """One pass of packs without their first `start` tokens, which `past` holds."""
        self._count([len(pack) - start for pack in rows], past or 0)

    def shortened(self, past: Any, tokens: int) -> Any:
        """The first tokens of a past."""
        return tokens

    def _count(self, lengths: Sequence[int], n_cached: int) -> None:
        self.shapes.append(Shape(len(lengths), max(lengths), n_cached))


class ForwardPasses(Passes):
    """Passes through the model; a past is its keys and values."""

    def __init__(self, model: Any, results: Results, fed: TokenCounter) -> None:
        super().__init__(model)
        self.results, self.fed = results, fed

    def causal(self, rows: Sequence[Row], *, past: Any = None, keep: bool = False) -> Any:
        """Run rows and record what they read."""
        return causal(self.model, rows, self.results, self.fed, past=past, keep=keep)

    def packed(self, rows: Sequence[Pack], *, past: Any = None, start: int = 0) -> None:
        """Run packs and record what they read."""
        feed(self.model, rows, self.results, self.fed, past=past, start=start)

    def shortened(self, past: Any, tokens: int) -> Any:
        """The keys and values of the first tokens."""
        return [tuple(tensor[..., :tokens, :] for tensor in layer) for layer in past]
