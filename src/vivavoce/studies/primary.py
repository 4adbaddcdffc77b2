"""The primary criterion: the one number that a run's first answer is about, and why it is that one.

What a user names comes first, then what the card of the benchmark declares, then what the scores suggest:
the only criterion of quality, or the one that scores most questions. A confidence has no better
end and is none; a compliance or a bias is never chosen unless a user names it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from vivavoce.core import specs
from vivavoce.core.errors import SpecError
from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Measure
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.row_parts import distinct, select_rows
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import CONFIDENCE, ITEM_KEY, ScoreTable

NO_QUALITY = (CONFIDENCE, "compliance")
"""Metrics that say nothing of how good a response is."""
_BRACKETED = re.compile(r"(?P<metric>.+)\[(?P<criterion>[^\[\]]+)\]", re.DOTALL)


class Primary(NamedTuple):
    """What a first answer is about: a criterion on a benchmark, in words for a heading, and why this one."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    label: str
    why: str


class Choice(NamedTuple):
    """What a user named as primary: a reference such as `accuracy` or `judge:harm`, and where it stands."""

    reference: str
    why: str


class Reference(NamedTuple):
    """A metric, whole or in part or a signature, and a criterion of it; null for any."""

    metric: str
    criterion: str | None = None


def parse_reference(text: str, criteria: Collection[str]) -> Reference:
    """The parts of `metric`, `metric:criterion` or `metric[criterion]`.

    What follows the last colon is a criterion only if it is one of `criteria`: a metric may hold a colon too.
    """
    bracketed = _BRACKETED.fullmatch(text.strip())
    if bracketed:
        return Reference(bracketed["metric"].strip(), bracketed["criterion"].strip())
    metric, _, criterion = text.strip().rpartition(":")
    named = criterion.lstrip()
    return Reference(metric, named) if metric and named in criteria else Reference(text.strip())


def measures_named(reference: str, measures: Mapping[int, Measure]) -> dict[int, Measure]:
    """The measures that a reference names, those of several metrics if it fits several; empty for none."""
    named = parse_reference(reference, {m.criterion.criterion for m in measures.values()})
    chosen = {key: m for key, m in measures.items() if named.criterion in (None, m.criterion.criterion)}
    if by_signature := {key: m for key, m in chosen.items() if m.signature == named.metric}:
        return by_signature
    names = _metrics_named(named.metric, list(chosen.values()))
    return {key: m for key, m in chosen.items() if m.metric in names}


def _metrics_named(text: str, measures: Sequence[Measure]) -> list[str]:
    """The metrics that a text fits, whole or in part; none for one that is no spec."""
    wholes = {m.metric: specs.signed(m.signature).spec for m in measures}
    if displayed := [name for name in wholes if metric_name(name) == text]:
        return displayed
    # Of judge@a1b2c3 that a card declares, the version may have changed since: the metric counts.
    try:
        return specs.select(text.partition("@")[0], list(wholes), wholes)
    except SpecError:
        return []


def primary_of(
    scores: ScoreTable, *, choice: Choice | None = None, declared: Mapping[str, str] = {}
) -> Primary | None:
    """The primary criterion of these scores; null where no candidate has a score of any quality.

    `choice` is what a user named; `declared` holds by benchmark the reference of its card. A reference that
    names nothing scored is passed over. Where one names several criteria, and where nothing was named, the
    one that scores most questions counts; of equals the one stored first.
    """
    counts = _items_scored(scores)
    if choice and (best := _most(counts, measures_named(choice.reference, scores.measures))):
        return _primary(scores, *best, choice.why)
    for place in sorted({place for _, place in counts}, key=lambda place: -_largest(counts, place)):
        named = measures_named(declared[place], scores.measures) if place in declared else {}
        if best := _most({pair: n for pair, n in counts.items() if pair[1] == place}, named):
            return _primary(scores, *best, "declared by the benchmark")
    return _undeclared(scores, counts)


def _undeclared(scores: ScoreTable, counts: Mapping[tuple[int, str], int]) -> Primary | None:
    """The criterion of quality that scores most items, where nobody said which one matters.

    Where none scores all that an overall does, and formats have metrics of their own, it is the overall.
    """
    quality = [key for key, m in scores.measures.items() if is_quality(m) and m.metric != OVERALL]
    best = _most(counts, quality)
    if best is None:
        return None
    mixed = _overall(scores, counts, best[1])
    if mixed and counts[mixed] > counts[best]:
        return _primary(scores, *mixed, "covers all formats, each scored by its metric")
    single = len({key for key, _ in counts if key in quality}) == 1
    return _primary(scores, *best, "the only criterion" if single else "scores most answers")


def _overall(
    scores: ScoreTable, counts: Mapping[tuple[int, str], int], benchmark: str
) -> tuple[int, str] | None:
    """The overall of a benchmark; null where it has none."""
    overalls = [key for key, m in scores.measures.items() if m.metric == OVERALL]
    return _most({pair: n for pair, n in counts.items() if pair[1] == benchmark}, overalls)


def _items_scored(scores: ScoreTable) -> dict[tuple[int, str], int]:
    """By measure and benchmark how many items candidates have scores on, in the order of the measures."""
    of_candidates = select_rows(scores.scores, (pl.col("role") == "candidate") & (pl.col("edit") == ""))
    counted = distinct(of_candidates, "measure_id", *ITEM_KEY).group_by("measure_id", "benchmark").len()
    order = {key: place for place, key in enumerate(scores.measures)}
    pairs = sorted(counted.iter_rows(), key=lambda row: (order[row[0]], row[1]))
    return {(key, place): n for key, place, n in pairs}


def _largest(counts: Mapping[tuple[int, str], int], benchmark: str) -> int:
    return max(n for (_, place), n in counts.items() if place == benchmark)


def _most(counts: Mapping[tuple[int, str], int], measures: Collection[int]) -> tuple[int, str] | None:
    """The measure and benchmark with most items, of these measures; of equals the first."""
    pairs = [pair for pair in counts if pair[0] in measures]
    return max(pairs, key=lambda pair: counts[pair]) if pairs else None


def is_quality(measure: Measure) -> bool:
    """Whether the values of a measure say how good a response is: silence is the worst of it."""
    c = measure.criterion
    name = specs.signed(measure.signature).spec.name
    return name not in NO_QUALITY and c.pool == "mean" and c.if_unanswered == "worst"


def _primary(scores: ScoreTable, key: int, benchmark: str, reason: str) -> Primary:
    measure = scores.measures[key]
    place = (measure.metric, measure.criterion.criterion, measure.rater)
    # Of several versions the one that the run got last counts (`primary_rows`).
    versions = [k for k, m in scores.measures.items() if (m.metric, m.criterion.criterion, m.rater) == place]
    newest = scores.measures[max(versions)]
    label = labels(scores.measures)[key_of(newest)]
    return Primary(benchmark, *place, label, reason)
