"""How far an evaluator's mean moves with the mixture that it was trained on, and with the training run.

Runs are nested in mixtures: run 1 of two mixtures has nothing in common. The components are those of a
one-way analysis of variance (Henderson's method I, `stats.item_variance`), over the same items throughout.
"""

import math
from collections.abc import Iterator
from functools import partial

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
        reason = f"one {run}: nothing to hold it against" if table.items else "no question in common"
        yield family_row(table, "spread", "between_runs", reason=reason)
        return
    for name in table.sources:
        yield from _of_source(table, name, mixture, run)


def _of_source(table: SourceScores, name: str, mixture: str, run: str) -> Iterator[ArgumentsRow]:
    alone = lone = None
    if table.n_raters < 2:
        alone = f"one {mixture}: nothing to hold it against"
    elif len(table.runs) == table.n_raters:
        alone = f"one {run} of each {mixture}: the two cannot be told apart"
    row = partial(family_row, table, "spread", candidate=name, role=table.roles[name])
    means = table.values[table.sources.index(name)].mean(axis=0) * table.sign
    parts = stats.item_variance(means, np.array([key for key, _ in table.runs]))
    yield row("between_mixtures", ddof=1, reason=alone, **_between(parts, alone))
    within_sd = None if parts.s2_within is None else math.sqrt(parts.s2_within)
    if within_sd is None:
        lone = f"one {run} of each {mixture}"
    yield row("between_runs", value=within_sd, ddof=table.n_raters, reason=lone)
    for ddof in (1, 0):
        yield row("of_all_runs", value=float(np.std(means, ddof=ddof)), ddof=ddof)


def _between(parts: stats.ItemVariance, alone: str | None) -> dict[str, float | None]:
    """The deviation between mixtures, and the component before it is cut at zero."""
    if alone or parts.s2_item is None:
        return {"value": None, "raw": None}
    return {"value": math.sqrt(parts.s2_item.value), "raw": parts.s2_item.raw}
