"""The blinding key of a panel: who gave which answer, and in what order each rater saw them.

The key stays in the run. A packet carries ids, labels and a seal for each item. The seal is an HMAC over what
the rater was shown, under a secret that only the run holds, so that an altered ballot is detected. All
secrets derive from a random one of the run: nothing in a packet confirms a guess about who gave an answer.
"""

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.records import ItemKey
from vivavoce.people.assignment import with_repeats
from vivavoce.people.case_draw import CaseDraw
from vivavoce.people.question import Question, Seen, plain
from vivavoce.people.tasks.task import Task

EVERYONE = ""
"""Whose packet it is where several raters share one; no rater can have this name."""


class Key(NamedTuple):
    """A panel: `packets` gives for each rater the questions in the order they are put.

    `draw` says how its cases were drawn, null where questions were. Where questions were shared out,
    `unshown` gives for each rater those without an answer to show, so that each is somebody's; null where
    all are everybody's. `settings` are those of a panel that is judged in the browser: by
    them it is known again. `shared` are the questions that went to an annotation tool, where any rater may
    judge them and all see the answers in one order; empty where none did.
    """

    panel: str
    seed: int
    task: Task
    secret: str
    questions: tuple[Question, ...]
    packets: Mapping[str, tuple[Seen, ...]]
    draw: CaseDraw | None = None
    unshown: Mapping[str, tuple[Question, ...]] | None = None
    settings: Mapping[str, Any] | None = None
    shared: tuple[Seen, ...] = ()

    @property
    def metric(self) -> str:
        """The spec under which its scores stand in the run."""
        return self.task.metric(self.panel)

    def packet(
        self,
        rater: str,
        places: Collection[ItemKey] | None = None,
        *,
        repeats: float = 0.0,
        earlier: Mapping[ItemKey, int] | None = None,
    ) -> tuple[Seen, ...]:
        """The items for a rater in an order of their own, each with its answers in an order of its own.

        Orders follow from secret, rater and ids, whatever the order in which things came. `places` are those
        of the rater's own questions where they were shared out (`assign`); by default all. The share
        `repeats` of them is put again later, as `with_repeats` says, its answers in another order. `earlier`
        says how many raters before this one are asked each question, where each sees one answer by turns.
        """
        questions = [q for q in self.questions if q.answers and (places is None or q.place in places)]
        order = sorted(questions, key=lambda q: self._keyed_hash("question", rater, *q.place))
        by_place = {question.place: question for question in order}
        halves = self._halves(earlier or {}) if self.task.one_answer_each else {}
        turns = with_repeats([q.place for q in order], rater, share=repeats, seed=self.seed)
        return tuple(self._seen_question(by_place[turn.place], rater, turn.pass_no, halves) for turn in turns)

    def first_places(self, n: int) -> set[ItemKey]:
        """The places of `n` questions to show, drawn by the secret, the same for all raters."""
        places = [question.place for question in self.questions if question.answers]
        return set(sorted(places, key=lambda place: self._keyed_hash("order", *place))[:n])

    def _seen_question(
        self, question: Question, rater: str, pass_no: int, halves: Mapping[ItemKey, int]
    ) -> Seen:
        purpose = ("answer",) if pass_no == 1 else ("answer again",)
        answers = sorted(
            question.answers,
            key=lambda answer: self._keyed_hash(*purpose, rater, *question.place, *answer.candidates),
        )
        if question.place in halves and len(question.answers) > 1:
            answers = [question.answers[halves[question.place]]]
        texts = (*self.task.texts_beside(question), *(answer.text for answer in answers))
        return Seen(question, tuple(answers), self.seal(rater, question, texts), pass_no)

    def _halves(self, earlier: Mapping[ItemKey, int]) -> dict[ItemKey, int]:
        """By place 0 or 1, each for half of the questions, and for a question by turns among its raters."""
        order = sorted((q.place for q in self.questions), key=lambda place: self._keyed_hash("half", *place))
        return {place: (k + earlier.get(place, 0)) % 2 for k, place in enumerate(order)}

    def seal(self, rater: str, question: Question, texts: Sequence[str]) -> str:
        """The seal of this item, with what is shown and then these answers, in this rater's packet.

        Blanks do not count, nor apostrophes before a text: browsers and spreadsheets move both.
        """
        content = [self.panel, rater, *question.place, *map(plain, texts)]
        return self._keyed_hash("seal", *content)[:16]

    def _keyed_hash(self, *words: str) -> str:
        text = json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()
