"""Review: whether an item of an exam is right and worth asking, as one rater judges it.

A review is about an item's key, so its scores are those of the reserved candidate `reference`, a ceiling.
What a rater writes in words is no score: comments, disputes and proposed edits are events of the run.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.specs import RECORDED
from vivavoce.core.text import is_blank, printable
from vivavoce.people.question import REFERENCE, Seen
from vivavoce.people.tasks.control import Control
from vivavoce.people.tasks.task import FilledItem, PlainTask, Row, Tally, entered, quoted
from vivavoce.store.rater_texts import WORD_EVENTS, newest_words, put_words
from vivavoce.store.write import ScoreRow

METRIC = "review"
SIGNATURE = f"{METRIC}()@{RECORDED}"
CRITERIA = (
    Criterion(criterion="correct", if_unanswered="set_aside"),
    Criterion(criterion="relevance", low=1.0, high=5.0, if_unanswered="set_aside"),
)
"""Is the item with its key correct, 0 or 1; how relevant is it to practice, 1 to 5."""
MOST_CHARACTERS = 10_000
"""The longest comment, dispute or proposed edit."""
MOST_NAME = 200
"""The longest name of a rater or a category."""
WORDS = tuple(WORD_EVENTS)
"""What a rater may write beside the scores."""
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
        return {WORD_EVENTS[column]: text for column in WORDS if (text := getattr(self, column))}


class ReviewTask(PlainTask):
    """Raters review items with their keys, closed ones too; no candidate's answer is shown."""

    name = "review"
    schema = "viva.panel.reviews/1"
    least_answers = 1
    default_n = 1_000_000
    has_form = True
    rates_reference = True
    shows_candidates = False
    asks_closed = True
    leaves_gaps = True

    def __init__(self) -> None:
        self.criterion = "Is this question correct with its key, and is it worth asking?"

    def applies_to(self, item: Item) -> bool:
        """Whether there is a key to review."""
        return not is_blank(formats.key(item))

    def visible_part(self, text: str, final: str) -> str:
        """The key as it stands."""
        return text

    def reference(self, item: Item) -> str:
        """The key under the labels of the prompt."""
        return formats.labelled_key(item)

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return "no question here has a key or a reference answer to review"

    @property
    def filled(self) -> tuple[str, ...]:
        """Correct, relevance, category, and what may be written."""
        return ("correct", "relevance", "category", *WORDS)

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        return (
            "correct: yes or no, whether the question is correct with its key. relevance: 1, not relevant to "
            "practice, to 5, highly relevant. dispute: what is wrong, if anything is.",
        )

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return (
            "Say whether the question is correct with its key, and how relevant it is to practice.",
            "If something is wrong, say so under Dispute: the question is held out until that is settled.",
        )

    def controls(self, n_answers: int) -> Sequence[Control]:
        """Whether the question is correct, its relevance, its category, and what may be written."""
        words = (Control(column, column.replace("_", " ").capitalize()) for column in WORDS)
        return (
            Control("correct", "Is the question correct with its key?", ("yes", "no"), required=True),
            Control("relevance", "Relevance to practice: 1 none, 5 high", ("1", "2", "3", "4", "5")),
            Control("category", "Category"),
            *words,
        )

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The review; one in which nothing was entered is open, whatever its category."""
        name = seen_question.question.name
        entries = rows[0].entries if rows else {}
        if not any(str(entries.get(column) or "").strip() for column in self.filled if column != "category"):
            return FilledItem(seen_question, (), "", "everything", True)
        review = read_review({**entries, "rater": rows[0].texts["rater"]}, name)
        gaps = [column for column, value in review.scores.items() if value is None]
        return FilledItem(seen_question, (review,), "", " and ".join(gaps), False)

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Scores, and texts beside them."""
        reviews: list[Review] = [review for item in filled for review in item.ratings]
        labels = sum(value is not None for review in reviews for value in review.scores.values())
        return Tally(labels=labels, remarks=sum(len(review.words) for review in reviews))

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Correct and relevance."""
        return CRITERIA

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """The scores of the reference answer, as reviews from a file are stored; what is missing has none."""
        return {
            c.criterion: [
                ScoreRow(responses[REFERENCE], Value(value, note=review.category or None))
                for review in filled.ratings
                if (value := review.scores[c.criterion]) is not None
            ]
            for c in CRITERIA
        }

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """Yes or no, the relevance, and the category."""
        return [_entries(values) if values else {} for values in answers]

    def put_words(self, db: sqlite3.Connection, filled: FilledItem, rater: str) -> bool:
        """Store comment, dispute and proposed edit where they changed; an empty one takes it back."""
        words = filled.ratings[0].words if filled.ratings else {}
        return put_words(db, filled.seen_question.question.place, rater, words)

    def stored_words(self, db: sqlite3.Connection, seen_question: Seen, rater: str) -> Mapping[str, str]:
        """The newest comment, dispute and proposed edit."""
        words = newest_words(db, seen_question.question.place, rater)
        return {column: words[kind] for column, kind in WORD_EVENTS.items() if words.get(kind)}


def _entries(values: Mapping[str, Value]) -> dict[str, Any]:
    correct = values["correct"].value if "correct" in values else None
    return {
        "correct": None if correct is None else "yes" if correct else "no",
        "relevance": values["relevance"].value if "relevance" in values else None,
        "category": next(iter(values.values())).note or "",
    }


def read_review(entries: Mapping[str, Any], place: str) -> Review:
    """The review in the fields of a row or a form. Raises `InputError` for an entry that is none.

    A review without `correct` and `relevance` says nothing that could be stored, and is refused.
    """
    rater, category = (_name(entries, column, place) for column in ("rater", "category"))
    if not rater:
        raise InputError(f"{place}: the rater is empty: each row names who reviewed.")
    correct, relevance = _correct(entries.get("correct"), place), _relevance(entries.get("relevance"), place)
    if correct is None and relevance is None:
        raise InputError(
            f"{place}: correct and relevance are both empty: a review says one of them at least."
        )
    return Review(rater, correct, relevance, category, *(_words(entries, kind, place) for kind in WORDS))


def _text(entries: Mapping[str, Any], column: str, place: str) -> str:
    entry = entries.get(column)
    if isinstance(entry, (bool, list, dict)):
        raise InputError(f"{place}: {column} is a text, not {quoted(entry)}.")
    return "" if entry is None else str(entry).strip()


def _name(entries: Mapping[str, Any], column: str, place: str) -> str:
    text = printable(" ".join(_text(entries, column, place).split()))
    if len(text) > MOST_NAME:
        raise InputError(f"{place}: the {column} has {len(text):,} characters; {MOST_NAME} is the most.")
    return text


def _words(entries: Mapping[str, Any], kind: str, place: str) -> str:
    text = _text(entries, kind, place)
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"{place}: the {kind.replace('_', ' ')} has {len(text):,} characters; {MOST_CHARACTERS:,} is the "
            "most."
        )
    return text


def _correct(entry: Any, place: str) -> float | None:
    word = entered(entry).casefold()
    if word not in (*_YES, *_NO, ""):
        raise InputError(f"{place}: correct is yes, no or empty, not {quoted(entry)}.")
    return float(word in _YES) if word else None


def _relevance(entry: Any, place: str) -> float | None:
    word = entered(entry).removesuffix(".0")
    if word not in ("1", "2", "3", "4", "5", ""):
        raise InputError(f"{place}: relevance is a whole number from 1 to 5 or empty, not {quoted(entry)}.")
    return float(word) if word else None
