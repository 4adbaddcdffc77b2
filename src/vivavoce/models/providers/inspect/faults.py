"""What an error of one of Inspect's providers means to the engine."""

import os
import re
import socket
from collections import deque
from collections.abc import Iterator
from typing import Any

from vivavoce.core.errors import EgressError
from vivavoce.core.text import one_line, printable
from vivavoce.models.charges import UNCOUNTED
from vivavoce.models.endpoints import SHORTEST_KEY, scrubbed
from vivavoce.models.http_client import error_message, refusal, status_failure
from vivavoce.models.requests import FatalError, RetryableError

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_MARKUP = re.compile(r"\[/?(?:bold|italic|blue|bright_black|red|yellow|link)[^\]]*\]")
_IDENTITY = re.compile(
    r"Credential|Authentication|Unauthori[sz]ed|RefreshError|TokenRetrieval", re.IGNORECASE
)
_PASSING = re.compile(r"Connect|Time_?out|Transport|Protocol|Network|Disconnect|Unavailable", re.IGNORECASE)
_MOST_LINKS = 32


def fault_of(error: Exception, api: Any, service: str, *, reached: bool) -> Exception:
    """Our error for one that a provider raised; `service` names it, `reached` says that it replied before.

    Its text holds no value of an environment variable that is named like a key.
    """
    if (egress := egress_error(error)) is not None:
        return egress
    reason, status = plain_text(error, getattr(api, "api_key", None)), _status(error)
    advice = _advice(api, error)
    failure = None if status is None else status_failure(service, service, status, reason, advice.after)
    # The provider knows better than the status: AWS throttles with HTTP 400 too.
    if advice.retry and not isinstance(failure, FatalError | RetryableError):
        return RetryableError(reason, after=advice.after, throttled=advice.throttled)
    if failure is not None:
        return failure
    return _fault_by_kind(error, reason, service, reached)


def _fault_by_kind(error: Exception, reason: str, service: str, reached: bool) -> Exception:
    """Our error for one that came without a status, and that the provider would not try again."""
    kinds = " ".join(type(link).__name__ for link in _links(error))
    if any(isinstance(link, socket.gaierror) for link in _links(error)) and not reached:
        return FatalError(
            f"{service}: its host cannot be found ({reason}): check the base URL and the network."
        )
    if _IDENTITY.search(kinds) or "Prerequisite" in kinds:
        return FatalError(f"{service} cannot be asked: {reason.rstrip('.')}.")
    if _PASSING.search(kinds) or isinstance(error, OSError):
        return RetryableError(f"the connection broke ({reason})")
    if isinstance(error, ValueError | TypeError | LookupError | AttributeError | RecursionError):
        return RetryableError(f"the reply is malformed ({type(error).__name__}: {reason})", usage=UNCOUNTED)
    return refusal(reason)


class _Advice:
    """Whether a provider would try again, after how many seconds, and whether it was asked too fast."""

    def __init__(self, decision: Any) -> None:
        self.retry = bool(decision)
        seconds = getattr(decision, "retry_after", None)
        self.after = float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None
        self.throttled = getattr(decision, "kind", None) == "rate_limit"


def _advice(api: Any, error: Exception) -> _Advice:
    try:
        return _Advice(api.should_retry(error))
    except Exception:  # made for the errors of its own client alone
        return _Advice(False)


def _status(error: Exception) -> int | None:
    """The HTTP status that an error states; null where it states none, or that of a success."""
    for link in _links(error):
        response = getattr(link, "response", None)
        metadata = response.get("ResponseMetadata") if isinstance(response, dict) else None  # botocore's
        numbers = (
            getattr(link, "status_code", None),
            getattr(response, "status_code", None),
            metadata.get("HTTPStatusCode") if isinstance(metadata, dict) else None,
            getattr(link, "code", None),  # google-genai's
        )
        for status in numbers:
            if type(status) is int and 300 <= status < 600:
                return status
    return None


def egress_error(error: BaseException) -> EgressError | None:
    """The refusal of the egress guard behind an error, however a library wrapped it; null for none."""
    refused = next((link for link in _links(error) if isinstance(link, EgressError)), None)
    return None if refused is None else EgressError(str(refused))


def _links(error: BaseException) -> Iterator[BaseException]:
    """The error, those that it was raised from, and those of a group, as anyio's task groups raise them."""
    waiting = deque([error])
    for _ in range(_MOST_LINKS):
        if not waiting:
            return
        link = waiting.popleft()
        yield link
        if isinstance(link, BaseExceptionGroup):
            waiting += link.exceptions
        origin = link.__cause__ or link.__context__
        waiting += [origin] if origin else []


def plain_text(error: BaseException, key: object) -> str:
    """What an error says, on one short line: without markup, and without anything that is a key."""
    text = _MARKUP.sub("", _message(error)).removeprefix("ERROR: ") or type(error).__name__
    for secret in _secrets(key):
        text = text.replace(secret, "[key]")
    return one_line(scrubbed(printable(text)), 200)


def _message(error: BaseException) -> str:
    body = getattr(error, "body", None)  # of the clients of OpenAI's kind
    of_body = error_message({"error": body}) if isinstance(body, dict) else None
    return of_body or str(getattr(error, "message", None) or error)


def _secrets(key: object) -> list[str]:
    """The key, and the values of variables named like one, longest first: one may begin another."""
    values = {value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    values |= {key.strip()} if isinstance(key, str) else set()  # some hold a function that gives it
    return sorted((value for value in values if len(value) >= SHORTEST_KEY), key=len, reverse=True)
