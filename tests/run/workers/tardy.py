"""A plugin for tests: a metric that takes its time, and ends its process at an answer that says so."""

import os
import signal
import time
from collections.abc import Mapping, Sequence

from vivavoce.core.records import Criterion, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext


@metric("tardy")
class Tardy(Metric):
    """The length of an answer, after so many seconds each. 'deadly' ends the process.

    With TARDY_MENDED it takes no time and ends nothing.
    """

    seconds: float = 0.0

    criteria = (Criterion(criterion="length", low=0, high=None),)
    formats = ("short",)

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        for row in [] if os.environ.get("TARDY_MENDED") else rows:
            if "deadly" in row.reading.text:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(self.seconds)
        texts = [row.reading.text for row in rows]
        return [
            {"length": Value(len(t), {"words": len(t.split())}, note=f"begins with {t[:3]}")} for t in texts
        ]
