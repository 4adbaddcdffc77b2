"""How far stated confidence is from the share that is right: calibration error, and Brier's score in parts.

Bins hold equal mass and never split equal confidences. A gap between confidence and share right is partly
noise, and squared or absolute gaps are therefore too large on average: with 100 cases and no error at all the
plain figure is about 0.09. The debiased ones subtract the noise, which CR2 finds by group.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import (
    ROUNDING,
    Codes,
    Floats,
    evenness,
    group_codes,
    item_weights,
    proportion,
    within_limits,
)
from vivavoce.stats.estimate import Interval, estimate_mean
from vivavoce.stats.group_error import LEAST_GROUPS, GroupDesign
from vivavoce.stats.jackknife import WithoutGroups
from vivavoce.stats.sums import exact_mean, rounded

MOST_BINS = 10
GROUPS_IN_BIN = 10
"""A bin for so many effective groups, up to `MOST_BINS`: fewer show noise, more hide nothing that matters."""
LEAST_IN_BIN = 5
"""A bin of fewer groups joins its neighbour: ties can leave one nearly empty."""
PLUS = 4.0
"""Agresti and Coull's pseudo-observations, half of them right: a bin that is all right still has an error."""

ONE_BIN = "one bin only: confidences that hardly differ, or too few groups, tell nothing apart"
ALL_ALIKE = "all answers are right, or all are wrong: there is nothing to gain on"
BIASED = "no interval: the plain figure is too large on average; the debiased one has an interval"
ONE_GROUP = "one group only: no interval"


