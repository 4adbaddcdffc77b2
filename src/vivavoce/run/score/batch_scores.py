"""The scores of a batch: what metrics make of responses, without the store. An executor computes it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.errors import MetricError, VivaError
from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.text import error_text
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.run.score.checks import ValueOrUnits, check_silence, checked, read_response
from vivavoce.run.score.repeats import with_other_repeats
from vivavoce.run.score.tasks import Task
from vivavoce.store.pending import Pending
from vivavoce.store.write import ScoreRow

Scores = Mapping[int, Sequence[ScoreRow]]
"""The scores of a batch by the key of their measure."""


class Batch(NamedTuple):
    """Responses to be scored, and for each the tasks that lack it: bit i stands for task i.

    `tasks` go on. What is stored together may be computed in parts, up to the one that `is_last`.
    """

    responses: Sequence[Pending]
    lacking: Sequence[int]
    tasks: frozenset[int]
    is_last: bool = True

    def counts(self) -> dict[int, int]:
        """How many of the responses each task lacks."""
        return {n: sum(bits >> n & 1 for bits in self.lacking) for n in self.tasks}

    def of_task(self, number: int) -> list[Pending]:
        """The responses that a task lacks."""
        return [p for p, bits in zip(self.responses, self.lacking, strict=True) if bits >> number & 1]


class BatchScores(NamedTuple):
    """The scores of a batch by task, the errors of metrics that broke, and the passes of each encoder."""

    scores: dict[int, Scores]
    errors: dict[int, VivaError]
    passes: Mapping[str, int] = {}


def batch_scores(tasks: Sequence[Task], batch: Batch, context: ScoringContext) -> BatchScores:
    """The scores of each task that lacks some of these responses, or the error of its metric."""
    reader = _Reader(context)
    scores: dict[int, Scores] = {}
    broken: dict[int, VivaError] = {}
    for number in sorted(batch.tasks):
        try:
            if responses := batch.of_task(number):
                scores[number] = _scores(tasks[number], responses, reader)
        except VivaError as error:
            broken[number] = error
    return BatchScores(scores, broken)


def lost_scores(tasks: Sequence[Task], batch: Batch, cause: str) -> BatchScores:
    """Failed scores for a batch that no worker could compute: the next call tries them again."""
    value = Value(None, note=cause, status="failed")
    scores: dict[int, Scores] = {}
    for number in sorted(batch.tasks):
        rows = [ScoreRow(p.key, value, tasks[number].pass_no) for p in batch.of_task(number)]
        if rows:
            scores[number] = dict.fromkeys(tasks[number].measures, rows)
    return BatchScores(scores, {})


def joined(parts: Sequence[BatchScores]) -> BatchScores:
    """The scores of a batch that was computed in parts."""
    if len(parts) == 1:
        return parts[0]
    scores: dict[int, dict[int, list[ScoreRow]]] = {}
    broken: dict[int, VivaError] = {}
    passes = Counter[str]()
    for part in parts:
        for number, by_measure in part.scores.items():
            of_task = scores.setdefault(number, {})
            for key, rows in by_measure.items():
                of_task.setdefault(key, []).extend(rows)
        for number, error in part.errors.items():
            broken.setdefault(number, error)
        passes.update(part.passes)
    return BatchScores(dict(scores), broken, passes)


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
    items = {p.place: p.item for p in batch}
    reasons = {key: metric.not_applicable(item) for key, item in items.items()}
    rows = [_row_or_value(metric, p, reasons[p.place], reader) for p in batch]
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
    except (Exception, SystemExit) as error:  # third-party code: name it, keep what is stored
        raise MetricError(
            f"{metric} broke while scoring {rows[0].item.name} and {len(rows) - 1} further answers: "
            f"{error_text(error)}. What was scored before is stored."
        ) from error
    if len(values) != len(rows):
        raise MetricError(f"{metric} gave {len(values)} values for {len(rows)} answers.")
    return iter(values)
