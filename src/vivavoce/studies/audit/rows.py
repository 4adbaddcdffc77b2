"""The rows of an audit, and the parts that they come in."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.studies.intervals import Estimate
from vivavoce.studies.study import MeasureRow, measure_columns

WITHIN, CENTRED, SYSTEM = "within item", "within item and candidate", "system"
"""The levels of a figure: which response to an item is better, the same without what a candidate has on all
items alike, and the order of the candidates' means."""
PEOPLE, TRUSTED = "people", "trusted judge"
"""The two yardsticks. A judge is not people, however much it is trusted."""
ONE_CALL = "criteria of one call, alike by construction"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow(MeasureRow):
    """A figure of one measure, or of one contrast pair that it scored."""

    signature: str
    part: str
    level: str = ""
    figure: str = ""
    contrast: str = ""
    against: str = ""
    yardstick: str = ""
    value: float | None = None
    value_halves: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    n_units: int | None = None
    n_groups: int | None = None
    n_candidates: int | None = None
    same_order: int | None = None
    n_pairs: int | None = None
    half: str = ""
    chosen: bool | None = None
    score_reference: float | None = None
    score_right: float | None = None
    score_wrong: float | None = None
    score_unrelated: float | None = None
    alike: bool | None = None
    prefers_wrong: bool | None = None
    threshold: float | None = None
    reason: str | None = None


class Within(NamedTuple):
    """Columns centred at their items, or at their candidates too.

    There are `n_units` cells (item by candidate) in `n_groups` cases.
    """

    items: stats.WithinItems
    n_units: int
    n_candidates: int
    groups: tuple[str, ...]
    few: str | None
    """Why so few cases give no figure; null where there are enough."""

    @property
    def target(self) -> int:
        """The last column."""
        return int(self.items.products.shape[1]) - 1

    @property
    def n_groups(self) -> int:
        """How many cases."""
        return len(self.groups)

    def estimate(
        self, a: int, b: int, undefined: str, *, controls: tuple[int, ...] = (), level: float = 0.95
    ) -> Estimate:
        """The correlation of two columns with its interval by case, or why there is none."""
        n = self.n_units, self.n_groups
        if self.few:
            return Estimate(*n, reason=self.few)
        figure = self.items.correlation(a, b, controls=controls).jackknife(level=level)
        if figure.value is None:
            return Estimate(*n, reason=undefined)
        reason = None if figure.low is not None else "perfect, or undefined without a case: no interval"
        return Estimate(*n, figure.value, figure.low, figure.high, figure.se, reason)


def audit_row(part: str, benchmark: str, measure: Measure, **values: Any) -> AuditRow:
    """A row of a measure; what `values` do not name is null or empty."""
    return AuditRow(
        part=part,
        benchmark=benchmark,
        signature=measure.signature,
        **measure_columns(measure),
        **values,
    )
