"""Ranking: the order by mean with rank intervals, and beside it the order by mean rank.

Means ask by how much, mean ranks how often; the two may differ and are never mixed. The unit is the group;
items that a candidate lacks are left out for all. Where scores failed, a rank interval holds what both
fillings of them leave open. Candidates with labels are ranked on people's scale, the others on the judge's:
every pair is tested as `compare` tests it, corrected together, and a rank counts the pairs of its own scale.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Finding
from vivavoce.core.registry import study
from vivavoce.studies.comparing.common_items import OwnMean, on_common_items
from vivavoce.studies.comparing.evidence import filled_test
from vivavoce.studies.comparing.paired import Compared
from vivavoce.studies.comparing.pairs import pairs
from vivavoce.studies.comparing.ranking_sentences import (
    APART,
    FIRST,
    doubtful_pairs,
    ranking_headline,
    told_apart,
    too_few_to_rank,
)
from vivavoce.studies.labels import labels_by_item, with_labels
from vivavoce.studies.rater_scores import scale_columns
from vivavoce.studies.scale import JUDGE, PEOPLE, phrase_of
from vivavoce.studies.score_matrix import Fillings, ScoreMatrix, grids_with_fillings, key_of, labels, left_out
from vivavoce.studies.score_table import NO_LIMIT, Labels, ScoreTable, notes_by_word, resolve, unweighted
from vivavoce.studies.study import Study
from vivavoce.studies.text import cases, count, depends_on, number, once


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRow:
    """A candidate on one benchmark and criterion; without ranks there is a `reason`."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    candidate: str
    mean: float | None = None
    mean_own: float | None = None
    n_items_own: int
    rank: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    rank_low_observed: int | None = None
    rank_high_observed: int | None = None
    mean_rank: float | None = None
    mean_rank_items: float | None = None
    n_candidates: int
    n_items: int
    n_groups: int
    effective_cases: float | None = None
    n_failed: int = 0
    depends_on_failed: bool | None = None
    n_shown: int | None = None
    n_pairs: int | None = None
    n_doubtful: int | None = None
    mde_first: float | None = None
    friedman_chi2: float | None = None
    friedman_f: float | None = None
    friedman_p: float | None = None
    critical_difference: float | None = None
    estimate_kind: str = "scores"
    judge_alone: bool = False
    scale: str | None = None
    n_labelled: int | None = None
    reason: str | None = None


