"""Endpoints that speak OpenAI's chat completions or completions.

vLLM, SGLang, llama.cpp, Ollama, Azure and most hosted providers speak one of them. The settings of a spec go
into the request under the endpoint's own names; null settings are left out.

Neither takes `Sampling.beams`: vLLM has `use_beam_search`, but drops stop strings with it, and others ignore
unknown words and return a sample. Log-probabilities are as the server counts them; vLLM's are those at
temperature 1 unless it was started otherwise (`--logprobs-mode`).
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from vivavoce.core import registry
from vivavoce.core.net import permit
from vivavoce.models.charges import charged
from vivavoce.models.content import citations_of, content_text, finish_reason, refuse_cut, thinking_text
from vivavoce.models.endpoints import EndpointConfig
from vivavoce.models.http_client import ContentFilterError, HTTPClient, host_of
from vivavoce.models.model_names import check_same_model, shown_model
from vivavoce.models.providers import Provider
from vivavoce.models.rate_limit import Limits
from vivavoce.models.replies import (
    first_choice,
    generation_from_chat,
    generation_from_completions,
    likelihood_from_echo,
    likelihood_from_prompt_logprobs,
    stated_thinking,
    stated_usage,
    with_space,
    word,
)
from vivavoce.models.requests import (
    FatalError,
    Model,
    RejectedError,
    Reply,
    Request,
    RetryableError,
    Sampling,
)

_UNKNOWN_SETTING = re.compile(
    r"prompt_logprobs|continue_final|generation_prompt|unknown|unrecogni[sz]ed|extra", re.IGNORECASE
)


class HTTPModel(ABC):
    """A model behind an HTTP API: its client, its name, and the check that the right model replied.

    Raises `ModelError` where the endpoint has no usable base URL or its key is not set; nothing is sent.
    """

    path: str

    def __init__(self, name: str, model: str, config: EndpointConfig) -> None:
        if config.base_url is None:
            raise FatalError(
                f"{config.name} has no base URL: set {config.variable}, or base_url in a --providers file."
            )
        self.name, self.model, self.config = name, model, config
        permit(host_of(config.base_url))  # offline forbids it, whether or not there is a key
        key = config.secret()
        self.client = HTTPClient(
            config.base_url,
            {} if key is None else self._headers(key),
            timeout=config.timeout,
            secrets=(key,) if key else (),
        )
        self.endpoint, self.place = self.client.endpoint, self.client.host

    def _headers(self, key: str) -> dict[str, str]:
        header = self.config.key_header
        return {header: key} if header else {"Authorization": f"Bearer {key}"}

    @abstractmethod
    async def generate(self, request: Request) -> Reply:
        """One attempt at a response."""

    async def loglikelihood(self, request: Request) -> Reply:
        """Not offered by this kind of endpoint."""
        raise FatalError(
            f"{self.name}: this kind of endpoint gives no probability of a given text; leave it out, or "
            "ask a model behind vLLM or in this process."
        )

    def _refuse_beams(self, request: Request) -> None:
        """Raise `RejectedError` for a beam search."""
        if request.sampling.beams is not None:
            raise RejectedError(
                f"{self.name}: endpoints search no beams; draw samples, or ask a local model (hf/…)"
            )

    def _target(self, request: Request) -> str:
        """The text whose likelihood is requested. Raises `RejectedError` for several."""
        if request.branches is not None:
            raise RejectedError(
                f"{self.name}: an endpoint takes one target at a time; ask for each branch by itself"
            )
        return request.target or ""

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    def _checked_model(self, reply: Mapping[str, Any]) -> str | None:
        """The model that replied. Raises `RetryableError` for another than the requested one."""
        return checked_model(reply, self.model, self.config.accept)


def accepted_names(config: EndpointConfig, model: str) -> tuple[str, ...]:
    """The names beside its own under which an endpoint may answer for a model; * stands for any."""
    return (*config.accept.get(model, ()), *config.accept.get("*", ()))


def checked_model(reply: Mapping[str, Any], model: str, accept: Mapping[str, Sequence[str]]) -> str | None:
    """The model that replied, as it is shown. Raises `RetryableError` for another than the requested one."""
    replied = reply.get("model")
    if not isinstance(replied, str) or not replied:
        return None
    check_same_model(model, replied, accept)
    return shown_model(replied)


class OpenAIChat(HTTPModel):
    """Chat completions."""

    path = "chat/completions"

    def __init__(self, name: str, model: str, config: EndpointConfig) -> None:
        super().__init__(name, model, config)
        self._length = "max_tokens"

    async def generate(self, request: Request) -> Reply:
        """One attempt at a response. Raises `RejectedError` for beams."""
        self._refuse_beams(request)
        try:
            raw = await self._post(request)
        except ContentFilterError:
            return Reply(text=None, finish_reason="content_filter")
        with charged(stated_usage(raw)):
            return chat_reply(raw, request, self._checked_model(raw))

    async def _post(self, request: Request) -> dict[str, Any]:
        length = self._length
        try:
            return await self.client.post(self.path, self._payload(request, length))
        except RejectedError as error:
            if length == "max_completion_tokens" or "max_completion_tokens" not in str(error):
                raise
            self._length = "max_completion_tokens"  # newer models know the limit by this name only
            raise RetryableError(str(error), at_once=True) from None

    def _payload(self, request: Request, length: str) -> dict[str, Any]:
        return chat_payload(self.model, request, length)

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of the target as the model's response, by vLLM's `prompt_logprobs`.

        What the model said already and the target are the last turn, which is left open. The target's tokens
        are the last of the prompt that spell it; one that straddles its start belongs to it. After `begun`
        a blank goes before it as everywhere; right after the question none does, because the template is the
        server's, and only the server knows its end. Raises `FatalError` where the endpoint has no
        `prompt_logprobs`; `RejectedError` for branches, and for a text alone: chat adds a template to it.
        """
        target = with_space(self._target(request), request.begun)
        if not request.messages:
            raise RejectedError(
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
        no_likelihood = (
            f"{self.name}: the endpoint has no prompt_logprobs, so it gives no probability of a given text."
        )
        try:
            raw = await self.client.post(self.path, payload)
        except RejectedError as error:
            if _UNKNOWN_SETTING.search(str(error)):
                raise FatalError(no_likelihood) from None
            raise
        with charged(stated_usage(raw)):
            model, listed = self._checked_model(raw), raw.get("prompt_logprobs")
            if not listed:
                raise FatalError(no_likelihood)
            if not isinstance(listed, list):
                raise RetryableError("the reply is malformed: its prompt_logprobs are no list")
            logprobs, likelihood = likelihood_from_prompt_logprobs(listed, target)
        return Reply(
            text=request.target or "",
            model=model,
            usage=stated_usage(raw),
            logprobs=logprobs,
            likelihoods=(likelihood,),
            spaced=False,
        )


def chat_payload(model: str, request: Request, length: str) -> dict[str, Any]:
    """The body of a request for a chat completion; `length` names the limit on tokens."""
    s = request.sampling
    schema_format = {"name": "answer", "strict": True, "schema": s.schema}
    return without_nulls({
        "model": model,
        "messages": [m._asdict() for m in request.messages],
        **_sampling_settings(s),
        length: s.max_tokens,
        "logprobs": True if s.logprobs else None,
        "response_format": {"type": "json_schema", "json_schema": schema_format} if s.schema else None,
    })  # fmt: skip


def chat_reply(raw: Mapping[str, Any], request: Request, model: str | None) -> Reply:
    """The reply in a chat completion by `model`. Raises `RetryableError` for what is none."""
    choice = first_choice(raw)
    end, message = finish_reason(choice), choice.get("message")
    if not isinstance(message, dict):
        if end.reason != "content_filter":  # Gemini's endpoints leave the message out then
            raise RetryableError("the answer has no message")
        message = {}
    elif not message and end.reason != "content_filter":
        raise RetryableError("the answer's message is empty")
    text = _message_text(message, end.reason)
    sources = message.get("citations") or raw.get("citations") or message.get("annotations")
    logprobs, generations = generation_from_chat(choice, text)
    return Reply(
        text=text,
        reasoning=word(message.get("reasoning_content"))
        or word(message.get("reasoning"))
        or thinking_text(message.get("content")),
        finish_reason=end.reason,
        raw_reason=end.raw_reason,
        reasoning_tokens=stated_thinking(raw),
        model=model,
        usage=stated_usage(raw),
        logprobs=logprobs,
        citations=citations_of(sources),
        generations=generations if request.sampling.logprobs else (),
    )


def _message_text(message: Mapping[str, Any], reason: str | None) -> str | None:
    """A message's text, or its refusal; null where a filter withheld it all. `RetryableError` for neither."""
    text = content_text(message.get("content"))
    if not text and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    refuse_cut(text, reason)
    return text or (None if reason == "content_filter" else "")


class OpenAICompletions(HTTPModel):
    """Completions of a plain text: for base models, and for the probability of a given text (`echo`)."""

    path = "completions"

    async def generate(self, request: Request) -> Reply:
        """One attempt at a completion. Raises `RejectedError` for beams and for a schema."""
        self._refuse_beams(request)
        s = request.sampling
        if s.schema:
            raise RejectedError(f"{self.name}: completions take no schema; use a chat endpoint")
        payload = {
            "model": self.model,
            "prompt": _joined_messages(request),
            **_sampling_settings(s),
            "max_tokens": s.max_tokens,
            "logprobs": 1 if s.logprobs else None,
        }
        try:
            raw = await self.client.post(self.path, without_nulls(payload))
        except ContentFilterError:
            return Reply(text=None, finish_reason="content_filter")
        with charged(stated_usage(raw)):
            return self._completion(raw, request)

    def _completion(self, raw: Mapping[str, Any], request: Request) -> Reply:
        """The reply in a completion. Raises `RetryableError` for what is none."""
        model, choice = self._checked_model(raw), first_choice(raw)
        end, text = finish_reason(choice), choice.get("text")
        if not isinstance(text, str) and not (text is None and end.reason == "content_filter"):
            raise RetryableError("the answer has no text")
        refuse_cut(text, end.reason)
        text = None if end.reason == "content_filter" and not text else text
        logprobs, generations = generation_from_completions(choice, text)
        return Reply(
            text=text,
            finish_reason=end.reason,
            raw_reason=end.raw_reason,
            reasoning_tokens=stated_thinking(raw),
            model=model,
            usage=stated_usage(raw),
            logprobs=logprobs,
            generations=generations if request.sampling.logprobs else (),
        )

    async def loglikelihood(self, request: Request) -> Reply:
        """The likelihood of the target after the prompt and what was said already, by echoing all of it.

        A token that straddles the border belongs to the target. Without messages it is the text alone, which
        works where the server puts a mark of the beginning first. Raises `FatalError` where the endpoint does
        not echo; `RejectedError` for branches, and where the target's first token begins the text, because
        that token has no probability.
        """
        context = _joined_messages(request) + request.begun
        target = with_space(self._target(request), context)
        payload = {
            "model": self.model,
            "prompt": context + target,
            "echo": True,
            "logprobs": 1,
            "max_tokens": 0,
            "temperature": 0.0,
        }
        raw = await self.client.post(self.path, payload)
        with charged(stated_usage(raw)):
            model, choice = self._checked_model(raw), first_choice(raw)
            finish_reason(choice)  # raises where the endpoint failed
            logprobs, likelihood = likelihood_from_echo(self.name, choice, context, target)
        return Reply(
            text=request.target or "",
            model=model,
            usage=stated_usage(raw),
            logprobs=logprobs,
            likelihoods=(likelihood,),
            spaced=target != request.target,
        )


def _sampling_settings(s: Sampling) -> dict[str, Any]:
    return {"temperature": s.temperature, "top_p": s.top_p, "seed": s.seed, "stop": list(s.stop) or None}


def without_nulls(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that have a value."""
    return {key: value for key, value in payload.items() if value is not None}


def _joined_messages(request: Request) -> str:
    return "\n\n".join(m.content for m in request.messages)


class HTTPProvider(Provider):
    """An HTTP API, reached as an entry of a providers file says."""

    configured: ClassVar[Literal["never", "optional", "required"]] = "required"
    limits: ClassVar[Limits] = Limits()
    model_class: ClassVar[type[HTTPModel]]

    def connect(self) -> Model:
        """The model behind the entry's base URL."""
        assert self.config is not None  # "required"
        return self.model_class(self.name, self.model, self.config)


@registry.provider("openai")
class OpenAIProvider(HTTPProvider):
    """OpenAI's chat completions, which most servers speak."""

    model_class = OpenAIChat
    returns_logprobs = True  # where the server is vLLM


@registry.provider("completions")
class CompletionsProvider(HTTPProvider):
    """OpenAI's completions of a plain text: base models, and the log-likelihood of a given text."""

    model_class = OpenAICompletions
    returns_logprobs = True
