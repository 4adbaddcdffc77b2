"""How much one endpoint is asked at once and per minute, following what it bears."""

import asyncio
import math
from collections import deque
from typing import NamedTuple

from vivavoce.models import Request

__all__ = ["Gate", "Limits", "Rate"]

A_MOMENT = 1.0
"""Seconds between two cuts of a limit, at least."""


class Limits(NamedTuple):
    """What an endpoint may be asked; a null rate is no limit of ours. `attempts` is per request, at most."""

    concurrency: int = 64
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    attempts: int = 6


class Gate:
    """How much of an endpoint may be on the wire: half after it said "too much", one more per round that went
    well; and when the next request may start, where it has rates.
    """

    def __init__(self, limits: Limits) -> None:
        self.ceiling = limits.concurrency
        self.limit = float(limits.concurrency)
        self.active = 0
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.cut_at = -math.inf
        self.requests, self.tokens = _rate(limits.requests_per_minute), _rate(limits.tokens_per_minute)

    async def enter(self) -> None:
        """Wait for a place, which is then taken."""
        if self.active < int(self.limit):
            self.active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the place was given in the moment of being cancelled
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place back, to those who wait."""
        self.active -= 1
        while self.waiting and self.active < int(self.limit):
            turn = self.waiting.popleft()
            if not turn.done():
                self.active += 1
                turn.set_result(None)

    def starts(self, request: Request, now: float) -> float:
        """When this request may start by the rates; it is counted."""
        at = now
        if self.requests:
            at = max(at, self.requests.starts(1, now))
        if self.tokens:
            at = max(at, self.tokens.starts(_tokens(request), now))
        return at

    def bore(self) -> None:
        """It went well."""
        self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)

    def groaned(self, sent: float, now: float) -> None:
        """Too much. What was sent before the last cut, or comes a moment after, says nothing new."""
        if sent > self.cut_at and now - self.cut_at >= A_MOMENT:
            self.limit, self.cut_at = max(1.0, self.limit / 2), now


class Rate:
    """So much a second on average, with a second's worth at once."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self.free_at = -math.inf

    def starts(self, amount: float, now: float) -> float:
        """When so much may start; it is counted."""
        at = max(self.free_at, now - 1.0)
        self.free_at = at + amount / self.per_second
        return max(at, now)


def _rate(per_minute: int | None) -> Rate | None:
    return None if per_minute is None else Rate(per_minute / 60)


def _tokens(request: Request) -> int:
    return request.characters // 4 + (request.sampling.max_tokens or 0)
