"""A process that runs a model on one device, from both ends of the pipe.

The model is loaded once, when the process starts. It ends by itself when its pipe closes or its driver is
gone; a device that CUDA has given up takes its process with it, because nothing in that one would work again.
"""

import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from multiprocessing.util import Finalize
from typing import Any, NamedTuple, Protocol

from vivavoce.core.errors import VivaError
from vivavoce.core.text import one_line
from vivavoce.models.local.batching import Job, Outcome, is_out_of_memory
from vivavoce.models.local.devices import Device
from vivavoce.models.requests import FatalError, RejectedError
from vivavoce.models.worker_process import WorkerProcess, become_worker, exit_words

_END_S = 10.0
"""Seconds that a process may take to end once its pipe has closed, before it is killed."""


class Runner(Protocol):
    """A loaded model."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """How it runs, fit for JSON."""
        ...

    def outcomes(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        """What jobs of one kind come to, in their order."""
        ...


class Opener(Protocol):
    """Loads a model in a device process; it can be pickled."""

    def open(self, device: str) -> Runner:
        """The model on the device of this name. Raises `VivaError` where it cannot be loaded."""
        ...


class DeviceEndedError(Exception):
    """A device process ended; `ready` if its model had been loaded."""

    def __init__(self, cause: str, *, ready: bool) -> None:
        super().__init__(cause)
        self.ready = ready


class DeviceRefusedError(Exception):
    """A model cannot be loaded on a device."""


class _Ready(NamedTuple):
    facts: Mapping[str, Any]


class _Refused(NamedTuple):
    sentence: str


class _Broken(NamedTuple):
    """The process ends itself: nothing would work in it again."""

    cause: str


class _Answers(NamedTuple):
    outcomes: Sequence[Any]
    facts: Mapping[str, Any]


class _Fault(NamedTuple):
    """An error of a library, which the other side may have no class for."""

    kind: str
    message: str


class DeviceProcess:
    """The process of a device, seen from the process that sends it jobs; it starts when there is work.

    `facts` join what its processes said, one after the other: a new one does not know how the last one ran.
    One thread uses it; `kill` may be called by any.
    """

    def __init__(self, device: Device, opener: Opener) -> None:
        self.label = device.label
        self.facts: Mapping[str, Any] = {}
        self._device, self._opener = device, opener
        self._process: WorkerProcess | None = None
        self._connection: Connection[Any, Any] | None = None
        self._ready = False
        self._at_exit: Finalize | None = None

    def ready(self, seconds: float) -> bool:
        """Whether the model is loaded, after so many seconds at most; starts the process if there is none.

        Raises `DeviceEndedError`, also where a process ended while it had nothing to do, and
        `DeviceRefusedError`.
        """
        if self._connection is None:
            self._start()
        assert self._connection is not None
        try:
            if not self._connection.poll(0 if self._ready else seconds):
                return self._ready
        except OSError:  # Windows, where a pipe that closed is an error
            raise self._ended() from None
        message = self._receive()
        if isinstance(message, _Refused):
            self.end()
            raise DeviceRefusedError(message.sentence)
        self.facts, self._ready = {**self.facts, **message.facts}, True
        return True

    def run(self, jobs: Sequence[Job]) -> list[Outcome]:
        """What jobs of one kind come to, in their order. Raises `DeviceEndedError`."""
        if self._connection is None:
            raise DeviceEndedError("it had ended", ready=False)
        try:
            self._connection.send(jobs)
        except OSError:
            raise self._ended() from None
        message = self._receive()
        if isinstance(message, _Broken):
            self.end()
            raise DeviceEndedError(message.cause, ready=True)
        self.facts = {**self.facts, **message.facts}
        return [_received(outcome) for outcome in message.outcomes]

    def kill(self) -> None:
        """End the process at once; whoever waits for it hears that it ended."""
        process = self._process  # its own thread may end it meanwhile
        if process is not None:
            process.kill()

    def end(self) -> None:
        """End the process and free what it holds; a later `ready` starts another."""
        process, connection = self._process, self._connection
        self._process, self._connection, self._ready = None, None, False
        if self._at_exit is not None:
            self._at_exit.cancel()
            self._at_exit = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            process.join(_END_S)

    def _start(self) -> None:
        self._connection, theirs = Pipe()
        process = WorkerProcess(target=serve, args=(self._opener, self._device.name, theirs), daemon=True)
        process.variables = self._device.variables
        process.start()
        theirs.close()
        self._process = process
        # It is deaf to the SIGTERM by which Python ends such processes at exit.
        self._at_exit = Finalize(None, process.kill, exitpriority=10)

    def _receive(self) -> Any:
        assert self._connection is not None
        try:
            return self._connection.recv()
        except (EOFError, OSError):  # half a message is an OSError
            raise self._ended() from None

    def _ended(self) -> DeviceEndedError:
        """The error that says how the process ended."""
        process, was_ready = self._process, self._ready
        if process is not None:
            process.join(_END_S)
        self.end()
        return DeviceEndedError(exit_words(process), ready=was_ready)


def serve(opener: Opener, device: str, connection: "Connection[Any, Any]") -> None:
    """Load a model and run what comes, in a device process, until the pipe closes."""
    become_worker()
    # A scheduler sends SIGTERM to all processes of a job; the driver lets what runs finish, and ends us.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            runner = opener.open(device)
        except VivaError as error:
            connection.send(_Refused(str(error)))
            return
        except Exception as error:
            connection.send(_Refused(_words(error)))
            return
        connection.send(_Ready(runner.facts))
        while True:
            jobs = connection.recv()
            try:
                outcomes = runner.outcomes(jobs)
            except Exception as error:  # of a library, or of ours: what it left behind is not known
                connection.send(_Broken(_words(error)))
                return
            if fault := next(filter(_ends_device, outcomes), None):
                connection.send(_Broken(_words(fault)))
                return
            connection.send(_Answers([_sent(outcome) for outcome in outcomes], runner.facts))


def _ends_device(outcome: object) -> bool:
    """True for an error after which a device works no more in this process; CUDA repeats it ever after."""
    return (
        isinstance(outcome, Exception)
        and not isinstance(outcome, RejectedError)
        and ("CUDA error" in str(outcome) or type(outcome).__name__ == "AcceleratorError")
        and not is_out_of_memory(outcome)
    )


def _words(error: object) -> str:
    return one_line(f"{type(error).__name__}: {error}", 160).rstrip(".: ")


def _sent(outcome: Outcome) -> Any:
    if isinstance(outcome, Exception) and not isinstance(outcome, RejectedError | FatalError):
        return _Fault(type(outcome).__name__, str(outcome))
    return outcome


def _received(sent: Any) -> Outcome:
    """The outcome as it was in the other process, an error of a library by its name alone."""
    outcome: Outcome = sent
    if isinstance(sent, _Fault):
        outcome = type(sent.kind, (Exception,), {})(sent.message)
    return outcome
