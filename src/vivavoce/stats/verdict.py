"""From evidence to a verdict: the table of docs/statistics.md, as pure logic.

No words, no estimates: the caller brings p values and intervals, and says the sentence. Positive favours
"a"; for a metric whose lower values are better the caller turns the sign once, before.
"""

import math
from dataclasses import dataclass
from typing import Literal

ALPHA = 0.05
LEAST_DIFFERENT = 6  # 2 * .5^5 = .0625: with five, no exact test can reach .05

Code = Literal[
    "incomparable",
    "too_few",
    "depends",
    "better_by_margin",
    "better",
    "equivalent",
    "not_worse",
    "cannot_tell",
    # On a scale without a better end a study says these two in the place of "better".
    "higher",
    "higher_by_margin",
]
Direction = Literal[1, 0, -1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known about one pair, oriented so that above 0 favours a.

    Attributes
    ----------
    n_groups, n_different : int
        Common groups; those whose sum of differences is not 0.
    direction : {1, 0, -1}
        Whom p speaks for, `Paired.direction`: 1 is a; 0 is nobody, and then no p makes anyone better.
    p_adjusted : float or None
        Holm p over the family. Null with fewer than 2 groups.
    margin_low, margin_high : float or None
        The interval on which margins are judged, `margin_interval` at the family's level. Null where there is
        none: then no margin is judged.
    most_by_count : float, optional
        The most by which either could be better, by the share of groups that may differ: the farther end of
        `gate_interval` where fewer than 6 do. Not read where more differ.

    For the bounds interval: p_adjusted from the larger p of the two fillings, `common_direction` of both,
    margin_low of the low and margin_high of the high filling.
    """

    n_groups: int
    n_different: int
    direction: Direction
    p_adjusted: float | None
    margin_low: float | None = None
    margin_high: float | None = None
    most_by_count: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.n_different <= self.n_groups:
            raise ValueError(f"{self.n_different} of {self.n_groups} groups differ: that cannot be")
        if self.direction not in (1, 0, -1):
            raise ValueError(f"direction must be 1, 0 or -1, but is {self.direction}")
        if self.p_adjusted is not None and not 0 <= self.p_adjusted <= 1:
            raise ValueError(f"p_adjusted must lie in 0 to 1, but is {self.p_adjusted}")
        if (self.margin_low is None) != (self.margin_high is None):
            raise ValueError("margin_low and margin_high are both given or both None")
        if (
            self.margin_low is not None
            and self.margin_high is not None
            and not self.margin_low <= self.margin_high
        ):
            raise ValueError(f"margin_low {self.margin_low} is not at most margin_high {self.margin_high}")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row of the table: `code`, whom it `favours` and, for "better" with a margin, the `size`.

    `size` is "smaller" if the whole interval lies below the margin, "open" if the interval reaches it.
    """

    code: Code
    favours: Literal["a", "b"] | None = None
    size: Literal["smaller", "open"] | None = None


def verdict(observed: Evidence, bounds: Evidence | None = None, *, margin: float | None = None) -> Verdict:
    """The first row of the table that applies.

    incomparable (fewer than 2 common groups), too_few (fewer than 6 that differ; "equivalent" where
    `most_by_count` is below the margin),
    depends (observed and bounds lead to different rows or different candidates), better_by_margin (p <=
    .05 and the interval beyond the margin), better (p <= .05), equivalent (interval inside -/+ margin),
    not_worse (interval above -margin), cannot_tell.

    Parameters
    ----------
    observed : Evidence
        From the scores that exist.
    bounds : Evidence, optional
        From the two fillings of the failed scores; None if nothing failed.
    margin : float, optional
        The difference that matters, above 0, in the metric's units. Without it rows on margins drop out.

    Returns
    -------
    Verdict
        Swapping a and b in the evidence swaps `favours` and nothing else. If observed and bounds agree on
        "better" but not on its size, the size is "open".

    Raises
    ------
    ValueError
        If the margin is not above 0, or p is missing where a row reads it.
    """
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"margin must be a finite number above 0, but is {margin}")
    if observed.n_groups < 2:
        return Verdict("incomparable")
    if observed.n_different < LEAST_DIFFERENT:
        # So few groups carry no test, but the share that may differ is bounded all the same.
        most = observed.most_by_count
        return Verdict("too_few" if margin is None or most is None or most >= margin else "equivalent")
    observed_verdict = _row(observed, margin)
    if bounds is None:
        return observed_verdict
    possible = _row(bounds, margin)
    if (observed_verdict.code, observed_verdict.favours) != (possible.code, possible.favours):
        return Verdict("depends")
    return (
        observed_verdict
        if observed_verdict.size == possible.size
        else Verdict(observed_verdict.code, observed_verdict.favours, "open")
    )


def common_direction(first: Direction, second: Direction) -> Direction:
    """The direction both fillings share; 0 if they differ."""
    return first if first == second else 0


def _row(evidence: Evidence, margin: float | None) -> Verdict:
    """Rows 4 to 8."""
    if evidence.p_adjusted is None:
        raise ValueError("p_adjusted is None: with 2 groups or more it must be given")
    low, high = evidence.margin_low, evidence.margin_high
    direction = evidence.direction if evidence.p_adjusted <= ALPHA else 0
    favours: Literal["a", "b"] = "a" if direction > 0 else "b"
    if margin is None or low is None or high is None:
        return Verdict("better", favours) if direction else Verdict("cannot_tell")
    if direction:
        # Seen from the one who is better, so that b needs no second set of rows.
        nearer, far = (low, high) if direction > 0 else (-high, -low)
        if nearer > margin:
            return Verdict("better_by_margin", favours)
        return Verdict("better", favours, "smaller" if far < margin else "open")
    if -margin < low and high < margin:
        return Verdict("equivalent")
    if low > -margin:
        return Verdict("not_worse", "a")
    if high < margin:
        return Verdict("not_worse", "b")
    return Verdict("cannot_tell")
