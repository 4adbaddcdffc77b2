"""From closed questions to open ones: negative stems out, two wordings, the better one or none, one key.

CareQA-Open, appendix A.2: two prompts reword what can be asked without options, a selection takes the better
wording or none, and a second pass keeps the questions that the key alone answers (961 fewer in the paper).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from vivavoce.core.partners import REWORDED_FROM
from vivavoce.core.prompts import Unreadable, load
from vivavoce.core.records import Item
from vivavoce.core.registry import step
from vivavoce.language.languages import language_code
from vivavoce.language.replies import boolean_of
from vivavoce.models.fencing import fenced, question_text
from vivavoce.models.requests import Request, json_request
from vivavoce.run.building.asking import ModelStep, Reply, ask_for
from vivavoce.run.building.filters.base import Decision, Filter
from vivavoce.run.building.open_questions import open_request, read_open
from vivavoce.run.building.parts import Part, with_partner, written_by
from vivavoce.run.building.step import Drop, Lab, Step, StepResult
from vivavoce.systems.careqa.negative_stems import LANGUAGES as STEM_LANGUAGES
from vivavoce.systems.careqa.negative_stems import negative_stem

WORDINGS = "wordings"
"""The key, in an item's `meta`, of its open wordings that wait for a choice."""


@step("negative_stems")
class NegativeStems(Filter):
    """Closed questions that ask for the wrong option: without options nobody can answer them."""

    def decisions(self, items: Sequence[Item], lab: Lab) -> Mapping[int, Decision]:
        """The negative ones, with the word; questions in languages without rules are kept."""
        decisions = {}
        for place, item in enumerate(items):
            language = str(item.meta.get("language") or language_code(item.question) or "en")
            term = negative_stem(item.question, language) if language in STEM_LANGUAGES else None
            if term and item.options:
                decisions[place] = Decision("drop", "it asks for the wrong option", term)
        return decisions


@step("open_wordings")
class OpenWordings(Step):
    """Each closed question in open form, worded by two prompts; it is dropped where neither can word it.

    Questions in another language than `language` are used up: their translation is worded. With `closed` the
    closed questions stay, open ones beside them, and negative ones are not worded.
    """

    model: str
    language: str
    closed: bool = False
    prompts = ("careqa_open_direct", "careqa_open_self_contained")

    @property
    def writer(self) -> str:
        """The model that writes."""
        return self.model

    def apply(self, parts: Sequence[Part], lab: Lab) -> StepResult:
        """Open items with their wordings in `meta`, to be chosen from."""
        items = [part for part in parts if isinstance(part, Item) and self._can_be_open(part)]
        wordings = [self._wordings(prompt, items, lab) for prompt in self.prompts]
        skipped = [part for part in parts if self.closed or not isinstance(part, Item)]
        opened = [self._open(item, replies) for item, *replies in zip(items, *wordings, strict=True)]
        return StepResult.of([*skipped, *opened])

    def _wordings(self, prompt: str, items: Sequence[Item], lab: Lab) -> list[Reply[str]]:
        """What the model makes of each item by a prompt."""
        requests = [open_request(prompt, item, self.language) for item in items]
        readers = [partial(read_open, item, language=self.language) for item in items]
        return ask_for(lab, self.model, requests, readers)

    def _open(self, item: Item, replies: Sequence[Reply[str]]) -> Item | Drop:
        """The open item with its wordings, or why there is none."""
        draft = replace(
            item, item=f"{item.item}-open", format="longform", options=(), answer=(), references=item.answer
        )
        draft = with_partner(draft, REWORDED_FROM, item.item)
        texts = list(dict.fromkeys(reply.value for reply in replies if reply.value))
        if not texts:
            return _without_wording(draft, replies)
        meta = {**draft.meta, WORDINGS: texts}
        return written_by(replace(draft, question=texts[0], meta=meta), self.model)

    def _can_be_open(self, item: Item) -> bool:
        in_language = item.meta.get("language") == self.language
        rules = self.language in STEM_LANGUAGES
        return (
            in_language and bool(item.options) and not (rules and negative_stem(item.question, self.language))
        )


def _without_wording(draft: Item, replies: Sequence[Reply[str]]) -> Drop:
    """Why there is no wording: no reply, no usable reply to either prompt, or none is possible."""
    empty = [reply for reply in replies if reply.value is None]
    failed = [reply for reply in empty if reply.failed]
    if failed or len(empty) == len(replies):
        return [*failed, *empty][0].drop(draft, "word it without options")
    return Drop(draft, "it cannot be asked without its options")


@step("wording_choice")
class WordingChoice(ModelStep):
    """The better of an item's wordings, or none: then it is dropped."""

    prompts = ("careqa_choose",)
    task = "choose a wording"

    def works_on(self, part: Part) -> bool:
        """Items with wordings to choose from."""
        return isinstance(part, Item) and bool(part.meta.get(WORDINGS))

    def request(self, part: Item) -> Request:
        """Asks for the number of a wording, or none."""
        texts = [fenced("wording", text, number=str(k)) for k, text in enumerate(part.meta[WORDINGS], 1)]
        return json_request(
            load("careqa_choose"),
            {"choice": "string", "reason": "string"},
            exact=True,
            wordings="\n\n".join(texts),
            right_answer=fenced("right_answer", part.references[0]),
        )

    def parse(self, part: Item, fields: Mapping[str, Any]) -> int:
        """Which wording was chosen, counted from 1; 0 for none."""
        word, n = str(fields.get("choice")).strip().casefold(), len(part.meta[WORDINGS])
        if word == "none":
            return 0
        if not (word.isascii() and word.isdecimal() and 1 <= int(word) <= n):
            raise Unreadable(f"'choice' is neither 'none' nor a number up to {n}")
        return int(word)

    def results(self, part: Item, value: int) -> Iterator[Part | Drop]:
        """The item with the question that was chosen."""
        wordings = part.meta[WORDINGS]
        item = replace(part, meta={k: v for k, v in part.meta.items() if k != WORDINGS})
        if value:
            yield replace(item, question=wordings[value - 1])
        else:
            yield Drop(item, "neither wording suits", " / ".join(wordings))


class _Uniqueness(NamedTuple):
    """Whether the key alone is right, and an answer that could be right too."""

    only: bool
    another: str


@step("only_answer")
class OnlyAnswer(ModelStep):
    """Open questions that the key alone answers: where another answer could be right, one is dropped."""

    prompts = ("careqa_only_answer",)
    task = "check its answer"

    def works_on(self, part: Part) -> bool:
        """Open items with a reference."""
        return isinstance(part, Item) and not part.options and bool(part.references)

    def request(self, part: Item) -> Request:
        """Asks for another answer that could be right."""
        return json_request(
            load("careqa_only_answer"),
            {"another": "string", "only": "boolean"},
            exact=True,
            question=fenced("question", question_text(part)),
            right_answer=fenced("right_answer", part.references[0]),
        )

    def parse(self, part: Item, fields: Mapping[str, Any]) -> _Uniqueness:
        """What the model says."""
        another = fields.get("another")
        return _Uniqueness(boolean_of(fields, "only"), another if isinstance(another, str) else "")

    def results(self, part: Item, value: _Uniqueness) -> Iterator[Part | Drop]:
        """The item, if its key is the only right answer."""
        yield part if value.only else Drop(part, "another answer could be right", value.another)
