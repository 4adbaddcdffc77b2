"""Filters that read each item by itself: length, language, patient data, length of options."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import scipy

from vivavoce.core.numbers import printed
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.language.languages import codes, language_code
from vivavoce.privacy import preflight
from vivavoce.run.building.filters.base import Decision, Filter
from vivavoce.run.building.step import Lab

_WORD = re.compile(r"\w+")


@step("lengths")
class Lengths(Filter):
    """Questions of fewer than `fewest` or more than `most` words, with their context."""

    fewest: int = 4
    most: int = 1_000

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """Items outside the bounds, with their number of words."""
        decisions = {}
        for place, item in enumerate(items):
            n = len(_WORD.findall(f"{item.context or ''} {item.question}"))
            if not self.fewest <= n <= self.most:
                size = "short" if n < self.fewest else "long"
                decisions[place] = Decision("review", f"the question is very {size}", f"{n:,} words")
        return decisions


@step("language")
class Language(Filter):
    """Questions in another language than `expected`, by default that of most questions.

    Languages are told apart by their commonest words; a question with too few of them is not judged. Items
    that name their language (`meta["language"]`) are held to that.
    """

    expected: str = ""

    def __post_init__(self) -> None:
        if self.expected and self.expected not in codes():
            raise ValueError(f"expected={self.expected}: one of {', '.join(codes())} is known")

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The items in another language, which is named."""
        languages = [language_code(f"{item.question} {' '.join(item.options)}") for item in items]
        counts = Counter(filter(None, languages))
        commonest = counts.most_common(1)[0][0] if counts else ""
        decisions = {}
        for place, (item, language) in enumerate(zip(items, languages, strict=True)):
            expected = self.expected or item.meta.get("language") or commonest
            if language and language != expected:
                decisions[place] = Decision("review", "it is in another language", language)
        return decisions


@step("patient_data")
class PatientData(Filter):
    """Questions that look as if they held patient data; `privacy` says what is looked for."""

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The items with what they seem to hold; the text itself is not repeated."""
        decisions = {}
        for place, item in enumerate(items):
            for flagged in preflight([item]):
                kinds = ", ".join(flagged.kinds)
                decisions[place] = Decision("review", "it looks as if it held patient data", kinds)
        return decisions


@step("longest_option")
class LongestOption(Filter):
    """Choices whose right option is the longest by `ratio` or more: who guesses the longest is right.

    A note says how often the right option is the longest of all questions with one right option, beside what
    chance gives. Ties are no longest option.
    """

    ratio: float = 1.5

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The items whose right option is that much longer than any other."""
        decisions = {}
        for place, item in enumerate(items):
            key, rest = _lengths(item)
            if rest and key >= self.ratio * max(rest):
                ratio = key / max(rest)
                decisions[place] = Decision(
                    "review", "the right option is the longest", f"{ratio:.1f} times as long as the next"
                )
        return decisions

    def notes(self, items: Sequence[Item]) -> Sequence[str]:
        """How often the longest option is right, with a Wilson interval, and what chance gives."""
        choices = [(key, rest) for key, rest in map(_lengths, items) if rest]
        if not choices:
            return ()
        n, hits = len(choices), sum(key > max(rest) for key, rest in choices)
        chance = sum(1 / (1 + len(rest)) for _, rest in choices) / n
        interval = scipy.stats.binomtest(hits, n).proportion_ci(method="wilson")
        return (
            f"the longest option is right in {hits:,} of {n:,} choices ({printed(hits / n, '.0%')}, 95% "
            f"interval {printed(interval.low, '.0%')} to {printed(interval.high, '.0%')}); chance gives "
            f"{printed(chance, '.0%')}.",
        )


def _lengths(item: Item) -> tuple[int, list[int]]:
    """Characters of the right option and of the others; none where it has not exactly one right option."""
    if len(item.answer) != 1 or item.answer[0] not in item.options or len(item.options) < 2:
        return 0, []
    return len(item.answer[0]), [len(option) for option in item.options if option != item.answer[0]]
