"""The door for exporters: what `viva export --format NAME` and `Run.export(format=NAME)` write."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, dataclass_transform

from vivavoce.core import index, registry
from vivavoce.core.errors import InputError, SpecError, suggest
from vivavoce.core.specs import Setting, Spec, setting_of, typed_setting


class ExportedFile(Protocol):
    """A named tuple about a file that was written."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    def _asdict(self) -> dict[str, Any]: ...


class Exported(NamedTuple):
    """A file that was written: the table in it (null for a whole run), its rows and its size."""

    table: str | None
    path: Path
    rows: int
    bytes: int


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Exporter(ABC):
    """Writes a run as another tool reads it; register a subclass with `@exporter("name")`.

    Its fields are the options of the export. `items`, `table`, `redact`, `metric`, `rater` and `margin` have
    options of `viva export`; others are given with `--set NAME=VALUE`. One that `skips_credentialed` writes
    no text of a credentialed benchmark; any other is refused a run that holds one.
    """

    skips_credentialed: ClassVar[bool] = False

    @abstractmethod
    def write(self, run: Any, to: Path) -> tuple[ExportedFile, ...]:
        """Write a run to `to`, all of it or nothing, and return what was written: `Exported`, or the like.

        `run` is a `Run`; a subclass may name that type, or the `RunTables` that it extends. Raise
        `StoreError` where something else lies at `to` or the disk does not take it.
        """


def exporter_of(format: str, options: Mapping[str, Setting]) -> Exporter:
    """The exporter of that name, hyphens and underscores alike, with these options.

    Raises `InputError` for an unknown name, `SpecError` for an option that it does not have.
    """
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    exporter: Exporter = registry.build("exporter", Spec(exporter_name(format), plain))
    return exporter


def exporter_name(format: str) -> str:
    """The registered name of an exporter. Raises `InputError` for an unknown one."""
    names = list(registry.members("exporter"))
    if (name := index.spelling(format, names)) is None:
        raise InputError(f"an export is {', '.join(names)}, not {format!r}.{suggest(format, names)}")
    return name


def options_in_words(format: str, words: Mapping[str, str]) -> dict[str, Setting]:
    """The options of an export as `--set` gives them, each of the type that the exporter wants."""
    name = exporter_name(format)
    hints = registry.hints_of(registry.find("exporter", name))
    return {key: _setting(name, key, word, hints.get(key, str)) for key, word in words.items()}


def _setting(name: str, key: str, word: str, hint: Any) -> Setting:
    """A word as its setting means it: text where that takes text, else a number, true, false or null."""
    try:
        typed_setting(Spec(name), key, word, hint)
    except SpecError:
        return setting_of(word)
    return word
