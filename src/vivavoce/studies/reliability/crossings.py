"""Crossings: the sides of a correlation that lie on different benchmarks, or outside of the run.

A size-weighted mean over closed benchmarks against every open measure, one measure on two benchmarks, and any
of them against ratings from elsewhere. They share no items, so the unit is the candidate.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple, get_args

import numpy as np

from vivavoce import stats
from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.records import Measure
from vivavoce.core.specs import Spec
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.primary import measures_named
from vivavoce.studies.reliability.correlation_rows import (
    LEAST_CANDIDATES,
    Coefficient,
    CorrelationRow,
    is_higher_better,
    without_each,
)
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_matrix import Floats, ScoreMatrix, key_of, side_by_side
from vivavoce.studies.score_table import Rating, ScoreTable
from vivavoce.studies.text import count

CLOSED_MEAN, ACROSS, RATINGS = "closed mean", "benchmarks", "ratings"
"""The contrasts: closed benchmarks against an open measure, one measure on two benchmarks, ratings."""
RATED = "rating"


class Side(NamedTuple):
    """One side of a crossing, on which higher is better: a matrix, or ratings by candidate."""

    label: str
    benchmark: str
    matrix: ScoreMatrix | None = None
    ratings: Mapping[str, float] = {}

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates that have a value."""
        return self.matrix.candidates if self.matrix else tuple(self.ratings)

    def of(self, names: Sequence[str]) -> "Side":
        """The side of some candidates, a matrix on the items that all of them have."""
        if self.matrix is None:
            return self._replace(ratings={name: self.ratings[name] for name in names})
        return self._replace(matrix=self.matrix.of(names).complete)

    @property
    def n_items(self) -> int:
        """How many items the values are means over; 0 of ratings."""
        return len(self.matrix.items) if self.matrix else 0

    @property
    def means(self) -> Floats:
        """A value per candidate; of a matrix with items."""
        if self.matrix is None:
            return np.array(list(self.ratings.values()), dtype=np.float64)
        return stats.exact_means(self.matrix.even()) if self.matrix.sizes is not None else self.matrix.means()


class Crossing(NamedTuple):
    """Two sides to correlate over candidates."""

    contrast: str
    a: Side
    b: Side


Names = str | Spec | tuple[str | Spec, ...]


class Design(NamedTuple):
    """What is to be crossed, as the settings of the study state it."""

    closed: tuple[str, ...] = ()
    closed_by: str = "accuracy"
    across: tuple[str, ...] = ()
    mapping: tuple[str, ...] = ()

    @classmethod
    def of(cls, closed: Names, closed_by: str | Spec, across: Names, mapping: Names) -> "Design":
        """The design of these settings, in which a single name needs no list around it."""
        lists = (value if isinstance(value, tuple) else (value,) for value in (closed, across, mapping))
        names = [tuple(map(str, entries)) for entries in lists]
        return cls(names[0], str(closed_by), *names[1:])


def crossings(
    matrices: Sequence[ScoreMatrix],
    scores: ScoreTable,
    short: Mapping[tuple[str, str, str], str],
    design: Design,
) -> list[Crossing]:
    """The crossings of a design, from the matrices of one call of `grids`, turned so that higher is better.

    Raises `SelectionError` for a benchmark or a metric that nothing was scored by.
    """
    sides = [Side(short[key_of(m.measure)], m.benchmark, m) for m in matrices]
    crossed = list(_across(sides, design.across))
    if design.closed:
        closed = _closed_mean(matrices, design)
        crossed += [Crossing(CLOSED_MEAN, closed, s) for s in sides if s.benchmark not in design.closed]
        sides = [closed, *sides]
    if scores.ratings:
        names = sorted({name for matrix in matrices for name in matrix.candidates})
        rated = Side(RATED, "", None, ratings_of(scores.ratings, names, design.mapping))
        crossed += [Crossing(RATINGS, side, rated) for side in sides]
    return crossed


def _closed_mean(matrices: Sequence[ScoreMatrix], design: Design) -> Side:
    """The mean over all items of the closed benchmarks: each counts by its size."""
    present = list(dict.fromkeys(m.benchmark for m in matrices))
    parts = []
    for benchmark in design.closed:
        if benchmark not in present:
            near = suggest(benchmark, present)
            raise SelectionError(
                f"correlation, closed: no scores on {benchmark!r}.{near} Here: {', '.join(present)}."
            )
        on_it = {n: m.measure for n, m in enumerate(matrices) if m.benchmark == benchmark}
        named = measures_named(design.closed_by, on_it)
        if len(named) != 1:
            subject = "several measures are" if named else "no measure is"
            raise SelectionError(
                f"correlation, closed_by: {subject} {design.closed_by!r} on {benchmark}; here are "
                f"{', '.join(sorted({m.metric for m in on_it.values()}))}."
            )
        parts.append(matrices[next(iter(named))])
    try:
        joined = side_by_side(parts)
    except ValueError as error:
        raise SelectionError(f"correlation, closed: {error}.") from None
    return Side(f"{design.closed_by}, weighted by size", joined.benchmark, joined)


