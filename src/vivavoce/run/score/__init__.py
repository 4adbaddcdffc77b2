"""Scoring: every response of a format that a metric scores becomes one row per criterion, pass and unit.

Metrics that score by rule go over the responses together, batch by batch: each response is read once, and a
batch is stored whole, with the scores of all. A metric that asks a model goes over them by itself.

Unanswered and unreadable responses get their value here and never reach a metric. A metric's value is checked
against what it declared before it is stored.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import NamedTuple

from vivavoce import formats
from vivavoce.core import registry
from vivavoce.core.cycles import rare_search
from vivavoce.core.errors import MetricError, StoreError
from vivavoce.core.records import Item, ItemKey, Measure
from vivavoce.metrics import Metric, ScoringContext, is_comparative
from vivavoce.models.engine.client import ModelClient
from vivavoce.models.engine.usage import Progress
from vivavoce.run.score.ballot_scores import score_ballots
from vivavoce.run.score.checks import check_declared, check_needs, check_passes, missing_commands
from vivavoce.run.score.response_scores import score_responses
from vivavoce.run.score.tasks import Task, probe_of
from vivavoce.run.tables.named_scores import signature_in
from vivavoce.run.workers.executor import Executor
from vivavoce.run.workers.in_process import InProcess
from vivavoce.store.pending import MOST_METRICS
from vivavoce.store.read import benchmarks, candidates, items_by_id, logprob_specs, stored_measures
from vivavoce.store.view import View
from vivavoce.store.write import put_measures, put_provenance

BATCH, ASKED = 2_000, 500
"""Responses, or ballots, stored at a time; fewer where a model scores, and each has taken a call."""


class ScoreSummary(NamedTuple):
    """What a metric did in one call: rows by status, and the items it does not score, by format.

    `lacking` of these are of its formats and lack what it needs. `commands` would ask those candidates for
    their probabilities whom nobody has asked.
    """

    metric: str
    statuses: dict[str, int]
    not_marked: dict[str, int]
    lacking: int = 0
    commands: tuple[str, ...] = ()


def measures_of(metric: Metric, view: View | None = None) -> list[Measure]:
    """The measures a metric gives, one per criterion, under its canonical name.

    Their signature is that of the run, `signature_in`; without one it is today's.
    """
    name, signature = str(registry.canonical(metric)), registry.signature(metric)
    if view:
        signature = signature_in(view, metric)
    return [
        Measure(metric=name, signature=signature, rater=metric.rater, criterion=c) for c in metric.criteria
    ]


def measure_keys(view: View, metric: Metric) -> list[int]:
    """The keys of a metric's measures in the run; for one that is not stored yet a number below 0."""
    keys = {(k.measure.signature, k.measure.criterion.criterion): k.key for k in view.fetch(stored_measures)}
    columns = [(m.signature, m.criterion.criterion) for m in measures_of(metric, view)]
    return [keys.get(column, -number) for number, column in enumerate(columns, 1)]


def bind_all(view: View, metrics: Sequence[Metric], *, loaded: bool = True) -> list[Metric]:
    """The metrics as they score this run, and as their measures are named in it: `score` begins with this.

    Without `loaded` no encoder is loaded, and they can only be counted by.
    """
    items = list(view.fetch(items_by_id).values())
    return [metric.bind(items) if loaded else metric.bind_settings(items) for metric in metrics]


def score(
    view: View,
    metrics: Sequence[Metric],
    *,
    items: set[ItemKey] | None = None,
    passes: int = 1,
    desk: ModelClient | None = None,
    progress: Progress | None = None,
    encoded: Counter[str] | None = None,
    executor: Executor | None = None,
    begin: Callable[[], None] | None = None,
) -> list[ScoreSummary]:
    """Score all unscored responses and retry failed ones, optionally for some items only.

    Where a model scores, each answer is scored in so many `passes`, at the `desk`; a rule needs one. Rows are
    stored in batches, so a call that is cut short goes on where it stopped. `progress` hears the metric, the
    rows done and the rows in all; `encoded` gets the texts that passed each encoder. The `executor` computes
    batches, by default this process; metrics that ask a model, or compare answers, always score here. `begin`
    is called when nothing stands against scoring, before anything is stored. A metric that breaks stops
    alone; its error comes when those beside it are done.

    Raises `MetricError` before anything is stored if an item lacks a field that a metric needs, a metric that
    compares finds one candidate only, or one of probabilities none.
    """
    stored = view.fetch(items_by_id)
    metrics = [metric.bind(list(stored.values())) for metric in metrics]
    selected = selected_items(stored, items)
    commands = check_all(view, metrics, selected, passes)
    if begin:
        begin()
    executor = executor or InProcess()
    context = ScoringContext(desk, stored.values(), encoded)
    context.announce(metrics, selected.values())
    summaries: dict[int, ScoreSummary] = {}
    with usage_recorded(view, metrics, desk), rare_search():
        for group in _groups(metrics, separate=executor.has_workers):
            of_group = [metrics[number] for number in group]
            at: Executor = InProcess() if _stays(of_group[0]) else executor
            if at is not executor:
                executor.end_workers()  # judges may take hours
            together = _score_group(view, of_group, selected, context, passes, progress, at)
            summaries |= zip(group, together, strict=True)
    return [summaries[number]._replace(commands=missing) for number, missing in enumerate(commands)]


