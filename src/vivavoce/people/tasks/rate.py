"""Rating: each answer by itself, on the scales of a rubric, as a judge scores it.

The labels that come of it are what a judge's scores are corrected by (statistics 11.6), so they stand for the
response that was shown and every response of the same text, and the chance that its case was drawn is kept.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.records import Criterion, Item, ItemKey, Value
from vivavoce.core.specs import RECORDED, Spec
from vivavoce.core.text import label, printable
from vivavoce.judging.criterion import RubricCriterion
from vivavoce.models.fencing import reference_texts
from vivavoce.people.case_draw import DrawnItems, draw_cases
from vivavoce.people.question import Question, Seen, plain
from vivavoce.people.tasks.control import Control
from vivavoce.people.tasks.scales import Scales, in_words, load_scales, range_text, scale_values
from vivavoce.people.tasks.task import FilledItem, Row, Tally, Task, entered, quoted
from vivavoce.store.write import ScoreRow

CANNOT_TELL = "cannot tell"
NO_RATING = "the rater gave no rating"
METRIC = "rating"
_TEXTS = ("panel", "rater", "item", "seal", "question", "reference", "label", "answer", "remark")


class Rating(NamedTuple):
    """A rater's values of an answer by criterion, null where none was given, and a remark."""

    values: Mapping[str, Value | None]
    remark: str

    @property
    def lacking(self) -> tuple[str, ...]:
        """The criteria without an entry."""
        return tuple(name for name, value in self.values.items() if value is None)


class ShownScale(NamedTuple):
    """A criterion on a page: its column, name, question, ends in words, and values with anchors."""

    column: str
    name: str
    ask: str
    ends: str
    values: tuple[tuple[str, str], ...]

    @property
    def anchored(self) -> bool:
        """Whether any value says what it means."""
        return any(anchor for _, anchor in self.values)


