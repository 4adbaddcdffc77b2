"""A rubric: what it asks a judge, and what it reads in the reply."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vivavoce.core.errors import MetricError
from vivavoce.core.prompts import Prompt
from vivavoce.core.records import Criterion, Item
from vivavoce.core.text import is_blank, label, spoken
from vivavoce.judging.criterion import (
    Ask,
    Call,
    Clip,
    Delimiters,
    Kind,
    LengthAdjustment,
    Reasoning,
    Result,
    RubricCriterion,
)
from vivavoce.judging.replies import read_marks, read_met, read_order, read_tag, read_winner
from vivavoce.language.replies import REPEATED, Material
from vivavoce.models.fencing import (
    bare,
    fenced,
    fenced_question,
    fenced_texts,
    harmless,
    notice,
    plain_question,
    quotable,
    reference_texts,
    with_tags,
)
from vivavoce.models.requests import Message, correction

_ENUM = 11
"""Steps of a scale up to which a schema lists them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """How a judge scores: loaded from a Markdown file by `load`.

    `kind` is `mark` (one answer, its criteria), `points` (one answer, the item's rubric points one by one),
    `pairwise` or `listwise` (answers against each other). `reference` says whether the judge sees the
    reference, `call` whether one request asks for all criteria, `reasoning` whether thinking is taken out of
    an answer (`strip`, in any marks known) or sources (`keep`; pass the raw text then), `result` whether
    the judge answers in JSON or ends with a tag. `system` and `user` are the prompt. `path`
    is the file, `note` what a reader of the scores must know. `clip` says where the score of points is cut to
    0 to 1: in `each` response, or in their `mean` alone; `length` adjusts it for the length of a response.
    `delimiters` are `tags`, or `none` for a model trained on one template: no tags and no notice, and
    headings and tags of results inside what is shown are broken.
    """

    name: str
    version: int
    source: str
    kind: Kind
    reference: bool
    call: Call
    reasoning: Reasoning
    result: Result
    criteria: tuple[RubricCriterion, ...]
    system: str
    user: str
    path: Path
    note: str = ""
    clip: Clip = "each"
    length: LengthAdjustment | None = None
    delimiters: Delimiters = "tags"

    @property
    def digest(self) -> str:
        """First 8 hex digits of SHA-256 over whatever a score depends on, with the defaults of the file.

        Name, source and note are left out: no judge is shown them. The order of the criteria, in which they
        are asked for, counts, and so do all words of the prompt.
        """
        # Setting by setting: one that rubrics get later is added only where it is not at its default.
        criteria = [
            [c.name, c.key, c.ask, c.step, c.of, sorted(c.levels.items()), c.criterion.low, c.criterion.high,
             c.criterion.direction, c.criterion.if_unanswered, c.criterion.pool,
             c.criterion.smallest_difference]
            for c in self.criteria
        ]  # fmt: skip
        parts = [
            self.version, self.kind, self.reference, self.call, self.reasoning, self.result, self.clip,
            self.length, criteria, *(_spelled(self.name, text) for text in (self.system, self.user)),
        ]  # fmt: skip
        parts += [] if self.delimiters == "tags" else [self.delimiters]
        text = json.dumps(parts, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]

    @property
    def columns(self) -> tuple[Criterion, ...]:
        """All criteria, those derived included, in the file's order."""
        return tuple(c.criterion for c in self.criteria)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the prompt, in order of appearance."""
        return Prompt(self.name, f"{self.system}\n{self.user}").variables

    @property
    def _primary(self) -> tuple[RubricCriterion, ...]:
        return tuple(c for c in self.criteria if c.of is None)

    def applies_to(self, item: Item) -> bool:
        """Whether the item has what the rubric shows: a reference, points."""
        return (bool(reference_texts(item)) or not self.reference) and (
            bool(item.rubric) or self.kind != "points"
        )

    def visible_part(self, answer: str) -> str:
        """The part of an answer that the judge sees, before it is made harmless."""
        return spoken(answer).text if self.reasoning == "strip" else answer

    def requests(self, item: Item, answer: str) -> tuple[Ask, ...]:
        """What is asked about one answer: one `Ask` in all, for each criterion, or for each rubric point.

        Raises `MetricError` for a blank answer, for an item that the rubric does not score, and where the
        rubric compares answers.
        """
        if self.kind in ("pairwise", "listwise"):
            raise MetricError(f"the rubric {self.name!r} compares answers and does not score a single one.")
        values = self._values(item, [answer])
        values["answer"] = self._delimited("answer", self.visible_part(answer))
        sources = (plain_question(item), self.visible_part(answer), *reference_texts(item))
        if self.kind == "points":
            return tuple(
                self._ask(values | {"point": fenced("point", unit.text)}, self._primary, unit=unit.unit)
                for unit in item.rubric
            )
        if self.call == "joint":
            return (self._ask(values, self._primary, sources=sources),)
        return tuple(self._ask(values, (criterion,), sources=sources) for criterion in self._primary)

    def comparison(self, item: Item, answers: Sequence[str]) -> Ask:
        """What is asked about several answers, which are shown in this order as A, B and so on.

        Raises `MetricError` for a blank answer, fewer than two answers, or a pairwise rubric with more than
        two, for an item that the rubric does not score, and where the rubric scores single answers.
        """
        if self.kind not in ("pairwise", "listwise"):
            raise MetricError(f"the rubric {self.name!r} scores single answers and does not compare them.")
        if len(answers) < 2 or (self.kind == "pairwise" and len(answers) > 2):
            number = "two answers" if self.kind == "pairwise" else "two answers or more"
            raise MetricError(f"the rubric {self.name!r} compares {number}, not {len(answers)}.")
        labels = tuple(label(k) for k in range(len(answers)))
        values = self._values(item, answers)
        values["answers"] = "\n\n".join(
            fenced("answer", self.visible_part(answer), label=letter)
            for letter, answer in zip(labels, answers, strict=True)
        )
        return self._ask(values, self._primary, labels=labels)

    def read_reply(self, text: str, ask: Ask) -> Mapping[str, float] | tuple[float, ...]:
        """What the judge's reply says.

        Scores: the value of each criterion asked for, and of those derived from them. Points: `{'met': 1 or
        0}`. Comparisons: one value for each answer in the order shown, 1, 0 or 0.5 of a pair, else mid-ranks
        from 1, the best. What the reply repeats of the answers, or of anything else that was shown, is no
        value. Raises `prompts.Unreadable` and nothing else.
        """
        material = Material(ask.material)
        if self.kind == "points":
            return {self._primary[0].name: read_met(text, material)}
        if self.kind == "pairwise":
            return read_winner(text, ask.labels, material)
        if self.kind == "listwise":
            return read_order(text, ask.labels, material)
        criteria = {c.name: c for c in self._primary if c.name in ask.criteria}
        if self.result == "tag":
            (criterion,) = criteria.values()
            values = {criterion.name: read_tag(text, criterion, material)}
        else:
            values = read_marks(text, tuple(criteria.values()), material)
        return values | derived_values(self.criteria, values)

    def again(self, ask: Ask, reply: str, why: str) -> tuple[Message, ...]:
        """The conversation of the one re-ask: what was asked, the reply, what was wrong, the form wanted.

        The reply is cut, and made harmless as an answer is.
        """
        # a tag can be copied from an answer, an object with the judge's own reason cannot
        result = "json" if REPEATED in why else self.result
        form = self._form(ask.criteria, ask.labels, result)
        complaint = f"Your reply cannot be used: {harmless(why)}.\n\n{form}"
        return (*ask.messages, *correction(quotable(reply), complaint))

    def _values(self, item: Item, answers: Sequence[str]) -> dict[str, str]:
        if not self.applies_to(item):
            lacks = "reference" if self.kind != "points" or item.rubric else "rubric points"
            raise MetricError(f"{item.benchmark}, item {item.name!r} has no {lacks} for {self.name!r}.")
        if any(is_blank(self.visible_part(answer)) for answer in answers):
            raise MetricError(f"{item.benchmark}, item {item.name!r}: a blank answer is not for a judge.")
        question = fenced_question(item) if self.delimiters == "tags" else bare(plain_question(item))
        values = {"question": question}
        if self.reference:
            values["reference"] = "\n".join(
                self._delimited("reference", text) for text in reference_texts(item)
            )
        return values

    def _delimited(self, tag: str, text: str) -> str:
        return fenced(tag, text) if self.delimiters == "tags" else bare(text)

    def _ask(
        self,
        values: Mapping[str, str],
        criteria: tuple[RubricCriterion, ...],
        *,
        unit: str | None = None,
        labels: tuple[str, ...] = (),
        sources: tuple[str, ...] = (),
    ) -> Ask:
        names = tuple(c.name for c in criteria)
        described = _described(criteria) if self.delimiters == "tags" else _levels(criteria[0])
        filled = {**values, "criteria": described, "form": self._form(names, labels, self.result)}
        tags = [v.replace("answers", "answer") for v in self.variables if v not in ("criteria", "form")]
        system = Prompt(self.name, self.system).fill(**filled)
        user = Prompt(self.name, self.user).fill(**filled)
        messages = self._messages(system, user, tags)
        if self.delimiters == "none":
            # what `bare` changes in a text, a reply may quote as it was
            return Ask(messages, None, names, unit, labels, (*sources, *map(with_tags, sources)))
        schema = self._schema(criteria, labels) if self.result == "json" else None
        material = fenced_texts(values[variable] for variable in self.variables if variable in values)
        return Ask(messages, schema, names, unit, labels, material)

    def _messages(self, system: str, user: str, tags: Sequence[str]) -> tuple[Message, ...]:
        """The system message, if there is one, and the user's; the first says what the tags mean."""
        parts = [system, user] if system else [user]
        if self.delimiters == "tags":
            parts[0] = f"{system}\n\n{notice(tags)}" if system else f"{notice(tags)}\n\n{user}"
        return (*(Message("system", text) for text in parts[:-1]), Message("user", parts[-1]))

    def _form(self, names: Sequence[str], labels: Sequence[str], result: Result) -> str:
        """The form of the reply, in words."""
        criteria = [c for c in self._primary if c.name in names]
        if result == "tag":
            return (
                "Write your feedback first, in at most five sentences. Then end with the tag [RESULT] and, "
                f"after it, {criteria[0].value_form}. Write nothing after that."
            )
        entries = [f'- "reason": {_why(names)}']
        if self.kind == "points":
            entries.append('- "met": true or false')
        elif self.kind == "pairwise":
            entries.append(f'- "winner": "{labels[0]}", "{labels[1]}" or "tie"')
        elif self.kind == "listwise":
            entries.append(
                f'- "ranking": a list of lists of labels, the best first; each of {", ".join(labels)} stands '
                'there once, and those that are equally good share a list, as in [["Y"], ["X", "Z"]]'
            )
        else:
            entries += [f'- "{c.key}": {c.value_form}' for c in criteria]
        return "Reply with one JSON object and nothing else. Its entries, in this order:\n" + "\n".join(
            entries
        )

    def _schema(self, criteria: Sequence[RubricCriterion], labels: Sequence[str]) -> dict[str, Any]:
        """A JSON schema that strict modes take.

        The reason comes first, so that the score follows from it. A range stands in the description: strict
        modes have long refused `minimum` and `maximum`, and a value outside is refused when it is read.
        """
        reason = _why(criteria).capitalize()
        properties: dict[str, Any] = {"reason": {"type": "string", "description": f"{reason}."}}
        if self.kind == "points":
            properties["met"] = {"type": "boolean", "description": criteria[0].ask}
        elif self.kind == "pairwise":
            properties["winner"] = {
                "type": "string",
                "enum": [*labels, "tie"],
                "description": criteria[0].ask,
            }
        elif self.kind == "listwise":
            tier = {"type": "array", "items": {"type": "string", "enum": list(labels)}}
            properties["ranking"] = {"type": "array", "items": tier, "description": criteria[0].ask}
        else:
            for c in criteria:
                properties[c.key] = {"type": "number", "description": f"{c.ask} {c.value_form.capitalize()}."}
                if 0 < len(c.steps) <= _ENUM:
                    properties[c.key]["enum"] = [int(v) if v.is_integer() else v for v in c.steps]
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


