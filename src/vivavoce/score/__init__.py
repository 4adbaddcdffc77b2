"""Marking: every response of a format a metric marks becomes one row per criterion, pass and unit.

What was not answered or cannot be read is settled here and never reaches a metric; a metric's value is
checked against what it declared before it is stored. Answers set side by side are marked in `contests`.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vivavoce import registry
from vivavoce.ask import Desk
from vivavoce.errors import MetricError, VivaError
from vivavoce.metrics import Lab, Metric, bound_to, marks, probe_of, rater, side_by_side
from vivavoce.records import Item, Measure, Row, Value
from vivavoce.score.checks import (
    Marks,
    check_declared,
    check_needs,
    check_silence,
    checked,
    read,
    unasked,
)
from vivavoce.score.contests import lots, settle
from vivavoce.store import RunFile
from vivavoce.store.pending import Pending, count_pending, pending
from vivavoce.store.read import benchmarks, candidates, probes, stock
from vivavoce.store.write import Mark, drop_ballots, put_measures, put_provenance, put_scores

__all__ = ["BATCH", "Marked", "bound", "measures_of", "score"]

BATCH, ASKED = 2_000, 500
"""Rows stored at a time; fewer where a model marks, and each has taken a call."""
ItemKey = tuple[str, str, str]
"""Benchmark, base id, variant."""
Progress = Callable[[str, int, int], None]


class Marked(NamedTuple):
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
    name, mark = str(registry.canonical(metric)), registry.signature(metric)
    return [Measure(metric=name, signature=mark, rater=rater(metric), criterion=c) for c in metric.criteria]


def bound(run: RunFile, metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics as they mark this run, and as their measures are named in it: `score` begins with this."""
    with run.reading() as db:
        items = list(stock(db).values())
    return [bound_to(metric, items) for metric in metrics]


def score(
    run: RunFile,
    metrics: Sequence[Metric],
    *,
    items: set[ItemKey] | None = None,
    passes: int = 1,
    desk: Desk | None = None,
    progress: Progress | None = None,
) -> list[Marked]:
    """Mark what is not marked yet; failed rows are tried again. `items` restricts to these.

    Where a model marks, each answer is marked in so many `passes`, at the `desk`; a rule needs one. Rows are
    stored in batches, so a call that is cut short goes on where it stopped. `progress` hears the metric, the
    rows done and the rows in all. Raises `MetricError` before anything is stored if an item lacks a field
    that a metric needs, a metric that compares finds one candidate only, or one of probabilities none.
    """
    with run.reading() as db:
        there, asked = stock(db), probes(db)
        exams = {b.benchmark: b.spec for b in benchmarks(db)}
        stocked = {
            key: item
            for key, item in there.items()
            if items is None or (item.benchmark, item.item, item.variant) in items
        }
        rivals = [one.candidate for one in candidates(db) if one.role == "candidate"]
    metrics = [bound_to(metric, list(there.values())) for metric in metrics]
    missing: list[tuple[str, ...]] = []
    for metric in metrics:
        check_declared(metric)
        check_needs(metric, stocked)
        here = {i.benchmark: exams[i.benchmark] for i in stocked.values() if marks(metric, i)}
        here = {i.benchmark: exams[i.benchmark] for i in stocked.values() if marks(metric, i)}
        missing.append(unasked(metric, run.path, asked, here))
        if side_by_side(metric) and len(rivals) < 2:
            raise MetricError(
                f"{metric} sets answers side by side, which takes two candidates or more, and this run has "
                f"{' and '.join(rivals) or 'none'}. Nothing was marked."
            )
    lab = Lab(desk, there.values())
    try:
        return [
            _mark(run, metric, stocked, lab, passes if rater(metric) else 1, progress)._replace(commands=told)
            for metric, told in zip(metrics, missing, strict=True)
        ]
    finally:
        if desk and desk.asked.traffic.requests:
            _account(run, metrics, desk)


def _account(run: RunFile, metrics: Sequence[Metric], desk: Desk) -> None:
    """Keep what the judges of a call were sent, and what they cost."""
    t = desk.asked
    sent = [
        {"endpoint": endpoint, "requests": n, "characters": t.traffic.characters[endpoint]}
        for endpoint, n in t.traffic.requests.items()
    ]
    told = {
        "for": "score",
        "metrics": [str(metric) for metric in metrics if rater(metric)],
        "answered": t.answered,
        "failed": t.failed,
        "cost": None if t.unpriced else t.cost,
        "sent": sent,
    }
    with run.writing() as db:
        put_provenance(db, "ask", told, changed=0)


