"""What a table of answers holds, counted without keeping its texts: numbers and hashes of each row."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple, Self

import numpy as np
import polars as pl

from vivavoce.core.errors import InputError
from vivavoce.core.records import ItemKey
from vivavoce.core.text import is_blank
from vivavoce.run.exchange.answer_rows import AnswerRow
from vivavoce.run.exchange.repeated_rows import first_contradiction, first_of_key
from vivavoce.studies.answers import identical_repeats

_AT_ONCE = 10_000
_KEY = ("item", "candidate", "repeat", "edit")
_CONTENT = ("text_hash", "rest_hash")
_SCORES = ("scores_hash",)
_COLUMNS = pl.Schema(
    dict.fromkeys(("item", "candidate", "edit"), pl.Int32())
    | dict.fromkeys(("repeat", "text_hash", "rest_hash", "scores_hash"), pl.Int64())
    | dict.fromkeys(("blank", "failed", "of_options"), pl.Boolean())
)


class SecondAnswer(InputError):
    """Two rows of one item, candidate, repeat and edit say different things."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        super().__init__(
            f"{sentence}. If the file numbers repeats, name the column: --map repeat=…; --set repeat=counted "
            "numbers them in their order."
        )


class AnswerTally(NamedTuple):
    """The items and candidates of a table of answers, each numbered in the order of its first row.

    `is_first` tells for every row whether it is the first under its item, candidate, repeat and edit: any
    other one repeats that row word for word. `rows` are the first ones: their numbers, 64-bit hashes of the
    text (null where none arrived) and of what else they say, and whether they are blank or failed.
    `n_words` of all rows, first or not, are answers in words; the others say something of options.
    `scored_twice` is the place of the first row that repeats another one and gives it another score.
    """

    items: Mapping[ItemKey, int]
    candidates: Mapping[str, int]
    is_first: np.ndarray
    rows: pl.DataFrame
    n_words: int
    scored_twice: str | None = None

    @classmethod
    def of(cls, answers: Iterable[AnswerRow]) -> Self:
        """Count the answers of a table, which is read a second time where two rows contradict each other.

        Raises `InputError` for these: two rows of one item, candidate, repeat and edit that say different
        things.
        """
        items: dict[ItemKey, int] = {}
        candidates: dict[str, int] = {}
        edits: dict[tuple[str, str], int] = {("", ""): 0}

        def row(answer: AnswerRow) -> tuple[int | bool | None, ...]:
            r = answer.response
            return (
                items.setdefault((r.benchmark, r.item, r.variant), len(items)),
                candidates.setdefault(r.candidate, len(candidates)),
                edits.setdefault((r.edit, r.probe), len(edits)),
                r.repeat,
                None if r.text is None else hash(r.text),
                hash((r.status, r.reasoning, r.finish_reason, r.tokens, r.seconds, r.cost, r.error,
                      r.logprobs, *r.meta.items())),
                hash(tuple((mark.criterion, mark.value) for mark in answer.marks)),
                r.text is not None and is_blank(r.text),
                r.status == "failed",
                bool(r.probe),
            )  # fmt: skip

        iterator = iter(answers)
        parts = [pl.DataFrame(schema=_COLUMNS)]
        while batch := [row(answer) for answer in islice(iterator, _AT_ONCE)]:
            parts.append(pl.DataFrame(batch, _COLUMNS, orient="row"))
        rows = pl.concat(parts)
        is_first = first_of_key(rows, _KEY)
        n_words = rows.height - int(rows["of_options"].sum())
        scored_twice = None
        if not is_first.all():
            _refuse_contradiction(rows, answers)
            if numbers := first_contradiction(rows, _KEY, _SCORES):
                scored_twice = next(islice(answers, numbers.second, None)).where
            rows = rows.filter(pl.Series(is_first))
        return cls(items, candidates, is_first, rows, n_words, scored_twice)

    def distinct(self, answers: Iterable[AnswerRow]) -> Iterator[AnswerRow]:
        """The answers of the table that was counted, without those that repeat an earlier one."""
        return (answer for answer, is_first in zip(answers, self.is_first, strict=True) if is_first)

    @property
    def in_words(self) -> int:
        """How many answers in words there are, each once."""
        return self.rows.height - self.of_options

    @property
    def of_options(self) -> int:
        """How many times something is said of the options of a question, each once."""
        return int(self.rows["of_options"].sum())

    @property
    def identical_repeats(self) -> tuple[str, ...]:
        """The candidates with several answers to some item, and to every item always the same text."""
        names = {str(number): candidate for candidate, number in self.candidates.items()}
        keys = {"benchmark": pl.lit(""), "variant": pl.lit(""), "edit": pl.lit("")}
        numbers = identical_repeats(self.rows.filter(pl.col("edit") == 0).with_columns(**keys))
        return tuple(names[number] for number in sorted(numbers, key=int))


def _refuse_contradiction(rows: pl.DataFrame, answers: Iterable[AnswerRow]) -> None:
    """Raise `InputError` for the first row that says something else than the first under its key."""
    if numbers := first_contradiction(rows, _KEY, _CONTENT):
        first, second = (next(islice(answers, number, None)) for number in numbers)
        raise SecondAnswer(
            f"{second.where}: a second answer of {second.response.candidate} to {second.name}, repeat "
            f"{second.response.repeat} (the first: {first.where})"
        )