def _spelled(name: str, text: str) -> str:
    """A prompt with its variables spelled in one way: `{{form}}` is `{{ form }}`."""
    prompt = Prompt(name, text)
    return prompt.fill(**{variable: f"{{{{ {variable} }}}}" for variable in prompt.variables})


def _why(marks: Sequence[object]) -> str:
    return "one sentence for each mark below" if len(marks) > 1 else "why, in at most three sentences"


def _described(criteria: Sequence[RubricCriterion]) -> str:
    """The criteria with their questions and levels, as the prompt shows them."""
    blocks = []
    for c in criteria:
        better = "" if c.criterion.direction == "higher" else "; lower is better"
        ends = c.criterion.low, c.criterion.high
        scale = f" ({ends[0]:g} to {ends[1]:g}{better})" if None not in ends else ""
        levels = [f"{value:g}: {text}" for value, text in sorted(c.levels.items())]
        blocks.append("\n".join([f"### {c.key}{scale}", c.ask, *levels]))
    return "\n\n".join(blocks)


def _levels(criterion: RubricCriterion) -> str:
    """The question of a criterion and the meaning of each score, in the form of Prometheus."""
    lines = [f"Score {value:g}: {text}" for value, text in sorted(criterion.levels.items())]
    return "\n".join([f"[{criterion.ask}]", *lines])


def derived_values(criteria: Sequence[RubricCriterion], values: Mapping[str, float]) -> dict[str, float]:
    """The values of the criteria that are rescaled from one of these."""
    ranges = {c.name: c.criterion for c in criteria}
    return {
        c.name: _rescaled(values[c.of], ranges[c.of], c.criterion)
        for c in criteria
        if c.of is not None and c.of in values
    }


def _rescaled(value: float, of: Criterion, to: Criterion) -> float:
    """`value` of one range at the same place of another."""
    if of.low is None or of.high is None or to.low is None or to.high is None:
        raise MetricError(f"{to.criterion} cannot be derived from {of.criterion}, which has no range.")
    return to.low + (value - of.low) * (to.high - to.low) / (of.high - of.low)
