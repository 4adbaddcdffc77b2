"""One HTTP exchange with an endpoint, and what its failure means."""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vivavoce.errors import ModelError
from vivavoce.models import Broken, Refused, Transient
from vivavoce.models.keys import scrubbed
from vivavoce.net import is_local, is_offline, permit
from vivavoce.text import one_line, printable

if TYPE_CHECKING:
    import aiohttp

__all__ = ["Filtered", "Wire", "whole"]

LARGEST = 64 << 20
"""Bytes of an answer at most, unpacked; a stream without end must not fill the memory."""
LONG_KEY = 16
"""Characters from which a key is struck out of answers too; a dummy such as EMPTY is a word."""

_BUSY = {408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}
_THROTTLED = {429, 503, 529}
_TOO_LONG = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long", re.I
)
_FILTERED = re.compile(r"content[ _-]?(?:filter|management|policy)|responsible ?ai|\bflagged\b", re.I)
_PENNILESS = re.compile(r"insufficient[_ ](?:quota|balance|credit)|credit balance is too low", re.I)
_THROTTLING = re.compile(r"rate[_ -]?limit|too many requests|overload|\b(?:429|503|529)\b", re.I)
_PASSING = re.compile(r"unavailable|time[d ]*out|internal|server.?error|capacity|busy|try again", re.I)
_LONE = re.compile("[\ud800-\udfff]")


class Filtered(Refused):
    """The provider withheld the question or the answer."""


