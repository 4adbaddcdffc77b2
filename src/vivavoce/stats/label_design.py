"""Which cases people should label: those whose label is likely to tell more get a larger probability.

The variance of a prediction-powered mean is that of the residuals D - lambda d over the labelled cases: D is
people's figure of a case, d the judge's. It is least if each case is drawn in proportion to the size of its
residual (Neyman 1934, J. R. Stat. Soc. 97, 558-625). Zrnic & Candes (2024), Active statistical inference,
ICML, predict that size. Here labels have to bear the prediction out, so that a wrong judge costs little.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Floats, finite

PRICE = 1.03
"""How many times the labels a draw without earlier labels may take if the judge predicts nothing. A little
below the 5 % that are promised: unequal weights cost degrees of freedom too.
"""
COMMON = 0.1
"""The least share of the predicted variance that is the same for every case."""
LEAST = 0.1
"""The least probability of a later draw, as a share of the mean one."""
PRIOR_LABELS = 20
"""How many labels the prediction without labels is worth beside those that exist."""
FEWEST_LABELS = 10
"""With fewer labels outside of a case's own fold, the prediction is the one without labels."""

Flags = NDArray[np.bool_]


class CaseProbabilities(NamedTuple):
    """The probabilities of a draw.

    Attributes
    ----------
    now : array of shape (G,)
        Of being drawn now, if the case was not drawn before; over such cases they sum to the number to draw.
    total : array of shape (G,)
        Of being drawn now or before, above 0: what an estimate weighs by.
    price : float
        mean(total) mean(1 / total): how many times the labels of a uniform draw are needed if the prediction
        says nothing. 1 for a uniform draw.
    """

    now: Floats
    total: Floats
    price: float


def case_probabilities(
    n: int,
    *,
    judged: ArrayLike,
    spread: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    earlier: ArrayLike | None = None,
    free: ArrayLike | None = None,
    labels: ArrayLike = (),
    labelled: ArrayLike = (),
    folds: ArrayLike | None = None,
) -> CaseProbabilities:
    """Probabilities for drawing n more of G cases.

    The variance of a case's residual is predicted as b_0 + sum_k b_k x_k, all b >= 0, from x: whether d is
    its median or not, the squared distance from it, the judge's spread and the case's size, each divided by
    its mean. Totals are in proportion to the root. Without labels, distance and spread count where they are
    large in fewer than half of the cases, as far as `PRICE` allows. With labels, b is fitted to their squared
    residuals, with the prediction without labels as `PRIOR_LABELS` labels more; a case's own fold is left
    out, so that no label enters the prediction of its case. `total` = earlier + (1 - earlier) now.

    Parameters
    ----------
    n : int
        How many cases to draw; all that are left if there are no more.
    judged : array of shape (G,)
        The judge's figure d: sum over the case's items, of a difference or a score.
    spread : array of shape (G,), optional
        Variance of d between the judge's passes or a jury's members.
    sizes : array of shape (G,), optional
        Items of each case; 1 by default.
    earlier : array of shape (G,), optional
        Total probability of each case over the draws so far; 0 where a case took part in none.
    free : array of shape (G,), optional
        Whether the case can be drawn: it was not yet. All can by default.
    labels, labelled : array of shape (m,)
        People's figure D of cases drawn before, summed like d, and the positions of those cases.
    folds : array of shape (G,), optional
        Fold of each case, whole numbers that do not depend on scores; needed with labels.

    Returns
    -------
    CaseProbabilities
        The same whatever the order of the cases. Uniform where all cases look alike.

    Raises
    ------
    ValueError
        If n is below 1, an array does not fit or holds NaN, or every case was drawn.
    """
    d = finite("judged", judged)
    earlier_chances = np.zeros(len(d)) if earlier is None else finite("earlier", earlier, length=len(d))
    can_be = np.ones(len(d), dtype=bool) if free is None else np.asarray(free, dtype=bool)
    if n < 1:
        raise ValueError(f"n must be at least 1, but is {n}")
    if earlier_chances.min() < 0 or earlier_chances.max() > 1:
        raise ValueError("earlier must hold probabilities from 0 to 1")
    if not can_be.any():
        raise ValueError("every case was drawn before: there is none left to draw")
    position = np.asarray(labelled, dtype=np.intp)
    if (earlier_chances[position] <= 0).any():
        raise ValueError("labels must be of cases with an earlier probability above 0")
    people = _Labels(
        position, finite("labels", labels, length=len(position), empty=True), 1 / earlier_chances[position]
    )
    size = np.ones(len(d)) if sizes is None else finite("sizes", sizes, length=len(d))
    predicted = np.sqrt(_predicted(d, size, spread, people, folds))
    chances = allocation(predicted, min(n, int(can_be.sum())), earlier=earlier_chances, free=can_be)
    total = earlier_chances + (1 - earlier_chances) * chances
    return CaseProbabilities(chances, total, float(total.mean() * (1 / total).mean()))


