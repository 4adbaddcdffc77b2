"""Three declared ranks of sources, and whether they differ at all.

The rank of the mean score is that of the published figures (Ranking over Scoring, figures 3 and 4); the mean
over runs of the rank in the run, and over items of the rank in the item, may name other winners.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.studies.intervals import by_mean, too_few
from vivavoce.studies.score_table import NO_LIMIT
from vivavoce.studies.text import count
from vivavoce.systems.ranking.study.rows import KEEP, ArgumentsRow, family_row
from vivavoce.systems.ranking.study.source_scores import SourceScores

ARGUMENTS, EVERYTHING = "arguments", "all"
"""What is ranked: arguments, which are candidates and ceilings; or these and the floors beside them."""

TIED = "every case is one tie"


class Lineup(NamedTuple):
    """Sources that are ranked among each other on the items that all share, with what `leaked` left out.

    `scores` has only items with a score of every source in every run; `filled` also those with a failed one,
    and is null where none failed.
    """

    among: str
    leaked: str
    scores: SourceScores
    filled: SourceScores | None

    @property
    def why_no_rank(self) -> str | None:
        """Why the sources have no ranks; null where they have."""
        if len(self.scores.sources) < 2:
            return "one source has no rank"
        return None if self.scores.items else "no question has a score of every source in every run"


def lineups(table: SourceScores, dropped: dict[str, set[tuple[str, str]]]) -> Iterator[Lineup]:
    """The lineups of a table: arguments alone, and with floors where there are any.

    `dropped` are the leaked items to leave out, by what is then said of `leaked`.
    """
    arguments = [name for name in table.sources if table.roles[name] != "floor"]
    for among, sources in ((ARGUMENTS, arguments), (EVERYTHING, list(table.sources))):
        if not sources or (among == EVERYTHING and sources == arguments):
            continue
        part = table.of(sources)
        for leaked in (KEEP, *dropped):
            left_out = dropped.get(leaked, set())
            clean = part.on([item not in left_out for item in part.items])
            yield Lineup(among, leaked, clean.complete, clean.filled)


def rank_rows(lineup: Lineup) -> Iterator[ArgumentsRow]:
    """By source its mean and its three ranks; then Friedman's test, the critical difference and the order."""
    scores = lineup.scores
    shared = {"among": lineup.among, "leaked": lineup.leaked}
    if why := lineup.why_no_rank:
        for name in scores.sources:
            yield _mean_row(lineup, name, why)
        yield family_row(scores, "order", "friedman", reason=why, n=len(scores.sources), **shared)
        return
    means = scores.means
    ranks = {
        "rank_of_mean": stats.mean_ranks(means.mean(axis=1)[:, None]),
        "mean_run_rank": stats.mean_ranks(scores.values.mean(axis=1)),
        "mean_instance_rank": stats.mean_ranks(means),
    }
    few = too_few(scores.groups)
    untested = few or scores.few_runs
    tested = None if untested else _tested(lineup)
    for column, name in enumerate(scores.sources):
        of_source = {"candidate": name, "role": scores.roles[name], **shared}
        yield _mean_row(lineup, name, few)
        for figure, values in ranks.items():
            open_ranks = {}
            if tested and figure == "rank_of_mean":
                interval, observed = tested.ranked.intervals[column], tested.observed.intervals[column]
                open_ranks = {
                    "low": float(interval.best),
                    "high": float(interval.worst),
                    "depends_on_failed": interval != observed,
                }
            reason = untested if figure == "rank_of_mean" else None
            yield family_row(
                scores, "ranks", figure, value=float(values[column]), reason=reason, **of_source, **open_ranks
            )
    yield from _order_rows(lineup, tested, few)


