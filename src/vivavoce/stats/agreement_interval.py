"""Intervals of agreement that hold where hardly any rating differs from the commonest one.

A table with rare labels, or scores at a ceiling, has few units that tell anything. The jackknife sees only
what those few do: of two independent raters with 5 % positives, a table of 100 without an agreeing positive
gives an interval of no width to speak of, and it covered the truth in 26 % of draws. One more case, in which
the raters agree on a rare label or in which one of them gives it alone, shows what the table could not know.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vivavoce.stats._arrays import Codes, Floats, average_ranks, group_codes, proportion
from vivavoce.stats._ratings import differ, distance_within, read_ratings
from vivavoce.stats.agreement_jackknife import AgreementCoefficient, Bools, agreement_without_groups
from vivavoce.stats.estimate import estimate_mean
from vivavoce.stats.jackknife import WithoutGroups

Association: TypeAlias = AgreementCoefficient | Literal["spearman"]

BY_DISTANCE: frozenset[AgreementCoefficient] = frozenset(
    ("alpha_interval", "icc_a1", "quadratic_kappa", "pearson")
)
"""Coefficients to which a far rating matters more than a near one."""

LEAST_UNCOMMON = 3
"""Groups with an uncommon rating that an interval takes."""
FEW_BY_CHANCE = 6
"""Pairs of uncommon ratings expected by chance, below which a table is sparse."""


class AgreementInterval(NamedTuple):
    """A coefficient of agreement with its interval.

    Attributes
    ----------
    value : float or None
        Of all units, or the difference of two.
    low, high : float or None
        Null where `n_uncommon` is below 3, but for "percent", and as in `Jackknife`.
    se : float or None
        The jackknife's, as in `Jackknife`: of z, but for a difference; of "percent" the mean's.
    n_groups, n_uncommon : int
        Groups, and those with a rating that is not the commonest one (of the table with fewer).
    is_sparse : bool
        Whether the interval is the widest of those with one more case.
    """

    value: float | None
    low: float | None
    high: float | None
    se: float | None
    n_groups: int
    n_uncommon: int
    is_sparse: bool


def agreement_interval(
    coefficient: Association,
    ratings: ArrayLike,
    groups: ArrayLike,
    *,
    missing: ArrayLike | None = None,
    less: ArrayLike | None = None,
    level: float = 0.95,
) -> AgreementInterval:
    """A coefficient of agreement, or what it is more than for other ratings, with an interval that holds.

    Of "percent" the interval is Wilson's of the mean over units. Else it is the jackknife's over groups, on
    Fisher's z (on the raw scale for a difference). A table is sparse where one rating, c, is more than half
    of all and fewer than 6 pairs of others are expected by chance: n q^2 m (m - 1) / 2 with n units, m raters
    and q the effective share of the others, (sum d)^2 / sum d^2 / (n m), where d is 1 for labels and
    (x - c)^2 for numbers. Then the interval reaches over those of the table with one more group in turn: one
    unit in which all raters give an uncommon rating, and for each rater one in which it alone does so while
    the others give c (all of these at once, if no single one gives an interval). For labels that rating is
    the commonest one beside c, the lowest of ties; for numbers it is as far from c as the others are, by
    their root mean square, on the side of their mean. For Pearson's r, of raters who may have scales of their
    own, c, q and the uncommon rating are each rater's; of one without a majority c is the median and q is 1.
    Such a unit has as many ratings as the median unit, by the raters with the most.

    Parameters
    ----------
    coefficient
        As in `agreement_without_groups`, or "spearman": Pearson's r of each rater's ranks, which stay those
        of the whole table whichever group is left out.
    ratings, groups, missing
        As in `agreement_without_groups`.
    less : array of shape (n_units, k), optional
        Other ratings of the same units, whose coefficient is subtracted; none may be missing.
    level : float
        Coverage wanted, 0.95 by default.

    Returns
    -------
    AgreementInterval
        The interval is null with fewer than 3 groups with an uncommon rating, whatever the value.

    Raises
    ------
    ValueError
        As `agreement_without_groups`; if the level is not between 0 and 1.

    Adding what a sample could not show: as Agresti & Coull (1998), Am. Stat. 52, 119-126, do for a share. In
    simulations with 2 and 3 raters, shares of .03 to .5, coefficients of 0 to .8, and 40 to 500 units, for
    yes/no labels and for scores of 0 to 5 at the ceiling, it covers 92.5 to 100 % (`bench/agreement.py`).
    """
    proportion("level", level)
    if coefficient == "spearman":
        coefficient, ratings = "pearson", _ranks(ratings)
        less = None if less is None else _ranks(less)
    codes, n_groups = group_codes(groups, length=len(np.asarray(ratings)))
    tables = [_table(coefficient, ratings, missing, codes)]
    if coefficient == "percent" and less is None:
        return _share_of_pairs(tables[0], n_groups, level)
    if less is not None:
        tables.append(_table(coefficient, less, None, codes))
    scale: Literal["z", "raw"] = "z" if less is None else "raw"
    figure = _difference([table.without_groups() for table in tables])
    uncommon = [table.uncommon() for table in tables]
    n_uncommon = min(u.n_groups for u in uncommon)
    is_sparse = min(u.pairs_by_chance for u in uncommon) < FEW_BY_CHANCE
    limits = [] if n_uncommon < LEAST_UNCOMMON else _limits([figure], scale, level)
    if is_sparse and n_uncommon >= LEAST_UNCOMMON:
        limits += _limits(_larger(tables, uncommon, _Table.one_more), scale, level)
        limits = limits or _limits(_larger(tables, uncommon, _Table.lone_raters), scale, level)
    se = figure.jackknife(scale=scale, level=level).se
    if figure.value is None or not limits:
        return AgreementInterval(figure.value, None, None, se, n_groups, n_uncommon, is_sparse)
    low, high = min(*limits, figure.value), max(*limits, figure.value)
    return AgreementInterval(figure.value, low, high, se, n_groups, n_uncommon, is_sparse)


def _limits(figures: Iterable[WithoutGroups], scale: Literal["z", "raw"], level: float) -> list[float]:
    """Both ends of each figure's interval, where it has one."""
    jackknifes = [figure.jackknife(scale=scale, level=level) for figure in figures]
    return [end for j in jackknifes for end in (j.low, j.high) if end is not None]


