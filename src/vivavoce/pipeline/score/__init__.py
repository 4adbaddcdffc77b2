"""Scoring: every response of a format that a metric scores becomes one row per criterion, pass and unit.

Unanswered and unreadable responses get their value here and never reach a metric. A metric's value is checked
against what it declared before it is stored.

A comparative metric scores responses side by side: k rows with one ballot, each with the position at which
its response was shown. Each order is a ballot of its own: where two orders contradict each other, their mean
is a tie. A candidate that did not answer loses to all who did, without a rater; a failed response is on its
own failed ballot only.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from vivavoce import formats
from vivavoce.core import registry
from vivavoce.core.errors import MetricError, VivaError
from vivavoce.core.records import Criterion, Item, ItemKey, Measure, Row, Value
from vivavoce.logprobs.requests import requests_of
from vivavoce.metrics import ComparativeMetric, Metric, ScoringContext, is_comparative
from vivavoce.models.engine.client import ModelClient
from vivavoce.pipeline.client import Progress
from vivavoce.pipeline.score.checks import (
    ValueOrUnits,
    check_declared,
    check_needs,
    check_silence,
    checked,
    missing_commands,
    read_response,
)
from vivavoce.pipeline.score.repeats import batches, with_other_repeats
from vivavoce.store.pending import Ballot, Pending, ballots, contestants, count_pending, pending
from vivavoce.store.read import benchmarks, candidates, items_by_id, logprob_specs
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import ScoreRow, drop_ballots, drop_scores, put_measures, put_provenance, put_scores

BATCH, ASKED = 2_000, 500
"""Rows stored at a time; fewer where a model marks, and each has taken a call."""


class ScoreSummary(NamedTuple):
    """What a metric did in one call: rows by status, and the items it does not mark, by format.

    `lacking` of these are of its formats and lack what it needs. `commands` would ask those candidates for
    their probabilities whom nobody has asked.
    """

    metric: str
    statuses: dict[str, int]
    not_marked: dict[str, int]
    lacking: int = 0
    commands: tuple[str, ...] = ()


def measures_of(metric: Metric) -> list[Measure]:
    """The measures a metric gives, one per criterion, under its canonical name and signature."""
    name, score = str(registry.canonical(metric)), registry.signature(metric)
    return [Measure(metric=name, signature=score, rater=metric.rater, criterion=c) for c in metric.criteria]


def bind_all(run: RunFile, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics as they mark this run, and as their measures are named in it: `score` begins with this."""
    with run.reading() as db:
        items = list(items_by_id(db).values())
    return [metric.bind(items) for metric in metrics]


def score(
    run: RunFile,
    metrics: Sequence[Metric],
    *,
    items: set[ItemKey] | None = None,
    passes: int = 1,
    desk: ModelClient | None = None,
    progress: Progress | None = None,
) -> list[ScoreSummary]:
    """Mark what is not marked yet; failed rows are tried again. `items` restricts to these.

    Where a model marks, each answer is marked in so many `passes`, at the `desk`; a rule needs one. Rows are
    stored in batches, so a call that is cut short goes on where it stopped. `progress` hears the metric, the
    rows done and the rows in all. Raises `MetricError` before anything is stored if an item lacks a field
    that a metric needs, a metric that compares finds one candidate only, or one of probabilities none.
    """
    with run.reading() as db:
        stored = items_by_id(db)
    metrics = [metric.bind(list(stored.values())) for metric in metrics]
    selected = {
        key: item
        for key, item in stored.items()
        if items is None or (item.benchmark, item.item, item.variant) in items
    }
    commands = _check_all(run, metrics, selected)
    context = ScoringContext(desk, stored.values())
    summaries = []
    try:
        for metric, missing in zip(metrics, commands, strict=True):
            n_passes = passes if metric.rater else 1
            summary = _score_metric(run, metric, selected, context, n_passes, progress)
            summaries.append(summary._replace(commands=missing))
    finally:
        if desk and desk.usage.traffic.requests:
            _account(run, metrics, desk)
    return summaries


