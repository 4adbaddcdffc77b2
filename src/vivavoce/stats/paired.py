"""Two candidates on the same items: difference, interval and p from one test.

t with Satterthwaite's degrees of freedom on CR2 by group gives both, so they cannot contradict each other.
Where few groups differ, or one outweighs the rest, that error is not to be trusted: sign flips of whole
groups then give both, from six groups that differ on. Margins are judged by Agresti-Min where few of many
groups differ.
"""

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import (
    ROUNDING,
    Floats,
    evenness,
    finite,
    group_codes,
    item_weights,
    proportion,
    scaled_weights,
)
from vivavoce.stats.draws import seeded_rng
from vivavoce.stats.estimate import Interval, spread, t_interval
from vivavoce.stats.group_error import GroupDesign, enough_groups
from vivavoce.stats.power import mde
from vivavoce.stats.rare_losses import RareLosses
from vivavoce.stats.sign_flips import FLIP_SEED, FLIPS, FlippedMean, SignFlips, sign_flips
from vivavoce.stats.sums import exact_group_sums, exact_mean, exact_sum, rounded
from vivavoce.stats.verdict import LEAST_DIFFERENT


class Paired(NamedTuple):
    """A - B over common items, in the metric's units, oriented so that above 0 favours A.

    Attributes
    ----------
    difference : float
    se : float or None
        CR2 by group; null with one group. Where items weigh unlike, at least `GroupDesign.even_se`.
    df : float
        Satterthwaite's, G - 1 where all groups weigh alike; 0 with one group.
    p : float
        For this pair alone, two-sided: that of `test`. Where items weigh unlike, at least that of t.
    test : {"t", "sign-flip", "swap"}
        "sign-flip", or "swap" for pooled figures (`pooled_swaps`), if there are fewer than 10 effective
        groups, or fewer differ, or the SE is 0 or null.
    direction : {1, 0, -1}
        Whom p speaks for: 1 is A. 0 if nobody: no difference.
    n_items, n_higher, n_lower : int
        Items in common; those where A is higher, lower. The rest are equal to 1e-9.
    n_groups, n_different, n_groups_higher, n_groups_lower : int
        Groups; those whose sum of differences is not 0, is above 0, is below 0.
    effective_different : float
        How many groups of equal size would tell as much as those that differ: `effective_groups` of them;
        0 if none differs.
    flipped : FlippedMean or None
        What sign flips have an interval from: null where t gives it, where fewer than 6 groups differ, where
        all differ alike, and for pooled figures.
    rare : (RareLosses, RareLosses) or None
        The whole losses of the first, and of the second, that p and interval allow for, as rare as they were;
        null where they do not.
    """

    difference: float
    se: float | None
    df: float
    p: float
    test: Literal["t", "sign-flip", "swap"]
    direction: Literal[1, 0, -1]
    n_items: int
    n_higher: int
    n_lower: int
    n_groups: int
    n_different: int
    n_groups_higher: int
    n_groups_lower: int
    effective_different: float
    flipped: FlippedMean | None = None
    rare: tuple[RareLosses, RareLosses] | None = None

    @property
    def effective_groups(self) -> float:
        """How many groups of equal size would tell as much as all of them: df + 1."""
        return self.df + 1

    def mde(self, *, alpha: float = 0.05, k: int = 1, power: float = 0.8) -> float | None:
        """Smallest difference found with probability `power`, as `mde`; null below 10 effective groups."""
        if not enough_groups(self.effective_groups):
            return None
        return mde(self.se, df=self.df, alpha=alpha, k=k, power=power)

    def less(self, second: "Paired") -> "Paired | None":
        """The difference less one on other cases, by Welch's t; null where one of the two has no t test.

        Counts of items and groups stay those of the first.
        """
        if self.test != "t" or second.test != "t" or not self.se or not second.se:
            return None
        v, w = self.se**2, second.se**2
        difference, se = self.difference - second.difference, float(np.sqrt(v + w))
        df = (v + w) ** 2 / (v**2 / self.df + w**2 / second.df)
        return self._replace(
            difference=difference,
            se=se,
            df=df,
            p=_two_sided(difference, se, df),
            direction=sign(round(difference, 9)),
        )

    def interval(self, *, level: float = 0.95) -> Interval | None:
        """Interval of the difference by the test that gave p, at whose level it holds 0 if p is above it.

        By sign flips it is that of `FlippedMean`, closed at 0 where flips of drawn patterns and p differ by
        their draws; where p is also at least that of t, the hull of both. Null where `flipped` is, or
        where so few groups reject nothing at the level. Margins are judged on `margin_interval`.
        """
        ends = self._of_test(level)
        if ends is None or self.rare is None:
            return ends
        chance = (1 - level) / 2
        low, high = (
            side.end(side.reach(chance) if side.hits else reach, chance)
            for side, reach in zip(
                self.rare, (self.difference - ends.low, ends.high - self.difference), strict=True
            )
        )
        return self._with_zero(Interval(min(ends.low, low), max(ends.high, -high)), level)

    def _of_test(self, level: float) -> Interval | None:
        if self.test == "t":
            return None if self.se is None else t_interval(self.difference, self.se, self.df, level=level)
        if self.flipped is None or (ends := self.flipped.interval(level=level)) is None:
            return None
        low, high = min(ends.low, self.difference), max(ends.high, self.difference)
        if self.flipped.with_t and self.se is not None:
            by_t = t_interval(self.difference, self.se, self.df, level=level)
            low, high = min(low, by_t.low), max(high, by_t.high)
        return self._with_zero(Interval(low, high), level)

    def _with_zero(self, ends: Interval, level: float) -> Interval:
        """The ends, which hold 0 if p is above the level and else end there."""
        low, high = ends
        if self.p > 1 - level + ROUNDING:
            return Interval(min(low, 0.0), max(high, 0.0))
        return Interval(max(low, 0.0), high) if self.difference > 0 else Interval(low, min(high, 0.0))

    def with_rare_losses(
        self, differences: ArrayLike, groups: ArrayLike, *, span: float, weights: ArrayLike | None = None
    ) -> "Paired":
        """The comparison of these differences, with p and interval that allow for losses rare or unseen.

        `span` is the width of the metric's range. A comparison that is tested again while data grow needs it:
        before the first whole loss, t is sure of far too much.
        """
        if self.df < 1:
            return self
        d, labels = rounded(finite("differences", differences)), np.asarray(groups)
        w = item_weights(weights, length=len(d))
        sides = self._rare(d, labels, w, span, 1), self._rare(d, labels, w, span, -1)
        side = sides[0 if self.difference > 0 else 1]
        return self._replace(p=max(self.p, side.p()) if self.direction else self.p, rare=sides)

    def _rare(
        self, d: Floats, groups: np.ndarray[Any, Any], w: Floats, span: float, way: Literal[1, -1]
    ) -> RareLosses:
        """The losses of the first, or with -1 of the second."""
        n, is_lost = self.effective_groups, way * d < -span / 2
        if not is_lost.any() or is_lost.all():
            df, se = self.df if self.test == "t" else None, self.se or 0.0
            return RareLosses(n if is_lost.any() else 0.0, n, span, way * self.difference, se, df)
        share = float(w[is_lost].sum() / w.sum())
        size = -way * float(np.average(d[is_lost], weights=w[is_lost]))
        mean = (way * self.difference + share * size) / (1 - share)
        remainder = paired(d[~is_lost], groups[~is_lost], weights=w[~is_lost])
        df = remainder.df if remainder.test == "t" else None
        return RareLosses(share * n, n, size, mean, remainder.se or 0.0, df)


