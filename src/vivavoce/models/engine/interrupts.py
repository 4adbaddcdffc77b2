"""Ctrl-C and SIGTERM while an event loop asks: it is told, and ends by itself."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def interruptible(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """While the block runs, Ctrl-C calls `on_interrupt` in the event loop; so does SIGTERM in our commands.

    In a thread other than the main one signals do not arrive, and on Windows the loop itself cancels us.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    terminates = signal.getsignal(signal.SIGTERM) is signal.default_int_handler  # as our commands set it
    try:
        loop.add_signal_handler(signal.SIGINT, on_interrupt)
        if terminates:
            loop.add_signal_handler(signal.SIGTERM, on_interrupt)
    except NotImplementedError:
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        if terminates:
            loop.remove_signal_handler(signal.SIGTERM)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
