"""Exit codes: what a script may rely on. The one table of them; the documentation is written from it."""

from enum import IntEnum
from typing import NoReturn

import typer

from vivavoce.cli.stdout import own_stdout


class ExitCode(IntEnum):
    """What a command's end means to the shell that called it."""

    DONE = 0
    INCOMPLETE = 1
    REFUSED = 2
    GATE_CLOSED = 3
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.DONE: "done; a gate is open",
    ExitCode.INCOMPLETE: "answers or scores failed or are still missing; the same command tries these again",
    ExitCode.REFUSED: "the request cannot be met; the sentence on stderr says what to change",
    ExitCode.GATE_CLOSED: "a gate of `viva compare` is closed; the sentences on stderr say why",
    ExitCode.INTERRUPTED: "interrupted; what was stored is safe, and the same command resumes",
}


class _PrintedCode(int):
    """An exit code whose meaning the command has printed."""


def end_interrupted(*, is_printed: bool) -> NoReturn:
    """End with 130; `main` says why, unless what was printed says it already and a terminal shows both."""
    code = ExitCode.INTERRUPTED
    raise typer.Exit(_PrintedCode(code) if is_printed and own_stdout().isatty() else code)


def needs_sentence(code: object) -> bool:
    """Whether a command was interrupted and has not said so."""
    return code == ExitCode.INTERRUPTED and not isinstance(code, _PrintedCode)
