"""SIGTERM ends a command once; a scheduler and a job's script both send it."""

import os
import signal
from collections.abc import Iterator

import pytest

from vivavoce.core.termination import interrupt_once


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
