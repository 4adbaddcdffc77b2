"""How small a difference a benchmark can detect, and where more items, repeats or labels help most.

Nothing here looks at the difference that was observed: "power" computed from it only repeats its p value.
Variance components are estimates, and a plan is no better than they are.

Cochran (1977), Sampling Techniques, ch. 2, 4 and 5; design effect: Kish (1965), Survey Sampling.
"""

import math
from typing import Literal

import scipy

from vivavoce.stats._arrays import amount, proportion
from vivavoce.stats.verdict import LEAST_DIFFERENT

SURE_OF_VARIANCE = 0.8
"""How sure a plan is that the variance is no larger: the estimate is too small in half of all pilots."""


def mde(se: float | None, *, df: float, alpha: float = 0.05, k: int = 1, power: float = 0.8) -> float | None:
    """Smallest difference found with probability `power`: (t(1 - alpha / 2k) + t(power)) * SE, t(df).

    Parameters
    ----------
    se : float or None
        SE of the difference, in the metric's units.
    df : float
        Its degrees of freedom: G - 1 for G groups of equal size, `Paired.df` for others.
    alpha, power : float
        Two-sided error, .05; probability of finding it, .8.
    k : int
        Comparisons in the family (Bonferroni); 1 for the pair alone.

    Returns
    -------
    float or None
        Null if the SE is null or 0, or df is below 1: no spread was seen, so none can be promised.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if se is None or amount("df", df) < 1:
        return None
    if not (math.isfinite(se) and se >= 0):
        raise ValueError(f"se must be a finite number, 0 or more, but is {se}")
    factor = _quantiles(df, alpha, k, power)
    return factor * se if se > 0 else None


def group_variance(
    se: float,
    n_groups: int,
    *,
    n_items: int,
    repeats: float | None = None,
    repeats_wanted: float | None = None,
    within: float | None = None,
) -> float | None:
    """Variance of a difference per group, for another number of repeats if wanted.

    s_G^2(R') = G SE^2 - (1 / R - 1 / R') s_w^2 G / n, so that SE(R', G') = sqrt(s_G^2(R') / G').

    Parameters
    ----------
    se : float
        SE of the difference, by group.
    n_groups, n_items : int
        G and n it was computed from.
    repeats, repeats_wanted : float, optional
        R as it was and R' as planned, at least 1. Without `repeats_wanted`, R' = R.
    within : float, optional
        s_w^2, variance between repeats of one item, summed over the two candidates. Unknown, so null, if
        a candidate's repeats are identical by construction: 0 would promise what nobody saw.

    Returns
    -------
    float or None
        Null if R' differs from R and `within` or `repeats` is unknown. It may come out below 0, when
        `within` is large and the exam short: read it as "not estimable", as `groups_needed` does.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not (math.isfinite(se) and se >= 0):
        raise ValueError(f"se must be a finite number, 0 or more, but is {se}")
    if not 1 <= n_groups <= n_items:
        raise ValueError(f"{n_groups} groups of {n_items} items: each group holds at least one item")
    if repeats_wanted is None or repeats_wanted == repeats:
        return n_groups * se**2
    if repeats is None or within is None:
        return None
    if not (repeats >= 1 and repeats_wanted >= 1):
        raise ValueError(f"repeats must be at least 1, but are {repeats} and {repeats_wanted}")
    if not (math.isfinite(within) and within >= 0):
        raise ValueError(f"within must be a finite number, 0 or more, but is {within}")
    return n_groups * se**2 - (1 / repeats - 1 / repeats_wanted) * within * n_groups / n_items


def groups_needed(
    margin: float,
    variance: float | None,
    *,
    goal: Literal["difference", "equivalence"] = "difference",
    alpha: float = 0.05,
    k: int = 1,
    power: float = 0.8,
    evenness: float = 1.0,
    df: float | None = None,
    differing: float | None = None,
) -> int | None:
    """Smallest G' with G' >= (t(1 - alpha / 2k) + t(power))^2 s_G^2 / margin^2, t(evenness * G' - 1).

    The fixed point of G' = ceil(...), found by bisection: the right-hand side falls as G' grows, so the
    iteration has one fixed point or alternates around this same number. Without `df` and `differing` the
    variance is taken for known: from 10 to 40 groups the number found then reaches 64 to 78 %, not 80.

    Parameters
    ----------
    margin : float
        The difference that matters, in the metric's units, above 0. Never the observed one.
    variance : float or None
        s_G^2, of `group_variance`.
    goal : {"difference", "equivalence"}
        To find a difference of `margin`; or to show that two equal candidates are within it, which takes
        t((1 + power) / 2) in place of t(power).
    alpha, k, power
        As in `mde`.
    evenness : float
        Effective groups by groups, above 0 and up to 1: new groups are taken to be as uneven as those seen.
    df : float, optional
        Degrees of freedom that the variance was estimated with, above 0: its upper 80 % limit,
        s_G^2 df / chi^2(.2, df), is planned with.
    differing : float, optional
        Share of groups that differ, above 0 and up to 1: of G' at least 6 do with probability `power`, since
        no exact test of fewer reaches .05.

    Returns
    -------
    int or None
        At least 2; null if the variance is null, or 0 or less.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin must be a finite number above 0, but is {margin}")
    for name, share in (("evenness", evenness), ("differing", 1.0 if differing is None else differing)):
        if not 0 < share <= 1:
            raise ValueError(f"{name} must lie above 0 and up to 1, but is {share}")
    reached = power if goal == "difference" else (1 + proportion("power", power)) / 2
    _quantiles(1, alpha, k, reached)  # refuses numbers out of range before any early return
    if variance is not None and not math.isfinite(variance):
        raise ValueError(f"variance must be a finite number, but is {variance}")
    # An estimate is too small in half of all pilots, and the plan with it.
    larger = 1.0 if df is None else _upper_factor(df)
    if variance is None or variance <= 0:
        return None
    ratio = larger * variance / margin**2

    def enough(groups: int) -> bool:
        if not _enough_differ(groups, differing, power):
            return False
        new_df = max(evenness * groups - 1, 1.0)
        return groups >= _quantiles(new_df, alpha, k, reached) ** 2 * ratio

    high = 2
    while not enough(high):
        high *= 2
    low = max(1, high // 2)  # not enough, or below the least
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _upper_factor(df: float) -> float:
    """The upper 80 % limit of a variance by its estimate of so many degrees of freedom."""
    if not df > 0:
        raise ValueError(f"df must be above 0, but is {df}")
    return df / float(scipy.special.chdtri(df, SURE_OF_VARIANCE))


def _enough_differ(groups: int, differing: float | None, power: float) -> bool:
    """Whether so many groups, each differing with that chance, hold 6 that do with probability `power`."""
    if differing is None or groups < LEAST_DIFFERENT:
        return differing is None
    return float(scipy.special.bdtrc(LEAST_DIFFERENT - 1, groups, differing)) >= power


def items_needed(groups: int, *, n_items: int, n_groups: int) -> int:
    """Items in `groups` groups of the size seen so far, rounded up: G' n / G.

    Parameters
    ----------
    groups : int
        G', of `groups_needed`.
    n_items, n_groups : int
        n and G of the exam at hand.

    Raises
    ------
    ValueError
        If there is no group, fewer items than groups, or a number that is not whole.
    """
    if not 1 <= n_groups <= n_items or groups != int(amount("groups", groups)):
        raise ValueError(f"no whole numbers: {groups} groups, of {n_items} items in {n_groups} groups")
    # Ceiling division on whole numbers: no float rounds a needed item away.
    return -(-groups * n_items // n_groups)


def _quantiles(df: float, alpha: float, k: int, power: float) -> float:
    proportion("alpha", alpha)
    proportion("power", power)
    if k < 1:
        raise ValueError(f"k must be at least 1, but is {k}")
    # Bonferroni over the k comparisons of the family, as the intervals are.
    return float(scipy.special.stdtrit(df, 1 - alpha / (2 * k)) + scipy.special.stdtrit(df, power))


def variance_of_difference(
    *, s2_interaction: float, s2_within: float, n_items: int, repeats: int = 1
) -> float:
    """Variance of the difference of two models on the same items: (2 s2_mi + 2 s2_e / R) / n.

    Parameters
    ----------
    s2_interaction, s2_within, n_items, repeats
        As in `crossed_variance` and as planned, at least 1. How hard the items are drops out.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Of two models with the average interaction; a given pair's own is in `group_variance`.
    """
    _component(s2_interaction=s2_interaction, s2_within=s2_within)
    _count(n_items=n_items, repeats=repeats)
    return 2 * (s2_interaction + s2_within / repeats) / n_items


def repeats_worth(*, s2_interaction: float, s2_within: float, repeats: int) -> float | None:
    """Times the items that one repeat would need, to tell as much of a difference as `repeats` repeats do.

    (s2_mi + s2_e) / (s2_mi + s2_e / R): at most R, and R only if all the variance is between repeats.

    Parameters
    ----------
    s2_interaction, s2_within : float
        Of `crossed_variance`, 0 or more.
    repeats : int
        R, at least 1.

    Returns
    -------
    float or None
        Null if both components are 0: nothing varies, so nothing is worth anything.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    single, repeated = (
        variance_of_difference(s2_interaction=s2_interaction, s2_within=s2_within, n_items=1, repeats=r)
        for r in (1, repeats)
    )
    return single / repeated if repeated > 0 else None


def best_repeats(
    *, s2_interaction: float, s2_within: float, cost_item: float, cost_repeat: float
) -> int | None:
    """Repeats per item that tell most for the money: sqrt(cost_item / cost_repeat * s2_e / s2_mi).

    Parameters
    ----------
    s2_interaction, s2_within : float
        Of `crossed_variance`, 0 or more.
    cost_item, cost_repeat : float
        Of one more item without its repeats, and of one more repeat of an item; above 0, in one currency.

    Returns
    -------
    int or None
        Rounded, halves down, at least 1. Null if s2_interaction is 0 and s2_within is not: no number of
        repeats is too many then, which an estimate of 0 should not be trusted with. Identical repeats: 1.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Cochran (1977), Sampling Techniques, sec. 10.6.
    """
    _component(s2_interaction=s2_interaction, s2_within=s2_within)
    return _best(s2_within, s2_interaction, _price(cost_item=cost_item, cost_repeat=cost_repeat))


def _best(below: float, above: float, price: float) -> int | None:
    if below == 0:
        return 1
    # Halves go down: the fewer calls.
    return max(1, math.ceil(math.sqrt(price * below / above) - 0.5)) if above > 0 else None


def _price(**costs: float) -> float:
    for name, cost in costs.items():
        if not (math.isfinite(cost) and cost > 0):
            raise ValueError(f"{name} must be a finite number above 0, but is {cost}")
    above, below = costs.values()
    return above / below


def _component(**components: float) -> None:
    for name, number in components.items():
        if not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name} must be a finite number, 0 or more, but is {number}")


