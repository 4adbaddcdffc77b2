"""How often an address may try to sign in."""

from collections import OrderedDict, deque
from collections.abc import Callable
from math import ceil
from threading import Lock

MOST_TRIES, SECONDS = 10, 60.0
MOST_ADDRESSES = 10_000
"""So many addresses are remembered; beyond them the one that tried longest ago is forgotten."""


class SignInLimit:
    """At most 10 tries a minute from one address. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._lock = clock, Lock()
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """Count a try of this address; in how many seconds it may try again, 0 for now.

        A try that is refused does not count: who waits is let in.
        """
        with self._lock:
            moment = self._clock()
            tries = self._tries.setdefault(address, deque(maxlen=MOST_TRIES))
            self._tries.move_to_end(address)
            if len(self._tries) > MOST_ADDRESSES:
                self._tries.popitem(last=False)
            if len(tries) == MOST_TRIES and (wait := tries[0] + SECONDS - moment) > 0:
                return ceil(wait)
            tries.append(moment)
            return 0
