"""Pooled measures: one figure from counts summed over all responses, not the mean of a figure per response.

First the figures of summed counts: ratios, micro and macro F1, BLEU and chrF as sacrebleu computes them
(Post 2018, arXiv:1804.08771), each for many rows of sums at once. Then their error, the difference of two,
and a check of that. Errors are the jackknife's, by group: no random number enters a headline.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import ROUNDING, Codes, Floats, finite, group_codes, item_weights, scaled_weights
from vivavoce.stats.draws import random_subset_sums, seeded_rng
from vivavoce.stats.estimate import NO_SPREAD, ONE_GROUP, Mean, mean_interval
from vivavoce.stats.group_error import GroupDesign
from vivavoce.stats.paired import Paired, with_test
from vivavoce.stats.sign_flips import ENUMERATED, FLIP_SEED, SignFlips
from vivavoce.stats.sums import exact_sum, rounded

PooledStatistic: TypeAlias = Callable[[Floats], Floats]
"""From sums, one row of counts per corpus, to one figure per row; NaN where it is undefined."""


class Pooled(NamedTuple):
    """A pooled figure with its interval.

    `value` is null where the sums leave it undefined; `se` then, with one group, and where it is undefined
    without one of the groups (`n_undefined` of them). `reason` says why `low` and `high` are null; `df` are
    the degrees of freedom of the error, 0 with one group.
    """

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    n: int
    n_groups: int
    n_undefined: int
    method: str
    df: float
    reason: str | None = None


def pooled(
    counts: ArrayLike,
    groups: ArrayLike,
    statistic: PooledStatistic,
    *,
    weights: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    level: float = 0.95,
) -> Pooled:
    """A statistic of summed counts, with its delete-one-group interval.

    SE^2 = (G - 1) / G * sum_g (theta_g - mean theta_g)^2, theta_g without group g; Wilson with effective
    size if the measure has two limits, else from 10 effective groups on `skewed_interval`, by the skewness of
    mean theta_g - theta_g. Degrees of freedom are Satterthwaite's for groups of these sizes.

    Parameters
    ----------
    counts : array of shape (n, c)
        One row per item: passes and repeats are averaged before, so that every item weighs alike.
    groups : array of shape (n,)
        What is drawn together; any labels.
    statistic : callable
        `corpus_bleu`, `corpus_chrf`, `macro_f1`, `micro_f1`, `sum_ratio`, or another from rows of sums to
        figures. Called twice, once with a row for each group.
    weights : array of shape (n,), optional
        What each item's counts are multiplied by, above 0; scaled to the mean 1. Equal by default.
    sizes : array of shape (n,), optional
        What each item is of the figure, 0 or more: it says how many effective groups there are. Equal by
        default.
    low, high : float, optional
        The measure's limits.
    level : float
        0.95 by default.

    Raises
    ------
    ValueError
        If there is no row, a count is NaN or infinite, a group is missing, or lengths differ.

    Tukey (1958). It wants a smooth statistic, which these are where matches are many. Redrawing published
    answers, corpus BLEU and chrF were covered 92 to 95 % with 10 to 63 groups (the percentile bootstrap 84
    to 94 %; `bench/sampled.py`). Where one group holds most of the text, or with fewer than
    about 10, believe the width only roughly.
    """
    table = _weighted(_counts("counts", counts), weights)
    codes, n_groups = group_codes(groups, length=len(table))
    (value,) = statistic(_totals(table)).tolist()
    bounded = low is not None and high is not None
    method = f"{'Wilson, effective size' if bounded else 't, widened for skewness'}, jackknife by group"
    design = GroupDesign.of(codes, n_groups, _sizes(sizes, weights, length=len(table)))
    blank = Pooled(None, None, None, None, len(table), n_groups, 0, method, design.df)
    # Undefined for the whole corpus is not 0: there is nothing to sum.
    if math.isnan(value):
        return blank._replace(reason="what it is divided by is 0")
    if n_groups < 2:
        return blank._replace(value=value, reason=ONE_GROUP)
    leave_one_out = statistic(_without(table, codes, n_groups))
    se, undefined = _error(leave_one_out, value)
    if se is None:
        return blank._replace(
            value=value, n_undefined=undefined, reason="no interval: undefined without one of its groups"
        )
    mean = Mean(value, se, len(table), n_groups, design.df)
    skewness = 0.0 if bounded else design.sums_skewness(leave_one_out.mean() - leave_one_out)
    ends = mean_interval(mean, skewness=skewness, low=low, high=high, level=level)
    if isinstance(ends, str):
        return blank._replace(value=value, se=se, reason=ends)
    return blank._replace(value=value, low=ends.low, high=ends.high, se=se)


def pooled_paired(
    first: ArrayLike,
    second: ArrayLike,
    groups: ArrayLike,
    statistic: PooledStatistic,
    *,
    weights: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
) -> Paired | None:
    """The first's pooled figure minus the second's on the same items, each group left out of both in turn.

    Parameters
    ----------
    first, second : arrays of shape (n, c)
        Counts by item, in the same order.
    groups : array of shape (n,)
        What is drawn together; any labels.
    statistic : callable
        As in `pooled`.
    weights : array of shape (n,), optional
        As in `pooled`.
    sizes : array of shape (n,), optional
        What each item is of the figure, 0 or more: for a ratio its denominator. It says how many effective
        groups there are; equal by default.

    Returns
    -------
    Paired or None
        As `paired` gives it, t with the degrees of freedom of `pooled`. An item, and a group, is higher for
        the first if its own counts, pooled alone, give a higher figure (equal to 1e-9, or undefined for
        either, is neither). Where fewer than 10 effective groups differ p is that of
        `pooled_swaps`, which has no interval. Null if a figure is undefined.

    Raises
    ------
    ValueError
        As `pooled`, or if the two differ in shape.
    """
    a, b, codes, n_groups = _sides(first, second, groups)
    # The sign of every item's own difference: only those that differ can be counted by a sign test.
    by_item = _signs(_difference(statistic, a, b))
    a, b = _weighted(a, weights), _weighted(b, weights)
    (difference,) = _difference(statistic, _totals(a), _totals(b)).tolist()
    if math.isnan(difference):
        return None
    se = None
    if n_groups > 1:
        leave_one_out = (_without(x, codes, n_groups) for x in (a, b))
        se, _ = _error(_difference(statistic, *leave_one_out), max(abs(difference), ROUNDING))
    return with_test(
        difference,
        se,
        GroupDesign.of(codes, n_groups, _sizes(sizes, weights, length=len(a))),
        items=by_item,
        groups=_signs(_difference(statistic, *(_by_group(x, codes, n_groups) for x in (a, b)))),
        flips=lambda: pooled_swaps(
            first, second, groups, statistic, rng=seeded_rng(FLIP_SEED), weights=weights
        ),
    )


def pooled_swaps(
    first: ArrayLike,
    second: ArrayLike,
    groups: ArrayLike,
    statistic: PooledStatistic,
    *,
    rng: np.random.Generator,
    weights: ArrayLike | None = None,
    resamples: int = 9_999,
) -> SignFlips:
    """Two-sided p of the difference of two pooled figures, if a coin had said whose each group's answers are.

    Exact over all ways to swap up to 16 groups whose counts differ; beyond, (hits + 1) / (resamples + 1).

    Parameters
    ----------
    first, second, groups, statistic
        As in `pooled_paired`.
    rng : numpy.random.Generator
        Required: a p that cannot be redrawn cannot be checked. Unused when p is exact.
    weights : array of shape (n,), optional
        As in `pooled`.
    resamples : int
        Patterns drawn beyond 16 groups.

    Returns
    -------
    SignFlips
        p is 1 if no group differs. A pattern that leaves a figure undefined counts as a hit.

    Raises
    ------
    ValueError
        As `pooled_paired`, or if `resamples` is below 1.

    Approximate randomisation: Noreen (1989); for BLEU, Riezler & Maxwell (2005), ACL workshop MTSE.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, but is {resamples}")
    a, b, codes, n_groups = _sides(first, second, groups)
    a, b = _weighted(a, weights), _weighted(b, weights)
    # Swapping the two sides of a group moves this much from one total to the other.
    moved = _by_group(b, codes, n_groups) - _by_group(a, codes, n_groups)
    # A group whose counts are equal on both sides changes nothing when swapped.
    moved = moved[(rounded(moved) != 0).any(axis=1)]
    totals, size = (_totals(a), _totals(b)), np.abs(a).sum(axis=0) + np.abs(b).sum(axis=0)
    bar = abs(float(_difference(statistic, *totals)[0])) - ROUNDING

    def hits(moves: Floats) -> int:
        sides = (totals[0] + moves, totals[1] - moves)
        differences = _difference(statistic, *(np.where(np.abs(x) <= ROUNDING * size, 0.0, x) for x in sides))
        # An undefined swap counts as a hit: it must not make the difference look rarer than it is.
        return int(np.count_nonzero(~(np.abs(differences) < bar)))

    n = len(moved)
    if n <= ENUMERATED:
        # Every pattern of swaps as the bits of its number.
        patterns = np.arange(2**n)[:, None] >> np.arange(n) & 1
        return SignFlips(hits(patterns.astype(np.float64) @ moved) / 2**n, n, 2**n, True)
    total = hits(random_subset_sums(moved, draws=resamples, rng=rng))
    return SignFlips((total + 1) / (resamples + 1), n, resamples, False)


