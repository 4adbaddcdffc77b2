"""The shards of a plan as commands for any scheduler, or as a Slurm array job with a merge behind it.

Names of the plan stand in the job only as quoted words of bash; directives hold none of them.
"""

import re
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import Any, Literal, NamedTuple

from vivavoce.core import registry, specs
from vivavoce.core.errors import InputError
from vivavoce.core.shards import ShardLimits, check_number_of_shards
from vivavoce.core.text import one_line, printable
from vivavoce.run.plan.plan_file import Plan, open_checked, read_plan
from vivavoce.run.score.gpus import local_names

MergeAfter = Literal["any", "ok"]
_TIME = re.compile(r"(\d+-)?\d{1,3}(:\d{2}){0,2}", re.ASCII)
_MEMORY = re.compile(r"\d+[KMGT]?", re.ASCII)
_OUTSIDE_NAME = re.compile(r"[^A-Za-z0-9_.]+")


class ShardJob(NamedTuple):
    """How the shards of a plan are run: into how many, in which folder, and what each task may have.

    The merge waits until all tasks have ended (`any`), or for all to succeed (`ok`).
    """

    of: int
    parts: Path | None = None
    time: str = "24:00:00"
    memory: str = "8G"
    limits: ShardLimits = "divided"
    merge_after: MergeAfter = "any"


def shard_commands(file: Path, job: ShardJob) -> list[str]:
    """A command for each shard of a plan, then the merge and the rest of the plan.

    Raises `InputError` for a plan that cannot be read, a number, time or memory that is none, and where a run
    that is no shard of it has a shard's name; a `VivaError` for what its shards would all fail at.
    """
    plan = _checked(file, job)
    plan_word, folder, run = _word(file), _parts(plan, job), _word(plan.run)
    limits = " --limits whole" if job.limits == "whole" else ""
    commands = [
        f"viva run {plan_word} --shard {number}/{job.of} --to {_word(folder / f'part-{number}.viva')}{limits}"
        for number in range(1, job.of + 1)
    ]
    merge = f"viva merge {run} {_word(folder)}/part-*.viva && viva run {plan_word}"
    return [f"mkdir -p {_word(folder)}", *commands, merge]


def slurm_job(file: Path, job: ShardJob) -> str:
    """The script of an array job: `bash job.sh` submits it and its merge, `sbatch job.sh` the array alone.

    Raises as `shard_commands` does.
    """
    plan = _checked(file, job)
    directives = {
        "job-name": _job_name(file),
        "array": f"1-{job.of}",
        "time": job.time,
        "mem": job.memory,
        "output": "viva-%x-%A_%a.log",
        "open-mode": "append",
        "signal": "B:TERM@120",
    }
    if _needs_gpu(plan):
        directives["gres"] = "gpu:1"
    lines = [f"#SBATCH --{name}={value}" for name, value in directives.items()]
    assignments = {
        "plan": _word(file),
        "parts": _word(_parts(plan, job)),
        "run": _word(plan.run),
        "name": quote(plan.run.name),
        "page": _word(plan.run.with_suffix(".html")),
        "of": str(job.of),
        "limits": job.limits,
        "merge_after": f"after{job.merge_after}",
        "time_limit": job.time,
        "memory": job.memory,
        "job_name": _job_name(file),
    }
    settings = [f"{name}={value}" for name, value in assignments.items()]
    if plan.settings.get("offline"):
        settings += [f"export {name}=1" for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")]
    body = files("vivavoce.run.plan").joinpath("slurm_job.sh").read_text(encoding="utf-8")
    head = ["#!/bin/bash", *lines, "#SBATCH --requeue", *settings]
    return "\n".join(head) + "\n" + body


def _checked(file: Path, job: ShardJob) -> Plan:
    check_number_of_shards(job.of, f"--of {job.of}")
    if not _TIME.fullmatch(job.time):
        raise InputError(
            f"--time {job.time}: write hours, minutes and seconds as Slurm does, such as 24:00:00."
        )
    if not _MEMORY.fullmatch(job.memory):
        raise InputError(f"--memory {job.memory}: write a number and K, M, G or T, such as 8G.")
    plan = read_plan(file)
    if not plan.benchmarks:
        raise InputError(f"{file}: there is nothing to divide: the plan names no benchmarks.")
    for name in (file, plan.run, _parts(plan, job)):
        if not str(name).isprintable():
            raise InputError(
                f"the name {str(name)!r} holds a character that cannot stand in a job: rename it."
            )
    _refuse_clashes(plan, job)
    open_checked(plan, dry_run=True)
    for spec in plan.benchmarks:
        if _access(spec) == "credentialed":
            raise InputError(
                f"{spec} is credentialed, and its texts must not be copied between disks: collect its "
                "shards by `viva collect --shard`, on a disk where they may lie."
            )
    return plan


def _refuse_clashes(plan: Plan, job: ShardJob) -> None:
    """Raise `InputError` where the plan's run, or another in the folder of the shards, has a shard's name.

    The merge takes all files of such names; those of these shards may be there, from an earlier job.
    """
    folder = _parts(plan, job)
    if _is_part(plan.run) and plan.run.parent.resolve() == folder.resolve():
        raise InputError(
            f"the run {plan.run} of the plan has the name of a shard's run in the folder {folder}: rename "
            "it, or give another folder by --parts."
        )
    own_names = {f"part-{number}.viva" for number in range(1, job.of + 1)}
    others = sorted(path.name for path in folder.glob("*") if _is_part(path) and path.name not in own_names)
    if others:
        raise InputError(
            f"the folder {folder} holds {one_line(printable(others[0]), 60)}, which is none of these "
            f"{job.of} shards, and the merge would take it: move it away, or give another folder by --parts."
        )


def _is_part(path: Path) -> bool:
    """Whether the merge takes a file of this name for a shard's run."""
    return fnmatchcase(path.name, "part-*.viva")


def _access(spec: str) -> str:
    built: Any = registry.build("benchmark", spec)
    return str(built.card.access)


def _parts(plan: Plan, job: ShardJob) -> Path:
    """The folder of the shards' runs, by default beside the run of the plan."""
    return job.parts or plan.run.with_name(f"{plan.run.stem}-parts")


def _word(path: Path) -> str:
    """A path as one word of bash that no command takes for an option."""
    text = str(path)
    return quote(f"./{text}" if text.startswith("-") else text)


def _job_name(file: Path) -> str:
    """The name of the plan as far as a directive can hold it."""
    return _OUTSIDE_NAME.sub("-", file.stem).strip("-.")[:40] or "viva"


def _needs_gpu(plan: Plan) -> bool:
    """Whether a model of the plan, or one that a metric asks, runs in the process itself."""
    return any(True for text in (*plan.models, *plan.metrics) for _ in local_names(specs.parse(text)))
