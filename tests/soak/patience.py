"""An end to what hangs: an alarm far beyond what anything takes."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class Hung(BaseException):
    """What took longer than our patience. No `Exception`, so that nothing of ours takes it for its own."""


@contextmanager
def patience(seconds: int) -> Iterator[None]:
    """Raise `Hung` inside after so many seconds."""

    def ring(signum: int, frame: object) -> None:
        raise Hung(f"no end within {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
