"""When an answer may stand by itself: risk against coverage, and a threshold that keeps a promise.

Selective prediction: answers below a threshold of confidence are left to people. Coverage is the share that
is answered, risk the share of errors among these.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import ROUNDING, Codes, Floats, proportion
from vivavoce.stats.calibration import ONE_GROUP, CalibrationFigure, Outcomes, effective_size, outcomes
from vivavoce.stats.estimate import NO_SPREAD, estimate_mean, score_interval
from vivavoce.stats.group_error import LEAST_GROUPS, GroupDesign
from vivavoce.stats.sums import exact_mean

THRESHOLDS: Floats = np.round(
    np.concatenate(
        [np.linspace(0, 0.99, 100), np.linspace(0.991, 0.999, 9), np.linspace(0.9991, 0.9999, 9), [1.0]]
    ),
    4,
)
"""Fixed before any data are seen, and finer where a model is surest; a promise that looked has no level."""
FIRST_START = 5.0
"""The tests begin where this over the risk are answered: 50 for 10 %, of which 5 are promised to be wrong."""
MOST_NEEDED = 100_000
"""No promise is worth naming that takes more groups than this."""


class RiskCoverage(NamedTuple):
    """The curve, one entry for each threshold that gives another coverage, highest first.

    `threshold`, `coverage` and `risk` are arrays of shape (T,), `low` and `high` the T ends of the risk's
    interval, null where all answers so far are of one group. `aurc` is the area under it, `excess` what it is
    more than if all right answers came first.
    """

    threshold: Floats
    coverage: Floats
    risk: Floats
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    aurc: CalibrationFigure
    excess: CalibrationFigure


def risk_coverage(
    confidence: ArrayLike,
    correct: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    most: int = 40,
    level: float = 0.95,
) -> RiskCoverage:
    """Share of errors among the k most confident answers, for every k, and its mean over k (AURC).

    Parameters
    ----------
    confidence, correct, groups, weights : arrays of shape (n,)
        As in `calibration`. Only the order of confidences matters.
    most : int
        Thresholds of the curve, at least 2; of more, those nearest to evenly spaced coverages. The areas
        rest on all.
    level : float
        Coverage wanted, 0.95 by default. The band is for each threshold alone.

    Returns
    -------
    RiskCoverage
        Equal confidences count as the mean over all orders: after a part of a tie, that part of its errors.
        Without ties and weights `aurc` is the published mean over answers. The areas' intervals are Wilson's
        with n* = m (1 - m) / SE^2, SE by CR2 of the area's linear form, and n* no more than the effective
        groups where fewer than 10 groups have an error; null with one group.

    Raises
    ------
    ValueError
        As `calibration`, or if `most` is below 2.

    Geifman & El-Yaniv (2017), NeurIPS 30; excess: Geifman, Uziel & El-Yaniv (2019), ICLR.
    """
    proportion("level", level)
    if most < 2:
        raise ValueError(f"most must be at least 2, but is {most}: a curve has two ends")
    a = outcomes(confidence, correct, groups, weights)
    errors = 1 - a.correct
    area, parts = _area(a.confidence, errors, a.weights)
    best, parts_of_best = _area(a.correct, errors, a.weights)
    levels, ties = np.unique(-a.confidence, return_inverse=True)
    mass = np.cumsum(np.bincount(ties, weights=a.weights)) / float(a.weights.sum())
    if len(levels) > most:
        nearest = np.searchsorted(mass, np.linspace(mass[0], 1.0, most) - ROUNDING)
        chosen = np.unique(np.minimum(nearest, len(levels) - 1))
        levels, mass = levels[chosen], mass[chosen]
    levels = -levels
    risks, lows, highs = zip(*(_risk(a, a.confidence >= c, level) for c in levels), strict=True)
    return RiskCoverage(
        levels,
        np.minimum(mass, 1.0),
        np.array(risks, dtype=np.float64),
        lows,
        highs,
        _figure(a, area, parts, level),
        _figure(a, max(area - best, 0.0), parts - parts_of_best, level),
    )


def _area(order: Floats, errors: Floats, weights: Floats) -> tuple[float, Floats]:
    """AURC with `order` as confidence, and each answer's weight times its influence on it.

    A tie of n answers is n steps of equal weight and equal error. An answer's influence is how the area grows
    with its weight, times all weight: it lies in the weight of its own steps, and in the risk of all steps
    from there on.
    """
    _, ties = np.unique(-order, return_inverse=True)
    n, mass, wrong = (
        np.bincount(ties, weights=w) for w in (np.ones_like(weights), weights, weights * errors)
    )
    step = np.repeat(np.arange(len(n)), n.astype(np.intp))
    part = (np.arange(len(order)) - np.repeat(np.cumsum(n) - n, n.astype(np.intp)) + 1) / n[step]
    covered = (np.cumsum(mass) - mass)[step] + mass[step] * part
    risk = ((np.cumsum(wrong) - wrong)[step] + wrong[step] * part) / covered
    total = float(weights.sum())
    share = (mass / n)[step] / total
    area = float(share @ risk)
    # Sums over the steps of later ties, and over those of its own, where only a part of it counts.
    pull = [share / covered, share * risk / covered]
    suffix_sums = [np.bincount(step, weights=v) for v in pull]
    suffix_sums = [v.sum() - np.cumsum(v) for v in suffix_sums]
    sums_of_step = [np.bincount(step, weights=v * part) for v in pull]
    slope, level = (total * (a + b) for a, b in zip(suffix_sums, sums_of_step, strict=True))
    mean_risk = np.bincount(step, weights=risk) / n
    influence = mean_risk[ties] - area + errors * slope[ties] - level[ties]
    return area, weights * influence


def _figure(a: Outcomes, value: float, parts: Floats, level: float) -> CalibrationFigure:
    """An area with Wilson's interval, of as many answers as its error amounts to.

    The first few answers weigh most in an area, so that its error may be larger than a share's of as many
    groups. Where few groups have an error it is seen too small: then it is that of a share at least.
    """
    design = GroupDesign.of(a.groups, a.n_groups, a.weights)
    value = min(max(value, 0.0), 1.0)
    se = design.se(parts)
    if se is None:
        return CalibrationFigure(value, reason=ONE_GROUP)
    size = design.df + 1
    if se > NO_SPREAD and ROUNDING < value < 1 - ROUNDING:
        few = _n_groups(a.groups[a.correct == 0]) < LEAST_GROUPS
        size = min(size if few else math.inf, value * (1 - value) / se**2)
    quantile = float(scipy.special.stdtrit(design.df, 0.5 + level / 2))
    low, high = score_interval(value, size, quantile)
    return CalibrationFigure(value, max(low, 0.0), min(high, 1.0))


def _risk(a: Outcomes, rows: NDArray[np.bool_], level: float) -> tuple[float, float | None, float | None]:
    risk = estimate_mean(
        1 - a.correct[rows], a.groups[rows], weights=a.weights[rows], low=0.0, high=1.0, level=level
    )
    return risk.value, risk.low, risk.high


class AnswerThreshold(NamedTuple):
    """A threshold that keeps the risk below the promise, or why there is none.

    Attributes
    ----------
    threshold : float or None
        Answers of at least this confidence may stand; null, with `reason`, where none keeps the promise.
    coverage, risk : float or None
        Share answered, and share of errors among these, here: the promise is not that this is the risk.
    p : float or None
        Of the test of this threshold; without one the least of all.
    n, n_groups : int
        Answers and groups at or above it; without one those of the least p.
    effective_groups : float
        As many groups as there would be if each had one answer, all answers of a group being alike.
    needed : int or None
        Without a threshold: effective groups that would do at the best threshold, were risks as seen there.
    reason : str or None
    """

    threshold: float | None
    coverage: float | None
    risk: float | None
    p: float | None
    n: int
    n_groups: int
    effective_groups: float
    needed: int | None = None
    reason: str | None = None


class _Test(NamedTuple):
    """The test that the risk at one threshold is not below the promise."""

    threshold: float
    coverage: float
    risk: float
    n: int
    n_groups: int
    size: float
    p: float


def answer_threshold(
    confidence: ArrayLike,
    correct: ArrayLike,
    groups: ArrayLike,
    *,
    risk: float,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> AnswerThreshold:
    """The threshold that answers most while errors among the answered stay below `risk`, with confidence.

    For each of `THRESHOLDS` the hypothesis "errors are at least `risk`" has an exact binomial p. They are
    tested from the strictest on, beginning where 5 / `risk` effective groups are answered and at each
    doubling (or where all are, if these are fewer). Each beginning has an equal part of 1 - `level`, and what
    a rejected hypothesis used goes on to the next. All rejected thresholds then keep the promise together
    with probability `level`; the lowest is returned.

    Parameters
    ----------
    confidence, correct, groups, weights : arrays of shape (n,)
        As in `calibration`.
    risk : float
        The promise: share of errors among answers, above 0 and below 1.
    level : float
        Probability over benchmarks with which the promise holds for further cases like these.

    Returns
    -------
    AnswerThreshold
        p is P(B <= k), B binomial with m trials of probability `risk`: m the effective groups among the
        answered, Kish's size of the groups' weights, rounded down, and k the share of errors times m, rounded
        up. With groups of one answer that is the exact test; with larger ones it counts all answers of a
        group as one, so that it holds however alike they are.

    Raises
    ------
    ValueError
        As `calibration`, or if `risk` is not between 0 and 1.

    Angelopoulos, Bates, Candès, Jordan & Lei (2021), Learn then Test, arXiv:2110.01052, sec. 2.2 and 3; what
    a rejected hypothesis passes on: Wiens (2003), Pharm. Stat. 2, 211-215. Exact for a risk that does not
    fall with lower thresholds; in simulations the promise was kept also where it does.
    """
    proportion("risk", risk)
    proportion("level", level)
    a = outcomes(confidence, correct, groups, weights)
    tests = list(_tests(a, risk))
    # Beginnings depend on the size alone: placed by the errors seen, they would spend what they have not.
    starts = _starts(effective_size(a.groups, a.weights), risk)
    part = (1 - level) / len(starts)
    chosen, allowed = None, 0.0
    for test in tests:
        allowed += part * sum(start <= test.size + ROUNDING for start in starts)
        starts = [start for start in starts if start > test.size + ROUNDING]
        if allowed > 0 and test.p <= allowed:
            chosen = test
        else:
            allowed = 0.0
    if chosen:
        return AnswerThreshold(
            chosen.threshold,
            chosen.coverage,
            chosen.risk,
            chosen.p,
            chosen.n,
            chosen.n_groups,
            chosen.size,
        )
    best = min(tests, key=lambda test: test.p)
    needed = _needed(best.risk, risk, part)
    return AnswerThreshold(
        None,
        None,
        None,
        best.p,
        best.n,
        best.n_groups,
        best.size,
        needed=needed,
        reason=f"no threshold keeps errors below {risk:g} with {100 * level:g} % confidence",
    )


def risk_above(
    correct: ArrayLike, groups: ArrayLike, *, risk: float, weights: ArrayLike | None = None
) -> float:
    """One-sided p that errors among these answers are no more than `risk`: small where they are more.

    Parameters
    ----------
    correct, groups, weights : arrays of shape (n,)
        As in `calibration`.
    risk : float
        The promise, above 0 and below 1.

    Returns
    -------
    float
        P(B >= k), B binomial with m trials of probability `risk`: m as in `answer_threshold`, and k the share
        of errors times m, rounded down. 1 without an error.

    Raises
    ------
    ValueError
        As `calibration`, or if `risk` is not between 0 and 1.

    Answers of a threshold that was chosen on them have fewer errors by that choice, so p is careful there.
    """
    proportion("risk", risk)
    wrong = 1 - np.asarray(correct, dtype=np.float64)
    a = outcomes(np.ones(len(wrong)), 1 - wrong, groups, weights)
    # Rounded against a small p on both sides: fewer trials, and fewer errors among them.
    trials = math.floor(effective_size(a.groups, a.weights) + ROUNDING)
    errors = math.floor(exact_mean(1 - a.correct, a.weights) * trials + ROUNDING)
    return float(scipy.special.bdtrc(errors - 1, trials, risk)) if errors else 1.0


def _starts(size: float, risk: float) -> list[float]:
    """Numbers of effective groups answered at which tests begin; they depend on the size of all alone."""
    first = min(FIRST_START / risk, size)
    return [first * 2**k for k in range(1 + int(math.log2(size / first) + ROUNDING))]


def _tests(a: Outcomes, risk: float) -> list[_Test]:
    """The tests of all thresholds that answer another set than the one before, from the highest."""
    total, tests, last = float(a.weights.sum()), [], 0
    for threshold in THRESHOLDS[::-1]:
        rows = a.confidence >= threshold - ROUNDING
        n = int(np.count_nonzero(rows))
        if n == last:  # the higher threshold of two that answer the same is the one to name
            continue
        last = n
        weights, groups = a.weights[rows], a.groups[rows]
        errors = float(weights @ (1 - a.correct[rows])) / float(weights.sum())
        size = effective_size(groups, weights)
        tests.append(
            _Test(
                float(threshold),
                min(1.0, float(weights.sum()) / total),
                errors,
                n,
                _n_groups(groups),
                size,
                _binomial(errors, size, risk),
            )
        )
    return tests


def _n_groups(groups: Codes) -> int:
    return int(np.count_nonzero(np.bincount(groups)))


def _binomial(errors: float, size: float, risk: float) -> float:
    """P(at most as many errors) among so many trials, errors rounded up and trials down."""
    trials = math.floor(size + ROUNDING)
    return float(scipy.special.bdtr(math.ceil(errors * trials - ROUNDING), trials, risk)) if trials else 1.0


def _needed(errors: float, risk: float, part: float) -> int | None:
    """The least number of effective groups that would do with this share of errors; null where none does."""
    if errors >= risk:
        return None
    high = 1
    while _binomial(errors, high, risk) > part:
        high *= 2
        if high > MOST_NEEDED:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _binomial(errors, middle, risk) <= part else (middle, high)
    return high
