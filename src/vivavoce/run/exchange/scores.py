"""Recorded scores in: scores that were given elsewhere, by judges or people, become scores of a run.

A recorded measure needs no registered metric. Its spec is kept as a label, its signature ends in
`@recorded`, and so it never mixes with a metric that is run here.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, get_args

import polars as pl

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Criterion, Direction, IfUnanswered, Measure
from vivavoce.core.specs import RECORDED, Spec, matches, parse
from vivavoce.core.tables import AS_FOUND, Dialect
from vivavoce.logprobs.requests import scores_logprobs
from vivavoce.run.exchange.label_probabilities import put_imported_draw
from vivavoce.run.exchange.row_counts import row_counts
from vivavoce.run.exchange.score_layout import Layout
from vivavoce.run.exchange.score_rows import LeftOut, RecordedScore, Scorable, ScoreRows
from vivavoce.run.exchange.score_tally import ScoreTally
from vivavoce.run.exchange.sources import Data, Reading, read_source
from vivavoce.run.tables.stored_benchmarks import load_benchmark
from vivavoce.store.retirement import refuse_retired_scores
from vivavoce.store.runfile import RunFile
from vivavoce.store.same_scores import Import, refusing_same_scores
from vivavoce.store.view import view_of
from vivavoce.store.write import ScoreRow, put_measures, put_provenance, put_scores, refuse_other_scores

_AT_ONCE = 1_000


class Declared(NamedTuple):
    """How a recorded criterion is read: its range (null = no limit), direction, and what silence is worth."""

    low: float | None = None
    high: float | None = None
    direction: Direction = "higher"
    if_unanswered: IfUnanswered = "worst"

    def check(self, criterion: str) -> None:
        """Raise `InputError` for a word that is not a choice, or a range that does not run upwards."""
        if self.direction not in get_args(Direction) or self.if_unanswered not in get_args(IfUnanswered):
            raise InputError(
                f"{criterion}: direction is one of {', '.join(get_args(Direction))}, if_unanswered one of "
                f"{', '.join(get_args(IfUnanswered))}, not {self.direction} and {self.if_unanswered}."
            )
        ends = [end for end in (self.low, self.high) if end is not None]
        if not all(map(math.isfinite, ends)) or (len(ends) > 1 and ends[0] >= ends[1]):
            raise InputError(f"{criterion}: {self.low} to {self.high} is no range: its low end comes first.")


_SILENT = Declared(0.0, 5.0, if_unanswered="set_aside")
# What published measures declare: the first that fits is the default.
_PUBLISHED: tuple[tuple[Spec, dict[str, Declared]], ...] = (
    (
        parse("judge(rubric=medgpt)"),
        {"demographic_bias": _SILENT, "harm": _SILENT, "*": Declared(0.0, 5.0)},
    ),
    (parse("medsynf1"), {"*": Declared(0.0, 1.0)}),
)


def _row_counts(left_out: LeftOut, tally: ScoreTally, layout: Layout) -> dict[str, int]:
    """What became of each row; one that repeats a score is told where a row has one."""
    n_same = 0 if len(layout.criteria) > 1 else len(tally.is_first) - tally.rows.height
    skipped = left_out.skipped.total()
    unchosen = left_out.rows - left_out.scored - skipped - left_out.probes - left_out.forgotten
    return row_counts(
        left_out.rows,
        scored=left_out.scored - n_same,
        forgotten=left_out.forgotten,
        same=n_same,
        skipped=skipped,
        unchosen=unchosen,
        probes=left_out.probes,
    )


class ImportedScores(NamedTuple):
    """What an import of scores did, in score rows.

    `skipped` rows are about items outside the benchmark, which `skipped_items` names. `blank_scored` names
    blank answers that had been given scores. `probes` rows score what a model told of its
    probabilities: those are no scores of an answer in words, and are left out, as `forgotten` rows are: their
    answers, or questions, had been forgotten in this run. `row_counts` says what became of each row of the
    file. `other_texts` names the answers whose scores are of another text, with the number of rows. The rest
    is as in `Imported`.
    """

    scores: int
    ok: int
    unanswered: int
    failed: int
    skipped: int
    criteria: tuple[str, ...]
    blank_scored: tuple[str, ...]
    probes: int = 0
    forgotten: int = 0
    skipped_items: tuple[str, ...] = ()
    matched: Mapping[str, str] = {}
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    guess: str = ""
    row_counts: Mapping[str, int] = {}
    other_texts: Mapping[str, int] = {}


def import_scores(
    run: RunFile,
    data: Data,
    *,
    measure: str,
    layout: Layout,
    declared: Mapping[str, Mapping[str, Any]] | None = None,
    benchmark: str | None = None,
    dialect: Dialect = AS_FOUND,
    same_allowed: bool = False,
) -> ImportedScores:
    """Store the recorded scores of a file or of data in memory for answers of the run; all, or none.

    `measure` is a spec, kept as a label. `declared` gives for a criterion, or for all under '*', fields of
    `Declared`; what is not given is as published where the measure is known. Rows about items that the run,
    or `benchmark` with its settings, does not have are skipped and counted, as in `import_answers`. Importing
    the same scores again changes nothing. A `probability` that `layout` names is kept as the draw of labels.
    Raises `InputError` for a measure that is named as a metric of probabilities, which scores no answer in
    words, for one that is retired, for scores of other texts than the run's answers unless `layout` allows
    them, and unless `same_allowed` for scores that the run holds under another measure or rater.
    """
    spec = parse(measure)
    if scores_logprobs(spec):
        raise InputError(
            f"{spec.name} scores a model's log-probabilities, and imported scores are of answers in "
            "words: `viva merge` brings scores of ours, and for others --measure needs another name."
        )
    layout.check()
    source = read_source(data, None, Reading(dialect))
    with view_of(run) as view:
        loaded = load_benchmark(view, benchmark) if benchmark else None
        db = view.db
        scorable = Scorable.of(db, *((loaded.items[0].benchmark, loaded.others) if loaded else ()))
        rows = ScoreRows(source, layout, scorable, spec)
        tally = ScoreTally.of(lambda: rows.scores(db))
    rows.refuse_left_out(scored=bool(tally.measures))
    measures = _measures(spec, tally, declared or {}, all_met=not rows.left_out.forgotten)
    _check(source.name, tally, measures)
    left_out = rows.left_out
    with (
        run.writing() as db,
        source.unchanged(),
        refusing_same_scores(db, Import(source.name, (source.hash,)), allowed=same_allowed),
    ):
        before = db.total_changes
        for recorded in measures.values():
            refuse_retired_scores(db, [recorded])
        if layout.of_draw:
            put_imported_draw(db, left_out.draw, measures.values())
        keys = dict(zip(measures, put_measures(db, measures.values()), strict=True))
        _put(db, tally.distinct(rows.scores(db)), keys)
        put_provenance(
            db,
            "import scores",
            {
                **source.record,
                "metric": str(spec),
                "map": dict(layout.columns),
                "set": dict(layout.constants),
                "where": dict(layout.where),
                "criteria": list(tally.criteria),
                "blank": layout.blank,
                "probes": left_out.probes,
                "other_texts": left_out.other_texts.total(),
                "matched": rows.matched,
                **source.read_as,
            },
            changed=db.total_changes - before,
        )
    statuses = Counter(dict(tally.rows["status"].value_counts().rows()))
    return ImportedScores(
        scores=tally.rows.height,
        ok=statuses["ok"],
        unanswered=statuses["unanswered"],
        failed=statuses["failed"],
        row_counts=_row_counts(left_out, tally, layout),
        skipped=left_out.skipped.total(),
        skipped_items=tuple(left_out.skipped),
        matched={ours: theirs for ours, theirs in rows.matched.items() if ours != theirs},
        criteria=tally.criteria,
        blank_scored=tuple(left_out.blank_scored),
        other_texts=dict(left_out.other_texts),
        probes=left_out.probes,
        forgotten=left_out.forgotten,
        **source.dialect._asdict(),
        guess=source.guess,
    )


def _put(
    db: sqlite3.Connection, scores: Iterator[RecordedScore], keys: Mapping[tuple[str, str], int]
) -> None:
    """Store scores under their measures, so many at once."""
    while batch := list(islice(scores, _AT_ONCE)):
        by_measure: dict[tuple[str, str], list[ScoreRow]] = {}
        for recorded in batch:
            by_measure.setdefault((recorded.criterion, recorded.rater), []).append(recorded.score)
        for name in sorted(by_measure):
            refuse_other_scores(db, keys[name], by_measure[name])
            put_scores(db, keys[name], by_measure[name])


def _measures(
    spec: Spec, tally: ScoreTally, declared: Mapping[str, Mapping[str, Any]], *, all_met: bool
) -> dict[tuple[str, str], Measure]:
    """A measure for each criterion and rater, as declared, else as published.

    Unless `all_met`, further criteria may be declared: what was forgotten may alone have been scored by them.
    """
    published = next((declarations for partial, declarations in _PUBLISHED if matches(partial, spec)), {})
    text = str(spec) if spec.settings else f"{spec.name}()"
    names = set(tally.criteria)
    for name in declared:
        if all_met and name != "*" and name not in names:
            raise InputError(f"no criterion {name!r} among those imported.{suggest(name, sorted(names))}")
    measures = {}
    for criterion, rater in sorted(tally.measures):
        base = published.get(criterion, published.get("*", Declared()))
        reading = base._replace(**{**declared.get("*", {}), **declared.get(criterion, {})})
        reading.check(criterion)
        measures[criterion, rater] = Measure(
            metric=str(spec),
            signature=f"{text}@{RECORDED}",
            rater=rater,
            criterion=Criterion(criterion=criterion, **reading._asdict()),
        )
    return measures


def _check(file: str, tally: ScoreTally, measures: Mapping[tuple[str, str], Measure]) -> None:
    """Raise `InputError` for a score out of its range, or a silence worth a limit that is not declared."""
    rows = tally.rows.with_row_index("number")
    faults = [
        fault
        for name, number in tally.measures.items()
        for fault in _faults(rows.filter(pl.col("measure") == number), measures[name].criterion)
    ]
    if faults:
        raise InputError(f"{file}: {min(faults)[1]}")


def _faults(rows: pl.DataFrame, c: Criterion) -> Iterator[tuple[int, str]]:
    """The first row of a criterion that lies outside its range, and the first silence that counts as nothing.

    Each with its number and a sentence.
    """
    low, high = (-math.inf if c.low is None else c.low), (math.inf if c.high is None else c.high)
    outside = rows.filter(~pl.col("value").is_between(low, high))
    for number, value in outside.select("number", "value").head(1).rows():
        yield (
            number,
            f"{c.criterion} = {value:g} lies outside {c.low} to {c.high}: --range declares another range.",
        )
    if c.if_unanswered != "set_aside" and c.silence is None:
        for number in rows.filter(pl.col("status") == "unanswered")["number"].head(1):
            yield (
                number,
                f"blank answers count as {c.if_unanswered} for {c.criterion}, which has no such limit: give "
                "--range LOW:HIGH, or --if-unanswered set_aside.",
            )
