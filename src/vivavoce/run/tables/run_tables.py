"""What a run holds, as tables: items, responses and scores as frames, candidates and measures as records."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from vivavoce.core.records import Candidate, Item, Measure
from vivavoce.store import read
from vivavoce.store.evidence import evidence_rows
from vivavoce.store.exclusions import exclusion_rows
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import with_view

if TYPE_CHECKING:
    import polars as pl

    from vivavoce.run.shards.joining import ShardRow
    from vivavoce.run.tables.scored_response import ScoredResponse


class RunTables:
    """The tables of one run file, read anew each time they are asked for."""

    def __init__(self, path: str | Path, *, network_disk: bool | None = None) -> None:
        self.file = RunFile(Path(path), network_disk=network_disk)

    def __repr__(self) -> str:
        from vivavoce.notebook.run_view import run_text
        from vivavoce.run.tables.requests import request_gaps

        return run_text(self.file, partial(request_gaps, self.file), self._headline)

    def _repr_html_(self) -> str:
        from vivavoce.notebook.run_view import run_html
        from vivavoce.run.tables.requests import request_gaps

        return run_html(self.file, partial(request_gaps, self.file), self._headline)

    def _headline(self) -> str | None:
        """What the comparison of all candidates says in one line; null where there is none."""
        from vivavoce.run.tables.stored_headline import stored_headline

        with self.file.reading() as db:
            return stored_headline(db)

    @property
    def items(self) -> "pl.DataFrame":
        """The items, a row per item and variant, in the columns of `Item`."""
        with self.file.reading() as db:
            return read.items(db)

    @property
    def responses(self) -> "pl.DataFrame":
        """The responses, raw, a row per item, variant, candidate, repeat and edit."""
        with self.file.reading() as db:
            return read.responses(db)

    @property
    def scores(self) -> "pl.DataFrame":
        """The scores by measures that are not retired: a row per response, measure, pass and ballot.

        `value` is null unless the status is ok.
        """
        with self.file.reading() as db:
            return read.scores(db)

    @property
    def evidence(self) -> "pl.DataFrame":
        """What scores rest on, retired ones apart: a row per passage of a score, its place and its quote."""
        with self.file.reading() as db:
            return evidence_rows(db)

    @property
    def exclusions(self) -> "pl.DataFrame":
        """The rows of benchmarks' files that were left out: benchmark, spec, file, row and reason."""
        with self.file.reading() as db:
            return exclusion_rows(db)

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates in the order they came, each with its role; none where there is no run yet."""
        if not self.file.exists:
            return []
        with self.file.reading() as db:
            return read.candidates(db)

    @property
    def measures(self) -> list[Measure]:
        """What has scored this run, without measures that are retired."""
        with self.file.reading() as db:
            return [keyed.measure for keyed in read.measures(db)]

    def shards(self) -> "tuple[ShardRow, ...]":
        """How far each part is of all that was collected or scored in shards; none where nothing was."""
        from vivavoce.run.shards.joining import shard_rows

        return tuple(shard_rows(self.file))

    def item(self, item: str, *, benchmark: str | None = None, variant: str = "") -> Item:
        """One item by its id or alias. Raises `SelectionError` where none or several have it."""
        from vivavoce.run.tables.scored_response import find_item

        with self.file.reading() as db:
            return find_item(db, item, benchmark, variant)

    def response(
        self, item: str, candidate: str | None = None, *, benchmark: str | None = None, variant: str = "",
        repeat: int = 1, edit: str = "",
    ) -> "ScoredResponse":  # fmt: skip
        """One response with its item and its scores, to look at; `candidate` may be part of its name.

        Without `candidate` it is the only one that answered. Raises `SelectionError` where there is no such
        response, or several.
        """
        from vivavoce.run.tables.scored_response import find_response

        with self.file.reading() as db:
            return find_response(db, item, candidate, benchmark, variant, repeat, edit)

    def copy(self, to: str | Path) -> Path:
        """Write a compact copy of the run to a path where nothing lies yet.

        Raises `InputError` for a run with texts of a credentialed benchmark.
        """
        from vivavoce.run.tables.credentialed import refuse_copy

        instead = "`viva export --format run --redact` writes one without texts."
        with_view(self.file, refuse_copy, "a copy", instead)
        self.file.copy(Path(to))
        return Path(to)
