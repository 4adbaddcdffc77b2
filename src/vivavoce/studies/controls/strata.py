"""Injections by stratum: whether one form in one language moves an examiner that the others do not move.

The mean over all strata hides one of 48. Here the greatest gain of any stratum is compared with what chance
gives. Which case got which strata was drawn, so cases change places with all their gains, and the gains of a
case among themselves: a permutation test of the maximum for an examiner that no stratum moves.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.score_table import item_of
from vivavoce.variants.control_kinds import LEAST_OF_STRATUM, STRATA, Stratum

PERMUTATIONS = 4_999
_AT_ONCE = 2_000_000
"""Gains that are permuted at once, for memory."""


class StrataTest(NamedTuple):
    """How many strata were in enough cases (`n_shown`), and the one of these that gained most.

    `gain` is its mean control less real text, in the metric's units, `n_cases` the cases it was in, `p` that
    of the greatest gain of all; null where no stratum was in enough cases.
    """

    n_shown: int
    stratum: Stratum | None = None
    gain: float | None = None
    n_cases: int = 0
    p: float | None = None

    @property
    def are_all_shown(self) -> bool:
        """Whether each stratum was in enough cases."""
        return self.n_shown == len(STRATA)


def strata_test(pairs: pl.DataFrame) -> StrataTest:
    """The test of observed pairs, with columns of their item, `group`, `draw` (0 for no stratum) and `d`."""
    item = item_of(pairs)
    table = pairs.filter(pl.col("draw").is_between(1, len(STRATA))).select(*item, "candidate", "draw", "d")
    for columns in (("candidate",), ()):  # over repeats and passes, then candidates
        table = table.group_by(*item, "draw", *columns, maintain_order=True).agg(exact_mean(pl.col("d")))
    table = table.group_by("group", "draw", maintain_order=True).agg(exact_mean(pl.col("d")))
    table = table.sort("group", "draw")
    counts = np.bincount(table["draw"].to_numpy(), minlength=len(STRATA) + 1)
    counted = np.flatnonzero(counts >= LEAST_OF_STRATUM)
    if not counted.size:
        return StrataTest(0)
    gains = -table["d"].to_numpy()
    case = table["group"].rank("dense").cast(pl.Int64).to_numpy()
    draw = table["draw"].to_numpy()
    # Columns of strata in enough cases, each entry its share of the mean.
    weights = np.where(draw[:, None] == counted[None, :], 1.0 / counts[counted], 0.0)
    means = gains @ weights
    best = int(np.argmax(means))
    stratum = STRATA[int(counted[best]) - 1]
    result = StrataTest(int(counted.size), stratum, float(means[best]), int(counts[counted[best]]))
    return result._replace(p=_p(gains, case, weights, float(means[best])))


def _p(gains: np.ndarray, case: np.ndarray, weights: np.ndarray, observed: float) -> float:
    """How often the greatest mean of any column is as great where cases change places."""
    rng = stats.seeded_rng(20_261_130)
    n, n_cases, remaining, reached = len(gains), int(case.max()), PERMUTATIONS, 0
    while remaining:
        size = min(remaining, max(1, _AT_ONCE // n))
        places = _uniform(rng, size, n_cases)[:, case - 1]  # the gains of a case stay together
        order = np.argsort(places + 1e-9 * _uniform(rng, size, n), axis=1)
        reached += int((gains[order] @ weights).max(axis=1).__ge__(observed - 1e-12).sum())
        remaining -= size
    return (reached + 1) / (PERMUTATIONS + 1)


def _uniform(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return (stats.random_words(rng, rows * columns) / 2.0**64).reshape(rows, columns)
