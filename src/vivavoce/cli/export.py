"""`viva export`: a run's tables, some of its items, pairs of answers, or the files of another tool."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import (
    AllowCredentialed,
    Items,
    Json,
    Plugin,
    Quiet,
    RankingCriterion,
    RatingRubric,
    Redact,
    RunPath,
    ShownCandidates,
    open_run,
    output_path,
    parse_pairs,
)
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.stdout import echo

if TYPE_CHECKING:
    from vivavoce.run.exchange.exporters import ExportedFile

TABLES = (
    "items, responses, scores, evidence, estimates, measures, benchmarks, exclusions, findings, provenance, "
    "calls"
)


def export(
    run: RunPath,
    to: Annotated[
        Path,
        typer.Argument(parser=output_path, metavar="TO", help="A folder for tables, a file for a run."),
    ],
    format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            autocompletion=completion.registered("exporters"),
            help="What to write: {exporters}.",
        ),
    ],
    items: Items = None,
    table: Annotated[
        list[str],
        typer.Option(
            help=f"One of {TABLES}; repeatable, by default all.",
            metavar="TABLE",
            autocompletion=completion.words(*TABLES.split(", ")),
        ),
    ] = [],
    metric: Annotated[
        str | None,
        typer.Option(
            help="preferences: the measure to order answers by, as METRIC or METRIC:CRITERION.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    rater: Annotated[
        str | None,
        typer.Option(help="preferences: whose scores, where the measure has several raters.", metavar="NAME"),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="preferences: scores of a pair differ by more than this, in the measure's units.",
            metavar="NUMBER",
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            help="Annotation tools: what people do: rank, pairwise, rate or review.", metavar="TASK"
        ),
    ] = None,
    raters: Annotated[
        str | None,
        typer.Option(
            help="Annotation tools: names, separated by commas, each with tasks of their own (else shared).",
            metavar="NAMES",
        ),
    ] = None,
    candidates: ShownCandidates = [],
    rubric: RatingRubric = None,
    criterion: RankingCriterion = None,
    n: Annotated[
        int | None,
        typer.Option("--n", help="Annotation tools: number of sampled questions.", metavar="N"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Annotation tools: seed of questions and orders (1).", metavar="N")
    ] = None,
    overlap: Annotated[
        int | None,
        typer.Option(help="argilla: responses that complete a record (1).", metavar="N"),
    ] = None,
    allow: AllowCredentialed = False,
    set: Annotated[
        list[str],
        typer.Option(
            help="An option of the format, such as candidate=NAME; repeatable.", metavar="NAME=VALUE"
        ),
    ] = [],
    redact: Redact = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export tables, a smaller run, or files of other tools.

    A README.txt next to the tables describes each column. An earlier export is replaced, and nothing else.
    CSV is protected against formula injection: a text that a spreadsheet could run gets an apostrophe before
    it. With --redact tables, or the run, hold no text of a question, an answer or a note; numbers stay.

    Example: `viva export exam.viva tables --format parquet`

    With preferences, the folder gets pairs of answers to one question whose scores differ by more than
    --margin, the better first, and what was left out, by reason. With sft it gets conversations as they were
    asked, each with its answer.

    Example: `viva export exam.viva small.viva --format run --items jsonl:path=exam.jsonl`

    Example: `viva export exam.viva pairs --format preferences --metric judge:quality --margin 1`

    Example: `viva export arguments.viva chats --format sft`

    With label-studio and argilla, the folder gets blinded tasks for people, as `viva panel` makes them; the
    key stays in the run, and `viva import RUN FILE --ballots` brings back what they said.

    Example: `viva export exam.viva tasks --format label-studio --task rank --n 30`

    Example: `viva export exam.viva tasks --format argilla --task rate --rubric medgpt --overlap 2`

    For other tools the folder gets their files, and what was left out, by reason; --set gives their options.

    Example: `viva export exam.viva logs --format inspect`

    Example: `viva export exam.viva results --format every-eval-ever --set organization=Clinic`

    Example: `viva export exam.viva requests --format batch --set candidate=openai/gpt-4o --set repeats=3`
    """
    from vivavoce.run.exchange.exporters import options_in_words

    names = tuple(filter(str.strip, (raters or "").split(",")))
    options = _without_defaults(
        task=task, raters=names, candidates=tuple(candidates), rubric=rubric, criterion=criterion, n=n,
        seed=seed, overlap=overlap, allow=allow,
    )  # fmt: skip
    opened = open_run(run, plugin)
    files = opened.export(
        to,
        format=format,
        items=items,
        table=table,
        metric=metric,
        rater=rater,
        margin=margin,
        redact=redact,
        **options,
        **options_in_words(format, parse_pairs(set, "--set")),
    )
    if json:
        print_json("export", run, [file._asdict() | {"path": str(file.path)} for file in files])
    elif not quiet:
        _print_files(files)
        _print_words(files)


def _without_defaults(**options: Any) -> dict[str, Any]:
    """The options that were given: an exporter is asked for no other."""
    return {name: value for name, value in options.items() if value not in (None, (), False)}


def _print_words(files: "Sequence[ExportedFile]") -> None:
    """What was left out, by reason, and what else is to be known; the same of several files once."""
    left_out: Counter[str] = Counter()
    for file in files:
        left_out.update(getattr(file, "left_out", {}))
    if left_out:
        print_table(["left out", "number"], list(left_out.items()))
    for note in dict.fromkeys(note for file in files for note in getattr(file, "notes", ())):
        echo(note)


def _print_files(files: "Sequence[ExportedFile]") -> None:
    """The files with what their exporter says of them, the path last."""
    rows = [file._asdict() for file in files]
    for row in rows:
        row.pop("left_out", None)
        row.pop("notes", None)
        row |= {"table": row["table"] or "run"} if "table" in row else {}
        row["file"] = row.pop("path")
    print_table(list(rows[0]), [list(row.values()) for row in rows])
