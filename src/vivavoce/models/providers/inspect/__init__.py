"""Models through Inspect's providers: `inspect/PROVIDER/MODEL`, such as `inspect/openai/gpt-4o`.

A provider of Inspect is asked directly, one attempt at a time: what Inspect puts around it (retries, its
cache of replies, limits on connections, the transcript, hooks and telemetry) is not used. Waiting, retries
and cost are the engine's, as for every provider.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from vivavoce.core import registry
from vivavoce.core.errors import SpecError
from vivavoce.core.net import permit
from vivavoce.models.charges import charged
from vivavoce.models.endpoints import EndpointConfig, Price
from vivavoce.models.http_client import ContentFilterError
from vivavoce.models.model_names import check_same_model, shown_model
from vivavoce.models.providers import Provider
from vivavoce.models.providers.inspect.faults import fault_of
from vivavoce.models.providers.inspect.messages import inspect_messages
from vivavoce.models.providers.inspect.opening import base_url_of, open_api
from vivavoce.models.providers.inspect.replies import reply_of
from vivavoce.models.requests import FatalError, Model, RejectedError, Reply, Request, RetryableError, Usage

TIMEOUT_S = 300.0
"""Seconds for one attempt, where no providers file says otherwise."""
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""What Inspect takes as `reasoning_effort`."""
_MOCK = "mockllm"
_IN_PROCESS = frozenset({_MOCK, "hf", "nnterp", "transformer_lens"})
"""Providers of Inspect that send nothing: the model runs in this process."""

_OWN_NAMES, _HOSTS = frozenset({"openai", "anthropic"}), frozenset({"azure", "bedrock", "vertex"})
"""Providers that answer under the name they were asked by, but where another one hosts the model."""


@registry.provider("inspect")
class InspectProvider(Provider):
    """A model through a provider of Inspect: Bedrock, Vertex, Azure and others, with their identities."""

    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {
        "reasoning_effort": (str,),
        "reasoning_tokens": (int,),
    }

    @classmethod
    def check(cls, model: str, options: Mapping[str, Any]) -> None:
        """Refuse a name without a provider or a model, and a setting that Inspect does not take."""
        service, _, name = model.partition("/")
        if not service or not name:
            raise SpecError(
                f"inspect/{model} names no provider and model of Inspect: write inspect/PROVIDER/MODEL, such "
                "as inspect/openai/gpt-4o."
            )
        effort = options.get("reasoning_effort")
        if effort is not None and effort not in EFFORTS:
            raise SpecError(
                f"inspect/{model}: reasoning_effort is one of {', '.join(EFFORTS)}, not {effort!r}."
            )
        tokens = options.get("reasoning_tokens")
        if isinstance(tokens, int) and tokens < 1:
            raise SpecError(f"inspect/{model}: reasoning_tokens is a whole number from 1, not {tokens}.")

    @classmethod
    def price_of(cls, model: str) -> Price | None:
        """Nothing for Inspect's mock; unknown for all others."""
        return (0.0, 0.0) if model.startswith(f"{_MOCK}/") else None

    def connect(self) -> Model:
        """The model behind Inspect's provider. Raises `ExtraError` where Inspect is not installed."""
        return InspectModel(self.name, self.model, self.options, self.config, self.limits.concurrency)


