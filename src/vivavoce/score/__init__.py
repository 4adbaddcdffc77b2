"""Marking: every response of a format a metric marks becomes one row per criterion.

What was not answered or cannot be read is settled here and never reaches a metric; a metric's value is
checked against what it declared before it is stored.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple, get_args

from vivavoce import registry
from vivavoce.errors import MetricError, VivaError
from vivavoce.metrics import Lab, Metric
from vivavoce.records import Criterion, Direction, IfUnanswered, Item, Measure, Row, ScoreStatus, Value
from vivavoce.store import RunFile
from vivavoce.store.read import Pending, count_pending, pending, stock
from vivavoce.store.write import Mark, put_measures, put_provenance, put_scores

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
        _check_declared(metric)
        _check_needs(metric, stocked)
    lab = Lab()
    return [_mark(run, metric, stocked, lab, progress) for metric in metrics]


def _check_declared(metric: Metric) -> None:
    """Raise `MetricError` if what a stranger's metric declares makes no sense."""
    names = [c.criterion for c in metric.criteria]
    if not names or len(set(names)) < len(names):
        raise MetricError(f"the metric {metric} must declare criteria, each once, not {names}.")
    known = {f.name for f in fields(Item)}
    for need in metric.needs:
        if need not in known:
            raise MetricError(f"the metric {metric} needs {need!r}, which is no field of an item.")
    for c in metric.criteria:
        what = f"the metric {metric}, criterion {c.criterion!r}"
        if c.direction not in get_args(Direction) or c.if_unanswered not in get_args(IfUnanswered):
            raise MetricError(
                f"{what}: direction {c.direction!r} and if_unanswered {c.if_unanswered!r} must be of "
                f"{', '.join(get_args(Direction))} and of {', '.join(get_args(IfUnanswered))}."
            )
        if c.low is not None and c.high is not None and not c.low < c.high:
            raise MetricError(f"{what}: its range must run upwards, not from {c.low} to {c.high}.")


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
            {"metric": str(metric), "signature": measures[0].signature, "rows": total},
            changed=total,
        )
    statuses: Counter[str] = Counter()
    with run.reading() as source:  # its view stays that of the start while batches are written beside it
        todo = pending(source, marked, keys)
        while batch := list(itertools.islice(todo, BATCH)):
            values = _values(metric, batch, lab)
            with run.writing() as db:
                for key, measure in zip(keys, measures, strict=True):
                    name = measure.criterion.criterion
                    put_scores(db, key, [Mark(p.key, v[name]) for p, v in zip(batch, values, strict=True)])
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
            reading = lab.reading(p.item, p.response.text or "")
            if reading.status == "ok":
                rows.append(Row(p.item, p.response, reading))
            else:
                silence = Value(None, note=reading.reason, status=reading.status)
        if silence and silence.status != "failed":
            for c in metric.criteria:
                _check_silence(metric, p, c)
        settled.append({c.criterion: silence for c in metric.criteria} if silence else None)
    marks = iter(_asked(metric, rows, lab))
    return [done if done is not None else next(marks) for done in settled]


def _asked(metric: Metric, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
    if not rows:
        return []
    try:
        values = list(metric.values(rows, lab))
    except VivaError:
        raise
    except Exception as error:  # a metric may be a stranger's code: name it, keep what is stored
        raise MetricError(
            f"{metric} broke while marking {rows[0].item.name} and {len(rows) - 1} further answers: "
            f"{type(error).__name__}: {error}. What was marked before is stored."
        ) from error
    if len(values) != len(rows):
        raise MetricError(f"{metric} gave {len(values)} values for {len(rows)} answers.")
    return [
        {c.criterion: _checked(metric, row, value, c) for c in metric.criteria}
        for row, value in zip(rows, values, strict=True)
    ]


def _wrong(metric: Metric, row: Row | Pending, why: str) -> MetricError:
    said = row.response
    return MetricError(
        f"{metric} on {row.item.name}, answer of {said.candidate} (repeat {said.repeat}): {why}"
    )


def _check_silence(metric: Metric, row: Row | Pending, c: Criterion) -> None:
    """Raise `MetricError` if silence counts as a limit that there is not: it would drop out of the mean."""
    highest = (c.if_unanswered == "worst") == (c.direction == "lower")
    if c.if_unanswered != "set_aside" and c.silence is None:
        raise _wrong(
            metric,
            row,
            f"it was not answered, which counts as {c.if_unanswered}, but {c.criterion} declares no "
            f"{'highest' if highest else 'lowest'} value. Declare one, or if_unanswered='set_aside'.",
        )


def _checked(metric: Metric, row: Row, values: Any, criterion: Criterion) -> Value:
    """The criterion's value as plain numbers; `MetricError` if it is not what the criterion declares."""
    if not isinstance(values, Mapping) or criterion.criterion not in values:
        raise _wrong(metric, row, f"no value for its criterion {criterion.criterion!r}.")
    value = values[criterion.criterion]
    if not isinstance(value, Value) or value.status not in get_args(ScoreStatus):
        known = ", ".join(get_args(ScoreStatus))
        raise _wrong(metric, row, f"a Value with a status of {known} is needed, not {value!r}.")
    try:  # a NumPy number is no number to the store
        number = None if value.value is None else float(value.value)
        parts = {str(k): float(v) for k, v in value.parts.items()} if value.parts else None
    except (TypeError, ValueError, AttributeError):
        why = f"value and parts must be numbers, not {value.value!r} and {value.parts!r}."
        raise _wrong(metric, row, why) from None
    value = value._replace(value=number, parts=parts, note=value.note and str(value.note))
    if (value.status == "ok") != (number is not None):
        raise _wrong(metric, row, f"a value goes with status ok and with no other, not {value!r}.")
    if not all(map(math.isfinite, (parts or {}).values())):
        raise _wrong(metric, row, f"its parts must be finite, not {parts}.")
    if number is None:
        if value.status != "failed":
            _check_silence(metric, row, criterion)
        return value
    low = -math.inf if criterion.low is None else criterion.low
    high = math.inf if criterion.high is None else criterion.high
    # 1.0000000000000002 is 1: rounding in the last digits is no mistake of the metric's.
    inside = min(max(number, low), high)
    if not math.isfinite(number) or abs(number - inside) > 1e-9 * max(1.0, abs(inside)):
        raise _wrong(
            metric,
            row,
            f"{criterion.criterion} = {number} lies outside its declared range {low:g} to {high:g}. "
            "Mend the metric; nothing of this batch was stored.",
        )
    return value._replace(value=inside)