def allocation(sizes: Floats, n: int, *, earlier: Floats, free: Flags) -> Floats:
    """Probabilities of drawing n of the free cases that bring all totals near to c `sizes`.

    Neyman's allocation where no case was drawn before and none is certain.

    Parameters
    ----------
    sizes : array of shape (G,)
        The predicted size of each case's residual, above 0.
    n : int
        From 1 to the number of free cases.
    earlier : array of shape (G,)
        The total probability of each case over earlier draws.
    free : array of shape (G,)
        Whether the case can be drawn: it was not yet.

    Returns
    -------
    array of shape (G,)
        min(1, max(least, (c size - earlier) / (1 - earlier))), where least is `LEAST` times the mean and c
        makes the free cases sum to n.
    """
    if n == free.sum():
        return np.ones(len(sizes))
    smallest = LEAST * n / free.sum()

    def probabilities(factor: float) -> Floats:
        return np.clip((factor * sizes - earlier) / np.maximum(1 - earlier, 1e-12), smallest, 1.0)

    low, high = 0.0, 2 / float(sizes.min())
    for _ in range(100):
        middle = (low + high) / 2
        if probabilities(middle)[free].sum() < n:
            low = middle
        else:
            high = middle
    return probabilities(high)


def draw_cases(probabilities: ArrayLike, *, numbers: ArrayLike, start: float) -> Flags:
    """Draw cases with exactly these probabilities, a fixed number if they sum to a whole one.

    Systematic sampling from a random order (Madow 1949, Ann. Math. Stat. 20, 333-354; Hartley & Rao 1962,
    Ann. Math. Stat. 33, 350-374). Equal probabilities give a simple random sample.

    Parameters
    ----------
    probabilities : array of shape (G,)
        From 0 to 1.
    numbers : array of shape (G,)
        A random number for each case, such as a hash of its name and a seed: the order is theirs.
    start : float
        A random number from 0 to 1, independent of `numbers`.

    Returns
    -------
    array of shape (G,)
        Whether the case is drawn. A case with probability 1 is, one with 0 is not.

    Raises
    ------
    ValueError
        If a probability or the start lies outside 0 to 1, or an array is empty or holds NaN.
    """
    p = finite("probabilities", probabilities)
    order = np.argsort(finite("numbers", numbers, length=len(p)), kind="stable")
    if p.min() < 0 or p.max() > 1:
        raise ValueError("probabilities must lie from 0 to 1")
    if not 0 <= start < 1:
        raise ValueError(f"start must be from 0 to below 1, but is {start}")
    ends = np.concatenate([[0.0], np.cumsum(p[order])])
    # Sums of decimals miss a whole number by a rounding error, and the last case would be lost or added.
    if abs(ends[-1] - round(ends[-1])) < 1e-9:
        ends[-1] = round(ends[-1])
    selected = np.zeros(len(p), dtype=bool)
    selected[order] = np.diff(np.floor(ends + start)) > 0
    return selected


