"""The verb that makes other framings of items, and other wordings of answers."""

import sys
from typing import Annotated

import typer

from vivavoce.cli.options import (
    Allow,
    AllowPhi,
    Items,
    Json,
    MaxCost,
    Offline,
    Plugin,
    Providers,
    Quiet,
    RunPath,
    opened,
)
from vivavoce.cli.output import print_json, print_table, progress
from vivavoce.text import printable

__all__ = ["vary"]


def vary(
    run: RunPath,
    variations: Annotated[
        list[str],
        typer.Argument(
            metavar="VARIATION...",
            help='"bias(type=recency)", "demographic(kind=[age, sex])", "rephrase(k=5, model=…)".',
        ),
    ],
    items: Items = None,
    check: Annotated[
        str | None,
        typer.Option(help="A model that is asked whether the right answer to each new item is the same."),
    ] = None,
    mark: Annotated[
        bool,
        typer.Option("--mark/--drop", help="Keep what fails a check, marked; else it is dropped."),
    ] = False,
    seed: Annotated[int | None, typer.Option(help="For every variation that states none; else 0.")] = None,
    providers: Providers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what could be made and what would be asked; store nothing.")
    ] = False,
    max_cost: MaxCost = None,
    offline: Offline = False,
    allow: Allow = [],  # noqa: B006
    allow_phi: AllowPhi = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make item variants and response edits, each a new row that tells its origin. Nothing is made twice.

    Bias twins suggest a wrong answer, each beside a neutral twin of the same length and place; demographic
    twins change one detail of a patient; rewordings say an answer, or a reference, in other words. What was
    made is asked by `viva collect` with the rest of its benchmark. Numbers, units and negations must stay as
    they are; what fails that, or the model of --check, is dropped or marked, counted and named.

    Example: `viva vary exam.viva "bias(type=[recency, authority], seed=1)" --items sample`

    Example: `viva vary exam.viva "demographic(kind=sex)" --check openai/gpt-4o --mark`

    Example: `viva vary exam.viva "rephrase(k=5, model=openai/gpt-4o, of=references)" --dry-run`
    """
    here = opened(run, plugin)
    with progress(not quiet and not dry_run and sys.stderr.isatty()) as hear:
        found = here.vary(
            *variations,
            items=items,
            check=check,
            mark=mark,
            seed=seed,
            providers=providers,
            dry_run=dry_run,
            max_cost=max_cost,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            progress=hear,
        )
    if json:
        return print_json("vary", run, list(found.rows))
    if quiet:
        return
    columns = ("made of", "made", "there", "marked", "dropped", "skipped", *(["requests"] if dry_run else []))
    print_table(
        columns,
        [[row["what"], *(row[name] for name in columns[1:])] for row in found.rows],
        "what could be made" if dry_run else "what was made",
    )
    for row in found.rows:
        for reason, n in row["reasons"].items():
            print(printable(f"{row['what']}: {n} x {reason}."))
    print(printable(str(found)))
    new = [row["what"] for row in found.rows if row["rows"]]
    if dry_run or not new:
        return
    if any(":" in what for what in new):  # variants of questions
        print(f'Next: `viva collect {run} "{items or "BENCHMARK"}" --model …` asks the new questions too.')
    if any(":" not in what for what in new):
        print(f"Next: `viva score {run} METRIC` marks the rewordings.")