def _larger(
    tables: "Sequence[_Table]",
    uncommon: "Sequence[_Uncommon]",
    more: "Callable[[_Table, _Uncommon], Iterator[WithoutGroups]]",
) -> Iterator[WithoutGroups]:
    """The figure of the tables with more units; of two tables with each of as many of the other."""
    for figures in product(*(list(more(*pair)) for pair in zip(tables, uncommon, strict=True))):
        if len({len(figure.sizes) for figure in figures}) == 1:
            yield _difference(figures)


def _share_of_pairs(table: "_Table", n_groups: int, level: float) -> AgreementInterval:
    """The raw agreement, a mean over units with two ratings: Wilson's interval by group."""
    pairable = table.present.sum(axis=1) >= 2
    n_uncommon = table.uncommon().n_groups
    if not pairable.any():
        return AgreementInterval(None, None, None, None, n_groups, n_uncommon, is_sparse=False)
    used = read_ratings(table.ratings[pairable], ~table.present[pairable], scale="labels")
    agreement = 1 - distance_within(used.codes, used.present, distance=differ)
    mean = estimate_mean(agreement, table.groups[pairable], low=0.0, high=1.0, level=level)
    return AgreementInterval(mean.value, mean.low, mean.high, mean.se, n_groups, n_uncommon, is_sparse=False)


def _ranks(ratings: ArrayLike) -> Floats:
    """Each rater's ratings as ranks, ties sharing their mean rank."""
    return np.column_stack([average_ranks(column) for column in np.asarray(ratings, dtype=np.float64).T])


class _Kinds(NamedTuple):
    """The commonest of ratings, an example of the others, and the effective share of these."""

    commonest: Any
    example: Any
    share: float
    is_majority: bool


def _kinds(ratings: NDArray[Any], *, by_distance: bool) -> _Kinds:
    """Of one rating or more; where none has a majority, an uncommon number is one far from the median."""
    labels, counts = np.unique(ratings, return_counts=True)
    commonest, is_majority = labels[np.argmax(counts)], bool(2 * counts.max() > counts.sum())
    if by_distance and not is_majority:
        commonest = np.median(ratings)
    labels, counts = labels[labels != commonest], counts[labels != commonest]
    if not len(labels):
        return _Kinds(commonest, commonest, 0.0, is_majority)
    if not by_distance:
        return _Kinds(commonest, labels[np.argmax(counts)], counts.sum() / len(ratings), is_majority)
    # Scaled, because squares of very large or small values would overflow or vanish.
    scale = np.abs(labels - commonest).max()
    distances = (labels - commonest) / scale
    squares = distances**2
    side = 1.0 if counts @ distances > 0 else -1.0
    example = commonest + side * scale * math.sqrt(counts @ squares / counts.sum())
    share = float((counts @ squares) ** 2 / (counts @ squares**2) / len(ratings))
    return _Kinds(commonest, example, share if is_majority else 1.0, is_majority)


