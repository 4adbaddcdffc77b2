"""Which of some files are logs of other tools, told by their content."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce.core import registry
from vivavoce.core.errors import InputError, suggest
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.pipeline.exchange.recorded_log import RecordedLog, RecordedLogReader


class Recognised(NamedTuple):
    """The logs in some files, and by name why each other file is none."""

    logs: tuple[RecordedLog, ...]
    skipped: Mapping[str, str]


def readers(name: str | None = None) -> dict[str, RecordedLogReader]:
    """The readers of logs by name, or the one of this name. Raises `InputError` for a name that none has."""
    entries = registry.entries("log_reader")
    by_name: dict[str, RecordedLogReader] = {
        entry.name: entry.cls() for entry in entries if issubclass(entry.cls, RecordedLogReader)
    }
    if name is None:
        return by_name
    if (spelling := registry.spelling(name, by_name)) is None:
        raise InputError(f"no reader of logs named {name!r}.{suggest(name, list(by_name))}")
    return {spelling: by_name[spelling]}


def recognise(paths: Sequence[Path], name: str | None = None) -> Recognised:
    """The logs in these files and folders, by the reader of this name or by whichever knows a file.

    A file that belongs to a log is none by itself. Of two files of one evaluation the first is read. Raises
    `InputError` for a path that is not there, a file that two readers know, and one named by itself that none
    knows.
    """
    available = readers(name)
    logs: dict[tuple[str, str], RecordedLog] = {}
    skipped: dict[Path, str] = {}
    for file, is_named in _files(paths):
        if _is_of(file, logs.values()):
            continue
        reader = _reader_of(file, available)
        if reader is None:
            skipped[file] = _unknown(file, is_named, available)
            continue
        for log in reader.logs(file):
            same = logs.setdefault((log.tool, log.evaluation or str(file)), log)
            if same is not log:
                skipped[file] = f"it is the evaluation of {same.files[0].name} again"
    # What stands beside a log may have been met before it.
    reasons = {str(file): why for file, why in skipped.items() if not _is_of(file, logs.values())}
    return Recognised(tuple(logs.values()), reasons)


def _is_of(file: Path, logs: Iterable[RecordedLog]) -> bool:
    """Whether a file was read with one of these logs."""
    return any(file in log.files for log in logs)


def _unknown(file: Path, is_named: bool, available: Mapping[str, RecordedLogReader]) -> str:
    """Why a file is skipped. Raises `InputError` for one that was named by itself."""
    if is_named:
        raise InputError(f"{file} is no log of {' or '.join(available)}, by what it holds.")
    return "no reader knows it"


def _reader_of(file: Path, available: Mapping[str, RecordedLogReader]) -> RecordedLogReader | None:
    """The reader that knows a file; null for none. Raises `InputError` where two do."""
    fitting = [name for name, reader in available.items() if reader.knows(file)]
    if len(fitting) > 1:
        raise InputError(f"{file} fits {' and '.join(fitting)}: --from says which it is.")
    return available[fitting[0]] if fitting else None


def is_log(path: Path) -> bool:
    """Whether a path is a folder with a log in it, or a file that a reader knows."""
    available = readers().values()
    return any(reader.knows(file) for file, _ in _files([path]) for reader in available)


def holds_tasks(paths: Sequence[Path], name: str | None = None) -> bool:
    """Whether any of these files holds tasks that `viva export` wrote."""
    return any(_tasks_in(paths, readers(name)))


def annotated_files(paths: Sequence[Path], name: str | None = None) -> tuple[AnnotatedFile, ...]:
    """What people said of tasks that `viva export` wrote, in files and folders of annotation tools.

    Raises `InputError` for a file that was named by itself and holds no such task.
    """
    available = readers(name)
    ours = dict(_tasks_in(paths, available))
    for file, is_named in _files(paths):
        if is_named and file not in ours:
            raise InputError(
                f"{file} holds no task that `viva export` wrote, as annotation tools export them. Nothing "
                "was stored."
            )
    return tuple(reader.annotated(file) for file, reader in ours.items())


def _tasks_in(
    paths: Sequence[Path], available: Mapping[str, RecordedLogReader]
) -> Iterator[tuple[Path, RecordedLogReader]]:
    for file, _ in _files(paths):
        reader = next((reader for reader in available.values() if reader.knows(file)), None)
        if reader is not None and reader.has_tasks(file):
            yield file, reader


def _files(paths: Sequence[Path]) -> Iterator[tuple[Path, bool]]:
    """The files at these paths, and whether each was named by itself."""
    for path in paths:
        if path.is_dir():
            inner = sorted(file for file in path.rglob("*") if file.is_file())
            yield from ((file, False) for file in inner if not file.name.startswith("."))
        elif path.is_file():
            yield path, True
        else:
            raise InputError(f"no file or folder at {path}.")
