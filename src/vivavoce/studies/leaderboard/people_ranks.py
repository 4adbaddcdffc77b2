"""Ranks on people's scale: every pair of candidates tested as `compare` does it, corrected by labels."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.studies.comparison.paired import Compared
from vivavoce.studies.comparison.pairs import pairs
from vivavoce.studies.labels import labels_by_item, with_labels
from vivavoce.studies.score_table import Labels, resolve


class PeopleRanks(NamedTuple):
    """Ranks on people's scale, as observed and whatever the failed scores are; and how many were labelled."""

    observed: stats.RankIntervals
    ranked: stats.RankIntervals
    n_labelled: int


def ranks_on_peoples_scale(
    rows: pl.DataFrame, key: int, measure: Measure, names: Sequence[str], labels: Labels
) -> PeopleRanks | str:
    """The ranks of these candidates; or why people's scores do not correct all of them.

    `rows` are the score rows of the measure on one benchmark, on the items that all of them have scores on.
    Means and tests are turned so that higher is better.
    """
    compared = []
    tests = pairs(
        rows, {key: measure}, list(combinations(names, 2)), margin=None, population="sample",
        labels={key: labels},
    )  # fmt: skip
    for pair in tests:
        if not isinstance(pair, Compared):
            return pair.reason
        if pair.correction is None:
            return pair.uncorrected or ""
        compared.append(pair)
    # Each mean has its own lambda, so means order the candidates and pairs alone test them.
    means = _means(rows, measure, names, labels)
    if isinstance(means, str):
        return means
    observed = _ranks(means, [(pair.observed.p, pair.observed.direction) for pair in compared])
    filled = _ranks(means, [_under_fillings(pair) for pair in compared])
    n_labelled = min(pair.correction.n_labelled for pair in compared if pair.correction)
    return PeopleRanks(observed, observed.shown_by_both(filled), n_labelled)


def _ranks(means: Sequence[float], tests: Sequence[tuple[float, int]]) -> stats.RankIntervals:
    """The ranks by these means, from p and direction of every pair."""
    return stats.ranks_of_pairs(means, [p for p, _ in tests], [direction for _, direction in tests])


def _under_fillings(pair: Compared) -> tuple[float, int]:
    """The larger p of the two fillings and whom both speak for; nobody where nothing bounds what failed."""
    if not pair.failed:
        return pair.observed.p, pair.observed.direction
    if pair.fillings is None:
        return 1.0, 0
    worst, best = pair.fillings
    return max(worst.p, best.p), stats.common_direction(worst.direction, best.direction)


def _means(rows: pl.DataFrame, measure: Measure, names: Sequence[str], labels: Labels) -> list[float] | str:
    """The candidates' means on people's scale, higher being better."""
    sign = 1 if measure.criterion.direction == "higher" else -1
    values = resolve(rows, measure.criterion).rename({"observed": "d", "low": "d_low", "high": "d_high"})
    by_item = labels_by_item(labels, rows, measure.criterion).rename({"label": "people"})
    means = []
    for name in names:
        labelled = with_labels(
            values.filter(candidate=name), by_item.filter(candidate=name).drop("candidate"), labels
        )
        if isinstance(labelled, str):
            return labelled
        means.append(sign * labelled.powered().value)
    return means
