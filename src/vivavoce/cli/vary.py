"""`viva vary`: variants of items, and other wordings of answers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.options import (
    TIMEOUT_TOTAL_S,
    Allow,
    AllowPhi,
    Items,
    Json,
    MaxCost,
    NWorkers,
    Offline,
    Plugin,
    Providers,
    Quiet,
    RunPath,
    TimeoutTotal,
    open_run,
)
from vivavoce.cli.output import print_json, print_table
from vivavoce.cli.progress import progress_bars
from vivavoce.cli.stdout import echo
from vivavoce.variants.control_kinds import control_kind


def vary(
    run: RunPath,
    variations: Annotated[
        list[str],
        typer.Argument(
            metavar="VARIATION...",
            autocompletion=completion.registered("variations"),
            help="Any of {variations}, such as bias:type=recency or rephrase:k=5,model=…",
        ),
    ],
    items: Items = None,
    check: Annotated[
        str | None,
        typer.Option(
            help="Model that is asked whether each new item still has the same right answer.", metavar="MODEL"
        ),
    ] = None,
    mark: Annotated[
        bool,
        typer.Option("--mark/--drop", help="Keep variants that fail a check, with a mark, or drop them."),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(help="Seed of every variation that sets none itself (0 if not given).", metavar="N"),
    ] = None,
    providers: Providers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what could be made and would be asked; store nothing.")
    ] = False,
    workers: NWorkers = 1,
    max_cost: MaxCost = None,
    timeout_total: TimeoutTotal = TIMEOUT_TOTAL_S,
    offline: Offline = False,
    allow: Allow = [],
    allow_phi: AllowPhi = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make item variants and response edits, each a new row that names its origin. Nothing is made twice.

    Bias twins suggest a wrong answer, each with a neutral twin of the same length and place; demographic
    twins change one detail of a patient; rewordings say an answer, or a reference, in other words; controls
    have a flaw that an examiner must see. `viva collect` asks the new items with the rest of their
    benchmark. Numbers, units and negations must stay as they are; what fails this check, or the model of
    --check, is dropped or marked, counted and named.

    Example: `viva vary exam.viva "bias(type=[recency, authority], seed=1)" --items sample`

    Example: `viva vary exam.viva demographic:kind=sex --check openai/gpt-4o --mark`

    Example: `viva vary exam.viva "control(kind=all, seed=0)" --dry-run`

    Example: `viva vary exam.viva rephrase:k=5,model=openai/gpt-4o,of=references --dry-run`
    """
    opened = open_run(run, plugin)
    with progress_bars(not quiet and not dry_run) as progress:
        finding = opened.vary(
            *variations,
            items=items,
            check=check,
            mark=mark,
            seed=seed,
            providers=providers,
            dry_run=dry_run,
            workers=workers,
            max_cost=max_cost,
            timeout_total=timeout_total,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            progress=progress,
        )
    if json:
        print_json("vary", run, list(finding.rows))
        return
    if quiet:
        return
    _print_outcomes(finding.rows, dry_run=dry_run)
    echo(str(finding))
    if not dry_run:
        _print_next(run, items, finding.rows)


def _print_next(run: Path, items: str | None, rows: Sequence[Mapping[str, Any]]) -> None:
    """The commands that use what was made: variants of questions, and rewordings of answers."""
    origins = [row["what"] for row in rows if row["rows"]]
    controls = [origin for origin in origins if control_kind(origin) is not None]
    origins = [origin for origin in origins if origin not in controls]
    if any(":" in origin for origin in origins):  # variants of questions
        echo(f'Next: `viva collect {run} "{items or "BENCHMARK"}" --model …` asks the new questions too.')
    if any(":" not in origin for origin in origins):
        echo(f"Next: `viva score {run} METRIC` scores the rewordings.")
    if controls:
        echo(f"Next: `viva score {run} METRIC` scores the controls beside the answers.")


def _print_outcomes(rows: Sequence[Mapping[str, Any]], *, dry_run: bool) -> None:
    """A table of what was made, then why the rest was not."""
    columns = ("made of", "made", "there", "marked", "dropped", "skipped", *(["requests"] if dry_run else []))
    print_table(
        columns,
        [[row["what"], *(row[name] for name in columns[1:])] for row in rows],
        "what could be made" if dry_run else "what was made",
    )
    for row in rows:
        for reason, n in row["reasons"].items():
            echo(f"{row['what']}: {n} x {reason}.")
