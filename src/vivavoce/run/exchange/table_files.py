"""Several files, a folder or a pattern as one source: which is the exam, and whose answers each holds."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from os.path import commonpath
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import columns_of, likely_columns
from vivavoce.core.errors import InputError
from vivavoce.core.file_hashes import file_hash
from vivavoce.core.tables import AS_FOUND, Dialect, Line, Lines, Table, is_table_file, open_table

_SEPARATORS = re.compile(r"[_/ ]")
_PLACES = {"{candidate}": r"(?P<candidate>[^/]+?)", "{repeat}": r"(?P<repeat>\d+)", "*": "[^/]*"}


class Names(NamedTuple):
    """What the paths of files say of their answers, by path, and whether several parts of them vary."""

    fields: Mapping[Path, Mapping[str, str]]
    pattern: str
    varies: bool = False


def table_paths(data: Any) -> list[Path]:
    """The tables at a path, in a folder or under a pattern with `*`; none for any other data.

    Raises `InputError` for a folder or a pattern without one.
    """
    parts = [data] if isinstance(data, str | PathLike) else data
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str | PathLike) for part in parts):
        return []
    return [file for part in parts for file in _tables_at(Path(part))]


def _tables_at(path: Path) -> list[Path]:
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if is_table_file(file)]
    elif "*" in path.name and not path.exists():
        files = sorted(file for file in path.parent.glob(path.name) if file.is_file())
    else:
        return [path]
    if not files:
        raise InputError(f"no table at {path}: .jsonl, .json, .csv, .tsv, .xlsx or .parquet.")
    return files


class Joined(NamedTuple):
    """Tables of several files: the folder that they share, their rows one after the other, and their hash."""

    folder: Path
    lines: Lines
    hash: str
    tables: Mapping[Path, Table]

    def of_answers(self, exam: Path) -> "Joined":
        """The tables without that of one file, which is their exam."""
        tables = {path: table for path, table in self.tables.items() if path != exam}
        lines = Lines(partial(_one_after_the_other, tables, {}))
        return self._replace(lines=lines, hash=hash_of(list(tables)), tables=tables)


def joined_tables(paths: Sequence[Path], dialect: Dialect = AS_FOUND) -> Joined:
    """The tables of files as one, each row with its file's place."""
    tables = {path: open_table(path, dialect) for path in paths}
    folder = Path(commonpath([path.absolute().parent for path in tables]))
    return Joined(folder, Lines(partial(_one_after_the_other, tables, {})), hash_of(paths), tables)


def hash_of(paths: Sequence[Path]) -> str:
    """The hash of a file, or of the hashes of several."""
    if len(paths) == 1:
        return file_hash(paths[0])
    return hashlib.sha256("".join(map(file_hash, paths)).encode()).hexdigest()[:8]


def with_fields(joined: Joined, fields: Mapping[Path, Mapping[str, str]]) -> Lines:
    """The rows, each with what the path of its file says."""
    return Lines(partial(_one_after_the_other, joined.tables, fields))


def _one_after_the_other(
    tables: Mapping[Path, Table], fields: Mapping[Path, Mapping[str, str]]
) -> Iterator[Line]:
    for path, table in tables.items():
        facts = fields.get(path, {})
        for line in table.lines:
            yield Line(line.where, {**line.row, **facts}) if facts else line


def exam_among(joined: Joined) -> Path | None:
    """The file that holds questions with keys, and no answers of models, beside files without keys."""
    columns = {path: columns_of(table.lines) for path, table in joined.tables.items()}
    exams = [path for path, names in columns.items() if _is_exam(names)]
    answers = [names for path, names in columns.items() if path not in exams]
    if len(exams) != 1 or not answers or any(map(_has_key_and_text, answers)):
        return None
    return exams[0]


def _is_exam(columns: Sequence[str]) -> bool:
    of_answers = likely_columns("candidate", columns) or _texts(columns)
    return bool(_asks(columns) and _keys(columns) and not of_answers)


def _has_key_and_text(columns: Sequence[str]) -> bool:
    return bool(_asks(columns) and _keys(columns) and _texts(columns))


def _asks(columns: Sequence[str]) -> bool:
    return bool(likely_columns("question", columns) or likely_columns("messages", columns))


def _keys(columns: Sequence[str]) -> bool:
    return any(likely_columns(field, columns) for field in ("answer", "references", "options"))


def _texts(columns: Sequence[str]) -> bool:
    return bool(likely_columns("text", columns))


def names_of(paths: Sequence[Path], pattern: str | None = None) -> Names:
    """What the paths say by the `pattern`, with `{candidate}`, `{repeat}` and `*`, else where they differ.

    Raises `InputError` for a pattern without `{candidate}`, and for a path that it does not fit.
    """
    if pattern is not None:
        return Names({path: _by_pattern(path, pattern) for path in paths}, pattern)
    parts = _differing(paths)
    varying = {len(_SEPARATORS.split(part)) for part in parts}
    pieces = [set(column) for column in zip(*(_SEPARATORS.split(part) for part in parts), strict=False)]
    varies = len(varying) == 1 and sum(len(values) > 1 for values in pieces) > 1
    fields = {path: {"candidate": part} for path, part in zip(paths, parts, strict=True)}
    stem = paths[0].as_posix().removesuffix(paths[0].suffix)
    start = stem.rfind(parts[0])
    folder = stem[:start].rpartition("/")[2]
    return Names(fields, f"{folder}{{candidate}}{stem[start + len(parts[0]) :]}{paths[0].suffix}", varies)


def _differing(paths: Sequence[Path]) -> list[str]:
    """The part of each path in which they differ, between separators; a file alone has its stem."""
    if len(paths) == 1:
        return [paths[0].stem]
    folder = commonpath([path.absolute().parent for path in paths])
    names = [path.absolute().relative_to(folder).as_posix().removesuffix(path.suffix) for path in paths]
    start = _shared(names)
    end = _shared([name[start:][::-1] for name in names])
    return [name[start : len(name) - end] or name for name in names]


def _shared(names: Sequence[str]) -> int:
    """How many characters the names share in front, up to a separator."""
    length = 0
    for number, letters in enumerate(zip(*names, strict=False), 1):
        if len(set(letters)) > 1:
            break
        length = number if _SEPARATORS.match(letters[0]) else length
    return length


def _by_pattern(path: Path, pattern: str) -> dict[str, str]:
    if "{candidate}" not in pattern:
        raise InputError(f"--candidate-from {pattern!r}: write {{candidate}} where the model's name stands.")
    parts = re.split(r"(\{candidate\}|\{repeat\}|\*)", pattern.removeprefix("./"))
    expression = "".join(_PLACES.get(part, re.escape(part)) for part in parts)
    fitting = re.search(rf"(?:^|/){expression}$", path.as_posix())
    if fitting is None:
        raise InputError(f"--candidate-from {pattern!r} does not fit {path}: write its parts as *.")
    return {name: value for name, value in fitting.groupdict().items() if value}


def refuse_columns_as_values(constants: Mapping[str, Any], columns: Collection[str]) -> None:
    """Raise `InputError` where what is set for all rows names columns, of these that nothing else takes."""
    plain = {column for column in columns if "." not in column}
    for field, value in constants.items():
        names = {name.strip() for name in str(value).strip("[]").split(",")}
        if names <= plain:
            raise InputError(
                f"--set {field}={value} would give every row the value {value!r}, and the table has such a "
                f"column: --map {field}={value} takes it."
            )
