"""Recorded scores in: marks that were given elsewhere, by judges or people, become scores of a run.

A recorded measure needs no registered metric. Its spec is kept as a label, its signature ends in
`@recorded`, and so it never mixes with a metric that is run here.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from vivavoce.benchmarks import load
from vivavoce.errors import InputError, suggest
from vivavoce.interchange.rows import by_name, named, number_of, text_of
from vivavoce.records import Criterion, Direction, IfUnanswered, Item, Measure, Value
from vivavoce.registry import file_hash
from vivavoce.specs import Spec, matches, parse
from vivavoce.store import RunFile
from vivavoce.store.read import answers, measures, stock
from vivavoce.store.write import Mark, put_measures, put_provenance, put_scores, refuse_other_scores
from vivavoce.tables import Line, read_lines
from vivavoce.text import is_blank

__all__ = ["Declared", "ImportedScores", "import_scores"]

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "criterion", "value", "rater", "pass_no", "ballot"),
    *("position", "note"),
)
_NEEDED = {
    "item": "--map item=COLUMN",
    "candidate": "--map candidate=COLUMN or --set candidate=NAME",
}
Blank = Literal["unanswered", "recorded"]
MarkKey = tuple[str, str, int, int, str]
"""Criterion, rater, response key, pass and ballot."""


class Declared(NamedTuple):
    """How a recorded criterion is to be read: its range (null = no limit), direction, and what silence is
    worth.
    """

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
    """What an import of scores did, in score rows; `blank_scored` names blank answers that had been given
    marks.
    """

    scores: int
    ok: int
    unanswered: int
    failed: int
    skipped: int
    criteria: tuple[str, ...]
    blank_scored: tuple[str, ...]


def import_scores(
    run: RunFile,
    file: Path,
    *,
    measure: str,
    columns: Mapping[str, str],
    constants: Mapping[str, str],
    criteria: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    status: str | None = None,
    blank: Blank = "unanswered",
    declared: Mapping[str, Mapping[str, Any]] | None = None,
    benchmark: str | None = None,
) -> ImportedScores:
    """Store the recorded scores of `file` for answers that the run holds; all of them, or none.

    Wide files have a column per criterion, named in `criteria`; long files have `criterion` and `value`.
    `where` keeps the rows whose columns have these values. In the column `status` the word ok means ok,
    any other failed, with the word as note. A blank answer is `unanswered` whatever was recorded for it,
    unless `blank` is `recorded`. `declared` gives for a criterion, or for all under '*', fields of
    `Declared`; what is not given is as published where the measure is known. Rows on other items of
    `benchmark`, if given, are skipped.
    """
    spec = parse(measure)
    fields = (*COLUMNS, "id", *criteria)
    if wrong := [name for name in (*columns, *constants) if name not in fields]:
        raise InputError(f"scores have no field {wrong[0]!r}.{suggest(wrong[0], list(fields))}")
    if blank not in get_args(Blank):
        raise InputError(f"blank is {' or '.join(get_args(Blank))}, not {blank!r}.")
    exam = load(benchmark) if benchmark else None
    others = by_name(exam.others) if exam else {}
    with run.reading() as db:
        known, items = answers(db), list(stock(db).values())
    if exam:
        items = [item for item in items if item.benchmark == exam.items[0].benchmark]
    stocked, shared = by_name(items), _shared(items)
    chosen = [line for line in read_lines(file) if _fits(line, where or {})]
    if not chosen:
        raise InputError(f"{file}: no row has {', '.join(f'{k}={v}' for k, v in (where or {}).items())}.")
    if _variant_of_the_measure(spec, columns, where or {}):
        chosen = [Line(at, {k: v for k, v in row.items() if k != "variant"}) for at, row in chosen]
    marks: dict[MarkKey, Mark] = {}
    scored: list[str] = []
    skipped, lost = 0, Counter[str]()
    long: set[str] = set()
    for line in named(chosen, columns, constants, _NEEDED):
        if line.row.keys() >= {"criterion", "value"}:
            long.add(text_of(line, "criterion") or "value")
        names = (text_of(line, "item") or "", text_of(line, "variant") or "")
        item = stocked.get(names)
        if names in others:
            skipped += 1
            continue
        if names in shared:
            raise InputError(
                f"{line.where}: several benchmarks of this run have an item {' '.join(names).strip()}: "
                "--benchmark says which."
            )
        if item is None:
            lost.update([f"the item {' '.join(names).strip()}"])
            continue
        candidate, repeat = (
            text_of(line, "candidate") or "",
            number_of(line.row, "repeat", int, line.where, 1),
        )
        edit = text_of(line, "edit") or ""
        answer = known.get((item.benchmark, item.item, item.variant, candidate, repeat, edit))
        if answer is None:
            lost.update([f"an answer of {candidate} to {item.name}, repeat {repeat}"])
            continue
        silent = blank == "unanswered" and answer.text is not None and is_blank(answer.text)
        for criterion, value in _values(line, criteria, status):
            if silent:
                if value.value is not None:
                    scored.append(f"{candidate}, {item.name}, repeat {repeat}")
                value = Value(None, note="the answer is blank", status="unanswered")
            rater = text_of(line, "rater") or _rater(spec)
            pass_no = number_of(line.row, "pass_no", int, line.where, 1)
            ballot = text_of(line, "ballot") or ""
            position = number_of(line.row, "position", int, line.where)
            key = (criterion, rater, answer.key, pass_no, ballot)
            mark = Mark(answer.key, value, pass_no=pass_no, ballot=ballot, position=position)
            if marks.get(key, mark) != mark:
                raise InputError(
                    f"{line.where}: a second mark for {criterion} of {candidate}, {item.name}, repeat "
                    f"{repeat}; "
                    "--where chooses rows, --map pass_no=… or --map rater=… tells marks apart."
                )
            marks[key] = mark
    if lost:
        raise InputError(
            f"{lost.total()} rows of {file} are about what this run does not hold, such as "
            f"{next(iter(lost))}: "
            "import the answers first, or choose rows with --where. Nothing was imported."
        )
    names_of = tuple(dict.fromkeys(criterion for criterion, *_ in marks))
    if long and (absent := [name for name in criteria if name not in long]):
        raise InputError(f"{file}: no row marks {absent[0]!r}.{suggest(absent[0], sorted(long))}")
    made = _measures(spec, {(c, r) for c, r, *_ in marks}, declared or {})
    _check(file, marks, made)
    with run.writing() as db:
        _refuse_other_declarations(db, made.values())
        keys = dict(zip(made, put_measures(db, made.values()), strict=True))
        for line_of, key_of in keys.items():
            own = [mark for key, mark in marks.items() if key[:2] == line_of]
            refuse_other_scores(db, key_of, own)
            put_scores(db, key_of, own)
        put_provenance(
            db,
            "import scores",
            {
                "file": file.name,
                "file_hash": file_hash(file),
                "measure": str(spec),
                "where": dict(where or {}),
                "map": dict(columns),
                "set": dict(constants),
                "blank": blank,
                "criteria": list(names_of),
            },
        )
    statuses = Counter(mark.value.status for mark in marks.values())
    return ImportedScores(
        scores=len(marks),
        ok=statuses["ok"],
        unanswered=statuses["unanswered"],
        failed=statuses["failed"],
        skipped=skipped,
        criteria=names_of,
        blank_scored=tuple(dict.fromkeys(scored)),
    )


def _fits(line: Line, where: Mapping[str, str]) -> bool:
    """True if the row's columns have the values asked for. Raises `InputError` for a column that is not
    there.
    """
    for column, wanted in where.items():
        if column not in line.row:
            near = suggest(column, list(line.row))
            raise InputError(f"{line.where}: --where {column}={wanted}: no column {column!r}.{near}")
    return all(str(line.row[column]) == wanted for column, wanted in where.items())


def _shared(items: Iterable[Item]) -> set[tuple[str, str]]:
    """The names that items of several benchmarks answer to."""
    holders: dict[tuple[str, str], set[str]] = {}
    for item in items:
        for name in by_name([item]):
            holders.setdefault(name, set()).add(item.benchmark)
    return {name for name, benchmarks in holders.items() if len(benchmarks) > 1}


def _variant_of_the_measure(spec: Spec, columns: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """True if the rows were chosen by a column `variant` that is the measure's, not the items'."""
    own = "variant" in where and "variant" not in columns.values()
    return own and spec.settings.get("variant") == where["variant"]


def _values(line: Line, criteria: Sequence[str], status: str | None) -> Iterator[tuple[str, Value]]:
    """The criteria of a row with their marks: a column each, or one named in the column `criterion`."""
    row = line.row
    if status is not None and status not in row:
        raise InputError(f"{line.where}: --status {status}: no such column.{suggest(status, list(row))}")
    word = "ok" if status is None else str(row[status])
    note = text_of(line, "note")
    if "value" in row and ("criterion" in row or not criteria):
        pairs = [(text_of(line, "criterion") or "value", "value")]
        pairs = [pair for pair in pairs if not criteria or pair[0] in criteria]
    elif criteria:
        pairs = [(name, name) for name in criteria]
    else:
        raise InputError(
            f"{line.where}: neither a column 'value' nor --criteria: name the columns that hold marks "
            "(--criteria a,b), or map value and criterion."
        )
    for criterion, column in pairs:
        if column not in row:
            raise InputError(
                f"{line.where}: no column {column!r} for a criterion.{suggest(column, list(row))}"
            )
        if word != "ok":  # what stands in the place of the mark, such as "2-3", need not be a number
            yield criterion, Value(None, note=word, status="failed")
            continue
        value = number_of(row, column, float, line.where)
        if value is None:
            yield criterion, Value(None, note=note or "no value was recorded", status="failed")
        else:
            yield criterion, Value(float(value), note=note)


def _rater(spec: Spec) -> str:
    model = spec.settings.get("model")
    return model if isinstance(model, str) else ""


def _measures(
    spec: Spec, lines: set[tuple[str, str]], declared: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[str, str], Measure]:
    """A measure for each criterion and rater, as declared, else as published."""
    published = next((known for partial, known in _PUBLISHED if matches(partial, spec)), {})
    text = str(spec) if spec.settings else f"{spec.name}()"
    names = {criterion for criterion, _ in lines}
    for name in declared:
        if name != "*" and name not in names:
            raise InputError(f"no criterion {name!r} among those imported.{suggest(name, sorted(names))}")
    made = {}
    for criterion, rater in sorted(lines):
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
            signature=f"{text}@recorded",
            rater=rater,
            criterion=Criterion(criterion=criterion, **how._asdict()),
        )
    return made


def _check(file: Path, marks: Mapping[MarkKey, Mark], made: Mapping[tuple[str, str], Measure]) -> None:
    """Raise `InputError` for a mark outside its range, or a silence that counts as a limit that there is
    not.
    """
    for key, mark in marks.items():
        c = made[key[:2]].criterion
        value = mark.value.value
        low, high = c.low, c.high
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise InputError(
                f"{file}: {c.criterion} = {value:g} lies outside {low} to {high}: --range declares "
                "another range."
            )
        silent_end = low if (c.if_unanswered == "worst") == (c.direction == "higher") else high
        if mark.value.status == "unanswered" and c.if_unanswered != "set_aside" and silent_end is None:
            raise InputError(
                f"{file}: blank answers count as {c.if_unanswered} for {c.criterion}, which has no such "
                "limit: give "
                "--range LOW:HIGH, or --if-unanswered set_aside."
            )


def _refuse_other_declarations(db: Any, made: Any) -> None:
    """Raise `InputError` if a measure is in the run under another declaration."""
    there = {(m.signature, m.criterion.criterion, m.rater): m for _, m in measures(db)}
    for measure in made:
        old = there.get((measure.signature, measure.criterion.criterion, measure.rater))
        if old and old.criterion != measure.criterion:
            raise InputError(
                f"{measure.metric}, criterion {measure.criterion.criterion}, is declared otherwise in "
                "this run: "
                f"{old.criterion.low} to {old.criterion.high}, {old.criterion.direction} is better, if "
                "unanswered "
                f"{old.criterion.if_unanswered}. Declare it the same, or import into another run."
            )
