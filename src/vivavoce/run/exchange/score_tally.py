"""What a table of recorded scores holds, counted without its notes: numbers and a hash of each score."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple, Self, get_args

import numpy as np
import polars as pl

from vivavoce.core.errors import InputError
from vivavoce.core.records import ScoreStatus
from vivavoce.run.exchange.repeated_rows import first_contradiction, first_of_key
from vivavoce.run.exchange.score_rows import RecordedScore

_AT_ONCE = 10_000
_KEY = ("measure", "response", "pass_no", "ballot")
_CONTENT = ("value", "status", "rest_hash")
_COLUMNS = pl.Schema(
    {"measure": pl.Int32(), "response": pl.Int64(), "pass_no": pl.Int64(), "ballot": pl.Int32()}
    | {"value": pl.Float64(), "status": pl.Enum(get_args(ScoreStatus)), "rest_hash": pl.Int64()}
)


class ScoreTally(NamedTuple):
    """The criteria and raters of a table of scores, each pair numbered in the order of its first score.

    `is_first` tells for every score whether it is the first under its criterion, rater, answer, pass and
    ballot: any other one repeats that score. `rows` are the first ones: numbers, values and statuses.
    """

    measures: Mapping[tuple[str, str], int]
    is_first: np.ndarray
    rows: pl.DataFrame

    @classmethod
    def of(cls, scores: Callable[[], Iterable[RecordedScore]]) -> Self:
        """Count the `scores` of a table, which is read a second time where two of them contradict each other.

        Raises `InputError` for these: two scores under one key that say different things.
        """
        measures: dict[tuple[str, str], int] = {}
        ballots: dict[str, int] = {}

        def row(recorded: RecordedScore) -> tuple[int | float | str | None, ...]:
            score = recorded.score
            return (
                measures.setdefault((recorded.criterion, recorded.rater), len(measures)),
                score.response,
                score.pass_no,
                ballots.setdefault(score.ballot, len(ballots)),
                score.value.value,
                score.value.status,
                hash((score.value.note, score.position)),
            )

        iterator = iter(scores())
        parts = [pl.DataFrame(schema=_COLUMNS)]
        while batch := [row(recorded) for recorded in islice(iterator, _AT_ONCE)]:
            parts.append(pl.DataFrame(batch, _COLUMNS, orient="row"))
        rows = pl.concat(parts)
        is_first = first_of_key(rows, _KEY)
        if not is_first.all():
            _refuse_contradiction(rows, scores())
            rows = rows.filter(pl.Series(is_first))
        return cls(measures, is_first, rows)

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria scored, in the order of the table."""
        return tuple(dict.fromkeys(criterion for criterion, _ in self.measures))

    def distinct(self, scores: Iterable[RecordedScore]) -> Iterator[RecordedScore]:
        """The scores of the table that was counted, without those that repeat an earlier one."""
        return (score for score, is_first in zip(scores, self.is_first, strict=True) if is_first)


def _refuse_contradiction(rows: pl.DataFrame, scores: Iterable[RecordedScore]) -> None:
    """Raise `InputError` for the first score that says something else than the first under its key."""
    if numbers := first_contradiction(rows, _KEY, _CONTENT):
        second = next(islice(scores, numbers.second, None))
        raise InputError(
            f"{second.where}: a second score for {second.criterion} of {second.words}; --where chooses "
            "rows, --map pass_no=… or --map rater=… tells scores apart."
        )
