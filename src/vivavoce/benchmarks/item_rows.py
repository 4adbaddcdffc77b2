"""Rows under our names as the items that they say."""

import math
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

from vivavoce.benchmarks.turns import chained, turn_rows
from vivavoce.core.conversations import Message, read_messages, thread
from vivavoce.core.errors import RowError
from vivavoce.core.json_text import read_json
from vivavoce.core.numbers import finite
from vivavoce.core.records import Item, Unit
from vivavoce.core.tables import LISTS, Line
from vivavoce.core.text import one_line

TEXTS = (
    *("variant", "alias", "group", "category", "format", "question", "follows", "false_answer", "context"),
    "source",
)
_LABELS = ("format", "category")
"""Texts that many items share: each is held once."""
_ITEM_COLUMNS = {"item", *TEXTS, *LISTS, "step", "rubric", "messages", "turns", "outer_groups"}
"""Every other column goes into `meta`."""


def read_item(line: Line, benchmark: str, *, arrays: bool) -> Item:
    """The item of a row; with `arrays`, a list may be written as the text of a JSON array."""
    messages = _messages(line.row, line.where)
    row = _with_thread(line.row, messages)
    for column in ("item", "question", "format"):
        if row.get(column) in (None, ""):
            raise _lacking(column, line.where)
    texts: dict[str, Any] = {}
    outer, row = _groups(row, line.where, arrays=arrays)
    for name in TEXTS:
        if row.get(name) not in (None, ""):
            text = _text(row[name], f"{line.where}, {name}")
            texts[name] = sys.intern(str(text)) if name in _LABELS else text
    lists: dict[str, Any] = {}
    for name in LISTS:
        if row.get(name) is not None:
            lists[name] = _list(row[name], f"{line.where}, {name}", arrays=arrays)
    return Item(
        benchmark=benchmark,
        item=_text(row["item"], f"{line.where}, item"),
        **texts,
        outer_groups=outer,
        **lists,
        messages=messages,
        step=_step(row.get("step"), len(lists.get("steps", ())), f"{line.where}, step"),
        rubric=_rubric(row.get("rubric"), f"{line.where}, rubric"),
        meta={key: json_value(value) for key, value in row.items() if key not in _ITEM_COLUMNS},
    )


def _groups(row: dict[str, Any], place: str, *, arrays: bool) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The outer groups of a row, () where none is stated, and the row with the innermost one as `group`.

    Levels of `group` are a list, outermost first; a text is one group.
    """
    if row.get("outer_groups") is None and not isinstance(row.get("group"), list):
        return (), row
    outer = _list(row.get("outer_groups") or [], f"{place}, outer_groups", arrays=arrays)
    levels = row["group"] if isinstance(row.get("group"), list) else [row.get("group")]
    groups = [*outer, *("" if level is None else _text(level, f"{place}, group") for level in levels)]
    return tuple(groups[:-1]) if any(groups[:-1]) else (), {**row, "group": groups[-1] if groups else ""}


def read_items(line: Line, benchmark: str, *, arrays: bool) -> tuple[Item, ...]:
    """The items of a row: one, or with `turns` one for each turn of the conversation."""
    item = read_item(line, benchmark, arrays=arrays)
    turns = line.row.get("turns")
    if turns in (None, "", []):
        return (item,)
    with suppress(ValueError, TypeError):  # a list need not be read
        turns = read_json(turns)
    shared = {name: getattr(item, name) for name in ("item", *TEXTS) if name not in ("question", "context")}
    shared["group"] = [*item.outer_groups, item.group]
    rows = [
        Line(f"{line.where}, turn {number}", {**shared, **turn, "question": turn.pop("content")})
        for number, turn in enumerate(turn_rows(turns, f"{line.where}, turns"), 1)
    ]
    later = [replace(read_item(row, benchmark, arrays=arrays), meta=item.meta) for row in rows]
    return chained((item, *later))


def _with_thread(row: dict[str, Any], messages: tuple[Message, ...]) -> dict[str, Any]:
    """The row with its messages as one text for its question, and the format that they have."""
    if not messages:
        return row
    return {**row, "question": thread(messages), "format": row.get("format") or "conversation"}


def _messages(row: dict[str, Any], place: str) -> tuple[Message, ...]:
    """The messages of a row, whose question is none, the last of them or all of them as one text."""
    if row.get("messages") in (None, "", [], "[]"):
        return ()
    messages = read_messages(row["messages"], f"{place}, messages")
    question = row.get("question")
    if question not in (None, "", messages[-1].content, thread(messages)):
        subject = "the question is not the last of its messages"
        raise RowError(f"{place}: {subject}: leave the question out.", subject)
    return messages


def _lacking(column: str, place: str) -> RowError:
    word = "id" if column == "item" else column
    also = " (or format=… in the spec, for all)" if column == "format" else ""
    return RowError(
        f"{place}: no {word}. Every item needs a column {word!r}{also}; columns=[{word}:theirs] maps "
        "another name.",
        f"no {word}",
    )


def _text(value: Any, place: str) -> str:
    """Text as it is; a number or boolean as Python writes it (5, 2.5, True)."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(value)
    subject = f"a text is needed, not {type(value).__name__}"
    raise RowError(f"{place}: {subject}: {one_line(str(value), 40)}.", f"{_column(place)}: {subject}")


