"""How the time of a call grows with the length of its text, as an exponent: 1 is linear, 2 a square.

No test asserts seconds: machines differ, and so does one machine from minute to minute. An exponent is the
same on all. It is of CPU time of this thread alone, for another test may have left one at work.
"""

import math
import time
from collections.abc import Callable

STEEPEST = 1.2
"""The largest exponent that counts as linear."""
_ROUNDS = 8
"""How often a pair of lengths that looks steep is measured again before it counts."""
_SCALES = (1, 4, 16)
"""What looks steep is measured again at longer texts: there noise is smaller and a square is larger."""
_CERTAIN_S = 0.03
"""CPU seconds of a reading from which on noise decides nothing, so that no longer text is needed."""


def cpu_s(call: Callable[[], object]) -> float:
    """CPU seconds of one call in this thread."""
    begun = time.thread_time()
    call()
    return time.thread_time() - begun


def growth(
    reader: Callable[[str], object],
    text: Callable[[int], str],
    *,
    small: int = 1_000,
    large: int = 8_000,
    floor_s: float = 0.001,
) -> float:
    """The exponent of n that the time to read `text(n)` grows with.

    What looks steep is measured again at four and at sixteen times the lengths `small` and `large`, unless
    a reading takes `_CERTAIN_S`; the smallest exponent counts. 0 where the large text is read in less than
    `floor_s` seconds.
    """
    cpu_s(lambda: reader(text(50)))  # patterns are compiled when they are first used

    def seconds(size: int) -> float:
        written = text(size)
        return cpu_s(lambda: reader(written))

    smallest = math.inf
    for scale in _SCALES:
        long_s = seconds(large * scale)
        if long_s < floor_s:
            return 0.0
        smallest = min(smallest, _exponent(seconds, small * scale, large * scale, long_s))
        if smallest <= STEEPEST or long_s > _CERTAIN_S:
            break
    return round(smallest, 2)


def _exponent(seconds: Callable[[int], float], small: int, large: int, long_s: float) -> float:
    """The exponent at two lengths: of the fastest readings, in as many rounds as it looks steep."""
    short_s, exponent = math.inf, 0.0
    for n in range(_ROUNDS):
        # other lengths each time: what was read once may be remembered
        short_s = min(short_s, seconds(small + 40 * n), seconds(small + 40 * n + 20))
        exponent = math.log(long_s / short_s) / math.log(large / small)
        if exponent <= STEEPEST:
            break
        long_s = min(long_s, seconds(large + 100 * n))
    return exponent
