"""The files that a recipe reads: named ones, and those of folders, each with what it gives or why nothing."""

from collections.abc import Collection, Iterator
from pathlib import Path

from vivavoce.core.errors import InputError
from vivavoce.core.tables import is_file


def source_files(paths: Collection[Path], ends: Collection[str]) -> list[Path]:
    """The files among these paths, and those with one of these ends in the folders among them, by name.

    Links and hidden files of a folder are left alone. Raises `InputError` for a path where nothing lies, a
    folder without such a file, two files of one name, and a file with another end.
    """
    files: list[Path] = []
    for path in paths:
        if is_file(path):
            if path.suffix.lower() not in ends:
                raise InputError(f"{path}: no kind that is read here ({', '.join(sorted(ends))}).")
            files.append(path)
        elif path.is_dir():
            inside = sorted(_inside(path, ends))
            if not inside:
                raise InputError(f"no file in {path} ends in {' or '.join(sorted(ends))}.")
            files += inside
        else:
            raise InputError(f"nothing lies at {path}.")
    by_stem: dict[str, Path] = {}
    for file in files:
        if (earlier := by_stem.setdefault(file.stem, file)) is not file:
            raise InputError(
                f"{earlier} and {file} have one name: questions are named after it, so rename one."
            )
    return files


def _inside(folder: Path, ends: Collection[str]) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        plain = not any(part.startswith(".") for part in parts) and not path.is_symlink()
        if plain and path.suffix.lower() in ends and path.is_file():
            yield path
