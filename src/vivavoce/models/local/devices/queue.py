"""Requests that wait for several devices: whichever is free takes the longest of them.

A device whose process ends gets another, and what it had not finished is sent again: each request alone, and
to another device first, so that the one that ends processes is found out and the others are answered.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from vivavoce.core.text import one_line
from vivavoce.models.local.batching import LINGER_S, Job, Outcome, closed
from vivavoce.models.local.devices.process import DeviceEndedError, DeviceRefusedError
from vivavoce.models.requests import FatalError, RejectedError, Reply, Request

MOST_KILLS = 3
"""How many processes a request may end before it fails; how many a device may lose through no request's
fault, and how many requests may fail so in a row, before it is given up.
"""
WAKE_S = 0.1
"""Seconds between two looks at whether a device that loads its model is still wanted."""


class DeviceLike(Protocol):
    """A device as the queue uses it; `DeviceProcess` says what each does."""

    label: str

    def ready(self, seconds: float) -> bool:
        """Whether it can run jobs, after so many seconds at most."""
        ...

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        """What jobs come to."""
        ...

    def kill(self) -> None:
        """End what runs."""
        ...

    def end(self) -> None:
        """Free what it holds."""
        ...


@dataclass(eq=False)
class _End:
    """The end of a process: it is the device's fault if all requests that it ran are answered later."""

    seat: int
    cause: str
    unanswered: int
    explained: bool = False


@dataclass(eq=False)
class _Pending:
    """A prepared request, the devices whose processes ended while they ran it, and the first such end."""

    job: Job
    future: "Future[Reply]"
    kills: list[int] = field(default_factory=list)
    end: _End | None = None


