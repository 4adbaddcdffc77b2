"""The questions of a table: one item for each id, its format inferred where none stands.

Such a benchmark has no file. Its items are stored in the run, and the run reads them from there.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from vivavoce.benchmarks import Benchmark, Loaded, check_item, checked
from vivavoce.benchmarks.item_rows import read_item
from vivavoce.benchmarks.table_options import OTHER_KEYS
from vivavoce.benchmarks.table_rows import SameQuestions, completed, identify, same_questions, style_of
from vivavoce.core import registry
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.exclusions import Faulty, exclusion_at, refuse_mostly_faulty
from vivavoce.core.records import Card, Exclusion, Item
from vivavoce.core.registry import benchmark
from vivavoce.core.tables import ITEMS, Line, Lines
from vivavoce.core.text import one_line

_FIELDS = tuple(
    name for name in ITEMS if name not in ("benchmark", "alias", "source", "origin", "weight", "meta")
)


@benchmark("table")
class Table(Benchmark):
    """Questions that came into a run with their answers, from a data frame or a file; `name` is the exam's.

    They have no file of their own: only a run that holds them can be asked for them.
    """

    name: str

    @property
    def card(self) -> Card:
        """What is known of a user's table."""
        return Card(
            name=self.name,
            description="An exam of the user's own.",
            source="a table with questions and answers",
            revision_note="no file; the hash of its questions stands in the signature",
            licence="not stated",
            access="own",
            citation="none",
        )

    def items(self) -> Iterator[Item]:
        """Raises `InputError`: the questions stand in the run that they were imported into."""
        raise InputError(
            f"the questions of {self} came from a table, and stand in the run that it was imported into: "
            "name that run, or import the table again."
        )

    def loaded(self, items: Sequence[Item], exclusions: Sequence[Exclusion] = ()) -> Loaded:
        """The benchmark with items that a table or a run holds, checked; its signature has their hash."""
        texts = json.dumps([(item.item, item.variant, item.hash) for item in items])
        digest = hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        signature = registry.signature(self)
        loaded = checked(self, items, exclusions)
        return loaded._replace(signature=f"{signature}#{digest}{loaded.signature.removeprefix(signature)}")


_Merged = dict[tuple[str, str], dict[str, tuple[Any, str]]]
_Same = Callable[[], SameQuestions]
_LeaveOut = Callable[[tuple[str, str], str, RowError], None]


class TableItems(NamedTuple):
    """What a table says of questions: the benchmark, the rows with an id each, and the formats inferred.

    `lines` reads the rows of the table again, as often as asked for; of its `n_rows`, `unnamed` name no
    question and are left out. `n_faulty` tell of a question that is left out. `same` says what became of rows
    that ask the same and have no id.
    """

    benchmark: Loaded
    lines: Lines
    formats: dict[str, int]
    n_rows: int
    unnamed: int
    n_faulty: int
    same: SameQuestions


