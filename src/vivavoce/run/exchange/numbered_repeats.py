"""Repeats of a table that says of them no more than a count: which column numbers them, and from what."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from vivavoce.benchmarks.column_names import folded
from vivavoce.core.errors import InputError
from vivavoce.core.tables import Line, cell

COUNTED = "counted"
"""`--set repeat=counted`: the rows of one question and candidate are its repeats, in their order."""
_KEY = ("item", "variant", "candidate", "edit")
_NAMES = re.compile(
    r"(run|sample|seed|attempt|trial|iteration|iter|round|rep|repeat|repetition|replicate|draw|generation|pass|try"
    r"|durchlauf|durchgang|wiederholung|lauf|versuch|ejecucion|intento|muestra|repeticion|essai|repetition"
    r"|execucao|tentativa|amostra|repeticao|esecuzione|tentativo|ripetizione|试验|运行|轮次|次数|試行|回数)"
    r"(_?(id|idx|index|no|nr|num|number|nummer|numero|\d*))?"
)
_NO_REPEATS = re.compile(
    r".*(turn|step|rank|option|choice|letter|page|line|row|score|rating|rater|label|token|length|year|age|key"
    r"|correct|answer|difficulty|level|stage|phase|fold|shot|temperature|context|prompt|language|version|setting"
    r"|config|condition|template|system|thinking|reasoning|retrieval|sprache|temperatur|kontext|idioma)s?(_.*)?"
    r"|(.*_)?(with|without|use|used|is|has|mit|ohne|con|sin|top|few|zero|cot|rag|lang|split|effort|hint)(_.*)?"
    r"|no_.*|temp|top[pk]|.*fewshot"
)
"""Names of numbers that are of the question, of a setting, the rank or the score."""
_OF_DIALOGUE = re.compile(r"round.*|轮次")
"""Of the names of repeats those that number the turns of a dialogue too."""
_MOST = 10_000


class Numbering(NamedTuple):
    """A column that numbers repeats, and up to how many."""

    column: str
    n: int

    @property
    def by_name(self) -> bool:
        """Whether its name says so."""
        return _NAMES.fullmatch(folded(self.column)) is not None

    @property
    def is_certain(self) -> bool:
        """Whether its name says so, and nothing else."""
        return self.by_name and not _OF_DIALOGUE.fullmatch(folded(self.column))


def numbering_of(lines: Iterable[Line], columns: Sequence[str]) -> Numbering | None:
    """Of the columns the one that numbers the rows of each question and candidate from 0 or 1; null for none.

    `lines` are under our names. No number stands twice at a question and candidate, the numbers leave no gap,
    and some question has them all. Of several such columns the one with a name for it counts, else none.
    """
    values: dict[str, _Numbers] = {column: defaultdict(set) for column in columns if _may_number(column)}
    for line in lines:
        key = _key_of(line)
        values = {column: numbers for column, numbers in values.items() if _adds(numbers, key, line, column)}
        if not values:
            return None
    return _chosen([Numbering(column, _count(numbers.values())) for column, numbers in values.items()])


def _key_of(line: Line) -> tuple[str, ...]:
    return tuple(str(line.row.get(name) or "") for name in _KEY)


def _may_number(column: str) -> bool:
    return not _NO_REPEATS.fullmatch(folded(column))


_Numbers = defaultdict[tuple[str, ...], set[int]]
"""The numbers of each question and candidate."""


def _adds(numbers: _Numbers, key: tuple[str, ...], line: Line, column: str) -> bool:
    """Whether the row has a number there that its question and candidate did not have; it is kept."""
    number = _number(line, column)
    if number is None or number in numbers[key]:
        return False
    numbers[key].add(number)
    return True


def _chosen(entries: Sequence[Numbering]) -> Numbering | None:
    """The only column that counts, or the first of those whose names say so if they count as far."""
    entries = [entry for entry in entries if entry.n]
    by_name = [entry for entry in entries if entry.by_name]
    if by_name:
        return by_name[0] if len({entry.n for entry in by_name}) == 1 else None
    return entries[0] if len(entries) == 1 else None


def _number(line: Line, column: str) -> int | None:
    try:
        content = cell(line.row, column)
    except KeyError:
        return None
    if isinstance(content, bool) or not re.fullmatch(r"\s*\d{1,6}(\.0)?\s*", str(content)):
        return None
    return int(float(content))


def _count(numbers: Collection[set[int]]) -> int:
    """How many repeats these numbers of each question count; 0 where they do not count."""
    present = set().union(*numbers)
    first = min(present, default=2)
    is_count = first <= 1 and present == set(range(first, first + len(present))) and present in numbers
    return len(present) if is_count and 1 < len(present) <= _MOST else 0


def counted_repeats(lines: Iterable[Line]) -> Iterator[Line]:
    """Rows under our names with the repeat that each is of its question and candidate, in their order."""
    counts: dict[tuple[str, ...], int] = {}
    for line in lines:
        key = _key_of(line)
        counts[key] = counts.get(key, 0) + 1
        yield Line(line.where, {**line.row, "repeat": counts[key]})


def counts_from_zero(lines: Iterable[Line], column: str) -> bool:
    """Whether the repeats of rows under our names, from `column`, are to be counted from 1, and not from 0.

    Raises `InputError` for a 0 where no question and candidate has both 0 and 1, or some row has no whole
    number: another file may count from 1, and the same repeat would come in twice.
    """
    numbers: _Numbers = defaultdict(set)
    is_whole = True
    for line in lines:
        number = _number(line, "repeat")
        is_whole = is_whole and number is not None
        if number in (0, 1):
            numbers[_key_of(line)].add(number)
    if not any(0 in present for present in numbers.values()):
        return False
    if not is_whole or {0, 1} not in numbers.values():
        raise InputError(
            f"{column!r} holds 0, and repeats count from 1; one that counts the rows of a question and "
            "candidate 0, 1, 2 … in whole numbers is read too, and this one does not. --set repeat=N says "
            f"which repeat all rows are, --set repeat={COUNTED} counts them in their order."
        )
    return True


def from_one(lines: Iterable[Line]) -> Iterator[Line]:
    """Rows whose repeats count from 0, with repeats that count from 1; any other row as it is."""
    for line in lines:
        repeat: Any = line.row.get("repeat")
        is_number = not isinstance(repeat, bool) and re.fullmatch(r"\s*\d+(\.0)?\s*", str(repeat))
        yield Line(line.where, {**line.row, "repeat": int(float(repeat)) + 1}) if is_number else line