def _count(**counts: int) -> None:
    for name, number in counts.items():
        if number < 1:
            raise ValueError(f"{name} must be at least 1, but is {number}")


def sample_se(se: float | None, n: int, *, population: int) -> float | None:
    """SE of a sample's mean as a guess at the full set's: sqrt(1 - n / N) * SE, which is (1 - f) s^2 / n.

    The sample lies inside the set, so the two are not independent: the difference between the sample's mean
    and the full set's has this SE too.

    Parameters
    ----------
    se : float or None
        SE of the mean as if the set were endless, as in `cluster_mean`.
    n : int
        Units drawn: items, or groups if whole groups were drawn.
    population : int
        N, the same units in the full set.

    Returns
    -------
    float or None
        0 if all were drawn; null if the SE is. Only for statements on this very set: "questions like
        these" know no finite set. It says nothing of repeats, which are not drawn from a finite set.

    Raises
    ------
    ValueError
        If the SE is NaN or below 0, or n is not in 1 … N.
    """
    if not 1 <= n <= amount("population", population):
        raise ValueError(f"{n} drawn of {population}: a sample has 1 to {population}")
    if se is None:
        return None
    if not (math.isfinite(se) and se >= 0):
        raise ValueError(f"se must be a finite number, 0 or more, but is {se}")
    # Finite population: the error falls to 0 when everything is drawn.
    return math.sqrt((population - n) / population) * se
