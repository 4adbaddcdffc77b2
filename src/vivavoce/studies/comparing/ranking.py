"""Ranking: the order by mean with rank intervals, and beside it the order by mean rank.

Means ask by how much, mean ranks how often; the two may differ and are never mixed. The unit is the group;
items that a candidate lacks are left out for all. Where scores failed, a rank interval holds what both
fillings of them leave open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import polars as pl

from vivavoce import stats
from vivavoce.core.measure_names import measure_name
from vivavoce.core.records import Criterion, Finding
from vivavoce.core.registry import study
from vivavoce.core.short_names import Name
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.comparing.common_items import OwnMean, on_common_items
from vivavoce.studies.comparing.headline import fitting_headline, listed
from vivavoce.studies.comparing.scale_ranks import ScaleRanks, ranks_by_scale
from vivavoce.studies.rater_scores import is_judge
from vivavoce.studies.scale import PEOPLE, phrase_of, scale_of
from vivavoce.studies.score_matrix import (
    Fillings,
    ScoreMatrix,
    grids_with_fillings,
    key_of,
    labels,
    left_out,
)
from vivavoce.studies.score_table import NO_LIMIT, Labels, ScoreTable, notes_by_word, unweighted
from vivavoce.studies.study import Study, columns
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
    friedman_chi2: float | None = None
    friedman_f: float | None = None
    friedman_p: float | None = None
    critical_difference: float | None = None
    estimate_kind: str = "scores"
    judge_alone: bool = False
    scale: str | None = None
    n_labelled: int | None = None
    reason: str | None = None


COLUMNS = columns(RankingRow)


@study("ranking")
class Ranking(Study):
    """A row per candidate, benchmark and criterion, the best first.

    `mean` is over the `n_items` items that all candidates have scores on, `mean_own` over the candidate's own
    `n_items_own`. `rank_low` to `rank_high` are the ranks that paired tests leave open (Holm over all pairs);
    `n_shown` of `n_pairs` pairs were told apart. Where scores failed, a pair is told apart only if it is so
    under both fillings of them (one side at its worst and the other at its best, then the reverse): a rank
    interval is then the union of what the fillings leave open. `rank_low_observed` to `rank_high_observed`
    leave the failed scores aside, and `depends_on_failed` says whether the two differ. A failed score without
    a limit tells no pair apart. `n_failed` counts those on the items that all share. `mean_rank` is
    over groups, `mean_rank_items` over items. Friedman's figures and the critical difference of mean ranks
    (over groups) are of the whole criterion, of what was observed, and repeat in each row.

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
    needs = ("labels",)
    labels: str | None = None

    def findings(self, scores: ScoreTable) -> Finding:
        """The ranks by every criterion, with a sentence each."""
        rows: list[RankingRow] = []
        lines, notes = dict[tuple[str, str, str | None], str](), []
        unranked: dict[str, list[tuple[str, str, str | None]]] = {}
        short = labels(scores.measures)
        for matrix, every in grids_with_fillings(scores.scores, scores.measures):
            fillings = every.complete if every else None
            ranked = ranking_rows(matrix, fillings)
            name = short[key_of(matrix.measure)]
            people = _ranks_by_scale(scores, matrix.complete) if ranked and not ranked[0].reason else None
            parts = [ranked]
            if isinstance(people, str):
                notes.append(f"{name} on {matrix.benchmark} is not corrected by people's scores: {people}.")
            elif people:
                parts = [_on_scale(ranked, ranks, matrix) for ranks in people]
            for part in parts:
                rows.extend(part)
                scale = part[0].scale if part else None
                lines[name, matrix.benchmark, scale] = _sentence(name, matrix, fillings, part)
                if reason := _why_no_order(part):
                    unranked.setdefault(reason, []).append((name, matrix.benchmark, scale))
        # Dozens of orders may lack the same: it is said once, where the first of them stands.
        for reason, places in unranked.items():
            lines[places[0]] = once(reason, [place[:2] for place in places])
            for place in places[1:]:
                del lines[place]
        sampled = unweighted(
            scores.scores, "means and ranks are weighted; mean ranks and Friedman's test count"
        )
        notes += notes_by_word(scores.labels, [row.estimate_kind for row in rows])
        notes = [*left_out(scores), *sampled, *scores.notes, *notes]
        return self.finding(rows, "\n".join(lines.values()), notes, _headline(rows))


def _headline(rows: Sequence[RankingRow]) -> str:
    """Who is in first place by the first criterion that has ranks; empty where none has."""
    first = next((row for row in rows if row.rank is not None), None)
    if first is None:
        return ""
    key = attrgetter("benchmark", "metric", "criterion", "rater", "scale")
    leaders = [row.candidate for row in rows if key(row) == key(first) and row.rank_low == 1]
    measure = measure_name(first.metric, first.criterion, first.rater)
    phrase = phrase_of(first.scale)
    basis = f"{first.n_candidates} candidates by {measure}{', ' if phrase else ''}{phrase}"

    def sentences(name: Name) -> list[str]:
        names = listed([*map(name, leaders)])
        if len(leaders) == 1:
            return [f"{names} is alone in first place of {basis}."]
        return [f"Tests do not separate {names} in first place of {basis}."]

    return fitting_headline(sentences, leaders)


