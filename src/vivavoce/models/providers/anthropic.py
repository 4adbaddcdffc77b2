"""Anthropic's messages API."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.core import registry
from vivavoce.models.charges import charged
from vivavoce.models.content import citations_of, content_text, finish_reason, refuse_cut, thinking_text
from vivavoce.models.http_client import ContentFilterError
from vivavoce.models.providers.openai import HTTPModel, HTTPProvider, without_nulls
from vivavoce.models.replies import as_dict, stated_thinking, stated_usage
from vivavoce.models.requests import Reply, Request, RetryableError

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The endpoint demands a number; this one is sent where the spec has none."""


class AnthropicMessages(HTTPModel):
    """Anthropic's messages. A schema is sent as the one tool that must be used."""

    path = "messages"

    def _headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": API_VERSION, self.config.key_header or "x-api-key": key}

    async def generate(self, request: Request) -> Reply:
        """One attempt at a response. Raises `RejectedError` for beams."""
        self._refuse_beams(request)
        try:
            raw = await self.client.post(self.path, self._payload(request))
        except ContentFilterError:
            return Reply(text=None, finish_reason="content_filter")
        with charged(stated_usage(raw)):
            return self._reply(request, raw)

    def _reply(self, request: Request, raw: Mapping[str, Any]) -> Reply:
        """The reply in the endpoint's JSON. Raises `RetryableError` for a malformed one."""
        model, content = self._checked_model(raw), raw.get("content")
        if not isinstance(content, list):
            raise RetryableError("the answer has no content")
        blocks = [as_dict(block) for block in content]
        end = finish_reason(raw, "stop_reason")
        used_tool = _tool_input(blocks) if request.sampling.schema else None
        text = used_tool or content_text(content)
        refuse_cut(text, end.reason)
        return Reply(
            text=None if end.reason == "content_filter" and not text else text,
            reasoning=thinking_text(content),
            finish_reason="stop" if used_tool else end.reason,
            raw_reason=end.raw_reason,
            reasoning_tokens=stated_thinking(raw),
            model=model,
            usage=stated_usage(raw),
            citations=tuple(c for b in blocks for c in citations_of(b.get("citations"))),
        )

    def _payload(self, request: Request) -> dict[str, Any]:
        s = request.sampling
        payload: dict[str, Any] = {
            "model": self.model,
            "system": "\n\n".join(m.content for m in request.messages if m.role == "system") or None,
            "messages": [m._asdict() for m in request.messages if m.role != "system"],
            "max_tokens": s.max_tokens or DEFAULT_MAX_TOKENS,
            "temperature": s.temperature,
            "top_p": s.top_p,
            "stop_sequences": list(s.stop) or None,
        }
        if s.schema:
            tool = {"name": "answer", "description": "Give the answer.", "input_schema": s.schema}
            payload |= {"tools": [tool], "tool_choice": {"type": "tool", "name": "answer"}}
        return without_nulls(payload)


def _tool_input(blocks: Sequence[Mapping[str, Any]]) -> str | None:
    """The input of the first tool that was used, as JSON; null where none was.

    Raises `RetryableError` for an input that is no object.
    """
    inputs = [block.get("input") for block in blocks if block.get("type") == "tool_use"]
    if not inputs:
        return None
    if not isinstance(inputs[0], dict):
        raise RetryableError("the reply is malformed: the input of a tool is no object")
    return json.dumps(inputs[0], ensure_ascii=False)


@registry.provider("anthropic")
class AnthropicProvider(HTTPProvider):
    """Anthropic's messages."""

    model_class = AnthropicMessages
