"""Neutralising: which words of an explanation give the right option away.

Ranking over Scoring (COLING 2025, Table 9) takes such words out of arguments by hand before they are
compared. What is marked here is taken out by `viva vary RUN "neutralise(marks=people)"`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.text import label, printable
from vivavoce.people.question import Seen
from vivavoce.people.tasks.task import FilledItem, PlainTask, Row, Tally, entered, quoted
from vivavoce.store.write import ScoreRow

_YES, _NO = ("yes", "x", "1", "true", "y"), ("no", "0", "false", "n")


class Marking(NamedTuple):
    """Whether a text gives the answer away, null where the rater did not say, and the words that do."""

    gives_away: bool | None
    spans: tuple[str, ...] = ()


class NeutraliseTask(PlainTask):
    """Raters mark the words of an explanation that name the right option."""

    name = "neutralise"
    schema = "viva.panel.spans/1"
    least_answers = 1
    default_n = 60

    def __init__(self) -> None:
        self.criterion = "Which words give away the option that is called right?"

    def applies_to(self, item: Item) -> bool:
        """Whether the item has options and asks for an explanation."""
        return bool(item.options) and formats.accepts(("argument",), item.format)

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        return (
            f"no question here has options and an explanation to read (of {', '.join(candidates)}): words "
            "that give an option away stand in answers of the format argument"
        )

    @property
    def filled(self) -> tuple[str, ...]:
        """Whether it gives the answer away, and the words, a line each."""
        return ("gives_away", "spans")

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        return (
            "gives_away: yes or no. spans: the words that say which option is right or name options by "
            "number, copied from the text, one passage a line.",
        )

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return (
            "Mark every passage that says which option is right, or names an option by its number.",
            "Copy each passage as it stands, one a line; with the mouse, select it and press Mark.",
            "Reasons stay: that a finding fits one disease gives nothing away by itself.",
        )

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The markings; a question without any is open."""
        name = seen_question.question.name
        ratings = tuple(
            _marking(row, f"{name}, answer {label(n)}", answer.text)
            for n, (row, answer) in enumerate(zip(rows, seen_question.answers, strict=False))
        ) or tuple(Marking(None) for _ in seen_question.answers)
        gaps = [label(n) for n, rating in enumerate(ratings) if rating.gives_away is None]
        blank = len(gaps) == len(ratings)
        lacking = "everything" if blank else f"a word on {', '.join(gaps)}" if gaps else ""
        return FilledItem(seen_question, ratings, "", lacking, blank)

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Texts that were judged."""
        ratings = [rating for item in filled for rating in item.ratings]
        return Tally(labels=sum(rating.gives_away is not None for rating in ratings))

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Whether a text gives the answer away; its note holds the passages, a line each."""
        return (Criterion(criterion="gives_away", direction="lower", if_unanswered="set_aside"),)

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """A score for every candidate whose response has a marked text."""
        rows = [
            ScoreRow(responses[candidate], _value(rating), 1, ballot, position)
            for position, (answer, rating) in enumerate(
                zip(filled.seen_question.answers, filled.ratings, strict=True), 1
            )
            for candidate in answer.candidates
        ]
        unshown = self.unshown_scores(filled.seen_question.question, responses, ballot)
        return {"gives_away": rows + unshown}

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """Yes or no, and the passages."""
        return [
            {"gives_away": "yes" if values["gives_away"].value else "no",
             "spans": values["gives_away"].note or ""}
            if values and values["gives_away"].value is not None else {}
            for values in answers
        ]  # fmt: skip


def _value(rating: Marking) -> Value:
    if rating.gives_away is None:
        return Value(None, note="the rater did not say", status="failed")
    return Value(float(rating.gives_away), note="\n".join(rating.spans) or None)


def _spans(entry: Any, place: str, answer: str) -> tuple[str, ...]:
    """The passages, one a line, each once. Raises `InputError` for one that the answer does not hold."""
    lines = [" ".join(line.split()) for line in printable(str(entry or "")).splitlines()]
    spans = tuple(dict.fromkeys(filter(None, lines)))
    text = " ".join(answer.split())
    if absent := next((span for span in spans if span not in text), None):
        raise InputError(f"{place}: {quoted(absent)} does not stand there: copy each passage as it is.")
    return spans


def _marking(row: Row, place: str, answer: str) -> Marking:
    word = entered(row.entries.get("gives_away")).casefold()
    if word not in (*_YES, *_NO, ""):
        raise InputError(f"{place}: gives_away is yes or no, not {quoted(row.entries['gives_away'])}.")
    spans = _spans(row.entries.get("spans"), place, answer)
    if spans and word in _NO:
        raise InputError(
            f"{place}: it gives nothing away, and passages are marked: one of the two is a slip."
        )
    if word in _YES and not spans:
        raise InputError(f"{place}: mark the passages that give the answer away, one a line.")
    return Marking(bool(spans) if word or spans else None, spans)
