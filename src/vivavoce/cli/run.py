"""`viva run`: a whole evaluation from a plan file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vivavoce.cli.exit_codes import ExitCode, end_interrupted
from vivavoce.cli.options import GpuNumbers, Json, Limits, PlanPath, Quiet, Shard
from vivavoce.cli.output import print_estimates, print_json
from vivavoce.cli.plugin_trust import TrustPlugins, confirm_plugins
from vivavoce.cli.progress import collect_progress, progress_bars
from vivavoce.cli.stdout import echo

if TYPE_CHECKING:
    from vivavoce.core.records import Finding


def _print_schema(schema: bool) -> None:
    if schema:
        import json

        from vivavoce.run.plan.plan_model import plan_schema

        echo(json.dumps(plan_schema(), indent=2))
        raise typer.Exit


def run(
    plan: PlanPath,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, and show what would be asked and its cost.")
    ] = False,
    shard: Shard = None,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A run to use instead of the plan's.")
    ] = None,
    limits: Limits = "divided",
    gpus: GpuNumbers = None,
    trust_plugins: TrustPlugins = False,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema",
            is_eager=True,
            callback=_print_schema,
            help="Print the JSON schema of plan files, which editors check and complete them by, and exit.",
        ),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run a plan: collect, score, compare, study and report.

    They come in this order; rerun to resume.

    The file names run, benchmarks, models, settings (repeats, temperature, sample, preset …), metrics,
    primary, overall, compare, studies, report, and, where needed, providers, offline, allow, allow_phi,
    max_cost, timeout_total and plugins; paths are relative to the working directory. Everything is checked
    before a model is called. The run stops after collecting while answers are still to be asked. Exit code 1
    if answers failed or are still to be asked. With --shard only that part is collected and scored, for its
    part of max_cost, of which what its run has spent before is taken off; `viva shards` writes such commands.
    With --dry-run the code of a plan's plugins runs only if you say so, at a terminal or by --trust-plugins.

    Example: `viva run exam.yaml --dry-run`

    Example: `viva run exam.yaml`

    Example: `viva run exam.yaml --shard 3/16 --to part-3.viva`

    Example: `viva run exam.yaml --gpus 0,1,2,3`
    """
    from vivavoce.run.plan.plan_file import examine, read_plan

    confirm_plugins(plan, is_trusted=trust_plugins, is_run=not dry_run)
    show = not quiet and not json and not dry_run

    def watch(verb: str) -> Any:
        return collect_progress(show) if verb == "collect" else progress_bars(show)

    tell = None if quiet or json else _print_finding
    findings = examine(
        plan, dry_run=dry_run, shard=shard, to=to, limits=limits, gpus=gpus, tell=tell, watch=watch
    )
    if json:
        rows = [{"step": finding.study, **row} for finding in findings for row in finding.rows]
        print_json("run", to or read_plan(plan).run, rows)
    if not dry_run:
        _exit_unless_complete(findings, is_printed=tell is not None)


def _exit_unless_complete(findings: "Sequence[Finding]", *, is_printed: bool) -> None:
    """Exit with 130 if collecting was interrupted, with 1 if answers or scores failed or are to come."""
    collected = _rows_of(findings, "collect")
    if any(row["interrupted"] for row in collected):
        end_interrupted(is_printed=is_printed)
    scored = _rows_of(findings, "score")
    failed = sum(row["n_failed"] for row in scored if row["view"] in ("mean", "pooled"))
    if failed or any(row["failed"] or row["left"] for row in collected):
        raise typer.Exit(ExitCode.INCOMPLETE)


def _print_finding(finding: "Finding") -> None:
    echo(finding.study)
    if finding.headline:
        echo(finding.headline)
    if finding.study == "score" and finding.rows:
        from vivavoce.studies.text import by_view

        print_estimates(by_view(finding.rows))
        for note in finding.notes:
            echo(note)
    else:
        echo(str(finding))
    echo()


def _rows_of(findings: "Iterable[Finding]", step: str) -> list[Mapping[str, Any]]:
    """The rows of one step of the plan."""
    return [row for finding in findings if finding.study == step for row in finding.rows]