def _across(sides: Sequence[Side], metrics: Sequence[str]) -> Iterator[Crossing]:
    """Each of these metrics on every pair of benchmarks."""
    measures = {n: side.matrix.measure for n, side in enumerate(sides) if side.matrix}
    for metric in metrics:
        for key in _keys_named(metric, measures):
            alike = [sides[n] for n, measure in measures.items() if key_of(measure) == key]
            yield from (Crossing(ACROSS, *pair) for pair in combinations(alike, 2))


ABSENT = NamingSentence(
    code="correlation.absent",
    templates=(
        "across={metric}: {measure} was scored on {benchmark} alone, and a pair of benchmarks takes two.",
        "across={metric}: {measure} was scored by another version on each benchmark, and no two share one.",
        "closed={benchmark}: no other benchmark was scored, so nothing can be compared with their mean.",
        "One measure on each benchmark: nothing to correlate within one, and `across={metric}` correlates "
        "them between benchmarks.",
        "One measure on each benchmark, and none on two: nothing to correlate.",
    ),
    names=("metric",),
    counts="on which benchmarks a measure was scored",
)
_ALONE, _VERSIONS, _CLOSED, _HINT, _NONE = ABSENT.templates


def absent_crossings(
    matrices: Sequence[ScoreMatrix], short: Mapping[tuple[str, str, str], str], design: Design
) -> Iterator[str]:
    """Why a design has no rows, a sentence for each of its settings that gives none."""
    benchmarks = list(dict.fromkeys(matrix.benchmark for matrix in matrices))
    if design.closed and not set(benchmarks) - set(design.closed):
        yield _CLOSED.format(benchmark=", ".join(design.closed))
    for metric in design.across:
        yield from _unshared(metric, matrices, short)


def _unshared(
    metric: str, matrices: Sequence[ScoreMatrix], short: Mapping[tuple[str, str, str], str]
) -> Iterator[str]:
    """A sentence for each criterion and rater of a metric without a measure on two benchmarks."""
    lines: dict[tuple[str, str], list[ScoreMatrix]] = {}
    for n, measure in measures_named(metric, {n: m.measure for n, m in enumerate(matrices)}).items():
        lines.setdefault((measure.criterion.criterion, measure.rater), []).append(matrices[n])
    for line in lines.values():
        if len({key_of(matrix.measure) for matrix in line}) == len(line):
            template = _ALONE if len({matrix.benchmark for matrix in line}) == 1 else _VERSIONS
            label = short[key_of(line[0].measure)]
            yield template.format(metric=metric, measure=label, benchmark=line[0].benchmark)


def without_pairs(matrices: Sequence[ScoreMatrix], design: Design) -> str | None:
    """Why there is no row where each benchmark has one measure; null for any other reason."""
    if len(matrices) < 2 or design != design._replace(closed=(), across=()):
        return None
    keys = [key_of(matrix.measure) for matrix in matrices]
    shared = next((m for m in matrices if keys.count(key_of(m.measure)) > 1), None)
    return _NONE if shared is None else _HINT.format(metric=shared.measure.metric)


def _keys_named(metric: str, measures: Mapping[int, Measure]) -> list[tuple[str, str, str]]:
    """What identifies the measures that a metric names. Raises `SelectionError` where it names none."""
    named = measures_named(metric, measures)
    if not named:
        listed = ", ".join(sorted({m.metric for m in measures.values()}))
        raise SelectionError(f"correlation, across: nothing is scored by {metric!r}. Here: {listed}.")
    return list(dict.fromkeys(key_of(m) for m in named.values()))


def ratings_of(
    ratings: Mapping[str, Rating], candidates: Sequence[str], mapping: Sequence[str]
) -> dict[str, float]:
    """The ratings by candidate, those that have one; `mapping` holds `candidate:theirs`.

    Raises `SelectionError` for a mapping that names nobody.
    """
    theirs = {name: name for name in candidates}
    for entry in mapping:
        # A candidate may hold a colon itself, as in llama3.1:70b: the longest that there is counts.
        ours = max((n for n in candidates if entry.startswith(f"{n}:")), key=len, default=None)
        if ours is None or entry[len(ours) + 1 :] not in ratings:
            raise SelectionError(
                f"correlation, mapping: {entry!r} is no candidate:theirs of a candidate here and a name in "
                "the file."
            )
        theirs[ours] = entry[len(ours) + 1 :]
    return {name: ratings[their].rating for name, their in theirs.items() if their in ratings}


