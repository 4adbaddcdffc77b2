"""`viva score --dry-run --pilot N`: models are asked about a sample, whose usage tells what all would take.

The sample is spread over candidates and random over cases. Its calls are stored, its scores are not. A figure
of all N responses without a score is N times the mean of the sample, with a t interval over cases (CR2), its
error by the correction of a finite population: sqrt(1 - n/N) (Cochran (1977), Sampling Techniques, 2.7).
"""

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vivavoce import stats
from vivavoce.core.errors import ModelError
from vivavoce.core.records import Item, ItemKey, Row, Value
from vivavoce.metrics import Metric, ScoringContext, is_comparative
from vivavoce.models.engine.metering_client import MeasuredCall, MeteringClient
from vivavoce.run.score import check_all, measure_keys, selected_items, usage_recorded
from vivavoce.run.score.batch_scores import metric_values
from vivavoce.run.score.checks import read_response
from vivavoce.run.score.tasks import probe_of
from vivavoce.store.cases import cases_by_item
from vivavoce.store.pending import Demand, Pending, ResponsePlace, pending, response_places, unsettled
from vivavoce.store.read import items_by_id
from vivavoce.store.view import View
from vivavoce.studies.text import count

ONE_CASE = "one case says nothing about the next: a pilot of two cases or more has an interval"
TOTALS = ("calls", "input_tokens", "output_tokens", "cost")


class Unscored(NamedTuple):
    """A response that lacks a score in a pass."""

    pass_no: int
    place: ResponsePlace

    @property
    def stratum(self) -> tuple[int, str]:
        """What it is drawn from: the pass of a candidate."""
        return self.pass_no, self.place.candidate

    @property
    def digest(self) -> bytes:
        """What its turn follows from: never its place in the file."""
        return hashlib.sha256(
            f"pilot|{self.pass_no}|{self.place[1:]}".encode("utf-8", "surrogatepass")
        ).digest()


@dataclass
class _Measured:
    """What one response of the pilot took: its case, its calls, and its units by criterion."""

    case: str
    calls: Sequence[MeasuredCall] = ()
    units: Mapping[str, int] = field(default_factory=dict)


@dataclass
class _Pilot:
    """The pilot of a metric: how many responses it stands for, and what those asked about took."""

    n_unscored: int = 0
    measured: list[_Measured] = field(default_factory=list)
    reason: str | None = None
    stopped: str | None = None
    n_failed: int = 0

    def mean(self, value: Callable[[_Measured], float | None]) -> dict[str, Any]:
        """The mean of all responses without a score: estimate, low, high, reason."""
        values = [value(response) for response in self.measured]
        numbers = [number for number in values if number is not None]
        if reason := self._no_estimate(len(values), len(numbers)):
            return {"estimate": None, "low": None, "high": None, "reason": reason}
        mean = stats.cluster_mean(numbers, [response.case for response in self.measured])
        row = {"estimate": mean.value, "low": None, "high": None, "reason": None}
        if len(numbers) == self.n_unscored:  # all are in the pilot
            return {**row, "low": mean.value, "high": mean.value}
        if mean.se is None:
            return {**row, "reason": ONE_CASE}
        se = mean.se * math.sqrt(1 - len(numbers) / self.n_unscored)
        low, high = stats.t_interval(mean.value, se, max(mean.df, 1.0))
        return {
            **row,
            "low": max(low, sum(numbers) / self.n_unscored),
            "high": high,
        }  # so much is used already

    def _no_estimate(self, n: int, n_known: int) -> str | None:
        """Why there is no estimate; null if there is one."""
        if self.reason:
            return self.reason
        if not n:
            return "the pilot has no response"
        price = "the price of a model is not known: it takes a price in a --providers file"
        return price if n_known < n else None

    def total(self, value: Callable[[_Measured], float | None]) -> dict[str, Any]:
        """The sum over all responses without a score."""
        row = self.mean(value)
        return {k: v if v is None or k == "reason" else v * self.n_unscored for k, v in row.items()}


