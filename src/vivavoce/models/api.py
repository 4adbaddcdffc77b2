"""Endpoints that speak OpenAI's chat or completions, or Anthropic's messages.

vLLM, SGLang, llama.cpp, Ollama, Azure and most hosted providers speak one of the first two. The settings of a
spec go into the request under the endpoint's own names; what is null is left out.

None takes `Sampling.beams`: vLLM knows `use_beam_search`, but forgets stop strings with it, and others pass
over words that they do not know and answer with a draw. Log-probabilities are as the server counts them;
vLLM's are those at temperature 1 unless it was started otherwise (`--logprobs-mode`).
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from vivavoce.models import Broken, Refused, Reply, Request, Sampling, Transient
from vivavoce.models.likely import drawn_in_chat, drawn_in_completions, of_echo, of_places, spaced
from vivavoce.models.providers import Provider
from vivavoce.models.replies import as_dict, as_list, first_choice, same_model, text_of, usage_of, word
from vivavoce.models.wire import Filtered, Wire
from vivavoce.text import one_line, printable

__all__ = ["Anthropic", "OpenAIChat", "OpenAICompletions", "connect"]

ANTHROPIC_VERSION = "2023-06-01"
ANTHROPIC_MAX_TOKENS = 4096
"""The endpoint demands a number; this one is sent where the spec has none."""

_ENDS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "stop", "max_tokens": "length",
         "model_context_window_exceeded": "length", "refusal": "content_filter"}  # fmt: skip
_UNKNOWN = re.compile(r"prompt_logprobs|continue_final|generation_prompt|unknown|unrecogni[sz]ed|extra", re.I)


def connect(name: str, model: str, provider: Provider) -> "_Endpoint":
    """The model `model` of a provider, under the candidate's name `name`.

    Raises `ModelError` where the provider has no usable base URL or its key is not set; nothing is sent.
    """
    if provider.base_url is None:
        raise Broken(
            f"{provider.name} has no base URL: set {provider.variable}, or base_url in a --providers file."
        )
    kinds: Mapping[str, Callable[[str, str, Provider], _Endpoint]] = {
        "openai": OpenAIChat,
        "completions": OpenAICompletions,
        "anthropic": Anthropic,
    }
    return kinds[provider.kind](name, model, provider)


class _Endpoint(ABC):
    """What the three share: a wire, a name, and the check that the right model answered."""

    path: str

    def __init__(self, name: str, model: str, provider: Provider) -> None:
        self.name, self.model, self.provider = name, model, provider
        key = provider.secret()
        self.wire = Wire(
            provider.base_url or "",
            {} if key is None else self._headers(key),
            timeout=provider.timeout,
            secrets=(key,) if key else (),
        )
        self.endpoint, self.place = self.wire.endpoint, self.wire.host

    def _headers(self, key: str) -> dict[str, str]:
        header = self.provider.key_header
        return {header: key} if header else {"Authorization": f"Bearer {key}"}

    @abstractmethod
    async def generate(self, request: Request) -> Reply:
        """One attempt at an answer."""

    async def loglikelihood(self, request: Request) -> Reply:
        """Not offered by this kind of endpoint."""
        raise Broken(
            f"{self.name}: this kind of endpoint gives no probability of a given text; leave it out, or "
            "ask a model behind vLLM or in this process."
        )

    def _unsearched(self, request: Request) -> None:
        """Raises `Refused` where beams are asked for."""
        if request.sampling.beams is not None:
            raise Refused(
                f"{self.name}: endpoints search no beams; draw samples, or ask a local model (hf/…)"
            )

    def _target(self, request: Request) -> str:
        """The text whose likelihood is asked; `Refused` where there are several."""
        if request.branches is not None:
            raise Refused(
                f"{self.name}: an endpoint takes one target at a time; ask for each branch by itself"
            )
        return request.target or ""

    async def close(self) -> None:
        """Close the connections."""
        await self.wire.close()

    def _checked(self, answer: Mapping[str, Any]) -> str | None:
        """The name that answered, which must be the one asked for, or a version of it."""
        said = answer.get("model")
        if not isinstance(said, str) or not said:
            return None
        accept = self.provider.accept
        others = (*accept.get(self.model, ()), *accept.get("*", ()))
        if "*" in others or any(same_model(name, said) for name in (self.model, *others)):
            return said
        shown = one_line(printable(said), 80)
        raise Transient(
            f"{shown!r} answered in place of {self.model!r}; if that is the same, list it under accept "
            "in a --providers file"
        )


class OpenAIChat(_Endpoint):
    """Chat completions."""

    path = "chat/completions"

    def __init__(self, name: str, model: str, provider: Provider) -> None:
        super().__init__(name, model, provider)
        self._length = "max_tokens"

    async def generate(self, request: Request) -> Reply:
        """One attempt at an answer. Raises `Refused` for beams."""
        self._unsearched(request)
        try:
            answer = await self._asked(request)
        except Filtered:
            return Reply(text=None, finish_reason="content_filter")
        model, choice = self._checked(answer), first_choice(answer)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise Transient("the answer has no message")
        reason, text = word(choice.get("finish_reason")), text_of(message.get("content"))
        if not text and isinstance(message.get("refusal"), str):
            text = message["refusal"]
        # Empty is an answer: all of it went into reasoning, or the model fell silent.
        text = None if reason == "content_filter" and not text else text or ""
        sources = message.get("citations") or answer.get("citations") or message.get("annotations")
        logprobs, drawn = drawn_in_chat(choice, text)
        return Reply(
            text=text,
            reasoning=word(message.get("reasoning_content")) or word(message.get("reasoning")),
            finish_reason=reason,
            model=model,
            usage=usage_of(answer.get("usage"), "prompt_tokens", "completion_tokens"),
            logprobs=logprobs,
            citations=tuple(as_list(sources)),
            drawn=drawn if request.sampling.logprobs else (),
        )

    async def _asked(self, request: Request) -> dict[str, Any]:
        length = self._length
        try:
            return await self.wire.post(self.path, self._payload(request, length))
        except Refused as error:
            if length == "max_completion_tokens" or "max_completion_tokens" not in str(error):
                raise
        self._length = "max_completion_tokens"  # newer models know the limit by this name only
        return await self.wire.post(self.path, self._payload(request, self._length))

    def _payload(self, request: Request, length: str) -> dict[str, Any]:
        s = request.sampling
        answer = {"name": "answer", "strict": True, "schema": s.schema}
        return _stated({
            "model": self.model,
            "messages": [m._asdict() for m in request.messages],
            **_common(s),
            length: s.max_tokens,
            "logprobs": True if s.logprobs else None,
            "response_format": {"type": "json_schema", "json_schema": answer} if s.schema else None,
        })  # fmt: skip

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of the target as the model's answer, by `prompt_logprobs`, which vLLM has.

        What it has said already and the target are the last turn, which is left open. The target's tokens are
        the last of the prompt that spell it; one that straddles its beginning belongs to it. After `begun` it
        gets a blank like everywhere; right after the question it gets none, because the template is the
        server's, and only the server knows what it ends in. Raises `Broken` where the endpoint does not know
        `prompt_logprobs`, `Refused` for a text alone, which a template never leaves alone, and for branches.
        """
        target = spaced(self._target(request), request.begun)
        if not request.messages:
            raise Refused(
                f"{self.name}: a chat endpoint puts its template around every text, so it cannot tell the "
                "probability of a text alone; ask it by kind: completions"
            )
        answering = {"role": "assistant", "content": request.begun + target}
        payload = {
            "model": self.model,
            "messages": [*(m._asdict() for m in request.messages), answering],
            "add_generation_prompt": False,
            "continue_final_message": True,
            "prompt_logprobs": 0,
            "max_tokens": 1,
            "temperature": 0.0,
        }
        none = (
            f"{self.name}: the endpoint has no prompt_logprobs, so it gives no probability of a given text."
        )
        try:
            answer = await self.wire.post(self.path, payload)
        except Refused as error:
            if _UNKNOWN.search(str(error)):
                raise Broken(none) from None
            raise
        model, listed = self._checked(answer), as_list(answer.get("prompt_logprobs"))
        if not listed:
            raise Broken(none)
        logprobs, likelihood = of_places(listed, target)
        return Reply(
            text=request.target or "",
            model=model,
            usage=usage_of(answer.get("usage"), "prompt_tokens", "completion_tokens"),
            logprobs=logprobs,
            likelihoods=(likelihood,),
            spaced=False,
        )