def _column(place: str) -> str:
    """The column at the end of where a cell stands."""
    return place.rpartition(", ")[2]


def _step(value: Any, steps: int, place: str) -> int | None:
    """The number of one of so many steps, also as text; null where there is none.

    Without steps the column is about something else, and takes any whole number.
    """
    if value in (None, ""):
        return None
    number = _whole_number(value)
    low, high = (1, steps) if steps else (-(2**63), 2**63 - 1)
    if number is None or not low <= number <= high:
        among = f" from 1 to {steps}, the number of steps," if steps else ""
        excerpt = one_line(str(value), 40)
        subject = f"a whole number{among} is needed"
        raise RowError(f"{place}: {subject}, not {excerpt!r}.", f"{_column(place)}: no number of a step")
    return number


def _whole_number(value: Any) -> int | None:
    """The whole number that a value is or writes; null for any other."""
    try:
        number = int(value)
        return number if not isinstance(value, bool) and number == float(value) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _list(value: Any, place: str, *, arrays: bool) -> tuple[str, ...]:
    """A list, a JSON array written as text (csv has no lists), or one text."""
    if arrays and isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):  # a text may begin with a bracket, such as '[18F]FDG'
            value = read_json(value)
    if isinstance(value, list):
        return tuple(_text(v, place) for v in value)
    return (_text(value, place),) if value != "" else ()


def _rubric(value: Any, place: str) -> tuple[Unit, ...]:
    """Points of a rubric, each an object with `text` and `weight` (or `criterion` and `points`, HealthBench's
    words), and perhaps a `unit` that names it; else they are r1, r2 and so on. CSV: a JSON array.
    """
    if value in (None, ""):
        return ()
    with suppress(ValueError, TypeError):  # a list need not be read
        value = read_json(value)
    if value == []:
        return ()
    if not isinstance(value, list):
        subject = "a list of points is needed"
        raise RowError(f"{place}: {subject}, not {one_line(str(value), 40)}.", f"{_column(place)}: {subject}")
    points = [_point(point, number, place) for number, point in enumerate(value, 1)]
    if len({point.unit for point in points}) < len(points):
        subject = "two points bear one name"
        raise RowError(f"{place}: {subject}; give each its own unit.", f"{_column(place)}: {subject}")
    if not any((point.weight or 0) > 0 for point in points):
        subject = "no point has a weight above 0"
        raise RowError(f"{place}: {subject}, so there is nothing to reach.", f"{_column(place)}: {subject}")
    return tuple(points)


_MOST_WEIGHT = 1_000_000
"""Sums of weights stay finite."""


def _point(point: Any, number: int, place: str) -> Unit:
    text, weight = None, None
    if isinstance(point, dict):
        text = point.get("text") or point.get("criterion")
        weight = point.get("weight", point.get("points"))
    worth = finite(weight)
    if not isinstance(text, str) or not text.strip() or not worth or abs(worth) > _MOST_WEIGHT:
        raise RowError(
            f"{place}, point {number}: an object with a text and a weight other than 0, of at most "
            f"{_MOST_WEIGHT:,}, is needed, like "
            '{"text": "names the drug of choice", "weight": 5}.',
            f"{_column(place)}: a point without a text or a weight",
        )
    return Unit(unit=str(point.get("unit") or f"r{number}"), text=text, weight=worth)


def json_value(value: Any) -> Any:
    """A further column as JSON can hold it: numbers that are not finite as null, dates and bytes as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [json_value(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): json_value(entry) for key, entry in value.items()}
    return value if value is None or isinstance(value, str | int | float) else str(value)
