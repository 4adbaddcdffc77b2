"""What stands around a metric: which answers reach it, and whether what it gives is what it declared."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from shlex import quote
from typing import Any, get_args

from vivavoce.core.errors import MetricError
from vivavoce.core.evidence import Bearing, Evidence
from vivavoce.core.numbers import LARGEST
from vivavoce.core.records import (
    Criterion,
    Direction,
    IfUnanswered,
    Item,
    Reading,
    Row,
    ScoreStatus,
    Unit,
    Value,
)
from vivavoce.core.text import one_line
from vivavoce.logprobs.requests import requests_of
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.models.candidates import may_return_logprobs
from vivavoce.store.forgotten import MARK, is_forgotten
from vivavoce.store.pending import Pending

ValueOrUnits = Value | Mapping[Unit, Value]
"""What a metric says of an answer by one criterion: a value, or one for each unit."""


def check_declared(metric: Metric) -> None:
    """Raise `MetricError` if what a metric declares makes no sense."""
    names = [c.criterion for c in metric.criteria]
    if not names or len(set(names)) < len(names):
        raise MetricError(f"the metric {metric} must declare criteria, each once, not {names}.")
    field_names = {f.name for f in fields(Item)}
    for need in metric.needs:
        if need not in field_names:
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
        if c.smallest_difference is not None and not c.smallest_difference > 0:
            raise MetricError(f"{what}: smallest_difference must be above 0, not {c.smallest_difference}.")


def check_needs(metric: Metric, stocked: Mapping[int, Item]) -> None:
    """Raise `MetricError` if an item lacks what the metric needs."""
    scored = [item for item in stocked.values() if metric.applies_to(item)]
    for field in metric.needs:
        lacking = [item.name for item in scored if not getattr(item, field)]
        if lacking:
            listed = ", ".join(lacking[:5]) + (" …" if len(lacking) > 5 else "")
            raise MetricError(
                f"{metric} needs {field}, and {len(lacking)} of the {len(scored)} items it would score have "
                f"none: {listed}. Add them, or restrict the items with --items. Nothing was scored."
            )


def check_passes(metric: Metric, passes: int) -> None:
    """Raise `MetricError` if more passes are asked for than the metric's rater can make."""
    most = metric.most_passes
    if most is not None and passes > most:
        raise MetricError(
            f"--passes {passes}: {metric} can make {most}, one by each of its runs; take --passes {most} or "
            "fewer, or train more runs. Nothing was scored."
        )


def missing_commands(
    metric: Metric,
    run: Path,
    collected: Mapping[tuple[str, str], Collection[str]],
    benchmarks: Mapping[str, str],
) -> tuple[str, ...]:
    """The commands that ask for what the metric scores, of exams or candidates that were not asked it.

    `asked` holds by benchmark and probe the candidates that were, `exams` by benchmark its spec. Candidates
    are those of the run that may tell probabilities. Raises `MetricError` if nobody was asked.
    """
    probe = requests_of(metric)
    if probe is None:
        return ()
    candidates = sorted({name for names in collected.values() for name in names if may_return_logprobs(name)})
    lacking = {
        benchmark: [n for n in candidates if n not in collected.get((benchmark, probe.name), ())]
        for benchmark in benchmarks
    }
    nobody = not any(collected.get((benchmark, probe.name)) for benchmark in benchmarks)
    commands = tuple(
        " ".join(
            ["viva collect", quote(str(run)), quote(benchmarks[benchmark]),
             *(f"--model {quote(name)}" for name in models or ["hf/…"]), f"--for {quote(str(metric))}"]
        )
        for benchmark, models in lacking.items()
        if models or nobody
    )  # fmt: skip
    if nobody:
        raise MetricError(
            f"{metric} scores a model's probabilities, and {run} holds none of this kind: "
            f"`{'` and `'.join(commands)}` first. Nothing was scored."
        )
    return commands


def read_response(p: Pending, context: ScoringContext) -> Row | Value:
    """The response as a metric gets it, or the value of one that reaches no metric.

    A record of log-probabilities is read as JSON.
    """
    if is_forgotten(p.response.meta):
        return Value(None, note=p.response.meta[MARK], status="set_aside")
    if p.response.status == "failed":
        return Value(None, note=p.response.error or "no answer was recorded", status="failed")
    if p.response.status == "filtered":
        return Value(None, note="withheld by the provider's content filter", status="unanswered")
    if p.response.probe:
        try:
            return Row(p.item, p.response, Reading("ok", json.loads(p.response.logprobs or "")))
        except ValueError:
            return Value(None, note="what is stored of its probabilities is no JSON", status="failed")
    reading = context.reading(p.item, p.response.parts)
    if reading.status == "ok":
        return Row(p.item, p.response, reading)
    return Value(None, note=reading.reason, status=reading.status)


