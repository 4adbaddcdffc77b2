"""An exam in a file of the user's own: its rows under our names, each ready to be a question."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.benchmarks.column_names import matched_words
from vivavoce.benchmarks.table_layout import TableLayout, in_memory, layout_of, own_layout
from vivavoce.benchmarks.table_options import KeyStyle
from vivavoce.benchmarks.table_rows import (
    SameQuestions,
    completed,
    format_named,
    identify,
    list_of,
    same_questions,
    style_of,
    with_key,
)
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, Lines


class ExamRows(NamedTuple):
    """The rows of an exam, and how its columns are taken.

    `is_ours` says that it is in our own layout, which states every id and format; `style` is how its keys
    name options, `same` what becomes of rows that ask the same.
    """

    layout: TableLayout
    rows: Lines
    is_ours: bool
    default: str | None
    style: KeyStyle
    same: SameQuestions

    @property
    def holds_answers(self) -> bool:
        """Whether its rows are answers of models: several may then be of one question."""
        return not self.is_ours and bool({"candidate", "text"} & self.layout.fields.keys())

    @property
    def facts(self) -> dict[str, str]:
        """What was inferred, in words: columns, ids, keys, rows that ask the same."""
        if self.is_ours:
            return {}
        matched = self.layout.matched
        first = "" if self.style.first is None else f"numbers of options, from {self.style.first}"
        facts = {
            "columns": matched_words(matched),
            "ids": "" if "item" in matched else "made of what is asked",
            "keys": first or "letters of options" * self.style.letters,
            "rows that ask the same": self.same.text,
            "columns not used": _first_of(self.layout.unused),
        }
        return {name: text for name, text in facts.items() if text}

    def completed(self, line: Line, counts: Counter[tuple[str, ...]]) -> Line:
        """The row with an id, a format, and a key that is options; `counts` is of the rows before it.

        Raises `RowError` where that cannot be.
        """
        if not self.is_ours:
            return completed(identify(line, lambda: self.same, counts), self.style)[0]
        row = dict(line.row)
        if "item" not in row and "id" in row:
            row["item"] = row.pop("id")
        of_turns = "conversation" if row.get("turns") or row.get("follows") else None
        row["format"] = row.get("format") or self.default or of_turns
        return Line(line.where, self._keyed(row, line.where))

    def _keyed(self, row: dict[str, Any], place: str) -> dict[str, Any]:
        """The row in our own layout with the options that its key names, where its format has some."""
        row["format"] = format_named(row["format"]) if row["format"] else row["format"]
        options = list_of(row.get("options"), dicts=True)
        has_options = "options" in getattr(formats.FORMATS.get(row["format"]), "fields", ())
        if not (has_options and options):
            return row
        return with_key({**row, "options": options, "answer": list_of(row.get("answer"))}, place, self.style)


_MOST_NAMED = 10
"""Columns that are named one by one."""


def _first_of(columns: Sequence[str]) -> str:
    more = len(columns) - _MOST_NAMED
    return ", ".join(columns[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def exam_rows(lines: Iterable[Line], *, map: Mapping[str, str], default: str | None) -> ExamRows:
    """The rows of an exam; `map` and the `default` format are what its spec says.

    Raises `InputError` where a column may be two things, and where none holds the questions.
    """
    lines = in_memory(lines)
    plain = own_layout(lines, map=map, default=default)
    if plain is not None:
        rows = plain.rows(lines)
        return ExamRows(plain, rows, True, default, style_of(line.row for line in rows), SameQuestions())
    layout = layout_of(lines, map=map)
    if not {"question", "messages"} & layout.fields.keys():
        names = ", ".join(layout.columns)
        raise InputError(
            f"no column holds the questions (there are {names}): columns=[question:COLUMN] names it."
        )
    rows = layout.rows(lines)
    if default is not None:
        rows = Lines(partial(_with_default, layout.rows(lines), default))
    style = style_of(line.row for line in rows)
    return ExamRows(layout, rows, False, default, style, same_questions(rows))


def _with_default(lines: Iterable[Line], default: str) -> Iterator[Line]:
    return (Line(line.where, {**line.row, "format": line.row.get("format") or default}) for line in lines)
