"""What a run holds, as tables: items, responses and scores as frames, candidates and measures as records."""

from pathlib import Path

import polars as pl

from vivavoce.core.records import Candidate, Measure
from vivavoce.store import read
from vivavoce.store.runfile import RunFile


class RunTables:
    """The tables of one run file, read anew each time they are asked for."""

    def __init__(self, path: Path) -> None:
        self.file = RunFile(path)

    @property
    def items(self) -> pl.DataFrame:
        """The items, a row per item and variant, in the columns of `Item`."""
        with self.file.reading() as db:
            return read.items(db)

    @property
    def responses(self) -> pl.DataFrame:
        """The responses, raw, a row per item, variant, candidate, repeat and edit."""
        with self.file.reading() as db:
            return read.responses(db)

    @property
    def scores(self) -> pl.DataFrame:
        """The scores, a row per response, measure, pass and ballot; `value` is null unless it is ok."""
        with self.file.reading() as db:
            return read.scores(db)

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates in the order they came, each with its role; none where there is no run yet."""
        if not self.file.exists:
            return []
        with self.file.reading() as db:
            return read.candidates(db)

    @property
    def measures(self) -> list[Measure]:
        """What has scored this run."""
        with self.file.reading() as db:
            return [keyed.measure for keyed in read.measures(db)]