def group_sums(differences: ArrayLike, groups: ArrayLike, *, weights: ArrayLike | None = None) -> Floats:
    """Sum of the item differences in each group, each rounded to 1e-9: what `sign_flips` takes.

    Parameters
    ----------
    differences, groups, weights : arrays of shape (n,)
        As in `paired`; weights are scaled to the mean 1.

    Returns
    -------
    array of shape (G,)
        In the order of the sorted labels.

    Raises
    ------
    ValueError
        As `paired`.
    """
    d = rounded(finite("differences", differences))
    codes, n_groups = group_codes(groups, length=len(d))
    w = scaled_weights(weights, length=len(d))
    return rounded(exact_group_sums(d if w is None else w * d, codes, n_groups))


def paired(
    differences: ArrayLike,
    groups: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    cells: ArrayLike | None = None,
) -> Paired:
    """Compare two candidates by the mean of item differences, groups being the unit.

    Parameters
    ----------
    differences : array of shape (n,)
        y_A - y_B per common item, repeats averaged before. Rounded to 1e-9 first: averages of the same
        scores in another order differ in the 16th digit, and would be false differences.
    groups : array of shape (n,)
        What is drawn together; any labels.
    weights : array of shape (n,), optional
        Above 0, on any scale: how many items of a larger set each stands for. Equal by default. Items that
        are higher or lower are counted alike, groups by the sign of their weighted sum.
    cells : array of shape (n,), optional
        What the mean difference is made of, as in `cluster_mean`.

    Raises
    ------
    ValueError
        If there is no item, a difference is NaN or infinite, a weight is not above 0, a group is missing,
        or lengths differ.

    Distrust it at a ceiling with few groups: type I error was 16 % there with 14 groups, 6 to 7 % with 42.
    """
    d = rounded(finite("differences", differences))
    codes, n_groups = group_codes(groups, length=len(d))
    design = GroupDesign.of(codes, n_groups, item_weights(weights, length=len(d)), cells)
    sums = group_sums(d, codes, weights=weights)
    # Of sums rounded like the differences: what cancels is 0, not 1e-17 in somebody's favour.
    difference = float(rounded(exact_sum(sums))) / len(d)
    mean = exact_mean(d, design.weights)
    parts = design.weights * (d - mean) if cells is None else design.residuals(d)
    se = spread(design.se(parts), d)
    is_even = se is None or weights is None or evenness(design.weights) > 1 - ROUNDING
    if se is not None and not is_even:
        se = max(se, design.even_se(parts))
    result = with_test(difference, se, design, items=d, groups=sums)
    if not se or result.test == "t":
        return result
    if result.n_different >= LEAST_DIFFERENT:
        sizes = np.bincount(codes, weights=scaled_weights(weights, length=len(d)), minlength=n_groups)
        result = result._replace(flipped=FlippedMean(sums, sizes.astype(np.float64), with_t=not is_even))
    if is_even:
        return result
    # Flips take what did not differ for what never will, however much it weighs.
    return result._replace(p=max(result.p, _two_sided(difference, se, design.df)))