class InspectModel:
    """A model that a provider of Inspect reaches.

    Raises `FatalError` where Inspect has no such provider, its package is not installed, or its key is not
    set, and `EgressError` where the host must not be reached; nothing is sent.
    """

    def __init__(
        self,
        name: str,
        model: str,
        options: Mapping[str, Any],
        config: EndpointConfig | None,
        concurrency: int,
    ) -> None:
        self.name, self._model, self._options, self._config = name, model, options, config
        self._service = f"inspect/{model.partition('/')[0]}"
        self._timeout = config.timeout if config else TIMEOUT_S
        self._connections = config.concurrency if config else concurrency
        self._api: Any = self._open()
        self._reached = False
        self.endpoint, self.place = self._destination()
        if self.place:
            permit(self.place)

    def _open(self) -> Any:
        config = self._config
        if config and config.key_header:
            raise FatalError(
                f"{config.name}: Inspect's providers choose the header of their key: take key_header out."
            )
        return open_api(
            self._model,
            base_url=config.base_url if config else None,
            key=config.secret() if config else None,
            connections=self._connections,
        )

    def _destination(self) -> tuple[str, str]:
        """What is limited together, and the host that receives the text; '' where nothing leaves."""
        if self._model.partition("/")[0] in _IN_PROCESS:
            return self._service, ""
        parts = urlsplit(base_url_of(self._api))
        if not parts.hostname:  # known only to the provider's own client, as Bedrock's region is
            return self._service, self._service
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", parts.hostname

    async def generate(self, request: Request) -> Reply:
        """One attempt at a response. Raises `RejectedError` for beams."""
        if request.sampling.beams is not None:
            raise RejectedError(f"{self.name}: endpoints search no beams; draw samples, or ask a local model")
        if self._api is None:  # closed, and asked again
            self._api = self._open()
        try:
            result = await self._attempt(request)
            key = getattr(self._api, "api_key", None)
            reply = reply_of(result, logprobs=request.sampling.logprobs, key=key)
        except ContentFilterError:
            return Reply(text=None, finish_reason="content_filter")
        self._reached = True
        with charged(reply.usage):
            self._check_model(reply.model)
        reply = replace(reply, model=reply.model and shown_model(reply.model))
        # the mock spends no tokens, and counts characters
        return replace(reply, usage=Usage(0, 0)) if self._model.startswith(f"{_MOCK}/") else reply

    async def _attempt(self, request: Request) -> Any:
        """What the provider returns: an output, or that with its call. Raises our errors for its own."""
        messages, config = inspect_messages(request.messages), self._settings(request)
        try:
            async with asyncio.timeout(self._timeout) as limit:
                result = await self._api.generate(messages, [], "none", config)
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired():
                fault: Exception = RetryableError(f"no answer within {self._timeout:g} s")
            else:
                fault = self._fault(error)
        else:
            outcome = result[0] if isinstance(result, tuple) and result else result
            if not isinstance(outcome, Exception):
                return result
            fault = self._fault(outcome)
        raise fault  # out here, because the library's own error may hold the request and the key

    def _check_model(self, replied: str | None) -> None:
        """Raise `RetryableError` for another model, where a provider answers under the name asked for."""
        service, _, name = self._model.partition("/")
        head, slash, name_there = name.partition("/")
        if service == "openai-api":
            name = name_there
        elif service not in _OWN_NAMES or (slash and head in _HOSTS):
            return
        if replied:
            check_same_model(name, replied, self._config.accept if self._config else {}, self._model)

    def _fault(self, error: Exception) -> Exception:
        return fault_of(error, self._api, self._service, reached=self._reached)

    def _settings(self, request: Request) -> Any:
        """How to sample, in Inspect's words; null settings are the provider's."""
        from inspect_ai.model import GenerateConfig, ResponseSchema

        s = request.sampling
        config = GenerateConfig(
            temperature=s.temperature,
            top_p=s.top_p,
            max_tokens=s.max_tokens,
            stop_seqs=list(s.stop) or None,
            seed=s.seed,
            logprobs=True if s.logprobs else None,
            response_schema=s.schema
            and ResponseSchema(name="answer", json_schema=dict(s.schema), strict=True),
            max_connections=self._connections,
            max_retries=0,
            cache_prompt=False,
            **self._options,
        )
        if config.max_tokens is None:  # some endpoints demand a number: then Inspect's own
            config.max_tokens = self._api.max_tokens_for_config(config) or self._api.max_tokens()
        return config

    async def loglikelihood(self, request: Request) -> Reply:
        """Not offered: Inspect's providers generate."""
        raise FatalError(
            f"{self.name}: Inspect's providers give no probability of a given text; leave it out, or ask a "
            "model behind vLLM or in this process."
        )

    async def close(self) -> None:
        """Close the provider's connections."""
        api, self._api = self._api, None
        if api is not None:
            with suppress(Exception):  # what a client raises while it closes changes no reply
                await api.aclose()
