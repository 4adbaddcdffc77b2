"""The scheduler: workers, attempts, adaptive limits for each endpoint, a price, one way to stop."""

import asyncio
import contextlib
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from vivavoce.core.errors import ModelError
from vivavoce.core.net import permit
from vivavoce.core.text import one_line
from vivavoce.models.content import check_reply
from vivavoce.models.engine.calls import Call, CallOutcome, Queue, UsageCounter
from vivavoce.models.rate_limit import RateLimiter
from vivavoce.models.requests import Model, RejectedError, Reply, Request, RetryableError

WAKE_S = 0.1
"""Seconds between two looks for Ctrl-C while another thread asks."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second attempt, at most; doubled each time up to the longest."""
LONGEST_AFTER = 600.0
"""Longest Retry-After in seconds that is respected."""
MAX_FAILURES = 20
"""Failed requests in a row after which a model is given up."""
MAX_CAUSES = 100
"""Causes of failure that are counted apart; endpoints put numbers of requests into theirs."""


def ask(
    queues: Sequence[Queue],
    store: Callable[[Model, Call, CallOutcome], None],
    *,
    recall: Callable[[Model, Call], CallOutcome | None] | None = None,
    max_cost: float | None = None,
    spent: float = 0.0,
    progress: Callable[[UsageCounter], None] | None = None,
    tally: UsageCounter | None = None,
) -> UsageCounter:
    """Ask everything, several models side by side, and hand each outcome to `store` as it comes.

    Memory does not grow with the number of calls, which may come from a generator. `recall` may return the
    stored outcome of an equal request: it counts at cost 0 and nothing is sent; a stored failure is requested
    again. Ctrl-C lets requests in flight finish, a second one drops them. A model that cannot be asked at all
    (no key, no host, offline) keeps its other calls as remaining, not as failed; so does one whose last 20
    requests all failed. Refusals by an endpoint count as failures until its first reply.

    With `max_cost` no request is sent that would pass it, including what was `spent` before. The cost of a
    request is estimated by the mean so far (before the first reply, by the text sent and `max_tokens`).
    Requests in flight are still paid, and a reply without token counts counts by its characters.

    Raises what `store`, `recall` or a generator raises, once nothing is in flight; a given `tally` then holds
    the counts up to there. Where an event loop runs already, as in a notebook, all are called in another
    thread, one at a time.
    """
    scheduler = _Scheduler(store, recall, max_cost, spent, progress)
    scheduler.tally = scheduler.tally if tally is None else tally
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(scheduler.run(queues))
    return _run_in_thread(scheduler, queues)


def _run_in_thread(scheduler: "_Scheduler", queues: Sequence[Queue]) -> UsageCounter:
    """Run the scheduler in a thread of its own; Ctrl-C arrives here and is passed on."""
    with ThreadPoolExecutor(1, "viva-ask") as pool:
        result = pool.submit(lambda: asyncio.run(scheduler.run(queues)))
        while True:
            try:
                # Polars lets SIGINT restart a wait for a lock, so Ctrl-C is only seen between short waits.
                wait([result], timeout=WAKE_S)
                if result.done():
                    return result.result()
            except KeyboardInterrupt:
                scheduler.interrupt()


@dataclass(slots=True)
class _Attempt:
    """What came of one attempt; `done` unless another one may succeed."""

    seconds: float
    reply: Reply | None = None
    error: str | None = None
    cost: float | None = None
    refused: bool = False
    done: bool = True
    retry_after: float | None = None


