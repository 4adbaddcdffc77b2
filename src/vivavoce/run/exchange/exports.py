"""A run out: its tables as Parquet or CSV files for whoever goes on with them, or a smaller run.

An export appears whole or not at all, and takes the place of nothing but an earlier export.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import polars as pl

from vivavoce.core.errors import InputError, StoreError, suggest
from vivavoce.core.private_files import new_bytes, write_private
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
from vivavoce.store.integrity import check_texts, refuse_damaged
from vivavoce.store.rewriting import delete_other_items, rewrite_rows
from vivavoce.store.run_counts import response_count
from vivavoce.store.runfile import RunFile
from vivavoce.store.view import View, view_of, with_view
from vivavoce.store.write import put_provenance

Form = Literal["parquet", "csv"]
TABLES = (
    *("items", "responses", "scores", "evidence", "estimates", "measures", "benchmarks", "exclusions"),
    *("findings", "provenance", "calls"),
)


@dataclass(frozen=True, kw_only=True)
class Tables(Exporter):
    """Writes tables of the run to a folder: by default all, or some of `TABLES`."""

    items: str | None = None
    table: tuple[str, ...] = ()
    redact: bool = False
    form: ClassVar[Form]

    def write(self, run: RunTables, to: Path) -> tuple[Exported, ...]:
        """Write one file a table, with a README.txt that explains the columns."""
        with view_of(run.file) as view:
            return export_tables(
                view, to, form=self.form, tables=self.table, chosen=select_items(view, self.items),
                redact=self.redact, estimates=lambda: estimate_metric(view, items=self.items).rows,
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
        chosen = with_view(run.file, select_items, self.items)
        if self.table:
            raise InputError("a run is exported whole: --table goes with parquet and csv.")
        return (export_run(run.file, to, chosen=chosen, items=self.items, redact=self.redact),)


def export_tables(
    view: View,
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
    if {"items", "responses"} & set(names):
        check_texts(view.db)
    files = {f"{name}.{kind}" for name in TABLES for kind in get_args(Form)}
    with export_folder(to, view.run, files) as folder:
        for name in names:  # one table at a time: a large run's do not stand in memory together
            table = frame(view.db, name, chosen=chosen, estimates=estimates)
            if name == "findings" and chosen is not None:
                texts = pl.col("rows").map_elements(_without_texts, return_dtype=pl.String)
                table = table.with_columns(rows=pl.when(study="facts").then(texts).otherwise("rows"))
            table = hidden(table) if hidden else table
            table = without_words(name, table) if hidden else table
            _write(table, folder / f"{name}.{form}", form)
            columns[name], heights[name] = table.columns, table.height
        text = readme(view.path.name, form, columns, redact=redact, chosen=chosen is not None)
        write_private(folder / README, text)
    return tuple(_exported(name, to / f"{name}.{form}", height) for name, height in heights.items())


def export_run(
    run: RunFile, to: Path, *, chosen: set[ItemKey] | None, items: str | None, redact: bool = False
) -> Exported:
    """Write a run file of the chosen items alone, with their answers and scores; all of it without a choice.

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
    unscored = with_view(run, unscored_by_signature) if redact else {}
    with draft_folder(to) as draft:
        full, part = RunFile(draft / "whole.viva"), draft / "part.viva"
        try:
            run.copy(full.path)
            with full.writing() as db:
                if chosen is not None:
                    calls_by_purpose = delete_other_items(db, chosen)
                    rewrite_rows(db, "findings", ("rows",), _replacement, "study")
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


def _without_texts(rows: str) -> str:
    """The rows of a finding about facts without false facts: nobody knows whose items they are of."""
    return json.dumps([{**row, "text": None} for row in json.loads(rows)], ensure_ascii=False)


def _replacement(_: int, rows: str, study: str) -> tuple[str]:
    return (_without_texts(rows) if study == "facts" else rows,)


def _count(path: Path) -> int:
    with RunFile(path).reading() as db:
        return response_count(db)


def _write(table: pl.DataFrame, path: Path, form: Form) -> None:
    try:
        with new_bytes(path) as stream:
            if form == "parquet":
                table.write_parquet(stream)
            else:
                defused(table).write_csv(stream, include_bom=True)  # the mark by which Excel knows UTF-8
    except pl.exceptions.PolarsError as error:
        raise OSError(str(error)) from error


def _exported(table: str | None, path: Path, rows: int) -> Exported:
    return Exported(table, path, rows, path.stat().st_size)
