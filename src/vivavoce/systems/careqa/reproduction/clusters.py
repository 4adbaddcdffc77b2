"""The clusters of metrics that the paper sees in each benchmark: Pearson's r over models (Appendix B.2)."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.systems.careqa.reproduction.published_tables import Floats, PublishedTables


def clusters(tables: PublishedTables, paper: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A row per open benchmark; null where the tables lack the columns or a value of a model.

    `perplexity_min`: the least r among the three perplexities, `perplexity_min_spearman` of their ranks,
    which are one and the same. `ngram_semantic_min` (of `ngram_semantic_pair`) and `ngram_semantic_mean`
    among the metrics of words and meaning. `prometheus_mean` and `prometheus_max` of the judge with these,
    and `prometheus_perplexity`, its r with word perplexity, the sign turned.
    """
    models = [name for name in tables.models if name not in paper["not_in_clusters"]]
    open_benchmarks = dict.fromkeys(d for d, metric in tables.cells if metric in paper["perplexity"])
    rows = {}
    for dataset in open_benchmarks:
        columns = {
            metric: values
            for metric in (*paper["perplexity"], *paper["ngram_semantic"], paper["judge"])
            if (values := tables.values((dataset, metric), models)) is not None and np.ptp(values) > 0
        }
        perplexity = _pairs(columns, paper["perplexity"])
        ranks = _pairs(columns, paper["perplexity"], "spearman")
        similarity = _pairs(columns, paper["ngram_semantic"])
        judge = _with(columns, paper["judge"], paper["ngram_semantic"])
        of_perplexity = _with(columns, paper["judge"], paper["perplexity"][:1])
        rows[dataset] = {
            "perplexity_min": min(perplexity.values(), default=None),
            "perplexity_min_spearman": min(ranks.values(), default=None),
            "ngram_semantic_mean": _mean(list(similarity.values())),
            "ngram_semantic_min": min(similarity.values(), default=None),
            "ngram_semantic_pair": min(similarity, key=lambda pair: similarity[pair], default=None),
            "prometheus_mean": _mean(judge),
            "prometheus_max": max(judge, default=None),
            "prometheus_perplexity": -of_perplexity[0] if of_perplexity else None,
            "n": len(models),
        }
    return rows


def _pairs(
    columns: Mapping[str, Floats], names: Sequence[str], coefficient: Any = "pearson"
) -> dict[tuple[str, str], float]:
    """The coefficient of every pair of these columns; empty where a column is missing."""
    if any(name not in columns for name in names):
        return {}
    return {
        (a, b): _r(columns[a], columns[b], coefficient) for a, b in combinations(names, 2)
    }  # fmt: skip


def _with(columns: Mapping[str, Floats], name: str, names: Sequence[str]) -> list[float]:
    """Pearson's r of one column with each of the others; empty where a column is missing."""
    if any(metric not in columns for metric in (name, *names)):
        return []
    return [_r(columns[name], columns[metric]) for metric in names]


def _r(x: Floats, y: Floats, coefficient: Any = "pearson") -> float:
    r = stats.correlation(x, y, coefficient=coefficient)
    assert r is not None, "columns without variation are not correlated"
    return r


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