def _check_all(run: RunFile, metrics: Sequence[Metric], items: Mapping[int, Item]) -> list[tuple[str, ...]]:
    """The commands that collect what each metric lacks. Raises `MetricError` for what cannot be scored."""
    with run.reading() as db:
        collected = logprob_specs(db)
        specs = {b.benchmark: b.spec for b in benchmarks(db)}
        contestants = [c.candidate for c in candidates(db) if c.role == "candidate"]
    commands = []
    for metric in metrics:
        check_declared(metric)
        check_needs(metric, items)
        applicable = {i.benchmark: specs[i.benchmark] for i in items.values() if metric.applies_to(i)}
        commands.append(missing_commands(metric, run.path, collected, applicable))
        if is_comparative(metric) and len(contestants) < 2:
            raise MetricError(
                f"{metric} sets answers side by side, which takes two candidates or more, and this run has "
                f"{' and '.join(contestants) or 'none'}. Nothing was marked."
            )
    return commands


def _account(run: RunFile, metrics: Sequence[Metric], desk: ModelClient) -> None:
    """Store what the judges were sent, and what they cost."""
    usage = desk.usage
    body = {
        "for": "score",
        "metrics": [str(metric) for metric in metrics if metric.rater],
        "answered": usage.answered,
        "failed": usage.failed,
        "cost": None if usage.unpriced else usage.cost,
        "sent": usage.traffic.rows,
    }
    with run.writing() as db:
        put_provenance(db, "ask", body, changed=0)


def _score_metric(
    run: RunFile,
    metric: Metric,
    items: Mapping[int, Item],
    context: ScoringContext,
    passes: int,
    progress: Progress | None,
) -> ScoreSummary:
    applicable = {key: item for key, item in items.items() if metric.applies_to(item)}
    measures = measures_of(metric)
    statuses: Counter[str] = Counter()
    with run.writing() as db:
        keys = put_measures(db, measures)
    for pass_no in range(1, passes + 1):
        context.pass_no = pass_no
        label = str(metric) if passes == 1 else f"{metric}, pass {pass_no}"
        total, batches = _pending_batches(run, metric, applicable, keys, pass_no, context)
        body = {"metric": str(metric), "signature": measures[0].signature, "rows": total}
        with run.writing() as db:
            put_provenance(db, "score", body | ({"pass": pass_no} if passes > 1 else {}), changed=total)
        done = 0
        for batch in batches:
            statuses += _store_batch(run, batch, dict(zip(keys, measures, strict=True)), pass_no)
            done += batch.size
            if progress:
                progress(label, done, total)
    not_scored = Counter(item.format for key, item in items.items() if key not in applicable)
    lacking = sum(n for name, n in not_scored.items() if formats.accepts(metric.formats, name))
    return ScoreSummary(str(metric), dict(statuses), dict(not_scored), lacking)


def _store_batch(run: RunFile, batch: "Batch", measures: Mapping[int, Measure], pass_no: int) -> Counter[str]:
    """Store the scores of a batch; how many there are of each status."""
    with run.writing() as db:
        drop_ballots(db, list(measures), pass_no, batch.replaces)
        drop_scores(db, list(measures), pass_no, batch.again)
        for key, measure in measures.items():
            put_scores(db, key, batch.marks[measure.criterion.criterion])
    return Counter(score.value.status for scores in batch.marks.values() for score in scores)


class Batch(NamedTuple):
    """Responses, or ballots, that were marked: how many, their marks by criterion, and what these replace.

    `replaces` are ballots that go, `again` responses whose earlier marks go.
    """

    size: int
    marks: Mapping[str, Sequence[ScoreRow]]
    replaces: Sequence[str] = ()
    again: Sequence[int] = ()


def _pending_batches(
    run: RunFile,
    metric: Metric,
    items: Mapping[int, Item],
    keys: Sequence[int],
    pass_no: int,
    context: ScoringContext,
) -> tuple[int, Iterator[Batch]]:
    """How much there is to score in a pass, and the scores as they come."""
    size = ASKED if metric.rater else BATCH
    if is_comparative(metric):
        with run.reading() as db:
            todo = pending_ballots(db, metric, items, keys, pass_no)
        return len(todo), _ballot_batches(metric, todo, pass_no, context, size)
    with run.reading() as db:
        total = count_pending(db, items, keys, pass_no, _probe(metric), repeats=metric.needs_repeats)
    return total, _response_batches(run, metric, items, keys, pass_no, context, size)