def with_test(
    difference: float,
    se: float | None,
    design: GroupDesign,
    *,
    items: Floats,
    groups: Floats,
    flips: Callable[[], SignFlips] | None = None,
) -> Paired:
    """A difference with its test.

    Parameters
    ----------
    difference : float
        Above 0 favours the first; what rounds to 0 at 1e-9 favours nobody.
    se : float or None
        Null where it cannot be estimated.
    design : GroupDesign
        Of the difference: its degrees of freedom are those of the t test.
    items, groups : arrays of shape (n,) and (G,)
        Of each its own difference, or that one's sign.
    flips : callable, optional
        The test where too few groups differ. Sign flips of `groups` if none is given.
    """
    n_up, n_down = _counted(groups)
    higher, lower = _counted(items)
    effective = design.only(groups != 0).df + 1 if n_up + n_down else 0.0
    # A t test of few groups or differences, or of one that outweighs the rest, is too sure of its error.
    is_t = bool(se) and enough_groups(min(effective, design.df + 1))
    if se and is_t:
        p = _two_sided(difference, se, design.df)
    elif n_up + n_down:
        p = (flips() if flips else sign_flips(groups, rng=seeded_rng(FLIP_SEED), resamples=FLIPS)).p
    else:
        p = 1.0
    return Paired(
        difference=difference,
        se=se,
        df=design.df,
        p=p,
        test="t" if is_t else "swap" if flips else "sign-flip",
        direction=sign(float(rounded(difference))),
        n_items=len(items),
        n_higher=higher,
        n_lower=lower,
        n_groups=len(groups),
        n_different=n_up + n_down,
        n_groups_higher=n_up,
        n_groups_lower=n_down,
        effective_different=effective,
    )


def _two_sided(difference: float, se: float, df: float) -> float:
    """The p of t."""
    return 2 * float(scipy.special.stdtr(df, -abs(difference) / se))


def _counted(differences: Floats) -> tuple[int, int]:
    """How many are above 0, and below."""
    return int(np.count_nonzero(differences > 0)), int(np.count_nonzero(differences < 0))


