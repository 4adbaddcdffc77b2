"""The names under which a server answers: another name is another site, or one that took our address."""

from collections.abc import Collection
from ipaddress import ip_address

FOREIGN_FORM = (
    "This form comes from a page of another site: open the link itself, and send the form from there."
)
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


def origin_error(headers: Collection[tuple[bytes, bytes]], names: Collection[str]) -> str | None:
    """The sentence for a form that another site's page sends (status 403), null for one of our own pages.

    Browsers say where a form comes from: in `Sec-Fetch-Site`, older ones in `Origin` alone. Programs say
    nothing.
    """
    sites, origins, hosts = (
        [value.decode("latin-1").strip().lower() for key, value in headers if key == name]
        for name in (b"sec-fetch-site", b"origin", b"host")
    )
    is_ours = all(site in ("same-origin", "none") for site in sites) and all(
        (bool(sites) and origin == "null") or _is_own(origin, hosts[0], names) for origin in origins
    )
    return None if is_ours else FOREIGN_FORM


def _is_own(origin: str, host: str, names: Collection[str]) -> bool:
    """Whether an origin is this server by name and port; a proxy may ask for it by a name of loopback."""
    scheme, _, address = origin.partition("://")
    default = ":443" if scheme == "https" else ":80"
    if address.removesuffix(default) == host.removesuffix(default):
        return True
    return host_name(host) in LOOPBACK and host_name(address) in set(names) - LOOPBACK


def host_error(headers: Collection[tuple[bytes, bytes]], names: Collection[str]) -> str | None:
    """The sentence for a request under a foreign name (status 403), null for one of ours.

    A page of a stranger can point its own name at this machine (DNS rebinding): the browser then takes our
    answers for the stranger's. The `Host` header still says what the browser asked for.
    """
    asked_for = [value.decode("latin-1") for key, value in headers if key == b"host"]
    if len(asked_for) == 1 and host_name(asked_for[0]) in names:
        return None
    return f"This server answers as {' or '.join(sorted(names))} only: open the address it printed."
