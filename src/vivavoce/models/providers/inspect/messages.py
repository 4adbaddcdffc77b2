"""A conversation of ours in Inspect's words."""

from collections.abc import Sequence
from typing import Any

from vivavoce.models.http_client import without_surrogates
from vivavoce.models.requests import Message


def inspect_messages(messages: Sequence[Message]) -> list[Any]:
    """The messages as Inspect's own; halves of surrogate pairs, which it cannot take, are replaced."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[m.role](content=without_surrogates(m.content)) for m in messages]
