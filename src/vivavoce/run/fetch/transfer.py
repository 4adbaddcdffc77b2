"""One file over HTTP, into a partial file that a later call goes on with.

A redirect is followed by hand, so that the egress guard sees each host and no token goes to another one.
"""

import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urljoin, urlsplit

from vivavoce.core.errors import InputError
from vivavoce.core.net import is_local, is_offline, permit
from vivavoce.core.private_files import create_private
from vivavoce.core.text import one_line, printable

LARGEST = 2 << 30
"""Bytes of one file at most: the largest data set of a benchmark has a tenth of it."""
ATTEMPTS, FIRST_PAUSE_S, PATIENCE_S = 5, 0.5, 60.0
"""How often a file is tried in one call, the pause before the second attempt, which doubles, and the seconds
that a server may say nothing.
"""
_HOPS, _CHUNK = 5, 1 << 20
_REDIRECTS, _BUSY = {301, 302, 303, 307, 308}, {408, 425, 429, 500, 502, 503, 504}


class _CutError(Exception):
    """The connection ended before the file did, or the server is busy: another attempt may do."""


class _StaleError(_CutError):
    """What is here is not the beginning of what the server holds: another attempt begins anew."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None: the answer that redirects is raised, and `_opened` follows it."""


def bring_file(
    url: str,
    part: Path,
    *,
    fixed: bool,
    size: int | None = None,
    token: str | None = None,
    moved: Callable[[int, int], object] = lambda done, total: None,
) -> set[str]:
    """Bring what `url` holds into `part`, going on behind what it has, and return the hosts reached.

    `fixed` says that `url` stands for the same bytes for ever, as at a commit; else only what this call has
    brought is gone on with, and only if the server vouches for it. `size` is the length where it is known.
    `token` goes to the host of `url` alone, and never over plain HTTP to another machine. Raises `InputError`
    with a sentence, `EgressError` for a host that must not be reached.
    """
    create_private(part)
    hosts: set[str] = set()
    validator: str | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
        begun = _begun(part, size) if fixed or validator else 0
        if begun == size:
            return hosts
        try:
            with _opened(url, _asking(begun, validator), token, hosts) as reply:
                validator = _strong(reply.headers.get("ETag"))
                _write(reply, part, begun, size, moved)
            return hosts
        except _StaleError as error:
            os.truncate(part, 0)
            cause: Exception = error
        except (_CutError, http.client.HTTPException, OSError) as error:
            cause = error
    raise InputError(
        f"{_bare(url)} did not come whole in {ATTEMPTS} attempts ({_why(cause)}). The same command goes on "
        f"with it; {part.stat().st_size:,} bytes are here."
    )


def _begun(part: Path, size: int | None) -> int:
    """How much of the file is there; more than all of it is none of it."""
    begun = part.stat().st_size
    return 0 if size is not None and begun > size else begun


def _asking(begun: int, validator: str | None) -> dict[str, str]:
    """The headers that ask for a file, or for what follows the bytes that are here."""
    headers = {"Accept-Encoding": "identity", "User-Agent": "vivavoce"}
    if begun:
        headers["Range"] = f"bytes={begun}-"
        headers |= {"If-Range": validator} if validator else {}
    return headers


@contextmanager
def _opened(url: str, headers: Mapping[str, str], token: str | None, hosts: set[str]) -> Iterator[Any]:
    """The reply to a GET, redirects followed."""
    first = urlsplit(url)
    for _ in range(_HOPS):
        host = _permitted(url, first.hostname or "")
        sent = dict(headers)
        parts = urlsplit(url)
        safe = parts.scheme == "https" or is_local(host)
        if token and safe and (parts.scheme, parts.netloc) == (first.scheme, first.netloc):
            sent["Authorization"] = f"Bearer {token}"
        opener = urllib.request.build_opener(_NoRedirect, *_proxies(host))
        try:
            with opener.open(urllib.request.Request(url, headers=sent), timeout=PATIENCE_S) as reply:
                hosts.add(parts.netloc)
                yield reply
                return
        except urllib.error.HTTPError as error:
            hosts.add(parts.netloc)
            with error:
                target = error.headers.get("Location")
                if error.code not in _REDIRECTS or not target:
                    raise _refusal(url, error.code) from None
                url = urljoin(url, target)
    raise InputError(f"{_bare(url)}: more than {_HOPS} redirects were met; nothing was fetched.")


