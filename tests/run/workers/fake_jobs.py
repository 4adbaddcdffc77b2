"""Fake jobs for executors: numbers are doubled, in ways that go wrong.

A worker imports this module by its name, so that its folder has to be on the path: `tests` is no package.
"""

import multiprocessing
import os
import signal
import struct
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError


class RemoteDoubling(NamedTuple):
    """Doubles numbers; `log` is a folder in which each worker notes what it was sent."""

    log: Path
    refusal: str = ""
    deadly: bool = False

    def open(self) -> Callable[[dict[str, Any]], dict[str, Any]]:
        if self.deadly:
            os._exit(3)
        if self.refusal:
            raise InputError(self.refusal)
        return self.double

    def double(self, work: dict[str, Any]) -> dict[str, Any]:
        number = work["number"]
        with (self.log / f"{os.getpid()}").open("a") as stream:
            stream.write(f"{number}\n")
        if number in work.get("deadly", ()):
            os.kill(os.getpid(), signal.SIGKILL)
        if number in work.get("once", ()) and not (self.log.parent / "once").exists():
            (self.log.parent / "once").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if number in work.get("half", ()) and not (self.log.parent / "half").exists():
            (self.log.parent / "half").touch()
            Connection._send_bytes = _half  # type: ignore[attr-defined]
        time.sleep(work.get("seconds", 0))
        return {"number": number, "double": 2 * number}


def _half(connection: Any, content: Any) -> None:
    """Write half of a message, and end as a process that is killed there."""
    connection._send(struct.pack("!i", len(content)))
    connection._send(content[: len(content) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


class Doubling:
    """The same as a job."""

    def __init__(self, log: Path, refusal: str = "", *, deadly: bool = False) -> None:
        self._remote = RemoteDoubling(log, refusal, deadly)
        log.mkdir(exist_ok=True)

    def compute(self, work: dict[str, Any]) -> dict[str, Any]:
        return self._remote.double(work)

    def remote(self) -> RemoteDoubling:
        return self._remote

    def pack(self, work: dict[str, Any]) -> dict[str, Any]:
        return work

    def unpack(self, sent: dict[str, Any]) -> dict[str, Any]:
        return sent


class RemoteLooking(NamedTuple):
    """Says what a worker sees around it."""

    def open(self) -> Callable[[str], Any]:
        return look


def look(what: str) -> Any:
    if what == "environment":
        return dict(os.environ)
    if what == "environ":
        return Path("/proc/self/environ").read_bytes().decode()
    if what == "main":
        return getattr(sys.modules["__main__"], "__file__", None)
    if what == "torch":
        import torch

        return torch.get_num_threads()
    if what == "polars":
        import polars

        return polars.thread_pool_size()
    if what == "socket":
        import socket

        try:
            socket.create_connection(("192.0.2.1", 80), timeout=1)
        except Exception as error:
            return str(error)
        return "connected"
    print("a plugin prints", flush=True)
    return multiprocessing.parent_process() is not None


class Looking(Doubling):
    """The same as a job."""

    def __init__(self) -> None:
        pass

    def remote(self) -> Any:
        return RemoteLooking()
