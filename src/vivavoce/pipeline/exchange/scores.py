"""Recorded scores in: marks that were given elsewhere, by judges or people, become scores of a run.

A recorded measure needs no registered metric. Its spec is kept as a label, its signature ends in
`@recorded`, and so it never mixes with a metric that is run here.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.records import Criterion, Direction, IfUnanswered, Item, ItemKey, Measure, Value
from vivavoce.core.specs import RECORDED, Spec, matches, parse
from vivavoce.core.tables import AS_FOUND, Dialect, Line
from vivavoce.core.text import is_blank
from vivavoce.logprobs.requests import scores_logprobs
from vivavoce.pipeline.exchange.label_probabilities import RowProbability, put_imported_draw, row_probability
from vivavoce.pipeline.exchange.rows import by_name, listed, named, number_of, of_probe, renamed, text_of
from vivavoce.pipeline.exchange.score_layout import Blank, Layout
from vivavoce.pipeline.exchange.sources import Data, Reading, Source, read_source
from vivavoce.pipeline.stored_benchmarks import load_benchmark
from vivavoce.store.read import StoredResponse, items_by_id, stored_responses
from vivavoce.store.runfile import RunFile
from vivavoce.store.write import ScoreRow, put_measures, put_provenance, put_scores, refuse_other_scores

_NEEDED = {
    "item": "--map item=COLUMN",
    "candidate": "--map candidate=COLUMN or --set candidate=NAME",
}
ScoreKey = tuple[str, str, int, int, str]
"""Criterion, rater, response key, pass and ballot."""


class Scorable(NamedTuple):
    """What marks can be about: the run's items by name, without those a selection leaves out; its answers."""

    items: Mapping[tuple[str, str], Item]
    shared: frozenset[tuple[str, str]]
    stored_responses: Mapping[tuple[str, str, str, str, int, str], StoredResponse]

    @classmethod
    def of(
        cls,
        items: Sequence[Item],
        stored_responses: Mapping[tuple[str, str, str, str, int, str], StoredResponse],
        others: Iterable[Item] = (),
    ) -> "Scorable":
        """The items by every name they answer to; a name that two benchmarks share says nothing."""
        holders: dict[tuple[str, str], set[str]] = {}
        for item in items:
            for name in by_name([item]):
                holders.setdefault(name, set()).add(item.benchmark)
        shared = frozenset(name for name, benchmarks in holders.items() if len(benchmarks) > 1)
        unselected = by_name(others)
        selected = {name: item for name, item in by_name(items).items() if name not in unselected}
        return cls(selected, shared, stored_responses)