class CalibrationFigure(NamedTuple):
    """A value with its interval; a null has a reason."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


class CalibrationBin(NamedTuple):
    """Answers of about the same confidence.

    Attributes
    ----------
    least, most : float
        The confidences it reaches from and to, both included.
    confidence, correct : float
        Their mean, and the share that is right.
    low, high : float or None
        95 % of `correct`: Wilson with effective size, by group; null with one group.
    share : float
        Of all weight.
    n, n_groups : int
    """

    least: float
    most: float
    confidence: float
    correct: float
    low: float | None
    high: float | None
    share: float
    n: int
    n_groups: int


class Calibration(NamedTuple):
    """What `calibration` finds.

    Attributes
    ----------
    overconfidence : CalibrationFigure
        Mean confidence less the share right: above 0 promises too much.
    ece : CalibrationFigure
        Mean absolute gap over bins; never with an interval.
    ece_debiased : CalibrationFigure
        Root of the mean squared gap over bins less its noise, 0 where that is below 0. `low` is 0 where the
        gaps could be noise alone.
    brier, reliability, resolution, uncertainty, skill : CalibrationFigure
        brier = reliability - resolution + uncertainty + `within_bins`; skill = 1 - brier / uncertainty.
        `reliability` may be below 0; it is the square of `ece_debiased` where it is not.
    within_bins : float
        What the bins hide: 0 where confidences inside each bin are equal.
    bins : tuple of CalibrationBin
    n, n_groups : int
    effective_groups : float
    """

    overconfidence: CalibrationFigure
    ece: CalibrationFigure
    ece_debiased: CalibrationFigure
    brier: CalibrationFigure
    reliability: CalibrationFigure
    resolution: CalibrationFigure
    uncertainty: CalibrationFigure
    skill: CalibrationFigure
    within_bins: float
    bins: tuple[CalibrationBin, ...]
    n: int
    n_groups: int
    effective_groups: float


class Outcomes(NamedTuple):
    """Confidences and whether each answer was right, checked."""

    confidence: Floats
    correct: Floats
    groups: Codes
    n_groups: int
    weights: Floats


def outcomes(
    confidence: ArrayLike, correct: ArrayLike, groups: ArrayLike, weights: ArrayLike | None
) -> Outcomes:
    """The four arrays, checked as `calibration` says."""
    c = within_limits(confidence, 0.0, 1.0)
    y = within_limits(correct, 0.0, 1.0)
    if len(y) != len(c):
        raise ValueError(f"correct has {len(y)} entries, {len(c)} are needed: one for each confidence")
    fractional = np.minimum(y, 1 - y) > ROUNDING
    if fractional.any():
        k = int(np.argmax(fractional))
        raise ValueError(
            f"correct holds {y[k]} at position {k}: an answer is right (1) or wrong (0), set a limit first"
        )
    codes, n_groups = group_codes(groups, length=len(c))
    return Outcomes(rounded(c), np.round(y), codes, n_groups, item_weights(weights, length=len(c)))


def calibration(
    confidence: ArrayLike,
    correct: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> Calibration:
    """Calibration error and Brier's score with its split, each with its interval by group.

    Over bins b of share w_b, with c_b the mean confidence, y_b the share right and y that of all:
    `ece` = sum w_b |c_b - y_b|; `reliability` = sum w_b ((c_b - y_b)^2 - Var(c_b - y_b));
    `resolution` = sum w_b ((y_b - y)^2 - Var(y_b)) + Var(y); `uncertainty` = y (1 - y) + Var(y).
    Variances are CR2's by group: with groups of one they are y_b (1 - y_b) / (n_b - 1) where confidences
    inside a bin are equal, as published.

    Parameters
    ----------
    confidence : array of shape (n,)
        From 0 to 1, one per answer. Closer than 1e-9 counts as equal.
    correct : array of shape (n,)
        1 right, 0 wrong, nothing between: a share has no calibration.
    groups : array of shape (n,)
        What is drawn together; any labels. Repeats of a question share one.
    weights : array of shape (n,), optional
        Above 0; 1 / R for each of R repeats of a question.
    level : float
        Coverage wanted, 0.95 by default.

    Returns
    -------
    Calibration
        There is a bin for each 10 effective groups, 10 at most. A value takes the bin in which the middle of
        its mass lies, so that ties are never split; a bin of fewer than 5 groups joins the next lower one.

        Intervals of means are Wilson's with effective size; that of `skill` leaves out one group at a time.
        Those of `reliability` and `resolution` hold all x with |T - x| <= t sqrt(4 k x + v): T the estimate
        (0 where it is below), k the variance along the gaps, v twice the sum of squared variances and what
        the bins' shares add. Near 0, where the normal approximation fails, that is noise alone. A bin in
        which fewer than 10 groups have an answer of the rarer kind has the variance of Agresti and Coull
        there: its own would be too small, or none. With one group there are no intervals; `skill` is null
        where all answers are right or all wrong, `resolution` with one bin.

    Raises
    ------
    ValueError
        If there is no answer, a confidence lies outside 0 to 1, `correct` is neither 0 nor 1, or as
        `cluster_mean`.

    Kumar, Liang & Ma (2019), NeurIPS 32, sec. 4 (debiased squared error); Murphy (1973), J. Appl. Meteorol.
    12, 595-600; Ferro & Fricker (2012), Q. J. R. Meteorol. Soc. 138, 1954-1960, eq. 7 to 9; what is within
    bins: Stephenson, Coelho & Jolliffe (2008), Weather Forecast. 23, 752-757.
    """
    proportion("level", level)
    a = outcomes(confidence, correct, groups, weights)
    design = GroupDesign.of(a.groups, a.n_groups, a.weights)
    codes = _bins(a, design.df + 1)
    n_bins = int(codes.max()) + 1
    gap, right = a.confidence - a.correct, a.correct
    total = float(a.weights.sum())
    shares = np.bincount(codes, weights=a.weights) / total
    gaps, hits = (np.bincount(codes, weights=a.weights * v) / total / shares for v in (gap, right))
    rate = float(shares @ hits)
    noise = _Noise.of(a, codes, shares, gaps, hits, rate)
    brier = exact_mean(gap**2, a.weights)
    reliability = float(shares @ (gaps**2 - noise.gaps))
    resolution = float(shares @ ((hits - rate) ** 2 - noise.hits)) + noise.rate if n_bins > 1 else 0.0
    uncertainty = rate * (1 - rate) + noise.rate
    bounded = estimate_mean(gap**2, a.groups, weights=weights, low=0.0, high=1.0, level=level)
    mean_gap = estimate_mean(gap, a.groups, weights=weights, low=-1.0, high=1.0, level=level)
    squared = noise.interval(reliability, gaps, shares, noise.of_gaps, _of_mass(a, codes, gaps), level)
    spread = noise.interval(
        resolution, hits - rate, shares, noise.of_hits, _of_mass(a, codes, hits - rate), level
    )
    reason = ONE_GROUP if a.n_groups < 2 else None
    root = (None, None) if squared is None else (math.sqrt(squared.low), math.sqrt(squared.high))
    return Calibration(
        overconfidence=CalibrationFigure(mean_gap.value, mean_gap.low, mean_gap.high, mean_gap.reason),
        ece=CalibrationFigure(float(shares @ np.abs(gaps)), reason=BIASED),
        ece_debiased=CalibrationFigure(math.sqrt(max(reliability, 0.0)), root[0], root[1], reason),
        brier=CalibrationFigure(brier, bounded.low, bounded.high, bounded.reason),
        reliability=CalibrationFigure(reliability, *_around(squared, reliability), reason),
        resolution=CalibrationFigure(resolution, *_around(spread, resolution), reason)
        if n_bins > 1
        else CalibrationFigure(None, reason=ONE_BIN),
        uncertainty=_uncertainty(a, uncertainty, weights, level),
        skill=_skill(a, brier, uncertainty, level),
        within_bins=brier - (reliability - resolution + uncertainty),
        bins=tuple(_bin(a, codes == b, shares[b], level) for b in range(n_bins)),
        n=len(gap),
        n_groups=a.n_groups,
        effective_groups=design.df + 1,
    )


def _bins(a: Outcomes, effective: float) -> Codes:
    """The bin of each answer, 0 for the least confident; all numbers up to the largest occur."""
    n_bins = min(MOST_BINS, max(1, int((effective + ROUNDING) // GROUPS_IN_BIN)))
    _, values = np.unique(a.confidence, return_inverse=True)
    # By the middle of its mass a value lies in one bin as a whole, from whichever side it is counted.
    mass = np.bincount(values, weights=a.weights)
    middle = (np.cumsum(mass) - mass / 2) / mass.sum()
    # Rounded, so that weights in another unit put no value that lies on an edge elsewhere.
    of_value = np.minimum(np.floor(rounded(n_bins * middle)).astype(np.intp), n_bins - 1)
    codes = np.unique(of_value[values], return_inverse=True)[1]
    while codes.max() > 0:
        sizes = [len(np.unique(a.groups[codes == b])) for b in range(int(codes.max()) + 1)]
        small = [b for b, size in enumerate(sizes) if size < LEAST_IN_BIN]
        if not small:
            break
        # The lower neighbour takes it; the lowest bin has none and takes the next one in.
        b = max(small[0], 1)
        codes = np.where(codes >= b, codes - 1, codes)
    return codes


class _Noise(NamedTuple):
    """Variances of the bins' figures, and what each group adds to their deviations, shape (G, B)."""

    gaps: Floats
    hits: Floats
    rate: float
    of_gaps: Floats
    of_hits: Floats

    @classmethod
    def of(
        cls, a: Outcomes, codes: Codes, shares: Floats, gaps: Floats, hits: Floats, rate: float
    ) -> "_Noise":
        deviation = a.confidence - a.correct - gaps[codes]
        of_gaps = _sums(a, codes, deviation)
        of_hits = _sums(a, codes, a.correct - hits[codes])
        of_rate = _sums(a, np.zeros_like(codes), a.correct - rate)
        plain = (of_gaps**2).sum(axis=0), (of_hits**2).sum(axis=0), float((of_rate**2).sum())
        # Only the intervals get a floor: the debiased figures stay those that are published.
        groups = _even_groups(a, codes)
        shrunk = (groups * hits + PLUS / 2) / (groups + PLUS)
        floor = np.where(_hardly_vary(a, codes), shrunk * (1 - shrunk) / groups, 0.0)
        lifted = [np.diag(np.sqrt(np.maximum(floor - variance, 0.0))) for variance in plain[:2]]
        # What a bin's share does beyond the rate of all, whose own deviation is the shares' mean of them.
        centred = np.vstack([of_hits, lifted[1]])
        centred = centred - (centred @ shares)[:, None]
        return cls(*plain, np.vstack([of_gaps, lifted[0]]), centred)

    @staticmethod
    def interval(
        estimate: float, gaps: Floats, shares: Floats, sums: Floats, mass: tuple[float, float], level: float
    ) -> Interval | None:
        """All squared errors that the estimate is compatible with; null with one group."""
        of_mass, df = mass
        if df < 1:
            return None
        # With the covariances: one case has answers in several bins.
        variance = sums.T @ sums
        raw = float(shares @ gaps**2)
        slope = float((shares * gaps) @ variance @ (shares * gaps)) / raw if raw > 0 else 0.0
        spread = 2 * float((np.outer(shares, shares) * variance**2).sum()) + of_mass
        t2 = float(scipy.special.stdtrit(df, 0.5 + level / 2)) ** 2
        # A squared error below 0 is noise; to centre on it would make the upper end too low.
        start = max(estimate, 0.0)
        centre = start + 2 * slope * t2
        half = math.sqrt(4 * slope * t2 * start + 4 * slope**2 * t2**2 + t2 * spread)
        return Interval(max(0.0, centre - half), min(1.0, centre + half))


