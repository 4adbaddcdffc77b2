"""Conversations: messages, of which a candidate answers the last."""

from dataclasses import replace
from typing import ClassVar

from vivavoce.core.conversations import Message, thread
from vivavoce.core.records import Item
from vivavoce.core.registry import format
from vivavoce.formats.base import Format, check_question, item_error


@format("conversation")
class Conversation(Format):
    """A conversation that is asked message by message, as it stands, without a prompt around it.

    The question of an item is the whole thread, so whoever reads a question reads all of it. An item that
    `follows` another is a later turn: what the candidate itself answered before comes first.
    """

    fields: ClassVar[tuple[str, ...]] = ("messages", "references", "rubric", "must", "follows")
    answered: ClassVar[str] = "in free text: the next message of the conversation"
    read_as: ClassVar[str] = "the message without its thinking"
    scored_as: ClassVar[str] = "short"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The last message; the collect sends the ones before it as messages too."""
        return item.messages[-1].content if item.messages else item.question

    def check(self, item: Item) -> Item:
        """The item with its question as the thread; a question alone is a conversation of one message."""
        check_question(item)
        # Candidates are sent messages and nothing else, so a context would never reach them.
        if item.context:
            raise item_error(item, "a conversation has no context beside its messages: put it into one")
        # One form for one conversation: it has one hash, whether it came as a question or as a message.
        messages = item.messages or (Message("user", item.question),)
        if messages[-1].role != "user":
            raise item_error(item, "the last message is to be the user's, as a candidate answers it")
        return super().check(replace(item, messages=messages, question=thread(messages)))
