"""Exact tests of a mean difference over few groups: p by sign flips, and the interval that p leaves.

Every group's sum could as well have had the other sign if the two candidates were equal. Nothing else is
assumed: no spread is estimated, so a handful of groups of any sizes is enough.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, Floats, finite, proportion
from vivavoce.stats.draws import random_subset_sums, seeded_rng
from vivavoce.stats.estimate import Interval
from vivavoce.stats.sums import rounded

FLIP_SEED, FLIPS = 0, 9_999  # beyond 16 groups flips are drawn, for the same data the same ones
ENUMERATED = 16  # groups: 2^16 sign patterns are all visited, more are sampled
TIE = 1e-8
"""Share of the sum of sizes below which two patterns differ by rounding alone."""
MOST_EQUAL = 512
"""Groups without a difference that are flipped one by one; more are flipped in so many bundles."""


class SignFlips(NamedTuple):
    """`p`, from `n_patterns` sign patterns over `n_different` groups; `exact` if these were all there are."""

    p: float
    n_different: int
    n_patterns: int
    exact: bool


def sign_flips(group_sums: ArrayLike, *, rng: np.random.Generator, resamples: int = 99_999) -> SignFlips:
    """Two-sided p of a sum of group sums, if each group's sign had been a coin's.

    Exact by enumeration up to 16 groups that are not 0; beyond, (hits + 1) / (resamples + 1).

    Parameters
    ----------
    group_sums : array of shape (G,)
        Sum of the differences in each group. Zeros (below 5e-10) say nothing and are dropped.
    rng : numpy.random.Generator
        Required: a p that cannot be redrawn cannot be checked. Unused when p is exact.
    resamples : int
        Patterns drawn beyond 16 groups. Time grows with G * resamples / 8, memory with resamples.

    Returns
    -------
    SignFlips
        Patterns that only rounding (1e-8 of the sum of sizes) tells from the observed one count as ties,
        so as hits. p is 1 if no group differs.

    Raises
    ------
    ValueError
        If a sum is NaN or infinite, or `resamples` is below 1.

    Fisher (1935), Design of Experiments, sec. 21; the + 1 of Phipson & Smyth (2010), SAGMB 9. It tests
    symmetry about 0; `FlippedMean` gives the interval.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, but is {resamples}")
    sums = finite("group_sums", group_sums, empty=True)
    # A group that nets to 0 has one value under both signs and says nothing.
    sums = sums[rounded(sums) != 0]
    size = float(np.abs(sums).sum())
    # Rounding must not lift a pattern that ties with the observed sum above it, or below.
    bar = abs(float(sums.sum())) - TIE * size
    if len(sums) <= ENUMERATED:
        totals = np.zeros(1)
        for group_sum in sums:
            # All sign patterns at once: every group doubles the list.
            totals = np.concatenate([totals + group_sum, totals - group_sum])
        return SignFlips(float(np.mean(np.abs(totals) >= bar)), len(sums), len(totals), True)
    positive = random_subset_sums(sums[:, None], draws=resamples, rng=rng)
    # Sum of the positive minus the negative ones, from the positive alone.
    hits = int(np.count_nonzero(np.abs(2 * positive - sums.sum()) >= bar))
    return SignFlips((hits + 1) / (resamples + 1), len(sums), resamples, False)


@dataclass(frozen=True)
class FlippedMean:
    """A mean of group sums and every shift of it that sign flips do not reject.

    If the true mean is theta, flipping the signs of the groups of a subset A reaches the observed sum where
    sum_A - theta * size_A <= 0, so where sum_A / size_A <= theta. One-sided p at theta is thus
    (1 + subsets with a ratio of theta or less) / patterns. It never falls as theta rises, two-sided p is
    twice the smaller side, and the interval ends at two of the ordered ratios.

    Attributes
    ----------
    sums, sizes : arrays of shape (G,)
        Sum of the differences in each group, and what the group weighs (above 0). The mean is sum / size.
    with_t : bool
        Whether p was made at least that of t, as items weigh unlike.

    Exact over all 2^G - 1 subsets up to 16 groups; beyond, over 9,999 drawn ones, for the same data the same.
    Hartigan (1969), JASA 64, 1303-1317 (typical values); Maritz (1979), Biometrika 66.
    """

    sums: Floats = field(compare=False)
    sizes: Floats = field(compare=False)
    with_t: bool = False

    def interval(self, *, level: float = 0.95) -> Interval | None:
        """Every mean whose two-sided p is above 1 - level.

        Six groups give the least and the largest group mean at 95 %: p of all six on one side is 2 / 64.

        Returns
        -------
        Interval or None
            Null where so few groups reject no mean at that level.

        Raises
        ------
        ValueError
            If the level does not lie between 0 and 1.
        """
        (ratios, n_patterns), sign = self._ratios, self._sign
        n_rejected = math.floor((1 - proportion("level", level)) / 2 * n_patterns + ROUNDING)
        # The observed pattern, and a drawn subset that is empty, count on both sides whatever the mean is.
        end = n_rejected - (n_patterns - 1 - len(ratios))
        if end < 1:
            return None
        low, high = float(ratios[end - 1]), float(ratios[-end])
        if sign == 0 and self._is_drawn:  # drawn subsets favour a side, and nothing says which
            low, high = min(low, -high), max(high, -low)
        return Interval(low, high) if sign >= 0 else Interval(0.0 - high, 0.0 - low)

    @cached_property
    def _sign(self) -> int:
        """Of the mean. Subsets are drawn of sums that favour the first, so that sides are mirror images."""
        return int(np.sign(rounded(math.fsum(self.sums))))

    @property
    def _is_drawn(self) -> bool:
        """Whether subsets are drawn: too many groups differ from 0 to take all of them."""
        n_equal = int(np.count_nonzero(rounded(self.sums) == 0))
        return len(self.sums) - n_equal + min(n_equal, MOST_EQUAL) > ENUMERATED

    @cached_property
    def _ratios(self) -> tuple[Floats, int]:
        """The ordered means of all subsets of groups, or of random ones, and the number of patterns."""
        equal = rounded(self.sums) == 0
        rows = np.column_stack([self.sums * (self._sign or 1), self.sizes])
        if equal.sum() > MOST_EQUAL:
            # Bundles flip together, which is a test as exact, and memory no longer grows with ties.
            sizes = [part.sum() for part in np.array_split(self.sizes[equal], MOST_EQUAL)]
            rows = np.vstack([rows[~equal], np.column_stack([np.zeros(MOST_EQUAL), sizes])])
        if len(rows) <= ENUMERATED:
            subsets = np.zeros((1, 2))
            for row in rows:
                subsets = np.vstack([subsets, subsets + row])
            subsets = subsets[1:]  # flipping none is the pattern that was observed
        else:
            rows = rows[np.lexsort(rows.T)]  # what groups are called, and their order, decides nothing
            subsets = random_subset_sums(rows, draws=FLIPS, rng=seeded_rng(FLIP_SEED))
        sums, sizes = subsets[subsets[:, 1] > 0].T
        # A subset that nets to 0 ties with the observed sum, as in `sign_flips`.
        sums[np.abs(sums) <= TIE / 2 * float(np.abs(self.sums).sum())] = 0.0
        return np.sort(sums / sizes), len(subsets) + 1
