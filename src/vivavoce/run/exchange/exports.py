"""A run out: its tables as Parquet or CSV files for whoever goes on with them, or a smaller run.

An export appears whole or not at all, and takes the place of nothing but an earlier export.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import polars as pl

from vivavoce.core.errors import InputError, StoreError, suggest
from vivavoce.core.private_files import create_private, write_private
from vivavoce.core.records import ItemKey
from vivavoce.core.registry import exporter
from vivavoce.core.spreadsheets import defused
from vivavoce.privacy.redaction import redactor
from vivavoce.run.estimates import estimate_metric
from vivavoce.run.exchange.export_folder import README, draft_folder, exists, export_folder
from vivavoce.run.exchange.exporters import Exported, Exporter
from vivavoce.run.exchange.redacted_run import redact_run, unscored_by_signature, without_words
from vivavoce.run.exchange.tables import Estimates, frame, readme
from vivavoce.run.tables.load import select_items
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.store.checksums import delete_scores
from vivavoce.store.integrity import check_texts, refuse_damaged
from vivavoce.store.passages import drop_unused_passages
from vivavoce.store.runfile import RunFile
from vivavoce.store.table_hashes import renew_table_hashes
from vivavoce.store.write import put_provenance

Form = Literal["parquet", "csv"]
TABLES = (
    *("items", "responses", "scores", "evidence", "estimates", "measures", "benchmarks", "exclusions"),
    *("findings", "provenance", "calls"),
)

_POINTERS = (
    *(("scores", "response_id"), ("scores", "unit_id"), ("scores", "ballot_id")),
    *(("responses", "candidate_id"), ("responses", "edit_id"), ("calls", "response_id")),
)
"""Columns by which large tables point to what goes with them, and that no index of a run begins with."""


@dataclass(frozen=True, kw_only=True)
class Tables(Exporter):
    """Writes tables of the run to a folder: by default all, or some of `TABLES`."""

    items: str | None = None
    table: tuple[str, ...] = ()
    redact: bool = False
    form: ClassVar[Form]

    def write(self, run: RunTables, to: Path) -> tuple[Exported, ...]:
        """Write one file a table, with a README.txt that explains the columns."""
        chosen = select_items(run.file, self.items)
        return export_tables(
            run.file, to, form=self.form, tables=self.table, chosen=chosen, redact=self.redact,
            estimates=lambda: estimate_metric(run.file, items=self.items).rows,
        )  # fmt: skip


@exporter("parquet")
class Parquet(Tables):
    """Tables for programs."""

    form = "parquet"


@exporter("csv")
class Csv(Tables):
    """Tables for spreadsheets, in which no text can run as a formula."""

    form = "csv"


@exporter("run")
class SmallerRun(Exporter):
    """A run file of some of the items, or of all."""

    items: str | None = None
    table: tuple[str, ...] = ()
    redact: bool = False

    def write(self, run: RunTables, to: Path) -> tuple[Exported, ...]:
        """Write the chosen items with all that belongs to them. Raises `InputError` for options of tables."""
        chosen = select_items(run.file, self.items)
        if self.table:
            raise InputError("a run is exported whole: --table goes with parquet and csv.")
        return (export_run(run.file, to, chosen=chosen, items=self.items, redact=self.redact),)


def export_tables(
    run: RunFile,
    to: Path,
    *,
    form: Form,
    tables: Sequence[str] = (),
    chosen: set[ItemKey] | None = None,
    redact: bool = False,
    estimates: Estimates,
) -> tuple[Exported, ...]:
    """Write tables of the run to the folder `to`, one file each, with a README.txt that explains columns.

    `tables` are some of `TABLES`, by default all; `chosen` restricts items, responses, scores and calls, and
    `estimates` gives the rows of that table. `redact` replaces the texts of questions, answers and notes.
    Raises `InputError` for an unknown table, `StoreError` where something else lies at `to`, or the disk does
    not take it; then nothing is left behind.
    """
    for name in tables:
        if name not in TABLES:
            raise InputError(f"a run has no table named {name!r}.{suggest(name, TABLES)}")
    names = [name for name in TABLES if not tables or name in tables]
    hidden = redactor() if redact else None
    columns, heights = {}, {}
    with run.reading() as db:
        if {"items", "responses"} & set(names):
            check_texts(db)
        files = {f"{name}.{kind}" for name in TABLES for kind in get_args(Form)}
        with export_folder(to, run, files) as folder:
            for name in names:  # one table at a time: a large run's do not stand in memory together
                table = frame(db, name, chosen=chosen, estimates=estimates)
                if name == "findings" and chosen is not None:
                    texts = pl.col("rows").map_elements(_without_texts, return_dtype=pl.String)
                    table = table.with_columns(rows=pl.when(study="facts").then(texts).otherwise("rows"))
                table = hidden(table) if hidden else table
                table = without_words(name, table) if hidden else table
                _write(table, folder / f"{name}.{form}", form)
                columns[name], heights[name] = table.columns, table.height
            text = readme(run.path.name, form, columns, redact=redact, chosen=chosen is not None)
            write_private(folder / README, text)
    return tuple(_exported(name, to / f"{name}.{form}", height) for name, height in heights.items())


def export_run(
    run: RunFile, to: Path, *, chosen: set[ItemKey] | None, items: str | None, redact: bool = False
) -> Exported:
    """Write a run file of the chosen items alone, with their answers and marks; all of it without a choice.

    With `redact` every text gives way to a mark, see `redacted_run`.
    What was found stays: a look at the whole is a look at the part. Earlier wordings of items, and
    candidates and measures without a row, are left out; so are calls that are kept under no item, as all of
    probes and judges, and the provenance counts these by purpose. Raises `StoreError` where something lies at
    `to`, and for a run that does not fit its hashes.
    """
    with run.reading() as db:  # a run that is not there, or is damaged, is named before anything is made
        refuse_damaged(db, "Nothing was exported.")
    if chosen is None and not redact:
        run.copy(to)
        return _exported(None, to, _count(to))
    if exists(to):
        raise StoreError(f"{to} is there already: a run is never overwritten by another.")
    unscored = unscored_by_signature(run) if redact else {}
    with draft_folder(to) as draft:
        full, part = RunFile(draft / "whole.viva"), draft / "part.viva"
        try:
            run.copy(full.path)
            with full.writing() as db:
                if chosen is not None:
                    calls_by_purpose = _delete_other_items(db, chosen)
                    body = {"items": items, "of": run.path.name, "calls_left_out": calls_by_purpose}
                    put_provenance(db, "export", body, changed=0)
                if redact:
                    redact_run(db, run.path.name, unscored)
            full.copy(part)  # VACUUM INTO again: what was deleted leaves no trace in the file
        except StoreError as error:
            message = str(error).replace(str(full.path), str(to)).replace(str(part), str(to))
            raise StoreError(message) from error
        part.rename(to)
    return _exported(None, to, _count(to))


def _delete_other_items(db: sqlite3.Connection, chosen: set[ItemKey]) -> dict[str, int]:
    """Delete all other items, what belongs to them, and the words that nothing uses any more.

    Calls that are kept under no item go as well; how many of each purpose comes back.
    """
    uncounted = (
        "SELECT purpose, count(*) FROM calls WHERE response_id IS NULL GROUP BY purpose ORDER BY purpose"
    )
    calls_by_purpose: dict[str, int] = dict(db.execute(uncounted))
    db.execute(
        "CREATE TEMP TABLE kept (benchmark TEXT, item TEXT, variant TEXT, "
        "PRIMARY KEY (benchmark, item, variant)) WITHOUT ROWID"
    )
    db.executemany("INSERT INTO kept VALUES (?, ?, ?)", sorted(chosen))
    db.execute(  # a NOT IN over several columns would read the whole list for each item that goes
        "CREATE TEMP TABLE gone AS SELECT item_id FROM items i JOIN benchmarks b USING (benchmark_id) "
        "WHERE current = 0 OR NOT EXISTS (SELECT 1 FROM temp.kept k "
        "WHERE (k.benchmark, k.item, k.variant) = (b.benchmark, i.item, i.variant))"
    )
    in_responses = (
        "response_id IN (SELECT response_id FROM responses WHERE item_id IN (SELECT item_id FROM temp.gone))"
    )
    delete_scores(db, in_responses)
    for (
        table,
        name,
    ) in _POINTERS:  # without these each deletion reads the table, to see that none points to it
        db.execute(f"CREATE INDEX export_{table}_{name} ON {table} ({name})")
    for statement in (
        # The bill goes with the answers; of other calls nobody knows which items their replies speak of.
        f"DELETE FROM calls WHERE response_id IS NULL OR {in_responses}",
        "DELETE FROM leases",
        "DELETE FROM responses WHERE item_id IN (SELECT item_id FROM temp.gone)",
        "DELETE FROM items WHERE item_id IN (SELECT item_id FROM temp.gone)",
        "DELETE FROM exclusions WHERE list_id IN (SELECT list_id FROM exclusion_lists "
        "WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items))",
        "DELETE FROM exclusion_lists WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items)",
        "DELETE FROM benchmarks WHERE benchmark_id NOT IN (SELECT benchmark_id FROM items)",
        "DELETE FROM candidates WHERE candidate_id NOT IN (SELECT candidate_id FROM responses)",
        "DELETE FROM measures WHERE measure_id NOT IN (SELECT measure_id FROM scores)",
        "DELETE FROM edits WHERE edit_id != 0 AND edit_id NOT IN (SELECT edit_id FROM responses)",
        "DELETE FROM units WHERE unit_id != 0 AND unit_id NOT IN (SELECT unit_id FROM scores)",
        "DELETE FROM ballots WHERE ballot_id != 0 AND ballot_id NOT IN (SELECT ballot_id FROM scores)",
    ):
        db.execute(statement)
    for table, name in _POINTERS:
        db.execute(f"DROP INDEX export_{table}_{name}")
    drop_unused_passages(db)
    db.create_function("without_texts", 1, _without_texts)
    db.execute("UPDATE findings SET rows = without_texts(rows) WHERE study = 'facts'")
    renew_table_hashes(db)
    return calls_by_purpose


def _without_texts(rows: str) -> str:
    """The rows of a finding about facts without false facts: nobody knows whose items they are of."""
    return json.dumps([{**row, "text": None} for row in json.loads(rows)], ensure_ascii=False)


def _count(path: Path) -> int:
    with RunFile(path).reading() as db:
        (n,) = db.execute("SELECT count(*) FROM responses").fetchone()
    return int(n)


def _write(table: pl.DataFrame, path: Path, form: Form) -> None:
    create_private(path)
    try:
        if form == "parquet":
            table.write_parquet(path)
        else:
            defused(table).write_csv(path, include_bom=True)  # the mark by which Excel knows UTF-8
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


def _exported(table: str | None, path: Path, rows: int) -> Exported:
    return Exported(table, path, rows, path.stat().st_size)
