"""A short free answer; and what all open formats share."""

from dataclasses import replace

from vivavoce.formats.base import Format, unanswered, voiced
from vivavoce.formats.options import checked_question, laid_out
from vivavoce.formats.refusal import only_refuses
from vivavoce.prompts import load
from vivavoce.records import Item, Reading

__all__ = ["FORMAT", "open_format"]


def _read(item: Item, text: str) -> Reading:
    answer = voiced(text)
    if isinstance(answer, Reading):
        return answer
    if only_refuses(answer):
        return unanswered("a refusal without an answer")
    return Reading("ok", answer)


def _check(item: Item) -> Item:
    checked_question(item)
    return replace(item, answer=(), references=item.answer) if item.answer and not item.references else item


def open_format(name: str, *, answered: str) -> Format:
    """An open format: any text is an answer unless it is blank or only refuses."""

    def ask(item: Item, style: str | None) -> str:
        return load(name).fill(question=laid_out(item))

    return Format(
        name=name,
        fields=("question", "references", "context"),
        answered=answered,
        read_as="the answer's text without its thinking",
        ask=ask,
        read=_read,
        check=_check,
    )


FORMAT = open_format("short", answered="in free text, a phrase or a sentence")
