"""Files and folders for their owner's eyes: what a run holds may be patients' notes and an exam's key.

New files have mode 0600 and new folders 0700, whatever the umask says; what is there already keeps its mode,
which somebody chose. On Windows a new file has the rights of its folder.

Every new file is written here, under the name of a hidden draft: it is whole and on the disk before it gets
its own name. The draft of a process that was killed goes when another is made beside it.
"""

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, TextIO

from vivavoce.core.processes import has_ended, this_machine

_FILE, _FOLDER = 0o600, 0o700
_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL  # fails on whatever lies there, a link too: no other process can lay one in between
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_DRAFT = re.compile(
    r"\..+\.(?P<machine>[0-9a-f]{8})-(?P<process>[0-9]{1,10})-[0-9a-f]{8}\.part(-wal|-shm|-journal)?"
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


@contextmanager
def new_bytes(path: Path) -> Iterator[BinaryIO]:
    """A new file, open for bytes; on the disk when the block ends. Raises `OSError` for one that is there."""
    with os.fdopen(os.open(path, _NEW, _FILE), "wb") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def new_text(path: Path) -> Iterator[TextIO]:
    """A new file, open for text in UTF-8, as `new_bytes`. Half a surrogate pair becomes a question mark."""
    with os.fdopen(
        os.open(path, _NEW, _FILE), "w", encoding="utf-8", errors="replace", newline="\n"
    ) as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def draft_of(path: Path) -> Path:
    """A hidden name beside a path, for what will take its place; abandoned drafts there are removed."""
    clear_abandoned(path.parent)
    return _draft_name(path)


def _draft_name(path: Path) -> Path:
    owner = f"{_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    return path.with_name(f".{path.name[:40]}.{owner}.part")


def _machine() -> str:
    return sha256(this_machine().encode()).hexdigest()[:8]


def clear_abandoned(folder: Path) -> None:
    """Remove the drafts in a folder whose process ran on this machine and has ended."""
    machine = _machine()
    with suppress(OSError):
        for entry in os.scandir(folder):
            draft = _DRAFT.fullmatch(entry.name)
            if draft and draft["machine"] == machine and has_ended(int(draft["process"])):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A draft for a new file, which gets its name when the block ends well and all of it is on the disk.

    Raises `FileExistsError` if anything lies there by then, which is never replaced.
    """
    draft = draft_of(path)
    try:
        yield draft
        _sync(draft, strictly=True)
        try:
            os.link(
                draft, path, follow_symlinks=False
            )  # fails on what lies there, where a renaming replaces it
        except FileExistsError:
            raise
        except OSError:  # a disk without hard links
            if path.exists() or path.is_symlink():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            draft.rename(path)
        _sync(path.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def whole_files(folder: Path) -> Iterator[Path]:
    """A draft of a folder, for libraries that write files by themselves.

    Its files get their names in `folder` when the block ends well, as with `write_all_private`.
    """
    private_folder(folder)
    draft = draft_of(folder / "files")
    try:
        private_folder(draft)
        yield draft
        names = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
        for name in names:
            (draft / name).chmod(_mode(folder / name))
            _sync(draft / name, strictly=True)
        for name in names:
            private_folder((folder / name).parent)
            (draft / name).replace(folder / name)
        _sync(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


_LOST = (errno.EIO, errno.ENOSPC, errno.EDQUOT)
"""Errors after which the disk does not hold what was written."""


def _sync(path: Path, *, strictly: bool = False) -> None:
    """Wait until a file or a folder's names are on the disk; where a system cannot, its own time must do.

    `strictly` raises `OSError` for a file that the disk has lost or has no room for.
    """
    try:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if strictly and error.errno in _LOST:
            raise


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
    folders = {path.parent for path in files}
    for folder in folders:
        clear_abandoned(folder)
    drafts = {path: _draft_name(path) for path in files}
    try:
        for path, content in files.items():
            _write_draft(drafts[path], content, modes[path])
        for path, draft in drafts.items():
            draft.replace(path)
        for folder in folders:
            _sync(folder)
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def not_written(name: str, path: Path, error: OSError) -> str:
    """The sentence on a file or folder of this name that the disk does not take."""
    fault = error.strerror or error
    return (
        f"cannot write the {name} to {path}: {fault}. Nothing was written; give another path, or make room."
    )


def _write_draft(draft: Path, content: str | bytes, mode: int) -> None:
    with new_bytes(draft) as stream:
        # A lone surrogate is no text, and becomes a question mark.
        stream.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)
    if mode != _FILE:
        draft.chmod(mode)


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