class _Labels(NamedTuple):
    """Where people's figures are, what they are, and their weights."""

    positions: NDArray[np.intp]
    values: Floats
    weights: Floats


def _predicted(
    d: Floats, sizes: Floats, spread: ArrayLike | None, people: _Labels, folds: ArrayLike | None
) -> Floats:
    """The predicted variance of each case's residual, up to a factor."""
    features, hints = _features(d, sizes, spread)
    prior = _prior(features, hints)
    shares = np.tile(prior, (len(d), 1))
    if len(people.positions) >= FEWEST_LABELS:
        if folds is None:
            raise ValueError("labels need folds: a case's own label must not enter its prediction")
        fold = np.asarray(folds)
        for number in np.unique(fold):
            training = fold[people.positions] != number
            if training.sum() >= FEWEST_LABELS:
                use = people.positions[training]
                residuals = _residuals(people.values[training], d[use], sizes[use], people.weights[training])
                shares[fold == number] = _fitted(features[use], residuals**2, prior)
    return np.asarray((features * shares).sum(axis=1))


class _Features(NamedTuple):
    """What may predict a residual's size, a column each, of mean 1; which of them count without labels."""

    columns: Floats
    hints: Flags


def _features(d: Floats, sizes: Floats, spread: ArrayLike | None) -> _Features:
    centre = sizes * np.median(d / sizes)
    hints = [d != centre, (d - centre) ** 2]
    if spread is not None:
        hints.append(finite("spread", spread, length=len(d)))
    # Of a judge who is mostly right the rarer of the two, ties or differences, holds the errors; that it is
    # one at all has to be learned, so a tie is no hint.
    columns = [np.asarray(x, dtype=np.float64) for x in (*hints, d == centre, sizes**2)]
    uneven = [x for x in columns if np.ptp(x) > 0]
    table = np.column_stack([np.ones(len(d)), *(x / x.mean() for x in uneven)])
    n_hints = sum(np.ptp(x) > 0 for x in columns[: len(hints)])
    # What is large in most cases is the rule, and says little of where the judge errs.
    rare = (table > 1).mean(axis=0) < 0.5
    rare[0] = False
    rare[n_hints + 1 :] = False
    return _Features(table, rare)


def _prior(features: Floats, hints: Flags) -> Floats:
    """Shares of the predicted variance where there are no labels, at `PRICE`."""
    constant: Floats = np.eye(len(hints))[0]
    if not hints.any():
        return constant
    low, high = 0.0, 1 - COMMON
    for _ in range(40):
        middle = (low + high) / 2
        predicted = np.sqrt(features @ ((1 - middle) * constant + middle * hints / hints.sum()))
        if predicted.mean() * (1 / predicted).mean() <= PRICE:
            low = middle
        else:
            high = middle
    return np.asarray((1 - low) * constant + low * hints / hints.sum())


def _residuals(people: Floats, d: Floats, sizes: Floats, weights: Floats) -> Floats:
    """D - lambda d of labelled cases, each about the weighted mean of its kind."""
    share = weights / (weights @ sizes)
    y, x = people - sizes * (share @ people), d - sizes * (share @ d)
    variance = share @ x**2
    slope = min(max(float(share @ (x * y) / variance), 0.0), 1.0) if variance > 0 else 0.0
    return np.asarray(y - slope * x)


def _fitted(features: Floats, squares: Floats, prior: Floats) -> Floats:
    """Shares of the predicted variance, fitted to squared residuals."""
    if not squares.any():
        return prior
    # A square varies in proportion to its mean, so each row is divided by what the prior predicts.
    scale = features @ prior
    weight = np.sqrt(PRIOR_LABELS)
    rows = np.concatenate([features / scale[:, None], weight * np.eye(len(prior))])
    shares, _ = scipy.optimize.nnls(rows, np.concatenate([squares / squares.mean() / scale, weight * prior]))
    return np.array(COMMON * np.eye(len(prior))[0] + (1 - COMMON) * shares / shares.sum())
