"""`viva status`: what a run holds, and what is missing."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import Json, Plugin, Quiet, open_run
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.cli.watch import show_progress
from vivavoce.core.cases import CaseCount
from vivavoce.core.errors import InputError, StoreError
from vivavoce.core.measure_names import measure_name
from vivavoce.core.text import causes_said

if TYPE_CHECKING:
    from vivavoce.run.run import Run

STATES = ("ok", "unanswered", "unreadable", "failed", "set_aside")
_TROUBLE = ("last_cause", "last_cause_calls", "answered_since", "advice")
"""Columns of calls that stand in sentences below the table."""


def status(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run file, such as exam.viva, or a folder of shards.")
    ],
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the file and all hashes: is it as it was written?"),
    ] = False,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Show every measure and candidate, why scores are missing, and all calls."
        ),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show how far it is, again and again until Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", help="--watch: seconds between two looks.")
    ] = 5.0,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what a run holds, what is missing, and what to do next.

    With `--full`, also each measure's scores of each candidate, causes, and the calls to models. With
    `--verify`, show whether all is as vivavoce wrote it instead, with exit code 2 if it is not. Exit code 1
    if scores failed. Of a run that is a shard, a line more shows what it has of its own part.

    Example: `viva status exam.viva`

    Of a folder, or with `--watch`, show how far its runs are that other processes write: what is done, failed
    and left, calls a minute, time left and cost; `--watch --json` prints an object a line.

    Example: `viva status exam.viva --full`

    Example: `viva status exam-parts --watch`
    """
    if watch or run.is_dir():
        _refuse_of_growing_runs(verify=verify, full=full)
        show_progress(run, watch=watch, every=every, json=json, quiet=quiet)
        return
    if verify:
        _verify(run, plugin, quiet=quiet, json=json)
        return
    opened = open_run(run, plugin)
    finding = opened.status()
    scores = _rows_about(finding.rows, "marks")
    if json:
        print_json("status", run, finding.rows, headline=finding.headline)
    elif not quiet:
        print_lines(opened, finding.rows)
        if full:
            _print_tables(opened, finding.rows)
        else:
            echo(f"`viva status {quote(str(run))} --full` shows every measure and cause.")
    if any(row["failed"] for row in scores):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _refuse_of_growing_runs(*, verify: bool, full: bool) -> None:
    if verify or full:
        raise InputError("--verify and --full are of one run at rest: name a run, without --watch.")


def _print_tables(run: "Run", rows: Sequence[Mapping[str, Any]]) -> None:
    """All that `--full` shows below the lines."""
    echo()
    _print_questions(_rows_about(rows, "questions"))
    if _rows_about(rows, "exclusions"):
        _print_exclusions(run)
    if parts := _rows_about(rows, "shard"):
        _print_shard(parts)
    if scores := _rows_about(rows, "marks"):
        _print_scores(scores)
    if calls := _rows_about(rows, "calls"):
        _print_calls(calls)


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
        echo(CaseCount(**{name: row[name] for name in CaseCount._fields}).summary)


def _print_shard(parts: Sequence[Mapping[str, Any]]) -> None:
    """A table of what a run that is a shard has of its part."""
    columns = ("verb", "of_what", "state", "expected", "done", "failed")
    shard = ", ".join(dict.fromkeys(row["shard"] for row in parts))
    lines = [[row[name] for name in columns] for row in parts]
    print_table([name.replace("_", " ") for name in columns], lines, f"Shard {shard}", keys=2)


def print_lines(run: "Run", rows: Sequence[Mapping[str, Any]]) -> None:
    """The five lines a status begins with."""
    from vivavoce.store.comparisons import has_comparison
    from vivavoce.studies.comparing.status_lines import status_lines

    with run.file.reading() as db:
        compared = has_comparison(db)
    for line in status_lines(rows, str(run.file.path), compared=compared):
        echo(line)


MOST_EXCLUSIONS = 40
"""Rows left out that are listed."""


def _print_exclusions(run: "Run") -> None:
    """A table of the rows that were left out, as far as there is room."""
    rows = run.exclusions.select("benchmark", "file", "row", "reason").rows()
    print_table(("benchmark", "file", "row", "why"), rows[:MOST_EXCLUSIONS], "Rows left out")
    if len(rows) > MOST_EXCLUSIONS:
        command = f"viva export {quote(str(run.file.path))} FOLDER --format csv --table exclusions"
        echo(f"and {len(rows) - MOST_EXCLUSIONS:,} more: `{command}` writes all of them.")


def _print_scores(scores: Sequence[Mapping[str, Any]]) -> None:
    """A table of what each measure gave, and one of the causes of what is not ok."""
    one_benchmark = len({row["benchmark"] for row in scores}) == 1
    lines = [
        (
            row["candidate"],
            _measure_of(row),
            row["rater"],
            None if one_benchmark else row["benchmark"],
            row["responses"],
            *(row[state] for state in STATES[:-1]),
            row["set_aside"] or None,
        )
        for row in scores
    ]
    columns = ("candidate", "measure", "rater", "benchmark", "responses", *STATES[:-1], "set aside")
    print_table(columns, lines, "Scores", keys=2)
    _print_causes([(*line[:2], row["causes"]) for line, row in zip(lines, scores, strict=True)])


def _measure_of(row: Mapping[str, Any]) -> str:
    if not row["metric"]:
        return "not scored yet"
    name = measure_name(row["metric"], row["criterion"])
    return f"{name} (earlier version {row['earlier_version']})" if row["earlier_version"] else name


def _print_causes(rows: Sequence[tuple[Any, ...]]) -> None:
    """A table of why scores are not ok: for each candidate the causes, and the measures that share them."""
    measures_of: dict[tuple[str, str], list[str]] = {}
    for candidate, measure, causes in rows:
        if causes:
            measures_of.setdefault((candidate, causes_said(causes)), []).append(measure.partition(": ")[0])
    if measures_of:
        missing = [(name, cause, ", ".join(by)) for (name, cause), by in measures_of.items()]
        print_table(("candidate", "why not ok", "by"), missing, "Missing")


def _print_calls(calls: Sequence[Mapping[str, Any]]) -> None:
    """A table of the calls to models and what they cost, then why calls failed and what to do about it."""
    from vivavoce.studies.comparing.status import CallsRow, trouble_sentences

    columns = [name for name in calls[0] if name not in ("about", *_TROUBLE)]
    lines = [[figure(row[name], 4) if name == "cost" else row[name] for name in columns] for row in calls]
    print_table([name.replace("_", " ") for name in columns], lines, "Calls to models", keys=3)
    for row in calls:
        if row["last_cause"]:
            at = f"{row['model']} at {row['endpoint']} ({row['purpose']})"
            echo(f"{at}: {trouble_sentences(CallsRow(**row))}")