def _sums(a: Outcomes, codes: Codes, deviation: Floats) -> Floats:
    """Each group's sum of weighted deviations in each bin over the bin's weight, its leverage undone.

    The squares of a column add up to CR2's variance of that bin's mean.
    """
    n_bins = int(codes.max()) + 1
    cell = a.groups * n_bins + codes
    shape, size = (a.n_groups, n_bins), a.n_groups * n_bins
    weights = np.bincount(codes, weights=a.weights)
    leverage = np.bincount(cell, weights=a.weights, minlength=size).reshape(shape) / weights
    sums = np.bincount(cell, weights=a.weights * deviation, minlength=size).reshape(shape) / weights
    result: Floats = sums / np.sqrt(np.maximum(1 - leverage, ROUNDING))
    return result


def _of_mass(a: Outcomes, codes: Codes, gaps: Floats) -> tuple[float, float]:
    """What the shares of the bins add to the variance of the mean squared gap, and the degrees of freedom."""
    design = GroupDesign.of(a.groups, a.n_groups, a.weights)
    squares = (gaps**2)[codes]
    se = design.se(a.weights * (squares - np.average(squares, weights=a.weights)))
    return 0.0 if se is None else se**2, design.df


def _hardly_vary(a: Outcomes, codes: Codes) -> NDArray[np.bool_]:
    """The bins in which fewer than 10 groups have an answer of the rarer kind."""
    n_bins = int(codes.max()) + 1
    kinds = [
        [len(np.unique(a.groups[(codes == b) & (a.correct == kind)])) for b in range(n_bins)]
        for kind in (0, 1)
    ]
    few: NDArray[np.bool_] = np.array(kinds).min(axis=0) < LEAST_GROUPS
    return few


