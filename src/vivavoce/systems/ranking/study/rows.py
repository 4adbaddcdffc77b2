"""The rows of the study of arguments, and the parts that they come in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vivavoce.studies.study import MeasureRow
from vivavoce.systems.ranking.study.source_scores import SourceScores

KEEP, DROP, DROP_NEAR = "keep", "drop", "drop_near"
"""What is done with leaked items: all stay; those that repeat a training question go; near ones go too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentsRow(MeasureRow):
    """A figure of a family of evaluators, of one source, of an item or of a panel; a null has a `reason`."""

    part: str
    figure: str
    among: str | None = None
    leaked: str | None = None
    candidate: str | None = None
    role: str | None = None
    against: str | None = None
    item: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    ddof: int | None = None
    raw: float | None = None
    text: str | None = None
    answers: Mapping[str, int] | None = None
    threshold: float | None = None
    verdict: str | None = None
    depends_on_failed: bool | None = None
    n: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_raters: int | None = None
    n_runs: int | None = None
    n_failed: int | None = None
    n_unanswered: int | None = None
    reason: str | None = None


def family_row(table: SourceScores, part: str, figure: str, **values: Any) -> ArgumentsRow:
    """A row about a family's scores of a table; what `values` do not name is null."""
    counts = {
        "n_items": len(table.items),
        "n_groups": table.n_groups,
        "n_raters": table.n_raters,
        "n_runs": len(table.runs),
    }
    family = table.family
    return ArgumentsRow(
        benchmark=table.benchmark,
        metric=family.metric,
        criterion=family.criterion.criterion,
        rater=family.rater,
        part=part,
        figure=figure,
        **counts | values,
    )


def run_row(benchmark: str, part: str, figure: str, **values: Any) -> ArgumentsRow:
    """A row about no measure: of a panel or an item."""
    return ArgumentsRow(
        benchmark=benchmark, metric="", criterion="", rater="", part=part, figure=figure, **values
    )
