"""A task: what it shows, the columns that raters fill, how they are read, and the scores that come of them.

Choice of items, blinding, seals, page shell, sheet and storage are the same for every task.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from vivavoce.core.records import Criterion, Item, ItemKey, Value
from vivavoce.core.specs import RECORDED
from vivavoce.core.text import one_line, printable
from vivavoce.people.case_draw import DrawnItems, draw_questions
from vivavoce.people.question import Question, Seen, plain
from vivavoce.people.tasks.control import Control
from vivavoce.store.write import ScoreRow

UNSHOWN = "not shown to raters: there was nothing to read"
LOST = "not shown to raters: its answer did not arrive"


class Row(NamedTuple):
    """An answer's row of a file: where it stands, what was sent, and what the rater entered by column."""

    where: str
    texts: Mapping[str, str]
    entries: Mapping[str, Any]

    def place(self, item: str) -> str:
        """The answer in a file, for a sentence."""
        return f"{self.where}: answer {plain(self.texts['label'])} to {item}"


@dataclass(frozen=True, slots=True)
class FilledItem:
    """An item as a rater filled it in, its answers in the order shown.

    `ratings` holds what the task read of each answer. `lacking` names the missing entries, for a sentence;
    empty if there are none. An `open` item has nothing that can be stored.
    """

    seen_question: Seen
    ratings: tuple[Any, ...]
    remark: str
    lacking: str
    open: bool


class Tally(NamedTuple):
    """What a rater entered: single labels, answers that are clearly wrong, and so on."""

    labels: int = 0
    cannot_tell: int = 0
    clearly_wrong: int = 0
    remarks: int = 0


