"""The scheduler: workers, attempts, adaptive limits for each endpoint, a price, one way to stop."""

import asyncio
import contextlib
import math
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, wait

from vivavoce.core.errors import EgressError
from vivavoce.core.net import permit
from vivavoce.models.charges import UNCOUNTED, charged
from vivavoce.models.content import checked_reply
from vivavoce.models.engine.attempts import Attempt, AttemptTotals, failed_attempt
from vivavoce.models.engine.budget import Budget
from vivavoce.models.engine.calls import CallOutcome, CompletedCall, Queue
from vivavoce.models.engine.interrupts import interruptible
from vivavoce.models.engine.refusals import RefusalCounter
from vivavoce.models.engine.sources import CallSource, KnownCall, Recall
from vivavoce.models.engine.stop import Stop, within
from vivavoce.models.engine.usage import UsageCounter, Waiting
from vivavoce.models.engine.writing import BatchWriter, Store
from vivavoce.models.prompt_cuts import with_prompt_cut
from vivavoce.models.ranges import TIMEOUT_TOTAL_S
from vivavoce.models.rate_limit import RateLimiter
from vivavoce.models.requests import Model, Reply, Request, Usage

WAKE_S = 0.1
"""Seconds between two looks for Ctrl-C while another thread asks."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second attempt, at most; doubled each time up to the longest."""
LONGEST_AFTER = 600.0
"""Longest Retry-After in seconds that is respected."""
SILENCE_S = 5.0
"""Seconds without a reply after which an endpoint is named as the one that is waited for."""
CLOCK_S = 0.001
"""Seconds by which a timer may ring early."""
MAX_CAUSES = 100
"""Causes of failure that are counted apart; endpoints put numbers of requests into theirs."""


def ask(
    queues: Sequence[Queue],
    store: Store,
    *,
    recall: Recall | None = None,
    max_cost: float | None = None,
    spent: float = 0.0,
    progress: Callable[[UsageCounter], None] | None = None,
    tally: UsageCounter | None = None,
    timeout_total: float = TIMEOUT_TOTAL_S,
    refusals: RefusalCounter | None = None,
) -> UsageCounter:
    """Ask everything, several models side by side, and hand the outcomes to `store` as they come.

    `store` gets up to 16 at a time, 50 ms after the first of them came at the latest, and what it has not
    stored does not count. Memory does not grow with the number of calls, which may come from a generator.
    `recall` is given some of them at a time and may return the stored outcomes of equal requests: these count
    at cost 0 and nothing is sent; a stored failure is requested again. `store`, `recall` and generators are
    called in a thread of their own, one at a time, `progress` in that of the event loop.

    Ctrl-C or SIGTERM lets requests in flight finish, a second Ctrl-C drops them. A model that cannot be asked
    at all (a refused key, no host, offline) is given up, and so is one that three requests in a row find to
    fail for the same reason, or twenty for any (`RefusalCounter`; given `refusals` go on counting those of
    earlier calls): its other calls are remaining, not failed. What was sent to it is stored all the same.

    A request takes `timeout_total` seconds at most, over all its attempts and the waits between them; waits
    for our own limits do not count, nor do models of this process. `progress` is also called while nothing
    comes, once a second, with the endpoints in `waiting`.

    With `max_cost` no request is sent that would pass it, including what was `spent` before. The cost of a
    request is estimated by the mean so far (before the first reply, by the text sent and `max_tokens`).
    Requests in flight are still paid, and a reply without token counts counts by its characters.

    Raises what `store`, `recall` or a generator raises, once nothing is in flight; a given `tally` then holds
    the counts up to there. Where an event loop runs already, as in a notebook, another one runs in a thread.
    """
    tally = UsageCounter() if tally is None else tally
    scheduler = _Scheduler(
        store,
        recall,
        progress,
        max_cost=max_cost,
        spent=spent,
        tally=tally,
        refusals=RefusalCounter() if refusals is None else refusals,
        timeout_total=timeout_total,
    )
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