def families_of(scores: ScoreTable) -> dict[str, str]:
    """The family of each candidate by its card; a candidate without one is a family of its own."""
    cards = scores.cards or {}
    names = distinct(scores.scores, "candidate")["candidate"]
    # A family and a candidate may bear the same name.
    families = {name: cards[name].family for name in names if name in cards}
    return {n: f"family {families[n]}" if families.get(n) else f"alone {n}" for n in names}


def subsets(
    crossing: Crossing, scores: ScoreTable, threshold: float | None
) -> Iterator[tuple[str, list[str]]]:
    """The candidates of both sides: all, and by size where a threshold is given."""
    names = sorted({*crossing.a.candidates} & {*crossing.b.candidates})
    yield "", names
    if threshold is not None:
        cards = scores.cards or {}
        sizes = {n: size for n in names if n in cards and (size := cards[n].parameters) is not None}
        yield "small", [n for n in sizes if sizes[n] < threshold]
        yield "large", [n for n in sizes if sizes[n] >= threshold]


def crossing_rows(
    crossed: Iterable[Crossing], scores: ScoreTable, threshold: float | None, families: Mapping[str, str]
) -> Iterator[CorrelationRow]:
    """All coefficients of each crossing, over all its candidates and by size."""
    for crossing in crossed:
        for subset, names in subsets(crossing, scores, threshold):
            a, b = crossing.a.of(names), crossing.b.of(names)
            row = _crossing_row(Crossing(crossing.contrast, a, b), names)
            every = {*crossing.a.candidates, *crossing.b.candidates}
            left_out = "" if subset else "; ".join(sorted(every - {*names}))
            row = replace(row, subset=subset, left_out=left_out)
            for coefficient in get_args(Coefficient):
                row = replace(row, coefficient=coefficient)
                yield row if row.reason else _crossed(row, a, b, [families[name] for name in names])


def _crossing_row(crossing: Crossing, names: Sequence[str]) -> CorrelationRow:
    """The row of two sides on these candidates, without figures."""
    a, b = crossing.a, crossing.b
    matrices = [side.matrix for side in (a, b) if side.matrix]
    lower_is_better = [s.label for s in (a, b) if s.matrix and not is_higher_better(s.matrix)]
    return CorrelationRow(
        benchmark=" × ".join(filter(None, (a.benchmark, b.benchmark))),
        a=a.label,
        b=b.label,
        level="system",
        coefficient="",
        n_candidates=len(names),
        n_items=a.n_items + b.n_items,
        n_groups=len(set(np.concatenate([matrix.groups for matrix in matrices]).tolist())),
        by_construction=False,
        turned="; ".join(lower_is_better),
        reason=_why_no_figure(matrices, names),
        contrast=crossing.contrast,
        a_benchmark=a.benchmark,
        b_benchmark=b.benchmark,
        a_items=a.n_items,
        b_items=b.n_items,
    )


def _why_no_figure(matrices: Sequence[ScoreMatrix], names: Sequence[str]) -> str | None:
    """Why two sides have no correlation over these candidates; null where they have one."""
    if len(names) < LEAST_CANDIDATES:
        return f"{count(len(names), 'candidate')}: too few to correlate"
    if not all(matrix.items for matrix in matrices):
        return "no question on one side that all candidates have a score on"
    return None


def _crossed(row: CorrelationRow, a: Side, b: Side, families: Sequence[str]) -> CorrelationRow:
    """The figures of two sides over the same candidates."""
    x, y = a.means, b.means
    value = stats.correlation(x, y, coefficient=row.coefficient)  # type: ignore[arg-type]
    row = replace(row, value=value, n=len(x))
    if value is None:
        return replace(row, reason="one side does not vary")
    row = without_each(row, (x, y), families)
    if row.coefficient == "pearson" and (interval := stats.fisher_interval(value, len(x))):
        return replace(row, low=interval.low, high=interval.high)
    return _ordered(row, a, b) if row.coefficient == "kendall" else row


def _ordered(row: CorrelationRow, a: Side, b: Side) -> CorrelationRow:
    """With p by permuting candidates, and the pairs in the same order."""
    x, y = a.means, b.means
    names = "|".join((row.contrast, row.a, row.a_benchmark, row.b, row.b_benchmark, row.subset))
    permuted = stats.permute_systems(x, y, coefficient="kendall", rng=stats.seeded_rng(names))
    order = stats.order_agreement(x, y)
    row = replace(
        row,
        p=permuted.p if permuted else None,
        same_order=order.same,
        n_pairs=order.same + order.opposite + order.left_out,
    )
    if a.matrix is None or b.matrix is None:  # ratings come without items, so nothing tells them apart
        return row
    tested = stats.shown_agreement(
        *(stats.rank_intervals(m.even(), m.groups).better for m in (a.matrix, b.matrix))
    )
    return replace(row, told_apart_alike=tested.same, told_apart=tested.same + tested.opposite)