class OpenAICompletions(_Endpoint):
    """Completions of a plain text: for base models, and for the probability of a given text (`echo`)."""

    path = "completions"

    async def generate(self, request: Request) -> Reply:
        """One attempt at a completion. Raises `Refused` for beams, and a schema, which it does not take."""
        self._unsearched(request)
        s = request.sampling
        if s.schema:
            raise Refused(f"{self.name}: completions take no schema; use a chat endpoint")
        payload = {
            "model": self.model,
            "prompt": _plain(request),
            **_common(s),
            "max_tokens": s.max_tokens,
            "logprobs": 1 if s.logprobs else None,
        }
        try:
            answer = await self.wire.post(self.path, _stated(payload))
        except Filtered:
            return Reply(text=None, finish_reason="content_filter")
        model, choice = self._checked(answer), first_choice(answer)
        reason, text = word(choice.get("finish_reason")), choice.get("text")
        if not isinstance(text, str) and reason != "content_filter":
            raise Transient("the answer has no text")
        text = None if reason == "content_filter" and not text else text
        logprobs, drawn = drawn_in_completions(choice, text)
        return Reply(
            text=text,
            finish_reason=reason,
            model=model,
            usage=usage_of(answer.get("usage"), "prompt_tokens", "completion_tokens"),
            logprobs=logprobs,
            drawn=drawn if s.logprobs else (),
        )

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of the target after the prompt and what was said already, by echoing all of it.

        A token that straddles the border belongs to the target. Without messages it is the text alone, which
        works where the server puts a mark of the beginning first. Raises `Broken` where the endpoint does not
        echo, `Refused` where the target's first token stands at the very beginning and so has no probability,
        and for branches.
        """
        before = _plain(request) + request.begun
        target = spaced(self._target(request), before)
        payload = {
            "model": self.model,
            "prompt": before + target,
            "echo": True,
            "logprobs": 1,
            "max_tokens": 0,
            "temperature": 0.0,
        }
        answer = await self.wire.post(self.path, payload)
        model, choice = self._checked(answer), first_choice(answer)
        logprobs, likelihood = of_echo(self.name, choice, before, target)
        return Reply(
            text=request.target or "",
            model=model,
            usage=usage_of(answer.get("usage"), "prompt_tokens", "completion_tokens"),
            logprobs=logprobs,
            likelihoods=(likelihood,),
            spaced=target != request.target,
        )


class Anthropic(_Endpoint):
    """Anthropic's messages. A schema is asked for as the one tool that must be used."""

    path = "messages"

    def _headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": ANTHROPIC_VERSION, self.provider.key_header or "x-api-key": key}

    async def generate(self, request: Request) -> Reply:
        """One attempt at an answer. Raises `Refused` for beams."""
        self._unsearched(request)
        s = request.sampling
        tool = {"name": "answer", "description": "Give the answer.", "input_schema": s.schema}
        payload = {
            "model": self.model,
            "system": "\n\n".join(m.content for m in request.messages if m.role == "system") or None,
            "messages": [m._asdict() for m in request.messages if m.role != "system"],
            "max_tokens": s.max_tokens or ANTHROPIC_MAX_TOKENS,
            "temperature": s.temperature,
            "top_p": s.top_p,
            "stop_sequences": list(s.stop) or None,
            "tools": [tool] if s.schema else None,
            "tool_choice": {"type": "tool", "name": "answer"} if s.schema else None,
        }
        try:
            answer = await self.wire.post(self.path, _stated(payload))
        except Filtered:
            return Reply(text=None, finish_reason="content_filter")
        model, content = self._checked(answer), answer.get("content")
        if not isinstance(content, list):
            raise Transient("the answer has no content")
        blocks = [as_dict(block) for block in content]
        used = [b.get("input") for b in blocks if b.get("type") == "tool_use"] if s.schema else []
        texts = [word(b.get("text")) or "" for b in blocks if b.get("type") == "text"]
        thoughts = [word(b.get("thinking")) or "" for b in blocks if b.get("type") == "thinking"]
        reason = word(answer.get("stop_reason"))
        text = json.dumps(used[0], ensure_ascii=False) if used else "".join(texts)
        return Reply(
            text=None if reason == "refusal" and not text else text,
            reasoning="\n".join(filter(None, thoughts)) or None,
            finish_reason=_ENDS.get(reason, reason) if reason else None,
            model=model,
            usage=usage_of(answer.get("usage"), "input_tokens", "output_tokens"),
            citations=tuple(c for b in blocks for c in as_list(b.get("citations"))),
        )


def _common(s: Sampling) -> dict[str, Any]:
    return {"temperature": s.temperature, "top_p": s.top_p, "seed": s.seed, "stop": list(s.stop) or None}


def _stated(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if value is not None}


def _plain(request: Request) -> str:
    return "\n\n".join(m.content for m in request.messages)
