"""The messages of a logged question, where it is a conversation that can be asked again as it was."""

from typing import Any

from vivavoce.core.conversations import Message, read_messages
from vivavoce.core.errors import RowError


def messages_of(question: Any) -> tuple[Message, ...]:
    """Two messages or more with the user's last; none for a text, for images, tools, or another order.

    Such a question is the text that `question_of` makes of it.
    """
    if not isinstance(question, list) or len(question) < 2:
        return ()
    try:
        return read_messages(question, "the question")
    except RowError:
        return ()
