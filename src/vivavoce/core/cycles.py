"""How often Python looks for cycles of objects that nothing reaches.

At its own 700 new objects a verb that reads many rows, which have no cycles, spends a tenth to a fifth of its
time on that; and when a process ends, every object is looked at once more, only to free memory that the
system takes back anyway.
"""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager

RARE = 50_000
"""New objects between two searches."""


@contextmanager
def rare_search() -> Iterator[None]:
    """While the block runs, look for cycles less often; where the caller has turned that off, not at all."""
    thresholds = gc.get_threshold()
    if thresholds[0]:
        gc.set_threshold(max(thresholds[0], RARE), *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def no_search_at_exit() -> None:
    """When this process ends, look at no object again. What `atexit` holds is still called."""
    atexit.register(gc.freeze)
