"""Common items: candidates are put in order by their means over the items that all of them have values for.

A mean over easy items is no better than one over hard items, so no order and no sentence compares means over
different ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.studies.text import count

MOST_NAMED = 6
"""With more candidates a sentence leaves their own means to the rows."""
_ITEM = ["item", "variant"]


class OwnMean(NamedTuple):
    """A candidate's mean over its own items, and how many these are."""

    candidate: str
    value: float | None
    n_items: int


def common_items(values: pl.DataFrame) -> pl.DataFrame:
    """The items (item, variant) of one benchmark that every candidate among these values has one for.

    Floor and ceiling take items from nobody, unless there is nothing else.
    """
    candidates = values.filter(pl.col("role") == "candidate")
    rows = (candidates if candidates.height else values).select(*_ITEM, "candidate").unique()
    n_candidates = rows.n_unique("candidate") if rows.height else 0
    return rows.group_by(_ITEM).len().filter(pl.col("len") == n_candidates).select(_ITEM)


def on_common_items(
    means: Sequence[OwnMean], n_common: int, write: Callable[[float], str], ordered: str
) -> Iterator[str]:
    """The sentence on what an order rests on, where candidates do not share all items; else none.

    `means` are the candidates with a value, `write` writes one, `ordered` says what is done with them:
    ordered, ranked.
    """
    # Common items are a subset of everyone's own, so equal counts mean equal items.
    if len(means) < 2 or all(mean.n_items == n_common for mean in means):
        return
    figures = ", ".join(
        f"{mean.candidate} {'–' if mean.value is None else write(mean.value)} on {mean.n_items:,}"
        for mean in means
    )
    listed = f" Means over their own questions: {figures}." if len(means) <= MOST_NAMED else ""
    if not n_common:
        yield (
            "No question has scores of all candidates, so their means cannot be compared and they are not "
            f"{ordered}.{listed}"
        )
        return
    yield (
        "Candidates have scores on different questions, so they are "
        f"{ordered} by their means on the {count(n_common, 'question')} that all share.{listed}"
    )


def order_basis(rows: Sequence[Mapping[str, Any]], write: Callable[[float], str]) -> str | None:
    """The sentence on what the order of estimates rests on, of one measure in one view on one benchmark.

    Null where all candidates with a result have it on the same items.
    """
    of_candidates = [row for row in rows if row["role"] == "candidate" and row["estimate"] is not None]
    means = [OwnMean(row["candidate"], row["estimate"], row["n_items"]) for row in of_candidates]
    n_common = next((row["n_common"] for row in of_candidates), None) or 0
    return next(on_common_items(means, n_common, write, "ordered"), None)