class FileScores(NamedTuple):
    """The marks of a file by their natural key; blank answers that had been given some; how many rows are
    about each item outside the benchmark, and how many about probes; the probabilities of a draw of labels.
    """

    by_key: dict[ScoreKey, ScoreRow]
    blank_scored: tuple[str, ...]
    skipped: Counter[str]
    probes: int
    draw: tuple[RowProbability, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria marked, in the file's order."""
        return tuple(dict.fromkeys(criterion for criterion, *_ in self.by_key))


class _Match(NamedTuple):
    """The answer that a row marks, under its key, its item, and the words for it."""

    answer: StoredResponse
    item: ItemKey
    words: str


def read_marks(source: Source, layout: Layout, scorable: Scorable, spec: Spec) -> FileScores:
    """The marks of a source for answers of the run. A rater is who the file says, else the spec's model.

    Marks of probes are left out: they are of no answer in words. Rows about items that the run, or the
    benchmark chosen, does not have are skipped and counted. Raises `InputError` for a row about an answer
    that the run does not hold, a second mark under one key, a criterion that no row marks, or a file of
    which nothing but such rows, or marks of probes, is chosen.
    """
    scores: dict[ScoreKey, ScoreRow] = {}
    blank_scored: dict[str, None] = {}
    unmatched: Counter[str] = Counter()
    criteria: dict[str, None] = {}  # that a long file names, chosen or not
    skipped: Counter[str] = Counter()
    draw: list[RowProbability] = []
    probes = 0
    matched = layout.match(source)
    lines = renamed(_selected_rows(source, layout, spec), matched, layout.map, layout.constants)
    for line in named(lines, matched, _NEEDED):
        if of_probe(line) and "probe" not in layout.criteria:
            probes += 1
            continue
        names = (text_of(line, "item") or "", text_of(line, "variant") or "")
        match = _find_response(line, names, scorable)
        if "value" in line.row and "criterion" in line.row:
            criteria[text_of(line, "criterion") or "value"] = None
        if match is None:
            skipped[" ".join(names).strip()] += 1
        elif isinstance(match, str):
            unmatched[match] += 1
        else:
            if layout.of_draw:
                draw.append(row_probability(line, match.item))
            if _add_marks(scores, line, match, layout, spec):
                blank_scored[match.words] = None
    if unmatched:
        raise InputError(
            f"{unmatched.total()} rows of {source.name} are about what this run does not hold, such as "
            f"{next(iter(unmatched))}: import the answers first, or choose rows with --where. Nothing was "
            "imported."
        )
    if probes and not (scores or skipped):
        raise InputError(
            f"{source.name}: the {probes} rows chosen mark what models told of their probabilities, no "
            "answer in words: `viva merge` brings such marks from the run they are from."
        )
    if skipped and not scores:
        raise InputError(
            f"{source.name} holds {skipped.total()} rows of scores, all about items outside the benchmark: "
            f"{listed(skipped)}. Nothing was imported."
        )
    if criteria and (absent := [name for name in layout.criteria if name not in criteria]):
        raise InputError(f"{source.name}: no row marks {absent[0]!r}.{suggest(absent[0], list(criteria))}")
    return FileScores(scores, tuple(blank_scored), skipped, probes, tuple(draw))


def _add_marks(
    scores: dict[ScoreKey, ScoreRow], line: Line, match: "_Match", layout: Layout, spec: Spec
) -> bool:
    """Add the marks of a row. True if a blank answer had been given one.

    Raises `InputError` for a second mark under one key that says something else.
    """
    model = spec.settings.get("model")
    text = match.answer.text  # null: it never arrived, so the candidate was not silent
    blank = layout.blank == "unanswered" and text is not None and is_blank(text)
    rater = text_of(line, "rater") or (model if isinstance(model, str) else "")
    scored = False
    for criterion, value in _values(line, layout):
        scored = scored or (blank and value.value is not None)
        score = ScoreRow(
            match.answer.key,
            Value(None, note="the answer is blank", status="unanswered") if blank else value,
            pass_no=number_of(line.row, "pass_no", int, line.where, 1, least=1),
            ballot=text_of(line, "ballot") or "",
            position=number_of(line.row, "position", int, line.where, least=1),
        )
        key = (criterion, rater, score.response, score.pass_no, score.ballot)
        if scores.setdefault(key, score) != score:
            raise InputError(
                f"{line.where}: a second mark for {criterion} of {match.words}; --where chooses "
                "rows, --map pass_no=… or --map rater=… tells marks apart."
            )
    return scored


def _selected_rows(source: Source, layout: Layout, spec: Spec) -> Iterator[Line]:
    """The rows that `where` chooses. Raises `InputError` if there is none, or a column is not there."""
    where = layout.where
    # f1.csv has a column `variant` for the measure's setting: rows chosen by it name no variant of an item.
    by_variant = "variant" in where and "variant" not in layout.columns.values()
    of_measure = by_variant and spec.settings.get("variant") == where["variant"]
    empty = True
    for line in map(layout.with_fields, source.lines):
        for column in where:
            if column not in line.row:
                near = suggest(column, list(line.row))
                raise InputError(
                    f"{line.where}: --where {column}={where[column]}: no column {column!r}.{near}"
                )
        if all(str(line.row[column]) == value for column, value in where.items()):
            empty = False
            if of_measure:
                line = Line(line.where, {k: v for k, v in line.row.items() if k != "variant"})
            yield line
    if empty:
        raise InputError(f"{source.name}: no row has {', '.join(f'{k}={v}' for k, v in where.items())}.")


def _find_response(line: Line, names: tuple[str, str], scorable: Scorable) -> _Match | str | None:
    """The answer a row is about; the words for one that the run does not hold; null for an item outside."""
    if names in scorable.shared:
        raise InputError(
            f"{line.where}: several benchmarks of this run have an item {' '.join(names).strip()}: "
            "--benchmark says which."
        )
    item = scorable.items.get(names)
    if item is None:
        return None
    candidate = text_of(line, "candidate") or ""
    repeat = number_of(line.row, "repeat", int, line.where, 1, least=1)
    place = (item.benchmark, item.item, item.variant, candidate, repeat, text_of(line, "edit") or "")
    words = f"{candidate}, {item.name}, repeat {repeat}"
    answer = scorable.stored_responses.get(place)
    return (
        f"an answer of {candidate} to {item.name}, repeat {repeat}"
        if answer is None
        else _Match(answer, place[:3], words)
    )


def _values(line: Line, layout: Layout) -> Iterator[tuple[str, Value]]:
    """The criteria of a row with their marks: a column each, or one named in the column `criterion`."""
    row, status = line.row, layout.status
    if status is not None and status not in row:
        raise InputError(f"{line.where}: --status {status}: no such column.{suggest(status, list(row))}")
    word = "ok" if status is None else str(row[status])
    note = text_of(line, "note")
    for criterion, column in _columns_of_criteria(line, layout.criteria):
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


def _columns_of_criteria(line: Line, criteria: Sequence[str]) -> list[tuple[str, str]]:
    """The criteria that a row scores, each with its column."""
    if "value" in line.row and ("criterion" in line.row or not criteria):
        criterion = text_of(line, "criterion") or "value"
        return [(criterion, "value")] if not criteria or criterion in criteria else []
    if criteria:
        return [(name, name) for name in criteria]
    raise InputError(
        f"{line.where}: neither a column 'value' nor --criteria: name the columns that hold marks "
        "(--criteria a,b), or map value and criterion."
    )


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


class ImportedScores(NamedTuple):
    """What an import of scores did, in score rows.

    `skipped` rows are about items outside the benchmark, which `skipped_items` names. `blank_scored` names
    blank answers that had been given marks. `probes` rows mark what a model told of its
    probabilities: those are no marks of an answer in words, and are left out. The rest is as in `Imported`.
    """

    scores: int
    ok: int
    unanswered: int
    failed: int
    skipped: int
    criteria: tuple[str, ...]
    blank_scored: tuple[str, ...]
    probes: int = 0
    skipped_items: tuple[str, ...] = ()
    matched: Mapping[str, str] = {}
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    guess: str = ""


def import_scores(
    run: RunFile,
    data: Data,
    *,
    measure: str,
    layout: Layout,
    declared: Mapping[str, Mapping[str, Any]] | None = None,
    benchmark: str | None = None,
    dialect: Dialect = AS_FOUND,
) -> ImportedScores:
    """Store the recorded scores of a file or of data in memory for answers of the run; all, or none.

    `measure` is a spec, kept as a label. `declared` gives for a criterion, or for all under '*', fields of
    `Declared`; what is not given is as published where the measure is known. Rows about items that the run,
    or `benchmark` with its settings, does not have are skipped and counted, as in `import_answers`. Importing
    the same marks again changes nothing. A `probability` that `layout` names is kept as the draw of labels.
    Raises `InputError` for a measure that is named as a metric of probabilities, which marks no answer in
    words.
    """
    spec = parse(measure)
    if scores_logprobs(spec):
        raise InputError(
            f"{spec.name} marks what a model told of its probabilities, and imported marks are of answers in "
            "words: `viva merge` brings marks of ours, and for others --measure needs another name."
        )
    layout.check()
    if layout.blank not in get_args(Blank):
        raise InputError(f"blank is {' or '.join(get_args(Blank))}, not {layout.blank!r}.")
    source = read_source(data, None, Reading(dialect))
    scores = read_marks(source, layout, _scorable(run, benchmark), spec)
    matched = layout.match(source)
    measures = _measures(spec, scores, declared or {})
    _check(source.name, scores, measures)
    with run.writing() as db:
        before = db.total_changes
        if layout.of_draw:
            put_imported_draw(db, scores.draw, measures.values())
        for name, key in zip(measures, put_measures(db, measures.values()), strict=True):
            of_measure = [
                score for (criterion, rater, *_), score in scores.by_key.items() if (criterion, rater) == name
            ]
            refuse_other_scores(db, key, of_measure)
            put_scores(db, key, of_measure)
        put_provenance(
            db,
            "import scores",
            {
                **source.record,
                "metric": str(spec),
                "map": dict(layout.columns),
                "set": dict(layout.constants),
                "where": dict(layout.where),
                "criteria": list(scores.criteria),
                "blank": layout.blank,
                "probes": scores.probes,
                "matched": matched,
                **source.read_as,
            },
            changed=db.total_changes - before,
        )
    statuses = Counter(score.value.status for score in scores.by_key.values())
    return ImportedScores(
        scores=len(scores.by_key),
        ok=statuses["ok"],
        unanswered=statuses["unanswered"],
        failed=statuses["failed"],
        skipped=scores.skipped.total(),
        skipped_items=tuple(scores.skipped),
        matched={ours: theirs for ours, theirs in matched.items() if ours != theirs},
        criteria=scores.criteria,
        blank_scored=scores.blank_scored,
        probes=scores.probes,
        **source.dialect._asdict(),
        guess=source.guess,
    )


def _scorable(run: RunFile, benchmark: str | None) -> Scorable:
    """What the run holds, restricted to one benchmark if it is named."""
    loaded = load_benchmark(run, benchmark) if benchmark else None
    with run.reading() as db:
        stored, items = stored_responses(db), list(items_by_id(db).values())
    if loaded is None:
        return Scorable.of(items, stored)
    return Scorable.of([i for i in items if i.benchmark == loaded.items[0].benchmark], stored, loaded.others)


def _measures(
    spec: Spec, scores: FileScores, declared: Mapping[str, Mapping[str, Any]]
) -> dict[tuple[str, str], Measure]:
    """A measure for each criterion and rater, as declared, else as published."""
    published = next((declarations for partial, declarations in _PUBLISHED if matches(partial, spec)), {})
    text = str(spec) if spec.settings else f"{spec.name}()"
    names = set(scores.criteria)
    for name in declared:
        if name != "*" and name not in names:
            raise InputError(f"no criterion {name!r} among those imported.{suggest(name, sorted(names))}")
    measures = {}
    for criterion, rater in sorted({(criterion, rater) for criterion, rater, *_ in scores.by_key}):
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


def _check(file: str, scores: FileScores, measures: Mapping[tuple[str, str], Measure]) -> None:
    """Raise `InputError` for a mark out of its range, or a silence worth a limit that is not declared."""
    for key, score in scores.by_key.items():
        c = measures[key[:2]].criterion
        value = score.value.value
        low, high = c.low, c.high
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise InputError(
                f"{file}: {c.criterion} = {value:g} lies outside {low} to {high}: --range declares "
                "another range."
            )
        if score.value.status == "unanswered" and c.if_unanswered != "set_aside" and c.silence is None:
            raise InputError(
                f"{file}: blank answers count as {c.if_unanswered} for {c.criterion}, which has no such "
                "limit: give --range LOW:HIGH, or --if-unanswered set_aside."
            )