class _Scheduler:
    def __init__(
        self,
        store: Store,
        recall: Recall | None,
        progress: Callable[[UsageCounter], None] | None,
        *,
        max_cost: float | None,
        spent: float,
        tally: UsageCounter,
        refusals: RefusalCounter,
        timeout_total: float,
    ) -> None:
        self.store, self.recall, self.progress, self.tally = store, recall, progress, tally
        self.refusals, self.timeout_total = refusals, timeout_total
        self.stop = Stop(tally.stopped)
        self.budget = Budget(max_cost, spent, tally, self.stop)
        self.limiters: dict[str, RateLimiter] = {}
        self.in_flight: dict[tuple[str, str, int], asyncio.Future[CallOutcome | None]] = {}
        self.sent: Counter[str] = Counter()
        """By model, requests on the wire."""
        self.settled = asyncio.Event()
        self.begun: dict[object, tuple[str, float]] = {}
        """Requests without an outcome: their endpoint, and when their first attempt began."""
        self.heard_at: dict[str, float] = {}
        self.error: BaseException | None = None
        self.reported_at = 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        self.workers: list[asyncio.Task[None]] = []
        self.sources: list[CallSource] = []

    async def run(self, queues: Sequence[Queue]) -> UsageCounter:
        self.loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "viva-store") as thread:
            self.writer = BatchWriter(
                self.store, thread, on_stored=self._on_stored, on_error=self._on_unstored
            )
            await self._run(queues, thread)
            if self.error:
                raise self.error
            for source in self.sources:
                self.tally.remaining += await source.remaining()
        self._report(last=True)
        return self.tally

    async def _run(self, queues: Sequence[Queue], thread: Executor) -> None:
        """Return when nothing is on the wire and all that came is stored."""
        for queue in queues:
            source = CallSource(queue, self.recall, thread)
            self.sources.append(source)
            limiter = self.limiters.setdefault(queue.model.endpoint, RateLimiter(queue.limits))
            self.workers += [
                asyncio.create_task(self._worker(queue, source, limiter))
                for _ in range(queue.limits.concurrency)
            ]
        watch = asyncio.create_task(self._watch())
        with interruptible(self._on_interrupt):
            try:
                await asyncio.gather(*self.workers, return_exceptions=True)
            finally:
                watch.cancel()
                await self.writer.flush()
                for queue in queues:
                    await self._close(queue.model)
                del self.writer  # it holds us, and with us the caller's lease
        self.tally.waiting = ()

    async def _close(self, model: Model) -> None:
        try:
            await model.close()
        except Exception as error:  # of a plugin: what went wrong before it counts
            self._fail(error)

    async def _worker(self, queue: Queue, source: CallSource, limiter: RateLimiter) -> None:
        model = queue.model
        try:
            while not self.stop.has_ended(model.name):
                taken = await source.next()
                if taken is None:
                    return
                outcome = None
                try:
                    outcome = await self._outcome(queue, taken, limiter)
                finally:
                    self.tally.remaining += outcome is None
                if outcome is not None:
                    self.heard_at[model.endpoint] = time.monotonic()
                    self.writer.put(CompletedCall(model, taken.call, outcome))
                    await self.writer.room()
        except Exception as error:  # of the caller's: a generator that breaks
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.error = self.error or error
        self.stop.end()

    def _on_stored(self, completed: CompletedCall) -> None:
        """Count an outcome, and forget it: from now on equal requests are recalled."""
        model, call, outcome = completed
        if outcome.reply is not None and not outcome.shared:  # a failed call may be on the wire again
            self.in_flight.pop((model.name, call.request.key, call.repeat), None)
        for source in self.sources:
            source.on_stored(completed)
        self._count(outcome)
        if self.error is None:
            try:
                self._report()
            except Exception as error:  # of the caller's
                self._fail(error)

    def _on_unstored(self, error: BaseException, n: int) -> None:
        self.tally.remaining += n
        self._fail(error)

    async def _outcome(self, queue: Queue, taken: KnownCall, limiter: RateLimiter) -> CallOutcome | None:
        """The outcome of a call, or of an equal one that is known or on the wire; null if it was given up."""
        call, recalled = taken
        if recalled is not None and recalled.reply is not None:
            return self._shared(recalled)
        key = (queue.model.name, call.request.key, call.repeat)
        if (equal_call := self.in_flight.get(key)) is not None:
            outcome = await asyncio.shield(equal_call)
            if outcome is None or outcome.fatal:
                return None
            if outcome.reply is not None:
                return self._shared(outcome)
            return outcome._replace(attempts=0, cost=None, unusable=Usage())
        future = self.in_flight[key] = asyncio.get_running_loop().create_future()
        outcome = None
        try:
            outcome = await self._attempts(queue, call.request, limiter)
            return outcome
        finally:
            future.set_result(outcome)
            if outcome is None or outcome.reply is None:  # else it stays until it can be recalled
                del self.in_flight[key]

    def _shared(self, outcome: CallOutcome) -> CallOutcome:
        """The outcome of an equal call, which costs nothing more."""
        self.tally.shared += 1
        return outcome._replace(cost=0.0, shared=True)

    async def _attempts(self, queue: Queue, request: Request, limiter: RateLimiter) -> CallOutcome | None:
        """The outcome after as many attempts as the limits allow; null if the model was given up before.

        If a reply came that could not be used, the request has failed then: what it took is not lost.
        """
        model, token, taken = queue.model, object(), AttemptTotals()
        total = self.timeout_total if model.place else math.inf
        used, reason = 0.0, ""
        try:
            while result := await self._worded_attempt(queue, request, limiter, token, total - used):
                taken.add(result)
                used += result.seconds
                wait = _backoff(taken.attempts, result.retry_after)
                if result.done:
                    break
                if used + wait >= total - CLOCK_S:
                    reason = f"; another attempt would pass the {total:g} s of a request (--timeout-total)"
                    break
                if taken.attempts == queue.limits.attempts:
                    break
                self.tally.retries += 1
                await self.stop.pause(wait, model.name)
                used += wait
            else:
                reason = "; no other attempt was made"
        finally:
            self.begun.pop(token, None)
        if taken.last is None or (result is None and not taken.charged):
            return None
        return self._ended(model, taken, taken.last, reason)

    def _ended(self, model: Model, taken: AttemptTotals, last: Attempt, reason: str) -> CallOutcome:
        """The outcome of a request after its last attempt; `reason` there is no other one."""
        error = last.error
        if error is not None and not last.fatal:
            self.refusals.on_failure(model.name, error, last.kind)
        if not last.done:
            error = f"{error}{reason}, after {taken.attempts} attempt{'s' * (taken.attempts > 1)}"
        return CallOutcome(
            last.reply,
            error,
            taken.attempts,
            last.seconds,
            taken.cost,
            last.refused,
            last.fatal,
            unusable=taken.unusable,
        )

    async def _worded_attempt(
        self, queue: Queue, request: Request, limiter: RateLimiter, token: object, seconds: float
    ) -> Attempt | None:
        """One attempt, in other words where the endpoint wants them; null if the model is given up."""
        result = await self._paid_attempt(queue, request, limiter, token, seconds)
        if result is None or not result.at_once or result.unusable is not None:
            return result
        resent = await self._paid_attempt(queue, request, limiter, token, seconds - result.seconds)
        if resent is not None:
            resent.seconds += result.seconds
        return resent

    async def _paid_attempt(
        self, queue: Queue, request: Request, limiter: RateLimiter, token: object, seconds: float
    ) -> Attempt | None:
        """One attempt, for which money is booked while it runs; null if the model is given up."""
        price = await self.budget.price_of(queue, request)
        if price is None:
            return None
        with self.budget.reservation(price):
            return await self._attempt(queue, request, limiter, token, seconds)

    async def _attempt(
        self, queue: Queue, request: Request, limiter: RateLimiter, token: object, seconds: float
    ) -> Attempt | None:
        """One attempt of at most `seconds`, in a slot of the endpoint; null if the model is given up."""
        model = queue.model
        await limiter.enter()
        sent = time.monotonic()
        try:
            await self.stop.pause(limiter.starts(request, sent) - sent, model.name)
            await self._undoubted(model)
            if self.stop.has_ended(model.name):
                return None
            sent = time.monotonic()
            if model.place:
                self.begun.setdefault(token, (model.endpoint, sent))
            self.sent[model.name] += 1
            try:
                reply = await within(seconds, self._send(model, request))
            finally:
                self.sent[model.name] -= 1
        except EgressError as error:  # nothing was sent
            self.stop.give_up(model.name, str(error))
            return None
        except Exception as error:
            failed = failed_attempt(model, error)
            if failed.fatal:
                self.stop.give_up(model.name, str(error))
            if failed.unusable is not None:
                failed.cost = self.budget.pay_unusable(queue, request, failed.unusable)
            failed.seconds = time.monotonic() - sent
            if failed.kind == "throttled":
                limiter.on_overload(sent, time.monotonic())
            return failed
        else:
            limiter.on_success()
            self.refusals.on_reply(model.name)
            cost = self.budget.pay(queue, request, reply)
            return Attempt(time.monotonic() - sent, reply=reply, cost=cost)
        finally:
            limiter.leave()
            self.settled.set()
            self.settled = asyncio.Event()

    async def _send(self, model: Model, request: Request) -> Reply:
        if model.place:
            permit(model.place)
            self.tally.traffic.sent(model.endpoint, request.characters)
        if request.kind != "generate":
            return await model.loglikelihood(request)
        reply = await model.generate(request)
        with charged(reply.usage if isinstance(reply, Reply) else UNCOUNTED):
            return with_prompt_cut(checked_reply(reply), request)

    async def _undoubted(self, model: Model) -> None:
        """Return when the model may be asked; where it cannot work, it is given up.

        Refusals come faster than replies: while a request is on the wire whose reply may show that the model
        works, nothing more is sent, and it is not given up.
        """
        while reason := self.refusals.why_given_up(model.name, model.endpoint):
            if not self.sent[model.name]:
                self.stop.give_up(model.name, reason)
            if self.stop.has_ended(model.name):
                return
            await self.settled.wait()

    async def _watch(self) -> None:
        """Report once a second which endpoints are waited for, while nothing comes from them."""
        try:
            while True:
                await asyncio.sleep(1.0)
                previous, self.tally.waiting = self.tally.waiting, self._waited_for(time.monotonic())
                if previous or self.tally.waiting:
                    self._report(last=True)
        except Exception as error:  # of the caller's
            self._fail(error)

    def _waited_for(self, time_s: float) -> tuple[Waiting, ...]:
        begun: dict[str, list[float]] = {}
        for endpoint, start_s in self.begun.values():
            begun.setdefault(endpoint, []).append(start_s)
        return tuple(
            Waiting(endpoint, len(times), time_s - min(times))
            for endpoint, times in begun.items()
            if time_s - max(min(times), self.heard_at.get(endpoint, 0.0)) >= SILENCE_S
        )

    def _count(self, outcome: CallOutcome) -> None:
        if outcome.fatal:
            self.tally.remaining += 1
        elif outcome.reply is None:
            causes, cause = self.tally.causes, outcome.error or "no cause"
            self.tally.failed += 1
            causes[cause if cause in causes or len(causes) < MAX_CAUSES else "other causes"] += 1
        else:
            self.tally.answered += 1

    def _report(self, *, last: bool = False) -> None:
        time_s = time.monotonic()
        if self.progress and (last or time_s - self.reported_at > 0.1):
            self.reported_at = time_s
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
        self.stop.end()


def _backoff(attempt: int, after: float | None) -> float:
    """Full jitter: anywhere up to the doubled wait, so that a crowd does not come back together.

    A Retry-After is kept to, and some jitter comes on top.
    """
    if after is not None:
        return min(after, LONGEST_AFTER) + random.uniform(0, FIRST_WAIT)
    return random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))
