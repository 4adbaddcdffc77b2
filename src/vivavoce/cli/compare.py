"""`viva compare`: which candidate is better, and a gate for scripts."""

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.comparison_table import print_comparison
from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.gate_output import check_gate_files, is_gate, print_gate, write_gate_files
from vivavoce.cli.options import (
    Full,
    Items,
    Json,
    NearDuplicates,
    Plugin,
    Primary,
    Quiet,
    RunPath,
    open_run,
    output_path,
)
from vivavoce.cli.output import print_json
from vivavoce.core.errors import InputError


class FailIf(StrEnum):
    """What closes a gate. An enumeration, because typer takes no list of literals."""

    worse = "worse"
    unclear = "unclear"


def compare(
    run: RunPath,
    candidates: Annotated[
        list[str],
        typer.Argument(
            metavar="[A B...]",
            autocompletion=completion.candidates,
            help="Candidates by their names in the run, or parts of them; by default all but floors and "
            "ceilings, in all pairs.",
        ),
    ] = [],
    metric: Annotated[
        str | None,
        typer.Option(
            help="Metric to compare by, or a part of its name if only one fits; by default the primary one. "
            "seconds and confidence are recorded with answers.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    primary: Primary = None,
    near_duplicates: NearDuplicates = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Smallest difference that matters, in the metric's units.", metavar="NUMBER"),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Compare all other candidates with this one only.",
            metavar="CANDIDATE",
            autocompletion=completion.candidates,
        ),
    ] = None,
    population: Annotated[
        Literal["sample", "fixed"],
        typer.Option(
            help="Treat the items as a sample of possible questions, or as a fixed benchmark on which only "
            "repeats vary.",
            metavar="sample|fixed",
        ),
    ] = "sample",
    assisted: Annotated[
        bool,
        typer.Option(
            "--assisted",
            help="Compare people who answered with the help of a candidate and without (annotate --assist); "
            "without --metric by the primary one, their seconds and their confidence.",
        ),
    ] = False,
    items: Items = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            autocompletion=completion.metrics,
            help="People's scores that correct a judge's; by default the only ones of the criterion.",
        ),
    ] = None,
    labels_chosen_at_random: Annotated[
        bool,
        typer.Option(
            "--labels-chosen-at-random",
            help="Your word that the labelled questions were chosen at random, where the run does not know.",
        ),
    ] = False,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Test the same candidates again as data grow, and correct for all these tests.",
        ),
    ] = False,
    analyses: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="With --sequential: how many tests there will be at most; any number by default.",
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            metavar="VIEW",
            help='Compare the expected worst of K answers, "worst@K", or means with answers over a red line '
            'at the worst, "METRIC[CRITERION] >= LIMIT"; by default means.',
        ),
    ] = None,
    fail_if: Annotated[
        list[FailIf],
        typer.Option(
            help="A gate: exit with 3 if a candidate is shown to be worse than --against (or the first "
            "named), or if the comparison is unclear, so every verdict that leaves it open; repeatable.",
            metavar="worse|unclear",
        ),
    ] = [],
    require: Annotated[
        Literal["not-worse", "better"] | None,
        typer.Option(
            help="A gate: exit with 3 unless candidates are shown not to be worse by --margin or more, or "
            "are shown to be better.",
            metavar="not-worse|better",
        ),
    ] = None,
    max_critical: Annotated[
        int | None,
        typer.Option(
            help="A gate: exit with 3 if more answers of a candidate cross a line of --veto.", metavar="N"
        ),
    ] = None,
    veto: Annotated[
        list[str],
        typer.Option(
            help='With --max-critical: a line, as in "METRIC[CRITERION] >= LIMIT"; repeatable.',
            metavar="LINE",
        ),
    ] = [],
    summary: Annotated[
        Path | None,
        typer.Option(parser=output_path, metavar="FILE", help="A gate: write a summary in Markdown."),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(parser=output_path, metavar="FILE", help="A gate: write its checks as JUnit XML."),
    ] = None,
    plugin: Plugin = [],
    full: Full = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Test which candidate is better, with intervals.

    Without names all candidates are compared in all pairs by the primary metric, corrected together: the test
    that the report's first line rests on. Of more than five the best is shown against the others, and --json
    has all pairs. Two or three named candidates are compared in all pairs, four or more each with the first,
    and all with --against if it is given. Repeated tests inflate false positives, so they are counted and
    reported; with --sequential they are corrected for, as long as every test of these candidates is made
    with it. A terminal also shows the differences as a plot. With --full come p, q, the cases, the smallest
    difference that would be found, and a paragraph for each pair.

    Example: `viva compare exam.viva`

    Example: `viva compare exam.viva "Model A" "Model B" --metric rouge:n=1 --margin 0.05`

    Example: `viva compare exam.viva new --against old --metric accuracy --require not-worse --margin 0.05`

    Example: `viva compare exam.viva A B --metric accuracy --sequential --analyses 5`

    Example: `viva compare exam.viva A B --metric accuracy --view worst@3`
    """
    opened, start = open_run(run, plugin), time.perf_counter()
    terms: dict[str, Any] = {
        "metric": metric,
        "margin": margin,
        "against": against,
        "population": population,
        "items": items,
        "labels": labels,
        "labels_chosen_at_random": labels_chosen_at_random,
        "sequential": sequential,
        "analyses": analyses,
    }
    conditions: dict[str, Any] = {
        "require": require,
        "fail_if": [condition.value for condition in fail_if],
        "max_critical": max_critical,
        "veto": veto,
    }
    gate = None
    if is_gate(summary, junit, *conditions.values()):
        _check_not_of_gates(near_duplicates, view)
        check_gate_files(summary, junit)
        gate = opened.gate(*candidates, **terms, **conditions)
    choice: dict[str, Any] = {"near_duplicates": near_duplicates}
    finding = (
        gate.finding
        if gate
        else opened.compare(*candidates, **terms, **choice, primary=primary, assisted=assisted, view=view)
    )
    if json:
        more = {"integrity": finding.integrity, "questions": finding.questions}
        print_json("compare", run, finding.rows, headline=finding.headline, **more)
    elif not quiet:
        print_comparison(finding, full=full)
    if gate:
        print_gate(gate)
        write_gate_files(gate, run, summary, junit, seconds=time.perf_counter() - start)
        if gate.closed:
            raise typer.Exit(ExitCode.GATE_CLOSED)


def _check_not_of_gates(near_duplicates: str | None, view: str | None) -> None:
    """Raise `InputError` for an option of a comparison that decides no gate."""
    if near_duplicates is not None:
        raise InputError(
            "--near-duplicates is chosen before a gate, by viva compare RUN --near-duplicates join."
        )
    if view is not None:
        raise InputError("a gate decides on means: --view compares, and decides no gate.")
