"""The files of a source: which are read, their hashes, the version that they make, and their documents."""

import os
import stat
import unicodedata
from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json
from vivavoce.core.text import is_blank, one_line, printable, xml_text
from vivavoce.retrieval.documents import MOST_CHARACTERS, Document, Skipped, Unusable
from vivavoce.retrieval.extraction import decoded, plain
from vivavoce.retrieval.reader_process import READERS, FileReader

MOST_BYTES = 200_000_000
"""Bytes of a file that is read."""
MOST_FILES = 100_000
TEXTS = frozenset([".txt", ".text", ".md", ".markdown"])
ROWS = frozenset([".jsonl", ".ndjson"])
KINDS = "txt, md, jsonl, html and pdf"
_MOST_ROWS_NAMED = 20


class File(NamedTuple):
    """A file that is read: its name in the folder, where it lies, its SHA-256, and its state when hashed."""

    name: str
    path: Path
    sha256: str
    state: tuple[int, int]


class Folder(NamedTuple):
    """The files of a folder in the order of their names, and those that are not read."""

    path: Path
    files: tuple[File, ...]
    skipped: tuple[Skipped, ...]

    @property
    def version(self) -> str:
        """The first 16 digits of the SHA-256 of what `sha256sum` prints of the files, sorted by name."""
        lines = "".join(f"{file.sha256}  {file.name}\n" for file in self.files)
        return sha256(lines.encode()).hexdigest()[:16]


def open_folder(path: Path) -> Folder:
    """The folder with a hash of every file. Raises `InputError` where it is none or cannot be read."""
    if not path.is_dir():
        subject = "is a file" if path.exists() else "does not exist"
        raise InputError(f"the source {path} {subject}: give a folder with files of the kinds {KINDS}.")
    path = path.resolve()
    files: list[File] = []
    skipped: list[Skipped] = []
    for entry, reason in _entries(path):
        name = unicodedata.normalize("NFC", entry.relative_to(path).as_posix())
        reason = reason or _unusable_name(name)
        try:
            if not reason:
                status = entry.stat()
                reason = _unusable(entry, status)
            if not reason:
                with entry.open("rb") as stream:
                    digest = file_digest(stream, "sha256").hexdigest()
                files.append(File(name, entry, digest, (status.st_size, status.st_mtime_ns)))
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
        if reason:
            skipped.append(Skipped(printable(name.encode("utf-8", "replace").decode()), reason))
    files.sort()
    return Folder(path, tuple(files), tuple(sorted(skipped)))


def _entries(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file below the folder, and a reason against it where its name or kind alone gives one."""
    number = 0
    for place, folders, names in os.walk(folder):
        for name in sorted(folders):
            path = Path(place, name)
            if reason := _hidden_or_link(path):
                folders.remove(name)
                yield path, reason
        for name in sorted(names):
            number += 1
            if number > MOST_FILES:
                raise InputError(
                    f"the source {folder} has more than {MOST_FILES:,} files: give a folder of it."
                )
            path = Path(place, name)
            yield path, _hidden_or_link(path)


def _hidden_or_link(path: Path) -> str:
    if path.is_symlink():
        return "a link: put the file itself into the folder"
    return "hidden" if path.name.startswith(".") else ""


def _unusable_name(name: str) -> str:
    try:
        name.encode()
    except UnicodeEncodeError:
        return "its name is no text"
    return (
        "its name holds control characters" if printable(name) != name or "\n" in name or "\t" in name else ""
    )


def _unusable(path: Path, status: os.stat_result) -> str:
    """The reason against a file that its kind and size give; '' where it is read."""
    if not stat.S_ISREG(status.st_mode):
        return "no regular file"
    if path.suffix.lower() not in TEXTS | ROWS | READERS.keys():
        return f"no kind that is read ({KINDS})"
    if status.st_size > MOST_BYTES:
        return f"it has {status.st_size:,} bytes, and none over {MOST_BYTES:,} is read"
    return "" if status.st_size else "it is empty"


def read_documents(folder: Folder) -> tuple[list[Document], list[Skipped]]:
    """The documents of all files, in the order of their names, and what could not be used.

    Raises `InputError` where a file changed after it was hashed, `ExtraError` without a package.
    """
    documents: list[Document] = []
    skipped: list[Skipped] = []
    with FileReader() as reader:
        for file in folder.files:
            try:
                more, without = _documents(file, reader)
                documents += more
                skipped += without
            except Unusable as error:
                skipped.append(Skipped(file.name, xml_text(str(error))))  # a library may quote the file
            except OSError as error:
                skipped.append(Skipped(file.name, f"it cannot be read: {error.strerror or error}"))
            _refuse_changed(folder, file)
    return documents, skipped


def _refuse_changed(folder: Folder, file: File) -> None:
    try:
        status = file.path.stat()
    except OSError:
        status = None
    if status is None or (status.st_size, status.st_mtime_ns) != file.state:
        raise InputError(
            f"{file.name} in the source {folder.path} changed while it was read: "
            "try again when it is complete."
        )


def _documents(file: File, reader: FileReader) -> tuple[list[Document], list[Skipped]]:
    end = file.path.suffix.lower()
    if end in READERS:
        document, reason = reader.document(file.path, file.name)
        return [document], [Skipped(file.name, reason)] if reason else []
    text = plain(decoded(file.path))
    if end in ROWS:
        return _rows(file.name, text)
    return [Document(file.name, (_checked(text),))], []


def _checked(text: str) -> str:
    if is_blank(text):
        raise Unusable("no text in it")
    if len(text) > MOST_CHARACTERS:
        raise Unusable(f"its text has more than {MOST_CHARACTERS:,} characters")
    return text


def _rows(name: str, text: str) -> tuple[list[Document], list[Skipped]]:
    """A document for each line, named by its number, and the lines that are none."""
    documents: list[Document] = []
    broken: list[Skipped] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        row = f"{name}#{number}"
        try:
            documents.append(_row(row, line))
        except (Unusable, ValueError) as error:
            broken.append(Skipped(row, one_line(str(error), 120)))
    if not documents:
        first = f"; {broken[0].file}: {broken[0].reason}" if broken else ""
        raise Unusable(f"no line is an object with a text{first}")
    more = len(broken) - _MOST_ROWS_NAMED
    remainder = [Skipped(name, f"{more:,} more lines could not be used")] if more > 0 else []
    return documents, broken[:_MOST_ROWS_NAMED] + remainder


def _row(name: str, line: str) -> Document:
    fields = read_json(line)
    if not isinstance(fields, dict):
        raise Unusable("no JSON object")
    text = next((fields[key] for key in ("text", "content", "contents") if key in fields), None)
    if not isinstance(text, str):
        raise Unusable('no string under "text"')
    text = _checked(plain(text))
    title, url = _word(fields.get("title")), _word(fields.get("url") or fields.get("id"))
    if title and not text.startswith(title):
        text = f"{title}\n\n{text}"  # a row seldom names what it is about: its title does
    return Document(name, (text,), False, title, url)


def _word(value: Any) -> str:
    """A title or address on one line; '' for what is neither text nor a whole number."""
    return one_line(plain(str(value)), 300) if isinstance(value, str | int) else ""
