"""The margin of a share that a number of scored items gives, and the number that a margin takes."""

import math
from typing import NamedTuple

import scipy

from vivavoce.stats._arrays import ROUNDING, amount, proportion

FEW_EVENTS = 10
"""With fewer events expected, or fewer items without one, a margin is that of the exact interval."""


def proportion_margin(
    n: int,
    p: float = 0.5,
    *,
    population: int | None = None,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> float:
    """Half the width of the interval of a share near `p`, from `n` scored items.

    h = z sqrt(p (1 - p) / n0) with n0 = n / deff, or n (N - 1) / (N - n) / deff where the items are from a
    set of N. With fewer than 10 events, n0 min(p, 1 - p): half the width of Clopper and Pearson's interval.

    Parameters
    ----------
    n : int
        Items scored, at least 1.
    p : float
        The share expected, 0 to 1, both excluded; .5 gives the widest margin of the normal formula.
    population : int, optional
        N, the set that the sample is from and speaks for. None: endless.
    design_effect : float
        How much larger the variance is than that of single items, as in `proportion_n`.
    level : float
        0.95 by default.

    Returns
    -------
    float
        0 if the whole set is scored.

    Raises
    ------
    ValueError
        If a number is out of its range, or n exceeds N.

    Cochran (1977), Sampling Techniques, sec. 4.4; Clopper & Pearson (1934), Biometrika 26.
    """
    return planned_share(n, p, population=population, design_effect=design_effect, level=level).margin


class PlannedShare(NamedTuple):
    """The interval of a share that `n` items would give.

    `events` are the events expected among as many independent items, or the items without one where they
    are fewer; `is_exact` says that these are too few for the normal formula. The interval is 0 wide where
    the whole set is scored.
    """

    low: float
    high: float
    events: float
    is_exact: bool

    @property
    def margin(self) -> float:
        """Half its width."""
        return (self.high - self.low) / 2


def planned_share(
    n: int, p: float, *, population: int | None = None, design_effect: float = 1.0, level: float = 0.95
) -> PlannedShare:
    """The interval behind `proportion_margin`, of the same parameters; raises as it does."""
    size = _size(n, p, population, design_effect, level)
    events = size * min(p, 1 - p)
    if events >= FEW_EVENTS - ROUNDING:
        half = float(scipy.special.ndtri(0.5 + level / 2)) * math.sqrt(p * (1 - p) / size)
        return PlannedShare(p - half, p + half, events, is_exact=False)
    tail = (1 - level) / 2
    low = float(scipy.special.betaincinv(size * p, size * (1 - p) + 1, tail))
    high = float(scipy.special.betaincinv(size * p + 1, size * (1 - p), 1 - tail))
    return PlannedShare(low, high, events, is_exact=True)


def proportion_n(
    p: float,
    half_width: float,
    *,
    population: int | None = None,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> int:
    """The fewest items to score so that a share near `p` is known to -/+ `half_width`.

    The least n whose `proportion_margin` is `half_width` or less. By the normal formula n0 = z^2 p (1 - p)
    / h^2 deff, and n = n0 / (1 + (n0 - 1) / N) from a set of N.

    Parameters
    ----------
    p : float
        The share expected, 0 to 1, both excluded.
    half_width : float
        h, between 0 and 1.
    population : int, optional
        N, the set that the sample is from and speaks for. None: endless.
    design_effect : float
        How much larger the variance is than that of single items: 1 + (m - 1) rho for groups of m with
        correlation rho. At least 1 for groups; below 1 for good strata.
    level : float
        0.95 by default.

    Returns
    -------
    int
        At least 1, at most N.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    proportion("half_width", half_width)
    _size(1, p, population, design_effect, level)  # refuses numbers out of range
    most = math.inf if population is None else population

    def enough(n: int) -> bool:
        # 1e-12: a whole number may come out a digit too high.
        margin = proportion_margin(n, p, population=population, design_effect=design_effect, level=level)
        return margin <= half_width * (1 + 1e-12)

    # The margin falls with n, also where the exact interval gives way to the normal formula.
    high = 1
    while not enough(high):
        high = int(min(2 * high, most))
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _size(n: int, p: float, population: int | None, design_effect: float, level: float) -> float:
    """How many independent items from an endless set tell as much; infinite where the whole set is scored."""
    amount("n", n, least=1)
    proportion("p", p)
    proportion("level", level)
    if not (math.isfinite(design_effect) and design_effect > 0):
        raise ValueError(f"design_effect must be a finite number above 0, but is {design_effect}")
    if population is None:
        return n / design_effect
    if n > amount("population", population, least=1):
        raise ValueError(f"{n} items of {population}: a sample has 1 to {population}")
    return n * (population - 1) / (population - n) / design_effect if n < population else math.inf
