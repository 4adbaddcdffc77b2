"""The folder of an export: whole or not there at all, and in the place of nothing but an earlier export."""

import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE

from vivavoce.core.errors import StoreError
from vivavoce.core.json_text import read_json
from vivavoce.core.private_files import draft_of, not_written, private_folder
from vivavoce.store.runfile import RunFile

README, LEFT_OUT = "README.txt", "left_out.json"
MADE_BY = "Tables of a vivavoce run"
"""How the README.txt of every export begins."""


@contextmanager
def export_folder(to: Path, run: RunFile, files: Collection[str] | None) -> Iterator[Path]:
    """A folder to write an export into, which takes the place `to` once all of it is written.

    `files` are the names that an earlier export there may have beside its README.txt; null: those that its
    left_out.json lists, in folders too. Raises `StoreError` where something else lies at `to`, or the disk
    does not take it; then nothing is left behind.
    """
    earlier = _is_earlier_export(to, run, files)
    with draft_folder(to) as draft:
        folder = draft / "export"
        private_folder(folder)
        yield folder
        _replace(folder, to, draft / "earlier" if earlier else None)


def exists(to: Path) -> bool:
    """True if anything lies at the path. Raises `StoreError` where the system does not let us look."""
    try:
        return to.exists() or to.is_symlink()
    except OSError as error:
        raise StoreError(f"cannot look at {to}: {error.strerror or error}. Give another path.") from None


def _is_earlier_export(to: Path, run: RunFile, files: Collection[str] | None) -> bool:
    """True if an earlier export lies at `to`. Raises `StoreError` if anything else does."""
    if not exists(to):
        return False
    if not to.is_dir():
        what = "the run itself" if run.exists and to.exists() and to.samefile(run.path) else "no folder"
        raise StoreError(f"{to} is {what}: tables are written to a folder of their own, such as exam-tables.")
    try:
        others = _others(to, {README, *(_listed(to) if files is None else files)}, nested=files is None)
        if not others and not any(to.iterdir()):
            return True
        with (to / README).open("rb") as stream:
            ours = stream.read(len(MADE_BY)) == MADE_BY.encode()
    except FileNotFoundError:
        ours = False
    except OSError as error:
        raise StoreError(f"cannot look into {to}: {error.strerror or error}. Give another folder.") from None
    if others or not ours:
        example = f" (it holds {others[0]})" if others else ""
        raise StoreError(f"{to} is there already and is no export{example}: give another folder.")
    return True


def _others(to: Path, expected: Collection[str], *, nested: bool) -> list[str]:
    """What lies in a folder beside the expected files; `nested`: folders that hold nothing else may."""
    paths = to.rglob("*") if nested else to.iterdir()
    return sorted(
        name
        for path in paths
        if (name := path.relative_to(to).as_posix()) not in expected or not path.is_file()
        if not (nested and path.is_dir() and not path.is_symlink() and any(path.iterdir()))
    )


def _listed(to: Path) -> list[str]:
    """The files that the export in a folder says it wrote; none where it says nothing."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        body = read_json((to / LEFT_OUT).read_text(encoding="utf-8"))
        return [LEFT_OUT, *map(str, body["files"])]
    return []


@contextmanager
def draft_folder(to: Path) -> Iterator[Path]:
    """A hidden folder beside `to` to work in, gone afterwards; errors of the disk as one sentence."""
    if not to.absolute().parent.is_dir():
        raise StoreError(f"no folder {to.parent} to put the export in.")
    draft = draft_of(to.resolve())
    try:
        private_folder(draft)
        yield draft
    except OSError as error:
        raise StoreError(not_written("export", to, error)) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _replace(folder: Path, to: Path, earlier: Path | None) -> None:
    """Put the folder in its place, and what lay there into `earlier`; what is replaced keeps its mode."""
    place = to.resolve()  # a link to a folder stays a link
    if earlier:
        for path in (folder, *folder.rglob("*")):
            replaced = place / path.relative_to(folder)
            if replaced.exists():
                path.chmod(S_IMODE(replaced.stat().st_mode))
        place.rename(earlier)
    try:
        folder.rename(place)
    except OSError:
        if earlier:
            earlier.rename(place)
        raise