def pilot_rows(
    view: View,
    metrics: Sequence[Metric],
    client: MeteringClient,
    *,
    items: set[ItemKey] | None,
    passes: int,
    size: int,
) -> list[dict[str, Any]]:
    """Ask about `size` of the responses that each metric is to score; a row for each metric.

    `expected_…` are figures of all responses without a score, those of the pilot included. Stored calls count
    as they were counted when they were made; what several responses need counts once. Where the endpoint
    gives no counts of tokens, they are characters / 4 (`pilot_uncounted` calls). A pilot that is stopped by
    its price or its model estimates from the responses before.
    """
    check_all(view, metrics, selected_items(view.fetch(items_by_id), items), passes)
    rows = []
    with usage_recorded(view, metrics, client, "pilot"):
        for metric in metrics:
            before = _usage(client)
            pilot = _pilot(view, metric, client, items=items, passes=passes, size=size)
            after = _usage(client)
            spent = {name: after[name] - before[name] for name in after}
            rows.append(_row(pilot) | spent)
    return rows


def _usage(client: MeteringClient) -> dict[str, float]:
    """The calls that were made, and what they cost; those without counts of tokens by their characters."""
    usage = client.usage
    n_calls = usage.answered + usage.failed - usage.shared
    return {"pilot_calls": n_calls, "pilot_cost": usage.cost + usage.guessed}


def _pilot(
    view: View,
    metric: Metric,
    client: MeteringClient,
    *,
    items: set[ItemKey] | None,
    passes: int,
    size: int,
) -> _Pilot:
    stored, cases = view.fetch(items_by_id), cases_by_item(view.db)
    applicable = {k: item for k, item in selected_items(stored, items).items() if metric.applies_to(item)}
    unscored = _unscored(view, metric, applicable, passes)
    pilot = _Pilot(len(unscored), reason=_no_pilot(metric))
    context = ScoringContext(client, stored.values())
    for response in draw(unscored, 0 if pilot.reason else size):
        context.pass_no = response.pass_no
        (p,) = pending(view.db, applicable, [response.place.key])
        view.renew()  # a call is stored through a connection of its own
        try:
            measured = _measured(metric, p, cases[response.place[1:4]], context, client)
        except ModelError as error:
            pilot.stopped = str(error)
            break
        if measured is None:
            pilot.n_failed += 1
        else:
            pilot.measured.append(measured)
    return pilot


def _unscored(view: View, metric: Metric, items: Mapping[int, Item], passes: int) -> list[Unscored]:
    """The responses that the metric is to score, pass by pass."""
    own_keys = measure_keys(view, metric)
    responses = []
    for pass_no in range(1, (passes if metric.rater else 1) + 1):
        demand = Demand(items, own_keys, pass_no, metric.needs_repeats)
        of_pass = unsettled(view.db, [demand], probe_of(metric)).keys
        responses += [Unscored(pass_no, place) for place in response_places(view.db, of_pass)]
    return responses


def draw(responses: Sequence[Unscored], size: int) -> list[Unscored]:
    """So many of the responses: each has the same chance, and a candidate its share of them.

    A systematic draw: a candidate's responses are put in a random order and lie at equal distances between 0
    and 1, from a random beginning; the lowest are drawn. A larger pilot holds the smaller one.
    """
    strata: dict[tuple[int, str], list[Unscored]] = {}
    for response in responses:
        strata.setdefault(response.stratum, []).append(response)
    turns = []
    for stratum, of_stratum in strata.items():
        begin = int.from_bytes(hashlib.sha256(f"pilot|{stratum}".encode("utf-8", "surrogatepass")).digest())
        ordered = sorted(of_stratum, key=lambda response: response.digest)
        turns += [((rank + begin / 2**256) / len(ordered), r) for rank, r in enumerate(ordered)]
    turns.sort(key=lambda turn: (turn[0], turn[1].digest))
    return [response for _, response in turns[:size]]


def _measured(
    metric: Metric, p: Pending, case: str, context: ScoringContext, client: MeteringClient
) -> _Measured | None:
    """What scoring the response takes; null where its scores failed."""
    row = read_response(p, context)
    if not isinstance(row, Row) or metric.not_applicable(p.item):
        return _Measured(case)  # it reaches no metric, and costs nothing
    n_before = len(client.measured)
    (values,) = metric_values(metric, [row], context)
    context.end_batch()
    if all(isinstance(value, Value) and value.status == "failed" for value in values.values()):
        return None
    units = {name: len(value) for name, value in values.items() if not isinstance(value, Value)}
    return _Measured(case, client.measured[n_before:], units)


