"""Plugin metrics for tests: every answer says what it is worth, or what is counted in it.

'0.8' is worth 0.8; 'fail' cannot be scored, and 'fail 0.8' cannot until TOLD_MENDED is set, then 0.8.
'tp=1 fp=0 fn=2' has these counts.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.metrics import Metric, ScoringContext


@metric("told")
class Told(Metric):
    """The number that the answer is, on a scale, in a direction, and with a rule for silence."""

    low: float | None = 0.0
    high: float | None = 1.0
    direction: Literal["higher", "lower"] = "higher"
    silence: Literal["worst", "set_aside", "correct"] = "worst"
    least: float | None = None
    criteria_named: tuple[str, ...] = ("worth",)

    formats = ("short",)
    needs = ()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return tuple(
            Criterion(
                criterion=name,
                low=self.low,
                high=self.high,
                direction=self.direction,
                if_unanswered=self.silence,
                smallest_difference=self.least,
            )
            for name in self.criteria_named
        )

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        return [dict.fromkeys(self.criteria_named, _worth(row.reading.parsed)) for row in rows]


@metric("counted")
class Counted(Metric):
    """The counts that the answer gives, pooled; an answer by itself is worth its first one."""

    pool: str = "micro_f1"
    low: float | None = 0.0
    high: float | None = 1.0
    direction: Literal["higher", "lower"] = "higher"
    silence: Literal["worst", "set_aside", "correct"] = "set_aside"
    silent: str = ""

    formats = ("short",)
    needs = ()

    def silence_parts(self, item: Item) -> Mapping[str, Mapping[str, float]]:
        return {"counts": _counts(self.silent).parts or {}}

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return (
            Criterion(
                criterion="counts",
                low=self.low,
                high=self.high,
                direction=self.direction,
                if_unanswered=self.silence,
                pool=self.pool,
            ),
        )

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        return [{"counts": _counts(row.reading.parsed)} for row in rows]


def _counts(text: str) -> Value:
    if text == "fail":
        return Value(None, note="it could not be counted", status="failed")
    parts = {name: float(n) for name, n in (word.split("=") for word in text.split() if "=" in word)}
    return Value(0.5, parts=parts or None)


def _worth(text: str) -> Value:
    if text.startswith("fail"):
        worth = text.removeprefix("fail").strip()
        if not (worth and os.environ.get("TOLD_MENDED")):
            return Value(None, note="the judge said nothing", status="failed")
        text = worth
    return Value(float(text))
