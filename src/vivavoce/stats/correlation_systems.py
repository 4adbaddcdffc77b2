"""Two measures of the same few systems: p by permuting, the range without each, pairs in the same order."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Floats, average_ranks, finite, group_codes, matrix, unit
from vivavoce.stats.correlation import Coefficient, correlation, fisher_interval
from vivavoce.stats.draws import random_orders
from vivavoce.stats.sums import rounded

ENUMERATED = 8  # systems: all 40,320 orders are visited, more are sampled
CHUNK = 2_000_000  # numbers held at once: 16 MB


class PermutationP(NamedTuple):
    """Two-sided `p`, from `n_permutations` orders of the systems; `exact` if these were all there are."""

    p: float
    n_systems: int
    n_permutations: int
    exact: bool


class HalvesCorrelation(NamedTuple):
    """A coefficient of two measures whose means are of disjoint halves of the groups, both crossings.

    Attributes
    ----------
    value : float or None
        Mean of the two crossings, of Pearson's r on Fisher's scale; null where a side of one does not vary.
    low, high : float or None
        Fisher's interval of `value` for K systems, of Pearson's r; null for Kendall's tau, and where `value`
        is or is 1.
    p : float or None
        Of Kendall's tau, by permuting systems: the larger of two. Null for Pearson's r, and where `value` is.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None


class OrderAgreement(NamedTuple):
    """Pairs of systems that two measures put in the same order.

    Attributes
    ----------
    same, opposite : int
    left_out : int
        Pairs not counted: tied, or not told apart, in one measure or both.
    share : float or None
        same / (same + opposite); null if no pair is counted.
    """

    same: int
    opposite: int
    left_out: int
    share: float | None


def permute_systems(
    x: ArrayLike,
    y: ArrayLike,
    *,
    coefficient: Coefficient = "kendall",
    rng: np.random.Generator,
    resamples: int = 9999,
) -> PermutationP | None:
    """Two-sided p of a coefficient, had the systems of one measure been shuffled.

    Exact by enumeration up to 8 systems; beyond, (hits + 1) / (resamples + 1).

    Parameters
    ----------
    x, y : arrays of shape (K,)
        One value per system.
    coefficient : {"kendall", "spearman", "pearson"}
        As in `correlation`.
    rng : numpy.random.Generator
        Required: a p that cannot be redrawn cannot be checked. Unused when p is exact.
    resamples : int
        Orders drawn beyond 8 systems. Time grows with resamples K, for Kendall's tau with K^2.

    Returns
    -------
    PermutationP or None
        Null where the coefficient is. Orders that only rounding (1e-9) tells from the observed one are
        hits. With 4 systems or fewer no p is below .05.

    Raises
    ------
    ValueError
        As `correlation`, or if `resamples` is below 1.

    Pitman (1937), Suppl. J. R. Stat. Soc. 4, 225-232; the + 1 of Phipson & Smyth (2010), SAGMB 9. It takes
    systems for exchangeable: versions of one family are not, and p is then too small.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, but is {resamples}")
    if correlation(x, y, coefficient=coefficient) is None:
        return None
    a, b = finite("x", x), finite("y", y)
    n = len(a)
    if coefficient != "pearson":
        # Ranks once: Spearman of the values is Pearson of the ranks in every order.
        a, b = average_ranks(a), average_ranks(b)
    exact = n <= ENUMERATED
    if coefficient == "kendall":
        first, second = np.triu_indices(n, 1)
        # Kendall's tau compares signs of differences: all pairs of one side as a vector.
        first_side, width = np.sign(a[first] - a[second]), len(first)
    else:
        first_side, width = unit(a), n
        b = unit(b)

    def sizes(orders: NDArray[np.intp]) -> Floats:
        """Numerators of the coefficient; its denominator is the same in every order."""
        shuffled = b[orders]
        if coefficient == "kendall":
            shuffled = np.sign(shuffled[:, first] - shuffled[:, second])
        result: Floats = np.abs(shuffled @ first_side)
        return result

    # An order that ties with the observed one counts, also when rounding puts it a digit below.
    bar = float(sizes(np.arange(n)[None])[0]) - 1e-9
    hits = 0
    total = math.factorial(n) if exact else resamples
    rows = max(1, CHUNK // width)
    everything = _orders(n) if exact else None
    for start in range(0, total, rows):
        if everything is not None:
            orders = everything[start : start + rows]
        else:
            count = min(rows, total - start)
            orders = random_orders(rng, n, count)
        hits += int(np.count_nonzero(sizes(orders) >= bar))
    # The observed order is one of those possible: without the 1 a sampled p could be 0.
    return PermutationP(hits / total if exact else (hits + 1) / (total + 1), n, total, exact)


class LeaveOneOut(NamedTuple):
    """A coefficient without each system, or each family, in turn.

    Attributes
    ----------
    low, high : float or None
        The range; null if no value is defined.
    values : tuple of float or None
        One per system, or per family in the order of the sorted labels; null where what is left has no
        variance.
    n : int
        Systems, or families.
    """

    low: float | None
    high: float | None
    values: tuple[float | None, ...]
    n: int


def random_half(groups: ArrayLike, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Half of the groups, as a flag per row: every second one of a random order; fewer by one where G is odd.

    Raises `ValueError` where there is no row, or a group is missing.
    """
    labels = np.asarray(groups)
    if not len(labels):
        raise ValueError("groups is empty: there is nothing to halve")
    codes, n_groups = group_codes(labels, length=len(labels))
    chosen = np.zeros(n_groups, dtype=bool)
    chosen[random_orders(rng, n_groups, 1)[0, 1::2]] = True
    return chosen[codes]


