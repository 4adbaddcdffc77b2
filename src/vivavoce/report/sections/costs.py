"""What the answers of each candidate cost, beside what they scored."""

from typing import Any

import polars as pl

from vivavoce.report.data import Rows
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.row_parts import parts_by
from vivavoce.studies.text import count


def costs(responses: pl.DataFrame, scored: Rows) -> list[dict[str, Any]]:
    """A row per candidate with known costs, tokens or seconds; none where nothing is known of any.

    `scored` are the rows of the primary criterion. `tokens` and `seconds` are means over the `n_responses`
    answers for which they were recorded; `cost` is that of 1,000 answers, and null, with a `reason`, where
    some of the answers that arrived have no price: the mean of the others would not be theirs.
    """
    estimates = {row["candidate"]: row for row in scored}
    rows = []
    arrived = (
        responses.lazy()
        .filter((pl.col("edit") == "") & (pl.col("status") != "failed"))
        .select("candidate", "role", "tokens", "seconds", "cost")
        .collect()
    )
    for (candidate, role), part in parts_by(arrived, "candidate", "role"):
        amounts = {name: part[name].drop_nulls() for name in ("tokens", "seconds", "cost")}
        if not any(len(values) for values in amounts.values()):
            continue
        unpriced = part.height - len(amounts["cost"])
        reason = f"no price is known of {count(unpriced, 'answer')}" if unpriced else None
        estimate = estimates.get(str(candidate), {})
        rows.append(
            {
                "candidate": candidate,
                "role": role,
                "n_responses": part.height,
                **part.select(exact_mean(pl.col("tokens", "seconds"))).row(0, named=True),
                "cost": None if unpriced else 1_000 * float(amounts["cost"].sum()) / part.height,
                **{name: estimate.get(name) for name in ("estimate", "low", "high")},
                "reason": reason,
            }
        )
    return rows
