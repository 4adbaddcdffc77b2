"""Marking: every response of a format a metric marks becomes one row per criterion.

What was not answered or cannot be read is settled here and never reaches a metric; a metric's value is
checked against what it declared before it is stored.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from vivavoce import formats, registry
from vivavoce.errors import MetricError, VivaError
from vivavoce.metrics import Lab, Metric
from vivavoce.records import Criterion, Item, Measure, Row, Value
from vivavoce.store import RunFile
from vivavoce.store.read import Pending, count_pending, pending, stock
from vivavoce.store.write import put_measures, put_provenance, put_scores

__all__ = ["BATCH", "Marked", "measures_of", "score"]

BATCH = 2_000
ItemKey = tuple[str, str, str]
"""Benchmark, base id, variant."""


class Marked(NamedTuple):
    """What a metric did in one call: rows by status, and the items it does not mark, by format."""

    metric: str
    statuses: dict[str, int]
    not_marked: dict[str, int]


def measures_of(metric: Metric) -> list[Measure]:
    """The measures a metric gives, one per criterion, under its canonical name and signature."""
    name, mark = str(registry.canonical(metric)), registry.signature(metric)
    return [Measure(metric=name, signature=mark, criterion=c) for c in metric.criteria]


def score(
    run: RunFile,
    metrics: Sequence[Metric],
    *,
    items: set[ItemKey] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Marked]:
    """Mark what is not marked yet; failed rows are tried again. `items` restricts to these.

    Rows are stored 2,000 at a time, so a call that is cut short goes on where it stopped. `progress` hears
    the metric, the rows done and the rows in all. Raises `MetricError` before anything is stored if an
    item lacks a field that a metric needs.
    """
    with run.reading() as db:
        stocked = {
            key: item
            for key, item in stock(db).items()
            if items is None or (item.benchmark, item.item, item.variant) in items
        }
    for metric in metrics:
        _check_needs(metric, stocked)
    lab = Lab()
    return [_mark(run, metric, stocked, lab, progress) for metric in metrics]


def _check_needs(metric: Metric, stocked: Mapping[int, Item]) -> None:
    """Raise `MetricError` if an item lacks what the metric needs."""
    marked = [item for item in stocked.values() if item.format in metric.formats]
    for field in metric.needs:
        lacking = [item.name for item in marked if not getattr(item, field)]
        if lacking:
            shown = ", ".join(lacking[:5]) + (" …" if len(lacking) > 5 else "")
            raise MetricError(
                f"{metric} needs {field}, and {len(lacking)} of the {len(marked)} items it would mark have "
                f"none: {shown}. Add them, or restrict the items with --items. Nothing was marked."
            )


def _mark(
    run: RunFile,
    metric: Metric,
    stocked: Mapping[int, Item],
    lab: Lab,
    progress: Callable[[str, int, int], None] | None,
) -> Marked:
    marked = {key: item for key, item in stocked.items() if item.format in metric.formats}
    measures = measures_of(metric)
    with run.writing() as db:
        keys = put_measures(db, measures)
        total = count_pending(db, marked, keys)
        put_provenance(
            db,
            "score",
            {
                "metric": str(metric),
                "signature": measures[0].signature,
                "rows": total,
                "plugins": registry.plugins(),
            },
        )
    statuses: Counter[str] = Counter()
    with run.reading() as source:  # its view stays that of the start while batches are written beside it
        todo = pending(source, marked, keys)
        while batch := list(itertools.islice(todo, BATCH)):
            values = _values(metric, batch, lab)
            with run.writing() as db:
                for key, measure in zip(keys, measures, strict=True):
                    named = [
                        (p.key, v[measure.criterion.criterion]) for p, v in zip(batch, values, strict=True)
                    ]
                    put_scores(db, key, named)
            statuses.update(v[c.criterion].status for v in values for c in metric.criteria)
            if progress:
                progress(str(metric), statuses.total() // len(metric.criteria), total)
    elsewhere = Counter(item.format for item in stocked.values() if item.format not in metric.formats)
    return Marked(str(metric), dict(statuses), dict(elsewhere))


def _values(metric: Metric, batch: Sequence[Pending], lab: Lab) -> list[Mapping[str, Value]]:
    """For each response of a batch the value of every criterion, silence settled and values checked."""
    settled: list[Mapping[str, Value] | None] = []
    rows: list[Row] = []
    for p in batch:
        silence = None
        if p.response.status == "failed":
            silence = Value(None, note=p.response.error or "no answer was recorded", status="failed")
        elif p.response.status == "filtered":
            silence = Value(None, note="withheld by the provider's content filter", status="unanswered")
        else:
            reading = formats.read(p.item, p.response.text or "")
            if reading.status == "ok":
                rows.append(Row(p.item, p.response, reading))
            else:
                silence = Value(None, note=reading.reason, status=reading.status)
        settled.append({c.criterion: silence for c in metric.criteria} if silence else None)
    marks = iter(_asked(metric, rows, lab))
    return [done if done is not None else next(marks) for done in settled]


def _asked(metric: Metric, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
    if not rows:
        return []
    try:
        values = metric.values(rows, lab)
    except VivaError:
        raise
    except Exception as error:  # a metric may be a stranger's code: name it, keep what is stored
        raise MetricError(
            f"{metric} broke while marking {rows[0].item.name} and {len(rows) - 1} further answers: "
            f"{type(error).__name__}: {error}. What was marked before is stored."
        ) from error
    if len(values) != len(rows):
        raise MetricError(f"{metric} gave {len(values)} values for {len(rows)} answers.")
    for row, value in zip(rows, values, strict=True):
        for criterion in metric.criteria:
            _check(str(metric), row, value, criterion)
    return values


def _check(name: str, row: Row, values: Mapping[str, Value], criterion: Criterion) -> None:
    """Raise `MetricError` if a value is not what the criterion declares."""
    what = f"{name} on {row.item.name}, answer of {row.response.candidate} (repeat {row.response.repeat})"
    if criterion.criterion not in values:
        raise MetricError(f"{what}: no value for its criterion {criterion.criterion!r}.")
    value = values[criterion.criterion]
    if (value.status == "ok") != (value.value is not None):
        raise MetricError(f"{what}: a value goes with status ok and with no other, not {value!r}.")
    if value.value is None:
        return
    low = -math.inf if criterion.low is None else criterion.low
    high = math.inf if criterion.high is None else criterion.high
    if not math.isfinite(value.value) or not low <= value.value <= high:
        raise MetricError(
            f"{what}: {criterion.criterion} = {value.value} lies outside its declared range {low:g} to "
            f"{high:g}. Mend the metric; nothing of this batch was stored."
        )
