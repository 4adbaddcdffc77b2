"""Ranks by scale: candidates with labels on people's scale, the further on the judge's; every pair is tested.

Pairs are tested as `compare` tests them, corrected together, and a rank counts the pairs of its own scale.
"""

from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.studies.comparing.paired import Compared
from vivavoce.studies.comparing.pairs import pairs
from vivavoce.studies.labels import labels_by_item, with_labels
from vivavoce.studies.scale import JUDGE, PEOPLE
from vivavoce.studies.score_matrix import ScoreMatrix
from vivavoce.studies.score_table import Labels, resolve

Tests = Mapping[tuple[str, str], tuple[float, int]]
"""p and direction of every pair, its names in the order of the candidates."""


class ScaleRanks(NamedTuple):
    """The ranks of the candidates on one scale, as observed and whatever the failed scores are.

    `n_labelled` is the least number of items that people scored of a pair; null on the judge's scale.
    """

    scale: str
    candidates: tuple[str, ...]
    observed: stats.RankIntervals
    ranked: stats.RankIntervals
    n_labelled: int | None = None


def ranks_by_scale(
    rows: pl.DataFrame, key: int, matrix: ScoreMatrix, labels: Labels
) -> list[ScaleRanks] | str:
    """The ranks on people's scale and those of the other candidates; or why fewer than two are on people's.

    `rows` are the score rows of the measure on the items of the matrix, which all candidates have scores on.
    Means and tests are turned so that higher is better.
    """
    compared = _compared(rows, key, matrix, labels)
    if isinstance(compared, str):
        return compared
    people = {pair for pair, test in compared.items() if test.correction}
    means = _peoples_means(rows, matrix, labels)
    labelled = {name for pair in people for name in pair if isinstance(means[name], float)}
    # One mean on people's scale has nothing to be put in order with.
    if len(labelled) < 2:
        return _why_uncorrected(compared, means)
    ranks = [_ranks(PEOPLE, labelled, means, compared, people)]
    if unlabelled := set(matrix.candidates) - labelled:
        ranks.append(_ranks(JUDGE, unlabelled, _judges_means(matrix), compared, compared.keys() - people))
    return ranks


def _why_uncorrected(compared: Mapping[tuple[str, str], Compared], means: Mapping[str, float | str]) -> str:
    """The first reason that labels correct too few pairs or means for an order on people's scale."""
    reasons = (*(test.uncorrected for test in compared.values()), *means.values())
    return next(reason for reason in reasons if isinstance(reason, str))


def _compared(
    rows: pl.DataFrame, key: int, matrix: ScoreMatrix, labels: Labels
) -> dict[tuple[str, str], Compared] | str:
    """Every pair of the candidates as `compare` has it, or why one cannot be compared."""
    names = list(combinations(matrix.candidates, 2))
    compared: dict[tuple[str, str], Compared] = {}
    for pair in pairs(
        rows, {key: matrix.measure}, names, margin=None, population="sample", labels={key: labels}
    ):
        if not isinstance(pair, Compared):
            return pair.reason
        compared[pair.pair.a, pair.pair.b] = pair
    return compared


def _ranks(
    scale: str,
    candidates: Set[str],
    means: Mapping[str, float | str],
    compared: Mapping[tuple[str, str], Compared],
    on_scale: Set[tuple[str, str]],
) -> ScaleRanks:
    """The ranks of these candidates by their pairs on this scale; any other pair of them is open."""
    names = tuple(name for name in means if name in candidates)  # in the order of the matrix
    values = [float(means[name]) for name in names]
    observed = {pair: (test.observed.p, test.observed.direction) for pair, test in compared.items()}
    filled = {pair: _under_fillings(test) for pair, test in compared.items()}
    as_observed = _intervals(values, names, observed, on_scale)
    labelled = [compared[pair].correction for pair in combinations(names, 2) if pair in on_scale]
    return ScaleRanks(
        scale,
        names,
        as_observed,
        as_observed.shown_by_both(_intervals(values, names, filled, on_scale)),
        min((change.n_labelled for change in labelled if change), default=None),
    )


def _intervals(
    means: Sequence[float], names: Sequence[str], tests: Tests, on_scale: Set[tuple[str, str]]
) -> stats.RankIntervals:
    own_pairs = list(combinations(names, 2))
    # All pairs are one family, as they are in `compare`, on whatever scale they were tested.
    further = [p for pair, (p, _) in tests.items() if pair not in own_pairs]
    return stats.ranks_of_pairs(
        means,
        [tests[pair][0] for pair in own_pairs],
        [tests[pair][1] if pair in on_scale else 0 for pair in own_pairs],
        further=further,
    )


def _under_fillings(pair: Compared) -> tuple[float, int]:
    """The larger p of the two fillings and whom both speak for; nobody where nothing bounds what failed."""
    if not pair.missing:
        return pair.observed.p, pair.observed.direction
    if pair.fillings is None:
        return 1.0, 0
    worst, best = pair.fillings
    return max(worst.p, best.p), stats.common_direction(worst.direction, best.direction)


def _judges_means(matrix: ScoreMatrix) -> dict[str, float]:
    """Each candidate's mean by the judge alone, higher being better."""
    sign = 1 if matrix.measure.criterion.direction == "higher" else -1
    return {name: sign * float(mean) for name, mean in zip(matrix.candidates, matrix.means(), strict=True)}


def _peoples_means(rows: pl.DataFrame, matrix: ScoreMatrix, labels: Labels) -> dict[str, float | str]:
    """Each candidate's mean on people's scale, higher being better; or why labels do not correct it."""
    criterion = matrix.measure.criterion
    sign = 1 if criterion.direction == "higher" else -1
    values = resolve(rows, criterion).rename({"observed": "d", "low": "d_low", "high": "d_high"})
    by_item = labels_by_item(labels, rows, criterion)
    means: dict[str, float | str] = {}
    for name in matrix.candidates:
        of_candidate = by_item.filter(candidate=name).drop("candidate")
        labelled = with_labels(values.filter(candidate=name), of_candidate, labels)
        means[name] = labelled if isinstance(labelled, str) else sign * labelled.powered().value
    return means
