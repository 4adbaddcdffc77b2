"""The scores of one measure on one benchmark by candidate: what every pair of candidates looks up."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from vivavoce.core.records import Criterion
from vivavoce.studies.score_table import resolve, with_group_codes


class CandidateScores(NamedTuple):
    """The score rows of one measure on one benchmark, a part for each candidate.

    `rows` are the scores with groups as numbers; `values` are `resolve` of them and `answered`
    of those that are ok, a row per item.
    """

    rows: Mapping[str, pl.DataFrame]
    values: Mapping[str, pl.DataFrame]
    answered: Mapping[str, pl.DataFrame]

    def of_both(self, a: str, b: str) -> pl.DataFrame:
        """The score rows of two candidates."""
        return pl.concat([self.rows[a], self.rows[b]])


def candidate_scores(rows: pl.DataFrame, criterion: Criterion) -> CandidateScores:
    """The score rows of a criterion on a benchmark, resolved and parted by candidate once for all pairs."""
    rows = with_group_codes(rows)
    answered = resolve(rows.filter(pl.col("status") == "ok"), criterion)
    return CandidateScores(by_candidate(rows), by_candidate(resolve(rows, criterion)), by_candidate(answered))


def by_candidate(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The rows of each candidate."""
    parts = table.partition_by("candidate", as_dict=True)
    return {str(name): part for (name,), part in parts.items()}
