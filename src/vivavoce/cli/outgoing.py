"""`viva export`, `viva copy` and `viva merge`: from one file to another."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, opened, place
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.text import causes_said

__all__ = ["Redact", "copy", "export", "merge", "print_status"]

TABLES = "items, responses, scores, estimates, measures, benchmarks, findings, provenance, calls"
Redact = Annotated[
    bool, typer.Option("--redact", help="Marks in place of the texts of questions, answers and notes.")
]


def export(
    run: RunPath,
    to: Annotated[
        Path, typer.Argument(parser=place, metavar="TO", help="A folder for tables, a file for a run.")
    ],
    format: Annotated[
        Literal["parquet", "csv", "run"],
        typer.Option("--format", "--to", help="Tables for programs, tables for spreadsheets, or a run file."),
    ],
    items: Items = None,
    table: Annotated[list[str], typer.Option(help=f"One of {TABLES}; repeatable, by default all.")] = [],  # noqa: B006
    redact: Redact = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a run: its tables as Parquet or CSV files, or some of its items as a run of their own.

    A README.txt beside the tables says what each column is. An earlier export is replaced, nothing else.
    In CSV, a text that a spreadsheet could run as a formula gets an apostrophe before it. With --redact the
    tables hold no text of a question, an answer or a note; numbers stay.

    Example: `viva export exam.viva tables --to parquet`

    Example: `viva export exam.viva small.viva --to run --items "jsonl(path=exam.jsonl)"`
    """
    written = opened(run, plugin).export(to, format=format, items=items, table=table, redact=redact)
    if json:
        return print_json("export", run, [one._asdict() | {"path": str(one.path)} for one in written])
    if not quiet:
        lines = [[one.table or "run", one.rows, one.bytes, one.path] for one in written]
        print_table(["table", "rows", "bytes", "file"], lines)
    return None


def copy(
    run: RunPath,
    to: Annotated[Path, typer.Argument(parser=place, metavar="TO", help="A path where nothing lies yet.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Copy a run into a compact file, also while others write to it.

    Example: `viva copy exam.viva backup.viva`
    """
    path = opened(run).copy(to)
    if json:
        return print_json("copy", run, [{"path": str(path), "bytes": path.stat().st_size}])
    if not quiet:
        print(path)


def merge(
    run: RunPath,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs to bring into the first.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Bring other runs' answers, marks, findings and calls into a run, each all or nothing.

    Example: `viva merge all.viva site-a.viva site-b.viva`
    """
    done = opened(run).merge(*runs)
    if json:
        return print_json("merge", run, [one._asdict() for one in done])
    if quiet:
        return None
    for one in done:
        print(
            f"{one.source}: {one.items} items, {one.responses} answers, {one.scores} marks, {one.findings} "
            f"findings and {one.calls} calls are new, {one.replaced} failed answers replaced."
        )
    return None


def print_status(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of the marks of a run, and one of the calls to models where there were any."""
    marks = [row for row in rows if row["about"] == "marks"]
    calls = [row for row in rows if row["about"] == "calls"]
    if marks or not calls:
        columns = [name for name in (marks[0] if marks else ()) if name != "about"]
        lines = [[*(row[c] for c in columns[:-1]), causes_said(row["causes"])] for row in marks]
        print_table(columns or ["nothing here yet"], lines)
    if calls:
        columns = [name for name in calls[0] if name != "about"]
        lines = [[figure(row[c], 4) if c == "cost" else row[c] for c in columns] for row in calls]
        print_table([name.replace("_", " ") for name in columns], lines, "Calls to models")
