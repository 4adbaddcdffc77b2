"""Ctrl-C and SIGTERM while an event loop asks: it is told, and ends by itself."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from vivavoce.core.termination import ignore_repeats, interrupt_once


@contextlib.contextmanager
def interruptible(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """While the block runs, each Ctrl-C calls `on_interrupt` in the event loop.

    In our commands so does the first SIGTERM, unless Ctrl-C came before; others change nothing. In a thread
    other than the main one signals do not arrive, and on Windows the loop itself cancels us.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    interrupted = False

    def on_ctrl_c() -> None:
        nonlocal interrupted
        interrupted = True
        on_interrupt()

    def on_termination() -> None:
        nonlocal interrupted
        if not interrupted:  # a second call of `on_interrupt` would drop what is in flight
            interrupted = True
            on_interrupt()

    try:
        loop.add_signal_handler(signal.SIGINT, on_ctrl_c)
    except NotImplementedError:
        yield
        return

    def on_sigterm(number: int, frame: FrameType | None) -> None:
        ignore_repeats()
        loop.call_soon_threadsafe(on_termination)

    # Not by the loop, which leaves SIGTERM to kill us for a moment when it gives the handler back.
    if signal.getsignal(signal.SIGTERM) is interrupt_once:
        signal.signal(signal.SIGTERM, on_sigterm)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGTERM) is on_sigterm:
            signal.signal(signal.SIGTERM, interrupt_once)
        loop.remove_signal_handler(signal.SIGINT)
