"""SIGTERM ends a command once; a scheduler and a job's script both send it."""

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from vivavoce.core.termination import interrupt_once
from vivavoce.models.engine.interrupts import interruptible


@pytest.fixture(autouse=True)
def same_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGTERM, interrupt_once)
    yield
    signal.signal(signal.SIGTERM, before)


def test_the_first_sigterm_interrupts_and_others_change_nothing() -> None:
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_second_sigterm_inside_the_first_drops_nothing_in_flight() -> None:
    """The scheduler's and the script's may come so close that the handler runs twice."""

    async def interrupts_counted() -> int:
        interrupts: list[int] = []
        with interruptible(lambda: interrupts.append(1)):
            handler = signal.getsignal(signal.SIGTERM)
            assert callable(handler)
            handler(signal.SIGTERM, None)
            handler(signal.SIGTERM, None)
            await asyncio.sleep(0.01)
        return len(interrupts)

    assert 1 == asyncio.run(interrupts_counted())