def pearson_across_halves(x: ArrayLike, y: ArrayLike) -> HalvesCorrelation:
    """Pearson's r of two measures over disjoint halves of the groups, as `kendall_across_halves`."""
    a, b = _halves("x", x), _halves("y", y)
    values = [correlation(a[k], b[1 - k], coefficient="pearson") for k in (0, 1)]
    if values[0] is None or values[1] is None:
        return HalvesCorrelation(None)
    if max(abs(value) for value in values if value is not None) >= 1:
        return HalvesCorrelation((values[0] + values[1]) / 2)
    value = math.tanh((math.atanh(values[0]) + math.atanh(values[1])) / 2)
    # Two crossings that are one would vary as a single coefficient does, and never more.
    ends = fisher_interval(value, a.shape[1])
    return HalvesCorrelation(value, ends.low, ends.high) if ends else HalvesCorrelation(value)


def kendall_across_halves(
    x: ArrayLike, y: ArrayLike, *, rng: np.random.Generator, resamples: int = 9999
) -> HalvesCorrelation:
    """Whether two measures order systems alike by more than the luck of the same answers.

    Two measures of the same answers share their noise: means over the same groups agree where systems do not
    differ at all. Means over different groups share the systems alone.

    Parameters
    ----------
    x, y : arrays of shape (2, K)
        The systems' means by one measure and by the other, in one half of the groups and in the other half.
    rng, resamples
        As in `permute_systems`.

    Returns
    -------
    HalvesCorrelation
        `p` is the larger of two: the systems of one half shuffled, exact where systems do not differ; and
        those of one measure shuffled, for measures that have nothing in common. All orders up to 7 systems.

    Raises
    ------
    ValueError
        If an array has another shape, a value is NaN or infinite, or `resamples` is below 1.

    Halves hold half of the groups: `value` is below what all would give without shared noise.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, but is {resamples}")
    a, b = _halves("x", x), _halves("y", y)
    values = [correlation(a[k], b[1 - k], coefficient="kendall") for k in (0, 1)]
    if values[0] is None or values[1] is None:
        return HalvesCorrelation(None)
    n = a.shape[1]
    # Each crossing by its own denominator: ties differ between halves.
    norms = [math.sqrt((_pair_signs(a[k]) ** 2).sum() * (_pair_signs(b[1 - k]) ** 2).sum()) for k in (0, 1)]

    def taus(shuffled: Sequence[Floats], fixed: Sequence[Floats]) -> Floats:
        """|sum of both taus| by order; the first sides are shuffled, shape (orders, K)."""
        pairs = zip(shuffled, fixed, norms, strict=True)
        result: Floats = np.abs(sum(_pair_signs(s) @ _pair_signs(f) / norm for s, f, norm in pairs))
        return result

    if math.factorial(n) <= resamples:
        orders = _orders(n)
    else:
        orders = random_orders(rng, n, resamples)
    of_half = _p_of_orders(lambda o: taus((b[1][o], a[1][o]), (a[0], b[0])), orders)
    of_measure = _p_of_orders(lambda o: taus((b[1][o], b[0][o]), (a[0], a[1])), orders)
    return HalvesCorrelation((values[0] + values[1]) / 2, p=max(of_half, of_measure))


def _pair_signs(values: Floats) -> Floats:
    """The sign of the difference of each pair of systems, 0 up to 1e-9; shape (…, pairs)."""
    first, second = np.triu_indices(values.shape[-1], 1)
    ranks = rounded(values)
    return np.asarray(np.sign(ranks[..., first] - ranks[..., second]))


def _p_of_orders(sizes: Callable[[NDArray[np.intp]], Floats], orders: NDArray[np.intp]) -> float:
    """The share of orders whose size is at least that observed; one more of each where they were drawn."""
    n = orders.shape[1]
    bar = float(sizes(np.arange(n)[None])[0]) - 1e-9
    rows = max(1, CHUNK // (n * n))
    hits = sum(
        int((sizes(orders[start : start + rows]) >= bar).sum()) for start in range(0, len(orders), rows)
    )
    is_exact = len(orders) == math.factorial(n)
    return hits / len(orders) if is_exact else (hits + 1) / (len(orders) + 1)


def _halves(name: str, values: ArrayLike) -> Floats:
    """A finite matrix of two rows."""
    table = matrix(name, values)
    if len(table) != 2:
        raise ValueError(f"{name} must have one row for each of two halves, but has {len(table)}")
    return table


def leave_one_out(
    x: ArrayLike, y: ArrayLike, *, coefficient: Coefficient = "kendall", families: ArrayLike | None = None
) -> LeaveOneOut:
    """How far one system, or one family of systems, carries the coefficient.

    Parameters
    ----------
    x, y : arrays of shape (K,)
        One value per system.
    coefficient : {"kendall", "spearman", "pearson"}
        As in `correlation`.
    families : array of shape (K,), optional
        Whose versions are left out together; every system for itself by default.

    Raises
    ------
    ValueError
        As `correlation`; if a family is missing or lengths differ.

    A range, not an interval: it has no level.
    """
    a = finite("x", x)
    b = finite("y", y, length=len(a))
    codes, n = group_codes(np.arange(len(a)) if families is None else families, length=len(a))
    selections = [codes != k for k in range(n)]
    values = tuple(
        correlation(a[kept_rows], b[kept_rows], coefficient=coefficient) if kept_rows.any() else None
        for kept_rows in selections
    )
    defined = [value for value in values if value is not None]
    return LeaveOneOut(min(defined, default=None), max(defined, default=None), values, n)


def order_agreement(x: ArrayLike, y: ArrayLike) -> OrderAgreement:
    """Pairs of systems that both measures put in the same order, whether or not the order is certain.

    Parameters
    ----------
    x, y : arrays of shape (K,)
        One value per system, higher being better in both; equal to 1e-9 is tied.

    Raises
    ------
    ValueError
        If there is no system, a value is NaN or infinite, or lengths differ.

    Half of all pairs agree by chance, and near ties agree like a coin: `shown_agreement` leaves them out.
    """
    a = finite("x", x)
    b = finite("y", y, length=len(a))
    first, second = np.triu_indices(len(a), 1)
    a, b = rounded(a), rounded(b)
    return _counted(np.sign(a[first] - a[second]) * np.sign(b[first] - b[second]))


def shown_agreement(better_x: ArrayLike, better_y: ArrayLike) -> OrderAgreement:
    """Pairs in the same order among those that both measures tell apart.

    Parameters
    ----------
    better_x, better_y : boolean arrays of shape (K, K)
        [i, j] is true if system i was shown better than j, as `rank_intervals` returns it.

    Raises
    ------
    ValueError
        If they are not square and alike, not boolean, or show both of a pair better than the other.

    Read it with `left_out`: two measures that tell little apart agree easily on the rest.
    """
    sides = []
    for name, matrix_of_name in (("better_x", better_x), ("better_y", better_y)):
        better = np.asarray(matrix_of_name)
        if better.dtype != np.bool_ or better.ndim != 2 or better.shape != (len(better),) * 2:
            raise ValueError(f"{name} must be a square matrix of booleans, not {better.dtype} {better.shape}")
        if (better & better.T).any():
            i, j = np.argwhere(better & better.T)[0]
            raise ValueError(f"{name} shows systems {i} and {j} each better than the other")
        first, second = np.triu_indices(len(better), 1)
        sides.append(better[first, second].astype(int) - better[second, first].astype(int))
    if len(sides[0]) != len(sides[1]):
        raise ValueError("better_x and better_y must have the same systems")
    return _counted(sides[0] * sides[1])


def _counted(products: NDArray[np.float64] | NDArray[np.int_]) -> OrderAgreement:
    concordant, opposite = int(np.count_nonzero(products > 0)), int(np.count_nonzero(products < 0))
    # Only pairs that both measures decide count; a tie on either side is left out, not half a match.
    decided = concordant + opposite
    return OrderAgreement(
        concordant, opposite, len(products) - decided, concordant / decided if decided else None
    )


def _orders(n: int) -> NDArray[np.intp]:
    """All orders of 0 … n - 1, shape (n!, n)."""
    orders = np.zeros((1, 1), dtype=np.intp)
    for new in range(1, n):
        orders = np.concatenate([np.insert(orders, position, new, axis=1) for position in range(new + 1)])
    return orders
