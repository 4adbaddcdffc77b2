"""Agreement beyond chance by pairs of labels: Cohen's and Fleiss' kappa, Gwet's AC1 and AC2.

They share the observed agreement and differ in what they take for chance: each rater's own frequencies
(Cohen), the frequencies of all (Fleiss), or how far the labels are spread at all (Gwet).
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import Floats
from vivavoce.stats._ratings import Agreement, Ratings, coefficient, differ, distance_within, read

__all__ = ["cohen_kappa", "fleiss_kappa", "gwet_ac1", "gwet_ac2", "weighted_kappa"]


def cohen_kappa(ratings: ArrayLike, *, missing: ArrayLike | None = None) -> Agreement:
    """Cohen's kappa of two raters: chance is each keeping to their own frequencies.

    1 - observed / expected, with the share of units on which they differ, and sum_kl p_k p'_l over k != l.

    Parameters
    ----------
    ratings : array of shape (n_units, 2)
        Labels of any kind; numbers equal to 1e-9 are one label.
    missing : array of bool, same shape, optional
        True where there is no rating. Units without both are dropped and counted.

    Returns
    -------
    Agreement
        Null if both gave one and the same label throughout; 0 if each kept to another one label.

    Raises
    ------
    ValueError
        If there are not two raters, the table is empty, or a rating is NaN, infinite or None without being
        marked missing.

    Cohen (1960), Educ. Psychol. Meas. 20, 37-46. Raters who differ in how often they use a label are
    forgiven: compare `krippendorff_alpha`, which is not so kind to a shift of level.
    """
    return _cohen(read(ratings, missing, scale="labels"), power=0)


def weighted_kappa(
    ratings: ArrayLike,
    *,
    weights: Literal["quadratic", "linear"] = "quadratic",
    missing: ArrayLike | None = None,
) -> Agreement:
    """Cohen's kappa of two raters where a small disagreement is less than a large one.

    The disagreement of x and y is (x - y)^2 or |x - y|, on the values and not on their positions: half
    marks count as half a step.

    Parameters
    ----------
    ratings : array of shape (n_units, 2)
        Numbers; equal to 1e-9 is equal.
    weights : {"quadratic", "linear"}
        Which of the two disagreements.
    missing
        As in `cohen_kappa`.

    Raises
    ------
    ValueError
        As `cohen_kappa`; if a rating is not a number.

    Cohen (1968), Psychol. Bull. 70, 213-220. The quadratic form comes close to an intraclass correlation
    (Fleiss & Cohen 1973) and grows with the spread of the units: do not compare it between samples.
    """
    if weights not in ("quadratic", "linear"):
        raise ValueError(f"weights must be quadratic or linear, but is {weights!r}")
    return _cohen(read(ratings, missing, scale="steps"), power=2 if weights == "quadratic" else 1)


def fleiss_kappa(ratings: ArrayLike, *, missing: ArrayLike | None = None) -> Agreement:
    """Fleiss' kappa of any number of raters, who need not be the same for each unit.

    Observed is the mean share of pairs in a unit that differ, expected 1 - sum_k pi_k^2 with pi_k the mean
    share of category k in a unit.

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Labels of any kind; numbers equal to 1e-9 are one label.
    missing : array of bool, same shape, optional
        True where there is no rating. Units may have different numbers of ratings, as in Gwet (2014); those
        with one rating enter pi_k and not the observed part, and are counted as dropped.

    Raises
    ------
    ValueError
        As `percent_agreement`.

    Fleiss (1971), Psychol. Bull. 76, 378-382. With two raters it is Scott's pi, not Cohen's kappa; where
    one label prevails it is low whoever rates.
    """
    table = read(ratings, missing, scale="labels")
    used = table.pairable()
    if not len(used.counts):
        return coefficient(None, None, table=table, used=used, one_label=False)
    observed = float(distance_within(used.codes, used.present, distance=differ).mean())
    shares = _shares(table)
    return coefficient(
        observed, 1 - float(shares @ shares), table=table, used=used, one_label=_one_label(used)
    )


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
    table = read(ratings, missing, scale="labels", categories=categories)
    return _gwet(table, 1 - np.eye(len(table.categories)))


def gwet_ac2(
    ratings: ArrayLike,
    *,
    weights: Literal["linear", "quadratic", "ordinal"] = "quadratic",
    missing: ArrayLike | None = None,
    categories: ArrayLike | None = None,
) -> Agreement:
    """Gwet's AC2: AC1 where some disagreements are smaller than others.

    p_a is the mean weight over pairs in a unit, p_e = sum_kl w_kl / (q (q - 1)) * sum_k pi_k (1 - pi_k).

    Parameters
    ----------
    ratings : array of shape (n_units, n_raters)
        Numbers; equal to 1e-9 is equal.
    weights : {"linear", "quadratic", "ordinal"}
        1 - |x - y| / range; 1 - (x - y)^2 / range^2, on the values; 1 - C(h, 2) / C(q, 2) with h the
        categories from x to y, both counted, on the positions.
    missing, categories
        As in `gwet_ac1`. The range is that of the categories.

    Raises
    ------
    ValueError
        As `percent_agreement`; if a rating is not a number.

    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 3 and 5.
    """
    table = read(ratings, missing, scale="steps", categories=categories)
    x = np.asarray(table.categories, dtype=np.float64)
    if weights == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(len(x)), np.arange(len(x)))) + 1.0
        apart = steps * (steps - 1)
    elif weights in ("linear", "quadratic"):
        apart = np.abs(np.subtract.outer(x, x)) ** (1 if weights == "linear" else 2)
    else:
        raise ValueError(f"weights must be linear, quadratic or ordinal, but is {weights!r}")
    return _gwet(table, apart / apart.max() if apart.max(initial=0) > 0 else apart)


def _gwet(table: Ratings, apart: Floats) -> Agreement:
    """`apart`: disagreement of each two categories, from 0 to 1."""
    used = table.pairable()
    if not len(used.counts):
        return coefficient(None, None, table=table, used=used, one_label=False)
    observed = float(
        distance_within(used.codes, used.present, distance=lambda a, b: np.asarray(apart[a, b])).mean()
    )
    q = len(table.categories)
    shares = _shares(table)
    expected = 0.0
    if q > 1:
        expected = 1 - float((1 - apart).sum()) / (q * (q - 1)) * float(shares @ (1 - shares))
    return coefficient(observed, expected, table=table, used=used, one_label=_one_label(used))


def _cohen(table: Ratings, *, power: Literal[0, 1, 2]) -> Agreement:
    raters = table.codes.shape[1]
    if raters != 2:
        raise ValueError(
            f"ratings has {raters} raters, kappa is of 2: take fleiss_kappa or krippendorff_alpha"
        )
    used = table.pairable()
    n = len(used.counts)
    if n == 0:
        return coefficient(None, None, table=table, used=used, one_label=False)
    a, b = used.codes.T
    if power == 0:
        x = np.arange(len(table.categories), dtype=np.float64)
    else:
        x = np.asarray(table.categories, dtype=np.float64)
    first, second = (np.bincount(one, minlength=len(x)) / n for one in (a, b))
    if power == 0:
        observed, expected = float(np.mean(a != b)), 1 - float(first @ second)
    elif power == 1:
        observed = float(np.abs(x[a] - x[b]).mean())
        expected = float(sum(p * (second @ np.abs(v - x)) for p, v in zip(first, x, strict=True)))
    else:
        observed = float(np.mean((x[a] - x[b]) ** 2))
        expected = float(np.var(x[a]) + np.var(x[b]) + (x[a].mean() - x[b].mean()) ** 2)
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
