"""Files and folders for their owner's eyes: what a run holds may be patients' notes and an exam's key.

New files have mode 0600 and new folders 0700, whatever the umask says; what is there already keeps its mode,
which somebody chose. On Windows a new file has the rights of its folder.
"""

import errno
import os
import secrets
import stat
from collections.abc import Mapping
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


def create_private(path: Path) -> bool:
    """Make an empty file that only its owner can read and write; a file that is there stays as it is.

    True if it was made: of processes that make it at once, for one of them. Raises `OSError` for a link that
    leads to no file: what opens the path next would make that file with any mode.
    """
    try:
        os.close(os.open(path, _NEW, _FILE))
    except FileExistsError:
        if path.is_symlink() and not path.exists():
            raise FileNotFoundError(errno.ENOENT, "it is a link that leads to no file", str(path)) from None
        return False
    return True


def write_private(path: Path, content: str | bytes) -> None:
    """Write one file, see `write_all_private`."""
    write_all_private({path: content})


def write_all_private(files: Mapping[Path, str | bytes]) -> None:
    """Write files as a whole or not at all; new ones are their owner's alone, earlier ones keep their modes.

    Text is written in UTF-8. A link gives way to the file: what it leads to stays untouched. No file is
    replaced before all are written. Raises `OSError` where something that is no file lies there, or the
    system refuses.
    """
    modes = {path: _mode(path) for path in files}
    drafts = {path: path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.part") for path in files}
    try:
        for path, content in files.items():
            # A lone surrogate is no text, and becomes a question mark.
            data = content.encode("utf-8", "replace") if isinstance(content, str) else content
            with os.fdopen(os.open(drafts[path], _NEW, _FILE), "wb") as stream:
                stream.write(data)
            if modes[path] != _FILE:
                drafts[path].chmod(modes[path])
        for path, draft in drafts.items():
            draft.replace(path)
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)


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
