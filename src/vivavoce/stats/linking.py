"""Linking: what a mean of old scores corresponds to on the scale of new ones.

Both raters scored the same answers of several candidates (the single-group design of linking). A new rater
is kinder to some candidates than to others, so the unit is the candidate: what a further one would get is
known no better than the candidates' own shifts agree. A line carries means over, never single scores.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import finite, proportion
from vivavoce.stats.correlation import pearson
from vivavoce.stats.estimate import NO_SPREAD

LEAST_LINKED = 4
"""Candidates whose shifts tell how far those of others spread."""
Linking = Literal["shift", "deming"]


class Carried(NamedTuple):
    """An old mean on the new scale.

    Attributes
    ----------
    value : float
    low, high : float or None
        Where the new mean of one further candidate lies; null where no candidate lies off the line.
    clipped : bool
        Whether the line left the new scale there, and `value` is its end.
    """

    value: float
    low: float | None
    high: float | None
    clipped: bool


class Link(NamedTuple):
    """new = intercept + slope * old, from K candidates' means.

    Attributes
    ----------
    method : {"shift", "deming"}
        "shift" has slope 1.
    intercept, slope : float
    p_slope : float or None
        Of slope 1 (Pitman 1939, Morgan 1939: both sides then have one variance); null where the means of one
        side do not vary.
    residual : float
        Standard deviation of the candidates about the line, with `df`.
    df : int
        K - 1 of a shift, K - 2 of a line.
    n : int
        Candidates, K.
    centre, spread : float
        Mean of the old means, and their sum of squares about it.
    """

    method: Linking
    intercept: float
    slope: float
    p_slope: float | None
    residual: float
    df: int
    n: int
    centre: float
    spread: float

    def at(
        self, old: float, *, low: float | None = None, high: float | None = None, level: float = 0.95
    ) -> Carried:
        """The new mean that a further candidate of this old mean is expected to have.

        value +- t(df) residual sqrt(1 + 1/K) for a shift; (old - centre)^2 / spread stands under the root too
        for a line with a slope. `low` and `high` are the limits of the new scale: value and interval are
        clipped to them. Raises `ValueError` if `old` is not finite or the level does not lie between 0 and 1.
        """
        if not math.isfinite(old):
            raise ValueError(f"old must be a finite number, but is {old}")
        proportion("level", level)
        floor, ceiling = -math.inf if low is None else low, math.inf if high is None else high

        def inside(value: float) -> float:
            return min(max(value, floor), ceiling)

        value = self.intercept + self.slope * old
        # Rounding puts a line that ends where the scale ends a digit beyond it.
        clipped = abs(inside(value) - value) > 1e-9
        if not self.residual:
            return Carried(inside(value), None, None, clipped)
        distance = (old - self.centre) ** 2 / self.spread if self.method == "deming" else 0.0
        t = float(scipy.special.stdtrit(self.df, 0.5 + level / 2))
        half = t * self.residual * math.sqrt(1 + 1 / self.n + distance)
        return Carried(inside(value), inside(value - half), inside(value + half), clipped)


def candidate_link(old: ArrayLike, new: ArrayLike, *, alpha: float = 0.05) -> Link:
    """The line from the candidates' old means to their new ones, both in the same units.

    A shift, new = old + mean(new - old), unless the candidates' means show another slope than 1: then
    Deming's line with equal errors of both sides,
    slope = (Syy - Sxx + sqrt((Syy - Sxx)^2 + 4 Sxy^2)) / (2 Sxy).

    Parameters
    ----------
    old, new : arrays of shape (K,)
        Means of K candidates over the answers that both raters scored, in one order.
    alpha : float
        Level of the test of slope 1, which is that of no correlation between new - old and new + old.

    Raises
    ------
    ValueError
        If there are fewer than 4 candidates, a mean is NaN or infinite, lengths differ, or alpha does not lie
        between 0 and 1.

    The interval of `Link.at` is that of a prediction: it holds for a further candidate of the same kind as
    those linked, and not for one that the new rater treats unlike all of them. Deming (1943), Statistical
    Adjustment of Data; Kolen & Brennan (2014), Test Equating, Scaling, and Linking, 3rd ed., section 2.2.
    """
    x = finite("old", old)
    y = finite("new", new, length=len(x))
    proportion("alpha", alpha)
    if len(x) < LEAST_LINKED:
        raise ValueError(f"a link takes at least {LEAST_LINKED} candidates, but there are {len(x)}")
    n, centre = len(x), float(x.mean())
    u, v = x - centre, y - y.mean()
    spread = float(u @ u)
    # Less than this is rounding of the means.
    least = NO_SPREAD * float(max(np.abs(x).max(), np.abs(y).max()))
    p_slope = _p_of_slope_one(u, v, least)
    sxy, gap = float(u @ v), float(v @ v) - spread
    if p_slope is None or p_slope > alpha or sxy <= 0:
        shifts = y - x
        residual = float(shifts.std(ddof=1))
        intercept = float(shifts.mean())
        return Link(
            "shift", intercept, 1.0, p_slope, residual if residual > least else 0.0, n - 1, n, centre, spread
        )
    slope = (gap + math.sqrt(gap * gap + 4 * sxy * sxy)) / (2 * sxy)
    residuals = v - slope * u
    residual = math.sqrt(float(residuals @ residuals) / (n - 2))
    intercept = float(y.mean()) - slope * centre
    return Link(
        "deming", intercept, slope, p_slope, residual if residual > least else 0.0, n - 2, n, centre, spread
    )


def _p_of_slope_one(u: np.ndarray, v: np.ndarray, least: float) -> float | None:
    """Two-sided p that both sides have one variance; null where one side does not vary."""
    if min(float(np.abs(u).max()), float(np.abs(v).max())) <= least:
        return None
    if float(np.abs(v - u).max()) <= least:
        return 1.0
    r = pearson(v - u, v + u)
    if r is None:
        return 1.0
    df = len(u) - 2
    t = abs(r) * math.sqrt(df / max(1 - r * r, 1e-300))
    return float(2 * scipy.special.stdtr(df, -t))
