"""How often sign-ins from one address may fail."""

from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from threading import Lock

MOST_TRIES, SECONDS = 10, 60.0
MOST_ADDRESSES = 10_000
"""So many addresses are remembered; beyond them the one that failed longest ago is forgotten."""


class SignInLimit:
    """At most 10 failed tries a minute from one address; who signs in costs none. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._lock = clock, Lock()
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """In how many seconds this address may try again, 0 for now."""
        with self._lock:
            failures = self._failures.get(_network(address))
            if not failures or len(failures) < MOST_TRIES:
                return 0
            return max(0, ceil(failures[0] + SECONDS - self._clock()))

    def count_failure(self, address: str) -> None:
        """Count a try of this address that signed nobody in."""
        with self._lock:
            failures = self._failures.setdefault(_network(address), deque(maxlen=MOST_TRIES))
            self._failures.move_to_end(_network(address))
            failures.append(self._clock())
            if len(self._failures) > MOST_ADDRESSES:
                self._failures.popitem(last=False)


def _network(address: str) -> str:
    """What counts as one address: of IPv6 the first 64 bits, since a visitor has all that begin so."""
    try:
        number = ip_address(address)
    except ValueError:
        return address
    if not isinstance(number, IPv6Address):
        return address
    return str(number.ipv4_mapped or ip_network((int(number), 64), strict=False))
