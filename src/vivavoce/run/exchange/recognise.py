"""Which of some files are logs of other tools, told by their content."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from vivavoce.core import index
from vivavoce.core.errors import InputError, VivaError, suggest
from vivavoce.people.storing.store_annotations import AnnotatedFile
from vivavoce.run.exchange.log_readers import reader_entries
from vivavoce.run.exchange.logs.files import no_text
from vivavoce.run.exchange.recorded_log import LeftOut, RecordedLog, RecordedLogReader, Sample

_Part = TypeVar("_Part")


class Recognised(NamedTuple):
    """The logs in some files, and by name why each other file is none."""

    logs: tuple[RecordedLog, ...]
    skipped: Mapping[str, str]


def readers(name: str | None = None) -> dict[str, RecordedLogReader]:
    """The readers of logs by name, or the one of this name, hyphens and underscores alike.

    Raises `InputError` for a name that none has.
    """
    entries = reader_entries()
    by_name: dict[str, RecordedLogReader] = {
        entry.name: entry.cls() for entry in entries if issubclass(entry.cls, RecordedLogReader)
    }
    if name is None:
        return by_name
    if (spelling := index.spelling(name, by_name)) is None:
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
    belonging: set[Path] = set()
    unreadable: dict[Path, str] = {}
    for file, is_named in _files(paths):
        if file in belonging:
            continue
        tool = _tool_of(file, available)
        if not tool:
            skipped[file] = _unread(file, is_named, available)
            continue
        for log in _logs_in(file, is_named, available[tool], tool, unreadable):
            same = logs.setdefault((log.tool, log.evaluation or str(file)), log)
            belonging.update(same.files)
            if same is not log:
                skipped[file] = f"it is the evaluation of {same.files[0].name} again"
    _refuse_unreadable(logs, unreadable)
    # What stands beside a log may have been met before it.
    reasons = {file: reason for file, reason in skipped.items() if file not in belonging} | unreadable
    return Recognised(tuple(logs.values()), {str(file): reason for file, reason in reasons.items()})


def _logs_in(
    file: Path, is_named: bool, reader: RecordedLogReader, tool: str, unreadable: dict[Path, str]
) -> list[RecordedLog]:
    """The logs in a file; one in a folder that cannot be read is noted in `unreadable`."""
    try:
        logs = [*_laid_out(reader.logs(file), file, tool)]
    except InputError as error:
        if is_named:
            raise
        unreadable[file] = listed_reason(error)
        return []
    return [replace(log, samples=partial(_samples, log), in_folder=not is_named) for log in logs]


def _refuse_unreadable(logs: Sized, unreadable: Mapping[Path, str]) -> None:
    """Raise `InputError` where files were recognised, and none can be read."""
    if unreadable and not logs:
        raise InputError(f"{next(iter(unreadable.values()))}. Nothing was imported.")


def listed_reason(error: InputError) -> str:
    """Why a file in a folder is not read, as a list says it: the error without its last sentence."""
    return str(error).removesuffix(" Nothing was imported.").rstrip(".")


def _samples(log: RecordedLog) -> Iterator[Sample | LeftOut]:
    return _laid_out(log.samples(), log.files[0], log.tool)


def _laid_out(parts: Iterable[_Part], file: Path, tool: str) -> Iterator[_Part]:
    """What a reader reads. Raises `InputError` where a field is of another kind than the reader expects."""
    number = 0
    try:
        for part in parts:
            yield part
            number += 1
    except VivaError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        place = f"{file}, after {number:,} answers" if number else str(file)
        raise InputError(
            f"{place}: a field is of another kind than {tool} writes, so this is no whole log: have it "
            "written again. Nothing was imported."
        ) from error


def _refusal(file: Path, available: Mapping[str, RecordedLogReader]) -> str:
    """Why a file of one of these tools is not read; '' for any other."""
    return next((reason for reader in available.values() if (reason := reader.refuses(file))), "")


def _unread(file: Path, is_named: bool, available: Mapping[str, RecordedLogReader]) -> str:
    """Why a file is skipped. Raises `InputError` for one that was named by itself."""
    reason = _refusal(file, available)
    if is_named and reason:
        raise InputError(f"{file}: {reason}. Nothing was imported.")
    if is_named and (reason := no_text(file)):
        raise InputError(f"{file} is {reason}. Nothing was imported.")
    if is_named:
        looked_for = next(iter(available.values())).looked_for if len(available) == 1 else ""
        sought = f" Looked for: {looked_for}." if looked_for else ""
        raise InputError(f"{file} is no log of {' or '.join(available)}, by what it holds.{sought}")
    return reason or "no reader knows it"


def _tool_of(file: Path, available: Mapping[str, RecordedLogReader]) -> str:
    """The name of the reader that reads a file; '' for none. Raises `InputError` where two do."""
    if _refusal(file, available):
        return ""
    fitting = [name for name, reader in available.items() if reader.knows(file)]
    if len(fitting) > 1:
        raise InputError(f"{file} fits {' and '.join(fitting)}: --from says which it is.")
    return fitting[0] if fitting else ""


def is_log(path: Path, *, tables: bool = True) -> bool:
    """Whether a path is a folder with a log in it, or a file that a reader knows, or refuses.

    Without `tables` readers of tables that tools write do not count.
    """
    available = [reader for reader in readers().values() if tables or not reader.reads_tables]
    return any(r.knows(file) or bool(r.refuses(file)) for file, _ in _files([path]) for r in available)


def holds_tasks(paths: Sequence[Path], name: str | None = None) -> bool:
    """Whether any of these files holds tasks that `viva export` wrote."""
    return any(_tasks_in(paths, readers(name)))


def refuse_tasks(paths: Sequence[Path], reader: str | None) -> None:
    """Raise `InputError` for tasks of ours: what people said of them is no log."""
    if holds_tasks(paths, reader):
        raise InputError(
            f"{paths[0]} holds tasks that `viva export` wrote: what people said of them are ballots. `viva "
            "import RUN FILE --ballots` (import_annotations) reads them. Nothing was imported."
        )


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