@study("ranking")
class Ranking(Study):
    """A row per candidate, benchmark and criterion, the best first.

    `mean` is over the `n_items` items that all candidates have scores on, `mean_own` over the candidate's own
    `n_items_own`. `rank_low` to `rank_high` are the ranks that paired tests leave open (Holm over all pairs);
    `n_shown` of `n_pairs` pairs were told apart; `n_doubtful` are those of the candidate that whole losses
    could undo, which may exist (95 %) though none was seen (graded scores between two limits). `mde_first`,
    in the rows of candidates that may be first, is the least difference that would have been found between
    any two of them (80 % power). Where scores failed, a pair is told apart only if it is so under both
    fillings of them (one side at its worst and the other at its best, then the reverse): a rank interval is
    then the union of what the fillings leave open. `rank_low_observed` to `rank_high_observed` leave the
    failed scores aside, and `depends_on_failed` says whether the two differ. A failed score without a limit
    tells no pair apart. `n_failed` counts those on the items that all share. `mean_rank` is over groups,
    `mean_rank_items` over items. Friedman's figures and the critical difference of mean ranks (over groups)
    are of the whole criterion, of what was observed, and repeat in each row.

    Where people's scores correct a judge's, `estimate_kind` is prediction_powered: means and tests are then
    on people's scale, and figures of a judge's ranks and own questions are null. Else a judge's rows are
    `judge_alone`. Candidates are ranked with those on their own `scale` (people or judge) alone, of which
    there are `n_candidates`; pairs are corrected over all candidates, as `compare` does it.
    """

    about = (
        "Rank intervals: which positions paired tests of means cannot separate, with mean ranks beside "
        "them, on items scored for every candidate."
    )
    row = RankingRow
    sentences = (APART, FIRST)
    needs = ("labels",)
    labels: str | None = None

    def findings(self, scores: ScoreTable) -> Finding:
        """The ranks by every criterion, with a sentence each."""
        rows: list[RankingRow] = []
        lines, notes = dict[_Order, str](), []
        unranked: dict[str, list[_Order]] = {}
        short = labels(scores.measures)
        for matrix, every in grids_with_fillings(scores.scores, scores.measures):
            fillings, name = every.complete if every else None, short[key_of(matrix.measure)]
            ranks = _ranks_by_scale(scores, matrix.complete)
            if isinstance(ranks, str):
                notes.append(f"{name} on {matrix.benchmark} is not corrected by people's scores: {ranks}.")
            for part in _orders(matrix, fillings, ranks):
                rows.extend(part)
                order = name, matrix.benchmark, part[0].scale if part else None
                lines[order] = _sentence(name, matrix, fillings, part)
                if reason := _why_no_order(part):
                    unranked.setdefault(reason, []).append(order)
        # Dozens of orders may lack the same: it is said once, where the first of them stands.
        for reason, (first, *later) in unranked.items():
            lines[first] = once(reason, [order[:2] for order in (first, *later)])
            lines = {order: line for order, line in lines.items() if order not in later}
        sampled = unweighted(
            scores.scores, "means and ranks are weighted; mean ranks and Friedman's test count"
        )
        notes += notes_by_word(scores.labels, [row.estimate_kind for row in rows])
        notes = [*left_out(scores), *sampled, *scores.notes, *notes]
        return self.finding(rows, "\n".join(lines.values()), notes, ranking_headline(rows))


_Order = tuple[str, str, str | None]
"""The label of a measure, a benchmark and a scale."""


def ranking_rows(every: ScoreMatrix, fillings: Fillings | None) -> list[RankingRow]:
    """The rows of one matrix, the best first; `fillings` are those of its common items, null without any."""
    # Means over different items would rank the items too.
    matrix = every.complete
    candidates = _candidates(every, fillings)
    if not candidates or candidates[0]["reason"]:
        return [RankingRow(**columns_of) for columns_of in candidates]
    sign = matrix.sign
    # Paired tests, because percentiles of bootstrapped ranks are far too narrow near ties.
    observed = stats.rank_intervals(matrix.values * sign, matrix.groups, weights=matrix.weights)
    ranked = observed
    if fillings:
        ranked = stats.ranks_under_fillings(
            observed, *fillings.upward, fillings.low.groups, weights=fillings.low.weights
        )
    # Cases are the blocks: single rows depend on each other and would make the distance too small.
    order = stats.friedman(matrix.values * sign, matrix.groups)
    by_item = stats.mean_ranks(matrix.values * sign)
    friedman = {
        "friedman_chi2": order.chi2,
        "friedman_f": order.f,
        "friedman_p": order.p,
        "critical_difference": stats.nemenyi_distance(len(matrix.candidates), order.n_blocks),
    }
    rows, doubtful = [], doubtful_pairs(matrix, ranked)
    for k, columns_of in enumerate(candidates):
        mean_ranks = {"mean_rank": float(order.mean_ranks[k]), "mean_rank_items": float(by_item[k])}
        mean = {"mean": float(ranked.means[k]) * sign, "n_doubtful": doubtful[k]}
        rows.append(
            RankingRow(**columns_of | mean | rank_columns(ranked, observed, k) | mean_ranks | friedman)
        )
    return sorted(rows, key=_place)


