"""Review: whether an item of an exam is right and worth asking, as one rater judges it.

A review is about an item's key, so its scores are those of the reserved candidate `reference`, a ceiling.
What a rater writes in words is no score: comments, disputes and proposed edits are events of the run.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.text import is_blank, printable
from vivavoce.people.question import REFERENCE, Seen
from vivavoce.people.tasks.control import Control
from vivavoce.people.tasks.task import FilledItem, PlainTask, Row, Tally, entered, quoted
from vivavoce.store.rater_texts import WORD_EVENTS, ItemByRater, newest_words, put_words
from vivavoce.store.write import ScoreRow

NO_KEY = "No key: the question is to be answered at length."
"""What raters read in place of a key."""
MOST_CHARACTERS = 10_000
"""The longest comment, dispute or proposed edit."""
MOST_NAME = 200
"""The longest name of a rater or a category."""
WORDS = tuple(WORD_EVENTS)
"""What a rater may write beside the scores."""
LABELS = ("category", "difficulty")
"""What a page proposes as the item has it: with it alone nothing is said of the item."""
_YES, _NO = ("yes", "true", "1", "1.0", "y"), ("no", "false", "0", "0.0", "n")


class ReviewQuestion(NamedTuple):
    """A question to a rater about an item: yes or no, or with `high` a whole number from 1 to `high`."""

    criterion: str
    ask: str
    hint: str = ""
    high: int | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """What a rater chooses from."""
        return ("yes", "no") if self.high is None else tuple(map(str, range(1, self.high + 1)))

    @property
    def scale(self) -> Criterion:
        """The criterion of its scores: 0 or 1, or 1 to `high`."""
        if self.high is None:
            return Criterion(criterion=self.criterion, if_unanswered="set_aside")
        return Criterion(criterion=self.criterion, low=1.0, high=float(self.high), if_unanswered="set_aside")


class Review(NamedTuple):
    """What one rater says of one item; `scores` by criterion, null where the rater gave none.

    `category` is the category under which the rater reviewed the item, '' for none.
    """

    rater: str
    scores: Mapping[str, float | None]
    category: str = ""
    comment: str = ""
    dispute: str = ""
    proposed_edit: str = ""
    difficulty: str = ""

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
    shows_sources = True
    sentence: ClassVar[str] = "Is this question correct with its key, and is it worth asking?"
    questions: ClassVar[tuple[ReviewQuestion, ...]] = (
        ReviewQuestion("correct", "Is the question correct with its key?"),
        ReviewQuestion(
            "relevance", "How relevant is it to practice?", "1 not relevant, 5 highly relevant", 5
        ),
    )

    def __init__(self) -> None:
        self.criterion = self.sentence

    @classmethod
    def table_columns(cls) -> tuple[str, ...]:
        """The columns that a table of such reviews has; those of words may be absent."""
        return ("item", "category", "rater", *(question.criterion for question in cls.questions))

    def visible_part(self, text: str, final: str) -> str:
        """The key as it stands."""
        return text

    def reference(self, item: Item) -> str:
        """The key under the labels of the prompt, or that there is none."""
        key = formats.labelled_key(item)
        return NO_KEY if is_blank(key) else key

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return "no question here can be reviewed"

    @property
    def filled(self) -> tuple[str, ...]:
        """What is asked, the category, and what may be written."""
        return (*(question.criterion for question in self.questions), "category", *WORDS)

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        lines = [f"{q.criterion}: {' or '.join(q.choices)}. {q.ask} {q.hint}".strip() for q in self.questions]
        return (" ".join(lines), "dispute: what is wrong, if anything is.")

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return (
            " ".join(question.ask for question in self.questions),
            "If something is wrong, say so under Dispute: the question is held out until that is settled.",
        )

    def controls(self, n_answers: int) -> Sequence[Control]:
        """What is asked, its category, and what may be written."""
        first, *further = (
            Control(q.criterion, f"{q.ask} {q.hint}".strip(), q.choices) for q in self.questions
        )
        words = (Control(column, column.replace("_", " ").capitalize()) for column in WORDS)
        return (first._replace(required=True), *further, Control("category", "Category"), *words)

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The review; one in which nothing was entered is open, whatever its category."""
        name = seen_question.question.name
        entries = rows[0].entries if rows else {}
        texts = (str(entries.get(column) or "").strip() for column in self.filled if column not in LABELS)
        if not any(texts):
            return FilledItem(seen_question, (), "", "everything", True)
        review = read_review({**entries, "rater": rows[0].texts["rater"]}, name, self.questions)
        gaps = [column for column, value in review.scores.items() if value is None]
        return FilledItem(seen_question, (review,), "", " and ".join(gaps), False)

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Scores, and texts beside them."""
        reviews: list[Review] = [review for item in filled for review in item.ratings]
        labels = sum(value is not None for review in reviews for value in review.scores.values())
        return Tally(labels=labels, remarks=sum(len(review.words) for review in reviews))

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those of the questions."""
        return tuple(question.scale for question in self.questions)

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
            for c in self.criteria
        }

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """What was chosen, and the category."""
        return [self._entries(values) if values else {} for values in answers]

    def _entries(self, values: Mapping[str, Value]) -> dict[str, Any]:
        chosen = {q.criterion: _entry(q, values.get(q.criterion)) for q in self.questions}
        return {**chosen, "category": next(iter(values.values())).note or ""}

    def put_words(self, db: sqlite3.Connection, filled: FilledItem, rater: str) -> bool:
        """Store comment, dispute and proposed edit where they changed; an empty one takes it back."""
        words = filled.ratings[0].words if filled.ratings else {}
        return put_words(db, self._look_at(filled.seen_question, rater), words)

    def stored_words(self, db: sqlite3.Connection, seen_question: Seen, rater: str) -> Mapping[str, str]:
        """The newest comment, dispute and proposed edit of this task and pass: a second look is blind."""
        words = newest_words(db, self._look_at(seen_question, rater))
        return {column: words[kind] for column, kind in WORD_EVENTS.items() if words.get(kind)}

    def _look_at(self, seen_question: Seen, rater: str) -> ItemByRater:
        return ItemByRater(seen_question.question.place, rater, self.name, seen_question.pass_no)


