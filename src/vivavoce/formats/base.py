"""What a format is, and what all formats do first with an answer."""

from collections.abc import Callable
from typing import NamedTuple

from vivavoce.errors import InputError
from vivavoce.records import Item, Reading
from vivavoce.text import is_blank, spoken

__all__ = ["Format", "fault", "unanswered", "unreadable", "voiced"]


class Format(NamedTuple):
    """A way of asking and answering: one module each, registered in `formats.FORMATS`.

    `fields` are the item fields it uses, the needed ones first; `answered` says how an item is to be
    answered, `read_as` what a reading holds. `ask` writes the user prompt, `read` reads an answer, `check`
    returns the item in its normal form or raises `InputError`.
    """

    name: str
    fields: tuple[str, ...]
    answered: str
    read_as: str
    ask: Callable[[Item, str | None], str]
    read: Callable[[Item, str], Reading]
    check: Callable[[Item], Item]


def fault(item: Item, what: str) -> InputError:
    """The error for an item that cannot be used: one sentence with benchmark and item."""
    end = "" if what.endswith((".", "?")) else "."
    return InputError(f"{item.benchmark}, item {item.name!r}: {what}{end}")


def unanswered(reason: str) -> Reading:
    """A reading for silence: blank, abstained or refused."""
    return Reading("unanswered", reason=reason)


def unreadable(reason: str, stray: tuple[str, ...] = ()) -> Reading:
    """A reading for an answer in no readable form."""
    return Reading("unreadable", stray=stray, reason=reason)


def voiced(text: str) -> str | Reading:
    """The answer without its thinking, or the reading where nothing of it is left."""
    answer = spoken(text)
    if is_blank(answer.text):
        if not answer.closed:
            return unreadable("the thinking was never closed and no answer stands outside it")
        if answer.thought:
            return unanswered("nothing follows the thinking")
        return unanswered("blank: no letter and no digit")
    return answer.text
