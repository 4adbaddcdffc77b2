"""Exit codes: what a script may rely on. The one table of them; the documentation is written from it."""

from enum import IntEnum


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
