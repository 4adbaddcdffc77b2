"""Figure 1: Pearson's r of every column of the tables with the weighted accuracy of multiple choice.

The tables are rounded, so r is known within limits only: `low` and `high` are the least and greatest r that
unrounded values could give. The figure prints two significant digits.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.systems.careqa.reproduction.published_tables import Column, Floats, PublishedTables

_STEPS = 100
"""Corners of the box of unrounded values that the search visits; it settles within ten."""


class Rounded(NamedTuple):
    """Values as printed, and half a unit of their last digit."""

    values: Floats
    half_unit: float


class McqaMean(NamedTuple):
    """The weighted accuracy: a row of accuracies for each of the `weights`, the models in one order."""

    accuracies: Rounded
    weights: Floats


def figure1(tables: PublishedTables, paper: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """A row per cell of the figure, by "DATASET | METRIC".

    `published`, `recomputed`, `deviation` (recomputed minus published), `low` and `high` within the rounding
    of the tables, `within_rounding`, and `why` where a cell does not come out. What cannot be had is null.
    """
    models = [name for name in tables.models if name not in paper["larger"]]
    mean = _mcqa_mean(tables, paper["mcqa"], models)
    rows = {}
    for (dataset, metric), printed in tables.figure.items():
        name = f"{dataset} | {metric}"
        reason = paper["why"].get(name)
        row: dict[str, Any] = {"published": printed, "recomputed": None, "deviation": None,
                               "low": None, "high": None, "within_rounding": None,
                               "n": len(models), "why": reason}  # fmt: skip
        column = (dataset, paper["columns"].get(metric, metric))
        limits = _limits(tables, column, models, mean)
        if isinstance(limits, str):
            row["why"] = reason or limits
        else:
            row |= limits | _compared(limits, printed, reason)
        rows[name] = row
    return rows


def _mcqa_mean(tables: PublishedTables, sizes: Mapping[str, int], models: Sequence[str]) -> McqaMean | None:
    """The weighted accuracy of the models; null where one of them lacks an accuracy."""
    columns = [(name, "Accuracy") for name in sizes]
    accuracies = [values for c in columns if (values := tables.values(c, models)) is not None]
    if len(accuracies) < len(columns) or len(models) < 3:
        return None
    weights = np.array(list(sizes.values()), dtype=float)
    half_unit = max(map(tables.half_unit, columns))
    return McqaMean(Rounded(np.stack(accuracies), half_unit), weights / weights.sum())


def _limits(
    tables: PublishedTables, column: Column, models: Sequence[str], mean: McqaMean | None
) -> dict[str, float] | str:
    """The correlation of a column, and its least and greatest value within rounding; or why there is none."""
    if mean is None:
        return "an accuracy of the weighted average is missing"
    if column[0] == "Medical MCQA":  # the average beside itself
        return {"recomputed": 1.0, "low": 1.0, "high": 1.0}
    values = tables.values(column, models)
    if values is None or np.ptp(values) == 0:
        return "the tables lack a value of a model"
    sign = -1.0 if "perplexity" in column[1].lower() else 1.0  # lower is better
    x = Rounded(sign * values, tables.half_unit(column))
    r = stats.correlation(x.values, mean.weights @ mean.accuracies.values, coefficient="pearson")
    if r is None:
        return "the weighted average does not vary"
    low, high = (extreme_r(x, mean.accuracies, mean.weights, side) for side in (-1, 1))
    return {"recomputed": r, "low": low, "high": high}


def _compared(limits: Mapping[str, float], printed: float | None, reason: str | None) -> dict[str, Any]:
    """What a cell says beside the printed one; nothing where none is printed."""
    if printed is None:
        return {}
    slack = printed_half_unit(printed) + 1e-9
    in_limits = limits["low"] - slack <= printed <= limits["high"] + slack
    return {
        "deviation": limits["recomputed"] - printed,
        "within_rounding": in_limits,
        "why": None if in_limits else reason or "the tables give another figure",
    }


def printed_half_unit(value: float) -> float:
    """Half a unit of the second significant digit, which is the last that the figure prints."""
    return 0.5 * 10.0 ** (math.floor(math.log10(abs(value))) - 1) if value else 0.005


def extreme_r(x: Rounded, parts: Rounded, weights: Floats, side: int) -> float:
    """The least (side -1) or greatest (1) Pearson r of x with the weighted mean of `parts`, within rounding.

    `parts` has a row of values for each of the `weights`.
    Every unrounded value may lie anywhere within half a unit. The search goes from corner to corner of that
    box by the sign of the gradient until r grows no more, so the end is a local one: the true limit may be
    wider by a little, never narrower.
    """
    nearest, nearest_parts = x.values, parts.values
    best, *gradients = _r_with_gradients(nearest, weights @ nearest_parts)
    for _ in range(_STEPS):
        of_x, of_mean = gradients
        corner = x.values + side * x.half_unit * np.sign(of_x)
        corner_parts = parts.values + side * parts.half_unit * np.sign(np.outer(weights, of_mean))
        r, *gradients = _r_with_gradients(corner, weights @ corner_parts)
        if side * (r - best) <= 1e-12:
            break
        best = r
    return best


def _r_with_gradients(x: Floats, y: Floats) -> tuple[float, Floats, Floats]:
    """Pearson's r, and its derivative by each value of x and of y."""
    x, y = x - x.mean(), y - y.mean()
    norm_x, norm_y = np.linalg.norm(x), np.linalg.norm(y)
    zx, zy = x / norm_x, y / norm_y
    r = float(zx @ zy)
    return r, (zy - r * zx) / norm_x, (zx - r * zy) / norm_y


def outside_rounding(rows: Mapping[str, Mapping[str, Any]]) -> Sequence[str]:
    """The cells that no unrounded values of the tables could give."""
    return [name for name, row in rows.items() if row["within_rounding"] is False]
