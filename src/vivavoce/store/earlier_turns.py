"""Later turns of a conversation, as each candidate was asked them: behind its own earlier answers.

What went before is stored once, as the answers to the turns before. It is put together whenever it is needed.
"""

import json
import sqlite3
from dataclasses import replace
from typing import NamedTuple

from vivavoce.core.conversations import Message, thread
from vivavoce.core.records import Item
from vivavoce.core.text import spoken
from vivavoce.store.damage import decoding
from vivavoce.store.forgotten import IS_FORGOTTEN

_TURN = f"""
    SELECT i.messages, i.follows, r.status, coalesce(r.final, r.text),
        {IS_FORGOTTEN.format("i")} OR coalesce({IS_FORGOTTEN.format("r")}, 0)
    FROM items i JOIN benchmarks b USING (benchmark_id)
    LEFT JOIN responses r ON r.item_id = i.item_id AND r.repeat = :repeat AND r.edit_id = 0
        AND r.candidate_id = (SELECT candidate_id FROM candidates WHERE candidate = :candidate)
    WHERE b.benchmark = :benchmark AND i.item = :item AND i.variant = :variant AND i.current = 1
"""


class _Turn(NamedTuple):
    """A turn, and what the candidate answered to it; no status where it has not been asked."""

    messages: tuple[Message, ...]
    follows: str | None
    status: str | None
    text: str | None
    is_forgotten: int


class EarlierTurns:
    """Reads the turns before an item from a run."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def as_asked(self, item: Item, candidate: str, repeat: int) -> Item | None:
        """The item with the conversation so far before its own messages; an item that follows none is itself.

        The candidate's thinking is no part of it. Null where an earlier turn has no text, as the candidate
        has not been asked it, it failed or was withheld, or the turn or the answer to it was forgotten.
        """
        if item.follows is None:
            return item
        turns = self._turns_before(item, candidate, repeat)
        if any(turn.text is None or turn.is_forgotten for turn in turns):
            return None
        earlier = [
            message
            for turn in turns
            for message in (*turn.messages, Message("assistant", spoken(turn.text or "").text))
        ]
        messages = (*earlier, *item.messages)
        return replace(item, messages=messages, question=thread(messages))

    def is_withheld(self, item: Item, candidate: str, repeat: int) -> bool:
        """Whether an earlier turn was withheld by a content filter, so that this one can never be asked."""
        return any(turn.status == "filtered" for turn in self._turns_before(item, candidate, repeat))

    def is_broken(self, item: Item, candidate: str, repeat: int) -> bool:
        """Whether an earlier turn, or the answer to it, was forgotten: what was said before is not known."""
        return any(turn.is_forgotten for turn in self._turns_before(item, candidate, repeat))

    def _turns_before(self, item: Item, candidate: str, repeat: int) -> list[_Turn]:
        """The turns before an item, the first one first."""
        turns: list[_Turn] = []
        visited: set[str] = set()
        follows = item.follows
        while follows is not None and follows not in visited:
            visited.add(follows)
            names = {"benchmark": item.benchmark, "item": follows, "variant": item.variant}
            row = self._db.execute(_TURN, {**names, "candidate": candidate, "repeat": repeat}).fetchone()
            if row is None:
                turns.append(_Turn((), None, None, None, 0))
                break
            with decoding("the messages of an item"):
                messages = tuple(Message(**message) for message in json.loads(row[0]))
            turns.append(_Turn(messages, *row[1:]))
            follows = row[1]
        return turns[::-1]
