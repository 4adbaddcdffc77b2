"""Scripts of the shell whose `viva` is this process: most of a small command's time is the start of Python.

    done = run_script("viva score exam.viva && viva compare exam.viva", folder)
    assert 0 == done.returncode, done.stderr

The script calls a `viva` that hands its words, its folder and its environment to this process, which runs
the command line; then it prints and exits as that did. It reads no stdin, and prints all at its end. Errors
of ours are raised here, as by the fixture `viva`: that a process ends by them is a claim of tests/cli. All
other programs of a script run as they are.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from unittest import mock

VIVA = """#!/bin/bash
call=$(mktemp -d "$0-XXXXXX") && mkfifo "$call/code" || exit 70
printf '%s\\0' "$@" > "$call/words"
env -0 > "$call/environment"
pwd > "$call/folder"
echo "$call" > "${0%/*}/calls"
read -r code < "$call/code"
cat "$call/out"
cat "$call/error" >&2
exit "$code"
"""
"""What stands for `viva` on the path of a script; beside it lies the pipe that this process reads."""


def run_script(
    script: str, folder: Path, *, shell: Sequence[str] = ("bash", "-euc"), **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a script in a folder, with these variables beside those of this process, which is its `viva`."""
    with TemporaryDirectory() as place:
        programs, calls = Path(place, "bin"), Path(place, "bin", "calls")
        programs.mkdir()
        (programs / "viva").write_text(VIVA, encoding="utf-8")
        (programs / "viva").chmod(0o755)
        os.mkfifo(calls)
        paths = (programs, Path(sys.executable).parent, environment.get("PATH", os.environ["PATH"]))
        variables = {**os.environ, **environment, "PATH": os.pathsep.join(map(str, paths))}
        texts = [Path(place, name) for name in ("out", "error")]
        with (
            texts[0].open("wb") as stdout,
            texts[1].open("wb") as stderr,
            calls.open("r+b", buffering=0) as pipe,  # open for writing too, so that it has no end
            subprocess.Popen(
                [*shell, script], cwd=folder, env=variables,
                stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True,
            ) as process,
        ):  # fmt: skip
            end = Thread(target=_say_end, args=(process, calls), daemon=True)
            end.start()
            try:
                while call := pipe.readline().strip():
                    _answer(Path(os.fsdecode(call)))
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                end.join()
        printed, errors = (text.read_text(encoding="utf-8") for text in texts)
        return subprocess.CompletedProcess([*shell, script], process.returncode, printed, errors)


def _say_end(process: "subprocess.Popen[bytes]", calls: Path) -> None:
    """Write an empty line after the last call, or when the script takes too long."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(300)
    calls.write_bytes(b"\n")


def _answer(call: Path) -> None:
    """Run the command of a call, and write what it printed and its exit code."""
    from typer.testing import CliRunner

    from vivavoce import cli
    from vivavoce.core import net

    words = (call / "words").read_text(encoding="utf-8").split("\0")[:-1]
    lines = (call / "environment").read_text(encoding="utf-8").split("\0")[:-1]
    environment = dict(line.split("=", 1) for line in lines)
    folder = (call / "folder").read_text(encoding="utf-8").removesuffix("\n")
    # A script that says VIVA_OFFLINE means its own process: here it would hold for all tests to come.
    is_offline = mock.patch.object(net, "_everywhere", net._everywhere)
    with chdir(folder), mock.patch.dict(os.environ, environment, clear=True), is_offline:
        result = CliRunner().invoke(cli.app, words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    (call / "out").write_text(result.stdout, encoding="utf-8")
    (call / "error").write_text(result.stderr, encoding="utf-8")
    (call / "code").write_text(f"{result.exit_code}\n", encoding="utf-8")
