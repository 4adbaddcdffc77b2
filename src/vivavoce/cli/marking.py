"""The verbs that mark, compare and study."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli.mistakes import by_metric, whole
from vivavoce.cli.options import (
    Allow,
    AllowPhi,
    FailIf,
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
from vivavoce.cli.output import counted, figure, p_value, print_estimates, print_json, print_table, progress
from vivavoce.text import printable

__all__ = ["compare", "score", "study"]


def score(
    run: RunPath,
    metrics: Annotated[
        list[str], typer.Argument(metavar="METRIC...", help='Such as "rouge(n=1)" or @file.')
    ] = [],  # noqa: B006
    items: Items = None,
    worst_at: Annotated[
        int | None, typer.Option(help="Also the worst of so many answers to a question.")
    ] = None,
    tail: Annotated[
        float | None, typer.Option(help="Also the mean of the worst share of the questions, such as 0.1.")
    ] = None,
    veto: Annotated[
        list[str],
        typer.Option(
            help="Also the mean of the other metrics with answers over a red line at the worst: "
            '"METRIC[CRITERION] >= LIMIT"; also <=, >, <; repeatable.'
        ),
    ] = [],  # noqa: B006
    passes: Annotated[int, typer.Option(help="Judges: how often each answer is marked.")] = 1,
    providers: Providers = None,
    max_cost: MaxCost = None,
    offline: Offline = False,
    allow: Allow = [],  # noqa: B006
    allow_phi: AllowPhi = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mark every answer that is not marked yet, and show what each candidate scored.

    Intervals are 95%; coverage is the share of expected answers that could be marked. Judges are models: each
    call is kept in the run, none is made twice, and a reply that cannot be read is asked for once more. Exit
    code 1 if marks failed.

    Example: `viva score exam.viva "rouge(n=1)" token_f1`

    Example: `viva score exam.viva "judge(rubric=correctness, model=openai/gpt-4o)" --passes 2`

    Example: `viva score exam.viva bleu token_f1 --worst-at 3 --tail 0.1 --veto "token_f1 < 0.2"`
    """
    from vivavoce.studies.words import by_view

    with progress(show=not quiet and sys.stderr.isatty()) as hear:
        found = opened(run, plugin).score(
            *whole(metrics),
            items=items,
            passes=passes,
            worst_at=worst_at,
            tail=tail,
            veto=veto,
            providers=providers,
            max_cost=max_cost,
            offline=offline,
            allow=allow,
            allow_phi=allow_phi,
            progress=hear,
        )
    if json:
        print_json("score", run, found.rows)
    elif not quiet:
        print_estimates(by_view(found.rows))
        for note in found.notes:
            print(note)
    failed = sum(row["n_failed"] for row in found.rows if row["view"] in ("mean", "pooled"))
    if failed:
        lost = f"{counted(failed, 'mark')} failed"
        again = "the same command tries again what was lost on our side"
        print(f"viva: {lost}; `viva status {run}` tells why, {again}.", file=sys.stderr)
        raise typer.Exit(1)


