"""`viva` with a fake local model in two device processes.

The first argument is the folder of its log, the second the seconds that an answer takes.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fake_runners import FakeOpener

from vivavoce import cli
from vivavoce.models.candidates import CandidateConfig
from vivavoce.models.local.batching import Job
from vivavoce.models.local.devices import Device
from vivavoce.models.local.devices.process import DeviceProcess
from vivavoce.models.local.devices.queue import DeviceQueue
from vivavoce.models.requests import Reply, Request

BATCH = 8


class FakePool:
    """A model whose answers take so many seconds each."""

    branching, place, endpoint = True, "", "hf on fake"
    facts: Mapping[str, Any] = {}

    def __init__(self, name: str, log: Path, seconds: str) -> None:
        self.name = name
        devices = [DeviceProcess(Device(f"GPU {k}", {}, "fake"), FakeOpener(log)) for k in range(2)]
        self._queue = DeviceQueue(lambda request: Job("draw", 1, f"sleep {seconds}"), devices, BATCH)

    async def generate(self, request: Request) -> Reply:
        return await self._queue.reply(request)

    async def close(self) -> None:
        await self._queue.close()

    def release(self) -> None:
        self._queue.end()


if __name__ == "__main__":
    log, seconds = Path(sys.argv[1]), sys.argv[2]
    CandidateConfig.connect = lambda candidate: FakePool(str(candidate.spec), log, seconds)  # type: ignore[method-assign]
    sys.argv = ["viva", *sys.argv[3:]]
    cli.main()
