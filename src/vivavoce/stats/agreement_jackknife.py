"""Coefficients of agreement without each group in turn, from sums over units: one pass for all groups.

Every coefficient here is made of sums over units (counts of labels, moments of numbers, disagreement inside
units), so leaving a group out leaves out its part of each sum. Only ordinal alpha needs more: its mid-ranks
move with the counts.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats, group_codes
from vivavoce.stats._ratings import Ratings, differ, distance_within, read_ratings, squared
from vivavoce.stats.agreement import gwet_ac1, krippendorff_alpha, percent_agreement, weighted_kappa
from vivavoce.stats.correlation import PERFECT, pearson
from vivavoce.stats.estimate import NO_SPREAD
from vivavoce.stats.friedman import icc_a1
from vivavoce.stats.jackknife import WithoutGroups
from vivavoce.stats.sums import rounded

AgreementCoefficient: TypeAlias = Literal[
    "alpha_nominal",
    "alpha_ordinal",
    "alpha_interval",
    "ac1",
    "icc_a1",
    "quadratic_kappa",
    "pearson",
    "percent",
]
Bools: TypeAlias = NDArray[np.bool_]

CANCELLED = 1e-4  # a sum of squares that keeps less than this of its terms has lost too many digits
CELLS_AT_ONCE = 100_000  # numbers held at once: 0.8 MB, which a cache holds


class _Without(NamedTuple):
    """A coefficient without each group, NaN where undefined; `doubtful` where cancellation spoils it."""

    values: Floats
    doubtful: Bools | tuple[()] = ()


class _Coefficient(NamedTuple):
    """How a coefficient reads ratings, its value of all units, and its values without each group."""

    scale: Literal["labels", "steps", "numbers"]
    of_all: Callable[[Any, Any, Any], float | None]
    without: "Callable[[_GroupedUnits], _Without]"


def agreement_without_groups(
    coefficient: AgreementCoefficient,
    ratings: ArrayLike,
    groups: ArrayLike,
    *,
    missing: ArrayLike | None = None,
    categories: ArrayLike | None = None,
) -> WithoutGroups:
    """A coefficient of agreement of all units, and without each group of them in turn.

    Equal to calling the coefficient once for each group on the other groups' units, to 1e-12; but time
    grows with the number of units and not with its product with the number of groups. (For ordinal alpha
    it grows with groups times distinct pairs of labels: fixed for a scale of steps, not for numbers that
    are all distinct.)

    Parameters
    ----------
    coefficient : {"alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "icc_a1", "quadratic_kappa",
        "pearson", "percent"}
        The last two are Pearson's r of two raters, and the share of equal pairs.
    ratings : array of shape (n_units, n_raters)
        As in `krippendorff_alpha`, `gwet_ac1`, `icc_a1`, `weighted_kappa`, `pearson`, `percent_agreement`.
    groups : array of shape (n_units,)
        What is left out together; any labels.
    missing : array of bool, shape of the ratings, optional
        True where there is no rating. Pearson's r takes none.
    categories : array of shape (q,), optional
        The labels offered, for AC1. By default those that occur in the whole table, whoever is left out.

    Returns
    -------
    WithoutGroups
        Its groups are in the order of the sorted labels; `jackknife` gives the interval.

    Raises
    ------
    ValueError
        As the coefficient; if a group is missing, lengths differ, or the coefficient is not one of these.

    Leaving groups out of sums: Efron & Tibshirani (1993), ch. 11.
    """
    if coefficient not in get_args(AgreementCoefficient):
        raise ValueError(
            f"coefficient must be one of {', '.join(get_args(AgreementCoefficient))}, but is {coefficient!r}"
        )
    kind = _COEFFICIENTS[coefficient]
    table = read_ratings(
        ratings, missing, scale=kind.scale, categories=categories if coefficient == "ac1" else None
    )
    codes, n_groups = group_codes(groups, length=len(table.counts))
    sizes = np.bincount(codes, minlength=n_groups)
    scores, absent = np.asarray(ratings), ~table.present
    value = kind.of_all(scores, absent, table.categories)
    if n_groups < 2:
        return WithoutGroups(value, np.empty(0), sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        without, doubtful = kind.without(_GroupedUnits(table, codes, n_groups))
    for g in np.flatnonzero(doubtful):
        figure = kind.of_all(scores[codes != g], absent[codes != g], table.categories)
        without[g] = np.nan if figure is None else figure
    return WithoutGroups(value, without, sizes)


class _GroupedUnits(NamedTuple):
    """Coded ratings with the group of each unit, 0 … n_groups - 1."""

    table: Ratings
    groups: Codes
    n_groups: int

    def where(self, keep: Bools) -> "_GroupedUnits":
        """Some of the units; every group stays, if empty."""
        codes, present, categories, counts = self.table
        return self._replace(
            table=Ratings(codes[keep], present[keep], categories, counts[keep]), groups=self.groups[keep]
        )

    def pairable(self) -> "_GroupedUnits":
        """The units with two ratings."""
        return self.where(self.table.counts >= 2)

    def numbers(self) -> Floats:
        """The ratings as numbers; the first category where one is missing."""
        return np.asarray(self.table.categories, dtype=np.float64)[self.table.codes]

    def rest(self, *columns: ArrayLike) -> list[Floats]:
        """The sum of each column over the units outside each group: arrays of shape (G,).

        By additions from both ends: a subtraction would leave rounding where nothing is left.
        """
        return [_accumulated(self._by_group(c), np.add, 0.0) for c in columns]

    def _by_group(self, column: ArrayLike) -> Floats:
        return _weighted_counts(self.groups, column, self.n_groups)

    def rest_extent(self, lows: Floats, highs: Floats) -> tuple[Floats, Floats]:
        """The least of `lows` and the largest of `highs`, both by unit, outside each group."""
        extent = []
        for column, pick, identity in ((lows, np.minimum, np.inf), (highs, np.maximum, -np.inf)):
            by_group = np.full(self.n_groups, identity)
            pick.at(by_group, self.groups, column)
            extent.append(_accumulated(by_group, pick, identity))
        return extent[0], extent[1]

    def unit_extent(self, values: NDArray[Any]) -> tuple[Floats, Floats]:
        """The least and the largest value present in each unit."""
        present = self.table.present
        lows = np.where(present, values, np.inf).min(axis=1, initial=np.inf)
        return lows, np.where(present, values, -np.inf).max(axis=1, initial=-np.inf)

    def one_label(self) -> Bools:
        """Whether the units outside each group hold one label only."""
        low, high = self.rest_extent(*self.unit_extent(self.table.codes))
        return low >= high

    def disagreement(self, values: NDArray[Any], *, nominal: bool) -> Floats:
        """Mean distance of two ratings of each unit."""
        return distance_within(values, self.table.present, distance=differ if nominal else squared)

    def label_counts(self, weights: Floats | None = None) -> tuple[Codes, Codes, Floats]:
        """Groups, labels and counts (or weights of units) of every pair of group and label that occurs."""
        units, raters = np.nonzero(self.table.present)
        q = len(self.table.categories)
        keys, position = np.unique(
            self.groups[units] * q + self.table.codes[units, raters], return_inverse=True
        )
        counts = np.bincount(position, weights=None if weights is None else weights[units]).astype(np.float64)
        return keys // max(q, 1), keys % max(q, 1), counts

    def rest_squares(self, weights: Floats | None = None) -> tuple[Floats, float]:
        """Sum over labels of the square of their counts outside each group, and inside all."""
        group, label, counts = self.label_counts(weights)
        totals = _weighted_counts(label, counts, len(self.table.categories))
        of_all = float(totals @ totals)
        # (T - c)^2 = T^2 + c (c - 2 T), and c is 0 for most labels of a group.
        change = _weighted_counts(group, counts * (counts - 2 * totals[label]), self.n_groups)
        return np.asarray(of_all + change, dtype=np.float64), of_all


def _weighted_counts(codes: Codes, weights: ArrayLike, size: int = 0) -> Floats:
    return np.asarray(np.bincount(codes, weights=np.asarray(weights), minlength=size), dtype=np.float64)


def _accumulated(parts: Floats, combine: np.ufunc, identity: float) -> Floats:
    """What all parts but one combine to, for each one."""
    prefix, suffix = np.full((2, len(parts)), identity)
    prefix[1:] = combine.accumulate(parts[:-1])
    suffix[:-1] = combine.accumulate(parts[:0:-1])[::-1]
    return np.asarray(combine(prefix, suffix))


def _percent(units: _GroupedUnits) -> _Without:
    used = units.pairable()
    n, differing = used.rest(np.ones(len(used.groups)), used.disagreement(used.table.codes, nominal=True))
    return _Without(1 - differing / n)


def _alpha_nominal(units: _GroupedUnits) -> _Without:
    used = units.pairable()
    counts = used.table.counts
    n, observed = used.rest(counts, counts * used.disagreement(used.table.codes, nominal=True))
    squares, _ = used.rest_squares()
    expected = (n**2 - squares) / (n - 1)
    return _Without(np.where(used.one_label(), np.nan, 1 - observed / expected))


def _alpha_interval(units: _GroupedUnits) -> _Without:
    used = units.pairable()
    counts, present, x = used.table.counts, used.table.present, used.numbers()
    disagreement = used.disagreement(x, nominal=False)
    centre = float(x[present].mean()) if present.any() else 0.0
    d = np.where(present, x - centre, 0.0)
    n, observed, sums, squares = used.rest(counts, counts * disagreement, d.sum(axis=1), (d**2).sum(axis=1))
    spread = squares - sums**2 / n
    expected = 2 * spread / (n - 1)
    low, high = used.rest_extent(*used.unit_extent(x))
    # A spread that is only rounding is none.
    constant = ~(high - low > NO_SPREAD * np.maximum(np.abs(low), np.abs(high)))
    return _Without(
        np.where(constant, np.nan, 1 - observed / n / expected), ~constant & (spread < CANCELLED * squares)
    )


def _alpha_ordinal(units: _GroupedUnits) -> _Without:
    """Mid-ranks anew for each group; disagreement by pairs of labels, less the pairs of the group."""
    used = units.pairable()
    pairs = _label_pairs(used)
    q, n_groups = len(used.table.categories), used.n_groups
    group, label, counts = used.label_counts()
    totals = _weighted_counts(label, counts, q)
    observed, expected = np.empty(n_groups), np.empty(n_groups)
    step = max(1, CELLS_AT_ONCE // max(q, len(pairs.first), 1))
    for start in range(0, n_groups, step):
        size = min(step, n_groups - start)
        entries = slice(*np.searchsorted(group, (start, start + size)))
        remaining = np.tile(totals, (size, 1))
        remaining[group[entries] - start, label[entries]] -= counts[entries]
        n = remaining.sum(axis=1)
        # From the middle rank, so that the sums of squares lose no digits.
        ranks = np.cumsum(remaining, axis=1) - remaining / 2 - n[:, None] / 2
        expected[start : start + size] = 2 * np.einsum("gk,gk->g", remaining, ranks**2) / (n - 1)
        everyone = ((ranks[:, pairs.first] - ranks[:, pairs.second]) ** 2) @ pairs.weights
        entries = slice(*np.searchsorted(pairs.group, (start, start + size)))
        position, pair = pairs.group[entries] - start, pairs.of[entries]
        squares = (ranks[position, pairs.first[pair]] - ranks[position, pairs.second[pair]]) ** 2
        gone = _weighted_counts(position, pairs.of_group[entries] * squares, size)
        observed[start : start + size] = 2 * (everyone - gone) / n
    return _Without(np.where(used.one_label(), np.nan, 1 - observed / expected))


class _LabelPairs(NamedTuple):
    """Pairs of different labels `first`, `second` inside units, each pair weighing 1 / (ratings - 1).

    `weights` are those of all units; of each group that has a pair, `group`, the pair's position `of`, and
    `of_group`, the weight of its units.
    """

    first: Codes
    second: Codes
    weights: Floats
    group: Codes
    of: Codes
    of_group: Floats


def _label_pairs(used: _GroupedUnits) -> _LabelPairs:
    codes, present, categories, counts = used.table
    q = max(len(categories), 1)
    keys, weights, groups = [], [], []
    # The ratings of a unit to the left, so that the number of raters in all does not matter.
    order = np.argsort(~present, axis=1, kind="stable")
    packed = np.take_along_axis(codes, order, axis=1)
    for b in range(1, int(counts.max(initial=0))):
        for a in range(b):
            units = np.flatnonzero((counts > b) & (packed[:, a] != packed[:, b]))
            low, high = np.sort(packed[units][:, [a, b]], axis=1).T
            keys.append(low * q + high)
            weights.append(1 / (counts[units] - 1))
            groups.append(used.groups[units])
    if not keys:
        empty = np.empty(0, dtype=np.intp)
        return _LabelPairs(empty, empty, np.empty(0), empty, empty, np.empty(0))
    key, weight, group = (np.concatenate(parts) for parts in (keys, weights, groups))
    names, position = np.unique(key, return_inverse=True)
    width = max(len(names), 1)
    of_groups, at_group = np.unique(group * width + position, return_inverse=True)
    return _LabelPairs(
        first=names // q,
        second=names % q,
        weights=_weighted_counts(position, weight, len(names)),
        group=of_groups // width,
        of=of_groups % width,
        of_group=_weighted_counts(at_group, weight),
    )


def _ac1(units: _GroupedUnits) -> _Without:
    used, counts, q = units.pairable(), units.table.counts, len(units.table.categories)
    n, observed = used.rest(np.ones(len(used.groups)), used.disagreement(used.table.codes, nominal=True))
    (rated,) = units.rest(counts > 0)
    squares, of_all = units.rest_squares(1 / np.maximum(counts, 1))
    expected = 1 - (1 - squares / rated**2) / (q - 1) if q > 1 else np.zeros(units.n_groups)
    return _Without(
        np.where(used.one_label() | (expected == 0), np.nan, 1 - observed / n / expected),
        squares < CANCELLED * of_all,
    )


def _quadratic_kappa(units: _GroupedUnits) -> _Without:
    used = units.pairable()
    a, b = (used.numbers() - (used.numbers().mean() if len(used.groups) else 0.0)).T
    n, of_a, of_b, squares, observed = used.rest(np.ones(len(a)), a, b, a**2 + b**2, (a - b) ** 2)
    # The variances of both and the squared difference of their means.
    expected = squares - 2 * of_a * of_b / n
    constant = used.one_label()
    return _Without(
        np.where(constant, np.nan, 1 - observed / expected), ~constant & (expected < CANCELLED * squares)
    )


def _icc_a1(units: _GroupedUnits) -> _Without:
    used = units.where(np.all(units.table.present, axis=1))
    x = used.numbers()
    k = x.shape[1]
    if k < 2 or not len(x):
        return _Without(np.full(units.n_groups, np.nan))
    means = x.mean(axis=1)
    levels = (x - means[:, None]).mean(axis=0)
    # What a unit's ratings hold beside its own level and the raters' levels in the whole table.
    residual = x - means[:, None] - levels
    centred = means - means.mean()
    n, sums, squares, errors, *shifts = used.rest(
        np.ones(len(x)), centred, centred**2, (residual**2).sum(axis=1), *residual.T
    )
    shift = np.stack(shifts) / n
    ms_units = k * (squares - sums**2 / n) / (n - 1)
    ms_raters = n * ((levels[:, None] + shift) ** 2).sum(axis=0) / (k - 1)
    ms_error = (errors - n * (shift**2).sum(axis=0)) / ((n - 1) * (k - 1))
    denominator = ms_units + (k - 1) * ms_error + k * (ms_raters - ms_error) / n
    low, high = used.rest_extent(*used.unit_extent(x))
    largest = np.maximum(np.abs(low), np.abs(high))
    defined = (n >= 2) & (denominator > (NO_SPREAD * largest) ** 2)
    terms = k * squares + errors
    # Terms that are rounding themselves leave nothing to compute again.
    spoilt = (n >= 2) & ((n - 1) * denominator < CANCELLED * terms) & (terms > (NO_SPREAD * largest) ** 2)
    return _Without(np.where(defined, (ms_units - ms_error) / denominator, np.nan), spoilt)


def _pearson(units: _GroupedUnits) -> _Without:
    numbers = units.numbers()
    centred = numbers - numbers.mean(axis=0)
    # Scaled, because squares of very large or small values would overflow or vanish.
    x, y = (centred / np.maximum(np.abs(centred).max(axis=0), np.finfo(float).tiny)).T
    n, sum_x, sum_y, xx, yy, xy = units.rest(np.ones(len(x)), x, y, x * x, y * y, x * y)
    var_x, var_y = xx - sum_x**2 / n, yy - sum_y**2 / n
    r = (xy - sum_x * sum_y / n) / np.sqrt(var_x * var_y)
    r = np.where(1 - np.abs(r) <= PERFECT, np.sign(r), r)
    constant = np.zeros(units.n_groups, dtype=bool)
    for column in numbers.T:
        low, high = units.rest_extent(rounded(column), rounded(column))
        constant |= low >= high
    spoilt = (var_x < CANCELLED * xx) | (var_y < CANCELLED * yy)
    return _Without(np.where(constant, np.nan, r), ~constant & spoilt)


def _pearson_of_all(ratings: NDArray[Any], missing: Any, categories: Any) -> float | None:
    if missing is not None and missing.any():
        raise ValueError("Pearson's r takes no missing rating: leave such units out")
    if ratings.shape[1] != 2:
        raise ValueError(f"ratings has {ratings.shape[1]} raters, Pearson's r is of 2")
    return pearson(ratings[:, 0], ratings[:, 1])


def _alpha(scale: Literal["nominal", "ordinal", "interval"]) -> Callable[[Any, Any, Any], float | None]:
    return lambda ratings, missing, _: krippendorff_alpha(ratings, scale, missing=missing).value


def _ac1_of_all(ratings: Any, missing: Any, categories: Any) -> float | None:
    """AC1 with the labels of the whole table; without any rating there is no label to name."""
    return gwet_ac1(ratings, missing=missing, categories=categories if len(categories) else None).value


_COEFFICIENTS: Mapping[AgreementCoefficient, _Coefficient] = {
    "alpha_nominal": _Coefficient("labels", _alpha("nominal"), _alpha_nominal),
    "alpha_ordinal": _Coefficient("steps", _alpha("ordinal"), _alpha_ordinal),
    "alpha_interval": _Coefficient("numbers", _alpha("interval"), _alpha_interval),
    "ac1": _Coefficient("labels", _ac1_of_all, _ac1),
    "icc_a1": _Coefficient("numbers", lambda r, m, _: icc_a1(r, missing=m).value, _icc_a1),
    "quadratic_kappa": _Coefficient(
        "steps", lambda r, m, _: weighted_kappa(r, missing=m).value, _quadratic_kappa
    ),
    "pearson": _Coefficient("numbers", _pearson_of_all, _pearson),
    "percent": _Coefficient("labels", lambda r, m, _: percent_agreement(r, missing=m).value, _percent),
}