class _Uncommon(NamedTuple):
    """What is not the commonest rating: examples of both by rater, the groups it is in, pairs by chance."""

    commonest: NDArray[Any]
    example: NDArray[Any]
    n_groups: int
    pairs_by_chance: float


class _Table(NamedTuple):
    """Ratings of units in groups, 0 … G - 1."""

    coefficient: AgreementCoefficient
    ratings: NDArray[Any]
    present: Bools
    groups: Codes

    def without_groups(self, more: NDArray[Any] | None = None) -> WithoutGroups:
        """The coefficient of all units and without each group; `more` units are groups of their own."""
        ratings, present, groups = self.ratings, self.present, self.groups
        if more is not None:
            usual = np.isin(np.arange(ratings.shape[1]), self.usual_raters())
            ratings, present = (
                np.vstack([ratings, more]),
                np.vstack([present, np.tile(usual, (len(more), 1))]),
            )
            groups = np.append(groups, groups.max() + 1 + np.arange(len(more)))
        return agreement_without_groups(self.coefficient, ratings, groups, missing=~present)

    def usual_raters(self) -> Codes:
        """As many raters as a unit has, those with the most ratings."""
        per_unit = self.present.sum(axis=1)
        k = int(np.median(per_unit[per_unit >= 2])) if (per_unit >= 2).any() else 0
        return np.argsort(-self.present.sum(axis=0), kind="stable")[:k]

    def uncommon(self) -> _Uncommon:
        """The ratings beside the commonest one, which is each rater's own where raters have scales."""
        by_distance = self.coefficient in BY_DISTANCE
        columns = self.ratings.T if self.coefficient == "pearson" else [self.ratings[self.present]]
        kinds = [_kinds(ratings, by_distance=by_distance) for ratings in columns if len(ratings)]
        if not kinds:
            return _Uncommon(self.ratings[0], self.ratings[0], 0, math.inf)
        commonest, example = (
            np.broadcast_to(np.array(values), self.ratings.shape[1:])
            for values in ([k.commonest for k in kinds], [k.example for k in kinds])
        )
        # A rater whose ratings all differ tells nothing of what is rare.
        has_majority = np.broadcast_to([k.is_majority for k in kinds], commonest.shape)
        is_uncommon = (self.ratings != commonest) & self.present & (has_majority | ~has_majority.any())
        raters = self.present.sum(axis=1)
        pairs = kinds[0].share * kinds[-1].share * float(raters @ (raters - 1)) / 2
        return _Uncommon(
            commonest,
            example,
            n_groups=len(np.unique(self.groups[is_uncommon.any(axis=1)])),
            pairs_by_chance=pairs if has_majority.any() else math.inf,
        )

    def one_more(self, uncommon: _Uncommon) -> Iterator[WithoutGroups]:
        """The coefficient with one more unit: all raters give an uncommon rating, or each of them alone."""
        yield self.without_groups(uncommon.example[None])
        for unit in self._lone_units(uncommon):
            yield self.without_groups(unit[None])

    def lone_raters(self, uncommon: _Uncommon) -> Iterator[WithoutGroups]:
        """With all units in which one rater is alone: where the others agree, leaving one out leaves some."""
        yield self.without_groups(self._lone_units(uncommon))

    def _lone_units(self, uncommon: _Uncommon) -> NDArray[Any]:
        is_lone = np.eye(self.ratings.shape[1], dtype=bool)[self.usual_raters()]
        return np.asarray(np.where(is_lone, uncommon.example, uncommon.commonest))


def _table(
    coefficient: AgreementCoefficient, ratings: ArrayLike, missing: ArrayLike | None, groups: Codes
) -> _Table:
    scale: Literal["labels", "numbers"] = "numbers" if coefficient in BY_DISTANCE else "labels"
    table = read_ratings(ratings, missing, scale=scale)
    values = table.categories[table.codes] if len(table.categories) else table.codes
    return _Table(coefficient, values, table.present, groups)


def _difference(figures: Sequence[WithoutGroups]) -> WithoutGroups:
    """The first, less the second if there is one."""
    return figures[0].minus(figures[1]) if len(figures) == 2 else figures[0]
