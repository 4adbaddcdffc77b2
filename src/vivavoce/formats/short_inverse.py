"""A wrong answer that is to be explained: why is it wrong? (ClinIQLink 2025, short inverse)."""

from dataclasses import replace

from vivavoce.formats.base import Format, fault, unanswered, voiced
from vivavoce.formats.markup import unfenced
from vivavoce.formats.options import checked_question, laid_out
from vivavoce.formats.refusal import abstains, only_refuses
from vivavoce.formats.sections import EXPLANATION, pattern, unlabelled
from vivavoce.formats.structured import entries, entry
from vivavoce.prompts import load
from vivavoce.records import Item, Reading
from vivavoce.text import is_blank

__all__ = ["FORMAT", "checked_references"]

_LABEL = pattern({"explanation": EXPLANATION})


def _ask(item: Item, style: str | None) -> str:
    return load("short_inverse").fill(question=laid_out(item), false_answer=item.false_answer or "")


def _read(item: Item, text: str) -> Reading:
    answer = voiced(text)
    if isinstance(answer, Reading):
        return answer
    found = entries(answer)
    told = entry(found, "explanation") if found else None
    answer = unlabelled(unfenced(answer), _LABEL) if told is None else told
    if is_blank(answer):
        return unanswered("the explanation is blank")
    if abstains(answer) or only_refuses(answer):
        return unanswered("a refusal without an answer")
    return Reading("ok", answer)


def checked_references(item: Item) -> Item:
    """The item with references; an `answer` without them becomes them, as in all open formats."""
    if item.answer and not item.references:
        item = replace(item, answer=(), references=item.answer)
    if not any(not is_blank(text) for text in item.references):
        raise fault(item, f"{item.format} needs one or more references, the right explanation or answer")
    return item


def _check(item: Item) -> Item:
    checked_question(item)
    if is_blank(item.false_answer or ""):
        raise fault(item, "short_inverse needs a false_answer, the wrong answer that is shown")
    return checked_references(item)


FORMAT = Format(
    name="short_inverse",
    fields=("question", "false_answer", "references", "context"),
    answered="in free text: why the answer shown is wrong",
    read_as="the explanation without thinking and label",
    ask=_ask,
    read=_read,
    check=_check,
)
