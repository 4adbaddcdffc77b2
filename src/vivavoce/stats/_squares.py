"""Mean squares and the components read from them."""

from typing import NamedTuple

import numpy as np

from vivavoce.stats._arrays import Floats
from vivavoce.stats.estimate import NO_SPREAD

__all__ = ["Component", "component", "mean_square", "rounding"]


class Component(NamedTuple):
    """A variance component, in squared units; `value` is `raw`, but 0 where that came out negative."""

    value: float
    raw: float


def rounding(y: Floats) -> float:
    """Mean squares up to this are rounding, not spread."""
    return float((NO_SPREAD * np.abs(y).max()) ** 2)


def mean_square(squares: float, df: int, zero: float) -> float | None:
    """`squares` / `df`; 0 up to `zero`, what `rounding` leaves; null without degrees of freedom."""
    if df < 1:
        return None
    return squares / df if squares / df > zero else 0.0


def component(raw: float) -> Component:
    """The component that a difference of mean squares comes to."""
    return Component(max(raw, 0.0), raw)
