"""Rates of simulated draws, the goals they are held to, and the verdict of a pair as `compare` gives it."""

import sys
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats

LEAST = 10
"""Effective cases below which an estimate is scored and takes part in no verdict."""
SILENT = ("too_few", "incomparable")
FLIPS = 999
"""Sign flips of groups, and swaps of answers, in each simulated benchmark; 99,999 and 9,999 in a real one.

A p of (hits + 1) / (flips + 1) is valid with any number: fewer save hours, and change its last digits."""


def draw_few_flips() -> None:
    """Let p values of sign flips and swaps rest on `FLIPS` draws in this process."""
    for function in (stats.sign_flips, stats.pooled_swaps):
        room = sys.modules[function.__module__]
        setattr(room, function.__name__, partial(function, resamples=FLIPS))


class Goal(NamedTuple):
    """What a rate should be, in percent."""

    least: float = 0.0
    most: float = 100.0

    def __str__(self) -> str:
        return f"at most {self.most:g} %" if self.most < 100 else f"at least {self.least:g} %"


class Rate(NamedTuple):
    """`hits` of `n` draws."""

    hits: int
    n: int

    @property
    def percent(self) -> float:
        """The rate in percent; NaN without a draw."""
        return 100 * self.hits / self.n if self.n else float("nan")

    @property
    def error(self) -> float:
        """Monte-Carlo standard error in points; above 0 also where all draws agree."""
        p = (self.hits + 0.5) / (self.n + 1)
        return 100 * float(np.sqrt(p * (1 - p) / max(self.n, 1)))

    def miss(self, goal: Goal) -> str:
        """'' if it meets the goal, '?' if it misses by less than two errors, else '!'."""
        if not self.n:
            return ""
        by = max(goal.least - self.percent, self.percent - goal.most)
        return "" if by <= 0 else "?" if by < 2 * self.error else "!"


Figures = dict[str, Rate | float]
"""What a cell gives: rates, and medians or sizes that have no goal."""


def rate(hits: Iterable[bool], out_of: Iterable[bool] | None = None) -> Rate:
    """How many of the hits are true, among those draws alone that are `out_of`."""
    hit = np.fromiter(hits, dtype=bool)
    among = np.ones(len(hit), dtype=bool) if out_of is None else np.fromiter(out_of, dtype=bool)
    return Rate(int((hit & among).sum()), int(among.sum()))


def holds(low: float | None, high: float | None, truth: float) -> bool:
    return low is not None and high is not None and low - 1e-12 <= truth <= high + 1e-12


def code_of(pair: stats.Paired, p_adjusted: float) -> str:
    """The row of the verdict table, as `compare` finds it where no score failed and no margin was set."""
    evidence = stats.Evidence(
        n_groups=pair.n_groups,
        n_different=pair.n_different,
        direction=pair.direction,
        p_adjusted=p_adjusted,
    )
    return stats.verdict(evidence).code


def is_better(code: str) -> bool:
    return code in ("better", "better_by_margin")


def coverage_of(results: list[Any], truth: float) -> Figures:
    """Coverage of estimates: of those with ten effective cases or more, and of all that have an interval."""
    given = np.array([e.low is not None and e.high is not None for e in results])
    enough = np.array([e.df + 1 > LEAST - 1e-9 for e in results])
    covered = np.array([holds(e.low, e.high, truth) for e in results])
    return {
        "coverage": rate(covered, given & enough),
        "coverage, few cases too": rate(covered, given),
        "too few": rate(~enough),
        "no interval": rate(~given & enough),
        "effective cases": float(np.median([e.df + 1 for e in results])),
    }