class Wire:
    """Connections to one base URL. Made in an event loop and closed there.

    A query in the base URL, such as `?api-version=…`, follows each path. `secrets` are struck out of whatever
    comes back. Raises `Broken` for what is no http or https URL, or holds a user or password.
    """

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        timeout: float,
        secrets: tuple[str, ...] = (),
    ) -> None:
        try:
            parts = urlsplit(base_url)
            host, _ = parts.hostname or "", parts.port
        except ValueError:  # a port or an IPv6 address that is none
            host = ""
        if "@" in base_url.partition("?")[0]:
            raise Broken("a base URL holds a user or password: take it out, keys come from the environment.")
        if not host or parts.scheme not in ("http", "https"):
            shown = base_url.partition("?")[0]
            raise Broken(f"{shown!r} is no URL of an endpoint: write https://host/v1.")
        self.host = host
        self.endpoint = f"{parts.scheme}://{parts.netloc}"
        self._base, self._query = f"{self.endpoint}{parts.path.rstrip('/')}", parts.query
        self._headers, self._secrets = dict(headers), tuple(s for s in secrets if s)
        self._timeout, self._patience = timeout, min(30.0, timeout)
        self._session: aiohttp.ClientSession | None = None
        self._reached = False

    def _opened(self) -> "aiohttp.ClientSession":
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                # no limit here, where waiting would count as the endpoint's silence: the gate has limits
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=30),
                timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=self._patience),
                headers=self._headers,
                cookie_jar=aiohttp.DummyCookieJar(),
                # not trust_env: it would also put what ~/.netrc holds in place of the key
                proxy=_proxy(self.endpoint, self.host),
            )
        return self._session

    async def post(self, path: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON object that the endpoint answers. Raises `Transient`, `Refused` or `Broken`."""
        permit(self.host)
        shown = f"{self._base}/{path}" if path else self._base
        url = f"{shown}?{self._query}" if self._query else shown
        fault: Exception
        try:
            # A redirect is not followed: it would carry the question, and the key, to another host.
            async with self._opened().post(url, json=payload, allow_redirects=False) as answer:
                raw = await _body(answer)
                status, after = answer.status, _after(answer.headers.get("Retry-After"))
        except (ModelError, Refused):
            raise
        except Exception as error:
            fault = self._fault(error, shown)
        else:
            self._reached = True
            return self._understood(shown, status, raw, after)
        raise fault  # out here, because the library's own error holds the headers, and with them the key

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _fault(self, error: Exception, shown: str) -> Exception:
        import aiohttp

        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Transient(f"{self.endpoint} cannot be reached (no connection within {self._patience:g} s)")
        if isinstance(error, TimeoutError):
            return Transient(f"no answer within {self._timeout:g} s")
        if isinstance(error, aiohttp.InvalidURL):
            return Broken(f"{shown} is no URL: mend base_url.")
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return Broken(_tls(self.endpoint, error.certificate_error))
        if isinstance(error, aiohttp.ClientConnectorSSLError):
            return Broken(_tls(self.endpoint, error.os_error))
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            if self._reached:  # it was there a moment ago
                return Transient(f"the host {self.host!r} cannot be found any more")
            return Broken(f"no host {self.host!r} can be found: check base_url and the network.")
        if isinstance(error, aiohttp.ClientHttpProxyError):
            return Transient(f"the proxy did not connect us to {self.endpoint} (HTTP {error.status})")
        if isinstance(error, aiohttp.ClientConnectorError):
            why = error.os_error.strerror or type(error.os_error).__name__
            return Transient(f"{self.endpoint} cannot be reached ({one_line(why, 100)})")
        if isinstance(error, aiohttp.ClientError | OSError):
            return Transient(f"the connection broke ({type(error).__name__})")
        return Refused(f"the request cannot be sent ({type(error).__name__})")

    def _understood(self, shown: str, status: int, raw: bytes, after: float | None) -> dict[str, Any]:
        for secret in self._secrets:
            if len(secret) >= LONG_KEY:
                raw = raw.replace(secret.encode(), b"[key]")
        answer = _parsed(raw)
        why = self._said(answer, raw) if status != 200 or answer is None or answer.get("error") else ""
        if status == 402 or (status != 200 and _PENNILESS.search(why)):
            raise Broken(f"{self.endpoint}: the account has no credit left (HTTP {status}: {why}).")
        if status in _BUSY:
            raise Transient(f"HTTP {status}: {why}", after=after, throttled=status in _THROTTLED)
        if 300 <= status < 400:
            raise Broken(
                f"{shown} sends us elsewhere (HTTP {status}); redirects are not followed: mend base_url."
            )
        if status in (401, 403) and not _FILTERED.search(why):
            raise Broken(f"{shown} refuses the key (HTTP {status}): {why}.")
        if status in (404, 405):
            raise Broken(
                f"{shown} has no such model or path (HTTP {status}): {why}. Check the name and base_url."
            )
        if status >= 400:
            raise _refusal(why, status)
        if answer is None:
            raise Transient("the answer is no JSON object" if raw.strip() else "the answer is empty")
        if answer.get("error"):  # some endpoints answer 200 and mean an error
            code = _code(answer)
            throttled = code in _THROTTLED or bool(_THROTTLING.search(why))
            if throttled or code in _BUSY or _PASSING.search(why):
                raise Transient(f"an error inside HTTP 200: {why}", after=after, throttled=throttled)
            raise _refusal(why, status)
        return answer

    def _said(self, answer: Any, raw: bytes) -> str:
        """What an error body says, on one short line, without anything that looks like a key."""
        text = None
        if isinstance(answer, dict):
            body = answer.get("error") or answer.get("message") or answer.get("detail")
            named = body if isinstance(body, dict) else {}
            text = (named.get("message") or named.get("type")) if named else body
            if text is not None and not isinstance(text, str):
                text = _dumped(text)
            codes = [str(named[k]) for k in ("code", "type") if isinstance(named.get(k), str | int)]
            codes = [code for code in dict.fromkeys(codes) if text and code not in text]
            text = f"{text} [{', '.join(codes)}]" if codes else text
        text = text or raw[:400].decode("utf-8", "replace") or "no explanation"
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return one_line(scrubbed(printable(text)), 200)


def _proxy(endpoint: str, host: str) -> str | None:
    """The proxy that the environment names; none on the way to this machine, which it would lead out of."""
    from urllib.request import getproxies, proxy_bypass

    if is_offline() or is_local(host) or proxy_bypass(host):
        return None
    stated = getproxies().get(urlsplit(endpoint).scheme)
    return stated if not stated or "://" in stated else f"http://{stated}"


async def _body(answer: "aiohttp.ClientResponse") -> bytes:
    chunks, size = [], 0
    async for chunk in answer.content.iter_any():
        size += len(chunk)
        if size > LARGEST:
            raise Refused(f"the answer is longer than {LARGEST >> 20} MiB")
        chunks.append(chunk)
    return b"".join(chunks)


def _tls(endpoint: str, error: BaseException) -> str:
    why = getattr(error, "reason", None) or type(error).__name__
    return (
        f"no safe connection to {endpoint}: its certificate or TLS was not accepted ({why}). "
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
            then = parsedate_to_datetime(value)
            then = then if then.tzinfo else then.replace(tzinfo=UTC)
            seconds = (then - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError, OverflowError):
            return None
    return seconds if seconds > 0 and not math.isnan(seconds) else None


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(raw)
        if b"\\u" in raw:
            answer = whole(answer)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def whole(value: Any) -> Any:
    """Without halves of surrogate pairs, which no file and no database takes."""
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [whole(v) for v in value]
    if isinstance(value, dict):
        return {_LONE.sub("\ufffd", key): whole(v) for key, v in value.items()}
    return value


def _code(answer: Mapping[str, Any]) -> int | None:
    """The HTTP status that an error inside another answer states, as a number or its digits."""
    error = answer.get("error")
    for held in (error, answer):
        code = held.get("code") if isinstance(held, dict) else None
        if isinstance(code, int | str) and re.fullmatch(r"[1-5]\d\d", str(code)):
            return int(code)
    return None


def _dumped(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except RecursionError:
        return None


def _refusal(why: str, status: int) -> Refused:
    """The error for a request that will never be answered, with its cause in words."""
    if status == 413 or _TOO_LONG.search(why):
        return Refused(f"the question is longer than the model's context (HTTP {status}: {why})")
    if _FILTERED.search(why):
        return Filtered(f"withheld by the provider's content filter (HTTP {status}: {why})")
    return Refused(f"HTTP {status}: {why}")