def _sizes(sizes: ArrayLike | None, weights: ArrayLike | None, *, length: int) -> Floats:
    """What each item is of a figure: its size times its weight; equal where no size is above 0."""
    w = item_weights(weights, length=length)
    size = np.ones(length) if sizes is None else finite("sizes", sizes, length=length)
    return w * size if size.any() else w


def _counts(name: str, counts: ArrayLike) -> Floats:
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"{name} must be a table of items by counts, but has the shape {table.shape}")
    wrong = ~np.isfinite(table)
    if wrong.any():
        row, column = (int(k) for k in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
        raise ValueError(f"{name} holds {table[row, column]} at position {row}, count {column}")
    return table


def _weighted(table: Floats, weights: ArrayLike | None) -> Floats:
    w = scaled_weights(weights, length=len(table))
    return table if w is None else np.asarray(table * w[:, None], dtype=np.float64)


def _sides(first: ArrayLike, second: ArrayLike, groups: ArrayLike) -> tuple[Floats, Floats, Codes, int]:
    """The counts of both, and the groups they share."""
    a, b = _counts("first", first), _counts("second", second)
    if a.shape != b.shape:
        raise ValueError(f"first and second must have one shape, but have {a.shape} and {b.shape}")
    return a, b, *group_codes(groups, length=len(a))


def _totals(table: Floats) -> Floats:
    return np.array([[exact_sum(column) for column in table.T]], dtype=np.float64)


def _by_group(table: Floats, codes: Codes, n_groups: int) -> Floats:
    columns = [np.bincount(codes, weights=column, minlength=n_groups) for column in table.T]
    return np.stack(columns, axis=1)


def _without(table: Floats, codes: Codes, n_groups: int) -> Floats:
    """Sums without each group in turn; what cancels is 0, not 1e-17 of a match."""
    totals = _totals(table)
    remainder = totals - _by_group(table, codes, n_groups)
    size = np.abs(table).sum(axis=0, keepdims=True)
    # What is left of a sum from which everything was taken is rounding, and would be a denominator.
    return np.where(np.abs(remainder) <= ROUNDING * size, 0.0, remainder)


def _error(leave_one_out: Floats, value: float) -> tuple[float | None, int]:
    """The jackknife's SE, and how many of the figures it rests on are undefined."""
    undefined = int(np.count_nonzero(np.isnan(leave_one_out)))
    if undefined:
        return None, undefined
    # Jackknife variance: (G - 1) / G times the sum of squares of the G left-out figures.
    se = math.sqrt((len(leave_one_out) - 1) * float(np.var(leave_one_out)))
    return (0.0 if se <= NO_SPREAD * abs(value) else se), 0


def _difference(statistic: PooledStatistic, a: Floats, b: Floats) -> Floats:
    return statistic(a) - statistic(b)


def _signs(differences: Floats) -> Floats:
    return np.asarray(np.sign(rounded(np.nan_to_num(differences, nan=0.0))))


BLEU_ORDERS = 4


def sum_ratio(sums: Floats) -> Floats:
    """Numerator over denominator.

    Parameters
    ----------
    sums : array of shape (m, 2)
        Numerators, denominators.

    Returns
    -------
    array of shape (m,)
        NaN where the denominator is 0.
    """
    return _over(sums[:, 0], sums[:, 1])


def micro_f1(sums: Floats) -> Floats:
    """2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    sums : array of shape (m, 3)
        TP, FP, FN.

    Returns
    -------
    array of shape (m,)
        0 to 1; NaN where there is nothing to find and nothing was found.
    """
    tp, fp, fn = sums.T
    return _over(2 * tp, 2 * tp + fp + fn)


def macro_f1(sums: Floats) -> Floats:
    """The unweighted mean over labels of 2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    sums : array of shape (m, 3 k)
        The TP of each of k labels, then the FP of each, then the FN of each.

    Returns
    -------
    array of shape (m,)
        0 to 1. A label that is neither keyed nor given has no F1, and the mean is over the others, as in
        scikit-learn's `f1_score(average="macro")` without `labels`; one that is given and never keyed has
        an F1 of 0. NaN where there is no label.
    """
    tp, fp, fn = np.split(sums, 3, axis=1)
    denominator = 2 * tp + fp + fn
    occurs = denominator > 0
    by_label = np.where(occurs, 2 * tp / np.where(occurs, denominator, 1.0), 0.0)
    return _over(by_label.sum(axis=1), occurs.sum(axis=1).astype(np.float64))


def label_sizes(counts: ArrayLike) -> Floats:
    """What each item is of a macro F1, from counts by item, shape (n, 3 k), as `macro_f1` takes their sums.

    The sum over labels of (2 TP + FP + FN of the item) / (that of all items), shape (n,): 10 items of a rare
    label are as much as 1,000 of a common one. 0 for an item without counts.
    """
    tp, fp, fn = np.split(_counts("counts", counts), 3, axis=1)
    denominator = 2 * tp + fp + fn
    totals = denominator.sum(axis=0)
    sizes: Floats = (denominator / np.where(totals > 0, totals, 1.0)).sum(axis=1)
    return sizes


def corpus_bleu(sums: Floats) -> Floats:
    """Corpus BLEU of four orders, smoothed exponentially: sacrebleu's default.

    Parameters
    ----------
    sums : array of shape (m, 10)
        n-grams of the answers that match for n = 1 … 4; n-grams in the answers for n = 1 … 4; length of
        the answers; length of the references (for each answer, of the closest in length).

    Returns
    -------
    array of shape (m,)
        0 to 1. 0 where nothing matches or no answer has four tokens: the score is then 0 by convention, as
        sacrebleu gives it. A corpus of a few short answers is one, and its figure is mostly smoothing.

    The k-th order in turn without a match counts 1 / (2^k total) instead of 0. Papineni et al. (2002);
    smoothing: Lin & Och (2004), NIST's mteval-v13a.
    """
    correct, total = sums[:, :BLEU_ORDERS], sums[:, BLEU_ORDERS : 2 * BLEU_ORDERS]
    response_length, reference_length = sums[:, -2], sums[:, -1]
    defined = (correct > 0).any(axis=1) & (total > 0).all(axis=1)
    missed = correct == 0
    # sacrebleu's exponential smoothing: the k-th order without a match counts 1 / 2^k matches.
    counted = np.where(missed, 0.5 ** np.cumsum(missed, axis=1), correct)
    rows = np.reshape(defined, (-1, 1))
    logs = np.log(np.where(rows, counted, 1.0) / np.where(rows, total, 1.0))
    shortness = np.where(
        response_length < reference_length, 1 - _over(reference_length, response_length), 0.0
    )
    return np.where(defined, np.exp(np.where(defined, shortness, 0.0) + logs.mean(axis=1)), 0.0)


def corpus_chrf(sums: Floats, *, beta: float = 2.0) -> Floats:
    """Corpus chrF, or chrF++ if orders of words are among the orders: sacrebleu's default.

    Parameters
    ----------
    sums : array of shape (m, 3 n)
        For each of n orders the n-grams in the answers, then for each those in the references, then for
        each those that match.
    beta : float
        What recall weighs against precision, 2 by default.

    Returns
    -------
    array of shape (m,)
        0 to 1. Precision and recall are averaged over the orders that occur in answers and references
        both; 0 where there are none.

    Popović (2015), chrF; (2017), chrF++, both WMT.
    """
    answers, references, shared = np.split(sums, 3, axis=1)
    # chrF averages precision and recall over the orders that both sides have.
    used = (answers > 0) & (references > 0)
    orders = np.maximum(used.sum(axis=1), 1)
    precision, recall = (
        np.where(used, shared / np.where(used, counts, 1.0), 0.0).sum(axis=1) / orders
        for counts in (answers, references)
    )
    weighed = beta**2 * precision + recall
    return np.where(weighed > 0, (1 + beta**2) * precision * recall / np.where(weighed > 0, weighed, 1), 0.0)


def _over(numerators: Floats, denominators: Floats) -> Floats:
    defined = denominators != 0
    ratios: Floats = np.where(defined, numerators / np.where(defined, denominators, 1.0), np.nan)
    return ratios
