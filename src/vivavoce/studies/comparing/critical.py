"""Critical responses: how many responses of a candidate cross a veto's line, and how many could."""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from vivavoce.studies.thresholds import ANSWER, RedLine, crossings

_ITEM = ("benchmark", "item", "variant")


class CriticalCount(NamedTuple):
    """A candidate's critical responses.

    `n_critical` cross a line of `lines` at least. Others could: `n_failed` have a failed score, `n_unscored`
    no score by a line that scores items of their format, and `n_absent` items that a line has scores on have
    no response of this candidate. Each response counts once, in the first of these.
    """

    candidate: str
    lines: tuple[str, ...]
    n_responses: int
    n_critical: int
    n_failed: int
    n_unscored: int
    n_absent: int

    @property
    def most(self) -> int:
        """How many could be critical; an item without a response counts once."""
        return self.n_critical + self.n_failed + self.n_unscored + self.n_absent


def critical_counts(
    lines: Sequence[RedLine], responses: pl.DataFrame, candidates: Sequence[str]
) -> list[CriticalCount]:
    """The critical responses of each candidate.

    `responses` are those that could be scored, with the `format` of their item: without edits, on the items
    that are asked about.
    """
    return [_count(lines, responses, candidate) for candidate in candidates]


def _count(lines: Sequence[RedLine], responses: pl.DataFrame, candidate: str) -> CriticalCount:
    frame = responses.filter(candidate=candidate).select(*ANSWER, "format")
    table = frame.with_columns(
        crossed=pl.lit(False), failed=pl.lit(False), unscored=pl.lit(False), absent=pl.lit(False)
    )
    for line in lines:
        table = _with_line(table, frame, line, candidate)
    flags = ("crossed", "failed", "unscored", "absent")
    # The first flag that holds is what a response counts as.
    kind = pl.coalesce(*(pl.when(pl.col(flag)).then(pl.lit(flag)) for flag in flags))
    counts = dict(table.select(kind.alias("kind")).drop_nulls().group_by("kind").len().iter_rows())
    names = tuple(str(line.veto) for line in lines)
    return CriticalCount(candidate, names, frame.height, *(counts.get(flag, 0) for flag in flags))


def _with_line(table: pl.DataFrame, frame: pl.DataFrame, line: RedLine, candidate: str) -> pl.DataFrame:
    """The flags of each response with those of one more line."""
    scores = crossings(line)
    # A metric that scored nobody on a format does not apply to it.
    formats = line.scores["format"].unique()
    lacking = (
        scores.select(*_ITEM)
        .unique()
        .join(frame, on=list(_ITEM), how="anti")
        .with_columns(
            pl.lit(candidate).alias("candidate"), pl.lit(0).cast(frame.schema["repeat"]).alias("repeat")
        )
    )
    table = pl.concat([table, lacking.join(table, on=list(ANSWER), how="anti")], how="diagonal_relaxed")
    scored_rows = scores.filter(candidate=candidate).select(*ANSWER, "crossed", "may", scored=pl.lit(True))
    joined = table.join(scored_rows, on=list(ANSWER), how="left", suffix="_2")
    absent = pl.col("format").is_null()
    scored = pl.col("scored").fill_null(False)
    return joined.select(
        *ANSWER,
        "format",
        crossed=pl.col("crossed").fill_null(False) | pl.col("crossed_2").fill_null(False),
        failed=pl.col("failed").fill_null(False) | (scored & pl.col("crossed_2").is_null() & pl.col("may")),
        unscored=pl.col("unscored").fill_null(False) | (~scored & ~absent & pl.col("format").is_in(formats)),
        absent=absent,
    )
