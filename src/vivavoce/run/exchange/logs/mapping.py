"""The log of a foreign tool as a mapping: where its rows, its fields and its scores are, and what is refused.

A reader of a tool states names; one engine finds values by them, and counts every row that gives no answer.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from vivavoce.core.json_text import read_json
from vivavoce.core.tables import Line
from vivavoce.run.exchange.logs.fields import (
    answer_fields,
    content_text,
    item_of,
    key_texts,
    keyed,
    mark_of,
    messages_of,
    name_or_empty,
    number_or_null,
    question_of,
    texts,
    whole_number,
)
from vivavoce.run.exchange.logs.files import first_row, rows_of, start_of
from vivavoce.run.exchange.recorded_log import (
    LeftOut,
    Mark,
    RecordedLog,
    RecordedLogReader,
    Sample,
    safe_name,
)
from vivavoce.studies.text import and_so

Names = tuple[str, ...]
QUESTION_WORDS = ("question", "input", "query", "prompt", "user_input", "instruction", "text", "content")
ANSWER_WORDS = ("answer", "output", "response", "text", "content", "result", "prediction", "completion")
KEY_WORDS = ("answer", "output", "expected", "reference", "ground_truth", "label", "target")
_NO_QUESTION = "no question"
_STEP = "a step of an answer"
_MOST_SIGNS = 4
"""Ways of telling a file that a sentence names."""
_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""What OpenAI writes behind the name of a grader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The names under which a tool has what we store: the first that holds something counts.

    A dot leads into an object. A name that ends in a dot stands for the object of all columns that begin so.
    """

    item: Names = ()
    question: Names = ()
    options: Names = ()
    key: Names = ()
    context: Names = ()
    category: Names = ()
    candidate: Names = ()
    repeat: Names = ()
    answer: Names = ()
    error: Names = ()
    ended: Names = ()
    tokens: Names = ()
    seconds: Names = ()
    milliseconds: Names = ()
    cost: Names = ()

    @property
    def names(self) -> set[str]:
        """All names."""
        return {name for slot in fields(self) for name in getattr(self, slot.name)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores in a list or an object under `field`: a list of objects with a name, or an object by name.

    `value` of several names is the first that holds a number. A score with something under `failed` has none.
    """

    field: Names
    name: Names = ("name",)
    value: Names = ("score", "value")
    note: Names = ("reason", "explanation")
    rater: Names = ()
    failed: Names = ("error",)
    low: float | None = None
    high: float | None = None

    def marks(self, row: Mapping[str, Any]) -> Iterator[Mark]:
        """The scores of a row."""
        entries = value_at(row, self.field)
        if isinstance(entries, Mapping):
            entries = [
                {self.name[0]: name, **(entry if isinstance(entry, Mapping) else {self.value[0]: entry})}
                for name, entry in entries.items()
                if entry is not None
            ]
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, Mapping):
                yield self._mark(entry)

    def _mark(self, entry: Mapping[str, Any]) -> Mark:
        error = value_at(entry, self.failed)
        values = (number_in(value_at(entry, (name,))) for name in self.value)
        return mark_of(
            safe_name(_UUID.sub("", str(value_at(entry, self.name) or "score"))),
            None if error else next((value for value in values if value is not None), None),
            error or value_at(entry, self.note) or entry.get("label"),
            low=self.low,
            high=self.high,
            rater=name_or_empty(value_at(entry, self.rater)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """Scores in columns: of these `names`, or of any name between `begins` and `ends`.

    The note stands in the column that ends in `note` instead. A blank cell of one of the `names` is a score
    that failed, as tools write NaN; any other blank cell is none. `all_but` takes each column as well that
    holds a number and is none of these, or with `in_lists` a list of one number.
    """

    names: Collection[str] = ()
    begins: str = ""
    ends: str = ""
    note: str = ""
    all_but: Collection[str] | None = None
    in_lists: bool = False
    low: float | None = None
    high: float | None = None

    def marks(self, row: Mapping[str, Any]) -> Iterator[Mark]:
        """The scores of a row."""
        for column, cell in row.items():
            score = self._scorer(column)
            if score is None:
                continue
            if self.in_lists:
                cell = cell[0] if isinstance(cell, list) and len(cell) == 1 else None
            value = number_in(cell)
            if value is None and column not in self.names:
                continue
            note = row.get(f"{self.begins}{score}{self.note}") if self.note else None
            limits = {"low": self.low, "high": self.high} if self._is_named(column) else {}
            yield mark_of(safe_name(score), value, note, **limits)

    def _is_named(self, column: str) -> bool:
        return column in self.names or bool(self.begins or self.ends)

    def _scorer(self, column: str) -> str | None:
        """The scorer that a column is of; null for none."""
        if column in self.names:
            return column
        if (self.begins or self.ends) and column.startswith(self.begins) and column.endswith(self.ends):
            return column[len(self.begins) : len(column) - len(self.ends)] or None
        return column if self.all_but is not None and column not in self.all_but else None


class MappedLog(RecordedLogReader):
    """A reader that states where things are. A subclass sets what its tool has, and replaces what differs.

    `signs` are names that the first row holds, one set of several; `rows_at` is where the list of rows is in
    a JSON object, `row_is` what each of them is, `begins` are names that such an object shows in its first
    characters, `name_ends` is how the name of every file ends. `json_cells` are the columns of a CSV whose
    cells are JSON where the tool had an object. Of steps that are told apart by a word under `kind` those of
    `answer_kinds`, in small letters, are answers.
    """

    tool: ClassVar[str]
    endings: ClassVar[Names] = (".json", ".jsonl", ".ndjson")
    signs: ClassVar[tuple[Names, ...]] = ()
    rows_at: ClassVar[str] = ""
    row_is: ClassVar[str] = "row"
    begins: ClassVar[Names] = ()
    name_ends: ClassVar[str] = ""
    fields: ClassVar[Fields] = Fields()
    scores: ClassVar[tuple[Scores | ScoreColumns, ...]] = ()
    json_cells: ClassVar[Names] = ()
    kind: ClassVar[Names] = ()
    answer_kinds: ClassVar[Names] = ()

    @property
    def looked_for(self) -> str:
        """The kind of file, and the names that its first row must hold."""
        ways = [and_so(names) for names in self.signs[:_MOST_SIGNS]]
        return f"{self.describes}, with {'; or '.join(ways)}" if ways else self.describes

    def knows(self, path: Path) -> bool:
        """Told by the names in the first row, or by what an object begins with."""
        if path.suffix.lower() not in self.endings or not path.name.endswith(self.name_ends):
            return False
        row = first_row(path)
        if any(all(has(row, name) for name in signs) for signs in self.signs):
            return True
        start = start_of(path) if self.begins else ""
        return start.lstrip().startswith("{") and all(f'"{name}"' in start for name in self.begins)

    def head(self, path: Path) -> RecordedLog:
        """The log without its samples: what a file says of the run as a whole."""
        return RecordedLog(tool=self.tool, task=path.stem, files=(path,))

    def logs(self, path: Path) -> Iterable[RecordedLog]:
        """The log in one file."""
        log = self.head(path)
        yield replace(log, samples=partial(self._samples, path, log))

    def rows(self, path: Path) -> Iterable[Line]:
        """The rows of the file."""
        lines = rows_of(path, self.rows_at, self.row_is)
        if not self.json_cells or path.suffix.lower() not in (".csv", ".tsv"):
            return lines
        return (
            Line(line.where, {n: json_cell(c) if n in self.json_cells else c for n, c in line.row.items()})
            for line in lines
        )

    def _samples(self, path: Path, log: RecordedLog) -> Iterator[Sample | LeftOut]:
        for line in self.rows(path):
            if self.is_step(line.row):
                yield LeftOut(line.where, _STEP)
            else:
                yield from self.samples(line, log)

    def is_step(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is a step on the way to an answer, as a chain, a tool or a retrieval."""
        kind = value_at(row, self.kind)
        return isinstance(kind, str) and kind != "" and kind.lower() not in self.answer_kinds

    def samples(self, line: Line, log: RecordedLog) -> Iterable[Sample | LeftOut]:
        """The answers of a row; by default one."""
        row = line.row
        question = value_at(row, self.fields.question)
        words = words_in(question, QUESTION_WORDS)
        if not words:
            return (LeftOut(line.where, _NO_QUESTION),)
        options = texts(value_at(row, self.fields.options))
        key = value_at(row, self.fields.key)
        key = key if isinstance(key, list) else words_in(key, KEY_WORDS)
        context = value_at(row, self.fields.context)
        item = item_of(
            log.task,
            name_or_empty(value_at(row, self.fields.item)),
            words,
            messages=messages_of(_conversation(question)),
            context="\n\n".join(texts(context)) or None,
            category=category if isinstance(category := value_at(row, self.fields.category), str) else None,
            **keyed(options, key_texts(key, options) if options else texts(key)),
        )
        return (replace(self.answer(line), item=item),)

    def answer(self, line: Line) -> Sample:
        """What came, and its scores, without the item that it answers."""
        row, f = line.row, self.fields
        error = value_at(row, f.error)
        raw = value_at(row, f.answer)
        text = None if raw is None else reply_in(raw)
        milliseconds = number_in(value_at(row, f.milliseconds))
        failed = bool(error) and not text
        return Sample(
            where=line.where,
            item=item_of("", "", ""),
            candidate=name_or_empty(value_at(row, f.candidate)),
            repeat=_count(value_at(row, f.repeat), 1),
            **answer_fields(None if failed else text, _cause(error), value_at(row, f.ended)),
            tokens=_count(value_at(row, f.tokens), 0),
            seconds=number_in(value_at(row, f.seconds)) if milliseconds is None else milliseconds / 1000,
            cost=number_in(value_at(row, f.cost)),
            marks=self.marks(row),
        )

    def marks(self, row: Mapping[str, Any]) -> tuple[Mark, ...]:
        """The scores of a row."""
        return tuple(mark for scores in self.scores for mark in scores.marks(row))


def has(row: Mapping[str, Any], name: str) -> bool:
    """Whether a row has a field of this name, even a null one, or columns that begin with it and a dot."""
    return (
        name in row
        or value_at(row, (name,)) is not None
        or any(name.endswith(".") and column.startswith(name) for column in row)
    )


def value_at(row: Mapping[str, Any], names: Names) -> Any:
    """What stands under the first of these names that holds something; '' where one is blank, else null."""
    blank = None
    for name in names:
        value = row.get(name)
        if value is None and "." in name:
            value = _gathered(row, name) if name.endswith(".") else _nested(row, name)
        if value not in (None, "", [], {}):
            return value
        blank = "" if value == "" else blank
    return blank


def _gathered(row: Mapping[str, Any], start: str) -> dict[str, Any] | None:
    columns = {name[len(start) :]: cell for name, cell in row.items() if name.startswith(start)}
    return {name: cell for name, cell in columns.items() if cell not in (None, "")} or None


def _nested(row: Mapping[str, Any], path: str) -> Any:
    """The field that a dotted name leads to; a list is entered by number. Null where there is none."""
    value: Any = row
    head, tail = "", path
    while tail:
        if isinstance(value, Mapping) and tail in value:
            return value[tail]
        head, _, tail = tail.partition(".")
        if isinstance(value, Mapping):
            value = value.get(head)
        elif isinstance(value, list) and head.isdecimal() and int(head) < len(value):
            value = value[int(head)]
        else:
            return None
    return value


def json_cell(text: Any) -> Any:
    """What a cell of a table stands for, where it looks like JSON of an object, a list or a text."""
    if isinstance(text, str) and text[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            return read_json(text)
    return text


def words_in(value: Any, names: Names) -> str:
    """The words of a value: a text, the turns of a conversation, or of an object the part with such a name.

    Of an object without any of them its only part; else its JSON.
    """
    if value is None or isinstance(value, str):
        return value or ""
    if (turns := _conversation(value)) is not None:
        return question_of(turns, "")
    if isinstance(value, Mapping) and (part := _part_with_words(value, names)) is not None:
        return words_in(part, names)
    return (
        str(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False, default=str)
    )


def _part_with_words(value: Mapping[str, Any], names: Names) -> Any:
    named = (value[name] for name in names if value.get(name) not in (None, ""))
    return next(named, next(iter(value.values())) if len(value) == 1 else None)


def reply_in(value: Any) -> str:
    """The words of an answer: of messages the last one."""
    turns = _conversation(value)
    return words_in(value, ANSWER_WORDS) if turns is None else content_text(turns[-1]["content"])


def _cause(error: Any) -> Any:
    """What an error says: of an object its code and message."""
    words = texts([error.get("code"), error.get("message")]) if isinstance(error, Mapping) else ()
    return " ".join(words) or error


def _conversation(value: Any) -> list[Any] | None:
    """The messages in a value, also under `messages`; null for none."""
    turns = value.get("messages") if isinstance(value, Mapping) else value
    if not isinstance(turns, list) or not turns:
        return None
    return (
        turns
        if all(isinstance(turn, Mapping) and {"role", "content"} <= turn.keys() for turn in turns)
        else None
    )


def number_in(value: Any) -> float | None:
    """A finite number, also as text; True is 1, as is 'true'. Null for anything else."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in ("true", "false"):
            return float(word == "true")
        try:
            value = float(word)
        except ValueError:
            return None
    return number_or_null(value)


def _count(value: Any, least: int) -> int | None:
    """A whole number from `least`; null for anything else."""
    number = number_in(value)
    return (
        whole_number(int(number))
        if number is not None and number >= least and number == int(number)
        else None
    )
