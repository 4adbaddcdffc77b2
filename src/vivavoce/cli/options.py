"""Options that several verbs share, and how their words are read."""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vivavoce.errors import InputError

if TYPE_CHECKING:
    from vivavoce.run import Run

__all__ = [
    *("Allow", "AllowPhi", "Direction", "FailIf", "IfUnanswered", "Items", "Json", "Map", "MaxCost"),
    *("Offline", "Plugin", "Providers", "Quiet", "Range", "Role", "RunPath"),
    *("Set", "Where", "declared", "exam", "opened", "pairs", "place", "ranges"),
]


class FailIf(StrEnum):
    """What closes a gate. An enumeration, because typer takes no list of literals."""

    worse = "worse"
    unclear = "unclear"


RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="The run file, such as exam.viva.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no tables.")]
Providers = Annotated[
    Path | None, typer.Option(help="A YAML file of endpoints, limits and prices; adds to the known ones.")
]
MaxCost = Annotated[float | None, typer.Option(help="Stop before more than this is spent.")]
Offline = Annotated[bool, typer.Option("--offline", help="Reach nothing but this machine.")]
Allow = Annotated[list[str], typer.Option(help="A host that a credentialed benchmark may go to; repeatable.")]
AllowPhi = Annotated[
    bool, typer.Option("--allow-phi", help="Send items even if they look like patient data.")
]
Plugin = Annotated[list[Path], typer.Option(help="A Python file with metrics or benchmarks; repeatable.")]


def exam(spec: str | None) -> str | None:
    """A benchmark spec as it was typed. Raises `InputError` for a file where its spec is needed."""
    typed = (spec or "").strip()
    bare = re.fullmatch(r"[^=()]+\.(jsonl|ndjson|csv|tsv)", typed)
    named = re.fullmatch(r"(jsonl|csv)\(([^=()]+)\)", typed)
    if not bare and not named:
        return spec
    from vivavoce.specs import Spec

    path = (named[2] if named else typed).strip().strip("\"'")
    kind = named[1] if named else "csv" if typed.endswith(("csv", "tsv")) else "jsonl"
    raise InputError(f'{typed} is no benchmark: write "{Spec(kind, {"path": path})}".')


def place(path: str | Path) -> Path:
    """A path to write to, typed or a default. Raises `InputError` for an empty one: it names no folder."""
    if not str(path).strip():
        raise InputError("the path to write to is empty: a variable of the shell may not be set.")
    return Path(path)


Items = Annotated[
    str | None,
    typer.Option(callback=exam, help="Restrict to the items that this benchmark spec selects."),
]
Map = Annotated[list[str], typer.Option(help="ours=theirs: which column holds a field; repeatable.")]
Set = Annotated[list[str], typer.Option(help="ours=value: a field's value for all rows; repeatable.")]
Role = Annotated[list[str], typer.Option(help='"NAME=ceiling" or "NAME=floor"; repeatable.')]
Where = Annotated[list[str], typer.Option(help="Scores: column=value, which rows to take; repeatable.")]
Range = Annotated[list[str], typer.Option(help="Scores: LOW:HIGH or criterion=LOW:HIGH; repeatable.")]
Direction = Annotated[list[str], typer.Option(help="Scores: higher|lower, or criterion=…; repeatable.")]
IfUnanswered = Annotated[
    list[str], typer.Option(help="Scores: worst|set_aside|correct, or criterion=…; repeatable.")
]


def opened(path: Path, plugins: Sequence[Path] = ()) -> "Run":
    """The run at `path`, with the plugins loaded. Raises `StoreError` for another kind of file."""
    from vivavoce.cli.mistakes import check_path
    from vivavoce.run import open_run

    check_path(path)
    return open_run(path, plugins=plugins)


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """`name=value` words as a mapping; the last `=` divides for roles, whose names may hold one."""
    pairs = {}
    for word in words:
        left, equals, right = word.rpartition("=") if option == "--role" else word.partition("=")
        if not equals or not left or not right:
            raise InputError(f"{option} {word!r}: write {option} name=value.")
        if left in pairs:
            raise InputError(f"{option} names {left!r} twice.")
        pairs[left] = right
    return pairs


def declared(words: Sequence[str], option: str) -> dict[str, str]:
    """`word` for all criteria or `criterion=word` for one."""
    return pairs([word if "=" in word else f"*={word}" for word in words], option)


def ranges(words: Sequence[str]) -> dict[str, tuple[float | None, float | None]]:
    """`0:5` as two limits; an empty side has none."""
    ranges = {}
    for name, word in declared(words, "--range").items():
        low, colon, high = word.partition(":")
        try:
            ranges[name] = (float(low) if low else None, float(high) if high else None)
        except ValueError:
            colon = ""
        if not colon:
            raise InputError(f"--range {word!r}: write LOW:HIGH, such as 0:5, or 0: for no upper limit.")
    return ranges
