"""Rewording: how much of the spread of scores is the wording of a response, and how much the candidate.

The same response in other words should get the same score. What varies between its wordings is noise to
whoever compares candidates, so it is set beside the variance between these.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Codes, Floats, finite, group_codes
from vivavoce.stats.correlation import kendall
from vivavoce.stats.estimate import Interval
from vivavoce.stats.group_error import effective_groups, enough_groups
from vivavoce.stats.jackknife import WithoutGroups
from vivavoce.stats.paired import paired
from vivavoce.stats.sums import exact_mean, exact_means
from vivavoce.stats.variance import Component, component, rounding

KNOWN = 0.2
"""Two-sided p at which a pair's order is taken for known: of a pair turned round two tests must err."""


class WordingVariance(NamedTuple):
    """The variance of wordings beside that of candidates.

    Attributes
    ----------
    s2_rephrase : float or None
        Mean over responses of the variance (ddof 1) over the wordings of one response; null where no response
        has two.
    s2_candidate : Component or None
        (MS candidate - MS interaction) / items of the table of candidates by items, a cell being the mean
        over its wordings, on the items that every candidate has; null with one candidate or one item.
    share : float or None
        s2_rephrase / s2_candidate; null where either is, and where s2_candidate is 0.
    low, high : float or None
        The interval of `share`: each group left out in turn, on the log scale. Null below 10 effective
        groups, and where the candidates' variance is 0 without some group.
    scaled_published : float or None
        Variance (ddof 0) by response, averaged over a candidate's responses to an item, then over candidates,
        then over items, divided by max - min of all values; null where these are equal.
    n_responses, n_items : int
        Responses with two wordings or more; items of the table.
    scaled_quartiles : (float, float, float) or None
        Lower quartile, median and upper quartile over items of what `scaled_published` is the mean of.
    """

    s2_rephrase: float | None
    s2_candidate: Component | None
    share: float | None
    low: float | None
    high: float | None
    scaled_published: float | None
    n_responses: int
    n_items: int
    scaled_quartiles: tuple[float, float, float] | None = None


class Wordings(NamedTuple):
    """Scores of wordings by response: what `wordings` reads, one entry per response.

    Attributes
    ----------
    means, variances : array of shape (R,)
        Over the wordings of a response; variances with ddof 1, NaN where there is one wording.
    sizes : array of shape (R,)
        Wordings.
    candidates, items, groups : array of shape (R,)
        Codes.
    low, high : float
        The least and the greatest value.
    """

    means: Floats
    variances: Floats
    sizes: Floats
    candidates: Codes
    items: Codes
    groups: Codes
    low: float
    high: float


def wordings(
    values: ArrayLike,
    responses: ArrayLike,
    *,
    candidates: ArrayLike,
    items: ArrayLike,
    groups: ArrayLike | None = None,
) -> Wordings:
    """The means and variances of responses over their wordings.

    Parameters
    ----------
    values : array of shape (N,)
        One score per wording; passes are averaged before.
    responses, candidates, items : arrays of shape (N,)
        Which response each wording is of, whose response that is, and to which item; any labels.
    groups : array of shape (N,), optional
        What is drawn together; each item for itself by default.

    Raises
    ------
    ValueError
        If there is no value, a value is NaN or infinite, a label is missing, or lengths differ.
    """
    y = finite("values", values)
    n = len(y)
    response, n_responses = group_codes(responses, length=n)
    item, _ = group_codes(items, length=n)
    sizes = np.bincount(response, minlength=n_responses).astype(np.float64)
    means = np.bincount(response, weights=y) / sizes
    squares = np.bincount(response, weights=(y - means[response]) ** 2)
    squares[squares <= rounding(y)] = 0.0  # equal scores have no variance, whatever their last digit
    first = np.zeros(n_responses, dtype=np.intp)
    first[response[::-1]] = np.arange(n)[::-1]
    return Wordings(
        means=means,
        variances=np.where(sizes > 1, squares / np.maximum(sizes - 1, 1), np.nan),
        sizes=sizes,
        candidates=group_codes(candidates, length=n)[0][first],
        items=item[first],
        groups=item[first] if groups is None else group_codes(groups, length=n)[0][first],
        low=float(y.min()),
        high=float(y.max()),
    )


