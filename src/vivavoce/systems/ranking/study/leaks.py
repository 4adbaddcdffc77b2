"""Leaks: items that repeat a training question, and arguments that name their answer."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from vivavoce.core.specs import signed
from vivavoce.studies.score_table import ScoreTable, counted_value
from vivavoce.systems.ranking.study.rows import DROP, DROP_NEAR, ArgumentsRow, run_row
from vivavoce.systems.ranking.study.source_scores import LEAK_METRIC

REPEATS = "repeats"
"""The first word of the leak of an item that repeats a training question; others are near."""


class Leak(NamedTuple):
    """An item that an evaluator may have been trained on."""

    benchmark: str
    item: str
    variant: str
    text: str


def leaks_of(scores: ScoreTable) -> list[Leak]:
    """The items whose `meta` holds a leak, in their order."""
    if scores.items is None:
        return []
    used = scores.scores.select("benchmark", "item", "variant").unique()
    rows = scores.items.join(used, on=["benchmark", "item", "variant"], how="semi")
    leaks = []
    for benchmark, item, variant, meta in rows.select("benchmark", "item", "variant", "meta").iter_rows():
        leak = json.loads(meta or "{}").get("leak")
        if leak:
            leaks.append(Leak(benchmark, item, variant, str(leak)))
    return sorted(leaks)


def items_to_drop(leaks: list[Leak], benchmark: str) -> dict[str, set[tuple[str, str]]]:
    """What a sensitivity analysis leaves out: items that repeat, and near ones too where there are any."""
    of_benchmark = [leak for leak in leaks if leak.benchmark == benchmark]
    repeated = {(leak.item, leak.variant) for leak in of_benchmark if leak.text.startswith(REPEATS)}
    leaked = {(leak.item, leak.variant) for leak in of_benchmark}
    sets = {DROP: repeated, DROP_NEAR: leaked if leaked != repeated else set()}
    return {name: items for name, items in sets.items() if items}


def leak_rows(scores: ScoreTable, leaks: list[Leak]) -> Iterator[ArgumentsRow]:
    """A row for each leaked item, and by source the mean of `answer_leak` where the run has it."""
    for leak in leaks:
        yield run_row(leak.benchmark, "leaks", "item", item=leak.item, text=leak.text)
    for key, measure in scores.measures.items():
        if signed(measure.signature).spec.name != LEAK_METRIC or measure.criterion.pool != "mean":
            continue
        rows = scores.scores.filter((pl.col("measure_id") == key) & (pl.col("edit") == ""))
        means = (
            rows.select("benchmark", "candidate", "role", value=counted_value(measure.criterion))
            .filter(pl.col("value").is_not_null())
            .group_by("benchmark", "candidate", "role")
            .agg(pl.col("value").sort().mean(), n=pl.len())
            .sort("benchmark", "candidate")
        )
        for benchmark, candidate, role, value, n in means.iter_rows():
            yield ArgumentsRow(
                benchmark=benchmark,
                metric=measure.metric,
                criterion=measure.criterion.criterion,
                rater=measure.rater,
                part="leaks",
                figure="answer_leak",
                candidate=candidate,
                role=role,
                value=value,
                n=n,
            )