def _candidates(every: ScoreMatrix, fillings: Fillings | None) -> list[dict[str, Any]]:
    """The columns of each candidate but for its rank; a `reason` where there are no ranks."""
    matrix = every.complete
    n_groups = len(set(matrix.groups.tolist()))
    effective = stats.effective_groups(matrix.groups, weights=matrix.weights) if n_groups else None
    means = [float(mean) for mean in matrix.means()] if matrix.items else [None] * len(matrix.candidates)
    shared: dict[str, Any] = {
        **matrix.place,
        **scale_columns(matrix.measure),
        "n_candidates": len(matrix.candidates),
        "n_items": len(matrix.items),
        "n_groups": n_groups,
        "effective_cases": effective,
        "reason": too_few_to_rank(matrix, n_groups, effective),
    }
    return [
        shared
        | {
            "candidate": name,
            "mean": means[k],
            "mean_own": every.own_mean(k),
            "n_items_own": int(every.present[k].sum()),
            "n_failed": fillings.n_failed[k] if fillings else 0,
        }
        for k, name in enumerate(matrix.candidates)
    ]


def rank_columns(ranks: stats.RankIntervals, observed: stats.RankIntervals, k: int) -> dict[str, Any]:
    """The columns of the rank of candidate `k`; `observed` leaves the failed scores aside."""
    return {
        "rank": float(ranks.ranks[k]),
        "rank_low": ranks.intervals[k].best,
        "rank_high": ranks.intervals[k].worst,
        "rank_low_observed": observed.intervals[k].best,
        "rank_high_observed": observed.intervals[k].worst,
        "depends_on_failed": ranks.intervals[k] != observed.intervals[k],
        "n_shown": ranks.n_shown,
        "n_pairs": ranks.n_pairs,
        "mde_first": ranks.mde_first if ranks.intervals[k].best == 1 else None,
    }


def _place(row: RankingRow) -> tuple[float, str]:
    return row.rank or 0.0, row.candidate


# by scale


Tests = Mapping[tuple[str, str], tuple[float, int]]
"""p and direction of every pair, its names in the order of the candidates."""


class _ScaleRanks(NamedTuple):
    """The ranks of the candidates on one scale, as observed and whatever the failed scores are.

    `n_labelled` is the least number of items that people scored of a pair; null on the judge's scale.
    """

    scale: str
    candidates: tuple[str, ...]
    observed: stats.RankIntervals
    ranked: stats.RankIntervals
    n_labelled: int | None = None


def _ranks_by_scale(scores: ScoreTable, matrix: ScoreMatrix) -> list[_ScaleRanks] | str | None:
    """The ranks on people's scale and those of the other candidates, or why fewer than two are on people's.

    Null where nobody scored this criterion, and where there are too few items or candidates to rank.
    """
    (key,) = (key for key, measure in scores.measures.items() if measure == matrix.measure)
    of_people, n_groups = scores.labels.get(key), len(set(matrix.groups.tolist()))
    if too_few_to_rank(matrix, n_groups, None):
        return None
    if not isinstance(of_people, Labels):
        return of_people
    items = pl.DataFrame(matrix.items, {"item": pl.String, "variant": pl.String}, orient="row")
    of_matrix = (
        (pl.col("measure_id") == key)
        & (pl.col("benchmark") == matrix.benchmark)
        & pl.col("candidate").is_in(matrix.candidates)
    )
    rows = scores.scores.filter(of_matrix).join(items, on=["item", "variant"], how="semi")
    compared = _compared(rows, key, matrix, of_people)
    if isinstance(compared, str):
        return compared
    return _by_scale(matrix, compared, _peoples_means(rows, matrix, of_people))


