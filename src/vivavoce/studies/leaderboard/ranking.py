"""Ranking: the order by mean with rank intervals, and beside it the order by mean rank.

Means ask by how much, mean ranks how often; the two may differ and are never mixed. The unit is the group;
items that a candidate lacks are left out for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vivavoce import stats
from vivavoce.core.records import Finding
from vivavoce.core.registry import study
from vivavoce.studies.score_matrix import ScoreMatrix, grids, key_of, labels, left_out
from vivavoce.studies.score_table import LEAST_GROUPS, ScoreTable, unweighted
from vivavoce.studies.study import Study, columns
from vivavoce.studies.text import count, number


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRow:
    """A candidate on one benchmark and criterion; without ranks there is a `reason`."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    candidate: str
    mean: float | None = None
    rank: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    mean_rank: float | None = None
    mean_rank_items: float | None = None
    n_candidates: int
    n_items: int
    n_groups: int
    n_shown: int | None = None
    n_pairs: int | None = None
    friedman_chi2: float | None = None
    friedman_f: float | None = None
    friedman_p: float | None = None
    critical_difference: float | None = None
    reason: str | None = None


COLUMNS = columns(RankingRow)


@study("ranking")
class Ranking(Study):
    """A row per candidate, benchmark and criterion, the best first.

    `rank_low` to `rank_high` are the ranks that paired tests leave open (Holm over all pairs); `n_shown` of
    `n_pairs` pairs were told apart. `mean_rank` is over groups, `mean_rank_items` over items. Friedman's
    figures and the critical difference of mean ranks (over groups) are of the whole criterion and repeat in
    each row.
    """

    about = (
        "Rank intervals: which positions paired tests of means cannot separate, with mean ranks beside "
        "them, on items scored for every candidate."
    )
    row = RankingRow

    def findings(self, scores: ScoreTable) -> Finding:
        """The ranks by every criterion, with a sentence each."""
        rows: list[RankingRow] = []
        lines = []
        short = labels(scores.measures)
        for matrix in grids(scores.scores, scores.measures):
            # Means over different items would rank the items too.
            full = matrix.complete
            ranked = _rows(full)
            rows.extend(ranked)
            lines.append(_sentence(short[key_of(matrix.measure)], full, ranked))
        sampled = unweighted(
            scores.scores, "means and ranks are weighted; mean ranks and Friedman's test count"
        )
        return self.finding(rows, "\n".join(lines), (*left_out(scores), *sampled, *scores.notes))


def _rows(matrix: ScoreMatrix) -> list[RankingRow]:
    criterion = matrix.measure.criterion
    sign = 1 if criterion.direction == "higher" else -1
    n_groups = len(set(matrix.groups.tolist()))
    means = [float(mean) for mean in matrix.means()] if matrix.items else [None] * len(matrix.candidates)
    rows = [
        RankingRow(
            **matrix.place,
            candidate=name,
            mean=mean,
            n_candidates=len(matrix.candidates),
            n_items=len(matrix.items),
            n_groups=n_groups,
            reason=_too_few(matrix, n_groups),
        )
        for name, mean in zip(matrix.candidates, means, strict=True)
    ]
    if not rows or rows[0].reason:
        return rows
    # Paired tests, because percentiles of bootstrapped ranks are far too narrow near ties.
    ranked = stats.rank_intervals(matrix.values * sign, matrix.groups, weights=matrix.weights)
    # Cases are the blocks: single rows depend on each other and would make the distance too small.
    order = stats.friedman(matrix.values * sign, matrix.groups)
    by_item = stats.mean_ranks(matrix.values * sign)
    rows = [
        replace(
            row,
            mean=float(ranked.means[k]) * sign,
            rank=float(ranked.ranks[k]),
            rank_low=ranked.intervals[k].best,
            rank_high=ranked.intervals[k].worst,
            mean_rank=float(order.mean_ranks[k]),
            mean_rank_items=float(by_item[k]),
            n_shown=ranked.n_shown,
            n_pairs=ranked.n_pairs,
            friedman_chi2=order.chi2,
            friedman_f=order.f,
            friedman_p=order.p_f,
            critical_difference=stats.nemenyi_distance(len(matrix.candidates), order.n_blocks),
        )
        for k, row in enumerate(rows)
    ]
    return sorted(rows, key=lambda row: (row.rank or 0.0, row.candidate))


def _too_few(matrix: ScoreMatrix, n_groups: int) -> str | None:
    if len(matrix.candidates) < 2:
        return "one candidate has no rank"
    if n_groups < LEAST_GROUPS:
        return f"{count(n_groups, 'case')} that all candidates have marks on: too few to rank"
    return None


def _sentence(label: str, matrix: ScoreMatrix, rows: Sequence[RankingRow]) -> str:
    name = f"{label} on {matrix.benchmark}"
    if not rows or rows[0].reason:
        return f"{name}: {rows[0].reason if rows else 'no marks'}."
    basis = f"{count(len(matrix.items), 'question')} in {count(rows[0].n_groups, 'case')}"
    ranks = ", ".join(_ranked(row, matrix) for row in rows)
    return (
        f"{name} ({basis}; {rows[0].n_shown} of {rows[0].n_pairs} pairs told apart), ranks left open (mean; "
        f"mean rank): {ranks}."
    )


def _ranked(row: RankingRow, matrix: ScoreMatrix) -> str:
    """A candidate with its ranks, mean and mean rank."""
    span = "" if row.rank_high == row.rank_low else f"-{row.rank_high}"
    mean = number(row.mean or 0.0, matrix.measure.criterion)
    return f"{row.candidate} {row.rank_low}{span} ({mean}; {row.mean_rank:.2f})"
