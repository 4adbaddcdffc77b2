"""Twins: what a changed sentence does to the score, and how often the answer flips, beside how often it
flips by itself.

A twin is a question with one thing changed (a biased sentence, a name, a dose). The noise floor is what
repeats of the same words do: without it every model looks swayed.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import group_codes
from vivavoce.stats._checks import inside, label_codes
from vivavoce.stats.estimate import Estimate, estimate_mean
from vivavoce.stats.multiplicity import holm
from vivavoce.stats.paired import Paired, paired
from vivavoce.stats.planning import mde

__all__ = ["Drop", "Flips", "drops", "flip_rates"]


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
    made = []
    for r, p in zip(results, adjusted, strict=True):
        ends = r.interval(level=level)
        found = mde(r.se, r.n_groups, alpha=1 - level, power=power)
        made.append(Drop(r, ends.low if ends else None, ends.high if ends else None, float(p), found))
    return tuple(made)


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
        at = int(np.argmax(pair == lone))
        raise ValueError(f"the pair at position {at} has one version only: leave such pairs out, knowingly")
    of_pair = np.arange(n_pairs)
    if groups is not None:
        by_row, _ = group_codes(groups, length=n_rows)
        of_pair = inside("pairs", pair, n_pairs, of="groups", outer=by_row)
    # Rows of one pair with one outcome fall in one cell, counted by version.
    cells, cell = np.unique(pair * n_outcomes + outcome, return_inverse=True)
    counts = np.bincount(2 * cell + version, minlength=2 * len(cells)).reshape(-1, 2)
    where = cells // n_outcomes
    same = np.bincount(where, weights=counts[:, 0] * counts[:, 1], minlength=n_pairs)
    sizes = answers.reshape(-1, 2)
    twin = 1 - same / (sizes[:, 0] * sizes[:, 1])
    overall = estimate_mean(twin, of_pair, low=0, high=1, level=level)
    known = sizes > 1
    if repeats == "copied" or not known.any():
        return Flips(overall, None, None)
    alike = np.stack([np.bincount(where, weights=c * (c - 1.0), minlength=n_pairs) for c in counts.T], axis=1)
    floor = 1 - alike / np.where(known, sizes * (sizes - 1), 1)
    item_groups = np.broadcast_to(of_pair[:, None], known.shape)[known]
    repeat = estimate_mean(floor[known], item_groups, low=0, high=1, level=level)
    both = known.all(axis=1)
    excess = None
    if both.any():
        excess = estimate_mean((twin - floor.mean(axis=1))[both], of_pair[both], level=level)
    return Flips(overall, repeat, excess)
