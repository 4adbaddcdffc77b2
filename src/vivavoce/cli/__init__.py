"""The command line: the verbs of `Run`, and nothing besides. Everything heavy is imported inside a verb.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failed rows remain, 2 the request cannot be
met, 3 a gate of --fail-if failed, 130 interrupted.
"""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from vivavoce.cli.challenging import challenge
from vivavoce.cli.collecting import collect
from vivavoce.cli.demo import demo
from vivavoce.cli.diffing import diff
from vivavoce.cli.examining import run as run_exam
from vivavoce.cli.incoming import import_
from vivavoce.cli.marking import compare, score, study
from vivavoce.cli.mistakes import UsageError, check_target, misused, nowhere
from vivavoce.cli.naming import list_, show
from vivavoce.cli.options import Items, Json, Plugin, Quiet, RunPath, opened, place
from vivavoce.cli.outgoing import Redact, copy, export, merge, print_status
from vivavoce.cli.output import print_json
from vivavoce.cli.panel import panel
from vivavoce.cli.reproducing import reproduce
from vivavoce.cli.varying import vary
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


app.command()(score)
app.command()(compare)
app.command()(study)
app.command()(diff)
app.command()(vary)
app.command()(reproduce)
app.command()(panel)
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
app.command()(challenge)