class Task(ABC):
    """What a panel asks. `criterion` is the sentence at the head of a packet."""

    name: ClassVar[str]
    schema: ClassVar[str]
    """What a page writes at the head of its ballots."""
    least_answers: int
    """The least number of different answers that make a question."""
    default_n: ClassVar[int]
    rates_reference: ClassVar[bool]
    """Whether the reference stands, blinded, among the answers; else it stands beside them."""
    shown_columns: ClassVar[tuple[str, ...]]
    """The columns of a sheet that are about the question; the seal covers them."""
    shows_candidates: bool = True
    """Whether candidates' answers are judged; else an item is, with its key, and no candidate is needed."""
    asks_closed: ClassVar[bool] = False
    """Whether closed questions are asked by default too: they have a key, and no answer to judge."""
    one_answer_each: ClassVar[bool] = False
    """Whether a rater sees one of a question's two answers: by turns the first and the second."""
    shows_sources: ClassVar[bool] = False
    """Whether what an item was made from is shown beside it; it would give the key away."""
    has_form: ClassVar[bool] = False
    """Whether a tool that draws forms itself can ask it, by `controls`."""
    leaves_gaps: ClassVar[bool] = False
    """Whether an entry that is missing has no score at all; else it has one that failed."""
    criterion: str

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of a sheet, those to fill last."""
        return ("panel", "rater", "item", "seal", *self.shown_columns, "label", "answer", *self.filled)

    # What the key of a panel holds.

    @property
    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The task as a blinding key holds it: JSON."""

    @classmethod
    @abstractmethod
    def from_body(cls, body: Mapping[str, Any]) -> "Task":
        """The task that a blinding key holds."""

    @property
    @abstractmethod
    def identity(self) -> Any:
        """What the id of a panel follows from, beside its questions: JSON."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What the provenance of a panel says of its task."""

    def check_earlier(self, earlier: "Iterable[Task]") -> None:
        """Raise `InputError` where this task cannot stand beside one that the run has given out."""
        return

    # What is shown.

    def applies_to(self, item: Item) -> bool:
        """Whether the item has what the task shows."""
        return True

    @abstractmethod
    def visible_part(self, text: str, final: str) -> str:
        """The part of an answer that raters see, of the text as it came and its final part."""

    @abstractmethod
    def reference(self, item: Item) -> str:
        """The reference answer as raters see it; empty without one."""

    def texts_beside(self, question: Question) -> tuple[str, ...]:
        """The texts of the `shown_columns`."""
        return (question.prompt,)

    @abstractmethod
    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""

    def draw(
        self,
        ready: Sequence[Question],
        unshown: Sequence[Question],
        cases: Mapping[ItemKey, str],
        n: int,
        seed: int,
        candidates: Sequence[str],
    ) -> DrawnItems:
        """The items of a panel of about `n` questions, from those that are `ready`, all alike in chance.

        To the `unshown` all answers are silent. `cases` names the case of each item.
        """
        return self.arrange(draw_questions(ready, n, seed), seed)

    def arrange(self, sample: DrawnItems, seed: int) -> DrawnItems:
        """The drawn items with the answers that can be shown, by default all."""
        return sample

    @property
    @abstractmethod
    def filled(self) -> tuple[str, ...]:
        """The columns that a rater fills."""

    @abstractmethod
    def instructions(self) -> Sequence[str]:
        """How the columns of a sheet are to be filled, in lines."""

    def page_lines(self) -> Sequence[str]:
        """What a rater reads before the first page, in lines."""
        return self.instructions()

    def controls(self, n_answers: int) -> Sequence[Control]:
        """The form of a question with up to `n_answers` answers; none where the task has no form."""
        return ()

    def proposed(self, db: sqlite3.Connection, seen_question: Seen) -> Mapping[str, str]:
        """What a page proposes where nothing is entered yet, by column of its first answer."""
        return {}

    # What comes back.

    @abstractmethod
    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """An item as it was filled in; `rows` are in the order of its labels, or none if it was left out.

        Raises `InputError` for an entry that cannot be, with its place.
        """

    @abstractmethod
    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """What was entered in these items."""

    # What is stored.

    @abstractmethod
    def metric(self, panel: str) -> str:
        """The spec under which the scores of a panel stand in the run."""

    @abstractmethod
    def signature(self, panel: str) -> str:
        """The signature of that metric, recorded."""

    @property
    @abstractmethod
    def criteria(self) -> tuple[Criterion, ...]:
        """The criteria that scores are stored by."""

    @abstractmethod
    def ballot(self, panel: str, rater: str, item: Question) -> str:
        """The ballot on which an item's scores stand together; '' where each stands by itself."""

    @abstractmethod
    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """The scores of a filled item by criterion; of an `open` item all have failed."""

    @abstractmethod
    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """What a rater entered, by column, from the values of each answer by criterion.

        It reads as what was entered: stored once more it gives the same scores. Empty where an answer has
        none, or lost its scores.
        """

    def put_words(self, db: sqlite3.Connection, filled: FilledItem, rater: str) -> bool:
        """Store what a rater wrote beside the scores, in an open transaction; whether any of it was new."""
        return False

    def stored_words(self, db: sqlite3.Connection, seen_question: Seen, rater: str) -> Mapping[str, str]:
        """What a rater wrote of a question beside the scores, by column of its first answer."""
        return {}

    def unshown_scores(self, item: Question, responses: Mapping[str, int], ballot: str) -> list[ScoreRow]:
        """The scores, by any criterion, of candidates whose answers were not shown."""
        silent = [
            ScoreRow(
                responses[candidate],
                Value(None, note=UNSHOWN, status="unreadable" if status == "unreadable" else "unanswered"),
                1,
                ballot,
            )
            for candidate, status in item.silent.items()
        ]
        lost = Value(None, note=LOST, status="failed")
        return silent + [ScoreRow(responses[candidate], lost, 1, ballot) for candidate in item.lost]


class PlainTask(Task):
    """A task without settings: its name is its metric, and every answer is judged by itself."""

    rates_reference = False
    shown_columns = ("question",)

    @property
    def body(self) -> dict[str, Any]:
        """The task's name and its sentence."""
        return {"task": self.name, "criterion": self.criterion}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "PlainTask":
        """The task that a blinding key holds."""
        return cls()

    @property
    def identity(self) -> dict[str, Any]:
        """The task as its key holds it."""
        return self.body

    @property
    def settings(self) -> dict[str, Any]:
        """The task's name."""
        return {"task": self.name}

    def visible_part(self, text: str, final: str) -> str:
        """The answer without what the candidate thought."""
        return final

    def reference(self, item: Item) -> str:
        """None: no reference answer is shown."""
        return ""

    def metric(self, panel: str) -> str:
        """The same for every panel."""
        return self.name

    def signature(self, panel: str) -> str:
        """The signature of that metric, recorded."""
        return f"{self.name}()@{RECORDED}"

    def ballot(self, panel: str, rater: str, item: Question) -> str:
        """None: every answer is judged by itself."""
        return ""


def quoted(entry: object) -> str:
    """An entry as a sentence shows it."""
    return repr(one_line(printable(str(entry)), 60))


def entered(entry: Any) -> str:
    """An entry as text, with a point in a number that was written with a comma."""
    return "" if entry is None else str(entry).strip().lstrip("'").replace(",", ".")
