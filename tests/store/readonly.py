"""A folder that cannot be written, and a file that cannot be read, also for root: what programs print."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

from tests.absent import absent

__all__ = ["frozen", "unreadable"]


def frozen(folder: Path, code: str, *words: Path) -> str:
    """What Python prints for the code where the folder is read-only."""
    python = [sys.executable, "-c", textwrap.dedent(code), str(folder), *map(str, words)]
    if os.geteuid():
        folder.chmod(0o555)
        try:
            return subprocess.run(python, capture_output=True, text=True, check=True).stdout
        finally:
            folder.chmod(0o755)
    mount = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"'
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-m", "sh", "-c", mount, str(folder)], capture_output=True).returncode
    ):
        absent("root may write everywhere, and nothing can be mounted here")
    inside = ["unshare", "-m", "sh", "-c", mount + ' && exec "$@"', str(folder), *python]
    return subprocess.run(inside, capture_output=True, text=True, check=True).stdout


def unreadable(file: Path, code: str, *words: Path) -> str:
    """What Python prints for the code where its first word is a file that it may not read."""
    python = [sys.executable, "-c", textwrap.dedent(code), str(file), *map(str, words)]
    if not os.geteuid():
        if not shutil.which("setpriv"):
            absent("root may read everywhere, and nothing takes that right here")
        python = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *python]
    mode = file.stat().st_mode
    file.chmod(0)
    try:
        return subprocess.run(python, capture_output=True, text=True, check=True).stdout
    finally:
        file.chmod(mode)
