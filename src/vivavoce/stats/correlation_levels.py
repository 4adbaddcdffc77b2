"""Two measures of the same answers, compared at a stated level.

The same two matrices of systems x items hold several correlations, and they answer different questions;
mixed together (`pooled`) they answer none (Simpson's paradox).
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats
from vivavoce.stats._ranks import matrix
from vivavoce.stats.correlation import Coefficient, correlation

__all__ = ["Level", "LevelCorrelation", "Points", "at_level", "correlation_at"]

Level = Literal["system", "item", "item_centred", "double_centred", "pooled"]
LEVELS: tuple[Level, ...] = ("system", "item", "item_centred", "double_centred", "pooled")


class Points(NamedTuple):
    """The points two measures are compared on.

    Attributes
    ----------
    x, y : arrays of shape (n,)
    n_systems, n_items : int
        Rows and columns they come from.
    n_dropped : int
        Items left out because a system has no value there.
    """

    x: Floats
    y: Floats
    n_systems: int
    n_items: int
    n_dropped: int


class LevelCorrelation(NamedTuple):
    """A coefficient with the level it belongs to.

    Attributes
    ----------
    value : float or None
        Null where a side has no variance, or no item is common to all systems.
    coefficient, level : str
    n : int
        Points: K systems, n items, or K n cells. Only at level "system" does `fisher_interval` take it:
        cells and items share systems and groups.
    n_systems, n_items, n_dropped : int
        As in `Points`.
    """

    value: float | None
    coefficient: Coefficient
    level: Level
    n: int
    n_systems: int
    n_items: int
    n_dropped: int


def at_level(x: ArrayLike, y: ArrayLike, *, level: Level, present: ArrayLike | None = None) -> Points:
    """The points that a level compares, from the items that every system has.

    Parameters
    ----------
    x, y : arrays of shape (K, n)
        Two measures of the same answers: systems in rows, items in columns, repeats averaged before.
    level : {"system", "item", "item_centred", "double_centred", "pooled"}
        "system": K means, what a leaderboard needs. "item": n means, the difficulty of items.
        "item_centred": cells less their item's mean, which answer to an item is better.
        "double_centred": less the system's mean too, what neither explains. "pooled": the cells as they
        are, a mixture of all of these: to show, never to headline.
    present : array of shape (K, n), optional
        False where a cell is missing in x or y; what stands there is not read. An item that one system
        lacks is left out for all: means over different items compare the items.

    Returns
    -------
    Points
        Empty if no item is common.

    Raises
    ------
    ValueError
        If a matrix is empty, shapes differ, a cell that is present is NaN or infinite, or there is no
        such level.
    """
    if level not in LEVELS:
        raise ValueError(f"no level named {level!r}: there are {', '.join(LEVELS)}")
    shape = np.shape(x)
    if np.shape(y) != shape:
        raise ValueError(f"y has the shape {np.shape(y)}, {shape} is needed: that of x")
    kept = np.ones(shape, dtype=bool) if present is None else np.asarray(present)
    if kept.shape != shape or kept.dtype != np.bool_:
        raise ValueError(f"present must be booleans of the shape {shape}, not {kept.dtype} of {kept.shape}")
    a = matrix("x", np.where(kept, np.asarray(x, dtype=np.float64), 0.0))
    b = matrix("y", np.where(kept, np.asarray(y, dtype=np.float64), 0.0))
    common = kept.all(axis=0)
    a, b = a[:, common], b[:, common]
    n_systems, n_items = a.shape
    n_dropped = shape[1] - n_items
    if not n_items:
        return Points(np.empty(0), np.empty(0), n_systems, 0, n_dropped)
    return Points(points(a, level), points(b, level), n_systems, n_items, n_dropped)


def points(values: Floats, level: Level) -> Floats:
    """What a level makes of one finite matrix of shape (K, n)."""
    systems: Floats = values.mean(axis=1)
    items: Floats = values.mean(axis=0)
    if level == "system":
        return systems
    if level == "item":
        return items
    if level == "item_centred":
        values = values - items
    elif level == "double_centred":
        values = values - items - systems[:, None] + values.mean()
    return values.ravel()


def correlation_at(
    x: ArrayLike,
    y: ArrayLike,
    *,
    level: Level,
    coefficient: Coefficient = "kendall",
    present: ArrayLike | None = None,
) -> LevelCorrelation:
    """Correlation of two measures at a stated level, over the items that every system has.

    Parameters
    ----------
    x, y, level, present
        As in `at_level`.
    coefficient : {"kendall", "spearman", "pearson"}
        As in `correlation`.

    Raises
    ------
    ValueError
        As `at_level` and `correlation`.

    Distrust a coefficient whose sides are one number in two forms (F and its precision; perplexity per
    word and per byte) or come from one call (criteria marked together): it is high by construction.
    """
    found = at_level(x, y, level=level, present=present)
    value = correlation(found.x, found.y, coefficient=coefficient) if found.n_items else None
    return LevelCorrelation(value, coefficient, level, len(found.x), *found[2:])