def _stays(metric: Metric) -> bool:
    """Whether the metric scores in this process: it asks a model here, or needs all answers at once."""
    return metric.asks_models or is_comparative(metric)


def _groups(metrics: Sequence[Metric], *, separate: bool) -> Iterator[list[int]]:
    """The positions of metrics that score together: rules over the same kind of responses; others alone.

    With `separate`, rules that ask a model do not go with those that workers score.
    """
    groups: dict[object, list[int]] = {}
    for number, metric in enumerate(metrics):
        alone = metric.rater or is_comparative(metric)
        together = (probe_of(metric), separate and _stays(metric))
        groups.setdefault(number if alone else together, []).append(number)
    for group in groups.values():
        positions = iter(group)
        while part := list(islice(positions, MOST_METRICS)):
            yield part


def _task(view: View, metric: Metric, items: Mapping[int, Item]) -> Task:
    """The metric in its first pass; its measures are stored."""
    measures = measures_of(metric, view)
    with view.writing(keep_state=True) as db:
        keys = put_measures(db, measures)
    applicable = {key: item for key, item in items.items() if metric.applies_to(item)}
    return Task(metric, applicable, dict(zip(keys, measures, strict=True)))


def _score_group(
    view: View,
    metrics: Sequence[Metric],
    items: Mapping[int, Item],
    context: ScoringContext,
    passes: int,
    progress: Progress | None,
    executor: Executor,
) -> list[ScoreSummary]:
    """Score by metrics that go together, in so many passes, one where rules score."""
    first = metrics[0]
    size, n_passes = (ASKED, passes) if first.rater else (BATCH, 1)
    tasks = [_task(view, metric, items) for metric in metrics]
    statuses: list[Counter[str]] = [Counter() for _ in tasks]
    for pass_no in range(1, n_passes + 1):
        context.pass_no = pass_no
        in_pass = [task._replace(pass_no=pass_no, passes=n_passes) for task in tasks]
        if is_comparative(first):
            counted = score_ballots(view, in_pass, context, size, progress)
        else:
            counted = score_responses(view, in_pass, context, size, progress, executor)
        for total, counts in zip(statuses, counted, strict=True):
            total += counts
    return [_summary(task, counts, items) for task, counts in zip(tasks, statuses, strict=True)]


def _summary(task: Task, statuses: Counter[str], items: Mapping[int, Item]) -> ScoreSummary:
    not_scored = Counter(item.format for key, item in items.items() if key not in task.items)
    lacking = sum(n for name, n in not_scored.items() if formats.accepts(task.metric.formats, name))
    return ScoreSummary(str(task.metric), dict(statuses), dict(not_scored), lacking)


def selected_items(stored: Mapping[int, Item], items: set[ItemKey] | None) -> dict[int, Item]:
    """Those of the stored items that are to be scored; null for all."""
    return {
        key: item
        for key, item in stored.items()
        if items is None or (item.benchmark, item.item, item.variant) in items
    }


def check_all(
    view: View, metrics: Sequence[Metric], items: Mapping[int, Item], passes: int = 1
) -> list[tuple[str, ...]]:
    """The commands that collect what each metric lacks. Raises `MetricError` for what cannot be scored."""
    collected = logprob_specs(view.db)
    specs = {b.benchmark: b.spec for b in view.fetch(benchmarks)}
    contestants = [c.candidate for c in view.fetch(candidates) if c.role == "candidate"]
    commands = []
    for metric in metrics:
        check_declared(metric)
        check_needs(metric, items)
        check_passes(metric, passes)
        applicable = {i.benchmark: specs[i.benchmark] for i in items.values() if metric.applies_to(i)}
        commands.append(missing_commands(metric, view.path, collected, applicable))
        if is_comparative(metric) and len(contestants) < 2:
            raise MetricError(
                f"{metric} sets answers side by side, which takes two candidates or more, and this run has "
                f"{' and '.join(contestants) or 'none'}. Nothing was scored."
            )
    return commands


@contextmanager
def usage_recorded(
    view: View, metrics: Sequence[Metric], desk: ModelClient | None, purpose: str = "score"
) -> Iterator[None]:
    """Store after the block what the judges were sent in it, and what they cost; also where it breaks.

    What broke it is raised, though this could not be stored then.
    """
    try:
        yield
    except BaseException:
        with suppress(StoreError):
            _record_usage(view, metrics, desk, purpose)
        raise
    _record_usage(view, metrics, desk, purpose)


def _record_usage(view: View, metrics: Sequence[Metric], desk: ModelClient | None, purpose: str) -> None:
    """Store what was sent, if anything was."""
    if desk is None or not desk.usage.traffic.requests:
        return
    usage = desk.usage
    body = {
        "for": purpose,
        "metrics": [str(metric) for metric in metrics if metric.rater],
        "answered": usage.answered,
        "failed": usage.failed,
        "cost": None if usage.unpriced else usage.cost,
        "sent": usage.traffic.rows,
    }
    with view.writing(keep_state=True) as db:
        put_provenance(db, "ask", body, changed=0)
