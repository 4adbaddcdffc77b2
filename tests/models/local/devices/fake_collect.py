"""`viva` with a fake local model in two device processes; the first argument is the folder of its log."""

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
    """A model whose answers take 5 ms each."""

    branching, place, endpoint = True, "", "hf on fake"
    facts: Mapping[str, Any] = {}

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        devices = [DeviceProcess(Device(f"GPU {k}", {}, "fake"), FakeOpener(log)) for k in range(2)]
        self._queue = DeviceQueue(lambda request: Job("draw", 1, "sleep 0.005"), devices, BATCH)

    async def generate(self, request: Request) -> Reply:
        return await self._queue.reply(request)

    async def close(self) -> None:
        await self._queue.close()

    def release(self) -> None:
        self._queue.end()


if __name__ == "__main__":
    log = Path(sys.argv[1])
    CandidateConfig.connect = lambda candidate: FakePool(str(candidate.spec), log)  # type: ignore[method-assign]
    sys.argv = ["viva", *sys.argv[2:]]
    cli.main()
