"""`viva status`: what a run holds, and what is missing."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.core.cases import CaseCount
from vivavoce.core.errors import StoreError
from vivavoce.core.text import causes_said, printable

_TROUBLE = ("last_cause", "last_cause_calls", "answered_since", "advice")
"""Columns of calls that stand in sentences below the table."""


def status(
    run: RunPath,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the file and all hashes: is it as it was written?"),
    ] = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what a run holds, what is missing and why, and the calls to models. Exit code 1 if scores failed.

    With `--verify`, show whether all is as vivavoce wrote it instead. Exit code 2 if it is not.

    Example: `viva status exam.viva`
    """
    if verify:
        _verify(run, plugin, quiet=quiet, json=json)
        return
    finding = open_run(run, plugin).status()
    scores = _rows_about(finding.rows, "marks")
    if json:
        print_json("status", run, finding.rows)
    elif not quiet:
        calls = _rows_about(finding.rows, "calls")
        _print_questions(_rows_about(finding.rows, "questions"))
        if scores or not calls:
            _print_scores(scores)
        if calls:
            _print_calls(calls)
    if any(row["failed"] for row in scores):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _verify(path: Path, plugins: Sequence[Path], *, quiet: bool, json: bool) -> None:
    """Print a row for each check. Raises `StoreError` where something is wrong."""
    from vivavoce.store.integrity import damage

    checks = open_run(path, plugins).verify()
    if json:
        print_json("status", path, [{"about": "verification", **check._asdict()} for check in checks])
    elif not quiet:
        lines = [(c.check, c.of, c.checked, c.wrong, "; ".join(c.first)) for c in checks]
        print_table(["check", "of", "checked", "wrong", "first"], lines)
    wrong = [check for check in checks if check.wrong]
    if wrong:
        raise StoreError(damage(str(path), wrong))


def _rows_about(rows: Iterable[Mapping[str, Any]], topic: str) -> list[Mapping[str, Any]]:
    """The rows of one topic."""
    return [row for row in rows if row["about"] == topic]


def _print_questions(rows: Iterable[Mapping[str, Any]]) -> None:
    """A line for each benchmark: its questions and cases."""
    for row in rows:
        print(printable(CaseCount(**{name: row[name] for name in CaseCount._fields}).summary))


def _print_scores(scores: Sequence[Mapping[str, Any]]) -> None:
    """A table of what the run holds, with the causes of what is not ok in its last column."""
    hidden = {"about"} if any(row["set_aside"] for row in scores) else {"about", "set_aside"}
    columns = [name for name in (scores[0] if scores else ()) if name not in hidden]
    lines = [[*(row[name] for name in columns[:-1]), causes_said(row["causes"])] for row in scores]
    print_table([name.replace("_", " ") for name in columns] or ["nothing here yet"], lines)


def _print_calls(calls: Sequence[Mapping[str, Any]]) -> None:
    """A table of the calls to models and what they cost, then why calls failed and what to do about it."""
    from vivavoce.studies.leaderboard.status import CallsRow, trouble_sentences

    columns = [name for name in calls[0] if name not in ("about", *_TROUBLE)]
    lines = [[figure(row[name], 4) if name == "cost" else row[name] for name in columns] for row in calls]
    print_table([name.replace("_", " ") for name in columns], lines, "Calls to models")
    for row in calls:
        if row["last_cause"]:
            at = f"{row['model']} at {row['endpoint']} ({row['purpose']})"
            print(printable(f"{at}: {trouble_sentences(CallsRow(**row))}"))
