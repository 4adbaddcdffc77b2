"""Comparative metrics: responses to one item are scored side by side, on ballots.

A ballot is k rows of scores, each with the position at which its response was shown. Each order is a ballot
of its own: where two orders contradict each other, their mean is a tie. A candidate that did not answer loses
to all who did, without a rater; a failed response is on its own failed ballot only.
"""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.metrics import ComparativeMetric, ScoringContext, is_comparative
from vivavoce.models.engine.usage import Progress
from vivavoce.run.plugin_code import remember_code
from vivavoce.run.score.checks import check_silence, checked, read_response
from vivavoce.run.score.tasks import Task
from vivavoce.store.pending import Ballot, Pending, ballots, contestants
from vivavoce.store.view import View
from vivavoce.store.write import ScoreRow, drop_ballots, put_scores


def score_ballots(
    view: View, tasks: Sequence[Task], context: ScoringContext, size: int, progress: Progress | None
) -> list[Counter[str]]:
    """Fill the ballots that each task has not filled yet, and return its rows by status."""
    return [_score_task(view, task, context, size, progress) for task in tasks]


def _score_task(
    view: View, task: Task, context: ScoringContext, size: int, progress: Progress | None
) -> Counter[str]:
    metric = task.metric
    assert is_comparative(metric)
    view.renew()
    todo = pending_ballots(view.db, metric, task.items, list(task.measures), task.pass_no)
    view.renew()  # asking may take hours, and nothing more is read
    with view.writing(keep_state=True) as db:
        task.record(db, len(todo))
    statuses: Counter[str] = Counter()
    for start in range(0, len(todo), size):
        batch = todo[start : start + size]
        scores = _scores(metric, batch, task.pass_no, context)
        with view.writing(keep_state=True) as db:
            replaced = [name for ballot in batch for name in ballot.replaces]
            drop_ballots(db, list(task.measures), task.pass_no, replaced)
            for key, measure in task.measures.items():
                put_scores(db, key, scores[measure.criterion.criterion])
                remember_code(db, metric, scores[measure.criterion.criterion])
        context.end_batch()
        statuses.update(score.value.status for rows in scores.values() for score in rows)
        if progress:
            progress(task.label, start + len(batch), len(todo))
    return statuses


RANK = "rank"
"""The pool of a criterion that is a mid-rank. All others of a contest are the share of the others on the
ballot that an answer beats, ties half.
"""


class BallotTask(NamedTuple):
    """Answers to one item that stand on a ballot, in the order shown.

    `replaces` are ballots there were of the same item and repeat: this one, with scores that are missing, and
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


def _scores(
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
