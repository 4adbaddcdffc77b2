"""A fixed set of items, where only repeats vary: its mean, and how often a variant flips the response.

For regression gates: "has this system changed?" Cochran (1977), Sampling Techniques, sec. 5.3. A variant is
an item with one thing changed (a biased sentence, a name, a dose). The noise floor is what repeats of the
same words do: without it every model looks swayed.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import finite, group_codes, inside, item_weights, label_codes
from vivavoce.stats.estimate import NO_SPREAD, Estimate, Interval, estimate_mean, t_interval
from vivavoce.stats.multiplicity import holm
from vivavoce.stats.paired import Paired, paired
from vivavoce.stats.sums import exact_group_sums, exact_mean


class Fixed(NamedTuple):
    """A mean over items that are all there are; `se` is the error of repeats alone.

    `se` is null where an item was answered once; `df` (Welch-Satterthwaite) also where no repeat differs.
    """

    value: float
    se: float | None
    df: float | None
    n: int
    n_rows: int

    def interval(self, *, level: float = 0.95) -> Interval | None:
        """Interval by t; null without `df`."""
        if self.se is None or self.df is None:
            return None
        return t_interval(self.value, self.se, self.df, level=level)


def fixed_mean(values: ArrayLike, items: ArrayLike, *, weights: ArrayLike | None = None) -> Fixed:
    """Mean over exactly these items: only the repeats of each could have come out otherwise.

    theta = sum w_i ybar_i / sum w; SE^2 = sum_i w_i^2 s_i^2 / R_i / (sum w)^2, s_i^2 the variance (R_i - 1)
    of the R_i repeats of an item. df of Welch (1947) and Satterthwaite (1946).

    Parameters
    ----------
    values : array of shape (n_rows,)
        One value per answer: passes are averaged before.
    items : array of shape (n_rows,)
        The item each belongs to; any labels.
    weights : array of shape (n_rows,), optional
        Of the item, so the same on all its rows, above 0: for a macro mean the items' `category_weights`,
        repeated on their rows. Equal by default.

    Returns
    -------
    Fixed
        For "has this system changed on this exam?", not for "which system is better": the next exam's
        questions vary far more (Gemini's comprehension: .022 here, .092 by group). Texts that are
        identical by construction have an SE of judge noise only, or of 0.

    Raises
    ------
    ValueError
        If there is no value, a value or weight is NaN or infinite, a weight is not above 0 or differs
        inside an item, an item is missing, or lengths differ.
    """
    y = finite("values", values)
    codes, n_items = label_codes("items", items, length=len(y))
    repeats = np.bincount(codes, minlength=n_items)
    w = np.ones(n_items)
    if weights is not None:
        by_row = item_weights(weights, length=len(y))
        levels, level_codes = np.unique(by_row, return_inverse=True)
        w = levels[inside("items", codes, n_items, of="weights", outer=level_codes)]
    means = exact_group_sums(y, codes, n_items) / repeats
    total = float(w.sum())
    theta = min(max(exact_mean(means, w), float(y.min())), float(y.max()))
    if repeats.min() < 2:
        return Fixed(theta, None, None, n_items, len(y))
    variances = np.bincount(codes, weights=(y - means[codes]) ** 2, minlength=n_items) / (repeats - 1)
    parts = (w / total) ** 2 * variances / repeats
    se = math.sqrt(float(parts.sum()))
    if se <= NO_SPREAD * float(np.abs(y).max()):
        return Fixed(theta, 0.0, None, n_items, len(y))
    df = 1 / float(((parts / parts.sum()) ** 2 / (repeats - 1)).sum())
    return Fixed(theta, se, df, n_items, len(y))


class Drop(NamedTuple):
    """What a twin costs one candidate: source - twin, above 0 if the twin scores lower.

    Attributes
    ----------
    paired : Paired
        The difference, its SE, p and counts.
    low, high : float or None
        t interval; null with one group.
    p_holm : float
        p over all candidates of the call.
    mde : float or None
        The drop that would be found four times in five, for this candidate alone; `planning.mde`.
    """

    paired: Paired
    low: float | None
    high: float | None
    p_holm: float
    mde: float | None


class Flips(NamedTuple):
    """Flip rates, each with Wilson's interval by group, and the difference, with t.

    Attributes
    ----------
    twin : Estimate
        Share of (source answer, twin answer) couples that differ.
    repeat : Estimate or None
        Share of couples of repeats of one item that differ: the noise floor. Null if no item has two.
    excess : Estimate or None
        Twin rate minus the mean repeat rate of its two items, over pairs where both have repeats: half the
        sum of squared differences of the two answer distributions, without bias, so it may fall below 0.
    """

    twin: Estimate
    repeat: Estimate | None
    excess: Estimate | None


def drops(
    differences: Sequence[ArrayLike],
    groups: Sequence[ArrayLike],
    *,
    level: float = 0.95,
    power: float = 0.8,
) -> tuple[Drop, ...]:
    """The drop of each of several candidates, Holm's p over them.

    Parameters
    ----------
    differences : sequence of K arrays of shape (n_k,)
        y(source) - y(twin) per pair, repeats averaged before; for a planted answer P(planted | twin) -
        P(planted | neutral twin). All pairs: never only those "right at first", which makes a drop out of
        noise.
    groups : sequence of K arrays of shape (n_k,)
        The source item of each pair, or what it is drawn with.
    level, power : float
        Of the interval, .95; of `mde`, .8, at error 1 - level.

    Returns
    -------
    tuple of Drop
        In the order given. Against a neutral twin of the same length this is a bias effect; without one,
        only a drop. That nothing was found is no resistance: that takes `margin_test`.

    Raises
    ------
    ValueError
        As `paired`; if there are not as many groups as differences.
    """
    if len(differences) != len(groups):
        raise ValueError(f"{len(differences)} arrays of differences, {len(groups)} of groups: one for each")
    results = [paired(d, g) for d, g in zip(differences, groups, strict=True)]
    adjusted = holm([r.p for r in results])
    rows = []
    for r, p in zip(results, adjusted, strict=True):
        ends = r.interval(level=level)
        detectable = r.mde(alpha=1 - level, power=power)
        rows.append(Drop(r, ends.low if ends else None, ends.high if ends else None, float(p), detectable))
    return tuple(rows)


def flip_rates(
    outcomes: ArrayLike,
    pairs: ArrayLike,
    *,
    versions: ArrayLike,
    groups: ArrayLike | None = None,
    repeats: Literal["drawn", "copied"] = "drawn",
    level: float = 0.95,
) -> Flips:
    """How often a twin's answer differs from its source's, and a repeat's from another repeat's.

    Per pair, the share of the R x R' couples of a source and a twin answer that differ, averaged over
    pairs; per item, the share of its R (R - 1) / 2 couples of repeats that differ, averaged over items,
    sources and twins alike.

    Parameters
    ----------
    outcomes : array of shape (n_rows,)
        One per answer: right or wrong, the option chosen, any labels.
    pairs : array of shape (n_rows,)
        The pair each belongs to. A source with several twins: its rows once for each.
    versions : array of shape (n_rows,)
        Two labels: which rows are the source's and which the twin's. The rates do not care which is which.
    groups : array of shape (n_rows,), optional
        What is drawn together; one for all rows of a pair. None: each pair by itself.
    repeats : {"drawn", "copied"}
        "copied" if a candidate's repeats are one text by construction: then no floor is known, and
        `repeat` and `excess` are null.
    level : float
        0.95 by default.

    Returns
    -------
    Flips
        `n` counts pairs, for `repeat` items. The excess sees changes of either direction; whether answers
        became worse is for `drops`.

    Raises
    ------
    ValueError
        If there is no row, a label is missing, lengths differ, there are not two versions, a pair lacks
        one, or rows of a pair lie in different groups.
    """
    n_rows = len(np.asarray(outcomes))
    if not n_rows:
        raise ValueError("outcomes is empty: there is nothing to estimate from")
    outcome, n_outcomes = label_codes("outcomes", outcomes, length=n_rows)
    pair, n_pairs = label_codes("pairs", pairs, length=n_rows)
    version, n_versions = label_codes("versions", versions, length=n_rows)
    if n_versions != 2:
        raise ValueError(f"versions holds {n_versions} labels, 2 are needed: source and twin")
    unit = 2 * pair + version
    answers = np.bincount(unit, minlength=2 * n_pairs)
    if (answers == 0).any():
        lone = int(np.argmax(answers == 0)) // 2
        position = int(np.argmax(pair == lone))
        raise ValueError(
            f"the pair at position {position} has one version only: leave such pairs out, knowingly"
        )
    of_pair = np.arange(n_pairs)
    if groups is not None:
        by_row, _ = group_codes(groups, length=n_rows)
        of_pair = inside("pairs", pair, n_pairs, of="groups", outer=by_row)
    # Rows of one pair with one outcome fall in one cell, counted by version.
    cells, cell = np.unique(pair * n_outcomes + outcome, return_inverse=True)
    counts = np.bincount(2 * cell + version, minlength=2 * len(cells)).reshape(-1, 2)
    place = cells // n_outcomes
    n_equal = np.bincount(place, weights=counts[:, 0] * counts[:, 1], minlength=n_pairs)
    sizes = answers.reshape(-1, 2)
    twin = 1 - n_equal / (sizes[:, 0] * sizes[:, 1])
    overall = estimate_mean(twin, of_pair, low=0, high=1, level=level)
    repeated = sizes > 1
    if repeats == "copied" or not repeated.any():
        return Flips(overall, None, None)
    alike = np.stack([np.bincount(place, weights=c * (c - 1.0), minlength=n_pairs) for c in counts.T], axis=1)
    floor = 1 - alike / np.where(repeated, sizes * (sizes - 1), 1)
    item_groups = np.broadcast_to(of_pair[:, None], repeated.shape)[repeated]
    repeat = estimate_mean(floor[repeated], item_groups, low=0, high=1, level=level)
    repeated_twice = repeated.all(axis=1)
    excess = None
    if repeated_twice.any():
        excess = estimate_mean(
            (twin - floor.mean(axis=1))[repeated_twice], of_pair[repeated_twice], level=level
        )
    return Flips(overall, repeat, excess)