def _row(pilot: _Pilot) -> dict[str, Any]:
    calls = [call for response in pilot.measured for call in response.calls]
    purposes = dict.fromkeys(call.purpose for call in calls)
    return {
        "pilot_responses": len(pilot.measured),
        "pilot_cases": len({response.case for response in pilot.measured}),
        "pilot_failed": pilot.n_failed,
        "pilot_uncounted": sum(not call.counted for call in calls),
        "pilot_stopped": pilot.stopped,
        **_units(pilot),
        **_totals(pilot),
        "purposes": [{"purpose": name, **_totals(pilot, name)} for name in purposes],
    }


def _units(pilot: _Pilot) -> dict[str, Any]:
    """Units per answer, by the criterion that has the most of them."""
    units = Counter[str]()
    for response in pilot.measured:
        units.update(response.units)
    criterion = max(units, key=lambda name: units[name], default=None)
    if criterion is None:
        reason = pilot.reason or "the metric gave no units"
        return _flat("units_per_answer", {"estimate": None, "low": None, "high": None, "reason": reason})
    return _flat("units_per_answer", pilot.mean(lambda response: response.units.get(criterion, 0)))


def _totals(pilot: _Pilot, purpose: str | None = None) -> dict[str, Any]:
    """What all responses without a score take, for one purpose or for all."""
    row: dict[str, Any] = {}
    for name in TOTALS:

        def of_response(response: _Measured, name: str = name) -> float | None:
            return _sum([call for call in response.calls if purpose in (None, call.purpose)], name)

        row |= _flat(f"expected_{name}", pilot.total(of_response))
    return row


def _sum(calls: Sequence[MeasuredCall], name: str) -> float | None:
    """The calls, or the sum of a field over them; null where it is not known of one."""
    if name == "calls":
        return len(calls)
    values = [getattr(call, name) for call in calls]
    return None if None in values else float(sum(values))


def _flat(name: str, figure: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: figure["estimate"],
        f"{name}_low": figure["low"],
        f"{name}_high": figure["high"],
        f"{name}_reason": figure["reason"],
    }


def sentences(row: Mapping[str, Any]) -> Iterator[str]:
    """What the pilot of a metric says, for people."""
    n, cases = row["pilot_responses"], row["pilot_cases"]
    if n or row["pilot_failed"]:
        failed = f" {row['pilot_failed']:,} failed and count for nothing here." if row["pilot_failed"] else ""
        yield (
            f"{row['metric']}, pilot: {count(n, 'response')} of {count(cases, 'case')}, "
            f"{count(row['pilot_calls'], 'call')} made now at a price of {row['pilot_cost']:.2f} and "
            f"stored.{failed}"
        )
    if row["pilot_stopped"]:
        yield f"The pilot stopped early: {row['pilot_stopped']}"
    if row["expected_calls"] is None:
        yield f"{row['metric']} has no estimate: {row['expected_calls_reason']}."
    else:
        yield from _estimates(row)


def _estimates(row: Mapping[str, Any]) -> Iterator[str]:
    if row["units_per_answer"] is not None:
        yield f"Units per answer: {_text(row, 'units_per_answer', 1)}."
    yield (
        f"All {row['to_score']:,} responses without a score, those of the pilot included: "
        f"{_text(row, 'expected_calls', 0)} calls, {_text(row, 'expected_input_tokens', 0)} tokens in, "
        f"{_text(row, 'expected_output_tokens', 0)} out, price {_text(row, 'expected_cost', 2)}."
    )
    if len(row["purposes"]) > 1:
        by_purpose = (f"{p['purpose']} {_text(p, 'expected_calls', 0)}" for p in row["purposes"])
        yield f"Calls by purpose: {'; '.join(by_purpose)}."
    if row["pilot_uncounted"]:
        yield (
            f"Of {row['pilot_uncounted']:,} calls the endpoint counted no tokens: characters / 4 stand in."
        )


def _text(row: Mapping[str, Any], name: str, digits: int) -> str:
    """'7.9 (6.9 to 8.9)', or the reason why there is no number or no interval."""
    if row[name] is None:
        return f"unknown ({row[f'{name}_reason']})"
    if row[f"{name}_low"] is None:
        return f"{row[name]:,.{digits}f} (no interval: {row[f'{name}_reason']})"
    return f"{row[name]:,.{digits}f} ({row[f'{name}_low']:,.{digits}f} to {row[f'{name}_high']:,.{digits}f})"


def _no_pilot(metric: Metric) -> str | None:
    """Why a metric has no pilot; null if it has one."""
    if not metric.asks_models:
        return "it asks no model"
    if is_comparative(metric) or metric.needs_repeats:
        return "it scores responses side by side, so a sample of single ones says nothing of its cost"
    return None
