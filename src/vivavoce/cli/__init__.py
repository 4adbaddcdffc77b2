"""The command line: the verbs of `Run`, and nothing besides. Everything heavy is imported inside a verb.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failed rows remain, 2 the request cannot be
met, 3 a gate of --fail-if failed, 130 interrupted.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from vivavoce.cli.incoming import import_
from vivavoce.cli.options import FailIf, Items, Json, Plugin, Quiet, RunPath, opened
from vivavoce.cli.output import figure, plain, print_estimates, print_json, print_table, progress
from vivavoce.errors import VivaError
from vivavoce.text import printable

__all__ = ["app", "main"]

app = typer.Typer(
    name="viva",
    help="Examine healthcare language models, and examine the examiners too.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    epilog='A first run: `viva import exam.viva answers.jsonl --benchmark "jsonl(path=exam.jsonl)"`, then '
    "`viva score exam.viva accuracy`, `viva compare exam.viva A B --metric accuracy`, `viva report "
    "exam.viva`",
)


def main() -> None:
    """Run the command line; an error of ours is one sentence on stderr and exit code 2."""
    try:
        app()
        sys.stdout.flush()
    except VivaError as error:
        print(printable(f"viva: {error}"), file=sys.stderr)
        sys.exit(2)
    except SystemExit as end:
        if end.code == 130:  # what typer makes of Ctrl-C
            print(
                "viva: interrupted; what was stored is safe, and the same command goes on from there.",
                file=sys.stderr,
            )
        raise
    except BrokenPipeError:  # the reader of our output has gone, as under `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk under `> file`; errors of files are VivaErrors by now
        print(f"viva: cannot write the output: {error.strerror}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)


app.command("import")(import_)


@app.command("list")
def list_(
    kind: Annotated[Literal["metrics", "benchmarks", "formats"], typer.Argument(help="What to list.")],
    plugin: Plugin = [],  # noqa: B006 - typer reads the default, nothing changes it
    json: Json = False,
) -> None:
    """List what can be named: metrics, benchmarks, formats.

    Example: `viva list metrics`
    """
    from vivavoce.catalogue import listing
    from vivavoce.registry import load_plugin

    for path in plugin:
        load_plugin(path)
    rows = listing(kind)
    if json:
        return print_json("list", None, rows)
    texts = [[", ".join(v) if isinstance(v, list) else v for v in row.values()] for row in rows]
    print_table(list(rows[0]), texts)


@app.command()
def show(
    spec: Annotated[str, typer.Argument(help='What to show, such as "rouge(n=L)" or hivmedqa.')],
    plugin: Plugin = [],  # noqa: B006
    json: Json = False,
) -> None:
    """Show a metric or benchmark: its settings, signature, criteria or card.

    Example: `viva show "rouge(n=L)"`
    """
    from vivavoce.catalogue import describe
    from vivavoce.registry import load_plugin

    for path in plugin:
        load_plugin(path)
    rows = describe(spec)
    if json:
        return print_json("show", None, [rows])
    print_table(["", spec], [[k, plain(v)] for k, v in rows.items() if v not in (None, [], "")])


@app.command()
def score(
    run: RunPath,
    metrics: Annotated[list[str], typer.Argument(metavar="METRIC...", help='Such as "rouge(n=1)" or @file.')],
    items: Items = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mark every answer that is not marked yet, and show what each candidate scored.

    Intervals are 95%; coverage is the share of expected answers that could be marked. Exit code 1 if marks
    failed.

    Example: `viva score exam.viva "rouge(n=1)" token_f1`
    """
    with progress(show=not quiet and sys.stderr.isatty()) as hear:
        found = opened(run, plugin).score(*metrics, items=items, progress=hear)
    if json:
        print_json("score", run, found.rows)
    elif not quiet:
        print_estimates(found.rows)
        for note in found.notes:
            print(note)
    failed = sum(row["n_failed"] for row in found.rows)
    if failed:
        print(f"viva: {failed} marks failed; `viva status {run}` tells why, the same command tries again.",
              file=sys.stderr)  # fmt: skip
        raise typer.Exit(1)


@app.command()
def compare(
    run: RunPath,
    candidates: Annotated[
        list[str], typer.Argument(metavar="A [B...]", help="Candidates, as they are labelled.")
    ],
    metric: Annotated[
        str, typer.Option(help="By which metric; a part of its name will do if it is the only one.")
    ],
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
    found = opened(run, plugin).compare(
        *candidates, metric=metric, margin=margin, against=against, population=population, items=items
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
                figure(row["p_adjusted"], 4),
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


@app.command()
def study(
    run: RunPath,
    studies: Annotated[
        list[str],
        typer.Argument(metavar="[STUDY...]", help="agreement, consistency, correlation, gaps, ranking."),
    ] = [],  # noqa: B006
    items: Items = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Study the marks of a run; without a name, everything that needs nothing but marks.

    Example: `viva study exam.viva ranking correlation`
    """
    found = opened(run, plugin).study(*studies, items=items)
    if json:
        rows = [{"study": name, **row} for name, finding in found.items() for row in finding.rows]
        return print_json("study", run, rows)
    if quiet:
        return None
    for name, finding in found.items():
        print(printable(f"{name}\n{finding}\n"))
    return None


@app.command()
def merge(
    run: RunPath,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Runs to bring into the first.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Bring other runs' answers, marks and findings into a run, each all or nothing.

    Example: `viva merge all.viva site-a.viva site-b.viva`
    """
    done = opened(run).merge(*runs)
    if json:
        return print_json("merge", run, [one._asdict() for one in done])
    if quiet:
        return None
    for one in done:
        print(
            f"{one.source}: {one.items} items, {one.responses} answers, {one.scores} marks and "
            f"{one.findings} "
            f"findings are new, {one.replaced} failed answers replaced."
        )
    return None


@app.command()
def status(
    run: RunPath,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Show what a run holds, what is missing from it, and why. Exit code 1 if failed rows remain.

    Example: `viva status exam.viva`
    """
    found = opened(run, plugin).status()
    if json:
        print_json("status", run, found.rows)
    elif not quiet:
        lines = [
            [*(row[c] for c in list(row)[:-1]), "; ".join(f"{n} x {why}" for why, n in row["causes"].items())]
            for row in found.rows
        ]
        print_table(list(found.rows[0]) if found.rows else ["nothing here yet"], lines)
    if any(row["failed"] for row in found.rows):
        raise typer.Exit(1)


@app.command()
def report(
    run: RunPath,
    to: Annotated[Path | None, typer.Option(help="Where to write it; by default beside the run.")] = None,
    items: Items = None,
    plots: Annotated[
        Path | None, typer.Option(help="A folder for every chart as an SVG file of its own.")
    ] = None,
    plugin: Plugin = [],  # noqa: B006
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the report: one HTML file that asks nothing of the network.

    Example: `viva report exam.viva`
    """
    path = opened(run, plugin).report(to, items=items, plots=plots)
    if json:
        row = {"path": str(path), "bytes": path.stat().st_size, "plots": plots and str(plots)}
        return print_json("report", run, [row])
    if not quiet:
        print(path, *([plots] if plots else []), sep="\n")


@app.command()
def copy(
    run: RunPath,
    to: Annotated[Path, typer.Argument(help="A path where nothing lies yet.")],
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Copy a run into a compact file, also while others write to it.

    Example: `viva copy exam.viva backup.viva`
    """
    path = opened(run).copy(to)
    if json:
        return print_json("copy", run, [{"path": str(path), "bytes": path.stat().st_size}])
    if not quiet:
        print(path)
