"""`viva export`: a run's tables, some of its items, pairs of answers, or the files of another system."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import Items, Json, Plugin, Quiet, Redact, RunPath, open_run, output_path
from vivavoce.cli.output import print_json, print_table

if TYPE_CHECKING:
    from vivavoce.pipeline.exchange.exporters import ExportedFile

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
    redact: Redact = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a run: its tables as Parquet or CSV files, some items as a run file, or answers to train on.

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
    """
    files = open_run(run, plugin).export(
        to,
        format=format,
        items=items,
        table=table,
        metric=metric,
        rater=rater,
        margin=margin,
        redact=redact,
    )
    if json:
        print_json("export", run, [file._asdict() | {"path": str(file.path)} for file in files])
    elif not quiet:
        _print_files(files)
        if left_out := [entry for file in files for entry in getattr(file, "left_out", {}).items()]:
            print_table(["left out", "number"], left_out)


def _print_files(files: "Sequence[ExportedFile]") -> None:
    """The files with what their exporter says of them, the path last."""
    rows = [file._asdict() for file in files]
    for row in rows:
        row.pop("left_out", None)
        row |= {"table": row["table"] or "run"} if "table" in row else {}
        row["file"] = row.pop("path")
    print_table(list(rows[0]), [list(row.values()) for row in rows])
