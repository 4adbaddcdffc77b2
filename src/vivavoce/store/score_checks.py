"""Checks of score rows as they are read: a metric could have given them, and they are those written."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.store.checksums import (
    MASK,
    Checksum,
    Checksums,
    Dimensions,
    Group,
    ResponseArrays,
    RowSums,
    ScoreArrays,
    declaration,
    names_of,
    text_hash,
)
from vivavoce.store.damage import DamagedValue, decoding
from vivavoce.store.hashes import changed
from vivavoce.store.schema import STATUSES

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ROUNDING = 1e-9
"""By so much a score may lie outside its range."""


def refuse_nulls(frame: "pl.DataFrame", *columns: str) -> None:
    """Raise `DamagedValue` where a key is missing."""
    if any(frame[name].null_count() for name in columns):
        raise DamagedValue("scores and answers: a row without its keys")


class ScoreChecks:
    """Checks score rows that are read part by part: each row by itself, and at the end all by checksums.

    `responses`, `units` and `ballots` are those of the run, each by ascending key.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        responses: "pl.DataFrame",
        units: "pl.DataFrame",
        ballots: "pl.DataFrame",
    ) -> None:
        import polars as pl

        self._db = db
        self._sums = RowSums(
            Dimensions(
                ResponseArrays(*(responses[name].to_numpy() for name in ResponseArrays._fields)),
                names_of(units.rows()),
                names_of([(*row, None) for row in ballots.iter_rows()]),
            )
        )
        with decoding("the range of a measure"):
            self._limits = pl.DataFrame(
                db.execute("SELECT measure_id, low, high FROM measures").fetchall(),
                schema={"measure_id": pl.Int64, "low": pl.Float64, "high": pl.Float64},
                orient="row",
            )

    def add(self, facts: "pl.DataFrame") -> None:
        """Raise `DamagedValue` for a row without its keys, and for a score that no metric gives."""
        refuse_nulls(facts, "measure_id", "response_id", "unit_id", "ballot_id", "pass_no", "status_id")
        self._check_values(facts)
        self._sums.add(
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
                details=_text_hashes(facts),
            )
        )

    def _check_values(self, facts: "pl.DataFrame") -> None:
        """Raise `DamagedValue` for a score that is endless, out of range, or beside a failure."""
        import polars as pl

        value, code = pl.col("value"), pl.col("status_id")
        wrong = facts.join(self._limits, on="measure_id", how="left").select(
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

    def verify(
        self, *, measures: Sequence[int] | None, candidates: Sequence[str] | None, details: bool
    ) -> None:
        """Raise `StoreError` if the rows are not those of these measures and candidates as written."""
        sums = self._sums.checksums
        wrong = next(
            differences(self._db, sums, measures=measures, candidates=candidates, details=details), None
        )
        if wrong:
            name = measure_name(self._db, wrong.measure_id)
            raise changed(self._db, f"{wrong.sentence} (measure {name})")


def _text_hashes(facts: "pl.DataFrame") -> "NDArray[np.uint64]":
    """The hashes of the texts beside score rows, 0 where there are none."""
    import numpy as np
    import polars as pl

    hashes = np.zeros(facts.height, np.uint64)
    names = [name for name in ("parts", "note", "evidence") if name in facts.columns]
    if names:
        noted = facts.with_row_index().filter(pl.any_horizontal(pl.col(names).is_not_null()))
        hashes[noted["index"].to_numpy()] = [text_hash(*row) for row in noted.select(names).iter_rows()]
    return hashes


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
        detail = _difference(checksum, sums.get(group, Checksum()), details=details)
        if not detail and declared != declaration(db, group):
            detail = "the measure's declaration or the candidate's name was changed"
        if detail:
            name = db.execute("SELECT candidate FROM candidates WHERE candidate_id = ?", group[1:]).fetchone()
            yield Difference(group[0], f"the scores of {name[0] if name else 'no candidate'}: {detail}")


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
