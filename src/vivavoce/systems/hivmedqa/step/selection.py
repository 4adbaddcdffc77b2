"""Closed questions of a bank that are on a subject, suit an open answer, and are put openly.

HIVMedQA, section 2.2: questions with the terms HIV or AIDS (143 and 139), of which those were chosen and
reformatted that suit an open answer (10 and 21).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vivavoce.core.partners import REWORDED_FROM
from vivavoce.core.prompts import load
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.core.text import one_line
from vivavoce.language.languages import codes
from vivavoce.language.replies import boolean_of, text_of
from vivavoce.models.fencing import fenced, question_text
from vivavoce.models.requests import Request, json_request
from vivavoce.run.building.asking import ModelStep
from vivavoce.run.building.open_questions import open_request, read_open
from vivavoce.run.building.parts import Part, for_review, with_partner, written_by
from vivavoce.run.building.step import Drop, Lab, Step, StepResult


@step("terms")
class Terms(Step):
    """Questions with at least one of the `terms` as a word, in the question, its context or an option.

    A term in capitals, such as AIDS, counts in capitals alone: hearing aids are no subject of its.
    """

    terms: tuple[str, ...]

    def __post_init__(self) -> None:
        if not any(term.strip() for term in self.terms):
            raise ValueError("terms: at least one word to look for")

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """The questions with a term; the others are dropped."""
        patterns = [_pattern(term) for term in self.terms if term.strip()]
        results: list[Part] = []
        dropped: list[Drop] = []
        for part in parts:
            text = " ".join(filter(None, _texts(part))) if isinstance(part, Item) else ""
            if any(pattern.search(text) for pattern in patterns):
                results.append(part)
            else:
                dropped.append(Drop(part, f"none of the terms: {', '.join(self.terms)}"))
        return StepResult(results, dropped)


def _pattern(term: str) -> re.Pattern[str]:
    flags = 0 if term.isupper() else re.IGNORECASE
    return re.compile(rf"(?<!\w){re.escape(term.strip())}(?!\w)", flags)


def _texts(item: Item) -> Iterator[str | None]:
    yield from (item.context, item.question, *item.options)


class _Choice(NamedTuple):
    suits: bool
    reason: str


@step("suits_open_answer")
class SuitsOpenAnswer(ModelStep):
    """Closed questions that suit an open answer, each with the reason for or against it."""

    prompts = ("hivmedqa_suits",)
    task = "say whether it suits an open answer"

    def works_on(self, part: Part) -> bool:
        """Questions with options and one key."""
        return isinstance(part, Item) and bool(part.options) and len(part.answer) == 1

    def request(self, part: Item) -> Request:
        """Asks for the choice and its reason."""
        return json_request(
            load("hivmedqa_suits"),
            {"reason": "string", "suits": "boolean"},
            exact=True,
            question=fenced("question", question_text(part)),
            right_answer=fenced("right_answer", part.answer[0]),
        )

    def parse(self, part: Item, fields: Mapping[str, Any]) -> _Choice:
        """The choice. Raises `Unreadable` for one without a reason."""
        return _Choice(boolean_of(fields, "suits"), one_line(text_of(fields, "reason"), 300))

    def results(self, part: Item, value: _Choice) -> Iterator[Part | Drop]:
        """The question with its reason in `meta`, or as one that is dropped for it."""
        if value.suits:
            yield replace(part, meta={**part.meta, "chosen_because": value.reason})
        else:
            yield Drop(part, "it does not suit an open answer", value.reason)


@step("open_question")
class OpenQuestion(ModelStep):
    """Each closed question in open form, its key as the gold answer, which waits for two people to agree."""

    language: str = "en"
    prompts = ("hivmedqa_open",)
    task = "word it without options"

    def __post_init__(self) -> None:
        if self.language not in codes():
            raise ValueError(f"language={self.language}: one of {', '.join(codes())} is known")

    @property
    def writer(self) -> str:
        """The model that writes."""
        return self.model

    def works_on(self, part: Part) -> bool:
        """Questions with options and one key."""
        return isinstance(part, Item) and bool(part.options) and len(part.answer) == 1

    def request(self, part: Item) -> Request:
        """Asks for the open form."""
        return open_request("hivmedqa_open", part, self.language)

    def parse(self, part: Item, fields: Mapping[str, Any]) -> str:
        """The open question; '' where there is none."""
        return read_open(part, fields, self.language)

    def results(self, part: Item, value: str) -> Iterator[Part | Drop]:
        """The open question, or the closed one as dropped."""
        if not value:
            yield Drop(part, "it cannot be asked without its options")
            return
        item = replace(
            part, item=f"{part.item}-open", group=part.group, format="longform", question=value, context=None,
            options=(), answer=(), references=part.answer,
        )  # fmt: skip
        item = with_partner(item, REWORDED_FROM, part.item)
        yield written_by(for_review(item, "two people have to agree on its gold answer"), self.model)
