"""Graders held against physicians, point by point, as HealthBench's meta-evaluation does.

A grader and a physician who labelled the same completion on the same point are a pair. The figure is the
mean of the F1 of met and the F1 of not met over all pairs (Arora et al. 2025, section 8;
`healthbench_meta_eval.py` of simple-evals). Each physician is held against the others in the same way.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.bounded import interval_text
from vivavoce.studies.rater_scores import is_judge, is_people, scores_of
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.study import Study
from vivavoce.studies.text import count

EVERYTHING = "all"
NOTHING = (
    "No physicians' labels of points are here: `viva import RUN *_oss_meta_eval.jsonl` brings those of "
    "HealthBench."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaRow:
    """A rater on the points of one category, or on all; null figures have a reason."""

    benchmark: str
    category: str
    metric: str
    rater: str
    kind: str
    balanced_f1: float | None
    low: float | None
    high: float | None
    n_pairs: int
    n_points: int
    n_groups: int
    n_failed: int
    reason: str | None = None


@study("meta_evaluation")
class MetaEvaluation(Study):
    """Graders held against physicians."""

    about = (
        "How far graders agree with physicians on single points: the balanced F1, beside the physicians' own."
    )
    row = MetaRow
    special = True
    needs = ("items",)

    def applies_to(self, scores: ScoreTable) -> bool:
        """Where people labelled whether points are met."""
        return any(_labels(measure) for measure in scores.measures.values())

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows by benchmark, rater and category (`all`: every point), judges first.

        `balanced_f1` is the mean of both F1 over pairs with physicians, null where the rater or the
        physicians never say met, or never not met; `low` and `high` are its 95 % interval by case, from the
        jackknife. `n_failed` counts the responses that a judge failed to score: they are in no pair.
        """
        labels = _table(scores, [key for key, m in scores.measures.items() if _labels(m)])
        if labels is None or scores.items is None:
            return self.finding((), NOTHING)
        categories = scores.items.select("benchmark", "item", "variant", "category")
        labels = labels.join(
            categories, on=["benchmark", "item", "variant"], how="left", maintain_order="left"
        )
        rows = [*_judge_rows(scores, labels), *_person_rows(scores, labels)]
        return self.finding(rows, _sentence(rows))


def _judge_rows(scores: ScoreTable, labels: pl.DataFrame) -> Iterator[MetaRow]:
    """Each judge held against all people."""
    for key, measure in scores.measures.items():
        judged = _table(scores, [key]) if _judges(measure) else None
        if judged is not None:
            n_failed = scores.scores.filter(measure_id=key, status="failed").height
            yield from _rows(judged, labels, measure, "judge", n_failed)


def _person_rows(scores: ScoreTable, labels: pl.DataFrame) -> Iterator[MetaRow]:
    """Each person held against the others."""
    for key, measure in scores.measures.items():
        rated = _table(scores, [key]) if _labels(measure) else None
        if rated is not None:
            yield from _rows(rated, labels.filter(pl.col("rater") != measure.rater), measure, "person", 0)


def _labels(measure: Measure) -> bool:
    return is_people(measure) and measure.criterion.criterion == "score"


def _judges(measure: Measure) -> bool:
    return is_judge(measure) and measure.criterion.criterion == "score"


def _table(scores: ScoreTable, keys: list[int]) -> pl.DataFrame | None:
    """Whether points are met by these measures: RESPONSE, group, rater, met; null without a score."""
    tables = [
        scores_of(scores, key).select(
            *RESPONSE, "group", rater=pl.lit(scores.measures[key].rater), met=pl.col("value") >= 0.5
        )
        for key in keys
    ]
    table = pl.concat(tables) if tables else None
    return None if table is None or not table.height else table


def _rows(
    rated: pl.DataFrame, labels: pl.DataFrame, measure: Measure, kind: str, n_failed: int
) -> Iterator[MetaRow]:
    """The rows of one rater: all points, then category by category."""
    pairs = rated.join(labels, on=list(RESPONSE), how="inner", suffix="_label").sort(*RESPONSE, "rater_label")
    for (benchmark,), part in pairs.group_by("benchmark", maintain_order=True):
        parts = [(EVERYTHING, part)]
        parts += [
            (str(name), rows)
            for (name,), rows in part.sort("category").group_by("category", maintain_order=True)
        ]
        for category, rows in parts:
            figure = _balanced_f1(rows)
            yield MetaRow(
                benchmark=str(benchmark), category=category, metric=measure.metric, rater=measure.rater,
                kind=kind, balanced_f1=figure.value, low=figure.low, high=figure.high, n_pairs=rows.height,
                n_points=rows.unique(RESPONSE).height, n_groups=figure.n_groups,
                n_failed=n_failed if category == EVERYTHING else 0, reason=figure.reason,
            )  # fmt: skip


def _balanced_f1(pairs: pl.DataFrame) -> stats.Pooled:
    """The mean of the F1 of met and of not met: a macro F1 of two labels, over pairs."""
    met, label = pairs["met"].to_numpy(), pairs["met_label"].to_numpy()
    counts: Any = np.column_stack(
        [met & label, ~met & ~label, met & ~label, ~met & label, ~met & label, met & ~label]
    ).astype(np.float64)
    groups = pairs["group"].to_numpy()
    sizes = stats.label_sizes(counts)
    figure = stats.pooled(counts, groups, stats.macro_f1, sizes=sizes, low=0.0, high=1.0)
    if len(set(met.tolist())) < 2 or len(set(label.tolist())) < 2:
        reason = "one side says the same of every point"
        return figure._replace(value=None, low=None, high=None, reason=reason)
    return figure


def _sentence(rows: list[MetaRow]) -> str:
    """Each judge beside the range of the physicians."""
    lines = [_of_judge(row) for row in _overall(rows, "judge")]
    if people := [row.balanced_f1 or 0.0 for row in _overall(rows, "person")]:
        lines.append(f"physicians among themselves have {min(people):.2f} to {max(people):.2f}")
    return f"{'; '.join(lines)}." if lines else "Nobody labelled a point that somebody else scored."


def _overall(rows: list[MetaRow], kind: str) -> list[MetaRow]:
    """The rows about all points that have a figure, of judges or of people."""
    of_kind = [row for row in rows if row.kind == kind and row.category == EVERYTHING]
    return [row for row in of_kind if row.balanced_f1 is not None]


def _of_judge(row: MetaRow) -> str:
    figure = f"{row.balanced_f1:.2f}{interval_text(row)}"
    return f"{row.rater} has a balanced F1 of {figure} over {count(row.n_pairs, 'pair')} with physicians"
