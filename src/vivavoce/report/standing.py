"""Where the candidates stand: leaderboards, the sentences that lead the page, and what is missing."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.records import Criterion, Measure
from vivavoce.report.boards import Board, Rows, names_of
from vivavoce.report.drawing import Figure, figure
from vivavoce.report.plots import forest
from vivavoce.report.studied import Ranks
from vivavoce.report.wording import and_so, interval, number
from vivavoce.studies.stamps import Stamped, stamp_of
from vivavoce.studies.status import status
from vivavoce.studies.words import by_view, count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Leaderboard", "Scale", "boards", "coverage", "drawn", "leads"]

MOST_CAUSES, MOST_NAMES = 3, 4


class Scale(NamedTuple):
    """The ends of a board's axis."""

    low: float
    high: float


class Leaderboard(NamedTuple):
    """The candidates by one measure in one view on one benchmark: by estimate, bounds of the exam last.

    `size` is questions and cases where all rows rest on as many. `notes` are what a reason says of an
    estimate that is there all the same. `stamp` says what is known of the judge that marked, null where none
    did; a `saturated` criterion has nearly all its marks at one value.
    """

    benchmark: str
    metric: str
    criterion: str
    direction: str
    if_unanswered: str
    range: tuple[float | None, float | None]
    view: str
    scale: Scale
    size: tuple[int, int] | None
    rows: Rows
    ranks: Ranks | None
    notes: list[str]
    stamp: str | None = None
    saturated: bool = False

    @property
    def any_failed(self) -> bool:
        """Whether marks of somebody on it failed."""
        return any(row["n_failed"] for row in self.rows)


def boards(
    estimates: Rows,
    measures: Mapping[int, Measure],
    ranks: Mapping[Board, Ranks],
    stamps: Mapping[Stamped, str],
    saturated: Collection[Stamped],
) -> list[Leaderboard]:
    """A leaderboard per measure, view and benchmark."""
    declared_by = {(m.signature, m.criterion.criterion, m.rater): m for m in measures.values()}
    versions = Counter(m for m, _ in {(m.metric, m.signature) for m in measures.values()})
    made = []
    key = ("signature", "benchmark", "metric", "criterion", "rater", "view")
    for (signature, benchmark, metric, criterion, rater, view), part in groupby(
        by_view(estimates), key=lambda r: tuple(r[name] for name in key)
    ):
        lines = sorted(part, key=lambda r: r["role"] != "candidate")  # stable: the order by estimate stays
        alone = versions[metric] == 1  # ranks know no versions
        measure = declared_by[signature, criterion.removesuffix(f", {view}"), rater]
        declared = measure.criterion
        place = Stamped(benchmark, signature, rater, declared.criterion)
        several = len({r for m, k, r in declared_by if (m, k) == (signature, criterion)}) > 1
        sizes = {(r["n_items"], r["n_groups"]) for r in lines}
        made.append(
            Leaderboard(
                benchmark=benchmark,
                metric=metric if alone else signature,
                criterion=f"{criterion} by {rater}" if several and rater else criterion,
                direction=declared.direction,
                if_unanswered=declared.if_unanswered,
                range=(declared.low, declared.high),
                view=view,
                scale=_scale(lines, declared),
                size=sizes.pop() if len(sizes) == 1 else None,
                rows=lines,
                ranks=ranks.get(Board(benchmark, metric, criterion, rater))
                if versions[metric] == 1
                else None,
                notes=[
                    f"{r['candidate']}: {r['reason']}"
                    for r in lines
                    if r["estimate"] is not None and r["reason"]
                ],
                stamp=stamp_of(stamps, benchmark, measure),
                saturated=place in saturated,
            )
        )
    return made


def drawn(made: Sequence[Leaderboard]) -> Iterator[Figure]:
    """The leaderboards as forest plots, for files of their own: the page draws them itself."""
    for board in made:
        name = f"{' '.join(dict.fromkeys((board.metric, board.criterion)))} on {board.benchmark}"
        yield figure(name, forest(board.rows), "leaderboard", name)


def _scale(lines: Rows, declared: Criterion) -> Scale:
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


def leads(made: Sequence[Leaderboard]) -> list[dict[str, Any]]:
    """For each board who is in front, and who may hold the first place by paired tests.

    `words` is null where no candidate has an estimate.
    """
    found = []
    for board in made:
        own = [r for r in board.rows if r["role"] == "candidate" and r["estimate"] is not None]
        words = None
        if own:
            best = own[0]
            tied = [r["candidate"] for r in own if r["estimate"] == best["estimate"]]
            end = "highest" if board.direction == "higher" else "lowest"
            what = {"mean": "mean", "pooled": "pooled figure"}.get(board.view, board.view)
            ends = "" if best["low"] is None else f" ({interval(best['low'], best['high'])})"
            words = f"{_listed(tied)} {'have' if len(tied) > 1 else 'has'} the "
            words += f"{end} {what}, " if len(own) > 1 else f"{what} "
            words += f"{number(best['estimate'])}{ends}"
            words += f", of {count(len(own), 'candidate')}." if len(own) > 1 else "."
            places = board.ranks.places.items() if board.ranks else ()
            first = [name for name, place in places if place.split("-")[0] == "1"]
            if len(first) == 1 and len(own) > 1:
                words += f" Paired tests give the first place to {first[0]}."
            elif first and len(own) > 1:
                words += f" Paired tests leave the first place open to {_listed(first, of=len(own))}."
        name = " · ".join(dict.fromkeys((board.metric, board.criterion)))
        found.append({"measure": name, "benchmark": board.benchmark, "words": words, "stamp": board.stamp})
    return found


def _listed(names: Sequence[str], *, of: int | None = None) -> str:
    """The names, or how many they are where that is more than `MOST_NAMES`."""
    if len(names) > MOST_NAMES:
        return f"all {of} candidates" if of == len(names) else count(len(names), "candidate")
    return and_so(names)


def coverage(
    responses: "pl.DataFrame",
    scores: "pl.DataFrame",
    measures: Mapping[int, Measure],
    only: Mapping[int, frozenset[tuple[str, str, str]]],
    probes: Mapping[int, str],
) -> list[dict[str, Any]]:
    """What of each candidate's answers each examiner could mark; measures with the same figures share a row.

    `measures` are their short names, none before anything was marked. `causes` are the commonest reasons for
    what is not ok. `only` and `probes` are as in `Contents`: of other items no marks are
    expected.
    """
    names = names_of(measures)
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in status(responses, scores, measures, only=only, probes=probes).rows:
        causes = tuple(row["causes"].items())
        figures = {k: row[k] for k in ("responses", "ok", "unanswered", "unreadable", "failed")}
        key = (row["benchmark"], row["candidate"], *figures.values(), causes)
        made = merged.setdefault(
            key,
            {
                "benchmark": row["benchmark"],
                "candidate": row["candidate"],
                "measures": [],
                **figures,
                "causes": dict(causes[:MOST_CAUSES]),
                "n_more_causes": max(0, len(causes) - MOST_CAUSES),
            },
        )
        if row["metric"] is not None:
            made["measures"].append(names[row["metric"], row["criterion"], row["rater"]])
    return list(merged.values())
