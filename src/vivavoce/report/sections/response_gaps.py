"""What is missing by candidate, in one row each: never asked, unanswered, unreadable, failed, not scored."""

from typing import Any

import polars as pl

from vivavoce.studies.coverage import Requests
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_table import RESPONSE

STATES = ("failed", "unreadable", "unanswered", "set_aside", "ok", "unscored")
"""From the worst on: a response is what the worst of its scores is."""


def response_gaps(requests: Requests, responses: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """A row per candidate: `n_expected` responses in words, those never asked for, and the others by state.

    `scores` are those of responses in words. A response without a score is failed or unanswered where that is
    plain, else `unscored`.
    """
    columns = responses.select(*RESPONSE, "role", "status", "edit", "blank")
    unedited = select_rows(columns, pl.col("edit") == "")
    own_scores = scores.lazy().filter(pl.col("edit") == "")
    rows = []
    for candidate, expected in sorted(_in_words(requests).items()):
        part = select_rows(unedited, pl.col("candidate") == candidate)
        counts = _counts(part, own_scores.filter(pl.col("candidate") == candidate))
        n_expected = max(int(expected["expected"].sum()), part.height)
        rows.append(
            {
                "candidate": candidate,
                "role": expected["role"][0],
                "n_expected": n_expected,
                "n_never_asked": n_expected - part.height,
                "n_responses": part.height,
                **{f"n_{state}": counts.get(place, 0) for place, state in enumerate(STATES)},
            }
        )
    return rows


def _in_words(requests: Requests) -> dict[str, pl.DataFrame]:
    """By candidate what it was asked to answer in words, of all benchmarks."""
    parts: dict[str, list[pl.DataFrame]] = {}
    for (_, probe, candidate), part in requests.by_candidate.items():
        if not probe:
            parts.setdefault(candidate, []).append(part)
    return {candidate: pl.concat(of_candidate) for candidate, of_candidate in parts.items()}


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
