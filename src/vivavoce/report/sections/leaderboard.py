"""Leaderboards, and the sentences that lead the page."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from vivavoce.core.measure_names import earlier_versions, metric_names
from vivavoce.core.records import Criterion, Measure
from vivavoce.report.charts.estimate_plots import forest
from vivavoce.report.charts.svg import Figure, figure
from vivavoce.report.data import Board, Rows
from vivavoce.report.format import interval, number
from vivavoce.report.sections.findings import Ranks
from vivavoce.studies.comparing.common_items import order_basis
from vivavoce.studies.comparing.ranking_sentences import first_place
from vivavoce.studies.scale import by_scale, opening_of, phrase_of
from vivavoce.studies.score_table import JudgedCriterion, better_end, is_confidence
from vivavoce.studies.text import and_so, by_view, count
from vivavoce.studies.validation_status import status_of

MOST_CAUSES, MOST_NAMES = 3, 4


class Scale(NamedTuple):
    """The ends of a board's axis."""

    low: float
    high: float


class Leaderboard(NamedTuple):
    """The candidates by one measure in one view on one benchmark: by estimate, floor and ceiling last.

    `size` is questions and cases where all rows rest on as many. `notes` are what a reason says of an
    estimate that is there all the same. `basis` says what the order rests on where candidates have scores on
    different items, and `n_common` is then how many all share; both are null else. `stamp` says what is known
    of the judge that scored, null where none did; a `saturated` criterion has nearly all its scores at one
    value; `is_earlier` where the run has scores by a later version of the metric.
    """

    benchmark: str
    metric: str
    criterion: str
    direction: str
    better_end: str
    if_unanswered: str
    range: tuple[float | None, float | None]
    declared: Criterion
    view: str
    scale: Scale
    size: tuple[int, int, float | None] | None
    rows: Rows
    ranks: Ranks | None
    notes: list[str]
    basis: str | None = None
    n_common: int | None = None
    stamp: str | None = None
    saturated: bool = False
    is_quality: bool = True
    is_earlier: bool = False

    @property
    def scales(self) -> list[str | None]:
        """The scales of its candidates, in their order; null for a metric that is no judge."""
        scales = [row["scale"] for row in self.rows if row["role"] == "candidate"]
        return list(dict.fromkeys(scales or [row["scale"] for row in self.rows]))

    @property
    def n_labelled(self) -> int:
        """The most questions that people scored of a candidate on their scale; 0 without any."""
        return max((row["n_labelled"] or 0 for row in self.rows), default=0)

    @property
    def any_failed(self) -> bool:
        """Whether any candidate has failed scores."""
        return any(row["n_failed"] for row in self.rows)


def boards(
    estimates: Rows,
    measures: Mapping[int, Measure],
    ranks: Mapping[Board, Ranks],
    stamps: Mapping[JudgedCriterion, str],
    saturated: Collection[JudgedCriterion],
) -> list[Leaderboard]:
    """A leaderboard per measure, view and benchmark, those of earlier versions of a metric last."""
    declared_by = {(m.signature, m.criterion.criterion, m.rater): m for m in measures.values()}
    versions = Counter(m for m, _ in {(m.metric, m.signature) for m in measures.values()})
    names, earlier = metric_names(measures), earlier_versions(measures)
    leaderboards = []
    key = ("signature", "benchmark", "metric", "criterion", "rater", "view")
    for (signature, benchmark, metric, criterion, rater, view), part in groupby(
        by_view(estimates), key=lambda r: tuple(r[name] for name in key)
    ):
        lines = sorted(part, key=lambda r: r["role"] != "candidate")  # stable: the order by estimate stays
        only_version = versions[metric] == 1  # ranks know no versions
        measure = declared_by[signature, criterion.removesuffix(f", {view}"), rater]
        declared = measure.criterion
        several_raters = len({r for m, k, r in declared_by if (m, k) == (signature, criterion)}) > 1
        sizes = {(r["n_items"], r["n_groups"], r["effective_cases"]) for r in lines}
        basis = order_basis(lines, number)
        leaderboards.append(
            Leaderboard(
                benchmark=benchmark,
                metric=names[signature],
                criterion=f"{criterion} by {rater}" if several_raters and rater else criterion,
                direction=declared.direction,
                better_end=better_end(measure),
                if_unanswered=declared.if_unanswered,
                range=(declared.low, declared.high),
                declared=declared,
                view=view,
                scale=scale_of(lines, declared),
                size=sizes.pop() if len(sizes) == 1 else None,
                rows=lines,
                ranks=ranks.get(Board(benchmark, metric, criterion, rater)) if only_version else None,
                notes=_notes(lines),
                basis=basis,
                n_common=lines[0]["n_common"] if basis else None,
                stamp=status_of(stamps, benchmark, measure),
                saturated=JudgedCriterion(benchmark, signature, rater, declared.criterion) in saturated,
                is_quality=not is_confidence(measure) and signature not in earlier,
                is_earlier=signature in earlier,
            )
        )
    return sorted(leaderboards, key=lambda board: board.is_earlier)  # stable: the order of each kind stays


