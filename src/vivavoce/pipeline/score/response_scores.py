"""Metrics that score responses one by one go over them together: a batch is read once, and stored whole."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vivavoce.core.errors import MetricError, VivaError
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.pipeline.client import Progress
from vivavoce.pipeline.score.checks import ValueOrUnits, check_silence, checked, read_response
from vivavoce.pipeline.score.repeats import batches, texts, with_other_repeats
from vivavoce.pipeline.score.tasks import Task, probe_of
from vivavoce.store.pending import Pending, Unsettled, pending, unsettled
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import ScoreRow, drop_scores, put_scores

Scores = Mapping[int, Sequence[ScoreRow]]
"""The scores of a batch by the key of their measure."""


def score_responses(
    run: RunFile, tasks: Sequence[Task], context: ScoringContext, size: int, progress: Progress | None
) -> list[Counter[str]]:
    """Score what each of the tasks, all of one probe, has not scored yet, and return its rows by status.

    So many responses at a time are read, each once, whichever tasks lack it, and their scores are stored in
    one transaction. Raises the error of a metric that breaks when all others are done: it stops alone.
    """
    with_repeats = any(task.metric.needs_repeats for task in tasks)
    statuses: list[Counter[str]] = [Counter() for _ in tasks]
    going, errors = dict(enumerate(tasks)), list[VivaError]()
    with run.reading() as source:  # its view stays that of the start while batches are written
        todo = unsettled(source, [task.demand for task in tasks], probe_of(tasks[0].metric))
        totals, done, start = _record(run, tasks, todo), Counter[int](), 0
        context.expect(map(texts, pending(source, _items(tasks), todo.keys)))
        responses = pending(source, _items(tasks), todo.keys)
        for batch in batches(responses, size, context, with_repeats=with_repeats):
            part = todo.part(start, len(batch))
            start += len(batch)
            context.begin_batch(len(batch))
            scores, broken = _batch_scores(going, batch, part.metrics, context)
            _store(run, going, scores)
            context.end_batch()
            done.update(dict(enumerate(part.counts(len(tasks)))))
            for number in scores:
                statuses[number] += _statuses(scores[number])
                if progress:
                    progress(tasks[number].label, done[number], totals[number])
            errors += broken.values()
            for number in broken:
                del going[number]
            if not going:
                break
    if errors:
        raise errors[0]
    return statuses


def _items(tasks: Sequence[Task]) -> dict[int, Item]:
    """The items that any of the tasks scores."""
    return {key: item for task in tasks for key, item in task.items.items()}


def _statuses(scores: Scores) -> Counter[str]:
    """How many rows have each status."""
    return Counter(score.value.status for rows in scores.values() for score in rows)


def _record(run: RunFile, tasks: Sequence[Task], todo: Unsettled) -> list[int]:
    """Store in the provenance what each task is to score; how many responses these are."""
    totals = todo.counts(len(tasks))
    with run.writing() as db:
        for task, total in zip(tasks, totals, strict=True):
            task.record(db, total)
    return totals


def _batch_scores(
    tasks: Mapping[int, Task], batch: Sequence[Pending], lacking: Sequence[int], context: ScoringContext
) -> tuple[dict[int, Scores], dict[int, VivaError]]:
    """The scores of each task that lacks some of these responses, or the error of its metric."""
    reader = _Reader(context)
    scores: dict[int, Scores] = {}
    errors: dict[int, VivaError] = {}
    for number, task in tasks.items():
        part = [p for p, bits in zip(batch, lacking, strict=True) if bits >> number & 1]
        try:
            if part:
                scores[number] = _scores(task, part, reader)
        except VivaError as error:
            errors[number] = error
    return scores, errors


def _store(run: RunFile, tasks: Mapping[int, Task], scores: Mapping[int, Scores]) -> None:
    """Store the scores of a batch, those of all tasks or none."""
    if not scores:
        return
    with run.writing() as db:
        for number, by_measure in scores.items():
            task = tasks[number]
            if task.metric.needs_repeats:
                again = {score.response for rows in by_measure.values() for score in rows}
                drop_scores(db, list(by_measure), task.pass_no, sorted(again))
            for key, rows in by_measure.items():
                put_scores(db, key, rows)


class _Reader:
    """Reads the responses of a batch, each once, for whichever metrics ask for it."""

    def __init__(self, context: ScoringContext) -> None:
        self.context = context
        self._rows: dict[int, Row | Value] = {}

    def __call__(self, p: Pending) -> Row | Value:
        row = self._rows.get(p.key)
        if row is None:
            row = self._rows[p.key] = read_response(p, self.context)
        return row


def response_scores(task: Task, response: Pending, context: ScoringContext) -> Scores:
    """The scores of one response by the task's measures, which are stored nowhere.

    Raises `MetricError` for a metric that breaks or gives what it did not declare.
    """
    return _scores(task, [response], _Reader(context))


def _scores(task: Task, batch: Sequence[Pending], reader: _Reader) -> Scores:
    """The scores of these responses by the task's measures; non-responses never reach the metric."""
    metric = task.metric
    rows = _rows(metric, batch, reader)
    values = iter(metric_values(metric, [row for row in rows if isinstance(row, Row)], reader.context))
    scores: dict[int, list[ScoreRow]] = {key: [] for key in task.measures}
    for p, row in zip(batch, rows, strict=True):
        by_criterion = next(values) if isinstance(row, Row) else None
        for key, measure in task.measures.items():
            value: ValueOrUnits = (
                _silence(metric, p.item, row, measure.criterion)
                if isinstance(row, Value)
                else checked(metric, row, by_criterion, measure.criterion)
            )
            scores[key] += _score_rows(p.key, value, task.pass_no)
    return scores