def metric_error(metric: Metric, row: Row | Pending, why: str) -> MetricError:
    """The error for what a metric says of one answer."""
    response = row.response
    return MetricError(
        f"{metric} on {row.item.name}, answer of {response.candidate} (repeat {response.repeat}): {why}"
    )


def check_silence(metric: Metric, row: Row | Pending, c: Criterion) -> None:
    """Raise `MetricError` if silence counts as a limit that there is not: it would drop out of the mean."""
    highest = (c.if_unanswered == "worst") == (c.direction == "lower")
    if c.if_unanswered != "set_aside" and c.silence is None:
        raise metric_error(
            metric,
            row,
            f"it was not answered, which counts as {c.if_unanswered}, but {c.criterion} declares no "
            f"{'highest' if highest else 'lowest'} value. Declare one, or if_unanswered='set_aside'.",
        )


def checked(metric: Metric, row: Row, values: Any, criterion: Criterion) -> ValueOrUnits:
    """What the metric says by the criterion, in plain numbers; `MetricError` if it declared otherwise."""
    if not isinstance(values, Mapping) or criterion.criterion not in values:
        raise metric_error(metric, row, f"no value for its criterion {criterion.criterion!r}.")
    value = values[criterion.criterion]
    if not isinstance(value, Value) and isinstance(value, Mapping):
        if not value or not all(isinstance(unit, Unit) for unit in value):
            raise metric_error(metric, row, f"scores of units need a Unit each, at least one, not {value!r}.")
        return {unit: _value(metric, row, unit_value, criterion) for unit, unit_value in value.items()}
    return _value(metric, row, value, criterion)


_STATUSES = frozenset(get_args(ScoreStatus))


def _value(metric: Metric, row: Row, value: Any, criterion: Criterion) -> Value:
    if not isinstance(value, Value) or value.status not in _STATUSES:
        statuses = ", ".join(get_args(ScoreStatus))
        raise metric_error(metric, row, f"a Value with a status of {statuses} is needed, not {value!r}.")
    try:  # a NumPy number is no number to the store
        number = None if value.value is None else float(value.value)
        parts = {str(k): float(v) for k, v in value.parts.items()} if value.parts else None
    except (TypeError, ValueError, AttributeError):
        reason = f"value and parts must be numbers, not {value.value!r} and {value.parts!r}."
        raise metric_error(metric, row, reason) from None
    note = value.note and str(value.note)
    evidence = _evidence(metric, row, value) if value.evidence else ()
    if (value.status == "ok") != (number is not None):
        score = Value(number, parts, note, value.status)
        raise metric_error(metric, row, f"a value goes with status ok and with no other, not {score!r}.")
    if parts and not all(map(math.isfinite, parts.values())):
        raise metric_error(metric, row, f"its parts must be finite, not {parts}.")
    if number is None:
        if value.status in ("unanswered", "unreadable"):
            check_silence(metric, row, criterion)
        return Value(None, parts, note, value.status, evidence)
    low = -math.inf if criterion.low is None else criterion.low
    high = math.inf if criterion.high is None else criterion.high
    # 1.0000000000000002 is 1: rounding in the last digits is no mistake of the metric's.
    inside = min(max(number, low), high)
    if math.isfinite(number) and abs(number) > LARGEST:
        raise metric_error(metric, row, f"{criterion.criterion} = {number} is larger than {LARGEST:g}.")
    if not math.isfinite(number) or abs(number - inside) > 1e-9 * max(1.0, abs(inside)):
        raise metric_error(
            metric,
            row,
            f"{criterion.criterion} = {number} lies outside its declared range {low:g} to {high:g}. "
            "Mend the metric; nothing of this batch was stored.",
        )
    return Value(inside, parts, note, evidence=evidence)


def _evidence(metric: Metric, row: Row, value: Value) -> tuple[Evidence, ...]:
    """What the value rests on; `MetricError` for what is no passage at a place."""
    for passage in value.evidence:
        if not isinstance(passage, Evidence) or not passage.is_sound:
            bearings = ", ".join(get_args(Bearing))
            raise metric_error(
                metric,
                row,
                f"evidence is of Evidence, with texts, a page from 1 or null, an offset from 0 or null and a "
                f"bearing of {bearings}, not {one_line(repr(passage), 120)}.",
            )
    return tuple(value.evidence)