def ranking_rows(every: ScoreMatrix, fillings: Fillings | None) -> list[RankingRow]:
    """The rows of one matrix, the best first; `fillings` are those of its common items, null without any."""
    # Means over different items would rank the items too.
    matrix = every.complete
    sign = 1 if matrix.measure.criterion.direction == "higher" else -1
    n_groups = len(set(matrix.groups.tolist()))
    effective = stats.effective_groups(matrix.groups, weights=matrix.weights) if n_groups else None
    means = [float(mean) for mean in matrix.means()] if matrix.items else [None] * len(matrix.candidates)
    rows = [
        RankingRow(
            **matrix.place,
            candidate=name,
            mean=means[k],
            mean_own=every.own_mean(k),
            n_items_own=int(every.present[k].sum()),
            n_candidates=len(matrix.candidates),
            n_items=len(matrix.items),
            n_groups=n_groups,
            effective_cases=effective,
            n_failed=fillings.n_failed[k] if fillings else 0,
            judge_alone=is_judge(matrix.measure),
            scale=scale_of("scores", judge_alone=is_judge(matrix.measure)),
            reason=_too_few(matrix, n_groups, effective),
        )
        for k, name in enumerate(matrix.candidates)
    ]
    if not rows or rows[0].reason:
        return rows
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
    rows = [
        replace(
            row,
            mean=float(ranked.means[k]) * sign,
            rank=float(ranked.ranks[k]),
            rank_low=ranked.intervals[k].best,
            rank_high=ranked.intervals[k].worst,
            rank_low_observed=observed.intervals[k].best,
            rank_high_observed=observed.intervals[k].worst,
            depends_on_failed=ranked.intervals[k] != observed.intervals[k],
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


def _ranks_by_scale(scores: ScoreTable, matrix: ScoreMatrix) -> list[ScaleRanks] | str | None:
    """The ranks of each scale, or why none is on people's; null where nobody scored this criterion."""
    (key,) = (key for key, measure in scores.measures.items() if measure == matrix.measure)
    of_people = scores.labels.get(key)
    if not isinstance(of_people, Labels):
        return of_people
    items = pl.DataFrame(matrix.items, {"item": pl.String, "variant": pl.String}, orient="row")
    of_matrix = (
        (pl.col("measure_id") == key)
        & (pl.col("benchmark") == matrix.benchmark)
        & pl.col("candidate").is_in(matrix.candidates)
    )
    rows = scores.scores.filter(of_matrix).join(items, on=["item", "variant"], how="semi")
    return ranks_by_scale(rows, key, matrix, of_people)


def _on_scale(rows: Sequence[RankingRow], ranks: ScaleRanks, matrix: ScoreMatrix) -> list[RankingRow]:
    """The rows of the candidates on a scale with their means and ranks there, the best first."""
    place = {name: k for k, name in enumerate(ranks.candidates)}
    scale: dict[str, Any] = {"scale": ranks.scale, "n_candidates": len(place)}
    if ranks.scale == PEOPLE:
        scale |= {"estimate_kind": "prediction_powered", "judge_alone": False, "n_labelled": ranks.n_labelled}
    on_scale = [replace(row, **_WITHOUT_MEAN_RANKS, **scale) for row in rows if row.candidate in place]
    if len(on_scale) == 1:
        (row,) = on_scale
        reason = f"{row.candidate} is the only candidate {phrase_of(ranks.scale)}, so it has no rank there"
        return [replace(row, **_NO_RANK, reason=reason)]
    sign = 1 if matrix.measure.criterion.direction == "higher" else -1
    ranked, observed = ranks.ranked, ranks.observed
    corrected = [
        replace(
            row,
            mean=float(ranked.means[k]) * sign,
            rank=float(ranked.ranks[k]),
            rank_low=ranked.intervals[k].best,
            rank_high=ranked.intervals[k].worst,
            rank_low_observed=observed.intervals[k].best,
            rank_high_observed=observed.intervals[k].worst,
            depends_on_failed=ranked.intervals[k] != observed.intervals[k],
            n_shown=ranked.n_shown,
            n_pairs=ranked.n_pairs,
        )
        for row, k in ((row, place[row.candidate]) for row in on_scale)
    ]
    return sorted(corrected, key=lambda row: (row.rank or 0.0, row.candidate))


_WITHOUT_MEAN_RANKS: dict[str, Any] = dict.fromkeys(
    ("mean_own", "mean_rank", "mean_rank_items", "friedman_chi2", "friedman_f", "friedman_p",
     "critical_difference")
)  # fmt: skip
"""What ranks by pairs of two scales do not have."""
_NO_RANK: dict[str, Any] = dict.fromkeys(
    ("mean", "rank", "rank_low", "rank_high", "rank_low_observed", "rank_high_observed", "n_shown", "n_pairs",
     "depends_on_failed")
)  # fmt: skip


def _too_few(matrix: ScoreMatrix, n_groups: int, effective: float | None) -> str | None:
    if len(matrix.candidates) < 2:
        return "one candidate has no rank"
    # The pairs are tested by sign flips from six cases on, as `compare` does.
    if n_groups < LEAST_DIFFERENT:
        return f"{cases(n_groups, effective)} that all candidates have marks on: too few to rank"
    return None


def _why_no_order(rows: Sequence[RankingRow]) -> str | None:
    """Why candidates have no ranks by a measure; null where they have."""
    return rows[0].reason if rows else "no marks"


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
    told_apart = f"{rows[0].n_shown} of {rows[0].n_pairs} pairs told apart"
    if not first:
        return f"{name} ({basis}; {told_apart}), ranks left open ({figures}): {ranks}."
    return f"{name}: {' '.join(first)} {basis}; {told_apart}; ranks left open ({figures}): {ranks}."


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
    mean = number(row.mean or 0.0, criterion)
    mean_rank = "" if row.mean_rank is None else f"; {row.mean_rank:.2f}"
    return f"{row.candidate} {row.rank_low}{span} ({mean}{mean_rank})"
