"""Common items: candidates are put in order by their means over the items that all of them have values for.

A mean over easy items is no better than one over hard items, so no order and no sentence compares means over
different ones.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vivavoce.core.records import Criterion
from vivavoce.studies.text import count, number

MOST_NAMED = 6
"""With more candidates a sentence leaves their own means to the rows."""


class OwnMean(NamedTuple):
    """A candidate's mean over its own items, and how many these are."""

    candidate: str
    value: float | None
    n_items: int


def on_common_items(
    means: Sequence[OwnMean], n_common: int, criterion: Criterion, ordered: str
) -> Iterator[str]:
    """The sentence on what an order rests on, where candidates do not share all items; else none.

    `means` are the candidates with a value, `ordered` says what is done with them: ordered, ranked.
    """
    # Common items are a subset of everyone's own, so equal counts mean equal items.
    if len(means) < 2 or all(mean.n_items == n_common for mean in means):
        return
    figures = ", ".join(
        f"{mean.candidate} {'–' if mean.value is None else number(mean.value, criterion)} on {mean.n_items:,}"
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