def _notes(lines: Rows) -> list[str]:
    """The reasons of rows that have an estimate all the same."""
    return [f"{r['candidate']}: {r['reason']}" for r in lines if r["estimate"] is not None and r["reason"]]


def leaderboard_figures(leaderboards: Sequence[Leaderboard]) -> Iterator[Figure]:
    """The leaderboards as forest plots, for files of their own: the page draws them itself."""
    for board in leaderboards:
        name = f"{' '.join(dict.fromkeys((board.metric, board.criterion)))} on {board.benchmark}"
        yield figure(name, forest(board.rows), "leaderboard", name)


def scale_of(lines: Rows, declared: Criterion) -> Scale:
    """The axis of a board: round numbers around its lowest and highest end, inside the declared range."""
    ends = [
        r[k]
        for r in lines
        for k in ("estimate", "low", "high", "bound_low", "bound_high")
        if r[k] is not None
    ]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    step = 10.0 ** math.floor(math.log10(high - low)) if high > low else 1.0
    ends = [round(math.floor(low / step) * step, 9), round(math.ceil(high / step) * step, 9)]
    if ends[0] == ends[1]:  # all are one round number: an axis needs two ends
        ends = [ends[0] - step, ends[1] + step]
    return Scale(
        ends[0] if declared.low is None else max(ends[0], declared.low),
        ends[1] if declared.high is None else min(ends[1], declared.high),
    )


def leads(leaderboards: Sequence[Leaderboard]) -> list[dict[str, Any]]:
    """For each board the leading candidates, and those that paired tests cannot separate from first place.

    `words` is null where no candidate has an estimate.
    """
    return [
        {
            "measure": " · ".join(dict.fromkeys((board.metric, board.criterion))),
            "benchmark": board.benchmark,
            "words": _lead(board),
            "stamp": board.stamp,
        }
        for board in leaderboards
        if board.is_quality  # the surest candidate leads nothing, and what was scored anew neither
    ]


def _lead(board: Leaderboard) -> str | None:
    results = [r for r in board.rows if r["role"] == "candidate" and r["estimate"] is not None]
    if not results:
        return None
    leading, *unordered = by_scale(results)
    return " ".join([_lead_of(board, leading), *map(_unordered, unordered)])


def _unordered(rows: Sequence[Mapping[str, Any]]) -> str:
    """The candidates that the order of a board does not hold, being on another scale."""
    phrase = phrase_of(rows[0]["scale"])
    return f"In no order with these, {phrase}: {_listed([row['candidate'] for row in rows])}."


def _lead_of(board: Leaderboard, candidates: Rows) -> str:
    """The leading ones of the candidates on one scale."""
    n = len(candidates)
    if board.basis and not board.n_common:
        return board.basis
    scale = opening_of(candidates[0]["scale"])
    # Means over different items would compare the items too.
    column = "estimate_common" if board.basis else "estimate"
    best = candidates[0]
    tied = [r["candidate"] for r in candidates if r[column] == best[column]]
    have = "have" if len(tied) > 1 else "has"
    figure = {"mean": "mean", "pooled": "pooled figure"}.get(board.view, board.view)
    value = number(best[column])
    if best["low"] is not None and not board.basis:
        value += f" ({interval(best['low'], best['high'])})"
    if n == 1:
        return f"{scale}{_listed(tied)} {have} the {figure} {value}."
    end = "highest" if board.direction == "higher" else "lowest"
    first = scale
    if board.basis:
        first = f"{board.basis} {scale}on these " if scale else f"{board.basis} On these "
    words = f"{first}{_listed(tied)} {have} the {end} {figure}, {value}, of {count(n, 'candidate')}."
    places = board.ranks.places.items() if board.ranks else ()
    leading = [name for name, place in places if place.split("-")[0] == "1"]
    if len(leading) == 1:
        of_whom = " of the judge's scores" if best["judge_alone"] else ""
        return f"{words} Paired tests{of_whom} put {leading[0]} alone in first place."
    if leading:
        mde = board.ranks.mde_first if board.ranks else None
        return f"{words} {first_place(_listed(leading, of=n), mde=mde, criterion=board.declared)}."
    return words


def _listed(names: Sequence[str], *, of: int | None = None) -> str:
    """The names, or how many they are where that is more than `MOST_NAMES`."""
    if len(names) > MOST_NAMES:
        return f"all {of} candidates" if of == len(names) else count(len(names), "candidate")
    return and_so(names)
