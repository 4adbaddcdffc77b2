"""stdout is the command's own: what plugins and libraries print while it runs goes to stderr."""

import atexit
import codecs
import json
import os
import sys
from collections.abc import Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    contextmanager,
    nullcontext,
    redirect_stdout,
    suppress,
)
from io import TextIOWrapper
from typing import TextIO, TypeGuard

from vivavoce.core.text import printable, printable_json

_PLAIN = {
    **dict.fromkeys("─–−—‐‑", "-"), **dict.fromkeys("’‘", "'"), **dict.fromkeys("“”„", '"'), "│": "|",
    "┼": "+", "├": "[", "┤": "]", "●": "*", "○": "o", "×": "x", "≥": ">=", "≤": "<=", "≠": "!=", "→": "->",
    "µ": "u", "μ": "u", "\u00a0": " ", "\ufffd": "?",
}  # fmt: skip
"""What signs of ours become on a stream that has none of them; those of tables and plots keep their width."""
_LENIENT = "vivavoce"
_IN_WORDS = "-_/(=[:."
"""Signs behind the ellipsis of a name that is cut: there it is one sign, so that columns stay in place."""
_stream: TextIO | None = None
"""Where a command prints while it runs."""


def echo(text: str = "", *, end: str = "\n", flush: bool = False) -> None:
    """Print what a command says, without what could drive a terminal."""
    print(printable(text), end=end, file=own_stdout(), flush=flush)


def echo_json(answer: object, *, indent: int | None = None) -> None:
    """Print JSON that is the same to whoever reads it: what could drive a terminal stands as an escape.

    So does all but ASCII where the stream is no UTF-8.
    """
    is_plain = not _is_utf(own_stdout())
    echo(printable_json(json.dumps(answer, ensure_ascii=is_plain, allow_nan=False, indent=indent)))


def echo_script(script: str) -> None:
    """Print a script as it is: names of files in it are spelled as the system spells them."""
    stream = own_stdout()
    if isinstance(stream, TextIOWrapper) and not _is_utf(stream):
        stream.reconfigure(encoding=sys.getfilesystemencoding())
    stream.write(script)


def spelled(text: str) -> str:
    """`text` as `echo` prints it: columns and keys of names are measured so."""
    text, stream = printable(text), own_stdout()
    return text if _is_utf(stream) or text.isascii() else _in_encoding(text, stream.encoding)


def _in_encoding(text: str, encoding: str) -> str:
    return text.encode(encoding, _LENIENT).decode(encoding)


def _is_utf(stream: TextIO) -> bool:
    """Whether a stream takes every sign; one that is no file has no encoding."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


def _plain_signs(error: UnicodeError) -> tuple[str, int]:
    """What stands for signs that an encoding lacks: plain ones for ours, escapes of JSON for all others."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object
    return "".join(_plain_sign(text, place) for place in range(error.start, error.end)), error.end


def _plain_sign(text: str, place: int) -> str:
    sign = text[place]
    if sign == "…":
        following = text[place + 1 : place + 2]
        return "~" if following.isalnum() or (following and following in _IN_WORDS) else "..."
    return _PLAIN.get(sign) or json.dumps(sign)[1:-1]


codecs.register_error(_LENIENT, _plain_signs)


def own_stdout() -> TextIO:
    """The stdout of the command that runs."""
    return _stream or sys.stdout


def terminal_width(fallback: int) -> int:
    """Columns of the command's output: COLUMNS, else those of its terminal, else the fallback."""
    with suppress(ValueError):
        if (columns := int(os.environ.get("COLUMNS", ""))) > 0:
            return columns
    with suppress(OSError, ValueError):
        return os.get_terminal_size(own_stdout().fileno()).columns or fallback
    return fallback


def terminal_height() -> int:
    """Lines of the command's terminal: LINES, else its own; 24 where it has none."""
    with suppress(ValueError):
        if (lines := int(os.environ.get("LINES", ""))) > 0:
            return lines
    with suppress(OSError, ValueError):
        return os.get_terminal_size(own_stdout().fileno()).lines or 24
    return 24


@contextmanager
def others_to_stderr() -> Iterator[None]:
    """While the block runs, only `echo` and `own_stdout` reach stdout, and all else is on stderr.

    That holds for C libraries and subprocesses too, where stdout is the process's own and not a stream that a
    test or a notebook put there.
    """
    global _stream
    if _stream is not None:
        yield
        return
    with ExitStack() as stack:
        _stream = stack.enter_context(_stream_of_command())
        stack.callback(_forget)
        stack.enter_context(redirect_stdout(sys.stderr))
        yield


def open_streams() -> None:
    """Lead closed standard streams nowhere, and let those of any encoding take every text.

    The next file or pipe would take the number of a closed one, as a worker's pipe that of stdout, and for a
    closed stderr `print` takes stdout. Pipes of Windows, `LANG=C` and PYTHONIOENCODING give streams without
    most signs.
    """
    for descriptor in range(3):  # as under `<&- >&- 2>&-`
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number is given first
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_LENIENT)


def end_stdout() -> None:
    """Flush stdout; what a library prints when the process ends goes to stderr."""
    if sys.stdout is not None:
        sys.stdout.flush()
    atexit.register(_leave_stdout)  # runs before what was registered earlier


def _leave_stdout() -> None:
    if _is_of_process(sys.stdout):
        if os.name == "posix":
            _point_to_stderr()
        sys.stdout = sys.stderr


def _forget() -> None:
    global _stream
    _stream = None


def _is_of_process(stream: TextIO | None) -> TypeGuard[TextIOWrapper]:
    """Whether it is Python's own stream, on the descriptor that programs know as stdout.

    It is null where stdout is closed, and typer puts another in its place where a pipe has lost its reader.
    """
    try:
        return isinstance(stream, TextIOWrapper) and stream.fileno() == 1
    except (OSError, ValueError):
        return False


def _stream_of_command() -> AbstractContextManager[TextIO]:
    if sys.stdout is None:  # as under `>&-`
        return open(os.devnull, "w", encoding="utf-8")
    if os.name == "posix" and _is_of_process(sys.stdout):
        return _moved(sys.stdout)
    return nullcontext(sys.stdout)


@contextmanager
def _moved(stdout: TextIOWrapper) -> Iterator[TextIO]:
    """A stream to where stdout goes, whose own descriptor leads to stderr while the block runs."""
    stdout.flush()
    stream = open(os.dup(1), "w", encoding=stdout.encoding, errors=stdout.errors)  # noqa: SIM115
    stream.reconfigure(line_buffering=stdout.line_buffering, write_through=stdout.write_through)
    _point_to_stderr()
    try:
        yield stream
    finally:
        with suppress(OSError):
            stdout.flush()  # what was written to `sys.__stdout__`
        os.dup2(stream.fileno(), 1)
        stream.close()  # which raises what a pipe without a reader or a full disk does


def _point_to_stderr() -> None:
    try:
        os.dup2(2, 1)
    except OSError:  # a closed stderr
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
