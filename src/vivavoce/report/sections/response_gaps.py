"""What is missing by candidate, in one row each: not asked, unanswered, unreadable, failed, not scored."""

from typing import Any

import polars as pl

from vivavoce.core.text import is_blank
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE

STATES = ("failed", "unreadable", "unanswered", "set_aside", "ok", "unscored")
"""From the worst on: a response is what the worst of its scores is."""


def response_gaps(items: pl.DataFrame, responses: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """A row per candidate: `n_responses` and how many of them are in each state; `n_not_asked` items.

    `scores` are those of responses in words. A response without a score is failed or unanswered where that is
    plain, else `unscored`. `n_not_asked` counts the items to which the candidate has no response of any kind;
    where several candidates were all asked only some items, that may be the design.
    """
    columns = (*RESPONSE, "role", "status")
    unedited = responses.lazy().filter(pl.col("edit") == "").select(*columns, "text").collect()
    order = {state: place for place, state in enumerate(STATES)}
    worst = (
        scores.lazy()
        .filter(pl.col("edit") == "")
        .group_by(RESPONSE)
        .agg(pl.col("status").replace_strict(order, return_dtype=pl.Int8).min().alias("state"))
        .collect()
    )
    blank = pl.Series("blank", [text is not None and is_blank(text) for text in unedited["text"]], pl.Boolean)
    plain = (
        pl.when(pl.col("status") == "failed").then(order["failed"])
        .when(pl.col("blank")).then(order["unanswered"])
        .otherwise(order["unscored"])
    )  # fmt: skip
    joined = unedited.select(columns).with_columns(blank)
    joined = joined.join(worst, on=RESPONSE, how="left").with_columns(pl.col("state").fill_null(plain))
    rows = []
    for (candidate, role), part in joined.group_by("candidate", "role"):
        counts = dict(part["state"].value_counts().iter_rows())
        n_items = part.select(ITEM_KEY).unique().join(items, on=ITEM_KEY, how="semi").height
        rows.append(
            {
                "candidate": candidate,
                "role": role,
                "n_items": items.height,
                "n_not_asked": items.height - n_items,
                "n_responses": part.height,
                **{f"n_{state}": counts.get(order[state], 0) for state in STATES},
            }
        )
    return rows
