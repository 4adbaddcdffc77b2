"""Temporary files of the tests, in memory where it has room: a disk makes every commit of a run file wait.

What a killed process has written stays in memory as it stays on a disk, and locks work alike. Whoever sets
TMPDIR decides alone.
"""

import os
import shutil
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
"""Bytes that must be free: a run of all tests has used a third of them."""


def hold_in_memory(environment: MutableMapping[str, str], folder: Path = MEMORY, room: int = ROOM) -> None:
    """Let this process and its children write temporary files to `folder`, if it is there and has room.

    Programs that tests write are executed: a folder mounted without that right is not taken.
    """
    if "TMPDIR" in environment or not os.access(folder, os.W_OK):
        return
    if os.statvfs(folder).f_flag & os.ST_NOEXEC or shutil.disk_usage(folder).free < room:
        return
    environment["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # what Python has looked up before
