"""One HTTP exchange with an endpoint, and the meaning of its failures."""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vivavoce.core.errors import ModelError
from vivavoce.core.json_text import Decoder
from vivavoce.core.net import is_local, is_offline, permit
from vivavoce.core.text import one_line, printable
from vivavoce.models.charges import UNCOUNTED
from vivavoce.models.endpoints import LONG_KEY, scrubbed, without_key
from vivavoce.models.model_names import without_folders
from vivavoce.models.replies import stated_usage
from vivavoce.models.requests import FatalError, RejectedError, RetryableError

if TYPE_CHECKING:
    import aiohttp


LARGEST = 64 << 20
"""Bytes of an answer at most, unpacked; a stream without end must not fill the memory."""

_BUSY = {408, 409, 424, 425, 429, 498, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}
_THROTTLED = {424, 429, 498, 503, 529}
"""424 comes from a gateway whose model is not ready or too busy, 498 from Groq without capacity."""
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long", re.I
)
_FILTERED = re.compile(r"content[ _-]?(?:filter|management|policy)|responsible ?ai|\bflagged\b", re.I)
_NO_CREDIT = re.compile(r"insufficient[_ ](?:quota|balance|credit)|credit balance is too low", re.I)
_THROTTLING = re.compile(r"rate[_ -]?limit|too many requests|overload|\b(?:429|503|529)\b", re.I)
_OVERLOADED = re.compile(r"engine[_ ](?:is |currently )*overloaded|overloaded_error", re.I)
"""In errors of any status: words of codes only, as a question that an error repeats may name an overload."""
_PASSING = re.compile(r"unavailable|time[d ]*out|internal|server.?error|capacity|busy|try again", re.I)
_LONGEST_ERROR = 4000
"""Characters of an error that are read; fewer are shown."""
_NOT_JSON, _EMPTY = "the answer is no JSON object", "the answer is empty"
_LONE = re.compile("[\ud800-\udfff]")


class ContentFilterError(RejectedError):
    """The provider withheld the question or the answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, of_question=True)


def endpoint_of(base_url: str) -> str:
    """What the models behind a base URL share: its scheme, host and port."""
    parts = urlsplit(base_url)
    return f"{parts.scheme}://{parts.netloc}"


def host_of(base_url: str) -> str:
    """The host of a base URL.

    Raises `FatalError` for anything but an http or https URL, and for one that holds a user or password.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:  # a port or an IPv6 address that is none
        host = ""
    if "@" in base_url.partition("?")[0]:
        raise FatalError("a base URL holds a user or password: take it out, keys come from the environment.")
    written = base_url.isprintable() and " " not in base_url  # urlsplit drops line ends without a word
    if not host or not written or parts.scheme not in ("http", "https"):
        bare_url = base_url.partition("?")[0]
        raise FatalError(f"{bare_url!r} is no URL of an endpoint: write https://host/v1.")
    return host


