"""YAML files of settings: plain values, each key once, or one clear sentence.

They are settings and no data: a small file, no deep nesting, and none of YAML's means by which a few lines
grow to gigabytes or stand for something else than they say (aliases, merges, tags).
"""

import math
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import VivaError

MOST_BYTES, MOST_LEVELS, MOST_DIGITS = 1_000_000, 50, 40


class Document(NamedTuple):
    """A document's value, null for an empty one, and the line of every entry under its path.

    A path is of keys and places in lists, as in `('criteria', 0, 'scale')`.
    """

    value: Any
    lines: dict[tuple[str | int, ...], int]


class _Fault(Exception):
    """What is wrong, and in which line, if that is known."""

    def __init__(self, subject: str, line: int | None = None) -> None:
        super().__init__(subject)
        self.line = line


def read_mapping(file: Path, what: str, error: type[VivaError]) -> dict[str, Any]:
    """The file's mapping, empty for an empty file; `what` names its content in the sentence of an `error`.

    Raises an `error` as `read_document` does, and for a document that is no mapping.
    """
    try:
        stat = file.stat()
        value = _of_file(file, stat.st_mtime_ns, stat.st_size).value
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise error(f"cannot read the {what} of {file}: {reason}.") from None
    except _Fault as fault:
        raise error(_sentence(file, fault)) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise error(f"{file}: a mapping of names to settings is needed, not {type(value).__name__}.")
    return {str(name): deepcopy(entry) for name, entry in value.items()}


def read_document(text: str, file: Path, error: type[VivaError]) -> Document:
    """The document that a text holds; `file` stands in the sentence of an `error`.

    Raises an `error` with file and line for what is no YAML or too large, too deep, an alias, a tag, a key
    that stands twice or is no word, and a number that is not finite or has no room in 64 bits.
    """
    try:
        return _document(text)
    except _Fault as fault:
        raise error(_sentence(file, fault)) from None


def _sentence(file: Path, fault: _Fault) -> str:
    return f"{file}{f', line {fault.line}' if fault.line else ''}: {fault}."


@lru_cache(maxsize=32)
def _of_file(file: Path, mtime_ns: int, size: int) -> Document:
    """The document in a file; the time and size are there so that a file that changes is read again."""
    with file.open("rb") as stream:
        raw = stream.read(MOST_BYTES + 1)  # of a device there is no end
    if len(raw) > MOST_BYTES:
        raise _Fault(_TOO_LARGE)
    return _document(raw.decode("utf-8-sig"))


_TOO_LARGE = f"it has more than {MOST_BYTES:,} bytes, and settings are a small file"


def _document(text: str) -> Document:
    import yaml  # slow to import, and most commands read no YAML

    if len(text) > MOST_BYTES:
        raise _Fault(_TOO_LARGE)
    fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        try:
            return _load(text, fast)
        except yaml.YAMLError:
            # For its message: libyaml words faults differently. On a long text it would take too long.
            return _load(text, yaml.SafeLoader if len(text) < 20_000 else fast)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        subject = " ".join(str(getattr(fault, "problem", None) or fault).split())
        raise _Fault(f"no valid YAML ({subject})", mark and mark.line + 1) from None


def _load(text: str, loader_class: Any) -> Document:
    import yaml

    level = 0
    for event in yaml.parse(text, Loader=loader_class):  # before anything is built, which recurses
        line = event.start_mark.line + 1  # type: ignore[union-attr]
        if isinstance(event, yaml.AliasEvent):
            raise _Fault("write it out, aliases are not used here", line)
        if isinstance(event, yaml.NodeEvent) and event.tag is not None:  # type: ignore[attr-defined]
            raise _Fault(f"take the tag {event.tag} out, tags are not used here", line)  # type: ignore[attr-defined]
        level += isinstance(event, yaml.CollectionStartEvent)
        level -= isinstance(event, yaml.CollectionEndEvent)
        if level > MOST_LEVELS:
            raise _Fault(f"more than {MOST_LEVELS} levels of lists and mappings", line)
    loader = loader_class(text)
    try:
        node = loader.get_single_node()
        lines: dict[tuple[str | int, ...], int] = {}
        if node is None:
            return Document(None, lines)
        _check(loader, node, (), lines)
        return Document(loader.construct_document(node), lines)
    finally:
        loader.dispose()


def _check(
    loader: Any, node: Any, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]
) -> None:
    """Note every entry's line; raise `_Fault` for a value or key that cannot be used."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for position, entry in enumerate(node.value):
            lines[(*path, position)] = entry.start_mark.line + 1
            _check(loader, entry, (*path, position), lines)
    elif isinstance(node, yaml.MappingNode):
        for key, entry in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise _Fault("a key is a word or a number, not a list or a mapping", line)
            _check(loader, key, path, lines)
            place = (*path, _key_text(key.value))
            if place in lines:  # YAML would keep the last and say nothing
                raise _Fault(f"{key.value} stands there twice", line)
            lines[place] = line
            _check(loader, entry, place, lines)
    else:
        _check_scalar(loader, node)


def _check_scalar(loader: Any, node: Any) -> None:
    line, word = node.start_mark.line + 1, node.value
    kind = node.tag.rpartition(":")[2]
    if kind == "merge":
        raise _Fault("write it out, merges (<<) are not used here", line)
    if kind in ("int", "float") and len(word) > MOST_DIGITS:
        raise _Fault(f"a number of more than {MOST_DIGITS} digits; text stands in quotes", line)
    try:
        word.encode()
        value = loader.construct_object(node)
    except UnicodeEncodeError:
        raise _Fault("an escape gives half of a character", line) from None
    except (ValueError, OverflowError) as fault:  # a date that is none
        raise _Fault(f"no valid YAML ({fault})", line) from None
    if isinstance(value, float) and not math.isfinite(value):
        raise _Fault(f"{word} is no number that can be used; leave the entry out where there is none", line)
    if type(value) is int and not -(2**63) <= value < 2**63:
        raise _Fault(f"{word} has no room in 64 bits", line)


def _key_text(word: str) -> str:
    """A key as a word; 1 and 1.0 are one number, and one entry."""
    try:
        return f"{float(word):g}"
    except ValueError:
        return word
