"""Recorded answers in: other people's files become responses of a run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

from vivavoce.benchmarks import Loaded
from vivavoce.benchmarks.column_names import (
    by_field,
    columns_of,
    holds_questions,
)
from vivavoce.benchmarks.table import TableItems, table_items
from vivavoce.benchmarks.table_layout import TableLayout, layout_of
from vivavoce.core.cases import NearDuplicates
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.exclusions import Faulty, exclusion_facts
from vivavoce.core.parts import with_marks
from vivavoce.core.records import Response, Role
from vivavoce.core.tables import ITEMS, Line, Lines
from vivavoce.language.near_repeats import count_with_near
from vivavoce.run.exchange.answer_rows import AnswerRow, AnswerRows, Skipped, keys_by_name
from vivavoce.run.exchange.answer_storing import put_answers
from vivavoce.run.exchange.answer_tally import AnswerTally, SecondAnswer
from vivavoce.run.exchange.import_plan import (
    BY_ROW,
    COUNTED,
    OpenQuestions,
    Plan,
    counted_repeats,
    planned,
)
from vivavoce.run.exchange.imported import Imported, file_scores_text, forgotten_text, joined_text, odd_texts
from vivavoce.run.exchange.joins import By, Join, fits_by_row
from vivavoce.run.exchange.planned_scores import with_scores
from vivavoce.run.exchange.row_counts import row_counts, same_text
from vivavoce.run.exchange.rows import count_server_error, listed, refuse_blank_twins
from vivavoce.run.exchange.sources import (
    AS_IT_IS,
    Data,
    Reading,
    Source,
    of_tables,
    read_source,
)
from vivavoce.run.exchange.table_files import exam_among
from vivavoce.run.tables.stored_benchmarks import (
    load_benchmark,
    only_benchmark,
    store_loaded,
    with_earlier_exclusions,
)
from vivavoce.store.cases import check_choice, kept_choice
from vivavoce.store.generated import made_items
from vivavoce.store.item_rows import item_keys
from vivavoce.store.read import candidate_roles
from vivavoce.store.recorded_texts import parting_recorded
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view
from vivavoce.store.write import put_candidates, put_provenance

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "text", "status", "reasoning", "finish_reason"),
    *("tokens", "seconds", "cost", "error", "probe", "confidence"),
)


class Answers(NamedTuple):
    """What a table of answers holds: the benchmark, and the rows that answer its items, read when asked for.

    `tally` counts them, `skipped` the rows that are no answer to the benchmark. `matched` gives for our
    fields the source's columns, `formats` how many questions were taken for each format, `left_out` the
    columns that are no field of ours. `plan` is how the table was read, `joined` how many rows found their
    question by id, by words or by row.
    """

    source: Source
    benchmark: Loaded
    rows: AnswerRows
    tally: AnswerTally
    skipped: Skipped
    matched: Mapping[str, str]
    formats: Mapping[str, int]
    left_out: tuple[str, ...]
    plan: Plan
    joined: Mapping[str, int]
    table: TableItems | None = None

    @property
    def distinct(self) -> Iterator[AnswerRow]:
        """The rows, each answer once."""
        return self.tally.distinct(self.rows)


def read_answers(
    run: RunFile,
    data: Data,
    *,
    benchmark: str | None,
    name: str | None,
    columns: Mapping[str, str],
    constants: Mapping[str, Any],
    reading: Reading = AS_IT_IS,
) -> Answers:
    """The answers of a table, and the benchmark that they are to: the one named, else that of the table.

    Where the table holds no questions either, it is the benchmark of the run, if that holds one alone.
    """
    columns = by_field(columns)
    loaded = with_view(run, load_benchmark, benchmark) if benchmark else None
    source = read_source(data, loaded, reading, {*columns, *constants})
    if loaded is None and source.joined is not None and (file := exam_among(source.joined)) is not None:
        loaded = _exam_in(run, file, reading)
        source = of_tables(source.joined.of_answers(file))
    with source.named():
        plan = planned(
            source,
            columns,
            constants,
            candidate_from=reading.candidate_from,
            has_exam=loaded is not None,
            scores=reading.scores,
        )
    answers = _planned_answers(run, plan, loaded, name, reading)
    if answers.plan.questions and not reading.yes:
        raise OpenQuestions(source.name, answers.plan.questions)
    return answers


def _without_misfits(plan: Plan, rows: AnswerRows, tally: AnswerTally, *, named: bool) -> Plan:
    """Take out of the rows the columns that hold no scores after all, with a sentence for each.

    Raises `InputError` where the user `named` them.
    """
    misfits = dict(rows.scores.misfits)
    if tally.scored_twice:
        reason = (
            f"{tally.scored_twice}: an answer has a second score, which --scores imports with --map rater=…"
        )
        misfits |= dict.fromkeys(rows.scores.columns, reason)
    for column, reason in misfits.items():
        sentence = f"{column!r} holds no scores from 0 to 1 of each answer ({reason})"
        if named:
            raise InputError(f"{sentence}: leave it out of --criteria.")
        plan = plan.noting(f"{sentence}: it is not taken.")
    rows.scores = rows.scores.removing(misfits)
    return plan


def _exam_in(run: RunFile, file: Path, reading: Reading) -> Loaded:
    """The questions of a file beside files of answers."""
    source = read_source(file, None, Reading(reading.dialect))
    with source.named():
        lines = layout_of(source.lines).rows(source.lines)
    loaded = table_items(lines, source.stem, reading.faulty).benchmark
    return with_view(run, with_earlier_exclusions, loaded, source.name)


def _planned_answers(
    run: RunFile, plan: Plan, exam: Loaded | None, name: str | None, reading: Reading
) -> Answers:
    """The answers of a planned table; what is learnt on the way is asked beside what the plan asks."""
    source = plan.source
    layout, with_questions = _layout_of(plan, exam, reading)
    rows_read = layout.rows(source.lines)
    if with_questions:
        loaded, table = _questions_in(run, source, layout, name, reading)
        lines = Lines(lambda: filter(_of_answer, table.lines))
    else:
        loaded, table, lines = exam or _benchmark_of(run, source), None, rows_read
    loaded = loaded.joined(made_items(run, loaded.items[0].benchmark))
    plan, scores = with_scores(plan, layout.unmatched, layout.fields, reading.scores)
    by_name = keys_by_name(loaded.items)
    plan, way = _way_to_questions(plan, layout, lines, loaded, reading.by)
    join = Join(lines, loaded.items, by_name, way)
    joined = _with_repeats(lines if with_questions else join, plan)
    rows = AnswerRows(
        joined, by_name, layout.fields, numbers_are_texts=source.in_memory, small=source.is_small,
        scores=scores,
    )  # fmt: skip
    try:
        tally = AnswerTally.of(rows)
    except SecondAnswer as error:
        if "repeat" in {*layout.fields, *plan.set}:
            raise
        return _planned_answers(run, plan.counting(error.sentence), exam, name, reading)
    plan = _without_misfits(plan, rows, tally, named=reading.scores is not None)
    used = {*COLUMNS, *ITEMS, *rows.scores.columns, rows.scores.parsed if rows.scores.columns else None}
    left_out = tuple(column for column in layout.unmatched if column not in used)
    source = source._replace(notes=(*source.notes, *plan.notes))
    formats = table.formats if table else {}
    return Answers(
        source, loaded, rows, tally, rows.skipped, layout.matched, formats, left_out, plan, join.counts, table
    )


def _questions_in(
    run: RunFile, source: Source, layout: TableLayout, name: str | None, reading: Reading
) -> tuple[Loaded, TableItems]:
    """The questions of a table as a benchmark, and what the table says of them."""
    lines = layout.rows(source.lines)
    table = table_items(lines, name or source.stem, reading.faulty, layout.levels)
    return with_view(run, with_earlier_exclusions, table.benchmark, source.name), table


def _way_to_questions(
    plan: Plan, layout: TableLayout, lines: Lines, loaded: Loaded, way: By | None
) -> tuple[Plan, By | None]:
    """What tells the question of a row: by its place is proposed where nothing else does and it fits."""
    if way is None and plan.is_nameless(layout.fields) and fits_by_row(lines, loaded.items):
        return plan.asking(*BY_ROW), "row"
    return plan, way


def _with_repeats(lines: Iterable[Line], plan: Plan) -> Iterable[Line]:
    """The rows, with their repeats numbered where these are to be counted."""
    return Lines(partial(counted_repeats, lines)) if plan.set.get("repeat") == COUNTED else lines


def _layout_of(plan: Plan, exam: Loaded | None, reading: Reading) -> tuple[TableLayout, bool]:
    """The layout of a planned table, and whether it holds the questions that it answers."""
    source, constants = plan.source, plan.constants
    present = columns_of(source.lines) if source.free else []
    with source.named():
        in_table = "question" in constants or holds_questions(present, plan.map)
        with_questions = exam is None and in_table
        refuse_faulty(reading.faulty, with_questions=with_questions)
        check_fields((*plan.map, *constants), (*COLUMNS, *ITEMS) if in_table else COLUMNS)
        layout = layout_of(
            source.lines if source.free else (),
            map=plan.map,
            set=constants,
            with_questions=with_questions,
            needed=("question", "candidate"),
            reserved=plan.scores or (),
        )
    return (layout if with_questions or not in_table else layout.asking()), with_questions


def refuse_faulty(faulty: str, *, with_questions: bool) -> None:
    """Raise `InputError` for a word that says nothing, and where the questions are not those of the table."""
    if faulty not in get_args(Faulty):
        raise InputError(f"faulty {faulty!r}: write refuse or exclude.")
    if faulty == "exclude" and not with_questions:
        raise InputError(
            "faulty=exclude is for the questions of a table, and these stand elsewhere: write it into the "
            "spec of the benchmark, as jsonl(path=exam.jsonl, faulty=exclude)."
        )


def check_fields(names: Iterable[str], fields: Sequence[str]) -> None:
    """Raise `InputError` for a field that a table of answers does not have."""
    unknown = [name for name in names if name not in fields]
    if unknown:
        raise InputError(f"answers have no field {unknown[0]!r}.{suggest(unknown[0], list(fields))}")


def _benchmark_of(run: RunFile, source: Source) -> Loaded:
    """The run's only benchmark. Raises `InputError` where there is none, or several."""
    spec = with_view(run, only_benchmark)
    if spec is None:
        columns = columns_of(source.lines) if source.free else []
        raise InputError(
            f"{source.name}: no benchmark is named, and no column holds the questions (there are "
            f'{", ".join(columns)}): name it with benchmark="jsonl(path=exam.jsonl)" (--benchmark), or the '
            'column with map={"question": "COLUMN"} (--map question=COLUMN).'
        )
    return with_view(run, load_benchmark, spec)


