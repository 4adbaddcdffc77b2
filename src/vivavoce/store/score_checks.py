"""Checks of score rows as they are read: a metric could have given them, and they are those written."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.store.checksums import (
    CHUNK,
    MASK,
    Checksum,
    Checksums,
    Dimensions,
    Group,
    ResponseArrays,
    ScoreArrays,
    declaration,
    names_of,
    sums_of,
    text_hash,
)
from vivavoce.store.damage import DamagedValue, decoding
from vivavoce.store.hashes import changed
from vivavoce.store.schema import STATUSES

if TYPE_CHECKING:
    import polars as pl

ROUNDING = 1e-9
"""By so much a score may lie outside its range."""


def refuse_nulls(frame: "pl.DataFrame", *columns: str) -> None:
    """Raise `DamagedValue` where a key is missing."""
    if any(frame[name].null_count() for name in columns):
        raise DamagedValue("scores and answers: a row without its keys")


def check_scores(db: sqlite3.Connection, facts: "pl.DataFrame") -> None:
    """Raise `DamagedValue` for a score that no metric gives: endless, out of range, or beside a failure."""
    import polars as pl

    with decoding("the range of a measure"):
        limits = pl.DataFrame(
            db.execute("SELECT measure_id, low, high FROM measures").fetchall(),
            schema={"measure_id": pl.Int64, "low": pl.Float64, "high": pl.Float64},
            orient="row",
        )
    value, code = pl.col("value"), pl.col("status_id")
    wrong = facts.join(limits, on="measure_id", how="left").select(
        (
            value.is_finite().not_()
            | (value < pl.col("low") - ROUNDING)
            | (value > pl.col("high") + ROUNDING)
            | ((code == 0) != value.is_not_null())
            | code.is_between(0, len(STATUSES) - 1).not_()
        ).any()
    )
    if wrong.item():
        raise DamagedValue("scores: a value that no metric gives")


def verify_scores(
    db: sqlite3.Connection,
    facts: "pl.DataFrame",
    dimensions: "tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]",
    *,
    measures: Sequence[int] | None,
    candidates: Sequence[str] | None,
    details: bool,
) -> None:
    """Raise `StoreError` if the scores of these measures and candidates are not those that were written.

    `dimensions` are the responses, the units and the ballots of the run, each by ascending key.
    """
    import numpy as np
    import polars as pl

    texts = np.zeros(facts.height, np.uint64)
    if details:
        names = ("parts", "note", "evidence")
        noted = facts.with_row_index().filter(pl.any_horizontal(pl.col(names).is_not_null()))
        for part in noted.iter_slices(CHUNK):
            hashes = [text_hash(*row) for row in part.select(names).iter_rows()]
            texts[part["index"].to_numpy()] = hashes
    responses, units, ballots = dimensions
    sums = sums_of(
        ScoreArrays(
            measure_id=facts["measure_id"].to_numpy(),
            response_id=facts["response_id"].to_numpy(),
            unit_id=facts["unit_id"].to_numpy(),
            ballot_id=facts["ballot_id"].to_numpy(),
            pass_no=facts["pass_no"].to_numpy(),
            position=facts["position"].fill_null(0).to_numpy(),
            has_position=facts["position"].is_not_null().to_numpy(),
            value=facts["value"].fill_null(0.0).to_numpy(),
            status_id=facts["status_id"].to_numpy(),
            details=texts,
        ),
        Dimensions(
            ResponseArrays(*(responses[name].to_numpy() for name in ResponseArrays._fields)),
            names_of(units.rows()),
            names_of([(*row, None) for row in ballots.iter_rows()]),
        ),
    )
    wrong = next(differences(db, sums, measures=measures, candidates=candidates, details=details), None)
    if wrong:
        raise changed(db, f"{wrong.sentence} (measure {measure_name(db, wrong.measure_id)})")


class Difference(NamedTuple):
    """That the scores of a candidate by a measure are not those that were written, and in what."""

    measure_id: int
    sentence: str


def differences(
    db: sqlite3.Connection,
    sums: Checksums,
    *,
    measures: Collection[int] | None = None,
    candidates: Collection[str] | None = None,
    details: bool = True,
) -> Iterator[Difference]:
    """Where the sums of rows that were read differ from the stored checksums, for these or for all."""
    stored = {
        group: checksum
        for group, checksum in _stored_checksums(db, candidates).items()
        if measures is None or group[0] in measures
    }
    for group in sorted({*stored, *sums}):
        checksum, declared = stored.get(group, (None, None))
        what = _difference(checksum, sums.get(group, Checksum()), details=details)
        if not what and declared != declaration(db, group):
            what = "the measure's declaration or the candidate's name was changed"
        if what:
            name = db.execute("SELECT candidate FROM candidates WHERE candidate_id = ?", group[1:]).fetchone()
            yield Difference(group[0], f"the scores of {name[0] if name else 'no candidate'}: {what}")


def _stored_checksums(
    db: sqlite3.Connection, candidates: Collection[str] | None
) -> dict[Group, tuple[Checksum, int]]:
    """The checksums of these candidates, or of all, as written, with the hash of what was declared."""
    rows = db.execute(
        "SELECT s.*, candidate FROM score_checksums s LEFT JOIN candidates USING (candidate_id)"
    )
    with decoding("the checksum of scores"):
        return {
            (measure, candidate): (Checksum(rows, scores & MASK, details & MASK), declared & MASK)
            for measure, candidate, rows, scores, details, declared, name in rows
            if candidates is None or name in candidates
        }


def _difference(stored: Checksum | None, actual: Checksum, *, details: bool) -> str:
    """In words what sets score rows apart from those that were written; empty if nothing does."""
    if stored is None:
        return f"{actual.rows} rows have no checksum"
    if actual.rows != stored.rows:
        return f"there are {actual.rows} rows where {stored.rows} were written"
    if actual.scores != stored.scores:
        return "values, positions, statuses or places were changed"
    if details and actual.details != stored.details:
        return "parts, notes or evidence were changed"
    return ""


def measure_name(db: sqlite3.Connection, measure: int) -> str:
    """How a sentence names a measure."""
    sql = (
        "SELECT metric || ', criterion ' || criterion || iif(rater = '', '', ', rater ' || rater) "
        "FROM measures WHERE measure_id = ?"
    )
    row = db.execute(sql, (measure,)).fetchone()
    return str(row[0]) if row else "none that is there"