class HTTPClient:
    """Connections to one base URL. Opened in an event loop and closed there.

    A query in the base URL, such as `?api-version=…`, follows each path. `secrets` are struck out of every
    reply. Raises `FatalError` for anything but an http or https URL, and for one that holds a user or
    password.
    """

    def __init__(
        self, base_url: str, headers: Mapping[str, str], *, timeout: float, secrets: tuple[str, ...] = ()
    ) -> None:
        self.host = host_of(base_url)
        parts = urlsplit(base_url)
        self.endpoint = endpoint_of(base_url)
        self._base, self._query = f"{self.endpoint}{parts.path.rstrip('/')}", parts.query
        self._headers, self._secrets = dict(headers), tuple(s for s in secrets if s)
        self._timeout, self._patience = timeout, min(30.0, timeout)
        self._session: aiohttp.ClientSession | None = None
        self._reached = False

    def _opened(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                # no limit here, where waiting would count as a timeout: the rate limiter has limits
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=30),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=self._patience),
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                # not trust_env: it would also put what ~/.netrc holds in place of the key
                proxy=_proxy(self.endpoint, self.host),
            )
        return self._session

    async def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The reply's JSON object. Raises `RetryableError`, `RejectedError` or `FatalError`."""
        permit(self.host)
        url_shown = f"{self._base}/{path}" if path else self._base
        url = f"{url_shown}?{self._query}" if self._query else url_shown
        fault: Exception
        status = 0
        try:
            # A redirect is not followed: it would carry the question, and the key, to another host.
            async with self._opened().post(url, json=payload, allow_redirects=False) as response:
                status, retry_after = response.status, _after(response.headers.get("Retry-After"))
                raw = await _body(response)
        except ModelError:
            raise
        except RejectedError as error:
            fault = error
        except Exception as error:
            fault = self._fault(error, url_shown)
        else:
            self._reached = True
            return self._reply(url_shown, status, raw, retry_after)
        if status == 200 and isinstance(fault, RetryableError | RejectedError):
            fault.usage = UNCOUNTED  # the reply had begun
        raise fault  # out here, because the library's own error holds the headers, and with them the key

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _fault(self, error: Exception, url: str) -> Exception:
        """Our error for one that the HTTP library raised."""
        import aiohttp

        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return RetryableError(
                f"{self.endpoint} cannot be reached (no connection within {self._patience:g} s)"
            )
        if isinstance(error, TimeoutError):
            return RetryableError(f"no answer within {self._timeout:g} s")
        if isinstance(error, aiohttp.InvalidURL):
            return FatalError(f"{url} is no URL: mend base_url.")
        if isinstance(error, aiohttp.ClientConnectorError):
            return self._connection_fault(error)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            return RetryableError(f"the proxy did not connect us to {self.endpoint} (HTTP {error.status})")
        if isinstance(error, aiohttp.ClientError | OSError):
            return RetryableError(f"the connection broke ({type(error).__name__})")
        return RejectedError(f"the request cannot be sent ({type(error).__name__})")

    def _connection_fault(self, error: "aiohttp.ClientConnectorError") -> Exception:
        import aiohttp

        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return FatalError(_tls(self.endpoint, error.certificate_error))
        if isinstance(error, aiohttp.ClientConnectorSSLError):
            return FatalError(_tls(self.endpoint, error.os_error))
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            if self._reached:  # it was there a moment ago
                return RetryableError(f"the host {self.host!r} cannot be found any more")
            return FatalError(f"no host {self.host!r} can be found: check base_url and the network.")
        reason = error.os_error.strerror or type(error.os_error).__name__
        return RetryableError(f"{self.endpoint} cannot be reached ({one_line(reason, 100)})")

    def _reply(self, url: str, status: int, raw: bytes, retry_after: float | None) -> dict[str, Any]:
        """The reply's JSON object. Raises one of our errors where it holds none, or is a failure."""
        for secret in self._secrets:
            if len(secret) >= LONG_KEY:
                raw = without_key(raw.decode("utf-8", "surrogateescape"), secret).encode(
                    "utf-8", "surrogateescape"
                )
        reply = _parsed(raw)
        failed = status != 200 or reply is None or bool(reply.get("error"))
        reason = self._error_text(reply, raw) if failed else ""
        if failure := status_failure(self.endpoint, url, status, reason, retry_after):
            raise failure
        if reply is None:
            raise RetryableError(_NOT_JSON if raw.strip() else _EMPTY, usage=UNCOUNTED)
        if reply.get("error"):
            raise _error_in_reply(reply, status, reason, retry_after)
        return reply

    def _error_text(self, reply: dict[str, Any] | None, raw: bytes) -> str:
        """What an error body says, on one short line, without anything that looks like a key."""
        text = error_message(reply or {}) or raw[:400].decode("utf-8", "replace") or "no explanation"
        for secret in self._secrets:
            text = without_key(text, secret)
        return one_line(without_folders(scrubbed(printable(text[:_LONGEST_ERROR]))), 200)


def status_failure(
    endpoint: str, url: str, status: int, why: str, after: float | None = None
) -> Exception | None:
    """The error that an HTTP status means; null for a success. `why` is what the reply says, on one line."""
    if status == 402 or (status != 200 and _NO_CREDIT.search(why)):
        return FatalError(f"{endpoint}: the account has no credit left (HTTP {status}: {why}).")
    if busy := _busy(status, why, after):
        return busy
    if 300 <= status < 400:
        return FatalError(
            f"{url} sends us elsewhere (HTTP {status}); redirects are not followed: mend base_url."
        )
    if status in (401, 403) and not _FILTERED.search(why):
        return FatalError(f"{url} refuses the key (HTTP {status}): {why}.")
    if status in (404, 405):
        return FatalError(
            f"{url} has no such model or path (HTTP {status}): {why}. Check the name and base_url."
        )
    return refusal(why, status) if status >= 400 else None


