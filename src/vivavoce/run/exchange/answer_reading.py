"""What a table of answers holds: its plan, its questions, and the rows that answer them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.exclusions import Faulty
from vivavoce.core.records import Item
from vivavoce.core.tables import ITEMS, Line, Lines
from vivavoce.logprobs.options import options_of
from vivavoce.run.exchange.answer_rows import AnswerRow, AnswerRows, Skipped, keys_by_name
from vivavoce.run.exchange.answer_tally import AnswerTally, SecondAnswer
from vivavoce.run.exchange.import_plan import (
    BY_ROW,
    OpenQuestions,
    Plan,
    planned,
)
from vivavoce.run.exchange.joins import By, Join, fits_by_row
from vivavoce.run.exchange.numbered_repeats import (
    COUNTED,
    counted_repeats,
    counts_from_zero,
    from_one,
    numbering_of,
)
from vivavoce.run.exchange.option_likelihoods import (
    LOGPROBS,
    PROBABILITIES,
    OptionLikelihoods,
    option_figures,
)
from vivavoce.run.exchange.planned_scores import with_scores
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
    with_earlier_exclusions,
)
from vivavoce.store.generated import made_items
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "text", "status", "reasoning", "finish_reason"),
    *("tokens", "seconds", "cost", "error", "probe", "confidence", LOGPROBS, PROBABILITIES),
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


def _without_misfits(plan: Plan, rows: AnswerRows, tally: AnswerTally, *, named: Reading) -> Plan:
    """Take out of the rows the columns that hold no scores after all, with a sentence for each.

    Raises `InputError` where the user `named` them.
    """
    misfits = dict(rows.scores.misfits)
    of_people = [rater.column for rater in rows.scores.raters]
    if tally.scored_twice:
        reason = (
            f"{tally.scored_twice}: an answer has a second score, which --scores imports with --map rater=…"
        )
        misfits |= dict.fromkeys((*rows.scores.columns, *of_people), reason)
    for column, reason in misfits.items():
        kind, option, words = (
            ("scores of a person", "--raters", named.raters)
            if column in of_people
            else ("scores from 0 to 1 of each answer", "--criteria", named.scores)
        )
        sentence = f"{column!r} holds no {kind} ({reason})"
        if words is not None:
            raise InputError(f"{sentence}: leave it out of {option}.")
        plan = plan.noting(f"{sentence}: it is not taken.")
    rows.scores = rows.scores.removing(misfits)
    return plan


def _without_unfit(
    plan: Plan,
    likelihoods: OptionLikelihoods | None,
    skipped: Skipped,
    tally: AnswerTally,
    layout: TableLayout,
) -> tuple[Plan, OptionLikelihoods | None]:
    """The plan with a sentence on figures that are not of their questions' options, and null for no others.

    Raises `InputError` where there are no answers in words either.
    """
    if likelihoods is None or not skipped.unfit:
        return plan, likelihoods
    columns, first = str(likelihoods.figures), f"({skipped.why_unfit})"
    if tally.of_options:
        of_rows = "figures of options in 1 row" if skipped.unfit == 1 else f"those of {skipped.unfit:,} rows"
        note = f"{columns}: {of_rows} do not fit the question, and are left out {first}."
        return plan.noting(note), likelihoods
    sentence = f"{columns}: no figures of the questions' options {first}"
    if "text" not in layout.fields:
        raise InputError(f"{plan.source.name}: {sentence}, and there are no answers in words.")
    return plan.noting(f"{sentence}: they are not taken."), None


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
    n_options = max((len(options_of(item)) for item in loaded.items), default=0)
    plan, scores = with_scores(
        plan, layout.unmatched, layout.fields, reading.scores, reading.raters, n_options=n_options
    )
    by_name = keys_by_name(loaded.items)
    likelihoods = _likelihoods(plan, layout, loaded.items)
    plan, way = _way_to_questions(plan, layout, lines, loaded, reading.by)
    join = Join(lines, loaded.items, by_name, way)
    plan, joined = _with_repeats(lines if with_questions else join, plan, layout)
    rows = AnswerRows(
        joined, by_name, layout.fields, numbers_are_texts=source.in_memory, small=source.is_small,
        scores=scores, likelihoods=likelihoods,
    )  # fmt: skip
    tally = _tally_or_plan(plan, rows, joined, layout)
    if isinstance(tally, Plan):
        return _planned_answers(run, tally, exam, name, reading)
    plan = _without_misfits(plan, rows, tally, named=reading)
    plan, likelihoods = _without_unfit(plan, likelihoods, rows.skipped, tally, layout)
    fields = {*COLUMNS, *ITEMS} - {LOGPROBS, PROBABILITIES}
    used = {*fields, *rows.scores.used, *_figures_in(layout.unmatched, likelihoods)}
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


def _likelihoods(plan: Plan, layout: TableLayout, items: Sequence[Item]) -> OptionLikelihoods | None:
    """What the table says of the options of these items, in columns for it; null without such."""
    options = Counter(filter(None, map(options_of, items))).most_common(1)
    if not plan.source.free or not options:
        return None
    figures = option_figures(layout.unmatched, plan.map, plan.constants, plan.values, options[0][0])
    if figures is None:
        return None
    return OptionLikelihoods(figures, {(i.benchmark, i.item, i.variant): i for i in items})


def _figures_in(columns: Sequence[str], likelihoods: OptionLikelihoods | None) -> list[str]:
    """The columns with figures of options."""
    return [] if likelihoods is None else list(filter(likelihoods.figures.reads, columns))


def _tally_or_plan(
    plan: Plan, rows: AnswerRows, lines: Iterable[Line], layout: TableLayout
) -> AnswerTally | Plan:
    """The tally of the rows; else the plan that says what tells repeats apart, where nothing does so far.

    That is a column that numbers them, else their order, but for rows that are the same.
    """
    sentence = ""
    try:
        tally = AnswerTally.of(rows)
    except SecondAnswer as error:
        if "repeat" in {*layout.fields, *plan.set}:
            raise
        sentence = error.sentence
    else:
        if "repeat" in {*layout.fields, *plan.set} or tally.is_first.all():
            return tally
    return _plan_of_repeats(plan, lines, layout, sentence) or tally


def _plan_of_repeats(plan: Plan, lines: Iterable[Line], layout: TableLayout, sentence: str) -> Plan | None:
    """The plan that says what tells second answers apart, of which `sentence` says one; null for none."""
    numbering = numbering_of(lines, layout.unmatched) if plan.source.free else None
    if numbering is not None and (sentence or numbering.by_name):  # the same rows may be of several raters
        return plan.numbering(numbering, sentence or "rows of one question and candidate say the same")
    return plan.counting(sentence) if sentence else None


def _with_repeats(lines: Iterable[Line], plan: Plan, layout: TableLayout) -> tuple[Plan, Iterable[Line]]:
    """The rows with repeats from 1, where these are to be counted and where a column begins at 0."""
    if plan.set.get("repeat") == COUNTED:
        return plan, Lines(partial(counted_repeats, lines))
    column = layout.fields.get("repeat")
    if column is None or not plan.source.free:
        return plan, lines
    with plan.source.named():
        if not counts_from_zero(lines, column):
            return plan, lines
    return plan.noting(f"{column!r} counts from 0: a repeat is one more."), Lines(partial(from_one, lines))


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


def _of_answer(line: Line) -> bool:
    """Whether a row of a table with questions tells of an answer, and not of a question alone."""
    return any(line.row.get(name) not in (None, "") for name in ("candidate", "text"))
