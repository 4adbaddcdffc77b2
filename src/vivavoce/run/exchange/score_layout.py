"""How a table of recorded scores is laid out: which of its columns is what, and which rows are meant."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple, get_args

from vivavoce.benchmarks.column_names import (
    OF_SCORES,
    by_field,
    columns_of,
    folded,
    likely_columns,
    match_columns,
)
from vivavoce.core.errors import InputError, suggest
from vivavoce.core.tables import Line, cell
from vivavoce.run.exchange.sources import Source

COLUMNS = (
    *("item", "variant", "candidate", "repeat", "edit", "criterion", "value", "rater", "pass_no", "ballot"),
    *("position", "note", "probe", "probability", "text"),
)
Blank = Literal["unanswered", "recorded"]
Texts = Literal["same", "differ"]
_VERDICTS = ("result",)
"""Names that an answer has elsewhere; beside scores they are what was found of it."""


class ScoreColumns(NamedTuple):
    """The column of each field of scores, and those that may hold the texts that were scored."""

    matched: dict[str, str]
    texts: tuple[str, ...]


class Layout(NamedTuple):
    """How a file of scores is laid out, and which of its rows are meant.

    `columns` gives for each of our names the file's, `constants` a value for every row, `criteria` the
    columns of a wide file or a choice from a long one, `where` the values that chosen rows have, `status`
    the column whose word must be ok. `blank` says what scores of a blank answer count as. A `probability`
    that is named in `columns` or `constants` is that of the draw of labels. `texts` says whether scores may
    be of other texts than the answers of the run.
    """

    columns: Mapping[str, str]
    constants: Mapping[str, str]
    criteria: Sequence[str] = ()
    where: Mapping[str, str] = {}
    status: str | None = None
    blank: Blank = "unanswered"
    texts: Texts = "same"

    @property
    def of_draw(self) -> bool:
        """Whether the rows state with which probability their case was drawn for labelling."""
        return "probability" in {**self.columns, **self.constants}

    @property
    def map(self) -> dict[str, str]:
        """The columns by our names; `id` is another word for `item`."""
        return by_field(self.columns)

    def match(self, source: Source) -> ScoreColumns:
        """The column of each field; a column of a criterion, of `where` or of `status` is no other field."""
        columns = columns_of(source.lines)
        reserved = [c for c in (*self.criteria, *self.where, self.status) if c is not None]
        fields = [f for f in OF_SCORES if f in columns or not (self.criteria and f in ("criterion", "value"))]
        with source.named():
            matched = match_columns(columns, fields, map=self.map, set=self.constants, reserved=reserved)
        free = set(columns) - {*matched.values(), *reserved}
        return ScoreColumns(matched, ("text",) if "text" in matched else _text_columns(columns, free))

    def with_fields(self, line: Line) -> Line:
        """The row with fields of its columns that are named by dotted names, beside the columns."""
        fields = {}
        for name in (*self.criteria, *self.where, self.status):
            if name is not None and name not in line.row:
                with suppress(KeyError):
                    fields[name] = cell(line.row, name)
        return Line(line.where, {**line.row, **fields}) if fields else line

    def check(self) -> None:
        """Raise `InputError` for a field that scores do not have, and a word that is no choice."""
        fields = (*COLUMNS, "id", *self.criteria)
        if wrong := [name for name in (*self.columns, *self.constants) if name not in fields]:
            raise InputError(f"scores have no field {wrong[0]!r}.{suggest(wrong[0], list(fields))}")
        for name, word, words in (("blank", self.blank, Blank), ("texts", self.texts, Texts)):
            if word not in get_args(words):
                raise InputError(f"{name} is {' or '.join(get_args(words))}, not {word!r}.")


def _text_columns(columns: Sequence[str], free: Collection[str]) -> tuple[str, ...]:
    """Those of the free columns that may hold what was scored."""
    return tuple(likely_columns("text", [c for c in columns if c in free and folded(c) not in _VERDICTS]))