def compare(
    run: RunPath,
    candidates: Annotated[
        list[str], typer.Argument(metavar="A B...", help="Candidates, as they are labelled.")
    ] = [],  # noqa: B006
    metric: Annotated[
        str | None, typer.Option(help="By which metric; a part of its name will do if it is the only one.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="Least difference that matters, in the metric's units.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Compare each of the others with this one only.")
    ] = None,
    population: Annotated[
        Literal["sample", "fixed"],
        typer.Option(help="Items are a sample of questions, or a fixed exam on which only repeats vary."),
    ] = "sample",
    items: Items = None,
    fail_if: Annotated[
        list[FailIf],
        typer.Option(
            help="Exit with 3 if a candidate is worse than --against (or the first named), or cannot be "
            "judged; repeatable."
        ),
    ] = [],  # noqa: B006
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Say whether one candidate is better than another, and how sure that is.

    Two or three candidates are compared in all pairs, four or more each with the first, all with --against
    if it is given. Every call is counted: a run that was looked at often is believed less.

    Example: `viva compare exam.viva "Model A" "Model B" --metric "rouge(n=1)" --margin 0.05`

    Example: `viva compare exam.viva new --against old --metric accuracy --fail-if worse`
    """
    looked = opened(run, plugin)
    found = looked.compare(
        *candidates,
        metric=metric or by_metric(looked),
        margin=margin,
        against=against,
        population=population,
        items=items,
    )
    if json:
        print_json("compare", run, found.rows)
    elif not quiet:
        lines = [
            (
                f"{row['a']} - {row['b']}",
                row["criterion"] + (f", {row['scale']}" if row["scale"] else ""),
                figure(row["difference"]),
                None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
                p_value(row["p_adjusted"]),
                row["n_items"],
                row["n_groups"],
                figure(row["mde_family"]),
            )
            for row in found.rows
        ]
        columns = ("pair", "criterion", "difference", "95% interval, pair alone", "p (Holm, family)", "items")
        print_table(
            (*columns, "groups", "detectable (family)"),
            lines,
            found.rows[0]["metric"] if found.rows else None,
        )
        for row in found.rows:
            if said := _beside(row):
                print(printable(said))
        print(printable(str(found)))
    if fail_if:
        from vivavoce.studies.compare import gate

        # Pairs come with the reference first, under the label that it has in the run.
        found_at = gate(found.rows, found.rows[0]["a"])._asdict()
        closed = any(found_at[reason.value] for reason in fail_if)
        for why in (why for reasons in found_at.values() for why in reasons):
            print(f"viva: the gate is {'closed' if closed else 'open, but'}: {why}", file=sys.stderr)
        if closed:
            raise typer.Exit(3)


def _beside(row: Mapping[str, Any]) -> str | None:
    """What stands beside a pair's headline: the difference on what both answered, and q; null without any."""
    parts = []
    if row["n_answered"] is not None and row["n_answered"] != row["n_items"]:
        found = "nothing to compare"
        if row["difference_answered"] is not None:
            ends = row["low_answered"], row["high_answered"]
            found = f"{row['difference_answered']:.3f}"
            found += "" if None in ends else f" ({ends[0]:.3f} to {ends[1]:.3f})"
        parts.append(f"on the {row['n_answered']} both answered: {found}")
    if row["q"] is not None:
        parts.append(f"q (Benjamini-Hochberg) {p_value(row['q'])}")
    by = f" by {row['rater']}" if row["rater"] else ""
    return f"{row['a']} - {row['b']}, {row['criterion']}{by}: {'; '.join(parts)}." if parts else None


def study(
    run: RunPath,
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="[STUDY...]",
            help="agreement, bias, consistency, correlation, examiners, gaps, overall, panel, ranking, "
            "rubrics, size.",
        ),
    ] = [],  # noqa: B006
    items: Items = None,
    cards: Annotated[
        Path | None, typer.Option(help="Size, contamination: a YAML file of models' cards; adds to ours.")
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Examiners, rubrics: the metric that holds people's marks in this run.")
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Examiners: how much less agreement (alpha, below 1) than people's would matter."),
    ] = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Study the marks of a run; without a name, everything that the run has enough for.

    Example: `viva study exam.viva ranking correlation`

    Example: `viva study exam.viva size --cards models.yaml`

    Example: `viva study exam.viva examiners --labels expert --margin 0.1`
    """
    found = opened(run, plugin).study(*studies, items=items, cards=cards, labels=labels, margin=margin)
    if json:
        rows = [{"study": name, **row} for name, finding in found.items() for row in finding.rows]
        return print_json("study", run, rows)
    if quiet:
        return None
    for name, finding in found.items():
        print(printable(f"{name}\n{finding}\n"))
    return None