def _ballot_batches(
    metric: ComparativeMetric,
    todo: Sequence["BallotTask"],
    pass_no: int,
    context: ScoringContext,
    size: int,
) -> Iterator[Batch]:
    for start in range(0, len(todo), size):
        part = todo[start : start + size]
        scores = score_ballots(metric, part, pass_no, context)
        yield Batch(len(part), scores, [name for task in part for name in task.replaces])


def _response_batches(
    run: RunFile,
    metric: Metric,
    items: Mapping[int, Item],
    keys: Sequence[int],
    pass_no: int,
    context: ScoringContext,
    size: int,
) -> Iterator[Batch]:
    with run.reading() as source:  # its view stays that of the start while batches are written
        todo = pending(source, items, keys, pass_no, _probe(metric), repeats=metric.needs_repeats)
        for batch in batches(todo, size, with_repeats=metric.needs_repeats):
            values = _values(metric, batch, context)
            scores = {
                c.criterion: [
                    score
                    for p, by_criterion in zip(batch, values, strict=True)
                    for score in _marks(p.key, by_criterion[c.criterion], pass_no)
                ]
                for c in metric.criteria
            }
            yield Batch(len(batch), scores, again=[p.key for p in batch] if metric.needs_repeats else ())


def _probe(metric: Metric) -> str:
    """The name of the log-probability requests that the metric scores; empty for generated text."""
    requests = requests_of(metric)
    return requests.name if requests else ""


def _marks(response: int, value: ValueOrUnits, pass_no: int) -> Iterator[ScoreRow]:
    if isinstance(value, Value):
        yield ScoreRow(response, value, pass_no)
    else:
        yield from (ScoreRow(response, of_unit, pass_no, unit=unit) for unit, of_unit in value.items())


def _values(
    metric: Metric, batch: Sequence[Pending], context: ScoringContext
) -> list[Mapping[str, ValueOrUnits]]:
    """For each response of a batch the values by every criterion; non-responses never reach the metric."""
    values: list[Mapping[str, ValueOrUnits] | None] = []
    rows: list[Row] = []
    for row in _readings(metric, batch, context):
        if isinstance(row, Row):
            rows.append(row)
        values.append(None if isinstance(row, Row) else {c.criterion: row for c in metric.criteria})
    of_rows = iter(_metric_values(metric, rows, context))
    return [value if value is not None else next(of_rows) for value in values]


def _readings(metric: Metric, batch: Sequence[Pending], context: ScoringContext) -> Sequence[Row | Value]:
    """The responses as the metric gets them, or their values, with their repeats where it needs these."""
    items = {id(p.item): p.item for p in batch}
    reasons = {key: metric.not_applicable(item) for key, item in items.items()}
    read_as = [_row_or_value(metric, p, reasons[id(p.item)], context) for p in batch]
    return with_other_repeats(batch, read_as) if metric.needs_repeats else read_as


def _row_or_value(metric: Metric, p: Pending, reason: str | None, context: ScoringContext) -> Row | Value:
    """The response as a metric gets it, or its value; `reason` is why the metric does not apply, or null."""
    if reason:  # before the response is read: silence about such an item costs nothing either
        return Value(None, note=reason, status="set_aside")
    row = read_response(p, context)
    if isinstance(row, Value) and row.status != "failed":
        for c in metric.criteria:
            check_silence(metric, p, c)
    return row


def _metric_values(
    metric: Metric, rows: Sequence[Row], context: ScoringContext
) -> Sequence[Mapping[str, ValueOrUnits]]:
    if not rows:
        return []
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
    return [
        {c.criterion: checked(metric, row, value, c) for c in metric.criteria}
        for row, value in zip(rows, values, strict=True)
    ]


RANK = "rank"
"""The pool of a criterion that is a mid-rank. All others of a contest are the share of the others on the
ballot that an answer beats, ties half.
"""


class BallotTask(NamedTuple):
    """Answers to one item that stand on a ballot, in the order shown.

    `replaces` are ballots there were of the same item and repeat: this one, with marks that are missing, and
    those that fewer candidates stood on.
    """

    ballot: str
    answers: tuple[Pending, ...]
    replaces: tuple[str, ...]


