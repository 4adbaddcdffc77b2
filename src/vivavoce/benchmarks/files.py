"""A user's own exam in a table, jsonl or csv: no code, columns found by name or mapped."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from vivavoce.benchmarks import Benchmark, check_item
from vivavoce.benchmarks.exam_rows import ExamRows, exam_rows
from vivavoce.benchmarks.frozen_card import CARD, read_frozen_card
from vivavoce.benchmarks.item_rows import TEXTS, read_items
from vivavoce.benchmarks.table import table_items
from vivavoce.benchmarks.turns import Replies, turns_of
from vivavoce.core.encodings import encoding_of
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.exclusions import Faulty, exclusion_at, refuse_mostly_faulty
from vivavoce.core.records import Card, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import AS_FOUND, LISTS, Dialect, Line, Lines, Table, is_file, open_table


def _columns(words: tuple[str, ...]) -> dict[str, str]:
    """`id:qid` pairs as a mapping from our names to the file's; `id` is another word for `item`.

    Where `group` is several columns, these stand between commas.
    """
    names = ("item", "id", *TEXTS, *LISTS, "step", "rubric", "messages", "turns")
    pairs = {}
    for word in words:
        ours, colon, theirs = word.partition(":")
        if not colon or not theirs or ours not in names:
            raise InputError(
                f"columns=[{word}]: write ours:theirs, with one of {', '.join(names)} before the colon."
            )
        pairs["item" if ours == "id" else ours] = theirs
    return pairs | ({"group": ",".join(levels)} if (levels := _levels(words)) else {})


def _levels(words: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of the levels of `group`, outermost first; none where it is one column."""
    columns = tuple(word.partition(":")[2] for word in words if word.startswith("group:"))
    return columns if len(columns) > 1 else ()


_EXCLUDE = "With faulty=exclude in its spec, such rows are left out and counted."


@dataclass(frozen=True, kw_only=True)
class ItemFile(Benchmark):
    """Items from the file `path`; `name`, else the file's stem, names the benchmark.

    A row that can be no item refuses the file, or with `faulty=exclude` is left out and counted. A row with
    `messages` is a conversation; with `replies=own` its assistant's messages give way to the candidate's own.
    A row with `turns` goes on with these, after the candidate's answers.
    """

    path: Path
    name: str | None = None
    columns: tuple[str, ...] = ()
    format: str | None = None
    faulty: Faulty = "refuse"
    replies: Replies = "given"

    @property
    def _dialect(self) -> Dialect:
        """How the spec says the file is written."""
        return AS_FOUND

    @property
    def _table(self) -> Table:
        if self.path.is_dir():
            return Table(Lines(partial(_folder_lines, self.path)))
        return open_table(self.path, self._dialect)

    @property
    def _guess(self) -> str:
        """Why its encoding is a guess; '' where it is none, or there is no such file yet."""
        delimited = self.path.suffix.lower() in (".csv", ".tsv") and is_file(self.path)
        return encoding_of(self.path).why if delimited and not self._dialect.encoding else ""

    @property
    def _exam(self) -> str:
        """The name of the benchmark: as stated, that of a frozen exam, or the file's stem."""
        frozen = read_frozen_card(self.path)
        return self.name or (frozen.name if frozen else self.path.stem)

    @property
    def card(self) -> Card:
        """What is known of a user's file; of a frozen exam, the card that lies beside it."""
        if frozen := read_frozen_card(self.path):
            return replace(frozen, name=self._exam, group_levels=_levels(self.columns) or frozen.group_levels)
        return Card(
            name=self._exam,
            description="An exam of the user's own.",
            source=str(self.path),
            revision_note="a file; its hash stands in the signature",
            faults=(f"Its encoding is a guess: {guess}.",) if (guess := self._guess) else (),
            licence="not stated",
            access="own",
            citation="none",
            group_levels=_levels(self.columns),
        )

    @property
    def _arrays(self) -> bool:
        """Whether lists may be the texts of JSON arrays, as in files that have no lists."""
        return self.path.suffix.lower() in (".csv", ".tsv", ".xlsx", ".xlsm")

    @cached_property
    def read_as(self) -> ExamRows:
        """How the columns of the file are taken. Raises `InputError` for a column that fits two fields."""
        lines, pairs = self._table.lines, _columns(self.columns)
        try:
            return exam_rows(lines, map=pairs, default=self.format)
        except InputError as error:
            named = str(error).startswith(str(self.path))
            raise error if named else InputError(f"{self.path}: {error}") from None

    @property
    def inferred(self) -> dict[str, str]:
        """What was inferred of the file's columns."""
        return self.read_as.facts

    def items(self) -> Iterator[Item | Exclusion]:
        """The file's items in its order.

        A file in our own layout is taken as it stands; any other as a table with questions is
        (`vivavoce.benchmarks.table_layout`). Raises `RowError` for the first row that can be none.
        """
        exam, reading = self._exam, self.read_as
        if reading.holds_answers:
            loaded = table_items(reading.rows, exam, self.faulty).benchmark
            yield from loaded.items
            yield from loaded.exclusions
            return
        faults, n_items, counts = [], 0, Counter[tuple[str, ...]]()
        for line in reading.rows:
            try:
                row = reading.completed(line, counts)
                items = read_items(row, exam, arrays=self._arrays or not reading.is_ours)
                for turn in [check_item(turn) for item in items for turn in self._turns(item)]:
                    n_items += 1
                    yield turn
            except RowError as error:
                if self.faulty == "refuse":
                    raise RowError(f"{error} {_EXCLUDE}", error.reason) from None
                faults.append(exclusion_at(line.where, error.reason))
                yield faults[-1]
        refuse_mostly_faulty(faults, n_items, exam)

    def _turns(self, item: Item) -> tuple[Item, ...]:
        """The item, or with the candidate's own replies each turn of its conversation."""
        return turns_of(item) if self.replies == "own" else (item,)


def _folder_lines(folder: Path) -> Iterator[Line]:
    """The rows of the .json files of a folder; a file with one row and no id in it names the row."""
    files = sorted(file for file in folder.glob("*.json") if file.name != CARD)
    if not files:
        raise InputError(
            f"{folder} is a folder without .json files. A .csv or .jsonl "
            "file is an exam of its own, as csv:path=FILE."
        )
    for file in files:
        lines = list(open_table(file).lines)
        is_named = len(lines) > 1 or not {"id", "item"}.isdisjoint(lines[0].row)
        yield from lines if is_named else [Line(lines[0].where, {"id": file.stem, **lines[0].row})]


@benchmark("jsonl")
class JSONLines(ItemFile):
    """Your own exam from `path`, a .jsonl or .json file or a folder of .json; its `name` or stem names it.

    Columns are found by name, ids and formats inferred where none are stated. `columns=[id:qid,
    question:prompt]` maps columns, and `columns=[group:exam, group:source]` several to the levels of `group`,
    outermost first, as a list in one column does; `format` is the format of items that state none.
    `faulty=exclude` leaves out, and counts, rows that can be no item; by default the first one is refused.
    """


@benchmark("csv")
class CSV(ItemFile):
    """Your own exam from `path`, a .csv file with a header, or a sheet of an .xlsx file.

    `options`, `answer` and `references` may be JSON arrays; `name`, `columns`, `format` and `faulty` as for
    `jsonl`.
    `delimiter`, `encoding` and `sheet` state what is otherwise found (the first sheet).
    """

    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    @property
    def _dialect(self) -> Dialect:
        return Dialect(self.delimiter, self.encoding, self.sheet)
