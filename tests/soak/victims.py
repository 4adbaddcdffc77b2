"""Verbs in processes of their own that can be killed, at a moment or as they are about to write.

The processes are forked from one that has imported everything already (`forkserver`), so that a verb costs
what it does, and not the second that its imports take.
"""

import multiprocessing
import os
import pkgutil
import runpy
import signal
import sqlite3
import sys
from collections.abc import Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

_READS = ("SELECT", "PRAGMA", "EXPLAIN", "--")
LATE = (
    *("vivavoce.__main__", "vivavoce.contrib.inspect", "vivavoce.evaluators.heads", "vivavoce.models.local"),
    "vivavoce.run.train",
)
"""Modules that no victim starts with: they import torch or Inspect, which take 6 seconds."""
_FILE_EVENTS = ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")


def context() -> ForkServerContext:
    """Processes that begin with the package imported, but for what needs torch or Inspect."""
    import vivavoce

    names = [module.name for module in pkgutil.walk_packages(vivavoce.__path__, "vivavoce.")]
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload([name for name in names if not name.startswith(LATE)])
    return made


def process_of(context: ForkServerContext, **request: object) -> ForkServerProcess:
    """A process for `verb` with these arguments. By the path of this file: `tests` is no package."""
    named = {"init_globals": {"REQUEST": request}, "run_name": "victim"}
    return context.Process(target=runpy.run_path, args=(__file__,), kwargs=named)


def verb(
    words: Sequence[str], folder: Path, output: Path, steps: Path | None, fatal: tuple[str, int] | None
) -> None:
    """The command line with these words, in a folder, as a process of its own.

    Its writes are steps, named by their kind, such as 'INSERT INTO scores': `steps` is a file that gets
    these names; `fatal`, a kind and a number, is the step at which the process kills itself, before it is
    done.
    """
    stream = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(stream, 1)
    os.dup2(stream, 2)
    os.chdir(folder)
    if steps or fatal:
        _watch(_Steps(steps, fatal))
    from vivavoce import cli

    sys.argv = ["viva", *words]
    cli.main()


class _Steps:
    """Counts a process's writes by kind, and ends it at one of them."""

    def __init__(self, file: Path | None, fatal: tuple[str, int] | None) -> None:
        self.stream = None if file is None else os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.kind, self.left = fatal or ("", 0)

    def __call__(self, kind: str) -> None:
        if self.stream is not None:
            os.write(self.stream, f"{kind}\n".encode())
        if kind == self.kind:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def _watch(step: _Steps) -> None:
    """Have each statement that writes, and each file that is opened to write, renamed or removed, counted."""

    def on_statement(sql: str) -> None:
        if not sql.lstrip().upper().startswith(_READS):
            step(" ".join(sql.split()[:3]))

    def on_event(event: str, arguments: tuple[object, ...]) -> None:
        if event in _FILE_EVENTS:
            step(event)
        elif event == "open":
            _, mode, flags = arguments
            if set(str(mode or "")) & set("wax+") or (isinstance(flags, int) and flags & os.O_WRONLY):
                step("open")

    connect = sqlite3.connect

    def watched(database: str, *arguments: object, **options: object) -> sqlite3.Connection:
        db = connect(database, *arguments, **options)  # type: ignore[call-overload]
        if database not in ("", ":memory:"):
            db.set_trace_callback(on_statement)
        return db

    sqlite3.connect = watched  # type: ignore[assignment]
    sys.addaudithook(on_event)


if __name__ == "victim":
    verb(**REQUEST)  # type: ignore[name-defined]  # noqa: F821  (given by `process_of`)
