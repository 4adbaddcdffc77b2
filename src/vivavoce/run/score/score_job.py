"""Scoring in a worker: metrics are rebuilt there, and batches and scores travel as plain tuples.

Records would cost more to send than most rules cost to compute.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from vivavoce.core.records import Item, ItemKey, Measure, Response, Value
from vivavoce.metrics import ScoringContext
from vivavoce.run.score.batch_scores import Batch, BatchScores, Scores, batch_scores
from vivavoce.run.score.tasks import Task
from vivavoce.run.workers import rebuilding
from vivavoce.store.pending import Pending
from vivavoce.store.write import ScoreRow

_FIELDS = tuple(f.name for f in fields(Response))


class SentBatch(NamedTuple):
    """A batch on its way to a worker.

    For each response its key, the key of its item, and its fields; and of a later turn the item as the
    candidate was asked it.
    """

    responses: Sequence[tuple[int, int, tuple[Any, ...], Item | None]]
    lacking: Sequence[int]
    tasks: frozenset[int]


class SentScores(NamedTuple):
    """Scores on their way back: by task and measure tuples of response, value and unit; errors by task."""

    scores: Mapping[int, Mapping[int, Sequence[tuple[Any, ...]]]]
    errors: Mapping[int, rebuilding.SentError]
    passes: Mapping[str, int]


class _SentTask(NamedTuple):
    recipe: rebuilding.Recipe
    items: frozenset[int]
    measures: Mapping[int, Measure]
    pass_no: int


@dataclass(frozen=True)
class RemoteScoring:
    """What a worker scores by: metrics as recipes, the items of the run, and what registers them."""

    sources: rebuilding.Sources
    tasks: tuple[_SentTask, ...]
    items: Mapping[int, Item]
    scored: frozenset[int]
    pass_no: int

    def open(self) -> Callable[[SentBatch], SentScores]:
        """What scores a batch in a worker. Raises `SpecError` where a metric cannot be rebuilt."""
        rebuilding.load_sources(self.sources)
        tasks = [
            Task(
                rebuilding.rebuild(t.recipe), {key: self.items[key] for key in t.items}, t.measures, t.pass_no
            )
            for t in self.tasks
        ]
        context = ScoringContext(None, self.items.values())
        context.pass_no = self.pass_no
        context.announce([t.metric for t in tasks], [self.items[key] for key in self.scored])

        def compute(sent: SentBatch) -> SentScores:
            before = context.passes.copy()
            computed = batch_scores(tasks, _received(sent, self.items), context)
            context.end_batch()
            return _packed(computed, context.passes - before)

        return compute


class ScoreJob:
    """The job of tasks that go together, of these items; `context` is that of this process."""

    def __init__(self, tasks: Sequence[Task], items: Mapping[int, Item], context: ScoringContext) -> None:
        self._tasks, self._items, self._context = tasks, items, context
        self._keys = {_place(item): key for key, item in items.items()}

    def compute(self, batch: Batch) -> BatchScores:
        """The scores of a batch."""
        self._context.begin_batch(len(batch.responses))
        return batch_scores(self._tasks, batch, self._context)

    def remote(self) -> RemoteScoring:
        """The job as workers get it, with all items of the run: a metric may count in them."""
        sent = tuple(
            _SentTask(rebuilding.recipe("metric", t.metric), frozenset(t.items), dict(t.measures), t.pass_no)
            for t in self._tasks
        )
        items = dict(self._items)
        others = (item for item in self._context.items if _place(item) not in self._keys)
        items |= {-number: item for number, item in enumerate(others, 1)}
        return RemoteScoring(rebuilding.sources(), sent, items, frozenset(self._items), self._context.pass_no)

    def pack(self, batch: Batch) -> SentBatch:
        """The batch as it is sent."""
        responses = [
            (
                p.key,
                self._keys[p.place],
                tuple([getattr(p.response, name) for name in _FIELDS]),
                p.item if p.item.follows else None,
            )
            for p in batch.responses
        ]
        return SentBatch(responses, list(batch.lacking), batch.tasks)

    def unpack(self, sent: SentScores) -> BatchScores:
        """The scores that came back from a worker."""
        scores: dict[int, Scores] = {
            number: {
                key: [
                    ScoreRow(response, Value(*value), self._tasks[number].pass_no, unit=unit)
                    for response, *value, unit in rows
                ]
                for key, rows in by_measure.items()
            }
            for number, by_measure in sent.scores.items()
        }
        return BatchScores(
            scores, {n: rebuilding.received_error(e) for n, e in sent.errors.items()}, sent.passes
        )


def _place(item: Item) -> ItemKey:
    return item.benchmark, item.item, item.variant


def _received(sent: SentBatch, items: Mapping[int, Item]) -> Batch:
    responses = [
        Pending(key, with_turns or items[item], Response(**dict(zip(_FIELDS, values, strict=True))))
        for key, item, values, with_turns in sent.responses
    ]
    return Batch(responses, sent.lacking, sent.tasks)


def _packed(computed: BatchScores, passes: Counter[str]) -> SentScores:
    scores = {
        number: {key: [(r.response, *r.value, r.unit) for r in rows] for key, rows in by_measure.items()}
        for number, by_measure in computed.scores.items()
    }
    broken = {number: rebuilding.sent_error(error) for number, error in computed.errors.items()}
    return SentScores(scores, broken, dict(passes))