def _by_scale(
    matrix: ScoreMatrix, compared: Mapping[tuple[str, str], Compared], means: Mapping[str, float | str]
) -> list[_ScaleRanks] | str:
    """The ranks of each scale; `means` are those on people's scale, or why there is none."""
    people = {pair for pair, test in compared.items() if test.correction}
    labelled = {name for name in set(chain(*people)) if isinstance(means[name], float)}
    # One mean on people's scale has nothing to be put in order with.
    if len(labelled) < 2:
        reasons = (*(test.uncorrected for test in compared.values()), *means.values())
        return next(reason for reason in reasons if isinstance(reason, str))
    ranks = [_ranks(PEOPLE, labelled, means, compared, people)]
    if unlabelled := set(matrix.candidates) - labelled:
        judged = (matrix.sign * matrix.means()).tolist()
        judges = dict(zip(matrix.candidates, judged, strict=True))
        ranks.append(_ranks(JUDGE, unlabelled, judges, compared, compared.keys() - people))
    return ranks


def _compared(
    rows: pl.DataFrame, key: int, matrix: ScoreMatrix, labels: Labels
) -> dict[tuple[str, str], Compared] | str:
    """Every pair of the candidates as `compare` has it, or why one cannot be compared."""
    names, compared = list(combinations(matrix.candidates, 2)), dict[tuple[str, str], Compared]()
    terms: Any = {"margin": None, "population": "sample", "labels": {key: labels}}
    for pair in pairs(rows, {key: matrix.measure}, names, **terms):
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
) -> _ScaleRanks:
    """The ranks of these candidates by their pairs on this scale; any other pair of them is open."""
    names = tuple(name for name in means if name in candidates)  # in the order of the matrix
    values = [float(means[name]) for name in names]
    observed = {pair: (test.observed.p, test.observed.direction) for pair, test in compared.items()}
    filled = {pair: filled_test(test) for pair, test in compared.items()}
    as_observed = _intervals(values, names, observed, on_scale, _detectable(compared, on_scale))
    labelled = [compared[pair].correction for pair in combinations(names, 2) if pair in on_scale]
    return _ScaleRanks(
        scale,
        names,
        as_observed,
        as_observed.shown_by_both(_intervals(values, names, filled, on_scale)),
        min((change.n_labelled for change in labelled if change), default=None),
    )


def _detectable(
    compared: Mapping[tuple[str, str], Compared], on_scale: Set[tuple[str, str]]
) -> dict[tuple[str, str], float | None]:
    """The least difference that the tests of these pairs would find, Bonferroni over all compared."""
    return {pair: compared[pair].observed.mde(k=len(compared)) for pair in on_scale}


def _intervals(
    means: Sequence[float],
    names: Sequence[str],
    tests: Tests,
    on_scale: Set[tuple[str, str]],
    detectable: Mapping[tuple[str, str], float | None] | None = None,
) -> stats.RankIntervals:
    own_pairs = list(combinations(names, 2))
    # All pairs are one family, as they are in `compare`, on whatever scale they were tested.
    further = [p for pair, (p, _) in tests.items() if pair not in own_pairs]
    return stats.ranks_of_pairs(
        means,
        [tests[pair][0] for pair in own_pairs],
        [tests[pair][1] if pair in on_scale else 0 for pair in own_pairs],
        further=further,
        detectable=[(detectable or {}).get(pair) for pair in own_pairs],
    )


def _peoples_means(rows: pl.DataFrame, matrix: ScoreMatrix, labels: Labels) -> dict[str, float | str]:
    """Each candidate's mean on people's scale, higher being better; or why labels do not correct it."""
    criterion = matrix.measure.criterion
    values = resolve(rows, criterion)
    by_item = labels_by_item(labels, rows, criterion)
    means: dict[str, float | str] = {}
    for name in matrix.candidates:
        of_candidate = by_item.filter(candidate=name).drop("candidate")
        labelled = with_labels(values.filter(candidate=name), of_candidate, labels)
        means[name] = labelled if isinstance(labelled, str) else matrix.sign * labelled.powered().value
    return means


