"""`viva score --dry-run`: what a call would score, ask and encode. Nothing is asked but by a pilot."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from vivavoce.core.records import Finding, Item, ItemKey, Row
from vivavoce.metrics import Metric, ScoringContext, is_comparative
from vivavoce.models.engine.counting_client import CallEstimate, CountingClient
from vivavoce.run.score import check_all, measure_keys, selected_items
from vivavoce.run.score.ballot_scores import pending_ballots
from vivavoce.run.score.checks import read_response
from vivavoce.run.score.pilot import sentences
from vivavoce.run.score.tasks import probe_of
from vivavoce.store.pending import Demand, Pending, pending, unsettled
from vivavoce.store.read import items_by_id
from vivavoce.store.view import View

_BATCH = 500


class _Model(NamedTuple):
    """An encoder as it would be loaded: on another device, or in another dtype, it reads every text again."""

    name: str
    device: str | None
    dtype: str


@dataclass
class _Plan:
    """What a metric would do: responses, or ballots, to score; calls; the texts that each encoder reads."""

    metric: Metric
    to_score: int = 0
    calls: CallEstimate = field(default_factory=CallEstimate)
    texts: dict[_Model, set[str]] = field(default_factory=dict)
    unknown: str | None = None

    @property
    def row(self) -> dict[str, Any]:
        """The plan as a row of the finding."""
        calls = self.calls
        return {
            "metric": str(self.metric),
            "rater": self.metric.rater,
            "to_score": self.to_score,
            "calls": calls.calls,
            "stored_calls": calls.stored,
            "input_tokens": calls.input_tokens,
            "output_tokens": calls.output_tokens,
            "cost": calls.cost,
            "encoder": ", ".join(model.name for model in self.texts) or None,
            "passes": None if self.unknown else sum(map(len, self.texts.values())),
            "reason": self.unknown,
        }


def plan_scores(
    view: View,
    metrics: Sequence[Metric],
    *,
    items: set[ItemKey] | None,
    passes: int,
    counting: Callable[[], CountingClient],
    pilots: Sequence[Mapping[str, Any]] = (),
) -> Finding:
    """A row for each metric: what is left to score by it, and the calls and encoder passes that takes.

    Each distinct text counts once for an encoder, in the rows for each metric by itself, in `passes` of the
    finding and its sentence for all metrics together. `pilots` are rows of their pilots, which join. Raises
    a `VivaError` as scoring itself would, also for a model that `counting`, a new client each time, refuses.
    """
    stored = view.fetch(items_by_id)
    selected = selected_items(stored, items)
    check_all(view, metrics, selected, passes)
    plans = []
    for metric in metrics:
        client = counting()
        plan = _Plan(metric, calls=client.estimate)
        context = ScoringContext(client, stored.values())
        own_keys = measure_keys(view, metric)
        applicable = {key: item for key, item in selected.items() if metric.applies_to(item)}
        for pass_no in range(1, (passes if metric.rater else 1) + 1):
            context.pass_no = pass_no
            count = _count_ballots if is_comparative(metric) else _count_responses
            count(view, plan, applicable, own_keys, context)
        plans.append(plan)
    return _finding(plans, pilots)


def _count_responses(
    view: View, plan: _Plan, items: Mapping[int, Item], keys: Sequence[int], context: ScoringContext
) -> None:
    metric = plan.metric
    demand = Demand(items, keys, context.pass_no, metric.needs_repeats)
    todo = unsettled(view.db, [demand], probe_of(metric))
    plan.to_score += len(todo.keys)
    encodes = type(metric).texts_to_encode is not Metric.texts_to_encode
    if not (metric.asks_models or encodes):
        return
    for batch in _batches(pending(view.db, items, todo.keys)):
        rows = [row for row in (read_response(p, context) for p in batch) if isinstance(row, Row)]
        _count_rows(plan, [row for row in rows if metric.not_applicable(row.item) is None], context)
        context.end_batch()


def _count_rows(plan: _Plan, rows: Sequence[Row], context: ScoringContext) -> None:
    metric = plan.metric
    if metric.asks_models and rows:
        metric.values(rows, context)
    texts = metric.texts_to_encode(rows, context) if rows else {}
    if texts is None:
        plan.unknown = "only its encoder, which is not loaded here, can tell which texts it reads"
    for encoder, of_encoder in (texts or {}).items():
        model = _Model(encoder, getattr(metric, "device", None), getattr(metric, "dtype", "auto"))
        plan.texts.setdefault(model, set()).update(of_encoder)


def _count_ballots(
    view: View, plan: _Plan, items: Mapping[int, Item], keys: Sequence[int], context: ScoringContext
) -> None:
    metric = plan.metric
    assert is_comparative(metric)
    todo = pending_ballots(view.db, metric, items, keys, context.pass_no)
    plan.to_score += len(todo)
    read_as = [[read_response(p, context) for p in ballot.answers] for ballot in todo]
    rows = [[row for row in ballot if isinstance(row, Row)] for ballot in read_as]
    metric.compare([ballot for ballot in rows if len(ballot) > 1], context)


def _batches(responses: Iterator[Pending]) -> Iterator[list[Pending]]:
    while batch := list(islice(responses, _BATCH)):
        yield batch


def _finding(plans: Sequence[_Plan], pilots: Sequence[Mapping[str, Any]]) -> Finding:
    passes = _passes(plans)
    joined = zip(plans, pilots or [{}] * len(plans), strict=True)
    rows = tuple({**plan.row, **pilot} for plan, pilot in joined)
    lines = [_work(rows), _price(rows)]
    lines += [
        f"The encoder {name} would read {n:,} {'text' if n == 1 else 'texts'}." for name, n in passes.items()
    ]
    lines += [f"{row['metric']}: {row['reason']}." for row in rows if row["reason"]]
    lines += _pilot_sentences(rows) if pilots else ["Nothing was asked, encoded or stored."]
    return Finding(study="score", rows=rows, text="\n".join(filter(None, lines)), passes=passes)


def _passes(plans: Sequence[_Plan]) -> dict[str, int]:
    """By encoder how many distinct texts it would read for all metrics."""
    texts: dict[_Model, set[str]] = {}
    for plan in plans:
        for model, of_plan in plan.texts.items():
            texts.setdefault(model, set()).update(of_plan)
    passes = Counter[str]()
    for model, of_model in texts.items():
        passes[model.name] += len(of_model)
    return dict(passes)


def _pilot_sentences(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        *(line for row in rows for line in sentences(row)),
        "Intervals are 95 %, over cases. What equal requests share beyond the pilot is not deducted. The "
        "calls of the pilot are stored, and no score is.",
    ]


def _work(rows: Sequence[Mapping[str, Any]]) -> str:
    numbers = [f"{row['metric']} {row['to_score']:,}" for row in rows if row["to_score"]]
    return f"Left to score: {', '.join(numbers)}." if numbers else "Everything is scored already."


def _price(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many calls, and what they cost at most; empty where nobody is asked."""
    calls = sum(row["calls"] for row in rows)
    if not calls:
        return ""
    unpriced = list(dict.fromkeys(row["rater"] or row["metric"] for row in rows if row["cost"] is None))
    sentence = f"{calls:,} {'call' if calls == 1 else 'calls'} of models"
    if unpriced:
        return (
            f"{sentence}. The price is not known of {', '.join(unpriced)}: it takes a price in a --providers "
            "file and a limit of tokens."
        )
    cost = sum(row["cost"] for row in rows)
    return f"{sentence} at a price of at most {cost:.2f}; one whose reply cannot be read is made twice."
