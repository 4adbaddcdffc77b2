"""What is missing by candidate, in one row each: not asked, unanswered, unreadable, failed, not scored."""

from typing import Any

import polars as pl

from vivavoce.studies.row_parts import by_candidate, select_rows
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE

STATES = ("failed", "unreadable", "unanswered", "set_aside", "ok", "unscored")
"""From the worst on: a response is what the worst of its scores is."""


def response_gaps(items: pl.DataFrame, responses: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """A row per candidate: `n_responses` and how many of them are in each state; `n_not_asked` items.

    `scores` are those of responses in words. A response without a score is failed or unanswered where that is
    plain, else `unscored`. `n_not_asked` counts the items to which the candidate has no response of any kind;
    where several candidates were all asked only some items, that may be the design.
    """
    columns = responses.select(*RESPONSE, "role", "status", "edit", "blank")
    unedited = select_rows(columns, pl.col("edit") == "")
    rows = []
    for candidate, part in by_candidate(unedited):
        counts = _counts(
            part, scores.lazy().filter((pl.col("candidate") == candidate) & (pl.col("edit") == ""))
        )
        n_items = part.select(ITEM_KEY).unique().join(items, on=ITEM_KEY, how="semi").height
        rows.append(
            {
                "candidate": candidate,
                "role": part["role"][0],
                "n_items": items.height,
                "n_not_asked": items.height - n_items,
                "n_responses": part.height,
                **{f"n_{state}": counts.get(place, 0) for place, state in enumerate(STATES)},
            }
        )
    return rows


def _counts(responses: pl.DataFrame, scores: pl.LazyFrame) -> dict[int, int]:
    """How many of a candidate's responses are in each state, by its place among `STATES`."""
    order = {state: place for place, state in enumerate(STATES)}
    state = pl.col("status").replace_strict(order, return_dtype=pl.Int8).min()
    worst = scores.group_by(RESPONSE).agg(state=state).collect()
    plain = (
        pl.when(pl.col("status") == "failed").then(order["failed"])
        .when(pl.col("blank")).then(order["unanswered"])
        .otherwise(order["unscored"])
    )  # fmt: skip
    joined = responses.select(*RESPONSE, "status", "blank").join(worst, on=RESPONSE, how="left")
    return dict(joined.select(pl.col("state").fill_null(plain)).to_series().value_counts().iter_rows())