def table_items(
    lines: Iterable[Line], name: str, faulty: Faulty = "refuse", levels: tuple[str, ...] = ()
) -> TableItems:
    """The questions of rows under our names: one item for each id and variant.

    Without an id, what is asked (question, options, context) names the question: `q` and ten hex digits of
    its hash, the same in every table, and a number where rows ask the same (`SameQuestions`). What a row
    leaves empty, another row with that id may say. A question that states no format has it by `INFERRED`.
    `levels` names the levels of groups, outermost first.

    Raises `RowError` for two rows that say different things of one id, for a row that names no question,
    and for items that their format cannot use; with `faulty` "exclude" such questions are left out, all of
    their rows as one, unless they are more than half.
    """
    faults: dict[tuple[str, str], Exclusion] = {}

    def leave_out(key: tuple[str, str], where: str, error: RowError) -> None:
        if faulty == "refuse":
            raise RowError(f"{error} {_EXCLUDE}", error.reason) from None
        faults.setdefault(key, exclusion_at(where, error.reason))

    merged, rows_of, same = _merged(lines, leave_out)
    unnamed = sum(not key[0] for key in faults)
    inferred: Counter[str] = Counter()
    items = []
    rows = {key: _joined(fields) for key, fields in merged.items() if key not in faults}
    style = style_of(line.row for line in rows.values())
    for key, line in rows.items():
        try:
            row, is_inferred = completed(line, style)
            items.append(_item(row, name))
            inferred.update([items[-1].format] if is_inferred else ())
        except RowError as error:
            leave_out(key, line.where, error)
    refuse_mostly_faulty(tuple(faults.values()), len(items), name)
    loaded = Table(name=name).loaded(items, tuple(faults.values()))
    loaded = loaded._replace(card=replace(loaded.card, group_levels=levels))
    n_faulty = sum(rows_of[key] for key in faults if key[0])
    named = Lines(partial(_with_ids, lines, lambda: same))
    n_rows = unnamed + rows_of.total()
    return TableItems(loaded, named, dict(inferred), n_rows, unnamed, n_faulty, same)


_EXCLUDE = 'With faulty="exclude" (--faulty exclude) such questions are left out and counted.'


def _merged(
    lines: Iterable[Line], leave_out: _LeaveOut
) -> tuple[_Merged, Counter[tuple[str, str]], SameQuestions]:
    """What the rows say of each id and variant, field by field, each with its place; and how many rows do.

    Rows that ask the same are looked for, in one more reading, only where a row has no id.
    """
    same = cache(partial(same_questions, lines))
    made_ids: Counter[tuple[str, ...]] = Counter()
    rows_of: Counter[tuple[str, str]] = Counter()
    merged: _Merged = {}
    for line in lines:
        key = ("", line.where)  # no question bears it
        try:
            named = identify(line, same, made_ids)
            key = (str(named.row["item"]), str(named.row.get("variant") or ""))
            rows_of[key] += 1
            _merge(merged.setdefault(key, {}), named, key)
        except RowError as error:
            leave_out(key, line.where, error)
    return merged, rows_of, same() if made_ids else SameQuestions()


def _joined(fields: Mapping[str, tuple[Any, str]]) -> Line:
    """The row of what several say of a question, at the place of the first."""
    return Line(fields["item"][1], {field: value for field, (value, _) in fields.items()})


def _item(line: Line, name: str) -> Item:
    """The item of a row. Raises `RowError` for options without a key, and as its format does."""
    item = read_item(line, name, arrays=True)
    if item.format == "mcq" and item.options and not item.answer:
        raise RowError(
            f"{line.where}: options and no key: name its column with map={{'answer': 'COLUMN'}}, or --map "
            "answer=COLUMN.",
            "options and no key",
        )
    return check_item(item)


def _with_ids(lines: Iterable[Line], same: _Same) -> Iterator[Line]:
    """The rows with an id each, without those that can have none."""
    counts: Counter[tuple[str, ...]] = Counter()
    for line in lines:
        try:
            named = identify(line, same, counts)
        except RowError:
            continue
        yield named


def _merge(fields: dict[str, tuple[Any, str]], line: Line, key: tuple[str, str]) -> None:
    """Add what the row says of its question. Raises `RowError` where another row says something else."""
    if keys := line.row.get(OTHER_KEYS):
        fields.setdefault(OTHER_KEYS, (keys, line.where))
    for field in _FIELDS:
        value = line.row.get(field)
        if value in (None, ""):
            continue
        earlier, place = fields.setdefault(field, (value, line.where))
        if earlier != value and str(earlier).strip() != str(value).strip():
            raise RowError(
                f"{line.where}: the question {' '.join(key).strip()!r} has another {field} than in {place}: "
                f"{one_line(str(value), 40)!r} and {one_line(str(earlier), 40)!r}. Rows with one id say the "
                "same of the question; different questions need different ids.",
                f"two rows give it another {field}",
            )
