"""The published files of CasiMedicos: rows that hold question and argument in one text, five for an item."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce.benchmarks.health.source_files import SourceLine, read_source
from vivavoce.core.errors import InputError, RowError
from vivavoce.core.records import Item

PLACES = (1, 2, 3, 4, 5)
"""The places that the right option takes in the rows of an item, one after the other."""
OPENING = 90
"""Characters that two texts share where one is the other in nearly the same words."""
_ENDS = (re.compile(r"\?(?=\s|$)"), re.compile(r":(?=\s|$)"), re.compile(r"\.(?=\s|$)"))
"""Where a question may end, the surest first."""


Task = tuple[frozenset[str], str]
"""What all rows of an item share in every file: the options, and which is right."""


class Rotation(NamedTuple):
    """A row: a text that begins with the question, its options, and the right one with its place from 1.

    `options` are those with a text, equal ones once; the place counts every option.
    """

    line: SourceLine
    text: str
    options: tuple[str, ...]
    right: str
    place: int

    @property
    def task(self) -> Task:
        """The options and which is right."""
        return frozenset(self.options), self.right


def read_rotations(path: Path) -> list[Rotation]:
    """The rows of a file. Raises `InputError` for a row that is not of this layout."""
    rows = []
    for line in read_source(path, "question", "options", "correct_option"):
        try:
            rows.append(_rotation(line))
        except RowError as error:
            raise InputError(
                f"{path}, line {line.number}: {error.reason}: take the published file."
            ) from None
    return rows


def _rotation(line: SourceLine) -> Rotation:
    listed = line.row["options"]
    if not isinstance(listed, dict) or not all(isinstance(text, str) for text in listed.values()):
        raise line.fault('options are no object of texts under "1" to "5"')
    place = line.integer("correct_option", 1, len(PLACES))
    right = listed.get(str(place), "")
    if not right.strip():
        raise line.fault(f"correct_option is {place}, and there is no such option")
    options = tuple(dict.fromkeys(text for text in listed.values() if text.strip()))
    return Rotation(line, line.text("question"), options, right, place)


def check_places(path: Path, rows: Sequence[Rotation]) -> None:
    """Raise `InputError` where the rows of one item are not five for each time that it stands in the file."""
    counts = Counter(row.place for row in rows)
    if len({counts[place] for place in PLACES}) > 1:
        place = min(PLACES, key=counts.__getitem__)
        raise InputError(
            f"{path}: the item of line {rows[0].line.number} lacks the row with its right option at place "
            f"{place}: an item stands in five rows, one for each place. Take the published file whole."
        )


def in_own_order(item: str, options: Iterable[str]) -> tuple[str, ...]:
    """Options in an order that depends on the item's id and their texts alone, whatever rows list them."""
    return tuple(sorted(options, key=lambda text: hashlib.sha256(f"{item}|{text}".encode()).digest()))


def split_arguments(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Question and argument of each text, where only texts of one item with other arguments say what is what.

    The item may be worded in several ways. One of the sources sets its argument off by two blanks. Without
    it, the question ends within what texts with other arguments share, else with the first question mark.
    """
    parts: dict[str, tuple[str, str]] = {}
    by_opening: dict[str, list[str]] = {}
    for text in sorted(set(texts)):
        by_opening.setdefault(text[:OPENING], []).append(text)
    for rows in by_opening.values():
        while rows:
            question = _question(rows)
            parts |= {t: (question, t[len(question) :].strip()) for t in rows if t.startswith(question)}
            rows = [text for text in rows if text not in parts]
    return [parts[text] for text in texts]


def _question(texts: Sequence[str]) -> str:
    by_blanks = [text.partition("  ")[0] for text in texts if "  " in text]
    if by_blanks:
        return min(by_blanks, key=len)
    first, last = min(texts), max(texts)
    parting = (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    shared = first[: next(parting, len(first))]
    ends = next((places for places in (_ends_in(shared, end) for end in _ENDS) if places), [len(shared)])
    return shared[: ends[-1] if len(texts) > 1 else ends[0]]


def _ends_in(text: str, end: re.Pattern[str]) -> list[int]:
    return [match.end() for match in end.finditer(text)]


def arguments_in(path: Path, items: Iterable[Item]) -> dict[str, dict[int, str]]:
    """The arguments of a file by item, and by the place of the right option in the row that holds it.

    Raises `InputError` for a row that asks none of the items, or with other options; for a row that an item
    lacks; and where its rows differ in more than a number at the end that names the row's own place.
    """
    by_task: dict[Task, list[Item]] = {}
    for item in items:
        by_task.setdefault((frozenset(item.options), item.answer[0]), []).append(item)
    of_item: dict[str, list[tuple[Rotation, str]]] = {}
    for row in read_rotations(path):
        item = _item_of(path, row, by_task)
        of_item.setdefault(item.item, []).append((row, row.text[len(item.question) :].strip()))
    for rows in of_item.values():
        check_places(path, [row for row, _ in rows])
        _check_one_argument(path, rows)
    return {item: {row.place: text for row, text in rows} for item, rows in of_item.items()}


def _item_of(path: Path, row: Rotation, by_task: Mapping[Task, Sequence[Item]]) -> Item:
    """The item that a row asks, by the longest question that its text begins with."""
    fitting = [i for i in by_task.get(row.task, ()) if row.text.startswith(i.question)]
    if not fitting:
        raise _stranger(path, row, [item for alike in by_task.values() for item in alike])
    return max(fitting, key=lambda i: len(i.question))


def _check_one_argument(path: Path, rows: Sequence[tuple[Rotation, str]]) -> None:
    labels = {plain_label(text, row.place) for row, text in rows}
    if len(labels) > 1 and len({text for _, text in rows}) > 1:
        raise InputError(
            f"{path}: the five rows of the item of line {rows[0][0].line.number} hold different "
            "arguments, and an item has one: keep one of them in all five rows."
        )


def plain_label(text: str, place: int) -> str:
    """The text with a mark for the number at its end that names the place of the right option."""
    return re.sub(rf"\b{place}(?=\W*$)", "#", text)


def _stranger(path: Path, row: Rotation, items: Sequence[Item]) -> InputError:
    item = next((item for item in items if row.text.startswith(item.question)), None)
    place = f"{path}, line {row.line.number}"
    if item is None:
        return InputError(f"{place}: {items[0].benchmark} has no item that asks this: is it the same split?")
    return InputError(
        f"{place}: options or right answer are not those that item {item.item} of {item.benchmark} has: the "
        "files of one item differ. Take all of them from one release."
    )
