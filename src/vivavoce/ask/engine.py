"""How the asking is done: workers, attempts, a limit that follows the endpoint, a price, one way to stop."""

import asyncio
import contextlib
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from vivavoce.ask.work import Answer, Job, Tally, Work
from vivavoce.errors import ModelError
from vivavoce.models import Model, Refused, Reply, Request, Transient
from vivavoce.models.gate import Gate
from vivavoce.net import permit
from vivavoce.text import one_line

__all__ = ["ask"]

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the second attempt at most, doubled each time, and at the very most."""
LONGEST_AFTER = 600.0
"""Seconds that a Retry-After may make us wait."""
HOPELESS = 20
"""Requests in a row that fail, before a model is given up."""
MOST_CAUSES = 100
"""Causes of failure that are told apart; endpoints put numbers of requests into theirs."""


def ask(
    works: Sequence[Work],
    keep: Callable[[Model, Job, Answer], None],
    *,
    recall: Callable[[Model, Job], Answer | None] | None = None,
    max_cost: float | None = None,
    spent: float = 0.0,
    progress: Callable[[Tally], None] | None = None,
    tally: Tally | None = None,
) -> Tally:
    """Ask everything, several models side by side, and hand each outcome to `keep` as it comes.

    Memory does not grow with the number of jobs, which may come from a generator. `recall` may know the
    answer to an equal request: it is kept at cost 0 and nothing is sent; what it knows as a failure is asked.
    Ctrl-C lets what is on the wire finish, a second one drops it. A model that cannot be asked at all (no
    key, no host, offline) is left with its other jobs, not failed; so is one whose last 20 requests all
    failed; refusals by an endpoint count for that until its first answer. With `max_cost` nothing more is
    asked once that would be passed, what was `spent` before this call included, by what the model's requests
    have cost so far (before the first answer, by what is sent and `max_tokens`); what is on the wire is still
    paid, and a reply that does not say its tokens counts by its characters. Raises what `keep`, `recall` or a
    generator raises, when the wire is quiet; a `tally` that is given then holds what was done until there.
    Where an event loop runs already, as in a notebook, all are called in another thread, one at a time.
    """
    engine = _Engine(keep, recall, max_cost, spent, progress)
    engine.tally = engine.tally if tally is None else tally
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(engine.run(works))
    return _beside(engine, works)


def _beside(engine: "_Engine", works: Sequence[Work]) -> Tally:
    """Run the engine in a thread of its own; Ctrl-C arrives here and is passed on."""
    with ThreadPoolExecutor(1, "viva-ask") as pool:
        result = pool.submit(lambda: asyncio.run(engine.run(works)))
        while True:
            try:
                return result.result()
            except KeyboardInterrupt:
                engine.interrupt()


class _Engine:
    def __init__(
        self,
        keep: Callable[[Model, Job, Answer], None],
        recall: Callable[[Model, Job], Answer | None] | None,
        max_cost: float | None,
        spent: float,
        progress: Callable[[Tally], None] | None,
    ) -> None:
        self.keep, self.recall, self.progress = keep, recall, progress
        self.max_cost, self.spent = max_cost, spent
        self.tally = Tally()
        self.gates: dict[str, Gate] = {}
        self.flying: dict[tuple[str, str, int], asyncio.Future[Answer | None]] = {}
        self.heard: set[str] = set()
        self.failing: Counter[str] = Counter()
        self.paid: dict[str, tuple[int, float]] = {}
        self.bookings: dict[object, float] = {}
        self.settled = asyncio.Event()
        self.stop = asyncio.Event()
        self.error: Exception | None = None
        self.told_at = 0.0
        self.loop: asyncio.AbstractEventLoop | None = None
        self.workers: list[asyncio.Task[None]] = []

    async def run(self, works: Sequence[Work]) -> Tally:
        self.loop = asyncio.get_running_loop()
        sources = [iter(work.jobs) for work in works]
        for work, source in zip(works, sources, strict=True):
            gate = self.gates.setdefault(work.model.endpoint, Gate(work.limits))
            self.workers += [
                asyncio.create_task(self._worker(work, source, gate)) for _ in range(work.limits.concurrency)
            ]
        with self._interruptible():
            try:
                await asyncio.gather(*self.workers, return_exceptions=True)
            finally:
                for work in works:
                    await work.model.close()
        if self.error:
            raise self.error
        self.tally.left += sum(1 for source in sources for _ in source)
        self._tell(last=True)
        return self.tally

    def _ended(self, model: Model) -> bool:
        return self.stop.is_set() or model.name in self.tally.stopped

    async def _worker(self, work: Work, source: Iterator[Job], gate: Gate) -> None:
        # Workers share the iterator: taking from it is one step of the loop, so no two get the same job.
        try:
            while not self._ended(work.model):
                job = next(source, None)
                if job is None:
                    return
                answer = None
                try:
                    answer = await self._once(work, job, gate)
                finally:
                    self.tally.left += answer is None
                if answer is not None:
                    self.keep(work.model, job, answer)
                    self._count(answer)  # what could not be kept did not come
                    self._tell()
        except Exception as error:  # of the caller's: a full disk, a generator that breaks
            self.error = self.error or error
            self.stop.set()

    async def _once(self, work: Work, job: Job, gate: Gate) -> Answer | None:
        """The outcome of a job, or of an equal one that is known or on the wire; null if it was given up."""
        known = self.recall(work.model, job) if self.recall else None
        if known is not None and known.reply is not None:
            self.tally.shared += 1
            return known._replace(cost=0.0)
        key = (work.model.name, job.request.key, job.repeat)
        if (twin := self.flying.get(key)) is not None:
            answer = await asyncio.shield(twin)
            if answer is not None and answer.reply is not None:
                self.tally.shared += 1
                return answer._replace(cost=0.0)
            return answer
        mine = self.flying[key] = asyncio.get_running_loop().create_future()
        answer = None
        try:
            price = await self._afforded(work, job.request)
            if price is not None:
                with self._booked(price):
                    answer = await self._attempts(work, job.request, gate)
            return answer
        finally:
            mine.set_result(answer)
            del self.flying[key]

    async def _attempts(self, work: Work, request: Request, gate: Gate) -> Answer | None:
        model, most = work.model, work.limits.attempts
        for attempt in range(1, most + 1):
            await gate.enter()
            sent = time.monotonic()
            try:
                await self._pause(gate.starts(request, sent) - sent)
                if self._ended(model):
                    return None
                sent = time.monotonic()
                reply = await self._sent(model, request)
            except Transient as error:
                why, after = str(error), error.after
                if error.throttled:
                    gate.groaned(sent, time.monotonic())
            except ModelError as error:
                self.tally.stopped.setdefault(model.name, str(error))
                return None
            except Exception as error:
                refused = isinstance(error, Refused)
                why = str(error) if refused else _stray(error)
                # A later refusal is the question's fault, not the model's; so is any of a model run here.
                if model.name not in self.heard and not (refused and getattr(model, "branching", False)):
                    self._despair(model, why)
                return Answer(None, why, attempt, time.monotonic() - sent, None, refused)
            else:
                gate.bore()
                cost = self._pay(work, request, reply)
                return Answer(reply, None, attempt, time.monotonic() - sent, cost)
            finally:
                gate.leave()
            seconds = time.monotonic() - sent
            if attempt < most:
                self.tally.retries += 1
                await self._pause(_wait(attempt, after))
        self._despair(model, why)
        return Answer(None, f"{why}, after {most} attempt{'s' * (most > 1)}", most, seconds, None)

    async def _sent(self, model: Model, request: Request) -> Reply:
        if model.place:
            permit(model.place)
            self.tally.traffic.sent(model.endpoint, request.characters)
        if request.kind == "generate":
            return await model.generate(request)
        return await model.loglikelihood(request)

    def _despair(self, model: Model, why: str) -> None:
        self.failing[model.name] += 1
        if (times := self.failing[model.name]) >= HOPELESS:
            self.tally.stopped.setdefault(
                model.name, f"the last {times} requests to {model.endpoint} all failed; the last one: {why}"
            )

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), seconds)

    async def _afforded(self, work: Work, request: Request) -> float | None:
        """What one more request may cost; null, and the model is stopped, if that is too much.

        As long as others are on the wire they may turn out cheaper than was booked for them.
        """
        if self.max_cost is None or work.price is None:
            return 0.0
        while not self._ended(work.model):
            times, cost = self.paid.get(work.model.name, (0, 0.0))
            made = request.sampling.max_tokens or 0
            each = cost / times if times else _price(request.characters // 4, made, work.price)
            if (spent := self.spent + self.tally.cost + self.tally.guessed) + sum(
                self.bookings.values()
            ) + each <= self.max_cost + 1e-9:
                return each
            if not self.bookings:
                self.tally.stopped.setdefault(
                    work.model.name,
                    f"another request might pass --max-cost {self.max_cost:g} ({spent:.4f} spent)",
                )
            else:
                await self.settled.wait()
        return None

    @contextlib.contextmanager
    def _booked(self, price: float) -> Iterator[None]:
        key = object()
        if price:
            self.bookings[key] = price
        try:
            yield
        finally:
            self.bookings.pop(key, None)
            self.settled.set()
            self.settled = asyncio.Event()

    def _pay(self, work: Work, request: Request, reply: Reply) -> float | None:
        t, used, name = self.tally, reply.usage, work.model.name
        self.heard.add(name)
        self.failing.pop(name, None)
        t.input_tokens += used.input or 0
        t.output_tokens += used.output or 0
        t.cut += bool(reply.truncated)
        t.unpriced += (silent := None in (used.input, used.output)) or work.price is None
        if work.price is None:
            return None
        sent = request.characters // 4 if used.input is None else used.input
        made = request.sampling.max_tokens or len(f"{reply.text}{reply.reasoning}") // 4
        cost = _price(sent, made if used.output is None else used.output, work.price)
        times, before = self.paid.get(name, (0, 0.0))
        self.paid[name] = times + 1, before + cost
        t.guessed += cost if silent else 0.0
        t.cost += 0.0 if silent else cost
        return None if silent else cost

    def _count(self, answer: Answer) -> None:
        if answer.reply is None:
            causes, cause = self.tally.causes, answer.error or "no cause"
            self.tally.failed += 1
            causes[cause if cause in causes or len(causes) < MOST_CAUSES else "other causes"] += 1
        else:
            self.tally.answered += 1

    def _tell(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self.progress and (last or now - self.told_at > 0.1):
            self.told_at = now
            self.progress(self.tally)

    def interrupt(self) -> None:
        """Stop the asking; said again, drop what is on the wire. From any thread."""
        if self.loop is not None:
            with contextlib.suppress(RuntimeError):  # it has just ended
                self.loop.call_soon_threadsafe(self._interrupted)

    def _interrupted(self) -> None:
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
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
        except NotImplementedError:  # Windows: the loop itself cancels us
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)


def _wait(attempt: int, after: float | None) -> float:
    """Full jitter: anywhere up to the doubled wait, so that a crowd does not come back together.

    A Retry-After is kept to, and some jitter comes on top.
    """
    if after is not None:
        return min(after, LONGEST_AFTER) + random.uniform(0, FIRST_WAIT)
    return random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))


def _price(sent: int, made: int, price: tuple[float, float]) -> float:
    return (sent * price[0] + made * price[1]) / 1e6


def _stray(error: Exception) -> str:
    return f"the model raised {type(error).__name__}: {one_line(str(error), 160)}"
