"""The members of an `.eval` archive of Inspect, none of which is written to disk, and attached texts."""

import sys
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.extras import require_extras
from vivavoce.core.json_stream import MOST_CHARACTERS
from vivavoce.core.json_text import read_json
from vivavoce.core.text import one_line

_ATTACHMENT = "attachment://"
_MOST_RATIO = 2000
"""How many times its packed size a member may have; text that models write packs to a hundredth at most."""


def open_archive(path: Path) -> zipfile.ZipFile:
    """The archive, whose members are compressed by Zstandard, which Python reads by itself from 3.14 on."""
    module: Any = zipfile
    if sys.version_info < (3, 14):
        require_extras({"backports.zstd": "logs"}, "an .eval file")
        module = import_module("backports.zstd.zipfile")
    try:
        archive: zipfile.ZipFile = module.ZipFile(path)
    except (OSError, module.BadZipFile, ValueError, NotImplementedError) as error:
        raise InputError(f"{path} is no whole .eval file ({one_line(str(error))}): copy it again.") from None
    for member in archive.infolist():
        if member.filename.startswith("/") or ".." in member.filename.split("/"):
            raise InputError(f"{path}: a member leads out of the archive ({one_line(member.filename, 60)}).")
        if member.file_size > max(member.compress_size, 1000) * _MOST_RATIO:
            raise InputError(
                f"{path}: {one_line(member.filename, 60)} unpacks to {member.file_size:,} bytes."
            )
    return archive


def member(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    """What a member of the archive holds. Raises `InputError` where it is cut, too long, or no JSON."""
    try:
        with archive.open(name) as stream:
            data = stream.read(MOST_CHARACTERS + 1)
    except Exception as error:  # a broken archive fails in the words of its compression
        raise InputError(
            f"{path}: {one_line(name, 60)} cannot be unpacked ({one_line(str(error))}): copy the file again."
        ) from None
    if len(data) > MOST_CHARACTERS:
        raise InputError(
            f"{path}: {one_line(name, 60)} has more than {MOST_CHARACTERS:,} bytes, and none so long is read."
        )
    try:
        return read_json(data.decode("utf-8"), nan=True)
    except ValueError as error:
        raise InputError(f"{path}, {one_line(name, 60)}: broken JSON ({one_line(str(error), 80)}).") from None


def header(path: Path) -> dict[str, Any]:
    """The header of an archive; of an evaluation that did not end, what its journal began with."""
    with open_archive(path) as archive:
        names = archive.namelist()
        name = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
        if name is None:
            raise InputError(
                f"{path}: neither header.json nor a journal in it, so this is no log of Inspect."
            )
        head = member(path, archive, name)
    if not isinstance(head, dict):
        raise InputError(f"{path}, {name}: an object is needed, not {type(head).__name__}.")
    return head


def attached(value: Any, attachments: Mapping[str, Any]) -> Any:
    """The value with its long texts, which stand under `attachments`, in their place."""
    if not attachments:
        return value
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [attached(entry, attachments) for entry in value]
    if isinstance(value, dict):
        return {name: attached(entry, attachments) for name, entry in value.items()}
    return value
