"""Review: whether an item of an exam is right and worth asking, as one rater judges it.

A review is about an item's key, so its scores are those of the reserved candidate `reference`, a ceiling.
What a rater writes in words is no score: comments, disputes and proposed edits are events of the run.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion
from vivavoce.core.specs import RECORDED
from vivavoce.core.text import printable
from vivavoce.people.tasks.task import entered, quoted

METRIC = "review"
SIGNATURE = f"{METRIC}@{RECORDED}"
CRITERIA = (
    Criterion(criterion="correct", if_unanswered="set_aside"),
    Criterion(criterion="relevance", low=1.0, high=5.0, if_unanswered="set_aside"),
)
"""Is the item with its key correct, 0 or 1; how relevant is it to practice, 1 to 5."""
MOST_CHARACTERS = 10_000
"""The longest comment, dispute or proposed edit."""
MOST_NAME = 200
"""The longest name of a rater or a category."""
WORDS = ("comment", "dispute", "proposed_edit")
"""What a rater may write beside the scores, each the kind of an event."""
_YES, _NO = ("yes", "true", "1", "1.0", "y"), ("no", "false", "0", "0.0", "n")


class Review(NamedTuple):
    """What one rater says of one item; null where the rater gave no such score.

    `category` is the category under which the rater reviewed the item, '' for none.
    """

    rater: str
    correct: float | None
    relevance: float | None
    category: str = ""
    comment: str = ""
    dispute: str = ""
    proposed_edit: str = ""

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores by criterion."""
        return {"correct": self.correct, "relevance": self.relevance}

    @property
    def words(self) -> dict[str, str]:
        """What was written, by kind of event."""
        written = {f"review {kind.replace('_', ' ')}": getattr(self, kind) for kind in WORDS}
        return {kind: text for kind, text in written.items() if text}


def read_review(entries: Mapping[str, Any], where: str) -> Review:
    """The review in the fields of a row or a form. Raises `InputError` for an entry that is none.

    A review without `correct` and `relevance` says nothing that could be stored, and is refused.
    """
    rater, category = (_name(entries, column, where) for column in ("rater", "category"))
    if not rater:
        raise InputError(f"{where}: the rater is empty: each row names who reviewed.")
    correct, relevance = _correct(entries.get("correct"), where), _relevance(entries.get("relevance"), where)
    if correct is None and relevance is None:
        raise InputError(f"{where}: correct and relevance are both empty: leave the row out.")
    return Review(rater, correct, relevance, category, *(_words(entries, kind, where) for kind in WORDS))


def _text(entries: Mapping[str, Any], column: str, where: str) -> str:
    entry = entries.get(column)
    if isinstance(entry, (bool, list, dict)):
        raise InputError(f"{where}: {column} is a text, not {quoted(entry)}.")
    return "" if entry is None else str(entry).strip()


def _name(entries: Mapping[str, Any], column: str, where: str) -> str:
    text = printable(" ".join(_text(entries, column, where).split()))
    if len(text) > MOST_NAME:
        raise InputError(f"{where}: the {column} has {len(text):,} characters; {MOST_NAME} is the most.")
    return text


def _words(entries: Mapping[str, Any], kind: str, where: str) -> str:
    text = _text(entries, kind, where)
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"{where}: the {kind.replace('_', ' ')} has {len(text):,} characters; {MOST_CHARACTERS:,} is the "
            "most."
        )
    return text


def _correct(entry: Any, where: str) -> float | None:
    word = entered(entry).casefold()
    if word not in (*_YES, *_NO, ""):
        raise InputError(f"{where}: correct is yes, no or empty, not {quoted(entry)}.")
    return float(word in _YES) if word else None


def _relevance(entry: Any, where: str) -> float | None:
    word = entered(entry).removesuffix(".0")
    if word not in ("1", "2", "3", "4", "5", ""):
        raise InputError(f"{where}: relevance is a whole number from 1 to 5 or empty, not {quoted(entry)}.")
    return float(word) if word else None