def _silence(metric: Metric, item: Item, value: Value, criterion: Criterion) -> Value:
    """The value of a response that reached no metric, with the counts of a silence where it has any."""
    pools = criterion.pool != "mean" and value.status in ("unanswered", "unreadable")
    parts = metric.silence_parts(item).get(criterion.criterion) if pools else None
    return value._replace(parts=dict(parts)) if parts else value


def _score_rows(response: int, value: ValueOrUnits, pass_no: int) -> Iterable[ScoreRow]:
    if isinstance(value, Value):
        return (ScoreRow(response, value, pass_no),)
    return [ScoreRow(response, of_unit, pass_no, unit=unit) for unit, of_unit in value.items()]


def _rows(metric: Metric, batch: Sequence[Pending], reader: _Reader) -> Sequence[Row | Value]:
    """The responses as the metric gets them, or their values, with their repeats where it needs these."""
    items = {id(p.item): p.item for p in batch}
    reasons = {key: metric.not_applicable(item) for key, item in items.items()}
    rows = [_row_or_value(metric, p, reasons[id(p.item)], reader) for p in batch]
    return with_other_repeats(batch, rows) if metric.needs_repeats else rows


def _row_or_value(metric: Metric, p: Pending, reason: str | None, reader: _Reader) -> Row | Value:
    """The response as a metric gets it, or its value; `reason` is why the metric does not apply, or null."""
    if reason:  # before the response is read: silence about such an item costs nothing either
        return Value(None, note=reason, status="set_aside")
    row = reader(p)
    if isinstance(row, Value) and row.status != "failed":
        for c in metric.criteria:
            check_silence(metric, p, c)
    return row


def metric_values(metric: Metric, rows: Sequence[Row], context: ScoringContext) -> Iterator[Any]:
    """What the metric gives for each row, not yet checked."""
    if not rows:
        return iter(())
    try:
        values = list(metric.values(rows, context))
    except VivaError:
        raise
    except Exception as error:  # third-party code: name it, keep what is stored
        raise MetricError(
            f"{metric} broke while marking {rows[0].item.name} and {len(rows) - 1} further answers: "
            f"{type(error).__name__}: {error}. What was marked before is stored."
        ) from error
    if len(values) != len(rows):
        raise MetricError(f"{metric} gave {len(values)} values for {len(rows)} answers.")
    return iter(values)
