"""`viva import`: recorded answers, or recorded scores, into a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.annotations import AnnotationOptions, are_annotations, store_annotations
from vivavoce.cli.import_output import print_answers, print_reviews, print_scores, show, show_logs
from vivavoce.cli.open_questions import saying_the_command
from vivavoce.cli.options import (
    Delimiter,
    Direction,
    Encoding,
    IfUnanswered,
    Json,
    Map,
    ModelsInColumns,
    NearDuplicates,
    Plugin,
    Quiet,
    Range,
    Role,
    RunPath,
    Set,
    Sheet,
    Where,
    benchmark_spec,
    open_run,
    parse_by_criterion,
    parse_pairs,
    parse_ranges,
)
from vivavoce.core.errors import InputError


def import_(
    context: typer.Context,
    run: RunPath,
    file: Annotated[
        list[Path],
        typer.Argument(
            help="Answers or scores: .jsonl, .json, .csv, .tsv, .xlsx, .parquet, one perhaps the exam; "
            "or logs of other tools. Several, folders, or patterns with *.",
            metavar="FILE",
        ),
    ],
    reader: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="The tool whose logs they are; default: told by their content.",
            metavar="NAME",
            autocompletion=completion.registered("readers"),
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            callback=benchmark_spec,
            help="The benchmark that was answered, such as jsonl:path=FILE; default: the questions of the "
            "table, else the run's only benchmark.",
            metavar="BENCHMARK",
            autocompletion=completion.registered("benchmarks"),
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="The name of the benchmark of a table with questions; default: the file's.", metavar="NAME"
        ),
    ] = None,
    map: Map = [],
    set: Set = [],
    models_in_columns: ModelsInColumns = [],
    candidate_from: Annotated[
        str | None,
        typer.Option(
            help="Answers: where in a file's path its model stands, such as results/{candidate}_temp*.json.",
            metavar="PATTERN",
        ),
    ] = None,
    by: Annotated[
        Literal["id", "words", "row"] | None,
        typer.Option(
            help="Answers: what tells the question of a row; default: its id, else the question's words.",
            metavar="id|words|row",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Answers: take what is proposed, and do not ask.")
    ] = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    role: Role = [],
    reasoning_marks: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--reasoning-marks",
            help="Answers, logs: the marks that open and close thinking, if no known model writes them.",
            metavar="OPEN CLOSE",
        ),
    ] = None,
    new_version: Annotated[
        bool, typer.Option("--new-version", help="Accept items that have changed.")
    ] = False,
    scores: Annotated[bool, typer.Option("--scores", help="The file holds scores, not answers.")] = False,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Scores: spec of the metric or judge that gave them, stored as a label.", metavar="METRIC"
        ),
    ] = None,
    criteria: Annotated[
        str,
        typer.Option(
            help="The columns that hold scores, separated by commas; beside answers the file's own, or none.",
            metavar="COLUMNS",
        ),
    ] = "",
    raters: Annotated[
        str,
        typer.Option(
            help="Answers: the columns that hold people's scores, each COLUMN or RATER=COLUMN, separated by "
            "commas, or none.",
            metavar="COLUMNS",
        ),
    ] = "",
    where: Where = [],
    status: Annotated[
        str | None,
        typer.Option(help="Scores: a status column; ok is ok, any other word failed.", metavar="COLUMN"),
    ] = None,
    blank: Annotated[
        Literal["unanswered", "recorded"],
        typer.Option(help="Scores: what a score of a blank answer counts as.", metavar="unanswered|recorded"),
    ] = "unanswered",
    texts: Annotated[
        Literal["same", "differ"],
        typer.Option(
            help="Scores: whether the texts in the file may be others than the answers of the run.",
            metavar="same|differ",
        ),
    ] = "same",
    faulty: Annotated[
        Literal["refuse", "exclude"],
        typer.Option(
            help="A question of a table that can be none refuses the table, or is left out and counted.",
            metavar="refuse|exclude",
        ),
    ] = "refuse",
    near_duplicates: NearDuplicates = None,
    ballots: Annotated[
        bool,
        typer.Option(
            "--ballots",
            help="The file holds what people said: reviews of items, one a row, or annotations.",
        ),
    ] = False,
    task: Annotated[
        Literal["review", "translation", "rewording"],
        typer.Option(help="Ballots: what people were asked to do.", metavar="TASK"),
    ] = "review",
    rater: Annotated[
        list[str],
        typer.Option(
            help="Annotations: a rater's name by the id that the tool has for them; repeatable.",
            metavar="ID=NAME",
        ),
    ] = [],
    partial: Annotated[
        bool, typer.Option("--partial", help="Annotations: accept those in which something is not filled in.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Annotations: let those that say otherwise replace earlier ones."),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Store scores that the run holds already under another measure or rater."
        ),
    ] = False,
    range: Range = [],
    direction: Direction = [],
    if_unanswered: IfUnanswered = [],
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Import recorded answers, scores or logs of other tools.

    The run is made if it does not exist; with --scores the file holds recorded scores.

    Fields of answers: item, variant, candidate, repeat, edit, text, status, reasoning, finish_reason,
    tokens, seconds, cost, error, confidence. A null text is a failed response, an empty one arrived empty.
    Fields of scores: item, variant, candidate, repeat, edit, criterion, value, rater, pass_no, ballot,
    position, note, text, probability. The text is what was scored: one that is not the run's answer is
    refused without --texts differ. The probability is for people's labels: that with which the row's case was
    drawn for labelling, above 0 and at most 1, the same for all rows of a case.

    Logs of other tools are recognised by content: {readers}. Without --benchmark such a log is the exam, and
    its scores come too; --set candidate=NAME names a model that the log does not.

    Columns are found by name; a table may hold the questions too. What was found is printed, as are the
    delimiter and the encoding of a CSV. A dotted name leads into a column: `--map text=output.text`.

    With --ballots, the columns of reviews are item, category, rater, correct (yes or no) and relevance (1 to
    5), and where there are any comment, dispute and proposed_edit. What people annotated in Label Studio or
    Argilla of tasks that `viva export` wrote becomes ballots too; a rater is `user ID` unless --rater names
    them.

    Example: `viva import exam.viva answers.csv`

    Example: `viva import logs.viva logs/ --json`

    Example: `viva import exam.viva reviews.csv --ballots --task review`

    Example: `viva import exam.viva project-1.json --ballots --rater 1=anna --rater 2=ben`

    Example: `viva import exam.viva answers.jsonl --benchmark jsonl:path=exam.jsonl --map candidate=model`

    Example: `viva import exam.viva scores.csv --scores --measure judge:rubric=medgpt,model=gpt-4o
    --criteria comprehension,harm --map item=question_id --map candidate=model`
    """
    options_of_scores: dict[str, object] = {
        "--measure": measure,
        "--where": where,
        "--status": status,
        "--texts": texts == "differ",
        "--range": range,
        "--direction": direction,
        "--if-unanswered": if_unanswered,
    }
    opened = open_run(run, plugin)
    options_of_answers: dict[str, object] = {
        **{"--benchmark": benchmark, "--name": name, "--map": map, "--set": set, "--role": role},
        **{"--models-in-columns": models_in_columns, "--new-version": new_version, "--scores": scores},
        **{"--delimiter": delimiter, "--encoding": encoding, "--sheet": sheet},
        "--faulty": faulty == "exclude",
        "--reasoning-marks": reasoning_marks,
        "--near-duplicates": near_duplicates,
        **{"--candidate-from": candidate_from, "--by": by, "--yes": yes, "--criteria": criteria},
        "--raters": raters,
    }
    options_of_annotations = AnnotationOptions(
        rater, partial, replace, again, options_of_scores | options_of_answers
    )
    if are_annotations(file, reader, options_of_annotations):
        store_annotations(run, opened, file, reader, options_of_annotations, quiet=quiet, json=json)
        return
    options_of_tables: dict[str, object] = {
        **{"--name": name, "--map": map, "--role": role, "--models-in-columns": models_in_columns},
        **{"--delimiter": delimiter, "--encoding": encoding, "--sheet": sheet},
        **{"--candidate-from": candidate_from, "--by": by, "--yes": yes, "--criteria": criteria},
        "--raters": raters,
        "--faulty": faulty == "exclude",
    }
    if not (scores or ballots) and _are_logs(file, reader, as_tables=any(options_of_tables.values())):
        _refuse_options(options_of_scores | options_of_tables, "a table: not with logs of other tools")
        logs = opened.import_logs(
            *file,
            reader=reader,
            benchmark=benchmark,
            candidate=_candidate_in(set),
            new_version=new_version,
            again=again,
            reasoning_marks=reasoning_marks,
            near_duplicates=near_duplicates,
        )
        show_logs(run, logs, json=json, quiet=quiet)
        return
    columns, constants = parse_pairs(map, "--map"), parse_pairs(set, "--set")
    file_options = {"delimiter": delimiter, "encoding": encoding, "sheet": sheet}
    if ballots:
        _refuse_options(options_of_scores | options_of_answers, "answers or scores: not with --ballots")
        reviews = opened.import_ballots(_only_file(file, reader), task=task, again=again)
        show(run, reviews, print_reviews, json=json, quiet=quiet)
        return
    if scores:
        _refuse_options(
            {"--role": role, "--new-version": new_version, "--name": name, "--faulty": faulty == "exclude"}
            | {"--models-in-columns": models_in_columns, "--reasoning-marks": reasoning_marks}
            | {"--candidate-from": candidate_from, "--by": by, "--yes": yes, "--raters": raters},
            "answers: it does not go with --scores",
        )
        if measure is None:
            raise InputError("--scores needs --measure: the spec of what gave them, such as judge(model=m).")
        imported_scores = opened.import_scores(
            _only_file(file, reader),
            measure=measure,
            criteria=_split_names(criteria),
            where=parse_pairs(where, "--where"),
            status=status,
            blank=blank,
            texts=texts,
            range=parse_ranges(range),
            direction=parse_by_criterion(direction, "--direction"),
            if_unanswered=parse_by_criterion(if_unanswered, "--if-unanswered"),
            benchmark=benchmark,
            map=columns,
            set=constants,
            again=again,
            **file_options,
        )
        show(run, imported_scores, print_scores, json=json, quiet=quiet)
        return
    _refuse_options(options_of_scores | {"--again": again}, "scores: it goes with --scores")
    from vivavoce.run.exchange.wide_tables import columns_of_models

    with saying_the_command(context):
        imported = opened.import_answers(
            file if len(file) > 1 else file[0],
            benchmark=benchmark,
            name=name,
            map=columns,
            set=constants,
            role=parse_pairs(role, "--role"),  # type: ignore[arg-type]
            new_version=new_version,
            models_in_columns=columns_of_models(models_in_columns),
            faulty=faulty,
            near_duplicates=near_duplicates,
            reasoning_marks=reasoning_marks,
            candidate_from=candidate_from,
            by=by,
            yes=yes,
            criteria=_names_or_null(criteria),
            raters=_names_or_null(raters),
            **file_options,
        )
    show(run, imported, print_answers, json=json, quiet=quiet)


