"""The command line: one module per command, loaded when it is typed; plugins' join through the registry.

Results go to stdout, progress to stderr; `exit_codes.py` says how a command ends. Heavy packages are imported
inside a command, so that `viva --help` answers at once.
"""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from vivavoce.cli.commands import CommandGroup
from vivavoce.cli.exit_codes import ExitCode, needs_sentence
from vivavoce.cli.run_files import missing_run_message
from vivavoce.cli.stdout import echo, end_stdout, open_streams
from vivavoce.cli.usage_errors import UsageError, usage_message
from vivavoce.core.cycles import no_search_at_exit, rare_search
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
    epilog="viva COMMAND --help shows options and examples; viva alone, the runs here.\n"
    "Options: --help, --version, --install-completion, --show-completion. Exit codes:\n"
    "0 done, or a gate is open; 1 failed or missing; 2 refused; 3 a gate is closed.",
)


@rare_search()
def main() -> None:
    """Run the command line; an error is one sentence on stderr, never a traceback.

    With VIVA_TRACEBACK=1 an error of our own shows where it happened. SIGTERM, by which schedulers end a job,
    is Ctrl-C; sent again, it changes nothing.
    """
    signal.signal(signal.SIGTERM, interrupt_once)
    no_search_at_exit()
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
    if needs_sentence(code):  # as typer ends on Ctrl-C
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
        from vivavoce.cli.folder_status import show_runs

        show_runs(Path())
