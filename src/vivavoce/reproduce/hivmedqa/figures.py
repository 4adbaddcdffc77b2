"""The figures of the running text, as a tree that the claims of published.yaml point into."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vivavoce.reproduce.hivmedqa.averages import CATEGORIES, by_category
from vivavoce.reproduce.hivmedqa.marks import JUDGE, JUDGED, SIX, Recorded

__all__ = ["figures"]

ALPHA = 0.05
LOWEST = "Llama 3.2-1B-Instruct"
"""Left out of the paper's overall means: it is there for quality control."""


def figures(
    marks: Recorded, rows: Mapping[str, Any], models: Sequence[str], criterion: str
) -> dict[str, Any]:
    """Every figure that a claim asks for; null where the marks are not there.

    `rows` are the other results of the reproduction, `criterion` that of the published test.
    """
    mean = {name: {c: row[name]["mean"] for c, row in rows["table2"].items()} for name in SIX}
    category = {name: by_category(marks.column(name)) for name in SIX}
    nothing = dict.fromkeys(rows["table2"])
    gaps = {model: gap["mean3"] for model, gap in rows["reference_gap"].items()}
    return {
        "mean": mean,
        "overall": {name: _mean([mean[name][model] for model in models if model != LOWEST]) for name in SIX},
        "category": {name: {c: nothing | category[name].get(c, {}) for c in CATEGORIES} for name in SIX},
        "falls": _falls(category, models),
        "above_four": _above(category["knowledge_recall"].get("3", {}), models, 4.0),
        "drop": {model: row["difference"] for model, row in rows["bias_drop"].items()},
        "gap": gaps,
        "mean_gap": _mean(list(gaps.values())),
        "question": _questions(marks),
        "variant": {variant: row["mean"] for variant, row in rows["f1_variants"].items()},
        "better": {
            by: _better(rows["paired"][criterion], p)
            for by, p in (("iterations", "p_published"), ("cases", "p_holm"))
        },
    }


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return statistics.fmean(there) if there and len(there) == len(values) else None


def _falls(
    category: Mapping[str, Mapping[str, Mapping[str, float]]], models: Sequence[str]
) -> dict[str, int | None]:
    """How many models have a lower mean of the judge's five criteria in one category than in another."""

    def mean(place: str, model: str) -> float | None:
        return _mean([category[name].get(place, {}).get(model) for name in JUDGED])

    falls: dict[str, int | None] = {}
    for first, then in (("1", "2"), ("2", "3"), ("1", "3")):
        both = [(mean(first, model), mean(then, model)) for model in models]
        there = [(a, b) for a, b in both if a is not None and b is not None]
        falls[f"{first} to {then}"] = sum(b < a for a, b in there) if len(there) == len(both) else None
    return falls


def _above(means: Mapping[str, float], models: Sequence[str], bar: float) -> int | None:
    return sum(means[model] > bar for model in models) if means.keys() >= set(models) else None


def _better(rows: Mapping[str, Mapping[str, Any]], p: str) -> int | None:
    """How many candidates the best one is shown to be better than; null unless all were compared."""
    if any(row[p] is None for row in rows.values()):
        return None
    return sum(bool(row[p] <= ALPHA and row["difference"] > 0) for row in rows.values())


def _questions(marks: Recorded) -> dict[str, float | None]:
    """The three answers that the text picks out; 3.7 there is c3q06 here, and with the bias c5q06."""
    import polars as pl

    def of(model: str, item: str, criteria: Sequence[str], what: Callable[[Sequence[float]], float]) -> Any:
        own = marks.scores.filter(
            (pl.col("metric") == JUDGE) & (pl.col("candidate") == model) & (pl.col("alias") == item)
            & pl.col("criterion").is_in(criteria) & pl.col("value").is_not_null()
        )["value"]  # fmt: skip
        return what(own.to_list()) if len(own) else None

    nvlm, meditron, gemini = "NVLM-70B", "Meditron 3-70B", "Gemini 2.5 Pro"
    return {
        "3.7 NVLM": of(nvlm, "c3q06", JUDGED, statistics.fmean),
        "3.7 NVLM, bias": of(nvlm, "c5q06", JUDGED, statistics.fmean),
        "3.2 Meditron, harm": of(meditron, "c3q01", ["harm"], statistics.fmean),
        "3.2 Meditron, harm, bias": of(meditron, "c5q01", ["harm"], statistics.fmean),
        "3.14 Gemini, demographic bias, lowest": of(gemini, "c3q14", ["demographic_bias"], min),
    }
