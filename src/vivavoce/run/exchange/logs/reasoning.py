"""A model's reasoning in a message: beside its text, or among its parts."""

from collections.abc import Mapping
from typing import Any

from vivavoce.models.content import thinking_text

_KINDS = ("reasoning", "thinking", "redacted_thinking")


def without_reasoning(content: Any) -> Any:
    """The parts of a message but those of the model's reasoning."""
    return [entry for entry in content if not _is_reasoning(entry)] if isinstance(content, list) else content


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """The model's reasoning in a message; null for none.

    It stands in a field `reasoning_content` or `reasoning`, or among the parts (`thinking_text`).
    """
    stated = (message.get(name) for name in ("reasoning_content", "reasoning"))
    return next((text for text in stated if isinstance(text, str) and text), None) or thinking_text(
        message.get("content")
    )


def _is_reasoning(entry: Any) -> bool:
    return isinstance(entry, Mapping) and (entry.get("type") in _KINDS or entry.get("thought") is True)
