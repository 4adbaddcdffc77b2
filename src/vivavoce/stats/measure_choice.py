"""Choosing measures on one half of the groups, and testing them on the other, where nothing was chosen.

The best of several is best partly by luck, on the data that chose it. So one half of the groups puts measures
in an order, each by what it adds to those before it, and the other half tests them in that order and stops at
the first that it does not show (fixed-sequence testing): no figure of the second half knew the choice.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vivavoce.stats._arrays import proportion
from vivavoce.stats.jackknife import Jackknife
from vivavoce.stats.sums import rounded
from vivavoce.stats.within_item import WithinItems

ADD_LEVEL = 0.80
"""The interval of what a measure adds, on the half that chooses, must lie above 0 at this level."""


class MeasureChoice(NamedTuple):
    """The measures in the order chosen, and what the half that reports shows.

    Attributes
    ----------
    order : tuple of int
        The columns that the choosing half takes, each by what it adds to those before it.
    confirmed : tuple of int
        The first of these whose gain the reporting half shows, up to the first that it does not.
    gains : tuple of Jackknife
        For each of `order`, its partial correlation with the target on the reporting half, those before it
        held; the first is a plain correlation.
    together, before : Jackknife or None
        The correlation with the target of the weighted sum of those confirmed, weights from the choosing
        half: on the reporting half, and on the choosing half itself. Null if none is confirmed.
    """

    order: tuple[int, ...]
    confirmed: tuple[int, ...]
    gains: tuple[Jackknife, ...]
    together: Jackknife | None
    before: Jackknife | None


def choose_measures(
    choosing: WithinItems,
    reporting: WithinItems,
    *,
    target: int,
    columns: Sequence[int],
    level: float = 0.95,
) -> MeasureChoice:
    """A small set of columns that follow a target inside items: forward choice, then tests on other groups.

    On the choosing half the column with the largest partial correlation with the target, those taken held,
    is taken as long as its `ADD_LEVEL` interval lies above 0; equal ones (to 1e-9) in the order of `columns`.
    On the reporting half each is tested in that order by its interval at `level`, until one fails.

    Parameters
    ----------
    choosing, reporting : WithinItems
        Sums of the two halves of the groups; no group is in both. Each half needs 10 effective groups for its
        intervals to hold.
    target : int
        The column to follow, higher being better, as in every other one: a column that runs against it is
        never taken.
    columns : sequence of int
        Those to choose from.
    level : float
        0.95 by default: of columns that do not follow the target at all, one is confirmed in at most 2.5 % of
        data sets.

    Raises
    ------
    ValueError
        If the level is none, or the halves have other columns.

    Data splitting: Cox (1975), Biometrika 62, 441-444; testing in a fixed order: Maurer, Hothorn and
    Lehmacher (1995). What is reported is unbiased by the choice; it costs half of the groups.
    """
    proportion("level", level)
    if choosing.products.shape[1:] != reporting.products.shape[1:]:
        raise ValueError("the two halves must have the same columns")
    order: list[int] = []
    while (best := _next(choosing, target, columns, order)) is not None:
        order.append(best)
    gains = [
        reporting.correlation(column, target, controls=order[:n]).jackknife(level=level)
        for n, column in enumerate(order)
    ]
    # A gain after one that is not shown is not tested: so the order, fixed before, guards the whole family.
    above_zero = [gain.low is not None and gain.low > 0 for gain in gains]
    confirmed = tuple(order[: above_zero.index(False) if False in above_zero else len(above_zero)])
    combined = previous = None
    if confirmed:
        weights = choosing.regression(confirmed, target)
        previous, combined = (
            half.weighted(confirmed, weights)
            .correlation(half.products.shape[1], target)
            .jackknife(level=level)
            for half in (choosing, reporting)
        )
    return MeasureChoice(tuple(order), confirmed, tuple(gains), combined, previous)


def _next(half: WithinItems, target: int, columns: Sequence[int], taken: Sequence[int]) -> int | None:
    """The column that adds most to those taken; null if none adds anything that the half shows."""
    best, highest = None, 0.0
    for column in columns:
        if column in taken:
            continue
        gain = half.correlation(column, target, controls=taken)
        # Rounded, so that the last digit of a figure does not choose between equal columns.
        value = 0.0 if gain.value is None else float(rounded(np.array([gain.value]))[0])
        low = gain.jackknife(level=ADD_LEVEL).low if value > highest else None
        if low is not None and low > 0:
            best, highest = column, value
    return best