def _entry(question: ReviewQuestion, value: Value | None) -> str | float | None:
    """What was entered, of a value."""
    if value is None or value.value is None:
        return None
    return value.value if question.high else "yes" if value.value else "no"


def read_review(
    entries: Mapping[str, Any], place: str, questions: Sequence[ReviewQuestion] = ReviewTask.questions
) -> Review:
    """The review in the fields of a row or a form. Raises `InputError` for an entry that is none.

    A review that answers none of the questions says nothing that could be stored, and is refused.
    """
    rater, category = (_name(entries, column, place) for column in ("rater", "category"))
    if not rater:
        raise InputError(f"{place}: the rater is empty: each row names who reviewed.")
    scores = {q.criterion: _score(q, entries.get(q.criterion), place) for q in questions}
    if all(score is None for score in scores.values()):
        *first, last = scores
        names = f"{', '.join(first)} and {last} are {'both' if len(first) == 1 else 'all'}"
        raise InputError(f"{place}: {names} empty: a review says one of them at least.")
    words = (_name(entries, k, place) if k in LABELS else _words(entries, k, place) for k in WORDS)
    return Review(rater, scores, category, *words)


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


def _score(question: ReviewQuestion, entry: Any, place: str) -> float | None:
    word = entered(entry).casefold()
    if not word:
        return None
    if question.high is None:
        if word not in (*_YES, *_NO):
            raise InputError(f"{place}: {question.criterion} is yes, no or empty, not {quoted(entry)}.")
        return float(word in _YES)
    word = word.removesuffix(".0")
    if word not in question.choices:
        raise InputError(
            f"{place}: {question.criterion} is a whole number from 1 to {question.high} or empty, not "
            f"{quoted(entry)}."
        )
    return float(word)