def _with_marks(response: Response, marks: tuple[str, str] | None, errors: Counter[str]) -> Response:
    """The response with its model's own marks of thinking; the error of a server is counted."""
    count_server_error(response, errors)
    return replace(response, meta=with_marks(response.meta, marks)) if marks else response


def _of_answer(line: Line) -> bool:
    """Whether a row of a table with questions tells of an answer, and not of a question alone."""
    return any(line.row.get(name) not in (None, "") for name in ("candidate", "text"))


def _row_counts(answers: Answers, n_forgotten: int) -> dict[str, int]:
    """What became of each row of the source."""
    skipped, table, n_answers = answers.skipped, answers.table, answers.tally.rows.height
    n_rows = skipped.rows if table is None else table.n_rows
    unnamed = 0 if table is None else table.unnamed
    return row_counts(
        n_rows,
        answers=n_answers - n_forgotten,
        forgotten=n_forgotten,
        same=len(answers.tally.is_first) - n_answers,
        questions=n_rows - unnamed - skipped.rows,
        skipped=skipped.by_item.total(),
        faulty=unnamed,
        probes=skipped.probes,
    )


def import_answers(
    run: RunFile,
    data: Data,
    *,
    benchmark: str | None = None,
    name: str | None = None,
    columns: Mapping[str, str],
    constants: Mapping[str, Any],
    roles: Mapping[str, Role],
    new_version: bool = False,
    reading: Reading = AS_IT_IS,
    own_marks: tuple[str, str] | None = None,
    near_duplicates: NearDuplicates | None = None,
) -> Imported:
    """Store the recorded answers of a file or of data in memory in one transaction: all of them, or none.

    `columns` gives for each of our names the source's column, `constants` a value for every row. A null text
    is a failed response; '' arrived empty. Importing the same again changes nothing. Rows about items
    outside the benchmark are skipped and counted; a file of nothing else is refused. Rows with a `probe`, as
    an export has them, are left out. A registered `LogReader` reads the files that it accepts. Without a
    `benchmark` it is that of the table (`read_answers`), under `name`. `own_marks` open and close
    the thinking of a model whose marks are not known. `near_duplicates` is a choice that the run keeps.
    """
    check_choice(near_duplicates)
    for candidate, role in roles.items():
        if role not in get_args(Role):
            raise InputError(f"--role {candidate}={role}: a role is candidate, floor or ceiling.")
    answers = read_answers(
        run, data, benchmark=benchmark, name=name, columns=columns, constants=constants, reading=reading
    )  # fmt: skip
    source, loaded, tally = answers.source, answers.benchmark, answers.tally
    candidates = tally.candidates
    refuse_blank_twins(candidates, source.name, "models")
    refuse_blank_twins((item for _, item, _ in tally.items), source.name, "ids")
    unknown = [name for name in roles if name not in candidates]
    if unknown:
        raise InputError(f"--role names {unknown[0]!r}, but {source.name} has no such candidate."
                         f"{suggest(unknown[0], list(candidates))}")  # fmt: skip
    if not candidates:
        raise _no_answers(answers)
    with run.writing() as db, source.unchanged():
        roles_stored = candidate_roles(db)
        store_loaded(db, loaded, loaded.items, new_version=new_version)
        items = item_keys(db, loaded.items[0].benchmark)
        known_roles = {**source.roles, **roles_stored, **roles}
        keys = put_candidates(db, {c: known_roles.get(c, "candidate") for c in candidates})
        errors = Counter[str]()
        rows = (
            row._replace(response=_with_marks(row.response, own_marks, errors)) for row in answers.distinct
        )
        with parting_recorded(db) as recorded:
            stored, n_scores = put_answers(db, rows, answers.rows.scores, items=items, candidates=keys)
        put_provenance(
            db,
            "import",
            {
                **source.record,
                "benchmark": loaded.spec,
                "signature": loaded.signature,
                "map": dict(answers.plan.map),
                "set": dict(answers.plan.set),
                "roles": {**source.roles, **roles},
                **stored._asdict(),
                **(counts.numbers if (counts := loaded.exclusion_counts) else {}),
                "skipped": answers.skipped.by_item.total(),
                "probes": answers.skipped.probes,
                "matched": dict(answers.matched),
                "formats": dict(answers.formats),
                "left_out": list(answers.left_out),
                **({"file_scores": n_scores} if n_scores else {}),
                **source.read_as,
            },
            changed=stored.new + stored.replaced,
        )
        choice = kept_choice(db, near_duplicates)
    return Imported(
        responses=tally.rows.height,
        candidates=len(candidates),
        items=len(tally.items),
        blank=int(tally.rows["blank"].sum()),
        failed=int(tally.rows["failed"].sum()),
        server_errors=errors.total(),
        escaped_line_ends=sum(recorded.escaped.values()),
        skipped=answers.skipped.by_item.total(),
        skipped_items=tuple(answers.skipped.by_item),
        **stored._asdict(),
        identical_repeats=tally.identical_repeats,
        probes=answers.skipped.probes,
        **count_with_near(loaded.items, choice, loaded.card.group_levels).facts,
        matched={ours: theirs for ours, theirs in answers.matched.items() if ours != theirs},
        formats=dict(answers.formats),
        left_out=answers.left_out,
        delimiter=source.dialect.delimiter,
        encoding=source.dialect.encoding,
        sheet=source.dialect.sheet,
        guess=source.guess,
        notes=(
            *source.notes,
            *joined_text(answers.joined),
            *same_text(answers.table),
            *forgotten_text(stored.forgotten),
            *file_scores_text(n_scores),
            *odd_texts(errors, recorded.escaped),
        ),
        row_counts=_row_counts(answers, stored.forgotten),
        file_scores=n_scores,
        joined=dict(answers.joined),
        benchmark=loaded.spec,
        benchmark_name=loaded.items[0].benchmark,
        **exclusion_facts(loaded.exclusion_counts),
    )


def _no_answers(answers: Answers) -> InputError:
    """The error for a source without an answer to the benchmark."""
    source, loaded = answers.source.name, answers.benchmark
    skipped, probes = answers.skipped.by_item, answers.skipped.probes
    if probes:
        return InputError(
            f"{source} holds no answer in words to {loaded.spec}: {probes} rows are of probes, which "
            "`viva merge` brings from the run they are from, and `viva collect --for` asks anew."
        )
    if not skipped:
        return InputError(
            f"{source} holds no answers to {loaded.spec}: each row needs a model's answer, in a column such "
            "as text or response. `viva collect` asks models. Nothing was imported."
        )
    return InputError(
        f"{source} holds {skipped.total()} answers, all to items outside {loaded.spec}: {listed(skipped)}."
        f"{_near(skipped, loaded)} Nothing was imported."
    )


def _near(skipped: Iterable[str], loaded: Loaded) -> str:
    """The item that the first of these names may stand for, in a sentence; empty without one."""
    first, ids = next(iter(skipped), ""), list(dict.fromkeys(item.item for item in loaded.items))
    # A name that the benchmark has, but its settings leave out, is no slip of the pen.
    return "" if first in {item.name for item in loaded.others} else suggest(first, ids)
