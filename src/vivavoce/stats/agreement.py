"""Agreement of raters on the same units: raw, and beyond what the labels' frequencies make by chance.

The coefficients disagree where one label prevails; print them together. No cut-offs are offered ("good",
"substantial"): none has a derivation. Agreement uses labels as given, before adjudication. They share the
observed agreement and differ in what they take for chance: each rater's own frequencies (Cohen), the
frequencies of all (Krippendorff), or how far the labels are spread at all (Gwet).
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Floats
from vivavoce.stats._ratings import (
    Agreement,
    Distance,
    Ratings,
    coefficient,
    differ,
    distance_within,
    read_ratings,
    squared,
)
from vivavoce.stats.estimate import NO_SPREAD
from vivavoce.stats.sums import exact_mean

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


class CategoryAgreement(NamedTuple):
    """How often a second rater says the same, given that one said `category`; null where nobody did."""

    category: Any
    value: float | None
    n_ratings: int


class PercentAgreement(NamedTuple):
    """Raw agreement, a share from 0 to 1; `by_category` in the order of the sorted labels.

    `value` is null if no unit has two ratings. Counts as in `Agreement`.
    """

    value: float | None
    by_category: tuple[CategoryAgreement, ...]
    n_units: int
    n_ratings: int
    n_raters: int
    n_dropped: int


def percent_agreement(
    ratings: ArrayLike, *, missing: ArrayLike | None = None, categories: ArrayLike | None = None
) -> PercentAgreement:
    """Share of pairs of raters that agree, averaged over units; and the same given each category.

    Of category k: sum_u r_uk (r_uk - 1) / sum_u r_uk (r_u - 1), which for two raters is 2a / (2a + b + c).

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Labels of any kind; numbers equal to 1e-9 are one label.
    missing : array of bool, same shape, optional
        True where there is no rating; what stands there is not read.
    categories : array of shape (q,), optional
        The labels offered. By default those that occur.

    Returns
    -------
    PercentAgreement
        With one label only the value is 1: a description, unlike the coefficients.

    Raises
    ------
    ValueError
        If the table is empty or not two-dimensional, `missing` has another shape or is not boolean, a
        rating is NaN, infinite or None without being marked missing, or is no declared category.

    Per category: Cicchetti & Feinstein (1990), J. Clin. Epidemiol. 43, 551-558, for two raters. Where one
    label prevails the raw value is high whoever rates: read the rare category's.
    """
    table = read_ratings(ratings, missing, scale="labels", categories=categories)
    used = table.pairable()
    value = None
    if len(used.counts):
        value = 1 - exact_mean(distance_within(used.codes, used.present, distance=differ))
    return PercentAgreement(
        value=value,
        by_category=_by_category(used),
        n_units=len(used.counts),
        n_ratings=int(used.counts.sum()),
        n_raters=table.codes.shape[1],
        n_dropped=len(table.counts) - len(used.counts),
    )


def krippendorff_alpha(ratings: ArrayLike, scale: Scale, *, missing: ArrayLike | None = None) -> Agreement:
    """Krippendorff's alpha: disagreement inside units over disagreement of all ratings, whoever gave them.

    With m_u ratings in unit u, n in all, and a distance d: observed = 1/n sum_u 1/(m_u - 1) sum over
    ordered pairs in u of d; expected = 1/(n (n - 1)) sum over all ordered pairs of d. d is 0 or 1
    (nominal), the squared difference of mid-ranks among all ratings (ordinal) or of values (interval), or
    ((x - y) / (x + y))^2 (ratio).

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Labels of any kind if nominal, else numbers; for "ratio" not negative.
    scale : {"nominal", "ordinal", "interval", "ratio"}
        What may be done with the labels.
    missing : array of bool, same shape, optional
        True where there is no rating. Units with fewer than two ratings are dropped and counted.

    Raises
    ------
    ValueError
        As `percent_agreement`; if numbers are needed and something else is there, or a negative one.

    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Hayes & Krippendorff (2007). The
    ordinal mid-ranks are of this table's ratings, so their alpha is of this sample of units; with one
    prevailing label alpha is low and unstable: put `percent_agreement` and `gwet_ac1` beside it.
    """
    if scale not in ("nominal", "ordinal", "interval", "ratio"):
        raise ValueError(f"scale must be nominal, ordinal, interval or ratio, but is {scale!r}")
    kinds: dict[Scale, Literal["labels", "steps", "numbers"]] = {"nominal": "labels", "ordinal": "steps"}
    table = read_ratings(ratings, missing, scale=kinds.get(scale, "numbers"))
    used = table.pairable()
    n = int(used.counts.sum())
    if n == 0:
        return coefficient(None, None, table=table, used=used, one_label=False)
    totals = used.totals().astype(np.float64)
    values, distance = _positions(table.categories, totals, scale)
    within_units = distance_within(values[used.codes], used.present, distance=distance)
    observed = float(used.counts @ within_units) / n
    if distance is squared:
        middle = float(totals @ values) / n
        expected = 2 * float(totals @ (values - middle) ** 2) / (n - 1)
    elif distance is differ:
        expected = (n**2 - float(totals @ totals)) / (n * (n - 1))
    else:
        pairs = sum(t * float(totals @ distance(v, values)) for v, t in zip(values, totals, strict=True))
        expected = pairs / (n * (n - 1))
    present = values[totals > 0]
    # A spread that is only rounding is none.
    constant = float(np.ptp(present)) <= NO_SPREAD * float(np.abs(present).max())
    return coefficient(observed, expected, table=table, used=used, one_label=constant)


def _by_category(used: Ratings) -> tuple[CategoryAgreement, ...]:
    q = len(used.categories)
    units = np.nonzero(used.present)[0]
    # A key for each unit and label that occurs, so that many labels take no memory.
    cells, counts = np.unique(units * q + used.codes[used.present], return_counts=True)
    label, n_pairs = cells % q if q else cells, used.counts[cells // q if q else cells] - 1
    agreeing = np.bincount(label, weights=counts * (counts - 1), minlength=q)
    possible = np.bincount(label, weights=counts * n_pairs, minlength=q)
    return tuple(
        CategoryAgreement(name, float(a / p) if p else None, int(n))
        for name, a, p, n in zip(used.categories.tolist(), agreeing, possible, used.totals(), strict=True)
    )


def _positions(categories: NDArray[Any], totals: Floats, scale: Scale) -> tuple[NDArray[Any], Distance]:
    """Where each category stands, and the distance of two such places."""
    if scale == "nominal":
        return np.arange(len(categories)), differ
    if scale == "ordinal":
        return np.cumsum(totals) - totals / 2, squared
    values = np.asarray(categories, dtype=np.float64)
    if scale == "interval":
        return values, squared
    if (values < 0).any():
        raise ValueError(f"ratings holds {values.min()}: a ratio scale starts at 0")
    return values, _relative


def _relative(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    total = a + b
    # Two zeros are equal.
    return np.asarray(((a - b) / np.where(total > 0, total, 1.0)) ** 2, dtype=np.float64)


def weighted_kappa(
    ratings: ArrayLike,
    *,
    weights: Literal["quadratic", "linear"] = "quadratic",
    missing: ArrayLike | None = None,
) -> Agreement:
    """Cohen's kappa of two raters where a small disagreement is less than a large one.

    The disagreement of x and y is (x - y)^2 or |x - y|, on the values and not on their positions: half
    scores count as half a step.

    Parameters
    ----------
    ratings : array of shape (n_units, 2)
        Numbers; equal to 1e-9 is equal.
    weights : {"quadratic", "linear"}
        Which of the two disagreements.
    missing : array of bool, same shape, optional
        True where there is no rating. Units without both are dropped and counted.

    Returns
    -------
    Agreement
        Null if both gave one and the same number throughout; 0 if each kept to another one number.

    Raises
    ------
    ValueError
        If there are not two raters, the table is empty, a rating is not a number, or one is NaN or infinite
        without being marked missing.

    Cohen (1968), Psychol. Bull. 70, 213-220. The quadratic form comes close to an intraclass correlation
    (Fleiss & Cohen 1973) and grows with the spread of the units: do not compare it between samples.
    """
    if weights not in ("quadratic", "linear"):
        raise ValueError(f"weights must be quadratic or linear, but is {weights!r}")
    table = read_ratings(ratings, missing, scale="steps")
    raters = table.codes.shape[1]
    if raters != 2:
        raise ValueError(f"ratings has {raters} raters, kappa is of 2: take krippendorff_alpha")
    used = table.pairable()
    n = len(used.counts)
    if n == 0:
        return coefficient(None, None, table=table, used=used, one_label=False)
    a, b = used.codes.T
    x = np.asarray(table.categories, dtype=np.float64)
    if weights == "linear":
        first, second = (np.bincount(codes, minlength=len(x)) / n for codes in (a, b))
        observed = float(np.abs(x[a] - x[b]).mean())
        expected = float(sum(p * (second @ np.abs(v - x)) for p, v in zip(first, x, strict=True)))
    else:
        observed = float(np.mean((x[a] - x[b]) ** 2))
        expected = float(np.var(x[a]) + np.var(x[b]) + (x[a].mean() - x[b].mean()) ** 2)
    return coefficient(observed, expected, table=table, used=used, one_label=_one_label(used))


def gwet_ac1(
    ratings: ArrayLike, *, missing: ArrayLike | None = None, categories: ArrayLike | None = None
) -> Agreement:
    """Gwet's AC1 for labels without order: chance is what raters who do not know would add.

    1 - (1 - p_a) / (1 - p_e), with p_a the raw agreement, pi_k the mean share of category k in a unit and
    p_e = sum_k pi_k (1 - pi_k) / (q - 1) over q categories.

    Parameters
    ----------
    ratings, missing
        As in `percent_agreement`. As published, units with one rating enter pi_k and not p_a; they are
        counted as dropped.
    categories : array of shape (q,), optional
        The labels offered; q counts, so declare them if some may not occur. By default those that do.

    Raises
    ------
    ValueError
        As `percent_agreement`.

    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48. Stable where one label prevails, where kappa and
    alpha fall; and high there whoever rates, so not to be read alone.
    """
    table = read_ratings(ratings, missing, scale="labels", categories=categories)
    used = table.pairable()
    if not len(used.counts):
        return coefficient(None, None, table=table, used=used, one_label=False)
    observed = float(distance_within(used.codes, used.present, distance=differ).mean())
    q = len(table.categories)
    shares = _shares(table)
    expected = 0.0
    if q > 1:
        # In this order, as Gwet writes it: another order of the same arithmetic has another last digit.
        expected = 1 - q / (q * (q - 1)) * float(shares @ (1 - shares))
    return coefficient(observed, expected, table=table, used=used, one_label=_one_label(used))


def _shares(table: Ratings) -> Floats:
    """Mean over rated units of the share of each category in the unit."""
    rated = table.counts > 0
    weights = 1 / np.where(rated, table.counts, 1)
    units = np.nonzero(table.present)[0]
    total = np.bincount(table.codes[table.present], weights=weights[units], minlength=len(table.categories))
    return np.asarray(total / rated.sum())


def _one_label(used: Ratings) -> bool:
    return int(np.count_nonzero(used.totals())) < 2
