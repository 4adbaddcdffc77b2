"""Real text against a control: is a rater fooled by an edit that an honest one would see through?

The difference real - control is held against a line: the margin for a control that must score lower, less
than nothing by the margin for one that must not score higher. Ranking over Scoring (COLING 2025), section
3.3, has such controls and prints means alone; the test is ours.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import scipy
from numpy.typing import ArrayLike

from vivavoce.stats._arrays import proportion
from vivavoce.stats.group_error import LEAST_GROUPS, enough_groups
from vivavoce.stats.paired import Paired, agresti_min, paired
from vivavoce.stats.power import group_variance, groups_needed, items_needed
from vivavoce.stats.sums import rounded
from vivavoce.stats.verdict import ALPHA

ControlVerdict = Literal["not_fooled", "fooled", "not_shown"]
NARROW = 0.01
"""A level at which no interval of Agresti-Min is clipped to the span: it gives centre and error back."""


class ControlTest(NamedTuple):
    """Real - control against a line, in the metric's units; above 0 the real text scores better.

    Attributes
    ----------
    paired : Paired
        The mean difference with its groups.
    low, high : float or None
        The interval of the difference; null where `method` is.
    p : float or None
        Two-sided, against a difference that lies on the line: at most 1 - level exactly where the interval
        leaves the line out. From the same centre, error and degrees of freedom as the interval.
    side : {1, 0, -1}
        Where the centre of the interval lies: 1 above the line, -1 below it, 0 on it or nowhere.
    method : {"t", "Agresti-Min"} or None
        "Agresti-Min" if fewer than 10 effective groups differ, or all differ alike. Null with one group, and
        where Agresti-Min is needed but the metric has no two limits.
    line : float
    """

    paired: Paired
    low: float | None
    high: float | None
    p: float | None
    side: Literal[1, 0, -1]
    method: Literal["t", "Agresti-Min"] | None
    line: float

    @property
    def few(self) -> bool:
        """Whether fewer than 10 effective groups stand behind it: it carries no verdict then."""
        return not enough_groups(self.paired.effective_groups)


def control_line(expects: Literal["lower", "no_higher"], margin: float) -> float:
    """The difference real - control above which a control has not fooled a rater.

    Parameters
    ----------
    expects : {"lower", "no_higher"}
        `lower`: the control must score lower, so the difference must be above the margin. `no_higher`: it
        must not score higher by the margin or more, so the difference must be above -margin.
    margin : float
        The least difference that matters, 0 or more, set before the results were seen. With 0 a control of
        either kind must be shown to score lower: that equal scores are equal, no data can show.

    Raises
    ------
    ValueError
        If the margin is below 0 or no number.
    """
    if not (math.isfinite(margin) and margin >= 0):
        raise ValueError(f"margin must be a finite number, 0 or more, but is {margin}")
    return margin if expects == "lower" else -margin


def control_test(
    differences: ArrayLike,
    groups: ArrayLike,
    *,
    line: float = 0.0,
    span: float | None,
    weights: ArrayLike | None = None,
    level: float = 0.95,
) -> ControlTest:
    """Hold the mean difference real - control against a line, groups being the unit.

    By t from CR2 with Satterthwaite's degrees of freedom, as `paired`; by `agresti_min` where fewer than 10
    effective groups differ or all differ alike. An interval then never has the width 0: of 42 equal scores on
    a scale of 1 it still reaches 0.046 to both sides.

    Parameters
    ----------
    differences : array of shape (n,)
        Per item, turned so that above 0 the real text is better; passes, repeats, draws and candidates are
        averaged before.
    groups : array of shape (n,)
        What is drawn together; any labels.
    line : float
        `control_line`.
    span : float or None
        Width of the metric's range; null if it has no two limits.
    weights : array of shape (n,), optional
        As in `paired`.
    level : float
        Of the interval.

    Raises
    ------
    ValueError
        As `paired` and `agresti_min`; if the line is no number.
    """
    if not math.isfinite(line):
        raise ValueError(f"line must be a finite number, but is {line}")
    proportion("level", level)
    result = paired(differences, groups, weights=weights)
    by_t = result.interval(level=level) if result.test == "t" else None
    if by_t is not None and result.se:
        ends, centre, se = by_t, result.difference, result.se
    elif result.df < 1 or span is None:
        return ControlTest(result, None, None, None, 0, None, line)
    else:
        ends = agresti_min(differences, groups, span=span, weights=weights, level=level)
        # Its pseudo-groups move the centre as well, so p must come from there and not from the plain mean.
        narrow = agresti_min(differences, groups, span=span, weights=weights, level=NARROW)
        centre = (narrow.low + narrow.high) / 2
        se = (narrow.high - narrow.low) / 2 / float(scipy.special.stdtrit(result.df, 0.5 + NARROW / 2))
    # Rounded like the differences: a centre on the line must not be a digit of noise above it.
    excess = float(rounded(centre - line))
    p = 2 * float(scipy.special.stdtr(result.df, -abs(excess) / se))
    side: Literal[1, 0, -1] = 1 if excess > 0 else -1 if excess < 0 else 0
    return ControlTest(
        result, ends.low, ends.high, p, side, "t" if result.test == "t" else "Agresti-Min", line
    )


def control_verdict(
    tests: Sequence[ControlTest], *, p_adjusted: float | None, alpha: float = ALPHA
) -> ControlVerdict:
    """What may be said of a rater and one kind of control.

    `not_fooled`: every test's lower end lies above the line. That is one claim in a conjunction, so nothing
    is corrected for the other kinds (`intersection_union`). `fooled`: every test's upper end is at most the
    line, and the p corrected over all kinds is at most alpha, so that an honest rater is called fooled by any
    kind in at most 2.5 % of cases. `not_shown`: anything else, and below 10 effective groups always.

    Parameters
    ----------
    tests : sequence of ControlTest
        Of what was observed; where scores failed, also of both fillings. The verdict holds in all of them.
        At least one.
    p_adjusted : float or None
        Holm over the kinds of one rater, from the largest p of the tests.
    alpha : float
        What `p_adjusted` is held against; two-sided.

    Raises
    ------
    ValueError
        If there is no test.
    """
    if not tests:
        raise ValueError("tests holds no test: there is nothing to say")
    sides = {_side(test) for test in tests}
    if sides == {1}:
        return "not_fooled"
    return "fooled" if sides == {-1} and p_adjusted is not None and p_adjusted <= alpha else "not_shown"


def _side(test: ControlTest) -> Literal[1, 0, -1]:
    """Where the whole interval lies: 1 above the line, -1 at most on it, 0 on both sides or nowhere."""
    if test.few or test.low is None or test.high is None:
        return 0
    return 1 if test.low > test.line else -1 if test.high <= test.line else 0


def controls_needed(test: ControlTest, margin: float) -> int | None:
    """Items at which a difference that lies one margin off the line is told from it four times in five.

    Parameters
    ----------
    test : ControlTest
        Of what was observed.
    margin : float
        Above 0, as it was declared; never the difference that was observed.

    Returns
    -------
    int or None
        At least as many as hold 10 effective groups; null without a t test or a margin.
    """
    result = test.paired
    if test.method != "t" or not result.se or margin <= 0:
        return None
    evenness = result.effective_groups / result.n_groups
    variance = group_variance(result.se, result.n_groups, n_items=result.n_items)
    groups = groups_needed(margin, variance, evenness=min(1.0, evenness), df=result.df)
    if groups is None:
        return None
    # New groups are taken to be as uneven as those seen, and fewer than 10 effective ones tell nothing.
    fewest = max(groups, math.ceil(LEAST_GROUPS / evenness))
    return items_needed(fewest, n_items=result.n_items, n_groups=result.n_groups)
