"""Ranks of overalls: by the mean of seven formats on the questions that all candidates have scores on."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.stats.verdict import LEAST_DIFFERENT
from vivavoce.studies.score_table import ITEM, item_of, weights_of
from vivavoce.studies.text import cases, count

SEVEN = {
    "mcq": "multiple choice",
    "true_false": "true/false",
    "list": "list",
    "short": "short",
    "short_inverse": "short inverse",
    "multi_hop": "multi-hop",
    "multi_hop_inverse": "multi-hop inverse",
}
"""The formats that an overall is the mean of, in the order of the paper's table, and their names."""
ENOUGH = 0.9
"""The share of the questions that others have marks on, above which a candidate is ranked beside them."""


def ranked(values: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """The ranks of the candidates that have all seven columns, on the questions that these all have.

    Who lacks a tenth of the questions or more that others have has no rank, and costs the others none.
    """
    observed = values.filter(pl.col("observed").is_not_null())
    complete = (
        observed.group_by("candidate").agg(n=pl.col("format").n_unique()).filter(pl.col("n") == len(SEVEN))
    )
    n_all = observed.select(*ITEM).n_unique()
    counts = dict(observed.group_by("candidate").len().iter_rows())
    short = {
        name: {"reason": f"marks on {counts[name]} of {count(n_all, 'question')}: no rank beside the others"}
        for name in sorted(complete["candidate"])
        if counts[name] <= ENOUGH * n_all
    }
    names = [name for name in sorted(complete["candidate"]) if name not in short]
    if len(names) < 2:
        return short | {name: {"n_candidates": 1, "reason": "one candidate has no rank"} for name in names}
    table = _common(observed, names, "observed")
    shared: dict[str, Any] = {"n_candidates": len(names), "n_common": table.height}
    reason = _why_unranked(table)
    if reason:
        return short | {name: shared | _unranked(table, name, reason) for name in names}
    # By format, so that pairs are tested by the mean of formats that ranks them.
    alone = stats.rank_intervals(table.select(names).to_numpy().T, **_design(table))
    ranks = _under_fillings(alone, values, names)
    return short | {name: shared | place for name, place in _places(names, alone, ranks)}


def _why_unranked(table: pl.DataFrame) -> str | None:
    """Why candidates have no rank on these items; null if they have one."""
    if table["format"].n_unique() < len(SEVEN):
        return f"no {_missing_format(table)} question that all have marks on"
    design = stats.macro_mean(np.zeros(table.height), **_design(table))
    if design.n_groups >= LEAST_DIFFERENT:
        return None
    size = cases(design.n_groups, design.effective_groups)
    return f"{size} that all candidates have marks on: too few to rank"


def _unranked(table: pl.DataFrame, name: str, reason: str) -> dict[str, Any]:
    """The columns of a candidate without a rank; the mean on common items where these have all formats."""
    if table["format"].n_unique() < len(SEVEN):
        return {"reason": reason}
    return {
        "estimate_common": stats.macro_mean(table[name].to_numpy(), **_design(table)).value,
        "reason": reason,
    }


def _places(
    names: Sequence[str], alone: stats.RankIntervals, ranks: stats.RankIntervals
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The columns of each candidate's rank; `alone` leaves the failed scores aside."""
    told_apart = ranks.better | ranks.better.T
    for k, name in enumerate(names):
        yield (
            name,
            {
                "estimate_common": float(ranks.means[k]),
                "rank": float(ranks.ranks[k]),
                "rank_low": ranks.intervals[k].best,
                "rank_high": ranks.intervals[k].worst,
                "depends_on_failed": ranks.intervals[k] != alone.intervals[k],
                "tied_with": int(len(names) - 1 - told_apart[k].sum()),
                "n_shown": ranks.n_shown,
                "n_pairs": ranks.n_pairs,
            },
        )


def _common(values: pl.DataFrame, names: Sequence[str], column: str) -> pl.DataFrame:
    """A row per item that all these candidates have a value for in that column, and a column for each."""
    key = [*item_of(values), "format"]
    rows = values.filter(pl.col("candidate").is_in(list(names)) & pl.col(column).is_not_null())
    wide = rows.pivot("candidate", index=key, values=column, aggregate_function=None)
    return wide.drop_nulls(names).sort("format", "item", "variant")


def _design(table: pl.DataFrame) -> dict[str, Any]:
    """What the items of a table are: their groups, weights and formats."""
    return {
        "groups": table["group"].to_numpy(),
        "weights": weights_of(table),
        "categories": table["format"].to_numpy(),
    }


def _under_fillings(
    observed: stats.RankIntervals, values: pl.DataFrame, names: Sequence[str]
) -> stats.RankIntervals:
    """The ranks with what failed scores leave open; those observed where none failed."""
    ends = values.filter(pl.col("candidate").is_in(list(names)))
    # NaN is no limit; a null value is set aside on both sides.
    unlike = (pl.col("low") != pl.col("high")) | pl.col("low").is_nan() | pl.col("high").is_nan()
    if not ends.select(unlike.any()).item():
        return observed
    low, high = (_common(ends, names, side) for side in ("low", "high"))
    return stats.ranks_under_fillings(
        observed, low.select(names).to_numpy().T, high.select(names).to_numpy().T, **_design(low)
    )


def _missing_format(table: pl.DataFrame) -> str:
    """The first of the seven formats that the table lacks."""
    present = set(table["format"])
    return next(name for form, name in SEVEN.items() if form not in present)
