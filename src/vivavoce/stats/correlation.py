"""Three coefficients of correlation, what few points can say about one, and two measures compared at a level.

With nine systems a coefficient below .67 cannot be told from zero: the interval belongs beside it. A
coefficient is null where a side has no variance: it is then undefined, not 0.

The same two matrices of systems x items hold several correlations, and they answer different questions;
mixed together (`pooled`) they answer none (Simpson's paradox).
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Codes, Floats, average_ranks, finite, matrix, proportion, unit
from vivavoce.stats.estimate import Interval
from vivavoce.stats.sums import exact_means, rounded

Coefficient = Literal["pearson", "spearman", "kendall"]

# This near to -1 or 1 a correlation is that: the points lie on a line, up to rounding.
PERFECT = 1e-12


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Pearson's r: sum (x - mean x)(y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2).

    Parameters
    ----------
    x, y : arrays of shape (n,)
        One value per point. Perplexities on the log scale.

    Returns
    -------
    float or None
        Null if all values of a side are equal to 1e-9. One far point makes or breaks it: compare
        `leave_one_out`, and Kendall's tau.

    Raises
    ------
    ValueError
        If there is no point, a value is NaN or infinite, or lengths differ.

    Pearson (1895). Equal to scipy.stats.pearsonr, SciPy 1.17.1.
    """
    a, b = _points(x, y)
    if _constant(a) or _constant(b):
        return None
    return _clipped(float(unit(a) @ unit(b)))


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Spearman's rho: Pearson's r of the ranks, values equal to 1e-9 sharing their mean rank.

    Parameters
    ----------
    x, y : arrays of shape (n,)
        One value per point, rounded to 1e-9 first.

    Returns
    -------
    float or None
        Null if all values of a side are equal to 1e-9.

    Raises
    ------
    ValueError
        As `pearson`.

    Spearman (1904), Am. J. Psychol. 15, 72-101. Equal to scipy.stats.spearmanr, SciPy 1.17.1.
    """
    a, b = _points(x, y)
    if _constant(a) or _constant(b):
        return None
    return _clipped(float(unit(average_ranks(a)) @ unit(average_ranks(b))))


def kendall(x: ArrayLike, y: ArrayLike) -> float | None:
    """Kendall's tau-b: (pairs in the same order - pairs in opposite order) / sqrt((m - m_x)(m - m_y)).

    m = n (n - 1) / 2 pairs, m_x and m_y of them tied in x, in y. Exact counts in O(n log^2 n).

    Parameters
    ----------
    x, y : arrays of shape (n,)
        One value per point, rounded to 1e-9 first.

    Returns
    -------
    float or None
        Null if all values of a side are equal to 1e-9.

    Raises
    ------
    ValueError
        As `pearson`.

    Kendall (1945), Biometrika 33, 239-251; counting by order of x as in Knight (1966), JASA 61, 436-439.
    Equal to scipy.stats.kendalltau, SciPy 1.17.1.
    """
    a, b = _points(x, y)
    if _constant(a) or _constant(b):
        return None
    first, second = _codes(a), _codes(b)
    # Ties of x are put in the order of y, so that they hold no inversion.
    inversions = _inversions(second[np.lexsort((second, first))])
    pairs = len(a) * (len(a) - 1) // 2
    tied_x, tied_y = _tied(first), _tied(second)
    tied_both = _tied(first * (int(second.max()) + 1) + second)
    surplus = pairs - tied_x - tied_y + tied_both - 2 * inversions
    return _clipped(surplus / math.sqrt(pairs - tied_x) / math.sqrt(pairs - tied_y))


def correlation(x: ArrayLike, y: ArrayLike, *, coefficient: Coefficient = "kendall") -> float | None:
    """The coefficient named: `pearson`, `spearman` or `kendall`.

    Parameters
    ----------
    x, y : arrays of shape (n,)
        One value per point.
    coefficient : {"kendall", "spearman", "pearson"}
        Kendall's tau by default: it counts pairs of systems, and no one system can make it.

    Raises
    ------
    ValueError
        As `pearson`; if there is no such coefficient.
    """
    functions = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    if coefficient not in functions:
        raise ValueError(f"no coefficient named {coefficient!r}: there are {', '.join(functions)}")
    return functions[coefficient](x, y)


def fisher_interval(r: float, n: int, *, level: float = 0.95) -> Interval | None:
    """Interval of Pearson's r over `n` independent points: tanh(atanh r -/+ z / sqrt(n - 3)).

    Parameters
    ----------
    r : float
        Pearson's r, in [-1, 1].
    n : int
        Points: K systems, not items; versions of one family are fewer than they look.
    level : float
        0.95 by default.

    Returns
    -------
    Interval or None
        Null with 3 points or fewer, and for points on a line (r of -1 or 1, to 1e-12).

    Raises
    ------
    ValueError
        If r lies outside [-1, 1] or is NaN, n is below 1, or the level is none.

    Fisher (1921), Metron 1, 3-32. Covers 95 % with 9 systems, where a bootstrap of systems covers 90 %.
    """
    if not -1 <= r <= 1:
        raise ValueError(f"r must lie in -1 to 1, but is {r}")
    if n < 1:
        raise ValueError(f"n must be at least 1, but is {n}")
    z = float(scipy.special.ndtri(0.5 + proportion("level", level) / 2))
    if n <= 3 or 1 - abs(r) <= PERFECT:
        return None
    half = z / math.sqrt(n - 3)
    return Interval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def critical_r(n: int, *, level: float = 0.95) -> float:
    """The |r| that `n` points must exceed to be told from zero: t / sqrt(n - 2 + t^2), t with n - 2 df.

    Parameters
    ----------
    n : int
        Points, at least 3: K systems.
    level : float
        0.95 by default: two-sided error .05.

    Raises
    ------
    ValueError
        If there are fewer than 3 points, or the level is none.
    """
    if n < 3:
        raise ValueError(f"n must be at least 3, but is {n}: two points always lie on a line")
    t = float(scipy.special.stdtrit(n - 2, 0.5 + proportion("level", level) / 2))
    return t / math.sqrt(n - 2 + t**2)


def _points(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    a = finite("x", x)
    return a, finite("y", y, length=len(a))


def _constant(values: Floats) -> bool:
    rounded_values = rounded(values)
    return bool((rounded_values == rounded_values[0]).all())


def _clipped(r: float) -> float:
    """`r`, or -1 or 1 where only rounding keeps it from there."""
    return math.copysign(1.0, r) if 1 - abs(r) <= PERFECT else r


def _codes(values: Floats) -> Codes:
    return np.unique(rounded(values), return_inverse=True)[1]


def _tied(codes: Codes) -> int:
    counts = np.unique(codes, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(codes: Codes) -> int:
    """Pairs in which a larger code stands before a smaller one, counted bit by bit from the highest."""
    total = 0
    for bit in reversed(range(int(codes.max()).bit_length())):
        # Inside a block the higher bits are equal and the order is the original one.
        blocks = codes >> (bit + 1)
        order = np.argsort(blocks, kind="stable")
        blocks, ones = blocks[order], (codes[order] >> bit) & 1
        n_before = np.cumsum(ones) - ones
        starts = np.flatnonzero(np.r_[True, blocks[1:] != blocks[:-1]])
        sizes = np.diff(np.r_[starts, len(blocks)])
        n_before -= np.repeat(n_before[starts], sizes)
        total += int(n_before[ones == 0].sum())
    return total


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
    mask = np.ones(shape, dtype=bool) if present is None else np.asarray(present)
    if mask.shape != shape or mask.dtype != np.bool_:
        raise ValueError(f"present must be booleans of the shape {shape}, not {mask.dtype} of {mask.shape}")
    a = matrix("x", np.where(mask, np.asarray(x, dtype=np.float64), 0.0))
    b = matrix("y", np.where(mask, np.asarray(y, dtype=np.float64), 0.0))
    common = mask.all(axis=0)
    a, b = a[:, common], b[:, common]
    n_systems, n_items = a.shape
    n_dropped = shape[1] - n_items
    if not n_items:
        return Points(np.empty(0), np.empty(0), n_systems, 0, n_dropped)
    return Points(points(a, level), points(b, level), n_systems, n_items, n_dropped)


def points(values: Floats, level: Level) -> Floats:
    """What a level makes of one finite matrix of shape (K, n)."""
    systems = exact_means(values)
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
    word and per byte) or come from one call (criteria scored together): it is high by construction.
    """
    pairs = at_level(x, y, level=level, present=present)
    value = correlation(pairs.x, pairs.y, coefficient=coefficient) if pairs.n_items else None
    return LevelCorrelation(value, coefficient, level, len(pairs.x), *pairs[2:])
