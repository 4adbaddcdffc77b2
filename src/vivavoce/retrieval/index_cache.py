"""Where the index of a version is kept between runs: a private folder, whole or not there, no pickle.

An index stands for a version of a folder and for the packages that read it. The folder may be deleted at any
time: what is missing or damaged is built again.
"""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex

from vivavoce.core.private_files import private_folder

RULES = 1
"""Raised with every change of how texts are read, cut or searched."""
MANIFEST = "manifest.json"
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
    """Fill a new folder by `write`, and put it in the place of what lies there; False where that fails."""
    draft = folder.with_name(f".{folder.name}.{token_hex(4)}.part")
    try:
        private_folder(draft)
        write(draft)
        files = sorted(draft.iterdir())
        manifest = {file.name: _digest(file) for file in files}
        (draft / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        for file in draft.iterdir():
            file.chmod(0o600)
        _discard(folder)
        draft.rename(folder)
        for draft_of_others in folder.parent.glob(f".{folder.name}.*"):  # such as one of a killed process
            _discard(draft_of_others)
    except OSError:
        return is_sound(folder)  # another process may have been first
    finally:
        _discard(draft)
    return True


def _discard(folder: Path) -> None:
    """Remove a folder, under another name first: nobody may find half of it."""
    with suppress(OSError):
        old = folder.with_name(f".{folder.name}.{token_hex(4)}.old")
        folder.rename(old)
        shutil.rmtree(old, ignore_errors=True)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()
