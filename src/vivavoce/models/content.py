"""What a reply says and why it ended. A reply that is malformed is the endpoint's failure, never an answer.

An empty text is an answer: a model that ends without a word, spends all its tokens on reasoning or calls a
tool that nobody offered has answered so, and must not do better than one that answers wrongly. So `null` is
an empty text, but only where the reply says why it ended: without a text and without a reason it was cut.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.core.endings import meaning_of, stored_reason
from vivavoce.core.text import one_line, printable
from vivavoce.models.endpoints import scrubbed
from vivavoce.models.requests import Reply, RetryableError

_DEEPEST = 32
"""Levels of a source that is kept: how deep JSON may be depends on the depth of the program that reads it."""
_TEXT_KINDS = ("text", "output_text")
_MEDIA = ("image", "audio", "video", "file")
_THINKING_KINDS = ("thinking", "reasoning")


def content_text(content: Any) -> str | None:
    """A message's content: a text, or the texts of its parts; null where it has none.

    Parts of other kinds, such as thinking and calls of tools, have no text. Raises `RetryableError` for what
    is neither text, null nor a list, for a part that should hold text and does not, where none of the parts
    is an object, and for images, sound or files alone: what they say was not read.
    """
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise RetryableError(f"the reply is malformed: its content is {_kind(content)}, not text")
    parts = [part for part in content if isinstance(part, dict)]
    if content and not parts:
        raise RetryableError("the reply is malformed: none of the parts of its content is an object")
    return "".join(map(_part_text, parts)) or _no_text(parts)


def _no_text(parts: Sequence[Mapping[str, Any]]) -> str:
    """The text of parts that hold none. Raises `RetryableError` for a medium, whose words were not read."""
    for kind in (str(part.get("type")) for part in parts):
        if any(word in kind for word in _MEDIA):
            raise RetryableError(f"the answer is {one_line(scrubbed(printable(kind)), 40)} without a text")
    return ""


def _part_text(part: Mapping[str, Any]) -> str:
    if part.get("thought") is True:
        return ""
    kind, text = part.get("type"), part.get("text")
    if isinstance(kind, str) and kind not in _TEXT_KINDS:
        refusal = part.get("refusal")
        return refusal if kind == "refusal" and isinstance(refusal, str) else ""
    if not isinstance(text, str):
        raise RetryableError(f"the reply is malformed: the text of a part is {_kind(text)}, not text")
    return text


def thinking_text(content: Any) -> str | None:
    """The thinking in a message's parts; null where there is none.

    It stands in parts of the type `thinking` (Anthropic, Mistral) or `reasoning`, and in Gemini's parts with
    `thought: true`.
    """
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n".join(filter(None, map(_thought, parts))) or None


def _thought(part: Mapping[str, Any]) -> str:
    kind = part.get("type")
    if part.get("thought") is not True and kind not in _THINKING_KINDS:
        return ""
    value = part.get(str(kind)) if kind in _THINKING_KINDS else None
    if isinstance(value, list):  # Mistral's, a list of texts
        value = "".join(text for p in value if isinstance(p, dict) and isinstance(text := p.get("text"), str))
    value = value or part.get("text")
    return value if isinstance(value, str) else ""


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", dict: "an object", list: "a list"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


class End(NamedTuple):
    """Why a reply ended: the word that is stored, and the endpoint's own where that is another."""

    reason: str | None
    raw_reason: str | None = None


def finish_reason(ended: Mapping[str, Any], name: str = "finish_reason") -> End:
    """Why a reply ended, as the endpoint says it; null where it says no word.

    Raises `RetryableError` where the endpoint failed: what text there is was cut by it, not by the candidate.
    """
    reason = ended.get(name)
    reason = reason if isinstance(reason, str) and reason else None
    if ended.get("error") or meaning_of(reason) == "failure":
        word = one_line(scrubbed(printable(reason or "error")), 40)
        overloaded = "overload" in (reason or "").lower()
        raise RetryableError(
            f"the endpoint ended the reply by {word!r}{_detail(ended.get('error'))}", throttled=overloaded
        )
    return end_of(reason)


def end_of(reason: str | None) -> End:
    """The end that a provider's word says."""
    stored = stored_reason(reason)
    return End(stored, None if reason == stored else one_line(scrubbed(printable(reason or "")), 80) or None)


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


def checked_reply(reply: Any) -> Reply:
    """What a provider returned as a response, a plugin's too, with the word for its end as it is stored.

    Raises `RetryableError` for what a provider must not return.
    """
    if not isinstance(reply, Reply):
        raise RetryableError(f"the provider returned {_kind(reply)}, not a Reply")
    meaning = meaning_of(reply.finish_reason)
    if not isinstance(reply.text, str | None) or (reply.text is None and meaning != "content_filter"):
        raise RetryableError(f"the provider returned a Reply whose text is {_kind(reply.text)}")
    if meaning == "failure":
        raise RetryableError(f"the provider ended the reply by {one_line(str(reply.finish_reason), 40)!r}")
    end = end_of(reply.finish_reason)
    return replace(reply, finish_reason=end.reason, raw_reason=end.raw_reason or reply.raw_reason)
