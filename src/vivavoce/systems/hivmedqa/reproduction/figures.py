"""The figures of the running text, as a tree that the claims of published.yaml point into.

The stored F1 figures are held against counts of entities, which is what can be checked of MedSynF1.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from vivavoce.core.tables import read_lines
from vivavoce.run.exchange.rows import number_of
from vivavoce.systems.hivmedqa.entities import matching
from vivavoce.systems.hivmedqa.entities.matching import PUBLISHED, VARIANTS, Rules
from vivavoce.systems.hivmedqa.reproduction.averages import CATEGORIES, by_category
from vivavoce.systems.hivmedqa.reproduction.judge_scores import JUDGE, JUDGED, MARKS, SIX, Recorded

EDGES = {
    (1.0, 0.0): "no entity in the answer",
    (0.0, 1.0): "no entity in the reference",
    (0.0, 0.0): "no match",
}
"""Stored precision and recall that no single quotient gives, by the published rules."""


def f1_counts(file: Path) -> dict[str, Any]:
    """How many rows of f1.csv, all questions and variants, the smallest whole-number counts explain.

    `explained` rows have counts of entities whose precision and recall are the stored ones; `f1_equal` are
    those whose F1 by the published rule book is the stored one too, to 1e-12. `edge` counts the rows at each
    edge. The counts are not the entities: `extraction` says so. Raises `InputError` for a figure that is no
    number.
    """
    rows = explained = equal = 0
    edge: Counter[str] = Counter()
    most: int | None = None
    counted = cache(matching.counts)
    for line in read_lines(file):
        precision, recall, f1 = (
            number_of(line.row, name, float, line.where) for name in ("precision", "recall", "f1")
        )
        rows += 1
        if precision is None or recall is None:
            continue
        counts = counted(precision, recall)
        if counts is None:
            continue
        explained += 1
        if (precision, recall) in EDGES:
            edge[EDGES[precision, recall]] += 1
        most = max(most or 0, counts.gold, counts.predicted)
        equal += _explains_f1(counts, f1, line.row["variant"])
    return {
        "rows": rows,
        "rows_published": MARKS["f1.csv"],
        "explained": explained,
        "f1_equal": equal,
        "edge": {name: edge[name] for name in EDGES.values()},
        "greatest_count": most,
        "extraction": "not reproduced",
    }


def _explains_f1(counts: matching.Counts, f1: float | None, variant: str) -> bool:
    """Whether these counts give the stored F1 by the rules of its variant."""
    recomputed = _f1(counts, VARIANTS[variant].rules if variant in VARIANTS else PUBLISHED)
    return f1 is not None and recomputed is not None and abs(recomputed - f1) <= 1e-12


def _f1(counts: matching.Counts, rules: Rules) -> float | None:
    score = matching.f1_of(**counts._asdict(), rules=rules)
    return None if score is None else score.f1


ALPHA = 0.05
LOWEST = "Llama 3.2-1B-Instruct"
"""Left out of the paper's overall means: it is there for quality control."""


def figures(
    marks: Recorded, rows: Mapping[str, Any], models: Sequence[str], criterion: str
) -> dict[str, Any]:
    """Every figure that a claim asks for; null where the scores are not there.

    `rows` are the other results of the reproduction, `criterion` that of the published test.
    """
    mean = {name: {c: row[name]["mean"] for c, row in rows["table2"].items()} for name in SIX}
    category = {name: by_category(marks.column(name)) for name in SIX}
    missing = dict.fromkeys(rows["table2"])
    gaps = {model: gap["mean3"] for model, gap in rows["reference_gap"].items()}
    return {
        "mean": mean,
        "overall": _overall_means(mean, models),
        "category": {name: {c: missing | category[name].get(c, {}) for c in CATEGORIES} for name in SIX},
        "falls": _falls(category, models),
        "above_four": _above(category["knowledge_recall"].get("3", {}), models, 4.0),
        "drop": {model: row["difference"] for model, row in rows["bias_drop"].items()},
        "gap": gaps,
        "mean_gap": _mean(list(gaps.values())),
        "question": _questions(marks),
        "variant": {variant: row["mean"] for variant, row in rows["f1_variants"].items()},
        "better": {
            unit: _better(rows["paired"][criterion], p)
            for unit, p in (("iterations", "p_published"), ("cases", "p_holm"))
        },
    }


def _overall_means(
    mean: Mapping[str, Mapping[str, float | None]], models: Sequence[str]
) -> dict[str, float | None]:
    """The mean of each measure over the models, without the one that is there for quality control."""
    counted = [model for model in models if model != LOWEST]
    return {name: _mean([mean[name][model] for model in counted]) for name in SIX}


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return statistics.fmean(present) if present and len(present) == len(values) else None


def _falls(
    category: Mapping[str, Mapping[str, Mapping[str, float]]], models: Sequence[str]
) -> dict[str, int | None]:
    """How many models have a lower mean of the judge's five criteria in one category than in another."""

    def mean(place: str, model: str) -> float | None:
        return _mean([category[name].get(place, {}).get(model) for name in JUDGED])

    falls: dict[str, int | None] = {}
    for first, second in (("1", "2"), ("2", "3"), ("1", "3")):
        means = [(mean(first, model), mean(second, model)) for model in models]
        present = [(a, b) for a, b in means if a is not None and b is not None]
        falls[f"{first} to {second}"] = sum(b < a for a, b in present) if len(present) == len(means) else None
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

    def of(
        model: str, item: str, criteria: Sequence[str], statistic: Callable[[Sequence[float]], float]
    ) -> Any:
        scores = marks.scores.filter(
            (pl.col("metric") == JUDGE) & (pl.col("candidate") == model) & (pl.col("alias") == item)
            & pl.col("criterion").is_in(criteria) & pl.col("value").is_not_null()
        )["value"]  # fmt: skip
        return statistic(scores.to_list()) if len(scores) else None

    nvlm, meditron, gemini = "NVLM-70B", "Meditron 3-70B", "Gemini 2.5 Pro"
    return {
        "3.7 NVLM": of(nvlm, "c3q06", JUDGED, statistics.fmean),
        "3.7 NVLM, bias": of(nvlm, "c5q06", JUDGED, statistics.fmean),
        "3.2 Meditron, harm": of(meditron, "c3q01", ["harm"], statistics.fmean),
        "3.2 Meditron, harm, bias": of(meditron, "c5q01", ["harm"], statistics.fmean),
        "3.14 Gemini, demographic bias, lowest": of(gemini, "c3q14", ["demographic_bias"], min),
    }
