"""Adaptive concurrency (additive increase, multiplicative decrease) and rate limits for one endpoint."""

import asyncio
import math
from collections import deque
from typing import NamedTuple

from vivavoce.models.requests import Request

CUT_INTERVAL_S = 1.0
"""Seconds between two cuts of a limit, at least."""


class Limits(NamedTuple):
    """Limits on requests to an endpoint; a null rate is unlimited. `attempts` is per request, at most."""

    concurrency: int = 64
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    attempts: int = 6

    def divided(self, shards: int) -> "Limits":
        """What each of so many processes may do, so that all together stay within; 1 at least."""
        return self._replace(
            concurrency=max(1, self.concurrency // shards),
            requests_per_minute=_part(self.requests_per_minute, shards),
            tokens_per_minute=_part(self.tokens_per_minute, shards),
        )


def _part(rate: int | None, shards: int) -> int | None:
    return None if rate is None else max(1, rate // shards)


class RateLimiter:
    """Slots for requests in flight: half as many after an overload, one more after each round of successes.

    Where the endpoint has rates, it also says when the next request may start.
    """

    def __init__(self, limits: Limits) -> None:
        self.ceiling = limits.concurrency
        self.limit = float(limits.concurrency)
        self.active = 0
        self.waiting: deque[asyncio.Future[None]] = deque()
        self.cut_at = -math.inf
        self.requests, self.tokens = _rate(limits.requests_per_minute), _rate(limits.tokens_per_minute)

    async def enter(self) -> None:
        """Wait for a slot, and take it."""
        if self.active < int(self.limit):
            self.active += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the slot arrived as the task was cancelled
                self.leave()
            raise

    def leave(self) -> None:
        """Give the slot back, to the next that waits."""
        self.active -= 1
        while self.waiting and self.active < int(self.limit):
            turn = self.waiting.popleft()
            if not turn.done():
                self.active += 1
                turn.set_result(None)

    def starts(self, request: Request, now: float) -> float:
        """The time at which this request may start by the rates; it is counted."""
        start = now
        if self.requests:
            start = max(start, self.requests.starts(1, now))
        if self.tokens:
            start = max(start, self.tokens.starts(_tokens(request), now))
        return start

    def on_success(self) -> None:
        """Raise the limit a little."""
        self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)

    def on_overload(self, sent: float, now: float) -> None:
        """Halve the limit, unless the request was sent before the last cut or right after it."""
        if sent > self.cut_at and now - self.cut_at >= CUT_INTERVAL_S:
            self.limit, self.cut_at = max(1.0, self.limit / 2), now


class Rate:
    """A rate per second on average, with a second's worth at once."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self.free_at = -math.inf

    def starts(self, amount: float, now: float) -> float:
        """The time at which this amount may start; it is counted."""
        start = max(self.free_at, now - 1.0)
        self.free_at = start + amount / self.per_second
        return max(start, now)


def _rate(per_minute: int | None) -> Rate | None:
    return None if per_minute is None else Rate(per_minute / 60)


def _tokens(request: Request) -> int:
    return request.characters // 4 + (request.sampling.max_tokens or 0)
