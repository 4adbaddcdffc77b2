"""A user's own exam in a jsonl or csv file: no code, columns named like the record's fields or mapped."""

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from vivavoce.errors import InputError
from vivavoce.records import Card, Item, Unit
from vivavoce.registry import benchmark
from vivavoce.tables import LISTS, Line, read_lines, rename
from vivavoce.text import one_line

_TEXT = ("variant", "alias", "group", "category", "format", "question", "false_answer", "context", "source")


def _card(name: str, path: Path) -> Card:
    return Card(
        name=name,
        description="An exam of the user's own.",
        source=str(path),
        revision_note="a file; its hash stands in the signature",
        licence="not stated",
        access="own",
        citation="none",
    )


def _columns(words: tuple[str, ...]) -> dict[str, str]:
    """`id:qid` pairs as a mapping from our names to the file's; `id` is another word for `item`."""
    known = ("item", "id", *_TEXT, *LISTS, "step", "rubric")
    pairs = {}
    for word in words:
        ours, colon, theirs = word.partition(":")
        if not colon or not theirs or ours not in known:
            raise InputError(
                f"columns=[{word}]: write ours:theirs, with one of {', '.join(known)} before the colon."
            )
        pairs["item" if ours == "id" else ours] = theirs
    return pairs


def _items(path: Path, name: str, columns: tuple[str, ...], form: str | None) -> Iterator[Item]:
    pairs = _columns(columns)
    for line in read_lines(path):
        row = rename(line, pairs)
        if "id" in row and "item" not in row:
            row["item"] = row.pop("id")
        row.setdefault("format", form)
        yield _item(Line(line.where, row), name, arrays=path.suffix.lower() in (".csv", ".tsv"))


def _item(line: Line, benchmark: str, *, arrays: bool) -> Item:
    """The item of a row; with `arrays`, a list may be written as the text of a JSON array."""
    row = line.row
    for needed in ("item", "question", "format"):
        if row.get(needed) in (None, ""):
            word = "id" if needed == "item" else needed
            also = " (or format=… in the spec, for all)" if needed == "format" else ""
            raise InputError(
                f"{line.where}: no {word}. Every item needs a column {word!r}{also}; "
                f"columns=[{word}:theirs] maps another name."
            )
    texts: dict[str, Any] = {
        name: _text(row[name], f"{line.where}, {name}") for name in _TEXT if row.get(name) not in (None, "")
    }
    lists: dict[str, Any] = {
        name: _list(row[name], f"{line.where}, {name}", arrays=arrays)
        for name in LISTS
        if row.get(name) is not None
    }
    known = {"item", *_TEXT, *LISTS, "step", "rubric"}
    return Item(
        benchmark=benchmark,
        item=_text(row["item"], f"{line.where}, item"),
        **texts,
        **lists,
        step=_number(row.get("step"), f"{line.where}, step"),
        rubric=_rubric(row.get("rubric"), f"{line.where}, rubric"),
        meta={k: _kept(v) for k, v in row.items() if k not in known},
    )


def _text(value: Any, where: str) -> str:
    """Text as it is; a number or boolean as Python writes it (5, 2.5, True)."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    raise InputError(f"{where}: a text is needed, not {type(value).__name__}: {one_line(str(value), 40)}.")


def _number(value: Any, where: str) -> int | None:
    """A whole number, also as text; null where there is none."""
    if value in (None, ""):
        return None
    try:
        # beyond 63 bits the store has no room
        if isinstance(value, bool) or (number := int(value)) != float(value) or abs(number) >= 2**63:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{where}: a whole number is needed, not {one_line(str(value), 40)!r}.") from None
    return number


def _list(value: Any, where: str, *, arrays: bool) -> tuple[str, ...]:
    """A list, a JSON array written as text (csv has no lists), or one text."""
    if arrays and isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError, RecursionError):  # a text may begin with a bracket, such as '[18F]FDG'
            value = json.loads(value)
    if isinstance(value, list):
        return tuple(_text(v, where) for v in value)
    return (_text(value, where),) if value != "" else ()


def _rubric(value: Any, where: str) -> tuple[Unit, ...]:
    """Points of a rubric, each an object with `text` and `weight` (or `criterion` and `points`, HealthBench's
    words), and perhaps a `unit` that names it; else they are r1, r2 and so on. CSV: a JSON array.
    """
    if value in (None, ""):
        return ()
    with suppress(ValueError, TypeError, RecursionError):
        value = json.loads(value)
    if value == []:
        return ()
    if not isinstance(value, list):
        raise InputError(f"{where}: a list of points is needed, not {one_line(str(value), 40)}.")
    points = []
    for number, point in enumerate(value, 1):
        text, weight = (
            (point.get("text") or point.get("criterion"), point.get("weight", point.get("points")))
            if isinstance(point, dict)
            else (None, None)
        )
        fit = isinstance(weight, int | float) and not isinstance(weight, bool) and math.isfinite(weight)
        if not isinstance(text, str) or not text.strip() or not fit or not weight:
            raise InputError(
                f"{where}, point {number}: an object with a text and a weight other than 0 is needed, like "
                '{"text": "names the drug of choice", "weight": 5}.'
            )
        points.append(Unit(unit=str(point.get("unit") or f"r{number}"), text=text, weight=float(weight)))
    if len({p.unit for p in points}) < len(points):
        raise InputError(f"{where}: two points bear one name; give each its own unit.")
    if not any((p.weight or 0) > 0 for p in points):
        raise InputError(f"{where}: no point has a weight above 0, so there is nothing to reach.")
    return tuple(points)


def _kept(value: Any) -> Any:
    """A further column as JSON can hold it: numbers that are none as null, dates and bytes as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_kept(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _kept(v) for k, v in value.items()}
    return value if value is None or isinstance(value, str | int | float) else str(value)


@benchmark("jsonl")
class JSONLines:
    """Your own exam from `path`, a .jsonl file with one item a line; `name`, else its stem, names it.

    `columns=[id:qid, question:prompt]` maps columns; `format` is the format of items that state none.
    """

    path: Path
    name: str | None = None
    columns: tuple[str, ...] = ()
    format: str | None = None

    @property
    def card(self) -> Card:
        """What is known of a user's file."""
        return _card(self.name or self.path.stem, self.path)

    def items(self) -> Iterator[Item]:
        """The file's items in its order."""
        return _items(self.path, self.name or self.path.stem, self.columns, self.format)


@benchmark("csv")
class CSV:
    """Your own exam from `path`, a .csv file with a header.

    `options`, `answer` and `references` may be JSON arrays; `name`, `columns` and `format` as for `jsonl`.
    """

    path: Path
    name: str | None = None
    columns: tuple[str, ...] = ()
    format: str | None = None

    @property
    def card(self) -> Card:
        """What is known of a user's file."""
        return _card(self.name or self.path.stem, self.path)

    def items(self) -> Iterator[Item]:
        """The file's items in its order."""
        return _items(self.path, self.name or self.path.stem, self.columns, self.format)