def _permitted(url: str, first: str) -> str:
    """The host of an address that may be reached. Raises `InputError` or `EgressError`."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https") or parts.username is not None:
        raise InputError(f"{_bare(url)} is no http or https address that can be fetched from.")
    permit(host)
    if is_local(host) and not is_local(first):
        raise InputError(f"{first} sends us to {host}, which is this machine: nothing was fetched.")
    if parts.scheme == "http" and not is_local(host):
        raise InputError(f"{_bare(url)} is no https address: what comes over plain HTTP may be anybody's.")
    return host


def _proxies(host: str) -> list[urllib.request.BaseHandler]:
    """No proxy on the way to this machine, which it would lead out of; else those of the environment."""
    return [urllib.request.ProxyHandler({})] if is_offline() or is_local(host) else []


def _refusal(url: str, status: int) -> Exception:
    """The error that an HTTP status means."""
    if status in _BUSY:
        return _CutError(f"HTTP {status}")
    if status == 416:
        return _StaleError("the server holds less than what is here")
    if status in (401, 403):
        return InputError(
            f"{_bare(url)} refuses us (HTTP {status}): its files are gated. Accept the terms "
            "on the page of the data set, and set HF_TOKEN to a token of the account that did."
        )
    if status in (404, 410):
        return InputError(f"{_bare(url)} is not there (HTTP {status}): check the revision.")
    return InputError(f"{_bare(url)} cannot be fetched (HTTP {status}).")


def _write(reply: Any, part: Path, begun: int, size: int | None, moved: Callable[[int, int], object]) -> None:
    """Write the body behind the bytes that are there, or from the start where the server sends all.

    Raises `_CutError` where less arrives than was announced, `InputError` where more does.
    """
    done = begun if reply.status == 206 else 0
    if reply.status == 206 and not reply.headers.get("Content-Range", "").startswith(f"bytes {begun}-"):
        raise _StaleError("the server sent another part than was asked for")
    total = size if size is not None else _total(reply, done)
    with part.open("r+b") as stream:
        stream.truncate(done)
        stream.seek(done)
        while chunk := reply.read(_CHUNK):
            done += len(chunk)
            _append(stream, chunk, limit=LARGEST if total is None else total)
            moved(done, total or done)
    if total is not None and done < total:
        raise _CutError(f"the connection ended after {done:,} of {total:,} bytes")


def _total(reply: Any, done: int) -> int | None:
    """The size of the file that a reply announces: what it holds behind the bytes that are there.

    Raises `InputError` for more than a file may have.
    """
    length = str(reply.headers.get("Content-Length"))
    total = done + int(length) if length.isdecimal() else None
    if total is not None and total > LARGEST:
        raise InputError(f"{_bare(reply.url)} has {total:,} bytes, more than the {LARGEST:,} of one file.")
    return total


def _append(stream: BinaryIO, chunk: bytes, limit: int) -> None:
    """Write a chunk through, so that a full disk is told from a cut connection. Raises `InputError`."""
    if stream.tell() + len(chunk) > limit:
        raise InputError(f"more than the {limit:,} bytes came that {stream.name} should have: it is refused.")
    try:
        stream.write(chunk)
        stream.flush()
    except OSError as error:
        raise InputError(f"cannot write {stream.name}: {error.strerror or error}.") from None


def _strong(tag: str | None) -> str | None:
    """An ETag that stands for the very bytes; null for a weak one, which does not."""
    return None if tag is None or tag.startswith("W/") else tag


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
    return one_line(printable(str(reason) or type(error).__name__), 120)


def _bare(url: str) -> str:
    """An address without its query, which may hold a signature."""
    return one_line(printable(url.partition("?")[0]), 200)
