"""The verb that does what an exam's file states."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vivavoce.cli.options import Json, Quiet
from vivavoce.cli.output import asking, print_estimates, print_json, progress
from vivavoce.text import printable

if TYPE_CHECKING:
    from vivavoce.records import Finding

__all__ = ["run"]


def run(
    exam: Annotated[Path, typer.Argument(metavar="EXAM", help="A YAML file, such as exam.yaml.")],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, and say what would be asked and cost.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Do what one file states: collect, score, compare, study and report, in this order.

    The file names run, benchmarks, models, settings (repeats, temperature, sample, preset …), metrics,
    compare, studies, report, and, where needed, providers, offline, allow, allow_phi, max_cost and plugins;
    paths are taken from the working directory. Everything is checked before anybody is asked. The same
    command goes on where it stopped, which is where answers are left to ask. Exit code 1 if answers failed or
    are left.

    Example: `viva run exam.yaml --dry-run`

    Example: `viva run exam.yaml`
    """
    from vivavoce.exams import examine, read_exam

    show = not quiet and not json and not dry_run and sys.stderr.isatty()

    def watch(verb: str) -> Any:
        return asking(show) if verb == "collect" else progress(show)

    def tell(finding: "Finding") -> None:
        if quiet or json:
            return
        print(f"{finding.study}")
        if finding.study == "score":
            from vivavoce.studies.words import by_view

            print_estimates(by_view(finding.rows))
            for note in finding.notes:
                print(note)
        else:
            print(printable(str(finding)))
        print()

    found = examine(exam, dry_run=dry_run, tell=tell, watch=watch)
    if json:
        rows = [{"step": finding.study, **row} for finding in found for row in finding.rows]
        print_json("run", read_exam(exam).run, rows)
    if dry_run:
        return
    collected = [row for finding in found if finding.study == "collect" for row in finding.rows]
    if any(row["interrupted"] for row in collected):
        raise typer.Exit(130)
    marks = [row for finding in found if finding.study == "score" for row in finding.rows]
    failed = sum(row["n_failed"] for row in marks if row["view"] in ("mean", "pooled"))
    if failed or any(row["failed"] or row["left"] for row in collected):
        raise typer.Exit(1)
