"""The class that every format derives from, and what formats do first with a response."""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, dataclass_transform

from vivavoce.core.errors import RowError
from vivavoce.core.parts import Parts
from vivavoce.core.records import Item, Reading
from vivavoce.core.text import is_blank, spoken
from vivavoce.reading.markup import without_boxes
from vivavoce.reading.refusal import abstains, only_refuses
from vivavoce.reading.run_on import finished_part, without_fragment

UNCLOSED, SILENT = (
    "the thinking was never closed and no answer stands outside it",
    "nothing follows the thinking",
)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Format:
    """How items of one form are asked and checked, and how responses to them are read.

    A subclass registered with `@format("name")` overrides what differs. By itself this class is an open
    question: it is asked as it stands, and any text answers it unless the text is blank or only refuses.
    Formats hold no state, and `read` is a pure function: responses are read when they are scored.
    """

    name: ClassVar[str] = ""
    """The registered name, which is the field `format` of an item. `@format` sets it."""
    fields: ClassVar[tuple[str, ...]] = ("question", "references", "context")
    """The item fields it uses, required ones first."""
    answered: ClassVar[str] = "in free text"
    """How an item is to be answered, in a few words."""
    read_as: ClassVar[str] = "the answer's text without its thinking"
    """What `Reading.parsed` holds, in a few words."""
    scored_as: ClassVar[str] = ""
    """A format of ours with the same kind of key and of `parsed`; its metrics then score this one too.

    'short' for a text that is compared with `references`, 'mcq' for one option, 'list' for several.
    """
    open_text: ClassVar[bool] = True
    """Whether candidates answer in their own words; False where they pick from options."""
    several_answers: ClassVar[bool] = False
    """Whether a key may hold several options; `parsed` is then a tuple of them."""
    fixed_options: ClassVar[tuple[str, ...]] = ()
    """The options that every item of the format has without listing them: True and False."""
    item_noun: ClassVar[str] = "question"
    """What a sentence that is put into an item calls it; a "statement" is judged as it stands."""
    shows_steps: ClassVar[bool] = False
    """Whether `steps` are part of what is asked; elsewhere they are part of the key."""

    def ask(self, item: Item, style: str | None = None) -> str:
        """The user prompt. `style` says how options are shown, where there are any."""
        return with_context(item)

    def read(self, item: Item, text: str) -> Reading:
        """What a response says. Never raises, whatever the text; `parsed` is None unless the status is ok."""
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        answer = without_boxes(answer)
        if is_blank(answer):
            return unanswered("blank: no letter and no digit")
        if only_refuses(answer) or abstains(answer, unless=item.references):
            return unanswered("a refusal without an answer")
        return Reading("ok", answer)

    def read_mark(self, text: str) -> Reading | None:
        """The reading of an answer without a letter and a digit, such as a tick; null where it is blank."""
        return None

    def read_cut(self, item: Item, text: str) -> Reading:
        """What a response says that a limit cut: an open answer is what there is of it.

        Never raises, whatever the text.
        """
        return self.read(item, text)

    def check(self, item: Item) -> Item:
        """The item in its normal form: an open item's `answer` becomes its references.

        Raises `InputError` for an item that cannot be used.
        """
        check_question(item)
        if item.answer and not item.references:
            return replace(item, answer=(), references=item.answer)
        return item

    def key(self, item: Item) -> str:
        """The keyed answer as a candidate would give it. Asked only of items that have a key."""
        return item.references[0] if item.references else ", ".join(item.answer)

    def labelled_key(self, item: Item) -> str:
        """The key as people see it among responses: labelled and numbered as the prompt asks for it."""
        return self.key(item)


def with_context(item: Item) -> str:
    """The question, after its context where there is one."""
    return f"{item.context}\n\n{item.question}" if item.context else item.question


def check_question(item: Item) -> None:
    """Raises `InputError` where the question is blank."""
    if is_blank(item.question):
        raise item_error(item, "the question is blank")


def item_error(item: Item, what: str, reason: str | None = None) -> RowError:
    """The error for an item that cannot be used: one sentence with benchmark and item.

    `reason` says it in a phrase that can be counted over items, where `what` names something of the item.
    """
    end = "" if what.endswith((".", "?")) else "."
    return RowError(f"{item.benchmark}, item {item.name!r}: {what}{end}", reason or what)


def unanswered(reason: str) -> Reading:
    """The reading of a response that is blank, abstains or refuses."""
    return Reading("unanswered", reason=reason)


def unreadable(reason: str, stray: tuple[str, ...] = ()) -> Reading:
    """The reading of a response in no readable form."""
    return Reading("unreadable", stray=stray, reason=reason)


def without_words(parts: Parts) -> Reading:
    """The reading of an answer whose final part is blank, and why it is, as far as its parts tell."""
    if parts.ending == "thinking" and parts.thinking == "in its text":
        return unreadable(UNCLOSED)
    if parts.ending == "thinking":
        return unanswered("token limit reached while thinking")
    if parts.is_cut:
        return unanswered("cut before the first word")
    return unanswered("blank: no letter and no digit" if parts.thinking == "none" else SILENT)


def read_finished(
    text: str, reader: Callable[[str], Reading], settles: Callable[[str], bool] = lambda part: True
) -> Reading:
    """The reading of a closed question's answer that was cut: a choice counts that was said to its end.

    `settles` tells of a finished part whether it gives an answer, and does not only speak of one.
    """
    # Words behind the finished part may take its choice back: the whole text must choose the same.
    reading = reader(without_fragment(text))
    if reading.status != "ok":
        return reading if reading.status == "unanswered" else unreadable(f"cut, and {reading.reason}")
    part = finished_part(text)
    if part and settles(part) and reader(part) == reading:
        return reading
    return unreadable("cut before an answer was said to its end")


def strip_reasoning(text: str, *, steps: bool = False) -> str | Reading:
    """The response without its thinking, or the reading where nothing remains.

    With `steps` a tag `<reasoning>` holds what the question asks for.
    """
    answer = spoken(text, steps=steps)
    if is_blank(answer.text):
        if not answer.closed:
            return unreadable(UNCLOSED)
        if answer.thought:
            return unanswered(SILENT)
        return unanswered("blank: no letter and no digit")
    return answer.text