def _orders(
    every: ScoreMatrix, fillings: Fillings | None, ranks: Sequence[_ScaleRanks] | str | None
) -> list[list[RankingRow]]:
    """The rows of each order, the best first: one for each scale."""
    if not ranks or isinstance(ranks, str):
        return [ranking_rows(every, fillings)]
    by_name = {columns["candidate"]: columns for columns in _candidates(every, fillings)}
    return [_on_scale(by_name, of_scale, every.sign) for of_scale in ranks]


def _on_scale(by_name: Mapping[str, Mapping[str, Any]], ranks: _ScaleRanks, sign: int) -> list[RankingRow]:
    """The candidates on a scale with their means and ranks there, the best first."""
    shared: dict[str, Any] = {"scale": ranks.scale, "n_candidates": len(ranks.candidates), "mean_own": None}
    if ranks.scale == PEOPLE:
        shared |= {
            "estimate_kind": "prediction_powered",
            "judge_alone": False,
            "n_labelled": ranks.n_labelled,
        }
    if len(ranks.candidates) == 1:
        (name,) = ranks.candidates
        reason = f"{name} is the only candidate {phrase_of(ranks.scale)}, so it has no rank there"
        return [RankingRow(**{**by_name[name], **shared, "mean": None, "reason": reason})]
    rows = [
        RankingRow(
            **{
                **by_name[name],
                **shared,
                "mean": float(ranks.ranked.means[k]) * sign,
                **rank_columns(ranks.ranked, ranks.observed, k),
            }
        )
        for k, name in enumerate(ranks.candidates)
    ]
    return sorted(rows, key=_place)


def _why_no_order(rows: Sequence[RankingRow]) -> str | None:
    """Why candidates have no ranks by a measure; null where they have."""
    return rows[0].reason if rows else "no scores"


def _sentence(label: str, every: ScoreMatrix, fillings: Fillings | None, rows: Sequence[RankingRow]) -> str:
    """What the ranks rest on and depend on, and then the ranks."""
    name = f"{label} on {every.benchmark}"
    if reason := _why_no_order(rows):
        return f"{name}: {reason}."
    criterion = every.measure.criterion
    first = [*_warnings(rows, fillings, criterion)]
    basis = f"{count(rows[0].n_items, 'question')} in {cases(rows[0].n_groups, rows[0].effective_cases)}"
    basis += f", {phrase}" if (phrase := phrase_of(rows[0].scale)) else ""
    if rows[0].n_labelled:
        basis += f" by their scores of {count(rows[0].n_labelled, 'question')}"
    ranks = ", ".join(_ranked(row, criterion) for row in rows)
    figures = "mean" if rows[0].mean_rank is None else "mean; mean rank"
    basis += f"; {told_apart(rows[0].n_shown, rows[0].n_pairs, (row.n_doubtful for row in rows))}"
    if not first:
        return f"{name} ({basis}), ranks left open ({figures}): {ranks}."
    return f"{name}: {' '.join(first)} {basis}; ranks left open ({figures}): {ranks}."


def _warnings(rows: Sequence[RankingRow], fillings: Fillings | None, criterion: Criterion) -> Iterator[str]:
    """What a reader must know before the ranks: failed scores that decide, and other items."""
    wider = [row.candidate for row in rows if row.depends_on_failed]
    if wider and fillings:
        yield depends_on("rank", wider, sum(fillings.n_failed))
        if fillings.unbounded:
            yield f"{NO_LIMIT.capitalize()}."
    means = [OwnMean(row.candidate, row.mean_own, row.n_items_own) for row in rows]
    yield from on_common_items(means, rows[0].n_items, lambda mean: number(mean, criterion), "ranked")


def _ranked(row: RankingRow, criterion: Criterion) -> str:
    """A candidate with its ranks, mean and mean rank."""
    span = "" if row.rank_high == row.rank_low else f"-{row.rank_high}"
    mean_rank = "" if row.mean_rank is None else f"; {printed(row.mean_rank)}"
    return f"{row.candidate} {row.rank_low}{span} ({number(row.mean or 0.0, criterion)}{mean_rank})"
