"""The names under which a server answers: another name is another site, or one that took our address."""

from collections.abc import Collection
from ipaddress import ip_address

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""What browsers on this machine call it."""


def is_loopback(host: str) -> bool:
    """Whether a host is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(header: str) -> str:
    """The name in a `Host` header, without its port and the brackets of IPv6, in lower case."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def host_error(headers: Collection[tuple[bytes, bytes]], names: Collection[str]) -> str | None:
    """The sentence for a request under a foreign name (status 403), null for one of ours.

    A page of a stranger can point its own name at this machine (DNS rebinding): the browser then takes our
    answers for the stranger's. The `Host` header still says what the browser asked for.
    """
    asked_for = [value.decode("latin-1") for key, value in headers if key == b"host"]
    if len(asked_for) == 1 and host_name(asked_for[0]) in names:
        return None
    return f"This server answers as {' or '.join(sorted(names))} only: open the address it printed."
