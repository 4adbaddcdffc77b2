"""Wide tables: a row per question, and a column with the answers of each model."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.tables import Line, cell, cell_names

Columns = Sequence[str] | Mapping[str, str]
"""Columns that are named like their candidate, or candidates with the column of each."""
MODEL_FAMILIES = re.compile(
    r"(chat)?gpt|claude|llama|gemini|gemma|mi[sx]tral|qwen|deepseek|(med)?palm|phi\d?|grok|falcon|o[134]"
    r"|command|yi|vicuna|meditron|medalpaca|bio(mistral|gpt)|clinical\w*|human|physician|baseline"
)
"""How the names of models begin, folded."""


def columns_of_models(words: Sequence[str]) -> dict[str, str]:
    """Words of the command line, each `COLUMN`, `CANDIDATE=COLUMN` or several of these between commas.

    Raises `InputError` for a candidate that is named twice.
    """
    columns: dict[str, str] = {}
    for part in (part.strip() for word in words for part in word.split(",")):
        candidate, equals, column = part.rpartition("=")
        candidate = candidate if equals else column
        if not candidate or not column or candidate in columns:
            raise InputError(
                f"--models-in-columns {part!r}: write a column, or candidate=column, each candidate once."
            )
        columns[candidate] = column
    return columns


def long_lines(
    lines: Iterable[Line],
    models: Columns,
    named: Collection[str] = (),
    further: Mapping[str, Mapping[str, str]] = {},
) -> Iterator[Line]:
    """A row for each row and model, with `candidate` and `text` in the place of the models' columns.

    A blank cell is a blank answer and a null one a failed response, as in any table. `named` are the fields
    whose columns the user names. `further` gives for a candidate other columns about its answers, by the name
    that they have in its row. Raises `InputError` where these include what the columns say, where the
    table has such a column besides, and for a column that a row does not have.
    """
    columns = _by_candidate(models)
    if double := _OURS & set(named):
        raise InputError(
            f"{min(double)} is mapped or set, and the columns of models say it too: leave one of both out."
        )
    taken = _taken(columns, further)
    for line in lines:
        rest = {name: value for name, value in line.row.items() if name not in taken}
        if double := _OURS & rest.keys():
            raise InputError(
                f"{line.where}: a column {min(double)!r} stands beside those of models: is each row one "
                "answer? Else give it another name."
            )
        for candidate, column in columns.items():
            answer = {"candidate": candidate, "text": _answer(line, column)}
            answer |= {name: cell_or_null(line, of_it) for name, of_it in further.get(candidate, {}).items()}
            yield Line(f"{line.where}, column {column}", {**rest, **answer})


def _taken(columns: Mapping[str, str], further: Mapping[str, Mapping[str, str]]) -> set[str]:
    """The columns that are those of candidates. Raises `InputError` for one that is named for two."""
    taken = set(columns.values())
    if len(taken) < len(columns):
        raise InputError("the columns of models: one column is named for two candidates.")
    taken.update(*(of_candidate.values() for of_candidate in further.values()))
    return taken | {column.partition(".")[0] for column in taken}


def _by_candidate(models: Columns) -> dict[str, str]:
    """The column of each candidate; a text is the name of one column."""
    if isinstance(models, Mapping):
        return dict(models)
    return {str(name): str(name) for name in ([models] if isinstance(models, str) else models)}


_OURS = {"candidate", "text"}


def _answer(line: Line, column: str) -> Any:
    try:
        return cell(line.row, column)
    except KeyError:
        raise InputError(
            f"{line.where}: no column {column!r} with the answers of a model."
            f"{suggest(column, cell_names(line.row))}"
        ) from None


def cell_or_null(line: Line, column: str) -> Any:
    """What a row says in a column that it may lack."""
    try:
        return cell(line.row, column)
    except KeyError:
        return None
