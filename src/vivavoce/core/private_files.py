"""Files and folders for their owner's eyes: what a run holds may be patients' notes and an exam's key.

New files have mode 0600 and new folders 0700, whatever the umask says; what is there already keeps its mode,
which somebody chose. On Windows a new file has the rights of its folder.
"""

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

_FILE, _FOLDER = 0o600, 0o700
_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL  # fails on whatever lies there, a link too: no other process can lay one in between
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def private_folder(path: Path) -> None:
    """Make the folder, and those above it that are missing, for the owner alone.

    Raises `OSError` where a file lies in the way, or the system refuses.
    """
    if path.is_dir():
        return
    if path.parent != path:
        private_folder(path.parent)
    try:
        path.mkdir(mode=_FOLDER)
    except FileExistsError:
        if not path.is_dir():  # else another process made it since we looked
            raise


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read and write; a file that is there stays as it is.

    Raises `OSError` for a link that leads to no file: what opens the path next would make that file with any
    mode.
    """
    try:
        os.close(os.open(path, _NEW, _FILE))
    except FileExistsError:
        if path.is_symlink() and not path.exists():
            raise FileNotFoundError(errno.ENOENT, "it is a link that leads to no file", str(path)) from None


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file as a whole or not at all; a new one is its owner's alone, an earlier one keeps its mode.

    Text is written in UTF-8. A link gives way to the file: what it leads to stays untouched. Raises `OSError`
    where something that is no file lies there, or the system refuses.
    """
    mode = _mode(path)
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content  # a lone surrogate
    try:
        with os.fdopen(os.open(draft, _NEW, _FILE), "wb") as stream:
            stream.write(data)
        if mode != _FILE:
            draft.chmod(mode)
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """The mode of the file that lies there, or that of a new one. Raises `OSError` for a folder or device."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return _FILE
    if stat.S_ISLNK(status.st_mode):
        return _FILE
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "something that is no file lies there", str(path))
    return stat.S_IMODE(status.st_mode)