def pending_ballots(
    db: sqlite3.Connection,
    metric: ComparativeMetric,
    items: Mapping[int, Item],
    measures: Sequence[int],
    pass_no: int,
) -> list[BallotTask]:
    """The ballots to be filled in a pass: every item and repeat that two candidates or more have answered."""
    keys = {(i.benchmark, i.item, i.variant): key for key, i in items.items()}
    stored: dict[tuple[int, int], dict[str, Ballot]] = {}
    for ballot in ballots(db, measures, pass_no):
        stored.setdefault((ballot.item, ballot.repeat), {})[ballot.ballot] = ballot
    tasks = []
    answered = sorted(contestants(db, items), key=_place)
    for (benchmark, item, variant, repeat), responses in groupby(answered, key=_place):
        by_candidate = {p.response.candidate: p for p in responses}
        place = f"{benchmark}|{item}|{variant}|{repeat}"
        orders = {_ballot(place, names): names for names in metric.orders(sorted(by_candidate), place)}
        earlier = stored.get((keys[benchmark, item, variant], repeat), {})
        outdated = tuple(name for name in earlier if name not in orders)
        for name, names in orders.items():
            if not _is_complete(earlier.get(name), len(names) * len(measures)):
                responses_shown = tuple(by_candidate[candidate] for candidate in names)
                tasks.append(BallotTask(name, responses_shown, (name, *outdated)))
    return tasks


def _is_complete(ballot: Ballot | None, n_scores: int) -> bool:
    """Whether the ballot is stored with all its scores."""
    return ballot is not None and bool(ballot.complete) and ballot.marks == n_scores


def _place(p: Pending) -> tuple[str, str, str, int]:
    r = p.response
    return r.benchmark, r.item, r.variant, r.repeat


def _ballot(place: str, names: Sequence[str]) -> str:
    """A name that the same answers in the same order always bear."""
    return hashlib.sha256("\n".join((place, *names)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def score_ballots(
    metric: ComparativeMetric, todo: Sequence[BallotTask], pass_no: int, context: ScoringContext
) -> Mapping[str, Sequence[ScoreRow]]:
    """The scores of these ballots by criterion."""
    read_as = [[read_response(p, context) for p in task.answers] for task in todo]
    readable = [[row for row in ballot if isinstance(row, Row)] for ballot in read_as]
    compared = iter(metric.compare([rows for rows in readable if len(rows) > 1], context))
    scores: dict[str, list[ScoreRow]] = {c.criterion: [] for c in metric.criteria}
    for task, ballot, rows in zip(todo, read_as, readable, strict=True):
        of_rows = iter(next(compared) if len(rows) > 1 else [{}])
        silent = sum(isinstance(row, Value) and row.status != "failed" for row in ballot)
        for position, (p, row) in enumerate(zip(task.answers, ballot, strict=True), 1):
            values = next(of_rows) if isinstance(row, Row) else {}
            for c in metric.criteria:
                if isinstance(row, Value):
                    value = _unread(metric, p, row, c)
                elif len(rows) == 1:
                    value = _alone(silent)
                else:
                    value = _among(metric, row, values, c, len(rows), silent)
                scores[c.criterion].append(ScoreRow(p.key, value, pass_no, task.ballot, position))
    return scores


def _unread(metric: ComparativeMetric, p: Pending, value: Value, c: Criterion) -> Value:
    """The value of a response that could not be read: it has one without a rater."""
    if value.status != "failed" and c.pool != RANK:  # there is no mean over ranks for it to drop out of
        check_silence(metric, p, c)
    return value


def _alone(silent: int) -> Value:
    """The value of the only answer that can be read: before all who said nothing."""
    if not silent:
        return Value(None, note="there was no other answer to compare it with", status="failed")
    return Value(1.0, note="nobody else on the ballot answered")


def _among(
    metric: ComparativeMetric, row: Row, values: Mapping[str, Value], c: Criterion, n: int, silent: int
) -> Value:
    """The value among `n` that were compared, and before the `silent`."""
    value = checked(metric, row, values, c)
    assert isinstance(value, Value)  # ballots have no units
    if value.value is None or not silent or c.pool == RANK:
        return value
    return value._replace(value=(value.value * (n - 1) + silent) / (n - 1 + silent))
