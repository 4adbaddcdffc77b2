"""How many workers compute, and where: a number of processes, or an address of Ray."""

import os
import re

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line

Workers = int | str
"""How many processes compute; `auto` is as many as this process may use cores, `ray` names workers of Ray."""
MOST_WORKERS = 512
_RAY = re.compile(r"ray(?:://(?P<host>\[[0-9A-Fa-f:.%]+\]|[\w.-]+):(?P<port>[0-9]{1,5}))?", re.ASCII)


def read_workers(workers: Workers) -> Workers:
    """What an option states: a number of processes, or an address of Ray as it is.

    Raises `InputError` for what is neither.
    """
    text = str(workers)
    if text == "auto":
        return n_cores()
    if re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= MOST_WORKERS:
        return int(text)
    if (ray := _RAY.fullmatch(text)) and int(ray["port"] or 1) in range(1, 65536):
        return text
    raise InputError(
        f"--workers {one_line(text, 40)}: state a number of processes from 1 to {MOST_WORKERS}, or auto for "
        "as many as there are cores, or ray or ray://HOST:PORT for workers of Ray."
    )


def ray_host(workers: Workers) -> str | None:
    """The host that an address of Ray names; null for anything else."""
    ray = _RAY.fullmatch(str(workers))
    return ray and ray["host"]


def n_cores() -> int:
    """How many cores this process may use: a scheduler may have given it fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
