"""How far an evaluator's mean moves with the mixture that it was trained on, and with the training run.

Runs are nested in mixtures: run 1 of two mixtures has nothing in common. The components are those of a
one-way analysis of variance (Henderson's method I, `stats.item_variance`), over the same items throughout.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.systems.ranking.study.rows import ArgumentsRow, family_row
from vivavoce.systems.ranking.study.source_scores import SourceScores


def spread_rows(table: SourceScores) -> Iterator[ArgumentsRow]:
    """By source the standard deviations of its mean: between mixtures, between runs, and as published.

    `between_mixtures` is the component sqrt(max(0, (MSB - MSW) / R)), with MSB - MSW over R as `raw`;
    `between_runs` is sqrt(MSW), pooled over mixtures with one degree of freedom less for each.
    `of_all_runs` takes all runs for one sample, with ddof 1 and ddof 0: the paper prints both.
    """
    mixture, run = ("mixture", "run") if table.family.of_mixtures else ("rater", "pass")
    if len(table.runs) < 2 or not table.items:
        why = f"one {run}: nothing to hold it against" if table.items else "no question in common"
        yield family_row(table, "spread", "between_runs", reason=why)
        return
    raters = np.array([key for key, _ in table.runs])
    for at, name in enumerate(table.sources):
        means = table.values[at].mean(axis=0) * table.sign
        parts = stats.item_variance(means, raters)
        shared: dict[str, Any] = {"candidate": name, "role": table.roles[name]}
        between, absent = parts.s2_item, None
        if table.n_raters < 2:
            absent = f"one {mixture}: nothing to hold it against"
        elif parts.s2_within is None:
            absent = f"one {run} of each {mixture}: the two cannot be told apart"
        yield family_row(
            table,
            "spread",
            "between_mixtures",
            value=None if absent or between is None else math.sqrt(between.value),
            raw=None if absent or between is None else between.raw,
            ddof=1,
            reason=absent,
            **shared,
        )
        lone = None if parts.s2_within is not None else f"one {run} of each {mixture}"
        yield family_row(
            table,
            "spread",
            "between_runs",
            value=None if parts.s2_within is None else math.sqrt(parts.s2_within),
            ddof=table.n_raters,
            reason=lone,
            **shared,
        )
        for ddof in (1, 0):
            deviation = float(np.std(means, ddof=ddof))
            yield family_row(table, "spread", "of_all_runs", value=deviation, ddof=ddof, **shared)
