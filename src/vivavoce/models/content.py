"""What a reply says and why it ended. A reply that is malformed is the endpoint's failure, never an answer.

An empty text is an answer: a model that ends without a word, spends all its tokens on reasoning or calls a
tool that nobody offered has answered so, and must not do better than one that answers wrongly. So `null` is
an empty text, but only where the reply says why it ended: without a text and without a reason it was cut.
"""

import math
from collections.abc import Mapping
from typing import Any

from vivavoce.core.text import one_line, printable
from vivavoce.models.endpoints import scrubbed
from vivavoce.models.requests import Reply, RetryableError

_DEEPEST = 32
"""Levels of a source that is kept: how deep JSON may be depends on the depth of the program that reads it."""
_TEXT_KINDS = ("text", "output_text")
_FAILURES = frozenset({
    "abort", "aborted", "cancelled", "canceled", "failed", "failure", "timeout", "overloaded",
    "engine_overloaded", "insufficient_system_resource", "load", "unload",
})  # fmt: skip
"""Reasons for an end that are the endpoint's, beside those that end in `error`; some are of one provider."""


def content_text(content: Any) -> str | None:
    """A message's content: a text, or the texts of its parts; null where it has none.

    Parts of other kinds, such as thinking, images and calls of tools, have no text. Raises `RetryableError`
    for what is neither text, null nor a list, for a part that should hold text and does not, and where none
    of the parts is an object.
    """
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RetryableError(f"the reply is malformed: its content is {_kind(content)}, not text")
    parts = [part for part in content if isinstance(part, dict)]
    if content and not parts:
        raise RetryableError("the reply is malformed: none of the parts of its content is an object")
    return "".join(map(_part_text, parts))


def _part_text(part: Mapping[str, Any]) -> str:
    kind, text = part.get("type"), part.get("text")
    if isinstance(kind, str) and kind not in _TEXT_KINDS:
        refusal = part.get("refusal")
        return refusal if kind == "refusal" and isinstance(refusal, str) else ""
    if not isinstance(text, str):
        raise RetryableError(f"the reply is malformed: the text of a part is {_kind(text)}, not text")
    return text


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", dict: "an object", list: "a list"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


def finish_reason(ended: Mapping[str, Any], name: str = "finish_reason") -> str | None:
    """Why a reply ended, as the endpoint says it; null where it says no word.

    Raises `RetryableError` where the endpoint failed: what text there is was cut by it, not by the candidate.
    """
    reason = ended.get(name)
    reason = reason if isinstance(reason, str) and reason else None
    if ended.get("error") or is_failure(reason):
        word = one_line(scrubbed(printable(reason or "error")), 40)
        raise RetryableError(f"the endpoint ended the reply by {word!r}{_detail(ended.get('error'))}")
    return reason


def is_failure(reason: str | None) -> bool:
    """True for a reason by which an endpoint, not the model, ended a reply."""
    word = (reason or "").strip().lower().replace("-", "_").replace(" ", "_")
    return word.endswith("error") or word in _FAILURES


def _detail(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return f": {one_line(scrubbed(printable(message)), 160)}" if isinstance(message, str) and message else ""


def refuse_cut(text: str | None, reason: str | None) -> None:
    """Raise `RetryableError` for a reply without a text that does not say why it ended."""
    if not text and reason is None:
        raise RetryableError("the reply has no text and does not say why it ended")


def citations_of(listed: Any) -> tuple[Any, ...]:
    """The sources in a list, empty for anything else, as a file can hold them.

    What is nested too deeply is left out, and a number that JSON has no form for is null.
    """
    return tuple(_storable(source, _DEEPEST) for source in listed) if isinstance(listed, list) else ()


def _storable(value: Any, levels: int) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict | list) and not levels:
        return "(nested too deeply to be kept)"
    if isinstance(value, dict):
        return {key: _storable(v, levels - 1) for key, v in value.items()}
    return [_storable(v, levels - 1) for v in value] if isinstance(value, list) else value


def check_reply(reply: Any) -> None:
    """Raise `RetryableError` for what a provider must not return as a response; a plugin may."""
    if not isinstance(reply, Reply):
        raise RetryableError(f"the provider returned {_kind(reply)}, not a Reply")
    if not isinstance(reply.text, str | None) or (
        reply.text is None and reply.finish_reason != "content_filter"
    ):
        raise RetryableError(f"the provider returned a Reply whose text is {_kind(reply.text)}")
    if is_failure(reply.finish_reason):
        raise RetryableError(f"the provider ended the reply by {one_line(str(reply.finish_reason), 40)!r}")
