"""`viva study`: what the scores of a run show."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vivavoce.cli import completion
from vivavoce.cli.forest_plot import PlotRow
from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, open_run
from vivavoce.cli.output import print_json, print_plot, table_width
from vivavoce.cli.stdout import echo, spelled
from vivavoce.core.measure_names import measure_name
from vivavoce.core.short_names import short_names

if TYPE_CHECKING:
    from vivavoce.core.records import Finding


def study(
    run: RunPath,
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="[STUDY...]",
            autocompletion=completion.registered("studies"),
            help="Names or specs, such as examiners:margin=0.1, of {studies}. "
            "`viva list studies` describes them.",
        ),
    ] = [],
    items: Items = None,
    cards: Annotated[
        Path | None,
        typer.Option(
            help="size, contamination, correlation: a YAML file with model cards, added to the shipped ones.",
            metavar="FILE",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="examiners, rubrics, audit: the metric that holds people's scores in this run.",
            metavar="METRIC",
            autocompletion=completion.metrics,
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(
            help="examiners: smallest loss of agreement (alpha, below 1) against people's that matters; "
            "facts: smallest difference of precision that matters; controls: smallest difference that "
            "matters, in the metric's units.",
            metavar="NUMBER",
        ),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            help="correlation: a table candidate,rating[,low,high] of ratings from elsewhere, such as Elo.",
            metavar="FILE",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="arguments: the alpha above which people agree enough on a task, fixed before the data are "
            "seen.",
            metavar="NUMBER",
        ),
    ] = None,
    plugin: Plugin = [],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Study the scores: agreement, ranking, bias of judges and more.

    Without a name every study runs that the run has enough data for.

    Example: `viva study exam.viva ranking correlation`

    Example: `viva study exam.viva size --cards models.yaml`

    Example: `viva study exam.viva examiners --labels expert --margin 0.1`

    Example: `viva study exam.viva arguments --threshold 0.6`
    """
    from vivavoce.studies.study_headline import studies_headline

    findings = open_run(run, plugin).study(
        *studies, items=items, cards=cards, labels=labels, margin=margin, ratings=ratings, threshold=threshold
    )
    if json:
        rows = [{"study": name, **row} for name, finding in findings.items() for row in finding.rows]
        print_json("study", run, rows, headline=studies_headline(findings))
    elif not quiet:
        if headline := studies_headline(findings):
            echo(headline, end="\n\n")
        if len(findings) == 1:
            _print_intervals(*findings.values())
        for name, finding in findings.items():
            text = str(finding).removeprefix(f"{headline}\n") if len(findings) == 1 else str(finding)
            echo(f"{name}\n{text}\n")


_VALUES = ("estimate", "difference", "mean", "value", "f1", "slope")
_LABELS = (
    *("candidate", "a", "b", "category", "contrast", "type", "against", "part", "probe", "coefficient"),
    *("figure", "control", "position", "role", "level", "half", "other", "of"),
)


def _print_intervals(finding: "Finding") -> None:
    """In a terminal a plot of the intervals of the first measure that has any; elsewhere nothing."""
    rows = _first_intervals(finding)
    values = [name for name in _VALUES if rows and all(_is_between(row, name) for row in rows)]
    if values:
        names = _labels(rows)
        short = short_names(names, table_width() // 2)
        plot = [
            PlotRow(short(name), row[values[0]], row["low"], row["high"])
            for name, row in zip(names, rows, strict=True)
        ]
        zero, n_below = values[0] in ("difference", "slope"), str(finding).count("\n") + 3
        print_plot(f"{values[0]}: {_measure(rows[0]) or finding.study}", plot, zero=zero, n_below=n_below)


def _first_intervals(finding: "Finding") -> list[Mapping[str, Any]]:
    """The rows with an interval, of the first measure on the first benchmark that has any."""
    rows = [row for row in finding.rows if row.get("low") is not None and row.get("high") is not None]
    board = _board(rows[0]) if rows else None
    return [row for row in rows if _board(row) == board]


def _board(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(map(row.get, ("benchmark", "metric", "criterion", "rater")))


def _measure(row: Mapping[str, Any]) -> str:
    metric = row.get("metric")
    return measure_name(metric, row.get("criterion") or "", row.get("rater") or "") if metric else ""


def _labels(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What each row is about, as far as the rows differ in it."""
    varied = [name for name in _LABELS if len({str(row.get(name)) for row in rows}) > 1] or ["candidate"]
    return [spelled(", ".join(str(row[name]) for name in varied if row.get(name))) for row in rows]


def _is_between(row: Mapping[str, Any], name: str) -> bool:
    """Whether the row's interval is that of this column."""
    value = row.get(name)
    return isinstance(value, int | float) and row["low"] <= value <= row["high"]
