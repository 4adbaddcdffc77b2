"""Pairwise comparison: which of two answers is better, or neither.

A question shows two of its answers, drawn so that all pairs of candidates meet about alike often. The two
get ranks as on a panel of two; a candidate that did not answer the question loses to both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, Value
from vivavoce.core.specs import RECORDED
from vivavoce.core.text import label, printable
from vivavoce.people.case_draw import DrawnItems, few_answers
from vivavoce.people.question import Seen, plain
from vivavoce.people.tasks.control import Control
from vivavoce.people.tasks.rank import CRITERIA, Ranking, RankTask
from vivavoce.people.tasks.task import FilledItem, Row, Tally, entered, quoted
from vivavoce.store.write import ScoreRow

CRITERION = "Which of the two answers would you rather a colleague acted on?"
TIE = "tie"


class PairwiseTask(RankTask):
    """Raters choose the better of two answers; the reference answer is not among them."""

    name = "pairwise"
    schema = "viva.panel.pairs/1"
    default_n = 60
    rates_reference = False

    def __init__(self, criterion: str | None = None) -> None:
        super().__init__(CRITERION if criterion is None else criterion)

    @property
    def body(self) -> dict[str, Any]:
        """The task and its sentence."""
        return {"task": self.name, "criterion": self.criterion}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "PairwiseTask":
        """The task that a blinding key holds."""
        return cls(body["criterion"])

    @property
    def identity(self) -> Any:
        """The task and its sentence."""
        return self.body

    def reference(self, item: Item) -> str:
        """None: two candidates are compared with each other."""
        return ""

    def arrange(self, sample: DrawnItems, seed: int) -> DrawnItems:
        """Two answers of each question."""
        return few_answers(sample, 2, seed)

    @property
    def filled(self) -> tuple[str, ...]:
        """The letter of the better answer, and a remark."""
        return ("better", "remark")

    def instructions(self) -> Sequence[str]:
        """How the columns are to be filled."""
        return (f"better: A, B or {TIE}, in the row of A. remark: what you like.",)

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return ("Choose the better answer, or say that the two are equal.",)

    def controls(self, n_answers: int) -> Sequence[Control]:
        """The better answer, and a remark."""
        return (
            Control("better", self.criterion, ("A", "B", TIE), required=True),
            Control("remark", "Remark"),
        )

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The choice as two ranks; without one the question is open."""
        name = seen_question.question.name
        word = entered(rows[0].entries.get("better")).casefold() if rows else ""
        if word not in ("a", "b", TIE, ""):
            raise InputError(f"{name}: better is A, B or {TIE}, not {quoted(rows[0].entries['better'])}.")
        remark = plain(printable(str(rows[0].entries.get("remark") or ""))) if rows else ""
        ranks = {"a": (1.0, 2.0), "b": (2.0, 1.0), TIE: (1.0, 1.0)}.get(word, (None, None))
        ratings = tuple(Ranking(rank, False, None) for rank in ranks)
        return FilledItem(seen_question, ratings, remark, "" if word else "a choice", not word)

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Choices and remarks."""
        return Tally(labels=len(filled), remarks=sum(bool(item.remark) for item in filled))

    def metric(self, panel: str) -> str:
        """Choices hold between the answers of one panel."""
        return f"pairs(id={panel})"

    def signature(self, panel: str) -> str:
        """The signature of the panel's metric."""
        return f"{self.metric(panel)}@{RECORDED}"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Rank, and share of the others it is ahead of: 1, 0, or half for a tie."""
        return CRITERIA[:2]

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """Rank and share of both answers."""
        scores = super().scores(filled, responses, ballot)
        return {c.criterion: scores[c.criterion] for c in self.criteria}

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """The letter of the better answer."""
        values = [scores["rank"] for scores in answers if "rank" in scores]
        ranks = [value.value for value in values if value.value is not None]
        if len(ranks) < 2:
            return [{} for _ in answers]
        better = TIE if ranks[0] == ranks[1] else label(int(ranks[1] < ranks[0]))
        return [{"better": better, "remark": values[0].note or ""}, {}]
