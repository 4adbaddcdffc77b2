"""The integrity of a run's answers: one reading of them, on which all that tells of it rests."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.core.numbers import printed
from vivavoce.core.records import ItemKey
from vivavoce.core.tables import restrict_to_items
from vivavoce.store import read
from vivavoce.store.view import View
from vivavoce.studies.answer_integrity import (
    DERIVED,
    IntegrityRow,
    integrity_lines,
    integrity_rows,
    not_whole,
)
from vivavoce.studies.score_table import ScoreTable

Rows = Sequence[Mapping[str, Any]]
_ANSWER = ["benchmark", "item", "variant", "candidate", "repeat"]
_MEASURE = ("benchmark", "metric", "criterion", "rater", "view", "signature")


def answer_integrity(view: View, items: set[ItemKey] | None = None) -> list[IntegrityRow]:
    """A row per benchmark and candidate with answers to these items, null for all.

    `viva status`, `viva score`, `viva compare` and the report count by it.
    """
    return integrity_rows(answer_flags(view, items))


def answer_flags(view: View, items: set[ItemKey] | None = None) -> pl.DataFrame:
    """The unedited answers in words to these items, null for all: where each belongs, and `DERIVED`.

    Items made in the run are left out. The texts are read once in a state of the run.
    """
    return restrict_to_items(view.fetch(_every_answer), items)


def _every_answer(db: sqlite3.Connection) -> pl.DataFrame:
    return read.responses(
        db, probed=False, edited=False, generated=False, columns=_ANSWER, derived=DERIVED
    )  # fmt: skip


def has_other_parts(db: sqlite3.Connection) -> bool:
    """Whether the final part of some answer in words is not all of its text."""
    differs = pl.col("final").str.strip_chars() != pl.col("text").str.strip_chars()
    return bool(
        read.responses(db, probed=False, columns=("repeat",), derived={"differs": differs})["differs"].any()
    )


def cut_notes(
    view: View,
    items: set[ItemKey] | None,
    table: ScoreTable,
    rows: Rows,
    estimate: Callable[[ScoreTable], Rows],
) -> Iterator[str]:
    """Lines on candidates whose answers are not whole, and their estimates on those that were not cut.

    `rows` are the estimates of the table's scores, and `estimate` makes those of others. Of measures that
    of most questions is shown.
    """
    integrity = answer_integrity(view, items)
    yield from integrity_lines(not_whole(integrity))
    many = {(row.benchmark, row.candidate) for row in integrity if row.has_many_cut}
    if not many:
        return
    cut = answer_flags(view, items).filter("cut")
    complete = table.scores.join(cut, on=_ANSWER, how="anti", maintain_order="left")
    on_complete = {_place(row): row["estimate"] for row in estimate(table._replace(scores=complete))}
    for row in _of_broadest(rows):
        if (row["benchmark"], row["candidate"]) in many:
            figures = _figure(row["estimate"]), _figure(on_complete.get(_place(row)))
            yield (
                f"{row['candidate']} on {row['benchmark']}: {row['metric']} {figures[0]} on all answers, "
                f"{figures[1]} on those that were not cut."
            )


def _of_broadest(rows: Rows) -> Rows:
    """The rows of the measure of most questions; of equals that whose name comes first."""
    broadest = min(rows, key=lambda row: (-row["n_items"], row["metric"], row["criterion"]), default=None)
    return [row for row in rows if broadest and _place(row)[0] == _place(broadest)[0]]


def _place(row: Mapping[str, Any]) -> tuple[tuple[Any, ...], str]:
    return tuple(row[name] for name in _MEASURE), row["candidate"]


def _figure(estimate: float | None) -> str:
    return "without an estimate" if estimate is None else printed(estimate, ".3f")
