"""The egress guard: every connection is seen before a byte leaves.

`permit` is asked by our own client before a name is resolved. A socket audit hook is the second line: it sees
what libraries do on their own, such as the download of a model. Under `offline` both refuse whatever is not
this machine. What does not go through Python's sockets, such as another program, is not seen; the libraries
of the model hub, which have downloaders of that kind, are told to stay offline by their own variables.
"""

import ipaddress
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from vivavoce.core.errors import EgressError


@dataclass
class Traffic:
    """What left this machine in one call, by endpoint: requests, and characters of text sent."""

    requests: dict[str, int] = field(default_factory=dict)
    characters: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What was sent, a row for each endpoint."""
        return [
            {"endpoint": endpoint, "requests": n, "characters": self.characters[endpoint]}
            for endpoint, n in self.requests.items()
        ]

    def sent(self, endpoint: str, characters: int) -> None:
        """Count one request."""
        self.requests[endpoint] = self.requests.get(endpoint, 0) + 1
        self.characters[endpoint] = self.characters.get(endpoint, 0) + characters


_refusing = 0
_hooked = False


def _variable_set() -> bool:
    return os.environ.get("VIVA_OFFLINE", "0") not in ("", "0")


_everywhere = _variable_set()  # at import: before a plugin or a benchmark's file runs


def is_offline() -> bool:
    """True inside `offline()`, and everywhere if VIVA_OFFLINE is set to something other than 0.

    The variable is read when this module is imported. Set later it counts too; once it has counted, nothing
    that changes the environment switches it off.
    """
    global _everywhere
    _everywhere = _everywhere or _variable_set()
    return _refusing > 0 or _everywhere


def is_local(host: str) -> bool:
    """True for this machine: a loopback address, or `localhost`. No other name is resolved to find out."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        # Only an IPv6 address has a zone; any other name with a % is for a resolver, and may lead anywhere.
        literal, percent, _ = name.partition("%")
        address = ipaddress.IPv6Address(literal) if percent else ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def permit(host: str) -> None:
    """Raise `EgressError` if `host` must not be reached now; called before its name is resolved."""
    if is_offline() and not is_local(host):
        raise EgressError(
            f"offline: {host!r} is not this machine, so nothing was sent. Leave --offline out "
            "(or unset VIVA_OFFLINE and start again) to reach it, or name a server on localhost."
        )


@contextmanager
def offline(on: bool = True) -> Iterator[None]:
    """Refuse, while the block runs, every connection that is not to this machine."""
    global _refusing
    previous = {name: os.environ.get(name) for name in _HUB}
    if on or is_offline():
        _watch()
        os.environ.update(dict.fromkeys(_HUB, "1"))
    _refusing += on
    try:
        yield
    finally:
        _refusing -= on
        for name, value in previous.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _watch() -> None:
    global _hooked
    if not _hooked:  # a hook cannot be removed, so it checks each time whether we are offline
        sys.addaudithook(_refuse_remote)
        _hooked = True


_HUB = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
_RESOLVING = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
_REACHING = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def _refuse_remote(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: raise `EgressError` before a socket resolves or reaches a remote host while offline."""
    if not _RESOLVING:  # at exit the interpreter has set the names of this module to None
        return
    if event in _RESOLVING:
        host = arguments[0][0] if isinstance(arguments[0], tuple) else arguments[0]
    elif event in _REACHING:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and address else None  # a path: a Unix socket
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if isinstance(host, str) and host and is_offline() and not is_local(host):
        permit(host)