def wording_variance(data: Wordings, *, level: float = 0.95) -> WordingVariance:
    """How much of the spread is wording, beside the candidates.

    The candidates are fixed: the interval is for these candidates on other items. By simulation (2 to 12
    candidates, 12 to 100 groups) it covered 92 to 97 %.

    Components as in `crossed_variance`; `scaled_published` as "Automatic Evaluation of Healthcare LLMs Beyond
    Question-Answering", appendix C.1. It depends on the range of the scores at hand, and a metric with one
    far value looks resilient.

    Parameters
    ----------
    data : Wordings
        Of all candidates.
    level : float
        Of the interval of `share`.
    """
    has_variance = ~np.isnan(data.variances)
    s2_rephrase = exact_mean(data.variances[has_variance]) if has_variance.any() else None
    table, columns = _table(data)
    s2_candidate = _candidates(table)
    share = low = high = None
    if s2_rephrase is not None and s2_candidate and s2_candidate.value > 0:
        share = s2_rephrase / s2_candidate.value
        ends = _share_interval(data, table, columns, share, level)
        low, high = ends or (None, None)
    scaled = _scaled(data, has_variance)
    return WordingVariance(
        *(s2_rephrase, s2_candidate, share, low, high),
        scaled_published=None if scaled is None else exact_mean(scaled),
        n_responses=int(has_variance.sum()),
        n_items=table.shape[1],
        scaled_quartiles=None if scaled is None else tuple(np.quantile(scaled, (0.25, 0.5, 0.75)).tolist()),
    )


def _table(data: Wordings) -> tuple[Floats, Codes]:
    """Candidates by items, the cells means over wordings and then responses; and the group of each item.

    Of the items that every candidate has a response to.
    """
    n_candidates, n_items = int(data.candidates.max()) + 1, int(data.items.max()) + 1
    cells = data.candidates * n_items + data.items
    counts = np.bincount(cells, minlength=n_candidates * n_items).reshape(n_candidates, n_items)
    sums = np.bincount(cells, weights=data.means, minlength=counts.size).reshape(counts.shape)
    complete = (counts > 0).all(axis=0)
    groups = np.zeros(n_items, dtype=np.intp)
    groups[data.items] = data.groups
    return sums[:, complete] / counts[:, complete], groups[complete]


def _candidates(table: Floats) -> Component | None:
    """(MS candidate - MS interaction) / items of a table of candidates by items."""
    m, n = table.shape
    if m < 2 or n < 2:
        return None
    # Less its item's mean, a cell holds the candidate and the interaction alone.
    centred = table - table.mean(axis=0)
    effects = centred.mean(axis=1)
    (raw,) = _raw_candidates(effects[None], np.array([np.sum(centred**2)]), np.array([float(n)]))
    return component(float(raw) if abs(raw) > rounding(table.ravel()) else 0.0)


def _raw_candidates(effects: Floats, squares: Floats, n: Floats) -> Floats:
    """The raw component from candidates' effects, the sum of squares inside items, and how many items."""
    m = effects.shape[1]
    spread = n * np.sum(effects**2, axis=1)
    raw: Floats = (spread / (m - 1) - (squares - spread) / ((m - 1) * (n - 1))) / n
    return raw


def _share_interval(
    data: Wordings, table: Floats, columns: Codes, share: float, level: float
) -> Interval | None:
    """The jackknife interval of the share on the log scale; null where a group decides it alone."""
    groups = np.unique(data.groups)
    if not enough_groups(effective_groups(data.groups)):
        return None
    codes, column_codes = np.searchsorted(groups, data.groups), np.searchsorted(groups, columns)
    g = len(groups)
    has_variance = ~np.isnan(data.variances)
    sums = np.bincount(codes[has_variance], weights=data.variances[has_variance], minlength=g)
    counts = np.bincount(codes[has_variance], minlength=g)
    centred = table - table.mean(axis=0)
    n = table.shape[1] - np.bincount(column_codes, minlength=g).astype(np.float64)
    squares = np.sum(centred**2) - np.bincount(column_codes, weights=np.sum(centred**2, axis=0), minlength=g)
    by_group = np.stack([np.bincount(column_codes, weights=row, minlength=g) for row in centred], axis=1)
    if (n < 2).any() or (counts.sum() == counts).any():
        return None
    effects = (centred.sum(axis=1) - by_group) / n[:, None]
    s2_rephrase = (sums.sum() - sums) / (counts.sum() - counts)
    s2_candidate = _raw_candidates(effects, squares, n)
    defined = (s2_candidate > 0) & (s2_rephrase > 0)
    if not defined.all() or share <= 0:
        return None
    logs = np.log(s2_rephrase / s2_candidate)
    figure = WithoutGroups(math.log(share), logs, np.bincount(codes)).jackknife(scale="raw", level=level)
    if figure.low is None or figure.high is None:
        return None
    return Interval(math.exp(figure.low), math.exp(figure.high))


