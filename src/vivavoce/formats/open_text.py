"""Open questions: a short or long free answer, and the explanation of a wrong one."""

from typing import ClassVar

from vivavoce.core.prompts import load
from vivavoce.core.records import Item, Reading
from vivavoce.core.registry import format
from vivavoce.core.text import is_blank
from vivavoce.formats.base import (
    Format,
    check_question,
    item_error,
    strip_reasoning,
    unanswered,
    with_context,
)
from vivavoce.reading.fields import EXPLANATION, field_text, json_object, label_pattern, without_label
from vivavoce.reading.markup import unfenced, without_boxes
from vivavoce.reading.refusal import abstains, only_refuses

_LABEL = label_pattern({"explanation": EXPLANATION})


@format("short", version=2)
class Short(Format):
    """A short free answer, compared with references."""

    answered: ClassVar[str] = "in free text, a phrase or a sentence"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question, and a request for a short answer."""
        return load("short").fill(question=with_context(item))


@format("longform", version=2)
class Longform(Format):
    """A longer free answer, compared with references or scored by raters."""

    answered: ClassVar[str] = "in free text of any length"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question, with room for an answer of any length."""
        return load("longform").fill(question=with_context(item))


@format("short_inverse", version=2)
class ShortInverse(Format):
    """A wrong answer that is to be explained: why is it wrong? (ClinIQLink 2025, short inverse)."""

    fields: ClassVar[tuple[str, ...]] = ("question", "false_answer", "references", "context")
    answered: ClassVar[str] = "in free text: why the answer shown is wrong"
    read_as: ClassVar[str] = "the explanation without thinking and label"

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question with the wrong answer."""
        return load("short_inverse").fill(question=with_context(item), false_answer=item.false_answer or "")

    def read(self, item: Item, text: str) -> Reading:
        """The explanation, taken from JSON or from under its label."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        fields = json_object(answer)
        explanation = field_text(fields, "explanation") if fields else None
        if explanation is None:
            explanation = without_label(without_boxes(unfenced(answer)), _LABEL)
        if is_blank(explanation):
            return unanswered("the explanation is blank")
        if abstains(explanation) or only_refuses(explanation):
            return unanswered("a refusal without an answer")
        return Reading("ok", explanation)

    def check(self, item: Item) -> Item:
        """Needs the wrong answer, and a right explanation."""
        check_question(item)
        if is_blank(item.false_answer or ""):
            raise item_error(item, "short_inverse needs a false_answer, the wrong answer that is shown")
        return with_references(super().check(item))


def with_references(item: Item) -> Item:
    """The item, if it has references. Raises `InputError`."""
    if all(is_blank(text) for text in item.references):
        needs = f"{item.format} needs one or more references, the right explanation or answer"
        raise item_error(item, needs)
    return item