class RateTask(Task):
    """Raters rate every different answer by the criteria of a rubric."""

    name = "rate"
    schema = "viva.panel.ratings/1"
    least_answers = 1
    default_n = 60
    has_form = True
    rates_reference = False
    shown_columns = ("question", "reference")

    def __init__(self, scales: Scales) -> None:
        self.scales = scales
        self.criterion = "How good is each answer, by itself?"

    @classmethod
    def with_rubric(cls, rubric: str) -> "RateTask":
        """The task with a shipped rubric, or one in a `.md` file. Raises `InputError` as `load_scales`."""
        return cls(load_scales(rubric))

    @property
    def body(self) -> dict[str, Any]:
        """The task with its rubric, so that what comes back is read by the one that was sent."""
        return {"task": self.name, "criterion": self.criterion, "rubric": self.scales.body}

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> "RateTask":
        """The task that a blinding key holds."""
        return cls(Scales.from_body(body["rubric"]))

    @property
    def identity(self) -> dict[str, Any]:
        """The task with its rubric."""
        return self.body

    @property
    def settings(self) -> dict[str, Any]:
        """The task and the rubric's name."""
        return {"task": self.name, "rubric": self.scales.name, "rubric_hash": self.scales.hash}

    def check_earlier(self, earlier: Iterable[Task]) -> None:
        """Labels by two wordings are no one yardstick: raise `InputError` for the same name with another."""
        for task in earlier:
            if not isinstance(task, RateTask) or task.signature() == self.signature():
                continue
            if task.metric() == self.metric():
                raise InputError(
                    f"raters of this run were sent another wording of the rubric {self.scales.name!r}: give "
                    "the new one another name in its file, and its ratings stand by themselves."
                )

    def applies_to(self, item: Item) -> bool:
        """Whether a judge with this rubric would score the item."""
        return self.scales.applies_to(item)

    def visible_part(self, text: str, final: str) -> str:
        """What a judge with this rubric sees of the answer."""
        return final if self.scales.reasoning == "strip" else text

    def reference(self, item: Item) -> str:
        """The references that a judge with this rubric sees."""
        return "\n\n".join(reference_texts(item)) if self.scales.reference else ""

    def texts_beside(self, question: Question) -> tuple[str, ...]:
        """The question and its reference answer."""
        return (question.prompt, question.reference_text)

    def nothing_to_show(self, candidates: Sequence[str]) -> str:
        """The sentence that says why nothing can be asked, without its end."""
        needs = " and a reference answer" if self.scales.reference else ""
        return (
            f"no question here has an answer to show{needs} (of {', '.join(candidates)}): raters rate what "
            "arrived and can be read"
        )

    def draw(
        self,
        ready: Sequence[Question],
        unshown: Sequence[Question],
        cases: Mapping[ItemKey, str],
        n: int,
        seed: int,
        candidates: Sequence[str],
    ) -> DrawnItems:
        """Whole cases with about `n` questions, all alike in chance."""
        return draw_cases(ready, unshown, cases, n, seed, candidates)

    @property
    def choices(self) -> tuple[ShownScale, ...]:
        """The criteria as a page shows them."""
        return tuple(
            ShownScale(
                column(c),
                c.name.replace("_", " "),
                c.ask,
                range_text(c),
                tuple((f"{value:g}", c.levels.get(value, "")) for value in scale_values(c)),
            )
            for c in self.scales.rated
        )

    @property
    def filled(self) -> tuple[str, ...]:
        """A column for every criterion, and one for a remark."""
        return (*(column(c) for c in self.scales.rated), "remark")

    def instructions(self) -> Sequence[str]:
        """The scales with their anchors, a line each."""
        lines = []
        for c in self.scales.rated:
            lines.append(f"Column {column(c)} ({range_text(c)}): {c.ask}")
            lines += [f"Column {column(c)}, {value:g}: {text}" for value, text in sorted(c.levels.items())]
            lines.append(f"Column {column(c)} takes {in_words(scale_values(c))}, or: {CANNOT_TELL}.")
        lines.append("remark: what you like, for each answer.")
        return lines

    def page_lines(self) -> Sequence[str]:
        """What the page asks for."""
        return (
            "Give every answer a value on each scale, each answer by itself.",
            f"Where you cannot say, choose: {CANNOT_TELL}.",
        )

    def controls(self, n_answers: int) -> Sequence[Control]:
        """A value on every scale for each answer, or that there is none, and a remark."""
        scales = [
            Control(
                scale.column,
                f"{scale.name} ({scale.ends}): {scale.ask}",
                (*(value for value, _ in scale.values), CANNOT_TELL),
                {value: anchor for value, anchor in scale.values if anchor},
                each=True,
                required=True,
            )
            for scale in self.choices
        ]
        return (*scales, Control("remark", "Remark", each=True))

    def read_rows(self, seen_question: Seen, rows: Sequence[Row]) -> FilledItem:
        """The values of each answer; a question in which nothing was entered is open."""
        name = seen_question.question.name
        blank_rating = Rating({c.name: None for c in self.scales.rated}, "")
        ratings = tuple(self._rating(row, name) for row in rows) or tuple(
            blank_rating for _ in seen_question.answers
        )
        blank = bool(ratings) and all(len(rating.lacking) == len(rating.values) for rating in ratings)
        gaps = [f"{', '.join(r.lacking)} of {label(n)}" for n, r in enumerate(ratings) if r.lacking]
        return FilledItem(seen_question, ratings, "", "everything" if blank else " and ".join(gaps), blank)

    def _rating(self, row: Row, item: str) -> Rating:
        place = row.place(item)
        values = {c.name: _value(row.entries.get(column(c)), c, place) for c in self.scales.rated}
        return Rating(values, plain(printable(str(row.entries.get("remark") or ""))))

    def tally(self, filled: Sequence[FilledItem]) -> Tally:
        """Labels and answers that could not be rated, each criterion by itself, and remarks on answers."""
        ratings = [rating for item in filled for rating in item.ratings]
        values = [value for rating in ratings for value in rating.values.values() if value is not None]
        labels = sum(value.value is not None for value in values)
        return Tally(
            labels=labels, cannot_tell=len(values) - labels, remarks=sum(bool(r.remark) for r in ratings)
        )

    def metric(self, panel: str = "") -> str:
        """The same for every panel with the rubric: its labels are one yardstick."""
        return str(Spec(METRIC, {"rubric": self.scales.name}))

    def signature(self, panel: str = "") -> str:
        """The metric, recorded, with the hash of the rubric."""
        return f"{self.metric()}@{RECORDED}#{self.scales.hash}"

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those of a judge with this rubric."""
        return self.scales.columns

    def ballot(self, panel: str, rater: str, item: Question) -> str:
        """None: every answer is rated by itself."""
        return ""

    def scores(
        self, filled: FilledItem, responses: Mapping[str, int], ballot: str
    ) -> dict[str, list[ScoreRow]]:
        """A score for every candidate whose response has a rated text, by criterion."""
        scores: dict[str, list[ScoreRow]] = {}
        answers = zip(filled.seen_question.answers, filled.ratings, strict=True)
        for position, (answer, rating) in enumerate(answers, 1):
            for criterion, value in self._values(rating).items():
                scores.setdefault(criterion, []).extend(
                    ScoreRow(responses[name], value, 1, ballot, position) for name in answer.candidates
                )
        unshown = self.unshown_scores(filled.seen_question.question, responses, ballot)
        return {c.name: scores.get(c.name, []) + unshown for c in self.scales.criteria}

    def entries(self, answers: Sequence[Mapping[str, Value]]) -> list[dict[str, Any]]:
        """The values of the criteria that are asked for, and the remark."""
        return [self._entries(values) if values else {} for values in answers]

    def _entries(self, values: Mapping[str, Value]) -> dict[str, Any]:
        entries: dict[str, Any] = {
            column(c): CANNOT_TELL if values[c.name].status == "set_aside" else values[c.name].value
            for c in self.scales.rated
        }
        first = values[self.scales.rated[0].name]
        note = first.note or ""
        if first.value is None:  # then it begins with the reason
            reason = CANNOT_TELL if first.status == "set_aside" else NO_RATING
            note = note.removeprefix(reason).removeprefix("; ")
        return {**entries, "remark": note}

    def _values(self, rating: Rating) -> dict[str, Value]:
        """The value of every criterion, computed ones included; the first bears the remark."""
        entries = {
            name: value or Value(None, note=NO_RATING, status="failed")
            for name, value in rating.values.items()
        }
        numbers = {name: value.value for name, value in entries.items() if value.value is not None}
        computed = self.scales.with_derived(numbers)
        values = {
            c.name: Value(computed[c.name]) if c.name in computed else entries[c.of or c.name]
            for c in self.scales.criteria
        }
        if rating.remark:
            first = self.scales.rated[0].name
            note = "; ".join(filter(None, (values[first].note, rating.remark)))
            values[first] = values[first]._replace(note=note)
        return values


def column(criterion: RubricCriterion) -> str:
    """The column that a criterion has in a sheet, and its name in a ballot."""
    return f"{criterion.name}_rating" if criterion.name in _TEXTS else criterion.name


def _value(entry: Any, criterion: RubricCriterion, place: str) -> Value | None:
    """The entry as a value, null if there is none. Raises `InputError` for one that is off the scale."""
    text = entered(entry)
    if not text:
        return None
    if text.casefold() == CANNOT_TELL:
        return Value(None, note=CANNOT_TELL, status="set_aside")
    try:
        number = math.nan if isinstance(entry, bool) or "_" in text else float(text)
    except ValueError:
        number = math.nan
    scale = scale_values(criterion)
    for value in scale:
        if abs(value - number) < 1e-9:
            return Value(value)
    raise InputError(
        f"{place}: {column(criterion)} is {in_words(scale)}, or {CANNOT_TELL!r}, not {quoted(entry)}."
    )
