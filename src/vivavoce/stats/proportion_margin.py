"""The margin of a share that a number of scored items gives: `power.proportion_n` read backwards."""

import math

import scipy

from vivavoce.stats._arrays import amount, proportion


def proportion_margin(
    n: int,
    p: float = 0.5,
    *,
    population: int | None = None,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> float:
    """Half the width of the interval of a share near `p`, from `n` scored items.

    h = z sqrt(p (1 - p) deff / n0); n0 = n, or n (N - 1) / (N - n) where the items are from a set of N.

    Parameters
    ----------
    n : int
        Items scored, at least 1.
    p : float
        The share expected, 0 to 1, both excluded; .5 gives the widest margin.
    population : int, optional
        N, the set that the sample is from and speaks for. None: endless.
    design_effect : float
        How much larger the variance is than that of single items, as in `proportion_n`.
    level : float
        0.95 by default.

    Returns
    -------
    float
        0 if the whole set is scored. The normal formula: above what p leaves room for it only says "too few".

    Raises
    ------
    ValueError
        If a number is out of its range, or n exceeds N.

    Cochran (1977), Sampling Techniques, sec. 4.4.
    """
    amount("n", n, least=1)
    proportion("p", p)
    z = float(scipy.special.ndtri(0.5 + proportion("level", level) / 2))
    if not (math.isfinite(design_effect) and design_effect > 0):
        raise ValueError(f"design_effect must be a finite number above 0, but is {design_effect}")
    share_left = 1.0
    if population is not None:
        if n > amount("population", population, least=1):
            raise ValueError(f"{n} items of {population}: a sample has 1 to {population}")
        # A set of one item is scored whole, and N - 1 would divide by 0.
        share_left = (population - n) / max(1, population - 1)
    return z * math.sqrt(p * (1 - p) * design_effect * share_left / n)