def _are_logs(paths: Sequence[Path], reader: str | None, *, as_tables: bool) -> bool:
    """Whether these are logs of other tools: named as such, or told by their content.

    With options of tables, the table of a tool is a table.
    """
    from vivavoce.run.exchange.recognise import is_log

    return reader is not None or any(is_log(path, tables=not as_tables) for path in paths if path.exists())


def _candidate_in(constants: Sequence[str]) -> str | None:
    """The candidate that --set names. Raises `InputError` for another field."""
    pairs = parse_pairs(constants, "--set")
    if unknown := [key for key in pairs if key != "candidate"]:
        raise InputError(f"--set {unknown[0]}: of a log only the candidate can be named.")
    return pairs.get("candidate")


def _only_file(paths: Sequence[Path], reader: str | None) -> Path:
    """The one table that is imported. Raises `InputError` for several files."""
    if len(paths) > 1:
        raise InputError(f"{paths[0]} and {paths[1]}: tables of scores and ballots come one at a time.")
    if reader:
        raise InputError("--from names the tool of logs: not with --scores or --ballots.")
    return paths[0]


def _split_names(text: str) -> list[str]:
    """The names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _names_or_null(text: str) -> list[str] | None:
    """The names between commas; null for none."""
    return _split_names(text) or None


def _refuse_options(options: Mapping[str, object], subject: str) -> None:
    """Raise `InputError` for an option that goes with the other kind of file."""
    if misplaced := [option for option, value in options.items() if value]:
        raise InputError(f"{misplaced[0]} says something of {subject}.")
