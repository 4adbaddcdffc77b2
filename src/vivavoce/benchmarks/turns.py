"""Conversations that are asked turn by turn: one item a turn, all of one case.

The first turn is asked as it stands. Each later one follows the item before it, so a candidate is asked it
behind what it answered itself.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from vivavoce.core.conversations import leading
from vivavoce.core.errors import RowError
from vivavoce.core.records import Item
from vivavoce.core.text import is_blank, one_line

Replies = Literal["given", "own"]
"""Whose replies stand in a conversation: those that the file gives, or the candidate's own."""
OF_A_TURN = ("content", "must", "nice", "references", "rubric")
"""The fields that an entry of `turns` may have."""


def turn_rows(turns: Any, where: str) -> list[dict[str, Any]]:
    """The later turns of a row: each a text, or an object with `content` and what is to be said there.

    Raises `RowError` for anything else.
    """
    if not isinstance(turns, list):
        raise _unusable(where, "turns are a list of texts or of objects with content", turns)
    rows = []
    for number, turn in enumerate(turns, 1):
        row = {"content": turn} if isinstance(turn, str) else turn
        place = f"{where}, turn {number}"
        if (
            not isinstance(row, Mapping)
            or not isinstance(row.get("content"), str)
            or is_blank(row["content"])
        ):
            raise _unusable(place, "a turn is a text, or an object with content", turn)
        if strange := [name for name in row if name not in OF_A_TURN]:
            raise _unusable(place, f"a turn has {', '.join(OF_A_TURN)}", strange[0])
        rows.append(dict(row))
    return rows


def _unusable(place: str, subject: str, value: Any) -> RowError:
    return RowError(f"{place}: {subject}, not {one_line(str(value), 40)!r}.", subject)


def turns_of(item: Item) -> tuple[Item, ...]:
    """The conversation with the candidate's own replies: an item for each message of the user.

    Only the last one has what answers are held against. An item with one message of the user is itself.
    """
    of_user = tuple(message for message in item.messages if message.role == "user")
    if len(of_user) < 2:
        return (item,)
    plain = replace(item, references=(), must=(), nice=(), rubric=(), answer=())
    first = replace(plain, messages=(*leading(item.messages), of_user[0]))
    later = [replace(plain, messages=(message,)) for message in of_user[1:-1]]
    return chained((first, *later, replace(item, messages=of_user[-1:])))


def chained(turns: tuple[Item, ...]) -> tuple[Item, ...]:
    """The turns as items ID/1, ID/2 … of one case, each behind the one before."""
    return tuple(_chained(turns))


def _chained(turns: tuple[Item, ...]) -> Iterator[Item]:
    for number, item in enumerate(turns, 1):
        yield replace(
            item,
            item=f"{item.item}/{number}",
            alias=f"{item.alias}/{number}" if item.alias else None,
            follows=f"{item.item}/{number - 1}" if number > 1 else None,
            meta={**item.meta, "turn": number},
        )