def _mark(
    run: RunFile,
    metric: Metric,
    stocked: Mapping[int, Item],
    lab: Lab,
    passes: int,
    progress: Progress | None,
) -> Marked:
    own = {key: item for key, item in stocked.items() if marks(metric, item)}
    measures = measures_of(metric)
    statuses: Counter[str] = Counter()
    with run.writing() as db:
        keys = put_measures(db, measures)
    for pass_no in range(1, passes + 1):
        lab.pass_no = pass_no
        name = str(metric) if passes == 1 else f"{metric}, pass {pass_no}"
        total, batches = _work(run, metric, own, keys, pass_no, lab)
        told = {"metric": str(metric), "signature": measures[0].signature, "rows": total}
        with run.writing() as db:
            put_provenance(db, "score", told | ({"pass": pass_no} if passes > 1 else {}), changed=total)
        done = 0
        for batch in batches:
            with run.writing() as db:
                drop_ballots(db, keys, pass_no, batch.replaces)
                for key, measure in zip(keys, measures, strict=True):
                    put_scores(db, key, batch.marks[measure.criterion.criterion])
            statuses.update(mark.value.status for named in batch.marks.values() for mark in named)
            done += batch.size
            if progress:
                progress(name, done, total)
    elsewhere = Counter(item.format for key, item in stocked.items() if key not in own)
    lacking = sum(n for form, n in elsewhere.items() if form in metric.formats)
    return Marked(str(metric), dict(statuses), dict(elsewhere), lacking)


class Batch(NamedTuple):
    """Responses, or ballots, that were marked: how many, their marks by criterion, and ballots that go."""

    size: int
    marks: Mapping[str, Sequence[Mark]]
    replaces: Sequence[str] = ()


def _work(
    run: RunFile, metric: Metric, items: Mapping[int, Item], keys: Sequence[int], pass_no: int, lab: Lab
) -> tuple[int, Iterator[Batch]]:
    """How much there is to mark in a pass, and the marks as they come."""
    size = ASKED if rater(metric) else BATCH
    if side_by_side(metric):
        with run.reading() as db:
            todo = lots(db, metric, items, keys, pass_no)
        parts = (todo[k : k + size] for k in range(0, len(todo), size))
        return len(todo), (
            Batch(
                len(part),
                settle(metric, part, pass_no, lab),
                [name for lot in part for name in lot.replaces],
            )
            for part in parts
        )
    with run.reading() as db:
        total = count_pending(db, items, keys, pass_no, _probe(metric))
    return total, _by_answer(run, metric, items, keys, pass_no, lab, size)


def _by_answer(
    run: RunFile,
    metric: Metric,
    items: Mapping[int, Item],
    keys: Sequence[int],
    pass_no: int,
    lab: Lab,
    size: int,
) -> Iterator[Batch]:
    with run.reading() as source:  # its view stays that of the start while batches are written beside it
        todo = pending(source, items, keys, pass_no, _probe(metric))
        while batch := list(itertools.islice(todo, size)):
            values = _values(metric, batch, lab)
            marks = {
                c.criterion: [
                    mark
                    for p, said in zip(batch, values, strict=True)
                    for mark in _marks(p.key, said[c.criterion], pass_no)
                ]
                for c in metric.criteria
            }
            yield Batch(len(batch), marks)


def _probe(metric: Metric) -> str:
    """What the metric marks: answers in words, or what this probe told."""
    probe = probe_of(metric)
    return probe.name if probe else ""


def _marks(response: int, said: Marks, pass_no: int) -> Iterator[Mark]:
    if isinstance(said, Value):
        yield Mark(response, said, pass_no)
    else:
        yield from (Mark(response, value, pass_no, unit=unit) for unit, value in said.items())


def _values(metric: Metric, batch: Sequence[Pending], lab: Lab) -> list[Mapping[str, Marks]]:
    """For each response of a batch the marks by every criterion, silence settled and values checked."""
    settled: list[Mapping[str, Marks] | None] = []
    rows: list[Row] = []
    for p in batch:
        found = read(p, lab)
        if isinstance(found, Row):
            rows.append(found)
            settled.append(None)
            continue
        if found.status != "failed":
            for c in metric.criteria:
                check_silence(metric, p, c)
        settled.append({c.criterion: found for c in metric.criteria})
    given = iter(_asked(metric, rows, lab))
    return [done if done is not None else next(given) for done in settled]


def _asked(metric: Metric, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Marks]]:
    if not rows:
        return []
    try:
        values = list(metric.values(rows, lab))
    except VivaError:
        raise
    except Exception as error:  # a metric may be a stranger's code: name it, keep what is stored
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
