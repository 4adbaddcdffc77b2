"""Rule books of atomic facts: how an answer is cleaned, which units are checked, what a verdict counts.

One engine reads the fields, and never which book they are of. `corrected` is here; a published system
registers its own with `@rules(name)` in its file `rules.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from vivavoce.core import registry
from vivavoce.facts.cleaning import clean
from vivavoce.facts.fact import Cleaned, KnowledgeWord
from vivavoce.facts.verdict_words import verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the books differ in; every default is that of `corrected`."""

    cleaned: Callable[[str, str, str | None], Cleaned] = lambda question, response, finish_reason: clean(
        question, response, finish_reason=finish_reason
    )
    """The answer without what is no part of it, from the question, the answer and its finish reason.

    Published: the instruction and the question are cut out wherever they stand, and nothing else is done."""

    verdict: Callable[[str], KnowledgeWord] = verdict
    """Reads a one-word reply. Published: any text with `true` in it and no `false` is true, `Untrue` too."""

    settles_units: bool = True
    """Published: every line goes to the checker, blank ones, bare list markers and repeated ones too."""

    silence_is_zero: bool = False
    """Published: an answer without a unit scores 0 and counts as good. Here it has no precision."""

    figures: tuple[str, ...] = ()
    """The criteria of an answer that it gives; none: all. Published: DAHL's score is the only figure."""


@registry.rules("corrected")
def corrected() -> Rules:
    """The default: what has no verdict is set aside, and the score comes with bounds."""
    return Rules()


def rule_book(name: str) -> Rules:
    """The registered book of that name. Raises `SpecError` with those there are."""
    book: Rules = registry.find("rules", name).cls()
    return book
