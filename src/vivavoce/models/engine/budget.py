"""The cost of requests, and a limit on it that is kept before they are sent."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from vivavoce.models.engine.calls import Queue
from vivavoce.models.engine.stop import Stop
from vivavoce.models.engine.usage import UsageCounter
from vivavoce.models.prompt_cuts import CutPrompts
from vivavoce.models.requests import Reply, Request, Usage


class Budget:
    """What requests cost, counted in `tally`; none may begin that might pass `max_cost`, `spent` included."""

    def __init__(self, max_cost: float | None, spent: float, tally: UsageCounter, stop: Stop) -> None:
        self.max_cost, self.spent, self.tally, self.stop = max_cost, spent, tally, stop
        self.spending: dict[str, tuple[int, float]] = {}
        self.reserved: dict[object, float] = {}
        self.reservation_ended = asyncio.Event()

    async def price_of(self, queue: Queue, request: Request) -> float | None:
        """What one more request may cost; null, and the model is stopped, if that is too much.

        As long as others are on the wire they may turn out cheaper than was booked for them.
        """
        if self.max_cost is None or queue.price is None:
            return 0.0
        while not self.stop.has_ended(queue.model.name):
            price = self._estimate(queue, request, queue.price)
            spent = self.spent + self.tally.cost + self.tally.guessed
            if spent + sum(self.reserved.values()) + price <= self.max_cost + 1e-9:
                return price
            if self.reserved:
                await self.reservation_ended.wait()
                continue
            self.stop.give_up(
                queue.model.name,
                f"another request might pass --max-cost {self.max_cost:g} ({spent:.4f} spent)",
            )
        return None

    @contextmanager
    def reservation(self, price: float) -> Iterator[None]:
        """While the block runs, so much is booked."""
        key = object()
        if price:
            self.reserved[key] = price
        try:
            yield
        finally:
            self.reserved.pop(key, None)
            self.reservation_ended.set()
            self.reservation_ended = asyncio.Event()

    def _estimate(self, queue: Queue, request: Request, rates: tuple[float, float]) -> float:
        """What a request may cost: the mean so far, before the first by the text sent and `max_tokens`."""
        requests, cost = self.spending.get(queue.model.name, (0, 0.0))
        if requests:
            return cost / requests
        return _price(request.characters // 4, request.sampling.max_tokens or 0, rates)

    def pay(self, queue: Queue, request: Request, reply: Reply) -> float | None:
        """Count the reply's tokens and cost; returns the cost, null where it is not known."""
        self.tally.cut += bool(reply.truncated)
        if cut := reply.prompt_cut:
            self.tally.add_cuts({queue.model.name: CutPrompts(1, cut)})
        cost = queue.price and _price(*_token_counts(request, reply), queue.price)
        return self._count(queue, reply.usage, cost)

    def pay_unusable(self, queue: Queue, request: Request, usage: Usage) -> float | None:
        """Count what a reply took that could not be used: by its usage, else as a request is estimated.

        Returns the cost, null where it is not known.
        """
        cost = None
        if queue.price is not None and usage == Usage():
            cost = self._estimate(queue, request, queue.price)
        elif queue.price is not None:
            cost = _price(*_token_counts(request, Reply(text="", usage=usage)), queue.price)
        return self._count(queue, usage, cost)

    def _count(self, queue: Queue, usage: Usage, cost: float | None) -> float | None:
        """Count tokens and a cost, which is only guessed where a count is missing; the cost that is known."""
        tally, name = self.tally, queue.model.name
        tally.input_tokens += usage.input or 0
        tally.output_tokens += usage.output or 0
        counted = usage.input is not None and usage.output is not None
        tally.unpriced += not counted or cost is None
        if cost is None:
            return None
        requests, spent = self.spending.get(name, (0, 0.0))
        self.spending[name] = requests + 1, spent + cost
        if not counted:
            tally.guessed += cost
            return None
        tally.cost += cost
        return cost


def _token_counts(request: Request, reply: Reply) -> tuple[int, int]:
    """Input and output tokens of a reply, estimated from characters where it has no counts."""
    sent, generated = reply.usage
    if sent is None:
        sent = request.characters // 4
    if generated is None:
        generated = request.sampling.max_tokens or len(f"{reply.text}{reply.reasoning}") // 4
    return sent, generated


def _price(input_tokens: int, output_tokens: int, price: tuple[float, float]) -> float:
    return (input_tokens * price[0] + output_tokens * price[1]) / 1e6