def _mean_row(lineup: Lineup, name: str, reason: str | None) -> ArgumentsRow:
    """A source's mean over items and runs, with its interval by case."""
    scores, column = lineup.scores, lineup.scores.sources.index(name)
    criterion = scores.family.criterion
    values = scores.means[column] * scores.sign
    estimate = by_mean(values, scores.groups, low=criterion.low, high=criterion.high) if len(values) else None
    return family_row(
        scores,
        "ranks",
        "mean",
        among=lineup.among,
        leaked=lineup.leaked,
        candidate=name,
        role=scores.roles[name],
        value=stats.exact_mean(values) if len(values) else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        n_failed=int((lineup.filled or scores).failed[column].sum()),
        n_unanswered=scores.silent[name],
        reason=(estimate.reason if estimate else None) or (reason if not len(values) else None),
    )


class _Tested(NamedTuple):
    """Rank intervals, with failed scores at both their limits, and of what was observed."""

    ranked: stats.RankIntervals
    observed: stats.RankIntervals


def _tested(lineup: Lineup) -> _Tested:
    scores, filled = lineup.scores, lineup.filled
    # Which source a training favours is luck: runs are drawn as cases are.
    runs = scores.run_labels
    observed = stats.rank_intervals(scores.values if runs else scores.means, scores.groups, runs=runs)
    if filled is None:
        return _Tested(observed, observed)
    worst, best = (filled.low, filled.high) if runs else (filled.low.mean(axis=2), filled.high.mean(axis=2))
    return _Tested(stats.ranks_under_fillings(observed, worst, best, filled.groups, runs=runs), observed)


def _order_rows(lineup: Lineup, tested: _Tested | None, few: str | None) -> Iterator[ArgumentsRow]:
    scores, k = lineup.scores, len(lineup.scores.sources)
    shared = {"among": lineup.among, "leaked": lineup.leaked, "n": k}
    yield family_row(scores, "order", "order", text=order_text(lineup), **shared)
    if few:
        yield family_row(scores, "order", "friedman", reason=few, **shared)
        return
    # Cases are the blocks: runs of an evaluator on one item are no further items.
    order = stats.friedman(scores.means, scores.groups)
    reason = None
    if order.f is None:
        reason = "all cases rank the sources alike" if order.chi2 is not None else TIED
    yield family_row(scores, "order", "friedman", value=order.f, p=order.p, reason=reason, **shared)
    yield family_row(
        scores,
        "order",
        "friedman_chi2",
        value=order.chi2,
        p=order.p_chi2,
        reason=None if order.chi2 is not None else TIED,
        **shared,
    )
    distance = stats.nemenyi_distance(k, order.n_blocks)
    yield family_row(scores, "order", "critical_difference", value=distance, **shared)
    for name, rank in zip(scores.sources, order.mean_ranks, strict=True):
        of_source = {"candidate": name, "role": scores.roles[name]}
        yield family_row(scores, "order", "mean_case_rank", value=float(rank), **of_source, **shared)
    yield _pairs_row(lineup, tested, shared)


def _pairs_row(lineup: Lineup, tested: _Tested | None, shared: Mapping[str, Any]) -> ArgumentsRow:
    """How many pairs were told apart; null with too few runs to tell."""
    scores, k = lineup.scores, len(lineup.scores.sources)
    unbounded = lineup.filled is not None and bool(
        np.isnan(lineup.filled.low).any() or np.isnan(lineup.filled.high).any()
    )
    return family_row(
        scores,
        "order",
        "pairs_told_apart",
        value=float(tested.ranked.n_shown) if tested else None,
        n_failed=int(lineup.filled.failed.sum()) if lineup.filled else 0,
        depends_on_failed=tested.ranked.n_shown != tested.observed.n_shown if tested else None,
        text=f"of {count(k * (k - 1) // 2, 'pair')}",
        reason=scores.few_runs or (NO_LIMIT if unbounded else None),
        **shared,
    )


def order_text(lineup: Lineup) -> str:
    """The sources by mean score, the best first, with = between equal ones."""
    means = lineup.scores.means.mean(axis=1)
    ranks = stats.mean_ranks(means[:, None])
    order = sorted(range(len(ranks)), key=lambda place: (ranks[place], lineup.scores.sources[place]))
    text = lineup.scores.sources[order[0]]
    for previous, place in pairwise(order):
        text += (" = " if ranks[previous] == ranks[place] else " > ") + lineup.scores.sources[place]
    return text
