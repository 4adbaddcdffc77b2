"""Metrics that score responses one by one go over them together: a batch is read once, and stored whole.

An executor computes the scores of batches, here or in workers; this process alone stores them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vivavoce.core.errors import VivaError
from vivavoce.metrics import ScoringContext
from vivavoce.models.engine.usage import Progress
from vivavoce.run.plugin_code import remember_code
from vivavoce.run.score.batch_scores import Batch, BatchScores, Scores, joined, lost_scores
from vivavoce.run.score.lanes import Lanes, encodes
from vivavoce.run.score.repeats import batches, texts
from vivavoce.run.score.score_job import ScoreJob
from vivavoce.run.score.tasks import Task, probe_of
from vivavoce.run.workers.executor import Executor, Lost, Shard
from vivavoce.store.pending import Pending, Unsettled, pending, unsettled
from vivavoce.store.view import View
from vivavoce.store.write import drop_scores, put_scores

SMALLEST = 50
"""Responses of a batch at least, where few are shared out among many workers."""
TURNS = 4
"""Batches for each worker, if there are so many, so that none is idle while the last are computed."""


def score_responses(
    view: View,
    tasks: Sequence[Task],
    context: ScoringContext,
    size: int,
    progress: Progress | None,
    executor: Executor,
) -> list[Counter[str]]:
    """Score what each of the tasks, all of one probe, has not scored yet, and return its rows by status.

    So many responses at a time are read, each once, whichever tasks lack it, and their scores are stored in
    one transaction. Raises the error of a metric that breaks when all others are done: it stops alone.
    """
    scoring = _Scoring(view, tasks, context, progress)
    items = {key: item for task in tasks for key, item in task.items.items()}
    view.renew()
    source = view.db  # it stays in the state of the start while batches are written
    todo = unsettled(source, [task.demand for task in tasks], probe_of(tasks[0].metric))
    scoring.begin(todo)
    if not executor.has_workers:
        context.expect(map(texts, pending(source, items, todo.keys)))
    else:
        size = max(SMALLEST, min(size, -(-len(todo.keys) // (TURNS * executor.n_workers))))
    responses = pending(source, items, todo.keys)
    with_repeats = any(task.metric.needs_repeats for task in tasks)
    shards = scoring.shards(
        batches(responses, size, context, with_repeats=with_repeats),
        todo,
        executor.n_lanes if executor.has_workers else 0,
    )
    scoring.take(executor.results(shards, ScoreJob(tasks, items, context)))
    if scoring.errors:
        raise scoring.errors[0]
    return scoring.statuses


@dataclass
class _Scoring:
    """Tasks that are scored together: which of them go on, and what has come of each."""

    view: View
    tasks: Sequence[Task]
    context: ScoringContext
    progress: Progress | None
    going: dict[int, Task] = field(default_factory=dict)
    statuses: list[Counter[str]] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    done: Counter[int] = field(default_factory=Counter)
    errors: list[VivaError] = field(default_factory=list)
    _sent: list[Batch] = field(default_factory=list)

    def begin(self, todo: Unsettled) -> None:
        """Store in the provenance what each task is to score."""
        self.going = dict(enumerate(self.tasks))
        self.statuses = [Counter() for _ in self.tasks]
        self.totals = todo.counts(len(self.tasks))
        with self.view.writing(keep_state=True) as db:
            for task, total in zip(self.tasks, self.totals, strict=True):
                task.record(db, total)

    def shards(self, parts: Iterator[list[Pending]], todo: Unsettled, n_lanes: int) -> Iterator[Shard[Batch]]:
        """The batches; where encoders read them, in a part for each worker, which then reads a text once."""
        lanes = Lanes(n_lanes) if n_lanes and any(encodes(t.metric) for t in self.tasks) else None
        start = 0
        for responses in parts:
            lacking = todo.part(start, len(responses)).metrics
            start += len(responses)
            batch = Batch(responses, lacking, frozenset(self.going))
            for shard in lanes.parts(batch) if lanes else [Shard(batch)]:
                self._sent.append(shard.work)
                yield shard

    def take(self, results: Iterator[BatchScores | Lost]) -> None:
        """Store the results as they come, those of a batch together, until no task goes on."""
        parts: list[BatchScores] = []
        n_responses: list[Batch] = []
        for result in results:
            batch = self._sent.pop(0)
            if isinstance(result, Lost):
                result = lost_scores(self.tasks, batch, result.cause)
            parts.append(result)
            n_responses.append(batch)
            if batch.is_last:
                self._store(n_responses, joined(parts))
                parts, n_responses = [], []
                if not self.going:
                    return

    def _store(self, batch: Sequence[Batch], computed: BatchScores) -> None:
        """Store the scores of a batch, those of all tasks or none; a metric that broke stops here."""
        broken = {n: error for n, error in computed.errors.items() if n in self.going}
        scores = {n: s for n, s in computed.scores.items() if n in self.going and n not in broken}
        _put(self.view, self.going, scores)
        self.context.end_batch()
        self.context.passes.update(computed.passes)
        for part in batch:
            self.done.update(part.counts())
        for number, by_measure in scores.items():
            self.statuses[number] += _statuses(by_measure)
            if self.progress:
                self.progress(self.tasks[number].label, self.done[number], self.totals[number])
        self.errors += broken.values()
        for number in broken:
            del self.going[number]


def _statuses(scores: Scores) -> Counter[str]:
    """How many rows have each status."""
    return Counter(score.value.status for rows in scores.values() for score in rows)


def _put(view: View, tasks: Mapping[int, Task], scores: Mapping[int, Scores]) -> None:
    """Store the scores of a batch, those of all tasks or none."""
    if not scores:
        return
    with view.writing(keep_state=True) as db:
        for number, by_measure in scores.items():
            task = tasks[number]
            if task.metric.needs_repeats:
                again = {score.response for rows in by_measure.values() for score in rows}
                drop_scores(db, list(by_measure), task.pass_no, sorted(again))
            for key, rows in by_measure.items():
                put_scores(db, key, rows)
                remember_code(db, task.metric, rows)
