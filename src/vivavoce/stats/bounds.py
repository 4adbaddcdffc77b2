"""What failed marks could have done to a mean: the identified set, and the same with sampling error.

Only marks that are missing through our doing (`failed`) have bounds. A candidate's silence is resolved by
the criterion's rule before and is not missing. Manski (2003), Partial Identification, ch. 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, finite
from vivavoce.stats.estimate import Interval, cluster_mean, t_interval

__all__ = ["Bounds", "bounds"]


class Bounds(NamedTuple):
    """`set_…`: the means that the failed marks could have led to; `bound_…`: the same with sampling error.

    A side is null if the metric has no limit there; the two with sampling also if there is one group only.
    """

    set_low: float | None
    set_high: float | None
    bound_low: float | None
    bound_high: float | None


def bounds(
    values_low: ArrayLike | None,
    values_high: ArrayLike | None,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> Bounds:
    """Means under the two fillings, theta_L and theta_U, and [theta_L - t SE_L, theta_U + t SE_U], t(G - 1).

    Parameters
    ----------
    values_low, values_high : array of shape (n,), or None
        Item values (or differences) with every failed mark set to what makes the result lowest, and
        highest; then the ordinary averaging. For a difference A - B the low filling gives A the
        metric's lower and B its upper limit. None where the metric has no limit.
    groups, weights : arrays of shape (n,)
        As in `cluster_mean`, of all the items, answered or failed.
    low, high : float, optional
        Limits to clip at; for a difference -/+ the width of the metric's range.
    level : float
        0.95 by default.

    Returns
    -------
    Bounds
        Covers the whole identified set at `level`, and so the one true mean more often than that: wide
        on purpose. If nothing failed it is the clipped t interval; the headline's interval is then the
        better one for a bounded metric (`wilson`).

    Raises
    ------
    ValueError
        As `cluster_mean`; also if a low filling is above the high one by more than 1e-9, naming the item.
    """
    if values_low is not None and values_high is not None:
        floor = finite("values_low", values_low)
        ceiling = finite("values_high", values_high, length=len(floor))
        crossed = floor > ceiling + ROUNDING
        if crossed.any():
            at = int(np.argmax(crossed))
            raise ValueError(
                f"values_low holds {floor[at]} at position {at}, above values_high with {ceiling[at]}: "
                "swap the fillings"
            )
    set_low, at_low = _filling("values_low", values_low, groups, weights, (low, high), level)
    set_high, at_high = _filling("values_high", values_high, groups, weights, (low, high), level)
    return Bounds(set_low, set_high, at_low.low if at_low else None, at_high.high if at_high else None)


def _filling(
    name: str,
    values: ArrayLike | None,
    groups: ArrayLike,
    weights: ArrayLike | None,
    limits: tuple[float | None, float | None],
    level: float,
) -> tuple[float | None, Interval | None]:
    if values is None:
        return None, None
    mean = cluster_mean(finite(name, values), groups, weights=weights)
    if mean.se is None:
        return mean.value, None
    return mean.value, t_interval(
        mean.value, mean.se, mean.n_groups - 1, level=level, low=limits[0], high=limits[1]
    )