def _busy(status: int, message: str, retry_after: float | None) -> RetryableError | None:
    """The error of an endpoint that may answer later; null for any other status."""
    throttled = status in _THROTTLED or (status >= 400 and bool(_OVERLOADED.search(message)))
    if not throttled and status not in _BUSY:
        return None
    return RetryableError(f"HTTP {status}: {message}", after=retry_after, throttled=throttled)


def error_message(reply: Mapping[str, Any]) -> str | None:
    """The message of an error reply, with its codes in brackets; null where it has none."""
    body = reply.get("error") or reply.get("message") or reply.get("detail")
    if not isinstance(body, dict) or not body:
        return body if isinstance(body, str | None) else _dumped(body)
    text = _text_of(body)
    codes = dict.fromkeys(str(body[key]) for key in ("code", "type") if isinstance(body.get(key), str | int))
    unsaid = [code for code in codes if text and code not in text]
    return f"{text} [{', '.join(unsaid)}]" if unsaid else text


def _text_of(body: Mapping[str, Any]) -> str | None:
    """What an error says in words, else of which type it is; null for neither."""
    text = body.get("message") or body.get("type")
    return text if isinstance(text, str | None) else _dumped(text)


def _proxy(endpoint: str, host: str) -> str | None:
    """The proxy that the environment names; none on the way to this machine, which it would lead out of."""
    from urllib.request import getproxies, proxy_bypass

    if is_offline() or is_local(host) or proxy_bypass(host):
        return None
    proxy = getproxies().get(urlsplit(endpoint).scheme)
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


async def _body(reply: "aiohttp.ClientResponse") -> bytes:
    chunks, size = [], 0
    async for chunk in reply.content.iter_any():
        size += len(chunk)
        if size > LARGEST:
            raise RejectedError(f"the answer is longer than {LARGEST >> 20} MiB", of_question=True)
        chunks.append(chunk)
    return b"".join(chunks)


def _tls(endpoint: str, error: BaseException) -> str:
    reason = getattr(error, "reason", None) or type(error).__name__
    return (
        f"no safe connection to {endpoint}: its certificate or TLS was not accepted ({reason}). "
        "Install the right certificate authority, or use http:// for a server on this machine."
    )


def _after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, a number or a date; null where it asks for nothing."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            seconds = (moment - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return None
    return seconds if seconds > 0 and not math.isnan(seconds) else None


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        reply = json.loads(raw, cls=Decoder, parse_float=float)
        if b"\\u" in raw:
            reply = without_surrogates(reply)
    except (ValueError, RecursionError):
        return None
    return reply if isinstance(reply, dict) else None


def without_surrogates(value: Any) -> Any:
    """Without halves of surrogate pairs, which no file and no database takes."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_surrogates(v) for v in value]
    if isinstance(value, dict):
        return {_LONE.sub("\ufffd", key): without_surrogates(v) for key, v in value.items()}
    return value


def _code(reply: Mapping[str, Any]) -> int | None:
    """The HTTP status that an error inside another answer states, as a number or its digits."""
    error = reply.get("error")
    for container in (error, reply):
        code = container.get("code") if isinstance(container, dict) else None
        if isinstance(code, int | str) and re.fullmatch(r"[1-5]\d\d", str(code)):
            return int(code)
    return None


def _dumped(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except RecursionError:
        return None


def _error_in_reply(
    reply: Mapping[str, Any], status: int, reason: str, retry_after: float | None
) -> Exception:
    """The error for a reply of status 200 that holds an error, as some endpoints send it."""
    code = _code(reply)
    throttled = code in _THROTTLED or bool(_THROTTLING.search(reason))
    usage = stated_usage(reply)
    taken = None if usage == UNCOUNTED else usage  # an error that states none took nothing
    if throttled or code in _BUSY or _PASSING.search(reason):
        reason = f"an error inside HTTP 200: {reason}"
        return RetryableError(reason, after=retry_after, throttled=throttled, usage=taken)
    error = refusal(reason, status)
    error.usage = taken
    return error


def refusal(why: str, status: int | None = None) -> RejectedError:
    """The error for a request that will never be answered, with its cause in words."""
    detail = why if status is None else f"HTTP {status}: {why}"
    if status == 413 or _TOO_LONG.search(why):
        return RejectedError(f"the question is longer than the model's context ({detail})", of_question=True)
    if _FILTERED.search(why):
        return ContentFilterError(f"withheld by the provider's content filter ({detail})")
    return RejectedError(detail)
