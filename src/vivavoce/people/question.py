"""A question of a panel with the answers to it, and how one rater sees it."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from vivavoce.core.spreadsheets import FORMULA

REFERENCE = "reference"
"""The candidate, a ceiling, that the reference answer is in the run."""
_FORMULA = re.compile(FORMULA)


class BlindedAnswer(NamedTuple):
    """An answer as raters see it, and every candidate who gave it."""

    text: str
    candidates: tuple[str, ...]


class Question(NamedTuple):
    """What is asked: an item with the different answers to it.

    `name` is what packets call it, `prompt` its text. `answers` are different texts, `repeats` says
    which repeat of each candidate was taken. `silent` gives the reason by candidate, `lost` are candidates
    whose answer did not arrive. `reference` says whether there is a reference answer, `reference_text` is
    that answer where it stands beside the others and not among them. In a key that was kept all texts are
    empty: they are the run's, and go with its items.
    """

    name: str
    benchmark: str
    item: str
    variant: str
    hash: str
    prompt: str
    answers: tuple[BlindedAnswer, ...]
    repeats: Mapping[str, int]
    silent: Mapping[str, str]
    lost: tuple[str, ...]
    reference: bool
    reference_text: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """Benchmark, base id and variant."""
        return self.benchmark, self.item, self.variant


class Seen(NamedTuple):
    """A question as one rater sees it: its answers in the order of their labels, and its seal.

    `pass_no` is 2 where the question is put to the same rater again.
    """

    question: Question
    answers: tuple[BlindedAnswer, ...]
    seal: str
    pass_no: int = 1


def plain(text: str) -> str:
    """A text with single blanks, and without the apostrophes that keep a spreadsheet from running it."""
    return " ".join((text.lstrip("'") if _FORMULA.match(text) else text).split())
