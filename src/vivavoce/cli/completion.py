"""What a shell completes: registered names, and the candidates and metrics of the run that was typed.

A completion writes nothing and never fails aloud. A name of the run is a stranger's text: one that a shell
could read as more than a word is not offered.
"""

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import typer

from vivavoce.cli.stdout import others_to_stderr
from vivavoce.core import registry
from vivavoce.core.specs import parse, short_form

MOST = 200
"""The names that are offered at most."""
_PLAIN = re.compile(r"[\w./+][\w./:@+~%,=-]*")
_QUOTABLE = re.compile(r"[\w./+(][\w./:@+~%,=() -]*")
_QUOTING_SHELLS = ("complete_zsh", "complete_fish")
"""Shells that quote what they complete by themselves."""
Complete = Callable[[typer.Context, str], list[str]]


class _Word(str):
    """A word for a shell, which stands for a name that begins as was typed: in quotes it does so no more."""

    __slots__ = ()

    def startswith(self, *_: object) -> bool:
        return True


def registered(plural: str) -> Complete:
    """Completes the names of a kind, such as `metrics`, each with the settings that it needs."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        names: list[str] = []
        # A plugin that cannot be loaded says so when a command runs, and what it prints is no word to offer.
        with suppress(Exception), others_to_stderr():
            for entry in registry.entries(registry.KINDS[plural]):
                names += [_typed(entry), *entry.aliases]
        return _offered(names, incomplete)

    return complete


def _typed(entry: registry.Entry) -> str:
    """A registered name with the first setting that has no default, as in `rouge:n=`."""
    if not isinstance(entry.cls, type):
        return entry.name
    optional = registry.defaults(entry)
    needed = [name for name in registry.settings(entry) if name not in optional]
    return f"{entry.name}:{needed[0]}=" if needed else entry.name


def candidates(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the candidates of the run."""
    return _offered(_names_of(context, "candidate"), incomplete)


def metrics(context: typer.Context, incomplete: str) -> list[str]:
    """Completes the metrics that scored the run, in the form that needs no quotes."""
    names = []
    for name in _names_of(context, "metric"):
        with suppress(Exception):
            names.append(short_form(parse(name)) or name)
    return _offered(names, incomplete)


def words(*choices: str) -> Complete:
    """Completes these words."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        return _offered(choices, incomplete)

    return complete


def _names_of(context: typer.Context, kind: Literal["candidate", "metric"]) -> list[str]:
    """The candidates or metrics in the run of the command line; none where it cannot be read."""
    with suppress(Exception):  # whatever lies at the path: a completion shows no error
        from vivavoce.store.strange_files import unchecked_names

        # Behind an option that still needs its value, the words before it are left unread.
        path = Path(str(context.params.get("run") or context.args[0]))
        return unchecked_names(path, kind, MOST)
    return []


def _offered(names: Iterable[str], incomplete: str) -> list[str]:
    """The words for the names that begin so."""
    begin = incomplete.casefold()
    offers = (_word(name) for name in dict.fromkeys(names) if name.casefold().startswith(begin))
    return [word for word in offers if word]


def _word(name: str) -> str:
    """A name as the shell takes it for one word that means itself; empty where none is safe."""
    if _PLAIN.fullmatch(name) and ":::" not in name:
        return _Word(name)
    if not _QUOTABLE.fullmatch(name) or ":::" in name:  # which divides a word from its help in PowerShell
        return ""
    quotes = os.environ.get("_VIVA_COMPLETE") not in _QUOTING_SHELLS
    return _Word(f"'{name}'" if quotes else name)
