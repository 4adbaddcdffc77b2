"""Prompts as Markdown files with strict variables; `{{ name }}` marks a variable.

Prompts of the core lie in this folder, those of a shipped plugin in its folder `prompts`. `load` also takes
the path of a user's file.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.registry import plugin_folders

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


class Unreadable(Exception):
    """A model's reply that cannot be used; it says why, as a clause without a full stop."""


class Prompt(NamedTuple):
    """A prompt's name and text."""

    name: str
    text: str

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the text, in order of appearance."""
        return tuple(dict.fromkeys(_VARIABLE.findall(self.text)))

    def fill(self, **values: str) -> str:
        """The text with every variable replaced, once: marks inside the values stay as they are.

        Raises `InputError` naming all missing variables.
        """
        missing = [name for name in self.variables if name not in values]
        if missing:
            raise InputError(f"the prompt {self.name!r} needs a value for: {', '.join(missing)}.")
        return _VARIABLE.sub(lambda mark: values[mark[1]], self.text)


def load(name: str) -> Prompt:
    """The shipped prompt `name`, or the file at that path if `name` ends in `.md`.

    Raises `InputError` when there is none, or it cannot be read.
    """
    return _read_file(name, file_of(name)) if name.endswith(".md") else _shipped(name)


def file_of(name: str) -> Path:
    """The file that `load` reads for a name, whether it is there or not."""
    if name.endswith(".md"):
        return Path(name)
    return _shipped_files().get(name, Path(__file__).with_name(f"{name}.md"))


@cache
def _shipped(name: str) -> Prompt:
    return _read_file(name, file_of(name))


@cache
def _shipped_files() -> dict[str, Path]:
    """Every prompt of this folder and of the shipped plugins, by name."""
    folders = [Path(__file__).parent, *(folder / "prompts" for folder in plugin_folders())]
    return {file.stem: file for folder in folders for file in sorted(folder.glob("*.md"))}


def _read_file(name: str, path: Path) -> Prompt:
    try:
        return Prompt(path.stem, path.read_text(encoding="utf-8-sig").strip())
    except FileNotFoundError:
        shipped = ", ".join(sorted(_shipped_files()))
        raise InputError(f"no prompt {name!r}: give the path of a .md file or one of {shipped}.") from None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or no possible path
        raise InputError(f"the prompt {name!r} cannot be read: {error}.") from error