def _even_groups(a: Outcomes, codes: Codes) -> Floats:
    """How many groups of equal weight tell as much as those of each bin, were a group's answers all alike."""
    return np.array(
        [effective_size(a.groups[codes == b], a.weights[codes == b]) for b in range(int(codes.max()) + 1)]
    )


def effective_size(groups: Codes, weights: Floats) -> float:
    """(sum_g W_g)^2 / sum_g W_g^2 of the groups that occur: Kish's size with groups as units."""
    by_group: Floats = np.bincount(groups, weights=weights).astype(np.float64)
    by_group = by_group[by_group > 0]
    return evenness(by_group) * len(by_group)


def _around(ends: Interval | None, value: float) -> tuple[float | None, float | None]:
    """The ends; an estimate below 0 lies below them, and its lower end is then itself."""
    return (None, None) if ends is None else (min(ends.low, value), ends.high)


def _uncertainty(a: Outcomes, value: float, weights: ArrayLike | None, level: float) -> CalibrationFigure:
    """The uncertainty, y (1 - y), with the least and most that it has over the interval of the rate."""
    rate = estimate_mean(a.correct, a.groups, weights=weights, low=0.0, high=1.0, level=level)
    if rate.low is None or rate.high is None:
        return CalibrationFigure(value, reason=rate.reason)
    ends = [end * (1 - end) for end in (rate.low, rate.high)]
    highest = 0.25 if rate.low <= 0.5 <= rate.high else max(ends)
    return CalibrationFigure(value, min(ends), max(highest, value))


def _skill(a: Outcomes, brier: float, uncertainty: float, level: float) -> CalibrationFigure:
    """1 - brier / uncertainty, with the interval that leaves out one group at a time."""
    if uncertainty <= ROUNDING or a.correct.min() == a.correct.max():
        return CalibrationFigure(None, reason=ALL_ALIKE)
    value = 1 - brier / uncertainty
    parts = (a.weights, a.weights * (a.confidence - a.correct) ** 2, a.weights * a.correct)
    # Sums less those of a group give the figure without it, with no second pass over the answers.
    weight, loss, hits = (sums.sum() - sums for sums in (np.bincount(a.groups, weights=p) for p in parts))
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = hits / weight
        spread = rate * (1 - rate)
        leave_one_out = np.where(spread > ROUNDING, 1 - loss / weight / spread, np.nan)
    skill = WithoutGroups(value, leave_one_out, np.bincount(a.groups)).jackknife(scale="raw", level=level)
    if skill.low is None or skill.high is None:
        return CalibrationFigure(
            value, reason=ONE_GROUP if a.n_groups < 2 else "leaving a group out makes it undefined"
        )
    return CalibrationFigure(value, skill.low, min(skill.high, 1.0))


def _bin(a: Outcomes, rows: NDArray[np.bool_], share: float, level: float) -> CalibrationBin:
    weights = a.weights[rows]
    right = estimate_mean(a.correct[rows], a.groups[rows], weights=weights, low=0.0, high=1.0, level=level)
    confidence = a.confidence[rows]
    return CalibrationBin(
        float(confidence.min()),
        float(confidence.max()),
        exact_mean(confidence, weights),
        right.value,
        right.low,
        right.high,
        float(share),
        right.n,
        right.n_groups,
    )
