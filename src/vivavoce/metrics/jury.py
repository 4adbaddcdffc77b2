"""A jury: several judges, and the rule by which their marks become one.

What is stored are the judges' own marks. The jury's is computed from them whenever it is asked for, so that
no judge disappears behind it: `studies.juries`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

from vivavoce.errors import MetricError
from vivavoce.metrics import Lab, Metric
from vivavoce.records import Criterion, Row, Value
from vivavoce.registry import build, metric, signature
from vivavoce.specs import Spec


@metric("jury")
class Jury:
    """Judges together: `jury(of=[judge(rubric=medgpt, model=A), judge(rubric=medgpt, model=B)])`.

    `rule` makes one mark of an answer's: their mean, median, the one that more than half gave (majority) or
    the worst. A judge's passes are averaged first. With fewer than `quorum` marks (null: all) the jury's has
    failed, as has a majority that there is not. `viva score` lets every judge mark; consensus is computed.
    """

    of: tuple[Spec, ...]
    rule: Literal["mean", "median", "majority", "worst"] = "median"
    quorum: int | None = None

    needs = ()

    def __post_init__(self) -> None:
        if len(self.of) < 2:
            raise ValueError("of takes two judges or more")
        if len({signature(judge) for judge in self.judges}) < len(self.of):
            raise ValueError("of names a judge twice; several passes of one are --passes")
        if self.quorum is not None and not 1 <= self.quorum <= len(self.of):
            raise ValueError(f"quorum takes 1 to {len(self.of)}, the number of judges")

    @cached_property
    def judges(self) -> tuple[Metric, ...]:
        """The judges. Raises `SpecError` for what marks nothing here."""
        return tuple(build("metric", spec) for spec in self.of)

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those of the first judge; all must have the same."""
        return self.judges[0].criteria

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that all judges mark."""
        return tuple(f for f in self.judges[0].formats if all(f in j.formats for j in self.judges))

    def values(self, rows: Sequence[Row], lab: Lab) -> Sequence[Mapping[str, Value]]:
        """None: raises `MetricError`, because a jury's marks are computed from its judges' and not given."""
        raise MetricError(f"{self}: a jury gives no marks of its own; its judges do.")
