"""A fake `sbatch`, `scontrol` and `squeue`: what a test's PATH begins with. State lies in $FAKE_SLURM.

`sbatch` reads the directives of a script, gives the job a number and writes it down; it runs nothing. `run`
starts a task as Slurm does: on a copy of the script, with the variables of the array.
"""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

_DIRECTIVE = re.compile(r"#SBATCH\s+--([a-z-]+)(?:=(.*))?")


class FakeSlurm:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in COMMANDS:
            program = folder / name
            program.write_text(f'#!/bin/bash\nexec {sys.executable} {Path(__file__)} {name} "$@"\n')
            program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def environment(self, **more: str) -> dict[str, str]:
        path = f"{self.folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "FAKE_SLURM": str(self.folder), **more}

    @property
    def jobs(self) -> list[dict]:
        return [json.loads(file.read_text()) for file in sorted(self.folder.glob("job-*.json"))]

    @property
    def requeued(self) -> list[str]:
        file = self.folder / "requeued"
        return file.read_text().split() if file.exists() else []

    def set_state(self, state: str) -> None:
        (self.folder / "state").write_text(state)

    def task(self, job: dict, number: int, *, cwd: Path, restarts: int = 0, **more: str) -> subprocess.Popen:
        """Start one task of an array job, in a group of processes of its own."""
        words, environment = self._start_of(job, number, restarts, more)
        return subprocess.Popen(words, cwd=cwd, env=environment, start_new_session=True)

    def task_in_process(self, job: dict, number: int, *, cwd: Path, restarts: int = 0, **more: str) -> int:
        """The exit code of a task whose `viva` is this process: where no claim is of signals or processes."""
        (bash, script), environment = self._start_of(job, number, restarts, more)
        return _in_process(script, cwd, (bash,), environment).returncode

    def _start_of(
        self, job: dict, number: int, restarts: int, more: dict[str, str]
    ) -> tuple[tuple[str, str], dict[str, str]]:
        """The words that start a task, and its environment."""
        spooled = self.folder / f"slurm_script_{job['id']}"  # Slurm runs a copy under another name
        spooled.write_bytes(Path(job["script"]).read_bytes())
        variables = {
            "SLURM_JOB_ID": str(1000 + number),
            "SLURM_ARRAY_JOB_ID": str(job["id"]),
            "SLURM_ARRAY_TASK_ID": str(number),
            "SLURM_RESTART_COUNT": str(restarts),
            **more,
        }
        return ("bash", str(spooled)), self.environment(**variables)

    def start_wrapped(self, job: dict, *, cwd: Path, **more: str) -> subprocess.Popen[str]:
        """Start a job that was submitted with `--wrap`, in a group of processes of its own."""
        environment = self.environment(SLURM_JOB_ID=str(job["id"]), **more)
        return subprocess.Popen(
            ["sh", "-c", _wrapped_script(job)], cwd=cwd, env=environment, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wrapped(self, job: dict, *, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run such a job to its end."""
        process = self.start_wrapped(job, cwd=cwd, **more)
        out, error = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, error)

    def wrapped_in_process(self, job: dict, *, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
        """The same with a `viva` that is this process."""
        environment = self.environment(SLURM_JOB_ID=str(job["id"]), **more)
        return _in_process(_wrapped_script(job), cwd, ("sh", "-c"), environment)


def _in_process(
    script: str, cwd: Path, shell: tuple[str, ...], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    from tests.scripts import run_script  # the programs of this file find no tests

    return run_script(script, cwd, shell=shell, **environment)


def _wrapped_script(job: dict) -> str:
    """The script that Slurm makes of the words: its shell stays unless they begin with `exec`."""
    return f"{job['options']['wrap']}\n:"


def sbatch(words: list[str]) -> None:
    folder = Path(os.environ["FAKE_SLURM"])
    options, script = {}, None
    for word in words:
        match = re.fullmatch(r"--([a-z-]+)(?:=(.*))?", word, re.DOTALL)
        if match:
            options[match[1]] = match[2]
        else:
            script = word
            break
    if script is not None:
        for line in Path(script).read_text().splitlines()[1:]:
            if not (match := _DIRECTIVE.fullmatch(line)):
                break
            options.setdefault(match[1], match[2])
    number = 100 + len(list(folder.glob("job-*.json")))
    (folder / f"job-{number}.json").write_text(
        json.dumps({"id": number, "script": script, "options": options})
    )
    print(number if "parsable" in options else f"Submitted batch job {number}")


def scontrol(words: list[str]) -> None:
    verb, job = words
    assert verb == "requeue"
    with (Path(os.environ["FAKE_SLURM"]) / "requeued").open("a") as file:
        file.write(f"{job}\n")


def squeue(words: list[str]) -> None:
    """The state of every job, which `set_state` writes; RUNNING without it."""
    assert {"--noheader", "--format=%T"} < set(words)
    file = Path(os.environ["FAKE_SLURM"]) / "state"
    print(file.read_text() if file.exists() else "RUNNING")


COMMANDS = {"sbatch": sbatch, "scontrol": scontrol, "squeue": squeue}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](sys.argv[2:])