def agresti_min(
    differences: ArrayLike,
    groups: ArrayLike,
    *,
    span: float,
    weights: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Interval of a paired difference that stays honest when almost nothing differs.

    To the group means, weighted w_g = E n_g / n with E the effective groups, come pseudo-groups +span and
    -span of weight 1/2 each and a 0 of weight 1: theta = sum w d / (E + 2),
    SE^2 = sum w' (d - theta)^2 / (E + 2)^2 with w' = w^2 for real and w for pseudo-groups; theta -/+ t SE
    with the degrees of freedom of `paired`, clipped to -/+ span. Beside raw groups the pseudo-groups would
    count for too little where sizes differ.

    Parameters
    ----------
    differences, groups : arrays of shape (n,)
        As in `paired`; every difference within -/+ span.
    span : float
        Width of the metric's range, above 0.
    weights : array of shape (n,), optional
        As in `paired`. w_g is then E times the group's share of them.
    cells : array of shape (n,), optional
        As in `paired`; they change E and the degrees of freedom.
    level : float
        0.95 by default; for a family `bonferroni_level`.

    Returns
    -------
    Interval
        For yes/no items, one to a group, it is Agresti & Min's (with t for z). For graded scores too
        wide, never too narrow.

    Raises
    ------
    ValueError
        As `paired`; if there are fewer than 2 groups, or a difference is wider than the span.

    Agresti & Min (2005), Statistics in Medicine 24, 729-740.
    """
    d = rounded(finite("differences", differences))
    if not (math.isfinite(span) and span > 0):
        raise ValueError(f"span must be a finite number above 0, but is {span}")
    wide = np.abs(d) > span + ROUNDING
    if wide.any():
        position = int(np.argmax(wide))
        raise ValueError(
            f"differences holds {d[position]} at position {position}, wider than the metric's span, {span}"
        )
    codes, n_groups = group_codes(groups, length=len(d))
    if n_groups < 2:
        raise ValueError(f"groups has {n_groups} label, at least 2 are needed: one group has no interval")
    proportion("level", level)
    w = scaled_weights(weights, length=len(d))
    df = GroupDesign.of(codes, n_groups, np.ones(len(d)) if w is None else w, cells).df
    size = df + 1
    sums = np.bincount(codes, weights=d if w is None else w * d, minlength=n_groups)
    shares = np.bincount(codes, weights=w, minlength=n_groups) * (size / len(d))
    # Agresti & Min (2005): two pseudo-groups, half one at +span, half one at -span, one at 0.
    total = size + 2
    theta = float(sums.sum()) * size / len(d) / total
    residuals = sums * (size / len(d)) - shares * theta
    pseudo = 0.5 * (span - theta) ** 2 + 0.5 * (span + theta) ** 2 + theta**2
    half = (
        float(scipy.special.stdtrit(df, 0.5 + level / 2))
        * math.sqrt(float(residuals @ residuals) + pseudo)
        / total
    )
    return Interval(max(-span, theta - half), min(span, theta + half))


def margin_interval(
    differences: ArrayLike,
    groups: ArrayLike,
    *,
    span: float | None,
    weights: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval | None:
    """The interval on which a margin is judged: that of the test, or Agresti-Min.

    Agresti-Min where sign flips decide p, as few of 10 effective groups or more differ, or as they have no
    interval: a rare difference that was not seen is no symmetric error.

    Parameters
    ----------
    differences, groups, span, weights, cells, level
        As in `agresti_min`. A span of None: the metric has no two limits.

    Returns
    -------
    Interval or None
        Null with one group, or one with all weight, and where Agresti-Min is needed but the
        metric has no span: no margin can be judged then.

    Raises
    ------
    ValueError
        As `agresti_min`.
    """
    result = paired(differences, groups, weights=weights, cells=cells)
    if result.df < 1:
        return None
    if result.test == "t" or not enough_groups(result.effective_groups):
        ends = result.interval(level=level)
        if ends is not None or result.test == "t":
            return ends
    if span is None:
        return None
    return agresti_min(differences, groups, span=span, weights=weights, cells=cells, level=level)


def sign(number: float) -> Literal[1, 0, -1]:
    """Its sign as a number."""
    return 1 if number > 0 else -1 if number < 0 else 0