def _scaled(data: Wordings, has_variance: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats | None:
    """The published figure by item; null where no response has two wordings, or all values are equal."""
    if not has_variance.any() or data.high - data.low <= math.sqrt(rounding(np.array([data.low, data.high]))):
        return None
    sizes = data.sizes[has_variance]
    # Variances are kept with ddof 1, and the paper divides by the number of wordings.
    variances = data.variances[has_variance] * (sizes - 1) / sizes
    candidates, items = data.candidates[has_variance], data.items[has_variance]
    width = int(candidates.max()) + 1
    cells, cell = np.unique(items * width + candidates, return_inverse=True)
    by_cell = np.bincount(cell, weights=variances) / np.bincount(cell)
    item = np.unique(cells // width, return_inverse=True)[1]
    by_item = np.bincount(item, weights=by_cell) / np.bincount(item)
    return np.asarray(by_item / (data.high - data.low))


class OrderKept(NamedTuple):
    """Kendall's tau-b of candidates' means before and after, with its interval and the pairs behind it.

    Attributes
    ----------
    value : float or None
        Null where all means before, or all after, are equal.
    low, high : float or None
        Null where `value` is, and below 10 effective groups.
    n_pairs, n_same, n_turned : int
        Pairs of candidates; those that are in one order before and after, and those that are in the other
        order, where both orders are known. The rest are near ties. 0 of 0 where there is no interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n_pairs: int = 0
    n_same: int = 0
    n_turned: int = 0


def order_kept(before: ArrayLike, after: ArrayLike, groups: ArrayLike) -> OrderKept:
    """Whether candidates keep their order when their responses are put in other words.

    A pair's order is known where p of its mean difference (`paired`) is at most .2. A near tie may be in
    either order, so `low` counts all near ties as turned round and `high` as kept; both hold `value`.

    Parameters
    ----------
    before, after : arrays of shape (K, n)
        Candidates by items, one value each; after, the mean over wordings.
    groups : array of shape (n,)
        What is drawn together; any labels.

    Raises
    ------
    ValueError
        If shapes differ, a matrix is empty, or a value is NaN or infinite.

    By simulation (4 to 10 candidates, 20 to 200 items, 1 to 4 wordings) the interval held the tau of the true
    means in 95 to 100 %; percentiles of groups drawn again hold it in 0 to 93 %, as they shuffle near ties
    once more than the items at hand did.
    """
    x, y = (np.asarray(side, dtype=np.float64) for side in (before, after))
    if x.ndim != 2 or x.shape != y.shape or not x.size:
        raise ValueError(f"before and after must be tables of one shape, not {x.shape} and {y.shape}")
    finite("before", x.ravel())
    finite("after", y.ravel())
    value = kendall(exact_means(x), exact_means(y))
    codes, _ = group_codes(groups, length=x.shape[1])
    if value is None or not enough_groups(effective_groups(codes)):
        return OrderKept(value, None, None)
    orders = _known_orders(x, codes) * _known_orders(y, codes)
    n, same, opposite = len(orders), int((orders > 0).sum()), int((orders < 0).sum())
    ties = n - same - opposite
    low, high = min(value, (same - opposite - ties) / n), max(value, (same - opposite + ties) / n)
    return OrderKept(value, low, high, n, same, opposite)


def _known_orders(values: Floats, codes: Codes) -> Floats:
    """1 or -1 for each pair of candidates whose order is known, else 0."""
    first, second = np.triu_indices(len(values), 1)
    pairs = [paired(values[a] - values[b], codes) for a, b in zip(first, second, strict=True)]
    return np.array([pair.direction if pair.p <= KNOWN else 0 for pair in pairs], dtype=np.float64)
