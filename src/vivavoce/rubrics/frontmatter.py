"""A Markdown file with settings: YAML between two `---` lines, and the body below them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.errors import InputError

__all__ = ["Sheet", "read_sheet"]


class Sheet(NamedTuple):
    """A file's settings and body; `lines` has each setting's line under its path, as `('criteria', 0)`."""

    file: Path
    settings: Mapping[str, Any]
    body: str
    lines: Mapping[tuple[str | int, ...], int]

    def fault(self, what: str, *path: str | int) -> InputError:
        """The error about the setting at a path, with the line of it or of what it would stand in."""
        for end in range(len(path), -1, -1):
            if line := self.lines.get(path[:end]):
                return InputError(f"{self.file}, line {line}: {what}.")
        return InputError(f"{self.file}: {what}.")


def read_sheet(file: Path) -> Sheet:
    """The file's settings and body. Raises `InputError` with file and line for what is no such file."""
    import yaml

    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or no possible path
        raise InputError(f"the rubric {file} cannot be read: {error}.") from error
    first, _, rest = text.partition("\n")
    settings, mark, body = f"\n{rest}".partition("\n---\n")
    if first.rstrip() != "---" or not mark:
        raise InputError(f"{file}: a rubric begins with its settings between two lines of ---.")
    try:
        # The line feed before the settings stands for the first line: lines are then those of the file.
        node = yaml.compose(settings, Loader=yaml.SafeLoader)
        stated = yaml.safe_load(settings)
    except yaml.YAMLError as fault:
        place = getattr(fault, "problem_mark", None)
        where = f", line {place.line + 1}" if place else ""
        raise InputError(f"{file}{where}: no valid YAML ({getattr(fault, 'problem', fault)}).") from None
    except (ValueError, RecursionError) as fault:  # a date that is none, lists without end
        raise InputError(f"{file}: no valid YAML ({fault}).") from None
    if not isinstance(stated, dict):
        raise InputError(f"{file}, line 2: the settings are a mapping of names to values.")
    lines: dict[tuple[str | int, ...], int] = {}
    _walk(file, node, (), lines, set())
    return Sheet(file, stated, body.strip(), lines)


def _name(key: Any) -> str:
    """A key as a word; 1 and 1.0 are one number, and one entry."""
    try:
        return f"{float(key.value):g}"
    except (TypeError, ValueError):
        return str(key.value)


def _walk(
    file: Path,
    node: Any,
    path: tuple[str | int, ...],
    lines: dict[tuple[str | int, ...], int],
    seen: set[int],
) -> None:
    """Note every setting's line; YAML would keep the last of two with one name and say nothing."""
    import yaml

    if not isinstance(node, yaml.ScalarNode) and id(node) in seen:  # they may hold themselves, or grow
        raise InputError(f"{file}, line {node.start_mark.line + 1}: write it out, aliases are not used here.")
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for k, value in enumerate(node.value):
            lines[(*path, k)] = value.start_mark.line + 1
            _walk(file, value, (*path, k), lines, seen)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, _name(key))
            line = key.start_mark.line + 1
            if here in lines:
                raise InputError(f"{file}, line {line}: {key.value} stands there twice.")
            lines[here] = line
            _walk(file, value, here, lines, seen)