class DeviceQueue:
    """Waiting requests, a thread that prepares them, and one for each device that runs them in batches.

    `prepare` makes a request ready. A batch holds requests of one kind, `max_batch` at most, and no more than
    an even share of those that wait. `lost` says why a device was given up: its model could not be loaded,
    three processes ended there that were no request's fault, or three requests in a row failed there so.
    Once all are, what waits is a `FatalError`. `end` brings them back, because what they lacked may be free
    by then; `lost_before` says why each had been given up last.
    """

    def __init__(
        self, prepare: Callable[[Request], Job], devices: Sequence[DeviceLike], max_batch: int
    ) -> None:
        self._prepare, self._devices, self._max_batch = prepare, devices, max_batch
        self.lost: dict[int, str] = {}
        self.lost_before: dict[int, str] = {}
        self._changed = threading.Condition()
        self._halt = threading.Event()
        self._threads: list[threading.Thread] = []
        self._waiting: list[tuple[Request, Future[Reply]]] = []
        self._ready: dict[Hashable, list[_Pending]] = {}
        """By kind, the longest first."""
        self._suspects: list[_Pending] = []
        self._running: dict[int, list[_Pending]] = {}
        self._faults = [0] * len(devices)
        """Ends that were no request's fault, since the device answered last."""
        self._failed = [0] * len(devices)
        """Requests that failed with their last process there, since the device answered last."""

    async def reply(self, request: Request) -> Reply:
        """The reply, when it is there. Raises what preparing or running this request raises."""
        future: Future[Reply] = Future()
        while not self._accepts(request, future):
            await asyncio.sleep(WAKE_S)
        return await asyncio.wrap_future(future)

    def _accepts(self, request: Request, future: "Future[Reply]") -> bool:
        """Let a request wait; false while the threads of before still end: two would share a device.

        Raises `FatalError` where no device is left.
        """
        with self._changed:
            if not self._devices_left():
                raise self._none_left()
            if self._threads and self._halt.is_set():
                return False
            if not self._threads:
                self._halt.clear()
                self._start_threads()
            self._waiting.append((request, future))
            self._changed.notify_all()
            return True

    async def close(self) -> None:
        """Drop what waits and what runs, and return when the threads have ended; the models stay loaded."""
        await asyncio.to_thread(self._stop)

    def end(self) -> None:
        """End the threads and the processes of all devices; a later request starts all of them again."""
        self._stop()
        for device in self._devices:
            device.end()
        with self._changed:
            self.lost_before |= self.lost
            self.lost = {}
            self._faults, self._failed = [0] * len(self._devices), [0] * len(self._devices)

    def _stop(self) -> None:
        with self._changed:
            self._halt.set()
            threads = self._threads
            pending = self._take_all()
            for seat in self._running:
                self._devices[seat].kill()
            self._changed.notify_all()
        for future in pending:
            _settle(future, closed())
        for thread in threads:
            thread.join()
        with self._changed:
            if self._threads is threads:
                self._threads = []

    def _start_threads(self) -> None:
        works = [self._prepare_waiting, *(self._server(seat) for seat in range(len(self._devices)))]
        self._threads = [threading.Thread(target=work, name="viva-device", daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def _take_all(self) -> "list[Future[Reply]]":
        """All requests that no device runs; none is left."""
        pending = [*self._suspects, *(request for kind in self._ready.values() for request in kind)]
        futures = [*(request.future for request in pending), *(future for _, future in self._waiting)]
        self._suspects, self._ready, self._waiting = [], {}, []
        return futures

    def _prepare_waiting(self) -> None:
        """Prepare what waits, until the queue is closed. It must not raise: nothing would catch it."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._halt.is_set())
            time.sleep(LINGER_S)  # those whose answers have just gone out come back at once
            with self._changed:
                if self._halt.is_set():
                    return
                taken, self._waiting = self._waiting, []
            try:
                self._add([pending for request in taken if (pending := self._prepared(*request))])
            except BaseException as error:
                for _, future in taken:
                    _settle(future, _thread_ended(error))

    def _prepared(self, request: Request, future: "Future[Reply]") -> _Pending | None:
        """The request made ready; null where it was cancelled, or cannot be."""
        if not future.set_running_or_notify_cancel():
            return None
        try:
            return _Pending(self._prepare(request), future)
        except Exception as error:
            _settle(future, error)
            return None

    def _add(self, pending: Sequence[_Pending]) -> None:
        """Put them where devices take them from."""
        with self._changed:
            if self._halt.is_set() or not self._devices_left():
                error = closed() if self._halt.is_set() else self._none_left()
                for request in pending:
                    _settle(request.future, error)
                return
            for request in pending:
                self._ready.setdefault(request.job.kind, []).append(request)
            for kind in {request.job.kind for request in pending}:
                self._ready[kind].sort(key=lambda request: -request.job.length)
            self._changed.notify_all()

    def _server(self, seat: int) -> Callable[[], None]:
        return lambda: self._serve(seat)

    def _serve(self, seat: int) -> None:
        """Run batches on a device until the queue is closed or the device given up."""
        device = self._devices[seat]
        while self._wait_for_work(seat):
            try:
                if device.ready(WAKE_S) and (batch := self._take(seat)):
                    self._answer(seat, batch, device.run([request.job for request in batch]))
            except DeviceEndedError as ended:
                self._on_end(seat, ended)
            except DeviceRefusedError as refused:
                self._give_up(seat, str(refused))
            except BaseException as error:
                self._give_up(seat, str(_thread_ended(error)))

    def _wait_for_work(self, seat: int) -> bool:
        """Wait until there is something for this device; false once it should take nothing more."""

        def over() -> bool:
            return self._halt.is_set() or seat in self.lost

        with self._changed:
            self._changed.wait_for(lambda: over() or self._ready or self._suspect(seat))
            return not over()

    def _suspect(self, seat: int) -> _Pending | None:
        """The first request that ended a process and may run here: first elsewhere, if there is another."""
        devices = self._devices_left()
        may = (
            request
            for request in self._suspects
            if seat not in request.kills or devices <= set(request.kills)
        )
        return next(may, None)

    def _devices_left(self) -> set[int]:
        return set(range(len(self._devices))) - self.lost.keys()

    def _take(self, seat: int) -> list[_Pending]:
        """What this device runs next; empty where others have taken all."""
        with self._changed:
            if self._halt.is_set():
                return []
            if suspect := self._suspect(seat):
                self._suspects.remove(suspect)
                batch = [suspect]
            elif self._ready:
                batch = self._take_longest()
            else:
                return []
            self._running[seat] = batch
            return batch

    def _take_longest(self) -> list[_Pending]:
        kind = max(self._ready, key=lambda kind: self._ready[kind][0].job.length)
        unfinished = sum(map(len, [*self._ready.values(), *self._running.values()]))
        n = min(self._max_batch, -(-unfinished // len(self._devices_left())))
        batch, remaining = self._ready[kind][:n], self._ready[kind][n:]
        if remaining:
            self._ready[kind] = remaining
        else:
            del self._ready[kind]
        return batch

    def _answer(self, seat: int, batch: Sequence[_Pending], outcomes: Sequence[Outcome]) -> None:
        with self._changed:
            self._running.pop(seat, None)
            faults = self._clear(batch)
            self._faults[seat] = self._failed[seat] = 0
        for pending, outcome in zip(batch, outcomes, strict=True):
            _settle(pending.future, outcome)
        for end in faults:
            if end.seat != seat:
                reason = f"{MOST_KILLS} processes ended with requests that another GPU answered"
                self._leave_out(end.seat, f"{reason}, the last {end.cause}")

    def _on_end(self, seat: int, ended: DeviceEndedError) -> None:
        """Send again what a process had not finished; another one starts with the next work."""
        with self._changed:
            batch = self._running.pop(seat, [])
            if self._halt.is_set():
                for request in batch:
                    _settle(request.future, closed())
                return
            self._count(seat, batch, str(ended))
            retried = [request for request in batch if not self._fails(request, seat, ended)]
            if self._devices_left():
                self._suspects[:0] = retried
            else:  # all were given up while it ran: nobody would take them
                for request in retried:
                    _settle(request.future, self._none_left())
            self._changed.notify_all()
        if self._failed[seat] >= MOST_KILLS:
            self._give_up(seat, f"{MOST_KILLS} requests in a row ended their processes, the last {ended}")
        elif self._faults[seat] >= MOST_KILLS:
            phase = "while nothing ran there" if ended.ready else "before they were ready"
            self._give_up(seat, f"{MOST_KILLS} processes ended {phase}, the last {ended}")

    def _count(self, seat: int, batch: Sequence[_Pending], cause: str) -> None:
        """Note an end whose cause is open, or the request that is the cause of an earlier one."""
        if not batch:
            self._faults[seat] += 1
            return
        end = _End(seat, cause, len(batch))
        for request in batch:
            if request.end is None:
                request.end = end
            else:
                request.end.explained = True

    def _clear(self, batch: Sequence[_Pending]) -> list[_End]:
        """Note that these requests were answered; the ends, of many, that were no request's fault then."""
        faults = []
        for end in (request.end for request in batch if request.end):
            end.unanswered -= 1
            if not end.unanswered and not end.explained:
                self._faults[end.seat] += 1
                faults += [end] if self._faults[end.seat] >= MOST_KILLS else []
        return faults

    def _fails(self, pending: _Pending, seat: int, ended: DeviceEndedError) -> bool:
        """Count a process that this request ended; true if that was one too many."""
        pending.kills.append(seat)
        if len(pending.kills) < MOST_KILLS:
            return False
        self._failed[seat] += 1
        label = self._devices[seat].label
        reason = f"{MOST_KILLS} processes ended while they ran it, the last ({label}) {ended}"
        _settle(pending.future, RejectedError(reason))
        return True

    def _give_up(self, seat: int, cause: str) -> None:
        """Leave a device out from its own thread; what it had goes to the others."""
        with self._changed:
            batch = self._running.pop(seat, [])
        self._leave_out(seat, cause)
        self._add(batch)

    def _leave_out(self, seat: int, cause: str) -> None:
        """Let a device take nothing more; what waits fails where none is left."""
        with self._changed:
            self.lost.setdefault(seat, cause)
            pending = [] if self._devices_left() else self._take_all()
            self._changed.notify_all()
        for future in pending:
            _settle(future, self._none_left())

    def _none_left(self) -> FatalError:
        causes = "; ".join(
            f"{self._devices[seat].label}: {cause.rstrip('.')}" for seat, cause in sorted(self.lost.items())
        )
        return FatalError(f"no GPU is left to run it on ({causes}).")


def _thread_ended(error: BaseException) -> FatalError:
    message = one_line(f"{type(error).__name__}: {error}", 160).rstrip(".: ")
    return FatalError(f"the model's thread ended ({message}): ask again.")


def _settle(future: "Future[Reply]", outcome: Outcome) -> None:
    """Set the outcome of a request, if nobody else has."""
    with suppress(InvalidStateError):
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
