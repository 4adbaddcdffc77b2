"""What labels are for beside a verdict: how many are needed, and what they make of a candidate's mean."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import Marks, by_repeat, over_repeats
from vivavoce.studies.examined import RESPONSE, row, whole
from vivavoce.studies.figures import Row, too_few
from vivavoce.studies.labelled import Beside

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HALF_WIDTH", "corrected", "needed"]

HALF_WIDTH = 0.05
"""Of the share of equal marks, for which labels are reckoned."""


def needed(
    measure: Measure, both: Beside, judged: "pl.DataFrame", found: Sequence[Row], margin: float | None
) -> Iterator[Row]:
    """Labels for a difference known to the margin, and for the share of equal marks known to 5 points."""
    by = {(r["contrast"], r["figure"]): r for r in found if r["benchmark"] == both.benchmark}
    apart, equal = by["difference", "alpha_ordinal"], by["judge and people", "percent"]
    shared = row("people", both.benchmark, measure, contrast="needed", margin=margin)
    n: int | None = None
    reason: str | None = "no margin: --margin says what difference would matter"
    if apart["value"] is None:
        reason = apart["reason"]
    elif margin is not None:
        n = stats.labels_for_coefficient(apart["n_units"], apart["se"], se_target=margin / 1.959964)
        reason = None if n else "the labels show no spread: none can be reckoned with"
    yield shared | {
        "figure": "labels_for_margin",
        "value": n,
        "n_units": apart["n_units"],
        "n_groups": apart["n_groups"],
        "reason": reason,
    }
    p, total = equal["value"], judged.filter(judged["benchmark"] == both.benchmark).height
    n, reason = None, equal["reason"]
    if p is not None and not 0 < p < 1:
        reason = "all marks are equal, or none: nothing to reckon with"
    elif p is not None:
        plain = p * (1 - p) / equal["n_units"]
        spread = equal["se"] ** 2 / plain if equal["se"] else 1.0
        n, reason = stats.proportion_n(p, HALF_WIDTH, population=total, design_effect=spread), None
    yield shared | {
        "figure": "labels_for_percent",
        "margin": HALF_WIDTH,
        "value": n,
        "n_units": equal["n_units"],
        "n_groups": equal["n_groups"],
        "reason": reason,
    }


def corrected(marks: Marks, key: int, both: Beside) -> Iterator[Row]:
    """By candidate the judge's mean, its correction, the corrected mean, and the labels by themselves.

    Means are over questions and count silence by the criterion's rule, as a leaderboard does. `se` is by
    group; `corrected_alone` takes questions for independent, as figures elsewhere often do.
    """
    import polars as pl

    measure = marks.measures[key]
    at_benchmark = whole(marks.scores).filter(pl.col("benchmark") == both.benchmark)
    judged = by_repeat(at_benchmark.filter(pl.col("measure_id") == key), measure.criterion)
    same = [k for k in marks.people if marks.measures[k].criterion.criterion == measure.criterion.criterion]
    said = pl.concat(
        by_repeat(at_benchmark.filter(pl.col("measure_id") == k), marks.measures[k].criterion)
        for k in sorted(same)
    )
    people = said.group_by(*RESPONSE).agg(label=pl.col("observed").mean())
    step = (
        judged.join(people, on=list(RESPONSE), validate="1:1")
        .group_by("item", "variant", "candidate")
        .agg(apart=(pl.col("label") - pl.col("observed")).mean())
        .filter(pl.col("apart").is_not_null())
    )
    items = (
        over_repeats(judged)
        .filter(pl.col("observed").is_not_null())
        .join(step, on=["item", "variant", "candidate"], how="left", validate="1:1", maintain_order="left")
    )
    for (candidate,), own in items.group_by("candidate", maintain_order=True):
        at = own["apart"].is_not_null().to_numpy()
        groups = own["group"].to_numpy()
        n = {"n_units": int(at.sum()), "n_groups": len(set(groups[at].tolist())), "n_ratings": own.height}
        one = row("people", both.benchmark, measure, contrast="correction", candidate=str(candidate), **n)
        if few := too_few(groups[at].tolist()):
            yield one | {"figure": "corrected", "reason": few}
            continue
        j = own["observed"].to_numpy()
        h = j[at] + own["apart"].to_numpy()[at]
        places = np.flatnonzero(at)
        made = stats.prediction_powered(j, h, labelled=places, groups=groups)
        alone = stats.prediction_powered(j, h, labelled=places)
        yield one | {"figure": "judge_mean", "value": made.judge_mean}
        yield one | {"figure": "step", "value": made.correction}
        for figure, found in (("corrected", made), ("corrected_alone", alone)):
            values = {"value": found.value, "low": found.low, "high": found.high, "se": found.se}
            yield one | {"figure": figure, **values}
        yield one | {"figure": "labels_only", "value": made.labels_mean, "se": made.labels_se}
        yield one | {"figure": "labels_only_alone", "value": alone.labels_mean, "se": alone.labels_se}
