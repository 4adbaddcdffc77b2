"""Rows under our names as the responses that they hold, one at a time."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, get_args

from vivavoce.core.errors import InputError
from vivavoce.core.numbers import LARGEST
from vivavoce.core.records import Item, ItemKey, Response, ResponseStatus
from vivavoce.core.tables import Kept, Line, cell_names
from vivavoce.core.text import one_line
from vivavoce.run.exchange.answer_scores import NO_SCORES, AnswerScores
from vivavoce.run.exchange.option_likelihoods import OptionLikelihoods
from vivavoce.run.exchange.recorded_log import Mark
from vivavoce.run.exchange.rows import named, number_of, of_probe, text_of, without_server_error

_NEEDED = {
    "item": "--map item=COLUMN",
    "candidate": "--map candidate=COLUMN or --set candidate=NAME",
    "text": "--map text=COLUMN",
}


_STATUSES = get_args(ResponseStatus)


class AnswerRow(NamedTuple):
    """A response, where it stands, the id by which its row names the item, and its scores in the file."""

    response: Response
    where: str
    name: str
    marks: tuple[Mark, ...] = ()


class Skipped:
    """Of so many `rows` those that give no response: of each item outside, and of log-probabilities.

    `alone` rows say something of options, and hold no answer in words. `unfit` rows say what cannot be of
    their questions' options, the first for the reason `why_unfit`.
    """

    def __init__(self) -> None:
        self.by_item: Counter[str] = Counter()
        self.probes = 0
        self.rows = 0
        self.alone = 0
        self.unfit, self.why_unfit = 0, ""


def keys_by_name(items: Iterable[Item]) -> dict[tuple[str, str], ItemKey]:
    """The key of each item by every name it answers to: published id, or base id and variant."""
    keys = {(i.item, i.variant): (i.benchmark, i.item, i.variant) for i in items}
    return {(i.alias, ""): keys[i.item, i.variant] for i in items if i.alias} | keys


class AnswerRows(Iterable[AnswerRow]):
    """The responses to `items` in lines under our names, read as often as asked for.

    `skipped` counts the other rows, of which the last reading gave none. With `numbers_are_texts` a number or
    a truth value is the text of an answer: a frame holds a column of such answers so. Of a `small` table
    they are kept. `scores` are those that the file gives to its answers, and `likelihoods` what it says of
    options: a response of its own, behind that in words.

    Raises `InputError` for a row that is no response, with where it stands.
    """

    def __init__(
        self,
        lines: Iterable[Line],
        items: Mapping[tuple[str, str], ItemKey],
        matched: Mapping[str, str],
        *,
        numbers_are_texts: bool = False,
        small: bool = False,
        scores: AnswerScores = NO_SCORES,
        likelihoods: OptionLikelihoods | None = None,
    ) -> None:
        self._likelihoods = likelihoods
        self._lines, self._items, self._matched = lines, items, matched
        self._numbers_are_texts = numbers_are_texts
        self._begin = Kept(self._responses).__iter__ if small else self._responses
        self.skipped, self.scores = Skipped(), scores

    def __iter__(self) -> Iterator[AnswerRow]:
        return self._begin()

    def _responses(self) -> Iterator[AnswerRow]:
        self.skipped = Skipped()
        lines = map(_with_text, self._lines) if self._numbers_are_texts else self._lines
        for line in named(lines, self._matched, self._needed):
            self.skipped.rows += 1
            if of_probe(line):
                self.skipped.probes += 1
                continue
            name = text_of(line, "item") or "", text_of(line, "variant") or ""
            if name in self._items:
                yield from self._of_row(line, name)
            else:
                self.skipped.by_item[" ".join(name).strip()] += 1

    @property
    def _needed(self) -> Mapping[str, str]:
        """What a row needs: what a table says of options may stand in the place of answers in words."""
        if self._likelihoods is None or "text" in self._matched:
            return _NEEDED
        return {name: remedy for name, remedy in _NEEDED.items() if name != "text"}

    def _of_row(self, line: Line, name: tuple[str, str]) -> Iterator[AnswerRow]:
        """The answer of a row, and behind it what it says of options."""
        in_words = "text" in line.row
        line = line if in_words else Line(line.where, {**line.row, "text": None})
        response = without_server_error(_response(line, self._items[name]))
        of_options = None if self._likelihoods is None else self._likelihoods.response(line, response)
        if isinstance(of_options, str):
            self.skipped.unfit += 1
            self.skipped.why_unfit = self.skipped.why_unfit or of_options
            of_options = None
        if in_words or of_options is None:
            yield AnswerRow(response, line.where, name[0], self.scores.marks(line))
        else:
            self.skipped.alone += 1
        if of_options is not None:
            yield AnswerRow(of_options, line.where, name[0])


def _with_text(line: Line) -> Line:
    """The row with the text of a cell that a frame holds as True or 12: a column of such answers only."""
    text = line.row.get("text")
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    return Line(line.where, {**line.row, "text": str(text)}) if isinstance(text, bool | int | float) else line


def _response(line: Line, key: ItemKey) -> Response:
    row, place = line.row, line.where
    benchmark, item, variant = key
    text = row["text"]
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"{place}: the answer is {type(text).__name__}, not text: {one_line(str(text), 40)}."
            f"{_field_of(text)}"
        )
    status: Any = row.get("status")
    if status in (None, ""):
        status = "failed" if text is None else "ok"
    if status not in _STATUSES:
        raise InputError(f"{place}: status {status!r} is none of ok, filtered, failed.")
    if status == "ok" and text is None:
        raise InputError(f"{place}: the status is ok but there is no text.")
    candidate = text_of(line, "candidate") or ""
    fields = _optional_fields(line)
    return Response(
        benchmark=benchmark,
        item=item,
        variant=variant,
        candidate=candidate,
        status=status,
        text=text if status == "ok" else None,
        error=text_of(line, "error") or (text if status == "failed" else None),
        meta=_confidence(line),
        **fields,
    )


def _optional_fields(line: Line) -> dict[str, Any]:
    return {name: reader(line, name) for name, reader in _OPTIONAL.items() if name in line.row}


def _number(
    kind: type[int] | type[float], least: int = 0, default: int | None = None, *, most: float = LARGEST
) -> Callable[[Line, str], Any]:
    """The reader of a number from `least` to `most` in a row; the `default` where the cell is empty."""
    return lambda line, name: number_of(line.row, name, kind, line.where, default, least=least, most=most)


MOST_TOKENS, MOST_SECONDS, MOST_COST = 1e9, 366 * 86_400.0, 1e9
"""More is no measurement of one answer: another unit, or a column by another name."""


_OPTIONAL: Mapping[str, Callable[[Line, str], Any]] = {
    "repeat": _number(int, 1, 1),
    "edit": lambda line, name: text_of(line, name) or "",
    "reasoning": text_of,
    "finish_reason": text_of,
    "tokens": _number(int, most=MOST_TOKENS),
    "seconds": _number(float, most=MOST_SECONDS),
    "cost": _number(float, most=MOST_COST),
}
"""What a row may say beside the answer, and how it is read; most tables have none of these columns."""


def _field_of(value: Any) -> str:
    """How a field of a nested answer is named, in a sentence; empty where there is none."""
    first = next((name for name in cell_names({"COLUMN": value}) if name != "COLUMN"), None)
    return f" A dotted name leads to its text, as in --map text={first}." if first else ""


def _confidence(line: Line) -> dict[str, float | str]:
    """The confidence of a row, if it has one: a probability where the cell is a number, else its words.

    Raises `InputError` for a number above 1 or below 0, which is no probability.
    """
    cell = line.row.get("confidence")
    if cell is None:
        return {}
    if isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell):
        cell = cell.replace(",", ".")
    try:
        number = number_of({"confidence": cell}, "confidence", float, line.where)
    except InputError:
        if not isinstance(cell, str):
            raise
        return {"confidence": cell}
    if number is not None and not 0 <= number <= 1:
        raise InputError(
            f"{line.where}: confidence is {number:g}; a number is a probability from 0 to 1, and percent has "
            f"its sign, as in {number:g}%."
        )
    return {} if number is None else {"confidence": number}


_DECIMAL_COMMA = re.compile(r"\s*[01],\d+\s*")
