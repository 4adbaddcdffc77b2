"""What a table holds whose questions lie elsewhere: answers, scores, people's reviews, or totals."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from vivavoce.benchmarks.column_names import OF_RESPONSES, columns_of, match_columns
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, open_table
from vivavoce.people.tasks import REVIEW_TASKS
from vivavoce.run.exchange.file_scores import are_scores
from vivavoce.run.exchange.wide_tables import cell_or_null

_HEAD = 200
"""Rows whose values tell what a column holds."""


class Part(NamedTuple):
    """What a table without questions holds, in a sentence, and the options of its import.

    `matched` gives the columns that were found, by field of answers.
    """

    kind: str
    text: str
    options: tuple[str, ...]
    matched: Mapping[str, str] = {}


def _review_task(columns: Collection[str]) -> str | None:
    """The task whose reviews a table of these columns holds; null for none."""
    tasks = (name for name, task in REVIEW_TASKS.items() if {*task.table_columns()} <= {*columns})
    return next(tasks, None)


def _numeric(head: Sequence[Line], columns: Sequence[str]) -> list[str]:
    """Those of the columns whose first cells are numbers, or truths as scores write them; none in one row."""
    cells = {column: [cell_or_null(line, column) for line in head] for column in columns}
    return [column for column in columns if len(head) > 1 and are_scores(cells[column])]


def _part_of(columns: Collection[str], fields: Collection[str], numeric: Sequence[str]) -> Part | None:
    """What a table of these columns holds, where its questions lie elsewhere; null if that cannot be told.

    `fields` are those of answers that the columns are, `numeric` the columns of numbers that are none.
    """
    if task := _review_task(columns):
        text = "people's reviews of questions that are not in it. These come into a run first."
        return Part("reviews", text, ("--ballots", "--task", task))
    if {"item", "text"} <= {*fields}:
        text = "answers to questions that are not in it: the exam is a file of its own."
        if "candidate" not in fields:
            text = "texts by id, perhaps answers of one model; the questions are not in it."
        if numeric:
            text += f" Scores of them may be in {', '.join(numeric)}."
        return Part("answers alone", text, ("--benchmark", "jsonl:path=EXAM"))
    return _figures(fields, numeric) if numeric and "candidate" in fields and "text" not in fields else None


def _figures(fields: Collection[str], numeric: Sequence[str]) -> Part:
    """A table of models with numbers: scores of single answers, or totals."""
    if "item" in fields:
        text = "scores of answers that are not in it. `viva import` brings the answers into a run first."
        return Part("scores", text, ("--scores", "--measure", "NAME", "--criteria", ",".join(numeric)))
    text = (
        "a row for each model and no questions. Totals say nothing of chance: needed are the single answers "
        "or scores behind them."
    )
    return Part("totals", text, ("--help",))


def part_in(file: Path) -> Part | None:
    """What a table holds; null if that cannot be told by its columns, or if it cannot be read."""
    try:
        lines = open_table(file).lines
        columns = columns_of(lines)
        matched = match_columns(columns, OF_RESPONSES, map={}, set={})
    except InputError:
        return None
    head = [*islice(lines, _HEAD)]
    fields = [field for field, c in matched.items() if None not in (cell_or_null(line, c) for line in head)]
    free = [column for column in columns if column not in matched.values()]
    part = _part_of(columns, fields, _numeric(head, free))
    return part and part._replace(matched=matched)
