"""How to spend calls: more items, more repeats of each, or more passes of the judge.

Takes the components of `variance` as numbers. Components are estimates, and a plan is no better than they.
"""

import math

__all__ = ["best_passes", "best_repeats", "repeats_worth", "variance_of_difference", "variance_of_mean"]


def variance_of_mean(
    *, s2_item: float, s2_interaction: float, s2_within: float, n_items: int, repeats: int = 1
) -> float:
    """Variance of one model's mean: (s2_item + s2_interaction + s2_within / R) / n.

    Parameters
    ----------
    s2_item, s2_interaction, s2_within : float
        Of `crossed_variance`, 0 or more. With one model's `item_variance`, s2_interaction is 0: it is
        inside s2_item.
    n_items, repeats : int
        n and R as planned, at least 1.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Items count as independent, and drawn anew for each exam; with twins among them it is too small.
    """
    _component(s2_item=s2_item, s2_interaction=s2_interaction, s2_within=s2_within)
    _count(n_items=n_items, repeats=repeats)
    return (s2_item + s2_interaction + s2_within / repeats) / n_items


def variance_of_difference(
    *, s2_interaction: float, s2_within: float, n_items: int, repeats: int = 1
) -> float:
    """Variance of the difference of two models on the same items: (2 s2_mi + 2 s2_e / R) / n.

    Parameters
    ----------
    s2_interaction, s2_within, n_items, repeats
        As in `variance_of_mean`. How hard the items are drops out.

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
    one, many = (
        variance_of_difference(s2_interaction=s2_interaction, s2_within=s2_within, n_items=1, repeats=r)
        for r in (1, repeats)
    )
    return one / many if many > 0 else None


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


def best_passes(*, s2_pass: float, s2_sampling: float, cost_answer: float, cost_pass: float) -> int | None:
    """Passes per answer that tell most for the money: sqrt(cost_answer / cost_pass * s2_j / s2_sampling).

    Parameters
    ----------
    s2_pass, s2_sampling : float
        Of `pass_variance`, 0 or more.
    cost_answer, cost_pass : float
        Of one more answer unmarked, and of one more pass over it; above 0, in one currency.

    Returns
    -------
    int or None
        As `best_repeats`, with s2_sampling for s2_interaction.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    _component(s2_pass=s2_pass, s2_sampling=s2_sampling)
    return _best(s2_pass, s2_sampling, _price(cost_answer=cost_answer, cost_pass=cost_pass))


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
