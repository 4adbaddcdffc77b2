"""A provider: one class, one decorator. `viva collect RUN BENCHMARK --model triage/v1 --plugin
examples/plugin_provider.py`
"""

import asyncio
from typing import ClassVar

from vivavoce import Limits, Provider, RejectedError, Reply, provider


@provider("triage")
class Triage(Provider):
    """A rule that sends every patient to the ward in `ward`."""

    price = (0.5, 1.5)  # of a million tokens, in and out
    limits = Limits(concurrency=4, requests_per_minute=6000)
    host = ""  # nothing leaves this process
    settings: ClassVar = {"ward": (str,)}  # --model "triage/v1(ward=surgery)"

    async def generate(self, request):
        """One attempt; the engine tries again, waits and pays."""
        if self.model != "v1":
            raise RejectedError(f"there is no model {self.model!r}")
        await asyncio.sleep(0)  # here a request would be sent
        return Reply(text=f"Go to {self.options.get('ward', 'the ward')}.", finish_reason="stop")
