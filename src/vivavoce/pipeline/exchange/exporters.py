"""The door for exporters: what `viva export --format NAME` and `Run.export(format=NAME)` write."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from vivavoce.core import registry
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.specs import Setting, Spec

if TYPE_CHECKING:
    from vivavoce.pipeline.run import Run


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


class Exporter(ABC):
    """Writes a run as another tool reads it; register a subclass with `@exporter("name")`.

    Its fields are the options of the export. `items`, `table`, `redact`, `metric`, `rater` and `margin` have
    options of `viva export`. One that `skips_credentialed` writes no text of a credentialed benchmark; any
    other is refused a run that holds one.
    """

    skips_credentialed: ClassVar[bool] = False

    @abstractmethod
    def write(self, run: "Run", to: Path) -> tuple[ExportedFile, ...]:
        """Write to `to`, all of it or nothing, and return what was written: `Exported`, or the like.

        Raise `StoreError` where something else lies at `to` or the disk does not take it.
        """


def exporter_of(format: str, options: Mapping[str, Setting]) -> Exporter:
    """The exporter of that name with these options.

    Raises `InputError` for an unknown name, `SpecError` for an option that it does not have.
    """
    names = list(registry.members("exporter"))
    if (name := registry.spelling(format, names)) is None:
        raise InputError(f"an export is {', '.join(names)}, not {format!r}.{suggest(format, names)}")
    exporter: Exporter = registry.build("exporter", Spec(name, dict(options)))
    return exporter
