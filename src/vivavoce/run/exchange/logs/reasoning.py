"""A model's reasoning among the parts of a message."""

from collections.abc import Mapping
from typing import Any


def without_reasoning(content: Any) -> Any:
    """The parts of a message but those of the model's reasoning."""
    return [entry for entry in content if not _is_reasoning(entry)] if isinstance(content, list) else content


def reasoning_in(content: Any) -> str | None:
    """The model's reasoning among the parts of a message; null for none."""
    parts = content if isinstance(content, list) else []
    return "\n".join(str(entry.get("reasoning") or "") for entry in parts if _is_reasoning(entry)) or None


def _is_reasoning(entry: Any) -> bool:
    return isinstance(entry, Mapping) and entry.get("type") == "reasoning"
