"""Where a run lies: on a disk of this machine, or on one that several machines share.

Several processes write a run through memory that they share (SQLite's WAL), and locks keep them apart.
Across machines there is no such memory, and the locks of network disks do not hold: two writers would damage
the run.
https://www.sqlite.org/wal.html, section 1; https://www.sqlite.org/faq.html#q5
"""

import os
import re
from functools import lru_cache
from pathlib import Path

MOUNT_TABLE = Path("/proc/self/mountinfo")
"""The mounted disks of this process, on Linux; elsewhere no disk is known to be a network disk."""

NETWORK_DISKS = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "ncpfs", "afs", "coda"),
        *("lustre", "gpfs", "beegfs", "ceph", "orangefs", "pvfs2"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.gcsfuse"),
        *("fuse.ceph-fuse", "fuse.rclone", "fuse.juicefs", "fuse.goofys", "fuse.blobfuse2", "fuse.mfs"),
        *("fuse.lustre", "fuse.moosefs", "fuse.lizardfs", "fuse.davfs", "fuse.hdfs", "wekafs", "panfs"),
    )
)
"""The types of disks on which a run is not written, unless somebody allows it.

9p, virtiofs, overlay and other fuse types are not among them: so containers, virtual machines and WSL show a
disk of the same machine, where locks hold between the processes of one guest.
"""
_ESCAPE = re.compile(r"\\([0-7]{3})")


ALLOWED = "VIVA_NETWORK_DISK"
"""The environment variable that allows writing runs on network disks, for this process and its workers."""


def network_disks_allowed() -> bool:
    """Whether runs on network disks may be written: with a rollback journal, by one process at a time."""
    return os.environ.get(ALLOWED, "").strip() not in ("", "0")


def network_disk(path: Path) -> str | None:
    """The type of the network disk on which the path lies; null for any other disk, and where none is known.

    The mount point that is the longest beginning of the path decides, and of equal ones the last mounted.
    """
    real = os.path.realpath(path)
    kinds = [
        (point, kind) for point, kind in _mounts(MOUNT_TABLE, _table_state(real)) if _is_under(real, point)
    ]
    if not kinds:
        return None
    longest = max(len(point) for point, _ in kinds)
    kind = [kind for point, kind in kinds if len(point) == longest][-1]
    return kind if kind in NETWORK_DISKS else None


def _is_under(path: str, point: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")


def _table_state(path: str) -> int:
    """The number of the device under a path: it changes when another disk is mounted there."""
    folder = path
    while True:
        try:
            return os.stat(folder).st_dev
        except OSError:
            if folder == os.path.dirname(folder):
                return 0
            folder = os.path.dirname(folder)


@lru_cache(maxsize=64)
def _mounts(table: Path, device: int) -> list[tuple[str, str]]:
    """Mount points with their types, in the order in which they were mounted, as read for that device."""
    try:
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    mounts = []
    for line in lines:
        mount, _, file_system = line.partition(" - ")
        fields, kind = mount.split(" "), file_system.split(" ")[0]
        if len(fields) > 4:
            mounts.append((_ESCAPE.sub(lambda match: chr(int(match[1], 8)), fields[4]), kind))
    return mounts
