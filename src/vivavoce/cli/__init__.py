"""The command line: one module per command; commands of plugins join through the registry.

Results go to stdout, progress to stderr; `exit_codes.py` says how a command ends. Heavy packages are imported
inside a command, so that `viva --help` answers at once.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from vivavoce.cli.annotate import annotate
from vivavoce.cli.build import build
from vivavoce.cli.collect import collect
from vivavoce.cli.commands import Command, CommandGroup
from vivavoce.cli.compare import compare
from vivavoce.cli.copy import copy
from vivavoce.cli.demo import demo
from vivavoce.cli.diff import diff
from vivavoce.cli.exit_codes import ExitCode
from vivavoce.cli.export import export
from vivavoce.cli.fetch import fetch
from vivavoce.cli.import_ import import_
from vivavoce.cli.interim import interim
from vivavoce.cli.list_ import list_
from vivavoce.cli.merge import merge
from vivavoce.cli.network_disk import with_network_disk
from vivavoce.cli.panel import panel
from vivavoce.cli.plan_sample import plan_sample
from vivavoce.cli.report import report
from vivavoce.cli.reproduce import reproduce
from vivavoce.cli.run import run
from vivavoce.cli.run_files import missing_run_message
from vivavoce.cli.score import score
from vivavoce.cli.shards import shards
from vivavoce.cli.show import show
from vivavoce.cli.status import status
from vivavoce.cli.stdout import echo, end_stdout, open_streams
from vivavoce.cli.study import study
from vivavoce.cli.train import train
from vivavoce.cli.usage_errors import UsageError, usage_message
from vivavoce.cli.vary import vary
from vivavoce.cli.view import view
from vivavoce.core.errors import RunNotFound, VivaError
from vivavoce.core.termination import interrupt_once
from vivavoce.core.text import one_line, printable

app = typer.Typer(
    name="viva",
    cls=CommandGroup,
    help="Evaluate medical language models, and the judges that score them.",
    add_completion=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="A first run, without a file of your own: viva demo. With your own: viva import exam.viva "
    "answers.jsonl --benchmark jsonl:path=exam.jsonl, then viva score exam.viva, viva compare exam.viva, "
    "viva report exam.viva\n\n"
    "Exit codes: 0 done, or a gate is open; 1 something failed or is missing; 2 refused, and the sentence on "
    "stderr says why; 3 a gate is closed.",
)
COMMANDS = (
    *(demo, fetch, collect, run, import_, list_, show, score, compare, interim, study, diff, vary, train),
    *(build, reproduce, panel, annotate, plan_sample, shards, merge, status, view, report, export, copy),
)
OPEN = {"ignore_unknown_options": True, "allow_extra_args": True}
"""Of a command that takes options of what it names."""
for command in COMMANDS:
    settings = OPEN if command is build else None
    name = command.__name__.rstrip("_").replace("_", "-")
    app.command(name, cls=Command, context_settings=settings)(with_network_disk(command))


def main() -> None:
    """Run the command line; an error is one sentence on stderr, never a traceback.

    With VIVA_TRACEBACK=1 an error of our own shows where it happened. SIGTERM, by which schedulers end a job,
    is Ctrl-C; sent again, it changes nothing.
    """
    signal.signal(signal.SIGTERM, interrupt_once)
    open_streams()
    try:
        code = app(standalone_mode=False)
        end_stdout()
    except (UsageError, VivaError) as error:
        _fail(_sentence_of(error))
    except BrokenPipeError:  # the reader of our output ended first, as under `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.INCOMPLETE)
    except OSError as error:  # a full disk under `> file`; other errors of files are VivaErrors by now
        _fail_output(error)
    except SystemExit:  # of typer, behind a completion or a pipe without a reader, or of a plugin's command
        with suppress(OSError):
            end_stdout()
        raise
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BaseException as error:  # a panic of Polars is not an Exception
        if os.environ.get("VIVA_TRACEBACK"):
            raise
        message = f"{type(error).__name__}: {one_line(str(error), 200)}"
        _fail(
            f"this is a fault of vivavoce, not yours: {message}. What was stored is safe; VIVA_TRACEBACK=1 "
            "before the command shows where, which is what a report of it needs."
        )
    if code == ExitCode.INTERRUPTED:  # as typer ends on Ctrl-C
        print(
            "viva: interrupted; what was stored is safe; rerun the command to resume.",
            file=sys.stderr,
        )
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def _sentence_of(error: Exception) -> str:
    """The sentence for an error of the command line's parser or of our own."""
    if isinstance(error, UsageError):
        return usage_message(error, sys.argv[1:])
    return missing_run_message(error) if isinstance(error, RunNotFound) else str(error)


def _fail_output(error: OSError) -> NoReturn:
    print(printable(f"viva: cannot write the output: {error.strerror or error}."), file=sys.stderr)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(ExitCode.REFUSED)


def _fail(sentence: str) -> NoReturn:
    print(printable(f"viva: {sentence}"), file=sys.stderr)
    with suppress(OSError):
        end_stdout()
    sys.exit(ExitCode.REFUSED)


def _print_version(requested: bool) -> None:
    if requested:
        from vivavoce._version import __version__

        echo(f"viva {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def viva(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Evaluate medical language models, and the judges that score them."""
    if context.invoked_subcommand is None:
        echo(context.get_help(), end="")
        raise typer.Exit(ExitCode.REFUSED)
