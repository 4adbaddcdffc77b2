"""Which question of an exam a row answers: by its id, else by the question's words, else by its place."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from vivavoce.core.errors import InputError
from vivavoce.core.records import Item, ItemKey
from vivavoce.core.tables import Line
from vivavoce.core.text import one_line

By = Literal["id", "words", "row"]


class Join:
    """Rows under our names with the id of the question that they answer; `counts` says how it was told.

    `way` allows one way alone; without it an id decides, and where it is none of the exam's, the words of the
    question, if they are those of one question. Raises `InputError` for a row whose id and words name two
    questions, and `way` row where a candidate has not as many rows as the exam has questions.
    """

    def __init__(
        self,
        lines: Iterable[Line],
        items: Sequence[Item],
        keys: Mapping[tuple[str, str], ItemKey],
        way: By | None,
    ) -> None:
        self._lines, self._keys, self._way = lines, keys, way
        self._items = [item for item in items if not item.variant]
        self._by_words: dict[str, str | None] = {"": None}
        for item in self._items:
            words = question_words(item.question)
            self._by_words[words] = item.item if words not in self._by_words else None
        self.counts: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Line]:
        self.counts = Counter()
        yield from self._by_row() if self._way == "row" else map(self._joined, self._lines)

    def _joined(self, line: Line) -> Line:
        name = (str(line.row.get("item") or ""), str(line.row.get("variant") or ""))
        of_words = self._by_words.get(question_words(line.row.get("question")))
        if self._way == "words" or name not in self._keys:
            if self._way == "id" or of_words is None:
                return self._unjoined(line)
            self.counts["words"] += 1
            return Line(line.where, {**line.row, "item": of_words})
        if self._way is None and of_words is not None and self._keys[name][1] != of_words:
            raise InputError(
                f"{line.where}: its id is that of {name[0]!r} and its words are those of {of_words!r}: "
                "--by id or --by words says which counts."
            )
        self.counts["id"] += 1
        return line

    def _unjoined(self, line: Line) -> Line:
        """A row about no question of the exam: without an id it is named by its words."""
        if "item" in line.row or not (words := question_words(line.row.get("question"))):
            return line
        return Line(line.where, {**line.row, "item": one_line(words, 60)})

    def _by_row(self) -> Iterator[Line]:
        places: Counter[tuple[str, str]] = Counter()
        for line in self._lines:
            place = places[_asker(line)]
            places[_asker(line)] += 1
            if place < len(self._items):
                self.counts["row"] += 1
                yield Line(line.where, {**line.row, "item": self._items[place].item})
        for (candidate, _), rows in places.items():
            if rows != len(self._items):
                raise InputError(
                    f"--by row: {candidate} has {rows} rows and the exam {len(self._items)} questions: rows "
                    "answer questions by their place only where there is one for each."
                )


def fits_by_row(lines: Iterable[Line], items: Sequence[Item]) -> bool:
    """Whether each candidate has a row for every question of an exam without variants."""
    rows = Counter(map(_asker, lines))
    return set(rows.values()) == {sum(not item.variant for item in items)}


def _asker(line: Line) -> tuple[str, str]:
    return str(line.row.get("candidate")), str(line.row.get("repeat") or 1)


def question_words(text: Any) -> str:
    """The words of a question without case; blanks of any kind and number are one."""
    return " ".join(str(text or "").casefold().split())
