"""Models that wrote an exam and are candidates in it: an examination by oneself."""

from collections.abc import Iterable

from vivavoce.core.records import Card


def writers_examined(card: Card, candidates: Iterable[str]) -> list[str]:
    """The candidates that wrote or translated items of this exam, whatever provider and settings they have.

    Names are compared without provider, settings and case: `openai/gpt-4o(temperature=0)` is `azure/GPT-4o`.
    """
    writers = set(map(_model, card.writers))
    return [name for name in candidates if _model(name) in writers]


def writer_warning(benchmark: str, candidate: str) -> str:
    """The sentence that stands beside every figure of such a candidate."""
    return (
        f"{candidate} wrote or translated items of {benchmark}, and is a candidate in it: its figures there "
        "may be too high, and those of models of its family too."
    )


def _model(name: str) -> str:
    return name.partition("(")[0].rpartition("/")[2].casefold()
