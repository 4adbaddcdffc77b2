"""Confusion: in a task of classes, which class an evaluator predicts where which one is right.

`studies.comparing.confusion` counts labels that candidates gave; here an evaluator predicts them from the
arguments of each source, as `parts` of its scores say.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.intervals import by_mean
from vivavoce.studies.score_table import ScoreTable
from vivavoce.systems.ranking.study.rows import ArgumentsRow, family_row
from vivavoce.systems.ranking.study.source_scores import SourceScores


class _Prediction(NamedTuple):
    """One prediction of a run: the item, its group, the class that is right and the one predicted."""

    item: tuple[str, str]
    group: str
    label: int
    predicted: int


def confusion_rows(table: SourceScores, scores: ScoreTable) -> Iterator[ArgumentsRow]:
    """By source and class: how often each class is predicted where this one is right, over all runs.

    `answers` counts predictions, `n` of them in all, and `value` is the share that is right, with its
    interval by case. No row for tasks whose items differ in their options, and for measures whose parts name
    no prediction.
    """
    classes = classes_of(scores, table.benchmark)
    if not classes:
        return
    of_family = (
        pl.col("measure_id").is_in(table.family.keys)
        & (pl.col("benchmark") == table.benchmark)
        & (pl.col("edit") == "")
        & (pl.col("status") == "ok")
    )
    rows = scores.scores.filter(of_family).sort("candidate", "item", "variant", "measure_id", "pass_no")
    for (candidate,), part in rows.group_by("candidate", maintain_order=True):
        name = str(candidate)
        if name in table.roles:
            predictions = list(_predictions(part, len(classes)))
            for label, text in enumerate(classes):
                of_label = [p for p in predictions if p.label == label]
                if of_label:
                    yield _row(table, name, text, of_label, classes)


def _row(
    table: SourceScores, name: str, text: str, of_label: list[_Prediction], classes: tuple[str, ...]
) -> ArgumentsRow:
    by_item: dict[tuple[str, str], list[float]] = {}
    groups = {}
    for p in of_label:
        by_item.setdefault(p.item, []).append(float(p.predicted == p.label))
        groups[p.item] = p.group
    right = np.array([stats.exact_mean(values) for values in by_item.values()])
    estimate = by_mean(right, np.array([groups[item] for item in by_item]), low=0.0, high=1.0)
    answers = Counter(classes[p.predicted] for p in of_label)
    return family_row(
        table,
        "confusion",
        "predicted",
        candidate=name,
        role=table.roles[name],
        text=text,
        answers={label: answers[label] for label in classes},
        value=stats.exact_mean(right),
        low=estimate.low,
        high=estimate.high,
        n=len(of_label),
        n_items=len(by_item),
        n_groups=estimate.n_groups,
        reason=estimate.reason,
    )


def classes_of(scores: ScoreTable, benchmark: str) -> tuple[str, ...]:
    """The classes of a task, sorted, where all its items have the same options; else none."""
    if scores.items is None:
        return ()
    options = scores.items.filter(pl.col("benchmark") == benchmark)["options"].to_list()
    distinct = {tuple(sorted(text for text in row or () if text)) for row in options}
    # One item alone tells nothing of whether options are classes.
    return distinct.pop() if len(distinct) == 1 and len(options) > 1 else ()


def _predictions(part: pl.DataFrame, n_classes: int) -> Iterator[_Prediction]:
    for row in part.select("item", "variant", "group", "parts").iter_rows(named=True):
        parts: dict[str, Any] = json.loads(row["parts"] or "{}")
        label, predicted = parts.get("label"), parts.get("predicted")
        if label is None or predicted is None or not 0 <= max(label, predicted) < n_classes:
            continue
        yield _Prediction((row["item"], row["variant"]), row["group"], int(label), int(predicted))