class _Scheduler:
    def __init__(
        self,
        store: Callable[[Model, Call, CallOutcome], None],
        recall: Callable[[Model, Call], CallOutcome | None] | None,
        max_cost: float | None,
        spent: float,
        progress: Callable[[UsageCounter], None] | None,
    ) -> None:
        self.store, self.recall, self.progress = store, recall, progress
        self.max_cost, self.spent = max_cost, spent
        self.tally = UsageCounter()
        self.limiters: dict[str, RateLimiter] = {}
        self.in_flight: dict[tuple[str, str, int], asyncio.Future[CallOutcome | None]] = {}
        self.replied: set[str] = set()
        self.failures: Counter[str] = Counter()
        self.spending: dict[str, tuple[int, float]] = {}
        self.reserved: dict[object, float] = {}
        self.reservation_ended = asyncio.Event()
        self.stop = asyncio.Event()
        self.error: Exception | None = None
        self.reported_at = 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        self.workers: list[asyncio.Task[None]] = []

    async def run(self, queues: Sequence[Queue]) -> UsageCounter:
        self.loop = asyncio.get_running_loop()
        sources = [iter(queue.calls) for queue in queues]
        for queue, source in zip(queues, sources, strict=True):
            limiter = self.limiters.setdefault(queue.model.endpoint, RateLimiter(queue.limits))
            self.workers += [
                asyncio.create_task(self._worker(queue, source, limiter))
                for _ in range(queue.limits.concurrency)
            ]
        with self._interruptible():
            try:
                await asyncio.gather(*self.workers, return_exceptions=True)
            finally:
                for queue in queues:
                    await queue.model.close()
        if self.error:
            raise self.error
        self.tally.remaining += sum(1 for source in sources for _ in source)
        self._report(last=True)
        return self.tally

    def _ended(self, model: Model) -> bool:
        return self.stop.is_set() or model.name in self.tally.stopped

    async def _worker(self, queue: Queue, source: Iterator[Call], limiter: RateLimiter) -> None:
        # Workers share the iterator: taking from it is one step of the loop, so no two get the same call.
        try:
            while not self._ended(queue.model):
                call = next(source, None)
                if call is None:
                    return
                outcome = None
                try:
                    outcome = await self._outcome(queue, call, limiter)
                finally:
                    self.tally.remaining += outcome is None
                if outcome is not None:
                    self.store(queue.model, call, outcome)
                    self._count(outcome)  # what could not be kept did not come
                    self._report()
        except Exception as error:  # of the caller's: a full disk, a generator that breaks
            self.error = self.error or error
            self.stop.set()

    async def _outcome(self, queue: Queue, call: Call, limiter: RateLimiter) -> CallOutcome | None:
        """The outcome of a call, or of an equal one that is known or on the wire; null if it was given up."""
        recalled = self.recall(queue.model, call) if self.recall else None
        if recalled is not None and recalled.reply is not None:
            self.tally.shared += 1
            return recalled._replace(cost=0.0)
        key = (queue.model.name, call.request.key, call.repeat)
        if (equal_call := self.in_flight.get(key)) is not None:
            outcome = await asyncio.shield(equal_call)
            if outcome is not None and outcome.reply is not None:
                self.tally.shared += 1
                return outcome._replace(cost=0.0)
            return outcome
        future = self.in_flight[key] = asyncio.get_running_loop().create_future()
        outcome = None
        try:
            price = await self._affordable(queue, call.request)
            if price is not None:
                with self._reservation(price):
                    outcome = await self._attempts(queue, call.request, limiter)
            return outcome
        finally:
            future.set_result(outcome)
            del self.in_flight[key]

    async def _attempts(self, queue: Queue, request: Request, limiter: RateLimiter) -> CallOutcome | None:
        """The outcome after as many attempts as the limits allow; null if the model was stopped."""
        model, max_attempts = queue.model, queue.limits.attempts
        result = _Attempt(0.0)
        for attempt in range(1, max_attempts + 1):
            latest = await self._attempt(queue, request, limiter)
            if latest is None:
                return None
            result = latest
            if result.done:
                return CallOutcome(
                    result.reply, result.error, attempt, result.seconds, result.cost, result.refused
                )
            if attempt < max_attempts:
                self.tally.retries += 1
                await self._pause(_backoff(attempt, result.retry_after))
        self._note_failure(model, result.error or "")
        error = f"{result.error}, after {max_attempts} attempt{'s' * (max_attempts > 1)}"
        return CallOutcome(None, error, max_attempts, result.seconds, None)

    async def _attempt(self, queue: Queue, request: Request, limiter: RateLimiter) -> "_Attempt | None":
        """One attempt, in a slot of the endpoint; null if the model was stopped."""
        model = queue.model
        await limiter.enter()
        sent = time.monotonic()
        try:
            await self._pause(limiter.starts(request, sent) - sent)
            if self._ended(model):
                return None
            sent = time.monotonic()
            reply = await self._send(model, request)
        except RetryableError as error:
            if error.throttled:
                limiter.on_overload(sent, time.monotonic())
            return _Attempt(time.monotonic() - sent, error=str(error), done=False, retry_after=error.after)
        except ModelError as error:
            self.tally.stopped.setdefault(model.name, str(error))
            return None
        except Exception as error:
            refused = isinstance(error, RejectedError)
            why = str(error) if refused else _unexpected(error)
            # Once the model has replied, a refusal is due to the question; so is any of a local model.
            if model.name not in self.replied and not (refused and getattr(model, "branching", False)):
                self._note_failure(model, why)
            return _Attempt(time.monotonic() - sent, error=why, refused=refused)
        else:
            limiter.on_success()
            cost = self._pay(queue, request, reply)
            return _Attempt(time.monotonic() - sent, reply=reply, cost=cost)
        finally:
            limiter.leave()

    async def _send(self, model: Model, request: Request) -> Reply:
        if model.place:
            permit(model.place)
            self.tally.traffic.sent(model.endpoint, request.characters)
        if request.kind != "generate":
            return await model.loglikelihood(request)
        reply = await model.generate(request)
        check_reply(reply)
        return reply

    def _note_failure(self, model: Model, why: str) -> None:
        self.failures[model.name] += 1
        if (times := self.failures[model.name]) >= MAX_FAILURES:
            self.tally.stopped.setdefault(
                model.name, f"the last {times} requests to {model.endpoint} all failed; the last one: {why}"
            )

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), seconds)

    async def _affordable(self, queue: Queue, request: Request) -> float | None:
        """What one more request may cost; null, and the model is stopped, if that is too much.

        As long as others are on the wire they may turn out cheaper than was booked for them.
        """
        if self.max_cost is None or queue.price is None:
            return 0.0
        while not self._ended(queue.model):
            requests, cost = self.spending.get(queue.model.name, (0, 0.0))
            price = (
                cost / requests
                if requests
                else _price(request.characters // 4, request.sampling.max_tokens or 0, queue.price)
            )
            spent = self.spent + self.tally.cost + self.tally.guessed
            if spent + sum(self.reserved.values()) + price <= self.max_cost + 1e-9:
                return price
            if self.reserved:
                await self.reservation_ended.wait()
                continue
            self.tally.stopped.setdefault(
                queue.model.name,
                f"another request might pass --max-cost {self.max_cost:g} ({spent:.4f} spent)",
            )
        return None

    @contextlib.contextmanager
    def _reservation(self, price: float) -> Iterator[None]:
        key = object()
        if price:
            self.reserved[key] = price
        try:
            yield
        finally:
            self.reserved.pop(key, None)
            self.reservation_ended.set()
            self.reservation_ended = asyncio.Event()

    def _pay(self, queue: Queue, request: Request, reply: Reply) -> float | None:
        """Count the reply's tokens and cost; returns the cost, null where it is not known."""
        tally, usage, name = self.tally, reply.usage, queue.model.name
        self.replied.add(name)
        self.failures.pop(name, None)
        tally.input_tokens += usage.input or 0
        tally.output_tokens += usage.output or 0
        tally.cut += bool(reply.truncated)
        counted = usage.input is not None and usage.output is not None
        tally.unpriced += not counted or queue.price is None
        if queue.price is None:
            return None
        cost = _price(*_token_counts(request, reply), queue.price)
        requests, before = self.spending.get(name, (0, 0.0))
        self.spending[name] = requests + 1, before + cost
        if not counted:
            tally.guessed += cost
            return None
        tally.cost += cost
        return cost

    def _count(self, outcome: CallOutcome) -> None:
        if outcome.reply is None:
            causes, cause = self.tally.causes, outcome.error or "no cause"
            self.tally.failed += 1
            causes[cause if cause in causes or len(causes) < MAX_CAUSES else "other causes"] += 1
        else:
            self.tally.answered += 1

    def _report(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self.progress and (last or now - self.reported_at > 0.1):
            self.reported_at = now
            self.progress(self.tally)

    def interrupt(self) -> None:
        """Stop the asking; said again, drop what is on the wire. From any thread."""
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # it has just ended
                self.loop.call_soon_threadsafe(self._on_interrupt)

    def _on_interrupt(self) -> None:
        if self.tally.interrupted:
            for worker in self.workers:
                worker.cancel()
        self.tally.interrupted = True
        self.stop.set()

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._on_interrupt)
        except NotImplementedError:  # Windows: the loop itself cancels us
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)


def _backoff(attempt: int, after: float | None) -> float:
    """Full jitter: anywhere up to the doubled wait, so that a crowd does not come back together.

    A Retry-After is kept to, and some jitter comes on top.
    """
    if after is not None:
        return min(after, LONGEST_AFTER) + random.uniform(0, FIRST_WAIT)
    return random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))


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


def _unexpected(error: Exception) -> str:
    return f"the model raised {type(error).__name__}: {one_line(str(error), 160)}"
