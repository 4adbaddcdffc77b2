"""`viva build`: exams made in steps."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.options import (
    TIMEOUT_TOTAL_S,
    Allow,
    AllowPhi,
    Json,
    MaxCost,
    Offline,
    Plugin,
    Providers,
    Quiet,
    RunPath,
    TimeoutTotal,
    open_run,
)
from vivavoce.cli.output import figure, print_json, print_table
from vivavoce.cli.progress import progress_bars
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import InputError


def build(
    context: typer.Context,
    run: RunPath,
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            autocompletion=completion.registered("build_recipes"),
            help="Any of {build_recipes}. Its options follow; `viva list build_recipes` lists them.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the exam; default: that of the run's file.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="STEP", help="Last step to run; steps behind it are taken back.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of what is drawn.")] = 0,
    providers: Providers = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what the next step would ask; store nothing.")
    ] = False,
    max_cost: MaxCost = None,
    timeout_total: TimeoutTotal = TIMEOUT_TOTAL_S,
    offline: Offline = False,
    allow: Allow = [],
    allow_phi: AllowPhi = False,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make an exam in steps that can be looked at, taken back and repeated. Rerun to resume.

    A recipe is a list of steps: it reads sources, writes or translates questions by a model, and drops what
    cannot be used, each with its reason. The exam stands in the run, where `viva annotate RUN review` puts it
    before people and `viva export` writes it as a table. The recipe `filters` holds it against rules, and
    `freeze` writes it to a folder that is never overwritten. Options of recipes take one or more words.

    Example: `viva build exam.viva careqa --from paper.pdf --key key.csv --to en --model openai/gpt-4o`

    Example: `viva build exam.viva filters --from questions.csv --json`

    Example: `viva build exam.viva freeze --to frozen --min-relevance 5`
    """
    opened = open_run(run, plugin)
    options = recipe_options(context.args)
    with progress_bars(not quiet and not dry_run) as progress:
        finding = opened.build(
            recipe,
            name=name,
            until=until,
            seed=seed,
            providers=providers,
            dry_run=dry_run,
            max_cost=max_cost,
            timeout_total=timeout_total,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            progress=progress,
            **options,
        )
    if json:
        print_json("build", run, list(finding.rows), notes=list(finding.notes))
    elif not quiet:
        _print_steps(finding.rows, dry_run=dry_run)
        echo(str(finding))
    if any(row["failed"] for row in finding.rows):
        raise typer.Exit(ExitCode.INCOMPLETE)


def recipe_options(words: Sequence[str]) -> dict[str, Any]:
    """`--from a.pdf b.pdf --year 2024` as a mapping of tuples; an option without a word is true.

    Raises `InputError` for a word that belongs to no option.
    """
    options: dict[str, list[str]] = {}
    name = ""
    for word in words:
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word.removeprefix("--").partition("=")
            name = name.replace("-", "_")
            options.setdefault(name, []).extend([value] if equals else [])
        elif not name:
            raise InputError(f"{word!r} belongs to no option: write --OPTION before it.")
        else:
            options[name].append(word)
    return {name: True if not values else tuple(values) for name, values in options.items()}


def _print_steps(rows: Iterable[Mapping[str, Any]], *, dry_run: bool) -> None:
    """A table of the steps, then why parts were dropped."""
    rows = list(rows)
    names = ("step", "n_in", "n_written", "n_used", "n_out", "dropped", "review", "requests", "cost")
    lines = [[figure(row[n]) if n == "cost" else row.get(n) for n in names] for row in rows]
    print_table(names, lines, "What the next steps would ask" if dry_run else "Steps")
    for row in rows:
        for reason, n in row["reasons"].items():
            echo(f"{row['step']}: {n:,} dropped: {reason}.")
        if row["verdicts"]:
            counts = ", ".join(f"{n:,} {verdict}" for verdict, n in row["verdicts"].items())
            echo(f"{row['step']}: {counts}.")
