"""The same candidates on earlier dates: comparisons stored before, and answers collected on several days."""

from typing import Any

import polars as pl

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.report.data import Board, Rows, board_of
from vivavoce.studies.primary import Primary
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, resolve, weights_of


def earlier_comparisons(findings: Rows, primary: Primary | None) -> list[dict[str, Any]]:
    """The comparisons of the primary criterion before the newest of each pair, the newest first.

    A comparison made again on the same data with the same result is one, of its last date.
    """
    if primary is None:
        return []
    place = Board(primary.benchmark, primary.metric, primary.criterion, primary.rater)
    newest: set[frozenset[str]] = set()
    rows = []
    for finding in reversed(findings):
        for row in finding["rows"]:
            pair = frozenset((row["a"], row["b"]))
            if board_of(row) != place:
                continue
            if pair in newest:
                names = ("a", "b", "difference", "low", "high", "n_items", "verdict", "verdict_code")
                items = finding["settings"].get("items")
                rows.append({"made_at": finding["made_at"][:10], **{k: row.get(k) for k in names},
                             "items": items})  # fmt: skip
            newest.add(pair)
    return rows


def scores_by_day(
    scores: pl.DataFrame, measure: Measure | None, days: pl.DataFrame | None, benchmark: str
) -> list[dict[str, Any]]:
    """A row per candidate and day of collection, on the questions that were answered on each of its days.

    `scores` are those of the primary criterion, `days` say on which day (UTC) each answer was collected; null
    where all came on one. A candidate collected on one day alone has no row, nor one without a question of
    every day: a mean over other questions would compare the questions.
    """
    if days is None or measure is None or measure.criterion.pool != "mean":
        return []
    dated = scores.filter((pl.col("benchmark") == benchmark) & (pl.col("edit") == "")).join(
        days, on=RESPONSE, how="inner"
    )
    rows = []
    for (candidate,), of_candidate in sorted(dated.group_by("candidate"), key=lambda group: group[0]):
        n_days = of_candidate["day"].n_unique()
        if n_days < 2:
            continue
        answered = of_candidate.group_by(ITEM_KEY).agg(pl.col("day").n_unique().alias("n"))
        shared = of_candidate.join(answered.filter(pl.col("n") == n_days), on=ITEM_KEY, how="semi")
        for (day,), part in sorted(shared.group_by("day"), key=lambda group: group[0]):
            values = resolve(part, measure.criterion).filter(pl.col("observed").is_not_null())
            if not values.height:
                continue
            e = stats.estimate_mean(
                *(values["observed"].to_numpy(), values["group"].to_numpy()),
                weights=weights_of(values), low=measure.criterion.low, high=measure.criterion.high,
            )  # fmt: skip
            figures = {
                "estimate": e.value,
                "low": e.low,
                "high": e.high,
                "n_items": e.n,
                "n_groups": e.n_groups,
            }
            rows.append({"candidate": candidate, "day": day, **figures})
    return rows
