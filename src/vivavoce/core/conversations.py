"""Conversations: messages with who speaks, as files write them and as people read them."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from vivavoce.core.errors import RowError
from vivavoce.core.json_text import read_json
from vivavoce.core.text import is_blank, one_line

Role = Literal["system", "user", "assistant"]
_ROLES: Mapping[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant",
}  # fmt: skip
"""The roles that files name. A developer's message is what newer models call the system's."""


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Role
    content: str


def read_messages(value: Any, where: str) -> tuple[Message, ...]:
    """The messages that a list of objects with `role` and `content` holds, or the JSON text of such a list.

    `content` is a text or a list of text parts. The system speaks first or not at all, and the last message
    is the user's: it is what a candidate answers. Raises `RowError` with `where` for anything else, images
    and tool calls included.
    """
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            raise _unusable(where, "messages are a list of objects with role and content", value) from None
    if not isinstance(value, list) or not value:
        raise _unusable(where, "messages are a list of objects with role and content", value)
    messages = tuple(_message(entry, f"{where}, message {number}") for number, entry in enumerate(value, 1))
    if messages[-1].role != "user":
        raise _unusable(
            where, "the last message is to be the user's, as a candidate answers it", messages[-1].role
        )
    following = [m.role for m in messages[len(leading(messages)) :]]
    if "system" in following:
        raise _unusable(where, "a system message stands before all others", messages)
    return messages


def _message(entry: Any, place: str) -> Message:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("role"), str):
        raise _unusable(place, "a message is an object with role and content", entry)
    role = _ROLES.get(entry["role"])
    if role is None:
        raise _unusable(place, f"a role is {', '.join(_ROLES)}", entry["role"])
    text = _text(entry.get("content"), place)
    if is_blank(text) and role == "user":
        raise _unusable(place, "a user's message is blank", text)
    return Message(role, text)


def _text(content: Any, place: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _unusable(place, "content is a text or a list of parts", content)
    texts = []
    for part in content:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            kind = part.get("type", "part") if isinstance(part, Mapping) else part
            raise _unusable(place, "a part of a message is text, as only text can be asked", kind)
        texts.append(part["text"])
    return "\n".join(texts)


def _unusable(place: str, subject: str, value: Any) -> RowError:
    return RowError(f"{place}: {subject}, not {one_line(str(value), 40)!r}.", subject)


def leading(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The system messages that a conversation begins with."""
    n = next((k for k, message in enumerate(messages) if message.role != "system"), len(messages))
    return tuple(messages[:n])


def thread(messages: Sequence[Message]) -> str:
    """The conversation as one text, each turn behind its role; a single message of a user is its own text."""
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].content
    return "\n\n".join(f"{message.role.capitalize()}: {message.content}" for message in messages)


def as_rows(messages: Sequence[Message]) -> list[dict[str, str]]:
    """The messages as files and endpoints write them: objects with role and content."""
    return [message._asdict() for message in messages]
