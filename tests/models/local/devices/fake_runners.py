"""Fake models for device processes: a request's text says what becomes of it. No torch.

A device process imports this module by its name, so that its folder has to be on the path.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.models.local import batching
from vivavoce.models.local.batching import BatchWorker, Job
from vivavoce.models.requests import RejectedError, Reply


class StrangeError(Exception):
    """An error of a library."""


class FakeOpener(NamedTuple):
    """Notes in the folder `log` each load, with the process and the device, and each job.

    One that `waits` has loaded once the file `go` lies there.
    """

    log: Path
    refusal: str = ""
    waits: bool = False
    room: int = 100

    def open(self, device: str) -> "FakeRunner":
        _note(self.log / "loads", f"{os.getpid()} {device}")
        if self.refusal == "exit":
            os._exit(3)
        if self.refusal:
            raise InputError(self.refusal)
        while self.waits and not (self.log / "go").exists():
            time.sleep(0.02)
        return FakeRunner(self.log, self.room)


class OutOfMemoryError(RuntimeError):
    """Fake: named as torch names its own."""


class FakeRunner:
    """Answers in capitals; a text that begins with a word of its own does something else.

    The device holds so many requests at once as it has `room` for.
    """

    def __init__(self, log: Path, room: int) -> None:
        self.log, self.room, self.answered, self.scored = log, room, 0, False
        self._worker = BatchWorker(lambda request: Job("a", 1, request), self._batch, 100)
        batching.free_memory = lambda: None  # it would import torch

    @property
    def facts(self) -> Mapping[str, Any]:
        return {"dtype": "float32", "answered": self.answered} | ({"way": "packed"} if self.scored else {})

    def outcomes(self, jobs: Sequence[Job]) -> list[Reply | Exception]:
        return [outcome for _, outcome in self._worker.outcomes(jobs)]

    def _batch(self, jobs: Sequence[Job]) -> list[Reply | Exception]:
        _note(self.log / "batches", f"{os.getpid()} {len(jobs)}")
        if len(jobs) > self.room:
            raise OutOfMemoryError("CUDA out of memory")
        return [self._outcome(str(job.payload)) for job in jobs]

    def _outcome(self, text: str) -> Reply | Exception:
        _note(self.log / "jobs", f"{os.getpid()} {text}")
        self.answered += 1
        what, _, rest = text.partition(" ")
        self.scored |= what == "score"
        if what == "deadly" or (what == "once" and not _marked(self.log / "once")):
            os.kill(os.getpid(), signal.SIGKILL)
        if what == "sleep":
            time.sleep(float(rest))
        if what == "cuda":
            return RuntimeError("CUDA error: device-side assert triggered")
        if what == "strange":
            return StrangeError("of a library")
        if what == "no":
            return RejectedError("not this one")
        if what == "look":
            return Reply(text=_look(rest))
        return Reply(text=text.upper())


def _note(file: Path, line: str) -> None:
    with file.open("a") as stream:
        stream.write(f"{line}\n")


def _marked(file: Path) -> bool:
    """Whether it was there before."""
    there = file.exists()
    file.touch()
    return there


def _look(what: str) -> str:
    if what == "torch":
        return str("torch" in sys.modules)
    if what == "network":
        try:
            socket.create_connection(("192.0.2.1", 80), timeout=1)
        except Exception as error:
            return str(error)
        return "connected"
    return str(os.environ.get(what))
