"""SIGTERM, by which schedulers end a job: the first is Ctrl-C, and those after it change nothing.

A scheduler may send it to all processes of a job while the job's script passes it on: it comes twice.
"""

import signal
from types import FrameType


def interrupt_once(number: int, frame: FrameType | None) -> None:
    """Handle the first SIGTERM as Ctrl-C: raise `KeyboardInterrupt`, and ignore those after it."""
    ignore_repeats()
    raise KeyboardInterrupt


def ignore_repeats() -> None:
    """Let SIGTERM change nothing from now on. Programs that are started later do not inherit that."""
    signal.signal(signal.SIGTERM, lambda number, frame: None)
