"""What the tables say of themselves: identities between columns, and sample sizes behind standard errors."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vivavoce.systems.careqa.reproduction.published_tables import Cell, PublishedTables

_Z = 1.959964
_MOST_ITEMS = 200
"""Sample sizes tried for a mean of ratings: with more, every printed figure is near a possible mean."""


def identities(tables: PublishedTables, paper: Mapping[str, Any]) -> dict[str, Any]:
    """Columns that are one number: the three perplexities of a benchmark, and multimedqa.

    By benchmark: `bits_deviation`, the largest distance of log2(byte perplexity) from bits per byte, and
    `bytes_per_word`, ln(word perplexity) / ln(byte perplexity), which the texts alone decide: its mean, least
    and greatest over the models. `multimedqa`: the largest distance from the size-weighted mean of its parts.
    """
    rows = {
        dataset: _perplexities([tables.cells.get((dataset, metric), {}) for metric in paper["perplexity"]])
        for dataset, metric in tables.cells
        if metric == paper["perplexity"][-1]
    }
    return rows | {"multimedqa": _multimedqa(tables, paper["multimedqa"])}


def _perplexities(columns: Sequence[Mapping[str, Cell]]) -> dict[str, Any]:
    """Distances and quotients of word perplexity, byte perplexity and bits per byte, over the models."""
    shared = set.intersection(*map(set, columns))
    triples = [[column[name].value or 0.0 for column in columns] for name in sorted(shared)]
    # a perplexity of 1 or less has no logarithm to divide by
    usable = np.array([triple for triple in triples if min(triple[:2]) > 1]).reshape(-1, 3)
    deviations = np.abs(np.log2(usable[:, 1]) - usable[:, 2]).tolist()
    ratios = (np.log(usable[:, 0]) / np.log(usable[:, 1])).tolist()
    return {
        "bits_deviation": max(deviations, default=None),
        "bytes_per_word": float(np.mean(ratios)) if ratios else None,
        "bytes_per_word_low": min(ratios, default=None),
        "bytes_per_word_high": max(ratios, default=None),
        "n": len(ratios),
    }


def _multimedqa(tables: PublishedTables, sizes: Mapping[str, int]) -> dict[str, Any]:
    column = ("multimedqa", "Accuracy")
    models = [name for name in tables.models if name in tables.cells.get(column, {})]
    printed = tables.values(column, models) if models else None
    parts = [tables.values((name, "Accuracy"), models) for name in sizes]
    if printed is None or any(part is None for part in parts):
        return {"deviation": None, "n": len(models)}
    mean = np.average(np.stack([p for p in parts if p is not None]), axis=0, weights=list(sizes.values()))
    return {"deviation": float(np.abs(mean - printed).max()), "n": len(models)}


def sample_sizes(tables: PublishedTables, paper: Mapping[str, Any]) -> dict[str, Any]:
    """How many items stand behind a figure, as far as its error or its last digit tells.

    `accuracy[dataset][model]`: 1 + p (1 - p) / se², with `low` and `high` from the rounding of both. Half of
    Med Text Classification has a tenth of the other half. `judge[dataset]`: the least number of items whose
    mean rating, in quarters, could be every printed figure; null above 200. `review`: the margin of error at
    95 % of the samples that people reviewed, by finite population, beside the margin stated.
    """
    columns = {kind: [(d, column) for (d, metric), column in tables.cells.items() if metric == kind]
               for kind in ("Accuracy", paper["judge"])}  # fmt: skip
    of_accuracy = {dataset: _implied_sizes(column) for dataset, column in columns["Accuracy"]}
    of_judge = {dataset: _least_items(column.values()) for dataset, column in columns[paper["judge"]]}
    review = {
        name: dict(sample, recomputed=_margin(sample["reviewed"], sample["population"]),
                   needed=_needed(sample["margin"], sample["population"]))
        for name, sample in paper["review"].items()
    }  # fmt: skip
    return {"accuracy": of_accuracy, "judge": of_judge, "review": review}


def _implied_sizes(column: Mapping[str, Cell]) -> dict[str, dict[str, float | None]]:
    """The items of each model with an error."""
    return {
        model: _implied_n(cell.value, cell.error)
        for model, cell in column.items()
        if cell.value is not None and cell.error
    }


def _implied_n(value: float, error: float, half_unit: float = 0.0005) -> dict[str, float | None]:
    """Of a share with se² = p (1 - p) / (n - 1), both printed to three digits."""

    def size(p: float, se: float) -> float | None:
        return 1 + p * (1 - p) / se**2 if se > 0 else None

    ends = (value - half_unit, value + half_unit)
    shares = sorted(ends, key=lambda p: p * (1 - p))
    return {
        "n": size(value, error),
        "low": size(shares[0], error + half_unit),
        "high": size(shares[1], error - half_unit),
    }


def _least_items(cells: Iterable[Cell], half_unit: float = 0.0005) -> int | None:
    """The least n of which every value may be a mean of n ratings 0, 1/4, …, 1."""
    values = [cell.value for cell in cells if cell.value is not None]
    for n in range(1, _MOST_ITEMS + 1):
        if all(abs(value - round(value * 4 * n) / (4 * n)) <= half_unit + 1e-9 for value in values):
            return n
    return None


def _margin(n: int, population: int) -> float:
    """Half width of the normal interval of a share of one half, with the finite correction."""
    return _Z * 0.5 / math.sqrt(n) * math.sqrt((population - n) / (population - 1))


def _needed(margin: float, population: int) -> int:
    """Items of a sample with this margin for a share of one half: n0 / (1 + (n0 - 1) / N), rounded up."""
    n0 = _Z**2 * 0.25 / margin**2
    return math.ceil(n0 / (1 + (n0 - 1) / population))
