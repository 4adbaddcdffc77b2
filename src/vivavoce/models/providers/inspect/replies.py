"""What a provider of Inspect returned, as our reply."""

from collections.abc import Iterable
from typing import Any

from vivavoce.core.text import one_line, printable
from vivavoce.models.charges import charged
from vivavoce.models.content import End, citations_of, end_of, finish_reason, refuse_cut
from vivavoce.models.endpoints import LONG_KEY, scrubbed
from vivavoce.models.http_client import LARGEST, without_surrogates
from vivavoce.models.replies import generation_from_chat, stated_thinking, stated_usage
from vivavoce.models.requests import RejectedError, Reply, RetryableError, Usage

_USAGE = (
    *("input_tokens", "output_tokens", "total_tokens", "reasoning_tokens"),
    *("input_tokens_cache_read", "input_tokens_cache_write"),
)
_RAW_CHOICES = (("choices", "finish_reason"), ("candidates", "finish_reason"), ("candidates", "finishReason"))
"""Where replies of OpenAI's kind and Gemini's say why they ended."""


def reply_of(result: Any, *, logprobs: bool, key: object) -> Reply:
    """The first choice of what a provider returned, an output or that with its call, without `key`.

    Raises `RetryableError` for an output without a choice or of another form, and where another model
    answered; `RejectedError` for a question that is too long, and an answer over 64 MiB.
    """
    output, call = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
    usage = _usage(output)
    with charged(usage):
        raw_end = _raw_end(call)
        choice = _first_choice(output)
    end = raw_end if choice.stop_reason == "unknown" else end_of(choice.stop_reason)
    parts = choice.message.content if isinstance(choice.message.content, list) else ()
    text = _answer_text(choice, usage, key)  # Inspect words a refusal, which costs nothing, as a reply
    with charged(usage):
        refuse_cut(text, end.reason)
        listed, generations = _logprobs(choice, text) if logprobs else (None, ())
    return Reply(
        text=None if end.reason == "content_filter" and not text else text,
        reasoning=_reasoning(parts, key),
        finish_reason=end.reason,
        raw_reason=end.raw_reason,
        reasoning_tokens=stated_thinking({"usage": _counts(output)}),
        model=_clean(output.model, key) or None,
        usage=usage,
        logprobs=listed,
        citations=citations_of(_citations(parts)),
        generations=generations,
    )


def _answer_text(choice: Any, usage: Usage, key: object) -> str:
    """The text of a choice. Where no token was spent on it, the words are the provider's, not the model's."""
    text = _clean(choice.message.text, key)
    if usage.output or choice.stop_reason not in ("model_length", "content_filter"):
        return text
    if choice.stop_reason == "content_filter":
        return ""
    raise RejectedError(
        f"the question is longer than the model's context ({_detail(text)})", of_question=True
    )


def _first_choice(output: Any) -> Any:
    choices = getattr(output, "choices", None)
    if not isinstance(choices, list):
        raise RetryableError(f"Inspect's provider returned {type(output).__name__}, not an output")
    if not choices:
        reason = getattr(output, "error", None)
        raise RetryableError(f"the answer has no choices{f' ({_detail(reason)})' if reason else ''}")
    fallback = getattr(output, "fallback", None)
    if fallback is not None:
        raise RetryableError(
            f"{_detail(fallback.fallback_model)!r} answered in place of {_detail(fallback.model)!r}",
            lasting=True,
        )
    return choices[0]


def _raw_end(call: Any) -> End:
    """Why the reply ended in the endpoint's own words, of which Inspect calls many unknown.

    Raises `RetryableError` where the endpoint says that it failed.
    """
    raw: Any = getattr(call, "response", None)
    for choices, name in _RAW_CHOICES if isinstance(raw, dict) else ():
        listed = raw.get(choices)
        if isinstance(listed, list) and listed and isinstance(listed[0], dict) and listed[0].get(name):
            return finish_reason(listed[0], name)
    return End(None)


def _detail(text: Any) -> str:
    return one_line(scrubbed(printable(str(text))), 120)


def _usage(output: Any) -> Usage:
    """Tokens as the endpoint counts them, those of its own cache included; null where it counts none."""
    counts = _counts(output)
    return stated_usage({"usage": counts}) if any(map(counts.get, _USAGE[:3])) else Usage()


def _counts(output: Any) -> dict[str, Any]:
    usage = getattr(output, "usage", None)
    return {name: getattr(usage, name, None) for name in _USAGE}


def _clean(text: str, key: object) -> str:
    """A text as a file can hold it, without the key. Raises `RejectedError` for one that is too long."""
    if len(text) > LARGEST:
        raise RejectedError(f"the answer is longer than {LARGEST >> 20} MiB", of_question=True)
    if isinstance(key, str) and len(key) >= LONG_KEY:
        text = text.replace(key, "[key]")
    cleaned: str = without_surrogates(text)
    return cleaned


def _reasoning(parts: Iterable[Any], key: object) -> str | None:
    """What the parts of thinking hold, of a closed one its summary; null where there is none."""
    thoughts = [
        part.summary if part.redacted else part.reasoning or part.summary
        for part in parts
        if part.type == "reasoning"
    ]
    return _clean("\n".join(filter(None, thoughts)), key) or None


def _citations(parts: Iterable[Any]) -> list[Any]:
    """The sources of the texts, as JSON."""
    listed = [c for part in parts if part.type == "text" for c in part.citations or ()]
    return [without_surrogates(c.model_dump(mode="json", exclude_none=True)) for c in listed]


def _logprobs(choice: Any, text: str | None) -> tuple[Any, tuple[Any, ...]]:
    """The log-probabilities of the response's tokens, and the response in them."""
    content = [] if choice.logprobs is None else choice.logprobs.content
    entries = [{"token": t.token, "logprob": t.logprob, "bytes": t.bytes} for t in content]
    ended = "stop" if choice.stop_reason == "stop" else None
    return generation_from_chat({"logprobs": {"content": entries}, "finish_reason": ended}, text)
