"""Hold a provider to the list that ours are held to: replies, empty texts, failures, likelihoods, keys."""

import asyncio
import math
import os
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from vivavoce.core import registry
from vivavoce.models.candidates import CandidateConfig, parse_candidate
from vivavoce.models.endpoints import is_price, load_endpoints
from vivavoce.models.providers import Provider
from vivavoce.models.requests import (
    FatalError,
    Message,
    Model,
    RejectedError,
    Reply,
    Request,
    RetryableError,
    Sampling,
)

_QUESTION = (Message("system", "Answer in one word."), Message("user", "Which organ filters the blood?"))
_FAILURES = (RetryableError, RejectedError, FatalError)


def check_provider(
    spec: str, *, failing: str | None = None, keys: Sequence[str] = (), providers: Path | None = None
) -> None:
    """Raise `AssertionError` with a sentence for the first rule that a registered provider breaks.

    `spec` names a model that replies, such as `bedrock/nova-lite`, and `failing` one that cannot be reached.
    `keys` are environment variables whose values must not appear in replies or errors: set them to a dummy.
    `providers` is a file of endpoints. The check asks five requests, so give the provider a fake client.
    """
    endpoints = load_endpoints(providers)
    candidate = parse_candidate(spec, endpoints)
    _check_card(candidate)
    secrets = [value for variable in keys if (value := os.environ.get(variable, ""))]
    asyncio.run(_check_replies(candidate, secrets))
    if failing is not None:
        asyncio.run(_check_failure(parse_candidate(failing, endpoints), secrets))


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise AssertionError(rule)


def _check_card(candidate: CandidateConfig) -> None:
    """The class variables: they are documentation, and the engine rests on them."""
    provider, limits = candidate.provider, candidate.limits
    _require(issubclass(provider, Provider), f"{provider.__name__} is no subclass of Provider")
    _require(provider in registry.members("provider").values(), f"{provider.__name__} is not registered")
    _require(bool((provider.__doc__ or "").strip()), f"{provider.__name__} has no docstring")
    _require(
        candidate.price is None or is_price(candidate.price),
        f"price is {candidate.price!r}: two numbers of 0 or more, or None",
    )
    _require(limits.concurrency >= 1 and limits.attempts >= 1, f"limits are {limits}: 1 or more of each")
    rates = [limits.requests_per_minute, limits.tokens_per_minute]
    _require(all(rate is None or rate > 0 for rate in rates), f"limits are {limits}: a rate is not above 0")
    _require(
        all(isinstance(types, tuple) for types in provider.settings.values()),
        "settings map a name to a tuple of types, such as {'region': (str,)}",
    )
    unknown = set(provider.required) - provider.settings.keys()
    _require(not unknown, f"required settings are not in settings: {', '.join(sorted(unknown))}")


async def _check_replies(candidate: CandidateConfig, secrets: Sequence[str]) -> None:
    model = candidate.connect()
    try:
        _require(model.name == str(candidate.spec), f"name is {model.name!r}, not {str(candidate.spec)!r}")
        _require(isinstance(model.endpoint, str) and model.endpoint != "", "endpoint is empty")
        _require(isinstance(model.place, str), "place is no text: '' where nothing leaves the process")
        _check_secrets(repr(model), secrets)
        reply = await _reply(model.generate, Request(messages=_QUESTION, sampling=Sampling(max_tokens=16)))
        _check_reply(reply)
        _check_secrets(repr(reply), secrets)
        for messages in ((Message("user", ""),), (Message("user", "\ud83e\ude7a ﷽\n\x00"),)):
            request = Request(messages=messages, sampling=Sampling(max_tokens=16))
            await _expect_reply_or_failure(model.generate, request, secrets)
        await _check_loglikelihood(model, candidate, secrets)
    finally:
        await model.close()
        await model.close()  # a model that is asked again is closed again


async def _reply(ask: Callable[[Request], Awaitable[Reply]], request: Request) -> Reply:
    reply = await ask(request)
    _require(isinstance(reply, Reply), f"the model returned {type(reply).__name__}, not a Reply")
    return reply


def _check_reply(reply: Reply) -> None:
    withheld = reply.text is None and reply.finish_reason == "content_filter"
    _require(
        isinstance(reply.text, str) or withheld,
        "text is None: that is for finish_reason='content_filter'; an empty response is ''",
    )
    for name, count in reply.usage._asdict().items():
        _require(
            count is None or (type(count) is int and count >= 0), f"usage.{name} is {count!r}: no token count"
        )
    logprobs = reply.logprobs or ()
    _require(
        all(math.isfinite(n) and n <= 1e-3 for n in logprobs), "logprobs are natural logarithms, at most 0"
    )


async def _check_loglikelihood(model: Model, candidate: CandidateConfig, secrets: Sequence[str]) -> None:
    request = Request(messages=_QUESTION, kind="loglikelihood", target="kidney")
    if not candidate.provider.returns_logprobs:
        try:
            await model.loglikelihood(request)
        except FatalError as error:
            return _check_secrets(_everything(error), secrets)
        raise AssertionError("loglikelihood replied: set returns_logprobs, or let it raise FatalError")
    reply = await _reply(model.loglikelihood, request)
    _require(len(reply.likelihoods) == 1, f"one target has {len(reply.likelihoods)} likelihoods")
    logprob, tokens, verbatim = reply.likelihoods[0]
    _require(math.isfinite(logprob) and logprob <= 1e-3, f"the log-likelihood is {logprob}: above 0, or none")
    _require(tokens >= 1, f"the target has {tokens} tokens")
    _require(verbatim is None or 0 <= verbatim <= tokens, f"verbatim is {verbatim} of {tokens} tokens")
    _check_secrets(repr(reply), secrets)


async def _expect_reply_or_failure(
    ask: Callable[[Request], Awaitable[Reply]], request: Request, secrets: Sequence[str]
) -> None:
    """Any other exception counts as a fault of the program: the engine cannot tell whether to try again."""
    try:
        _check_reply(await _reply(ask, request))
    except _FAILURES as error:
        _check_secrets(_everything(error), secrets)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(
            f"generate raised {type(error).__name__}: raise RetryableError, RejectedError or FatalError"
        ) from error


async def _check_failure(candidate: CandidateConfig, secrets: Sequence[str]) -> None:
    model = None
    try:
        model = candidate.connect()
        await model.generate(Request(messages=_QUESTION))
    except _FAILURES as error:
        _require(str(error).strip() != "", "a failure says nothing: give it a sentence")
        return _check_secrets(_everything(error), secrets)
    except Exception as error:
        raise AssertionError(
            f"a model that fails raised {type(error).__name__}: raise RetryableError, RejectedError or "
            "FatalError"
        ) from error
    finally:
        if model is not None:
            await model.close()
    raise AssertionError(f"{candidate.spec} was to fail, and replied")


def _everything(error: BaseException) -> str:
    """The error as a debugger's report may show it, with its causes."""
    return "".join(traceback.format_exception(error)) + repr(error)


def _check_secrets(text: str, secrets: Sequence[str]) -> None:
    for secret in secrets:
        _require(secret not in text, "a key stands in a reply, an error or a repr: errors are stored")
