"""Means and standard deviations over training runs beside the printed ones; what a score's digits say."""

import math
from collections.abc import Mapping
from typing import Any

from vivavoce import stats
from vivavoce.systems.ranking.reproduction.published_scores import Floats, Printed, PublishedScores

_TOLERANCE = 0.01 + 1e-9
"""Half a unit of the runs' last digit and half a unit of the mean's."""
_Z = 1.959964

Means = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float | None]]]]


def means(scores: PublishedScores) -> dict[str, dict[str, dict[str, dict[str, float | None]]]]:
    """By task, evaluator or mixture, and source: `published` and `recomputed` mean, and standard deviations.

    `sd_population` divides by the number of runs, `sd_sample` by one less: null with one run.
    """
    return {
        task: {
            column: {
                source: _mean(
                    scores.scores(task, evaluator, source, mixture),
                    scores.printed.get((task, column, source), Printed()),
                )
                for source in scores.sources(task)
            }
            for column, (evaluator, mixture) in scores.columns(task).items()
        }
        for task in scores.tasks
    }


def _mean(values: Floats, printed: Printed) -> dict[str, float | None]:
    return {
        "published": printed.mean,
        "recomputed": float(values.mean()),
        "sd_population": float(values.std()),
        "sd_sample": float(values.std(ddof=1)) if len(values) > 1 else None,
        "published_sd": printed.sd,
    }


def near(published: float | None, recomputed: float | None) -> bool:
    """Whether two figures agree within what rounding explains; not where one of them is missing."""
    return published is not None and recomputed is not None and abs(published - recomputed) <= _TOLERANCE


def cells(rows: Means) -> list[tuple[tuple[str, str, str], Mapping[str, float | None]]]:
    """Every cell of `means` with its task, column and source."""
    return [
        ((task, column, source), cell)
        for task, columns in rows.items()
        for column, of_source in columns.items()
        for source, cell in of_source.items()
    ]


def deviations(scores: PublishedScores, rows: Means) -> dict[str, Any]:
    """Which standard deviation is printed: by the number of runs behind a cell, how many fit which.

    `neither`: cells whose printed standard deviation is no one of the two; `means`: cells whose printed mean
    is not that of the runs.
    """
    by_runs: dict[str, dict[str, int]] = {}
    unexplained, differing = [], []
    for (task, column, source), cell in cells(rows):
        evaluator, mixture = scores.columns(task)[column]
        place = {"task": task, "evaluator": column, "source": source}
        if cell["published"] is not None and not near(cell["published"], cell["recomputed"]):
            differing.append({**place, "published": cell["published"], "recomputed": cell["recomputed"]})
        if cell["published_sd"] is None:
            continue
        fits = {kind: near(cell["published_sd"], cell[f"sd_{kind}"]) for kind in ("population", "sample")}
        n_runs = len(scores.scores(task, evaluator, source, mixture))
        counts = by_runs.setdefault(str(n_runs), {"cells": 0, "population": 0, "sample": 0, "neither": 0})
        counts["cells"] += 1
        for kind, fit in fits.items():
            counts[kind] += fit
        if not any(fits.values()):
            counts["neither"] += 1
            unexplained.append({**place, **{key: cell[key] for key in _SDS}})
    return {"runs": by_runs, "neither": unexplained, "means": differing}


_SDS = ("published_sd", "sd_population", "sd_sample")


def mixture_spread(scores: PublishedScores) -> dict[str, dict[str, dict[str, Any]]]:
    """Of the LLM-trained evaluator, by task and source: how far mixtures, and runs of one mixture, lie apart.

    Analysis of variance: `sd_run` is the root of the mean square in mixtures, `sd_mixture` that of (mean
    square between mixtures - mean square in them) / runs, 0 where the `raw` variance is negative. Null with
    one mixture, or with one run in each.
    """
    return {
        task: {source: _spread(scores, task, source) for source in scores.sources(task)}
        for task in scores.tasks
    }


def _spread(scores: PublishedScores, task: str, source: str) -> dict[str, Any]:
    runs = scores.runs[task, "llm"]
    of_mixture = [str(mixture) for mixture, _ in runs]
    analysis = stats.item_variance([of_run[source] for of_run in runs.values()], of_mixture)
    return {
        "sd_run": None if analysis.s2_within is None else math.sqrt(analysis.s2_within),
        "sd_mixture": None if analysis.s2_item is None else math.sqrt(analysis.s2_item.value),
        "raw": None if analysis.s2_item is None else analysis.s2_item.raw,
        "n_mixtures": analysis.n_items,
        "n_runs": analysis.n_values,
    }


def score_grid(scores: PublishedScores) -> dict[str, dict[str, Any]]:
    """By task, whether scores can be shares of the `items`: how many of `n` are k / items to two digits.

    `by_source` gives the same by source. `rotations`: how many of the others are k / (items · rotations).
    `half_width`: of the 95 % interval of a share of one half of so many items, in points.
    """
    return {task: _grid(scores, task) for task in scores.tasks}


def _grid(scores: PublishedScores, task: str) -> dict[str, Any]:
    items, rotations = scores.paper["items"][task], scores.paper["rotations"].get(task)
    by_source: dict[str, dict[str, int]] = {
        source: {"n": 0, "multiples": 0} for source in scores.sources(task)
    }
    remaining = []
    for evaluator in scores.evaluators:
        for of_run in scores.runs[task, evaluator].values():
            for source, score in of_run.items():
                by_source[source]["n"] += 1
                fits = is_share(score, items)
                by_source[source]["multiples"] += fits
                if not fits:
                    remaining.append(score)
    return {
        "items": items,
        "n": sum(counts["n"] for counts in by_source.values()),
        "multiples": sum(counts["multiples"] for counts in by_source.values()),
        "rotations": None if rotations is None else sum(is_share(s, items * rotations) for s in remaining),
        "by_source": by_source,
        "half_width": 100 * _Z * 0.5 / math.sqrt(items),
    }


def is_share(percent: float, items: int) -> bool:
    """Whether a percentage of two digits can be k of `items`."""
    return abs(100 * round(percent * items / 100) / items - percent) <= 0.005 + 1e-9
