"""What cut answers do to scores: how many there are, and a measure's estimate on the complete ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.core.records import ItemKey
from vivavoce.run.estimates import estimate_scores
from vivavoce.store.run_counts import cut_answers, ended_answers
from vivavoce.store.view import View
from vivavoce.studies.answer_integrity import integrity_lines, integrity_row
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.study import as_mapping

_RESPONSE = ("benchmark", "item", "variant", "candidate", "repeat")


def cut_notes(
    view: View, table: ScoreTable, rows: Sequence[Mapping[str, Any]], items: set[ItemKey] | None
) -> Iterator[str]:
    """Lines on candidates whose answers were cut, and their estimates on complete ones.

    `rows` are the estimates of all answers; those by the measure of most questions are set beside.
    """
    ended = [integrity_row(**row) for row in ended_answers(view.db)]
    yield from integrity_lines([as_mapping(row) for row in ended])
    many = {(row.benchmark, row.candidate) for row in ended if row.has_many_cut}
    concerned = [row for row in _of_broadest(rows) if (row["benchmark"], row["candidate"]) in many]
    on_complete = _on_complete_answers(view, table, items) if concerned else {}
    for row in concerned:
        place = f"{row['candidate']} on {row['benchmark']}: {row['metric']}"
        without_cut = _figure(on_complete.get(_place(row)))
        yield f"{place} {_figure(row['estimate'])} on all answers, {without_cut} on those that were not cut."


def _of_broadest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the measure of most questions; of equals that whose name comes first."""
    broadest = min(rows, key=lambda row: (-row["n_items"], row["metric"], row["criterion"]), default=None)
    return [row for row in rows if broadest and _place(row)[0] == _place(broadest)[0]]


_MEASURE = ("benchmark", "metric", "criterion", "rater", "view", "signature")
_SCHEMA = {name: pl.Int64 if name == "repeat" else pl.String for name in _RESPONSE}


def _on_complete_answers(
    view: View, table: ScoreTable, items: set[ItemKey] | None
) -> dict[tuple[tuple[Any, ...], str], float | None]:
    cut = pl.DataFrame(view.fetch(cut_answers), schema=_SCHEMA, orient="row")
    complete = table.scores.join(cut, on=list(_RESPONSE), how="anti", maintain_order="left")
    rows = estimate_scores(view, table._replace(scores=complete), items).rows
    return {_place(row): row["estimate"] for row in rows}


def _place(row: Mapping[str, Any]) -> tuple[tuple[Any, ...], str]:
    return tuple(row[name] for name in _MEASURE), row["candidate"]


def _figure(estimate: float | None) -> str:
    return "without an estimate" if estimate is None else f"{estimate:.3f}"
