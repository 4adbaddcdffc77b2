"""Recorded scores in: marks that were given elsewhere, by judges or people, become scores of a run.

A recorded measure needs no registered metric. Its spec is kept as a label, its signature ends in
`@recorded`, and so it never mixes with a metric that is run here.
"""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args

from vivavoce.benchmarks import load
from vivavoce.errors import InputError, suggest
from vivavoce.interchange.marks import Blank, Held, Layout, Marks, read_marks
from vivavoce.records import Criterion, Direction, IfUnanswered, Measure
from vivavoce.registry import file_hash, known
from vivavoce.specs import RECORDED, Spec, matches, parse
from vivavoce.store import RunFile
from vivavoce.store.read import answers, stock
from vivavoce.store.write import put_measures, put_provenance, put_scores, refuse_other_scores

__all__ = ["Declared", "ImportedScores", "import_scores"]


class Declared(NamedTuple):
    """How a recorded criterion is read: its range (null = no limit), direction, and what silence is worth."""

    low: float | None = None
    high: float | None = None
    direction: Direction = "higher"
    if_unanswered: IfUnanswered = "worst"


_SILENT = Declared(0.0, 5.0, if_unanswered="set_aside")
# What published measures declare: the first that fits is the default.
_PUBLISHED: tuple[tuple[Spec, dict[str, Declared]], ...] = (
    (
        parse("judge(rubric=medgpt)"),
        {"demographic_bias": _SILENT, "harm": _SILENT, "*": Declared(0.0, 5.0)},
    ),
    (parse("medsynf1"), {"*": Declared(0.0, 1.0)}),
)


class ImportedScores(NamedTuple):
    """What an import of scores did, in score rows.

    `blank_scored` names blank answers that had been given marks. `probes` rows mark what a model told of its
    probabilities: those are no marks of an answer in words, and are left out.
    """

    scores: int
    ok: int
    unanswered: int
    failed: int
    skipped: int
    criteria: tuple[str, ...]
    blank_scored: tuple[str, ...]
    probes: int = 0


def import_scores(
    run: RunFile,
    file: Path,
    *,
    measure: str,
    layout: Layout,
    declared: Mapping[str, Mapping[str, Any]] | None = None,
    benchmark: str | None = None,
) -> ImportedScores:
    """Store the recorded scores of `file` for answers that the run holds; all of them, or none.

    `measure` is a spec, kept as a label. `declared` gives for a criterion, or for all under '*', fields of
    `Declared`; what is not given is as published where the measure is known. Rows on items of `benchmark`
    that its settings leave out are skipped. Importing the same marks again changes nothing. Raises
    `InputError` for a measure that is named as a metric of probabilities, which marks no answer in words.
    """
    spec = parse(measure)
    if hasattr(known("metric").get(spec.name), "probe"):
        raise InputError(
            f"{spec.name} marks what a model told of its probabilities, and imported marks are of answers in "
            "words: `viva merge` brings marks of ours, and for others --measure needs another name."
        )
    layout.check()
    if layout.blank not in get_args(Blank):
        raise InputError(f"blank is {' or '.join(get_args(Blank))}, not {layout.blank!r}.")
    found = read_marks(file, layout, _held(run, benchmark), spec)
    made = _measures(spec, found, declared or {})
    _check(file, found, made)
    with run.writing() as db:
        before = db.total_changes
        for line, key in zip(made, put_measures(db, made.values()), strict=True):
            own = [
                mark for (criterion, rater, *_), mark in found.by_key.items() if (criterion, rater) == line
            ]
            refuse_other_scores(db, key, own)
            put_scores(db, key, own)
        put_provenance(
            db,
            "import scores",
            {
                "file": file.name,
                "file_hash": file_hash(file),
                "metric": str(spec),
                "map": dict(layout.columns),
                "set": dict(layout.constants),
                "where": dict(layout.where),
                "criteria": list(found.criteria),
                "blank": layout.blank,
                "probes": found.probes,
            },
            changed=db.total_changes - before,
        )
    statuses = Counter(mark.value.status for mark in found.by_key.values())
    return ImportedScores(
        scores=len(found.by_key),
        ok=statuses["ok"],
        unanswered=statuses["unanswered"],
        failed=statuses["failed"],
        skipped=found.skipped,
        criteria=found.criteria,
        blank_scored=found.blank_scored,
        probes=found.probes,
    )


def _held(run: RunFile, benchmark: str | None) -> Held:
    """What the run holds, restricted to one benchmark if it is named."""
    exam = load(benchmark) if benchmark else None
    with run.reading() as db:
        known, items = answers(db), list(stock(db).values())
    if exam is None:
        return Held.of(items, known)
    return Held.of([i for i in items if i.benchmark == exam.items[0].benchmark], known, exam.others)


def _measures(
    spec: Spec, marks: Marks, declared: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[str, str], Measure]:
    """A measure for each criterion and rater, as declared, else as published."""
    published = next((known for partial, known in _PUBLISHED if matches(partial, spec)), {})
    text = str(spec) if spec.settings else f"{spec.name}()"
    names = set(marks.criteria)
    for name in declared:
        if name != "*" and name not in names:
            raise InputError(f"no criterion {name!r} among those imported.{suggest(name, sorted(names))}")
    made = {}
    for criterion, rater in sorted({(criterion, rater) for criterion, rater, *_ in marks.by_key}):
        base = published.get(criterion, published.get("*", Declared()))
        how = base._replace(**{**declared.get("*", {}), **declared.get(criterion, {})})
        if how.direction not in get_args(Direction) or how.if_unanswered not in get_args(IfUnanswered):
            raise InputError(
                f"{criterion}: direction is one of {', '.join(get_args(Direction))}, if_unanswered one of "
                f"{', '.join(get_args(IfUnanswered))}, not {how.direction} and {how.if_unanswered}."
            )
        ends = [end for end in (how.low, how.high) if end is not None]
        if not all(map(math.isfinite, ends)) or (len(ends) > 1 and ends[0] >= ends[1]):
            raise InputError(f"{criterion}: {how.low} to {how.high} is no range: its low end comes first.")
        made[criterion, rater] = Measure(
            metric=str(spec),
            signature=f"{text}@{RECORDED}",
            rater=rater,
            criterion=Criterion(criterion=criterion, **how._asdict()),
        )
    return made


def _check(file: Path, marks: Marks, made: Mapping[tuple[str, str], Measure]) -> None:
    """Raise `InputError` for a mark out of its range, or a silence worth a limit that is not declared."""
    for key, mark in marks.by_key.items():
        c = made[key[:2]].criterion
        value = mark.value.value
        low, high = c.low, c.high
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise InputError(
                f"{file}: {c.criterion} = {value:g} lies outside {low} to {high}: --range declares "
                "another range."
            )
        if mark.value.status == "unanswered" and c.if_unanswered != "set_aside" and c.silence is None:
            raise InputError(
                f"{file}: blank answers count as {c.if_unanswered} for {c.criterion}, which has no such "
                "limit: give --range LOW:HIGH, or --if-unanswered set_aside."
            )
