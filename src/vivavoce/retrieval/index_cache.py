"""Where the index of a version is kept between runs: a private folder, whole or not there, no pickle.

An index stands for a version of a folder and for the packages that read it. The folder may be deleted at any
time: what is missing or damaged is built again.
"""

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex

from vivavoce.core.private_files import private_folder, write_private

RULES = 1
"""Raised with every change of how texts are read, cut or searched."""
MANIFEST = "manifest.json"
ABANDONED = 3600
"""Seconds after which a draft that nobody finished is removed: its process was killed."""
_PACKAGES = ("bm25s", "lxml", "pypdf")


def default_cache() -> Path | None:
    """The user's cache: in `XDG_CACHE_HOME`, Windows' LOCALAPPDATA, else `~/.cache`; null without a home."""
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if (folder := os.environ.get(name)) and Path(folder).is_absolute():
            return Path(folder, "vivavoce")
    try:
        return Path.home() / ".cache" / "vivavoce"
    except RuntimeError:
        return None


def place(cache: Path, source_version: str) -> Path:
    """The folder of a version's index, read by these packages."""
    packages = "\n".join((str(RULES), *(f"{name} {version(name)}" for name in _PACKAGES)))
    return cache / "sources" / f"{source_version}-{sha256(packages.encode()).hexdigest()[:8]}"


def is_sound(folder: Path) -> bool:
    """Whether the folder holds the files that its manifest names, byte by byte."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return bool(manifest) and all(_digest(folder / name) == digest for name, digest in manifest.items())
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def store(folder: Path, write: Callable[[Path], None]) -> bool:
    """Fill a new folder by `write`, and put it in the place of a damaged one; False where that fails.

    Of processes that do so at once the first that is ready wins: none takes a sound folder or the draft of
    another away.
    """
    draft = folder.with_name(f".{folder.name}.{token_hex(4)}.part")
    try:
        private_folder(draft)
        write(draft)
        files = sorted(draft.iterdir())
        manifest = {file.name: _digest(file) for file in files}
        write_private(draft / MANIFEST, json.dumps(manifest))
        for file in draft.iterdir():
            file.chmod(0o600)
        try:
            draft.rename(folder)
        except OSError:  # one lies there: looked at before, it could have come between the look and this
            if not is_sound(folder):
                discard(folder)
                draft.rename(folder)
    except OSError:
        return is_sound(folder)  # another process may have been first
    finally:
        discard(draft)
        _discard_abandoned(folder)
    return True


def _discard_abandoned(folder: Path) -> None:
    """Remove what processes that were killed left of the folder under other names."""
    with suppress(OSError):
        for leftover in folder.parent.glob(f".{folder.name}.*"):
            if time.time() - leftover.stat().st_mtime > ABANDONED:
                discard(leftover)


def discard(folder: Path) -> None:
    """Remove a folder, under another name first: nobody may find half of it."""
    with suppress(OSError):
        old = folder.with_name(f".{folder.name}.{token_hex(4)}.old")
        folder.rename(old)
        shutil.rmtree(old, ignore_errors=True)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
