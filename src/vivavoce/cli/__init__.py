"""The command line: the verbs of `Run`, and nothing besides. Everything heavy is imported inside a verb.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failed rows remain, 2 the request cannot be
met, 3 a gate of --fail-if failed, 130 interrupted.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from vivavoce.cli.collecting import collect
from vivavoce.cli.demo import demo
from vivavoce.cli.examining import run as run_exam
from vivavoce.cli.incoming import import_
from vivavoce.cli.mistakes import UsageError, by_metric, check_target, misused, nowhere, whole
from vivavoce.cli.naming import list_, show
from vivavoce.cli.options import FailIf, Items, Json, Plugin, Quiet, RunPath, opened, place
from vivavoce.cli.outgoing import Redact, copy, export, merge, print_status
from vivavoce.cli.output import counted, figure, p_value, print_estimates, print_json, print_table, progress
from vivavoce.errors import RunNotFound, VivaError
from vivavoce.text import one_line, printable

__all__ = ["app", "main"]

app = typer.Typer(
    name="viva",
    help="Examine healthcare language models, and examine the examiners too.",
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="A first run, without a file of your own: `viva demo`. With your own: "
    '`viva import exam.viva answers.jsonl --benchmark "jsonl(path=exam.jsonl)"`, then `viva score exam.viva '
    "accuracy`, `viva compare exam.viva A B --metric accuracy`, `viva report exam.viva`",
)


def main() -> None:
    """Run the command line; an error is one sentence on stderr and exit code 2, never a traceback.

    With VIVA_TRACEBACK=1 a fault of our own shows where it happened.
    """
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        _end(misused(error, sys.argv[1:]))
    except RunNotFound as error:
        _end(nowhere(error))
    except VivaError as error:
        _end(str(error))
    except BrokenPipeError:  # the reader of our output has gone, as under `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk under `> file`; errors of files are VivaErrors by now
        print(f"viva: cannot write the output: {error.strerror or error}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except SystemExit:
        raise
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:  # what Polars calls a panic is no Exception
        if os.environ.get("VIVA_TRACEBACK"):
            raise
        said = f"{type(error).__name__}: {one_line(str(error), 200)}"
        _end(
            f"this is a fault of vivavoce, not yours: {said}. What was stored is safe; VIVA_TRACEBACK=1 "
            "before the command shows where, which is what a report of it needs."
        )
    if code == 130:  # what typer makes of Ctrl-C
        print("viva: interrupted; what was stored is safe, and the same command goes on from there.",
              file=sys.stderr)  # fmt: skip
    sys.exit(code if isinstance(code, int) else 0)


def _end(sentence: str) -> None:
    print(printable(f"viva: {sentence}"), file=sys.stderr)
    sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        from vivavoce._version import __version__

        print(f"viva {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def viva(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Examine healthcare language models, and examine the examiners too."""
    if context.invoked_subcommand is None:
        print(context.get_help(), end="")
        raise typer.Exit(2)


app.command()(demo)
app.command()(collect)
app.command("run")(run_exam)
app.command("import")(import_)
app.command("list")(list_)
app.command()(show)


@app.command()
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
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mark every answer that is not marked yet, and show what each candidate scored.

    Intervals are 95%; coverage is the share of expected answers that could be marked. Exit code 1 if marks
    failed.

    Example: `viva score exam.viva "rouge(n=1)" token_f1`

    Example: `viva score exam.viva bleu token_f1 --worst-at 3 --tail 0.1 --veto "token_f1 < 0.2"`
    """
    from vivavoce.studies.words import by_view

    with progress(show=not quiet and sys.stderr.isatty()) as hear:
        found = opened(run, plugin).score(
            *whole(metrics), items=items, worst_at=worst_at, tail=tail, veto=veto, progress=hear
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
        print(f"viva: {lost}; `viva status {run}` tells why, the same command tries again.", file=sys.stderr)
        raise typer.Exit(1)


@app.command()
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
                row["criterion"],
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


@app.command()
def study(
    run: RunPath,
    studies: Annotated[
        list[str],
        typer.Argument(
            metavar="[STUDY...]", help="agreement, consistency, correlation, gaps, ranking, size."
        ),
    ] = [],  # noqa: B006
    items: Items = None,
    cards: Annotated[
        Path | None, typer.Option(help="Size: a YAML file of models' cards; adds to the known ones.")
    ] = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Study the marks of a run; without a name, everything that the run has enough for.

    Example: `viva study exam.viva ranking correlation`

    Example: `viva study exam.viva size --cards models.yaml`
    """
    found = opened(run, plugin).study(*studies, items=items, cards=cards)
    if json:
        rows = [{"study": name, **row} for name, finding in found.items() for row in finding.rows]
        return print_json("study", run, rows)
    if quiet:
        return None
    for name, finding in found.items():
        print(printable(f"{name}\n{finding}\n"))
    return None


app.command()(merge)


@app.command()
def status(
    run: RunPath,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what a run holds, what is missing and why, and what was asked. Exit code 1 if marks failed.

    Example: `viva status exam.viva`
    """
    found = opened(run, plugin).status()
    if json:
        print_json("status", run, found.rows)
    elif not quiet:
        print_status(found.rows)
    if any(row["failed"] for row in found.rows if row["about"] == "marks"):
        raise typer.Exit(1)


@app.command()
def report(
    run: RunPath,
    to: Annotated[
        Path | None,
        typer.Option(parser=place, metavar="PATH", help="Where to write it; by default beside the run."),
    ] = None,
    items: Items = None,
    plots: Annotated[
        Path | None,
        typer.Option(
            parser=place, metavar="PATH", help="A folder for every chart as an SVG file of its own."
        ),
    ] = None,
    redact: Redact = False,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the report: one HTML file that asks nothing of the network.

    Example: `viva report exam.viva`
    """
    for path in filter(None, (to, plots)):
        check_target(path)
    rows = opened(run, plugin).report_rows(to, items=items, plots=plots, redact=redact)
    if json:
        return print_json("report", run, rows)
    if not quiet:
        print(rows[0]["path"], *([plots] if plots else []), sep="\n")


app.command()(export)
app.command()(copy)
