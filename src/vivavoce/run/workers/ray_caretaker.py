"""A process that outlives this one and clears away what its Ray leaves: processes, and the folder of logs.

Ray's own agents look for the rest of Ray for a minute before they end, and Ray's library may end this process
before it can clear anything away. That process runs this file alone, without vivavoce: so it costs little.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

VARIABLE = "VIVA_RAY_FOLDER"
"""The variable in which the processes of a Ray have its folder."""
DRIVER_LOG = "/python-core-driver-"
"""What the log of the process that started Ray is called, which forks of it hold, too."""
WAKE_S = 0.1
"""Seconds between two looks whether the process that started this one still runs."""
PATIENCE_S = 10.0
"""Seconds within which the processes must have ended."""


@contextmanager
def caretaker(folder: str) -> Iterator[None]:
    """Clear away the Ray of a folder when the block has ended, or this process with it, however it ends.

    The processes of that Ray must start with the folder in the environment, as `VARIABLE`. Raises `OSError`
    where no process can be started.
    """
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(os.getpid()), folder],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        shutil.rmtree(folder)
        raise
    try:
        yield
    finally:
        try:
            process.communicate(b"\n", timeout=2 * PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode:
            clear(folder, os.getpid())


def wait_for(driver: int) -> None:
    """Return once a byte comes from the process that started this one, or that process has ended.

    The end of the input tells neither: a fork of that process may hold it open.
    """
    signalled = threading.Event()

    def await_byte() -> None:
        os.read(0, 1)
        signalled.set()

    threading.Thread(target=await_byte, daemon=True).start()
    while not signalled.wait(WAKE_S) and os.getppid() == driver:
        pass


def clear(folder: str, driver: int) -> None:
    """End the processes of the Ray of a folder, but not the one that started it, and remove the folder."""
    end = time.monotonic() + PATIENCE_S
    while (pids := [pid for pid in processes_of(folder) if pid != driver]) and time.monotonic() < end:
        for pid in pids:
            with suppress(OSError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


def processes_of(folder: str) -> list[int]:
    """The processes of the Ray of a folder; none where there is no /proc, as Ray itself ends them there.

    Those that name themselves anew overwrite their environment: so the logs that they write tell as well.
    """
    return [int(place.name) for place in Path("/proc").glob("[0-9]*") if _is_of(place, folder)]


def _is_of(place: Path, folder: str) -> bool:
    with suppress(OSError):
        if f"{VARIABLE}={folder}".encode() in (place / "environ").read_bytes().split(b"\0"):
            return True
        return any(_is_written(file, folder) for file in (place / "fd").iterdir())
    return False


def _is_written(file: Path, folder: str) -> bool:
    """Whether an open file is a log in a folder, and written; who reads it, or started Ray, is not of Ray."""
    with suppress(OSError):  # it was closed meanwhile
        path = os.readlink(file)
        if path.startswith(f"{folder}/") and DRIVER_LOG not in path:
            lines = (file.parent.with_name("fdinfo") / file.name).read_text()
            return int(lines.partition("flags:")[2].split()[0], 8) & os.O_ACCMODE != os.O_RDONLY
    return False


if __name__ == "__main__":
    for end_request in (signal.SIGINT, signal.SIGTERM):  # a scheduler sends them to all processes of a job
        signal.signal(end_request, signal.SIG_IGN)
    wait_for(int(sys.argv[1]))
    clear(sys.argv[2], int(sys.argv[1]))
