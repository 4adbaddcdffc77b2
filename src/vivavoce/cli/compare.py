"""`viva compare`: which candidate is better, and a gate for scripts."""

import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from vivavoce.cli import completion
from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.gate_output import check_gate_files, is_gate, print_gate, write_gate_files
from vivavoce.cli.options import Items, Json, Plugin, Primary, Quiet, RunPath, open_run, output_path
from vivavoce.cli.output import figure, groups_of, p_value, print_json, print_table
from vivavoce.cli.stdout import echo
from vivavoce.core.errors import InputError
from vivavoce.core.measure_names import metric_name

if TYPE_CHECKING:
    from vivavoce.run.run import Run


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
            help="Metric to compare by, or a part of its name if only one fits; by default the primary one.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    primary: Primary = None,
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
            help="Compare people who answered with the help of a candidate and without (annotate --assist).",
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
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Test whether one candidate is better than another, with intervals and adjusted p-values.

    Without names all candidates are compared in all pairs by the primary metric, corrected together: the test
    that the report's first line rests on. Of more than five the best is shown against the others, and --json
    has all pairs. Two or three named candidates are compared in all pairs, four or more each with the first,
    and all with --against if it is given. Repeated tests inflate false positives, so they are counted and
    reported; with --sequential they are corrected for, as long as every test of these candidates is made
    with it.

    Example: `viva compare exam.viva`

    Example: `viva compare exam.viva "Model A" "Model B" --metric rouge:n=1 --margin 0.05`

    Example: `viva compare exam.viva new --against old --metric accuracy --require not-worse --margin 0.05`

    Example: `viva compare exam.viva A B --metric accuracy --sequential --analyses 5`
    """
    from vivavoce.studies.comparison.pairs import shown_rows

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
        if metric is None:
            raise InputError("a gate names its --metric: what else would count may change with the scores.")
        check_gate_files(summary, junit)
        gate = opened.gate(*candidates, **terms, **conditions)
    finding = (
        gate.finding if gate else opened.compare(*candidates, **terms, primary=primary, assisted=assisted)
    )
    if json:
        print_json("compare", run, finding.rows)
    elif not quiet:
        if line := _headline(opened, finding.rows):
            echo(line, end="\n\n")
        _print_pairs(shown_rows(finding.rows))
        echo(str(finding))
    if gate:
        print_gate(gate)
        write_gate_files(gate, run, summary, junit, seconds=time.perf_counter() - start)
        if gate.closed:
            raise typer.Exit(ExitCode.GATE_CLOSED)


def _headline(run: "Run", rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The first line: what the comparison says, as the report's first screen says it."""
    from vivavoce.studies.comparison.headline import comparison_headline

    key = (rows[0]["signature"], rows[0]["criterion"], rows[0]["rater"]) if rows else None
    of_rows = (m for m in run.measures if (m.signature, m.criterion.criterion, m.rater) == key)
    measure = next(of_rows, None)
    return comparison_headline(rows, measure.criterion) if measure else None


def _print_pairs(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of the pairs, then what does not fit into it."""
    lines = [
        (
            f"{row['a']} -\n{row['b']}",
            row["criterion"] + (f", {row['scale']}" if row["scale"] else ""),
            figure(row["difference"]),
            None if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}",
            p_value(row["p_adjusted"]),
            row["n_items"],
            groups_of(row),
            figure(row["mde_family"]),
        )
        for row in rows
    ]
    p = "p (all analyses, family)" if any(row["analysis"] for row in rows) else "p (Holm, family)"
    columns = ("pair", "criterion", "difference", "95% interval, pair alone", p, "items", "groups",
               "detectable (family)")  # fmt: skip
    print_table(columns, lines, metric_name(rows[0]["metric"]) if rows else None)
    for row in rows:
        if sentence := _answered_and_q(row):
            echo(sentence)


def _answered_and_q(row: Mapping[str, Any]) -> str | None:
    """The difference on what both answered, and q; None where a pair has neither."""
    parts = []
    if row["n_answered"] is not None and row["n_answered"] != row["n_items"]:
        difference = "nothing to compare"
        if row["difference_answered"] is not None:
            ends = row["low_answered"], row["high_answered"]
            difference = f"{row['difference_answered']:.3f}"
            difference += "" if None in ends else f" ({ends[0]:.3f} to {ends[1]:.3f})"
        parts.append(f"on the {row['n_answered']} both answered: {difference}")
    if row["difference"] is not None and row["low"] is None:
        parts.append(f"no interval: {row['reason']}")
    if row["q"] is not None:
        parts.append(f"q (Benjamini-Hochberg) {p_value(row['q'])}")
    by = f" by {row['rater']}" if row["rater"] else ""
    return f"{row['a']} - {row['b']}, {row['criterion']}{by}: {'; '.join(parts)}." if parts else None
