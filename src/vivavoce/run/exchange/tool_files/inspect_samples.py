"""An answer as a sample of Inspect, and the summary of it that a log lists."""

from collections.abc import Mapping
from typing import Any

from vivavoce.core.conversations import as_rows
from vivavoce.core.endings import stored_reason
from vivavoce.core.records import Item
from vivavoce.run.exchange.tool_files.answers import Answer
from vivavoce.run.exchange.tool_files.asked import filled, key_letters, messages_of
from vivavoce.run.exchange.tool_files.inspect_scores import OURS, Scorers, scores_of

_STOPS = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}
_SHORT = 1000
"""Characters of a text in a summary."""
_ITEM = (
    *("item", "variant", "alias", "group", "category", "format", "question", "options", "answer"),
    *("references", "must", "nice", "steps", "step", "false_answer", "context", "source", "outer_groups"),
)


def sample_of(answer: Answer, identity: str, candidate: str, scorers: Scorers) -> dict[str, Any]:
    """The sample of an answer under the item's id; a repeat is an epoch, a failed response an error."""
    item, usage = answer.item, _usage(answer)
    message = {"role": "assistant", "content": _content(answer), "model": candidate}
    sample: dict[str, Any] = {
        "id": identity, "epoch": answer.repeat,
        "input": _input(item), "choices": list(item.options) or None, "target": _target(item),
        "messages": messages_of(item), "output": {"model": candidate, "choices": []},
        "scores": scores_of(answer.scores, scorers),
        "metadata": filled({"category": item.category}) | {OURS: _ours(answer)},
        "model_usage": {candidate: usage} if usage else {},
        "total_time": answer.seconds, "working_time": answer.seconds,
    }  # fmt: skip
    if answer.status == "failed":
        reason = answer.error or "no response came"
        sample["error"] = {"message": reason, "traceback": "", "traceback_ansi": ""}
    else:
        choice = {"message": message, "stop_reason": _stop_reason(answer)}
        sample["messages"].append(message)
        sample["output"] |= {"choices": [choice], "completion": answer.text or ""}
    sample["output"] |= filled({"usage": usage, "time": answer.seconds})
    return {name: value for name, value in sample.items() if value is not None}


def summary_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """What a log lists of a sample, its texts cut."""
    names = ("id", "epoch", "choices", "model_usage", "total_time", "working_time")
    scores = {
        name: {key: _short(score[key]) for key in ("value", "explanation", "reason") if key in score}
        for name, score in sample["scores"].items()
    }
    return {
        **{name: sample[name] for name in names if name in sample},
        "input": _short(sample["input"]), "target": _short(sample["target"]), "scores": scores,
        "metadata": filled({"category": sample["metadata"].get("category")}),
        "error": _short(sample["error"]["message"]) if "error" in sample else None,
        "completed": True, "message_count": len(sample["messages"]),
    }  # fmt: skip


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _SHORT else f"{value[: _SHORT - 1]}…"
    return [_short(entry) for entry in value] if isinstance(value, list) else value


def _input(item: Item) -> Any:
    """The question as text where one message asks it, else the messages."""
    messages = messages_of(item)
    return messages[0]["content"] if len(messages) == 1 else messages


def _target(item: Item) -> str | list[str]:
    """The key: letters of options, or references; '' for none."""
    keys = key_letters(item) if item.options else list(item.answer or item.references)
    return keys[0] if len(keys) == 1 else keys or ""


def _content(answer: Answer) -> str | list[dict[str, str]]:
    """The text; where the model's reasoning came with it, both as parts."""
    text = answer.text or ""
    if not answer.reasoning:
        return text
    return [{"type": "reasoning", "reasoning": answer.reasoning}, {"type": "text", "text": text}]


def _stop_reason(answer: Answer) -> str:
    if answer.status == "filtered":
        return "content_filter"
    return _STOPS.get(stored_reason(answer.finish_reason) or "", "unknown")


def _usage(answer: Answer) -> dict[str, Any]:
    """The tokens that were counted; none where the endpoint counted none."""
    if answer.tokens is None:
        return {}
    sent = {} if answer.input_tokens is None else {"input_tokens": answer.input_tokens}
    cost = {} if answer.cost is None else {"total_cost": answer.cost}
    return sent | {"output_tokens": answer.tokens, "total_tokens": answer.tokens + sum(sent.values())} | cost


def _ours(answer: Answer) -> dict[str, Any]:
    """The item and the response as the run holds them, as far as no field of a sample does."""
    item = answer.item
    fields = {name: list(v) if isinstance(v := getattr(item, name), tuple) else v for name in _ITEM}
    fields["question"] = None if item.messages or item.question == _input(item) else item.question
    fields["messages"] = as_rows(item.messages)
    fields["rubric"] = [{"unit": p.unit, "text": p.text, "weight": p.weight} for p in item.rubric]
    weight = None if item.weight == 1.0 else item.weight
    response = {
        "status": answer.status, "finish_reason": answer.finish_reason, "tokens": answer.tokens,
        "cost": answer.cost, "error": answer.error, "meta": dict(answer.meta),
    }  # fmt: skip
    return {
        "item": filled({**fields, "weight": weight, "meta": dict(item.meta)}),
        "response": filled(response),
    }
