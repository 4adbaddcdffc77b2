"""What ends the asking: of one model, of all, or of one request that takes too long."""

import asyncio
import contextlib
import math
from collections.abc import Coroutine, MutableMapping
from typing import Any

from vivavoce.models.requests import Reply, RetryableError


class Stop:
    """Says whether a model may still be asked; `causes` gets, by model, why it is given up."""

    def __init__(self, causes: MutableMapping[str, str]) -> None:
        self._causes = causes
        self._all = False
        self._events: dict[str, asyncio.Event] = {}
        """By model, what its waits end with."""

    def give_up(self, model: str, why: str) -> None:
        """Ask this model no more; the first cause counts."""
        self._causes.setdefault(model, why)
        if event := self._events.get(model):
            event.set()

    def end(self) -> None:
        """Ask no model any more."""
        self._all = True
        for event in self._events.values():
            event.set()

    def has_ended(self, model: str) -> bool:
        """Whether this model is asked no more."""
        return self._all or model in self._causes

    async def pause(self, seconds: float, model: str) -> None:
        """Wait so long, or until the model is asked no more."""
        if seconds > 0 and not self.has_ended(model):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._events.setdefault(model, asyncio.Event()).wait(), seconds)


async def within(seconds: float, attempt: Coroutine[Any, Any, Reply]) -> Reply:
    """The reply, within so many seconds however it drips; `RetryableError` where it takes longer.

    Raises `RuntimeError` where the attempt was cancelled, and not by us.
    """
    try:
        async with asyncio.timeout(None if math.isinf(seconds) else seconds) as limit:
            return await attempt
    except TimeoutError:
        if not limit.expired():
            raise
    except asyncio.CancelledError as error:
        if (task := asyncio.current_task()) is None or task.cancelling():
            raise
        raise RuntimeError("a task of its own was cancelled") from error
    raise RetryableError("no reply came in time")
