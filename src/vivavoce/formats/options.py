"""What formats with options share: the prompt that shows them, and the check of their key."""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.prompts import load
from vivavoce.core.records import Item, Reading
from vivavoce.core.text import label, lazy_pattern
from vivavoce.formats.base import (
    Format,
    check_question,
    item_error,
    read_finished,
    strip_reasoning,
    unanswered,
    with_context,
)
from vivavoce.reading.check_boxes import ticked_alone
from vivavoce.reading.labels import without_relisted
from vivavoce.reading.markup import with_plain_marks
from vivavoce.reading.options import Options, options_in
from vivavoce.reading.refusal import abstains
from vivavoce.reading.run_on import parts, read_first

_LEAD_IN = lazy_pattern(r"\A[^\n:：]{0,40}[:：]\s*")
"""What may stand before an answer on its line: "Answer:"."""
_LABEL = lazy_pattern(r"\A[\s*_#>\"'(\[]{0,8}(?P<label>\w{1,2})[\s*_]{0,3}[.):：,\]–-]")
STYLES = ("text", "letter", "both")
"""How options can be shown: without letters, or with them; and what is then asked for."""


class OptionsFormat(Format):
    """A format whose items list their options; `fewest_options` is how many an item needs."""

    fields: ClassVar[tuple[str, ...]] = ("question", "options", "answer", "context")
    open_text: ClassVar[bool] = False
    fewest_options: ClassVar[int] = 2

    def ask(self, item: Item, style: str | None = None) -> str:
        """The question with its options; raises `InputError` for an unknown style."""
        style = style or "both"
        if style not in STYLES:
            raise InputError(f"no style {style!r} for {self.name}.{suggest(style, STYLES)}")
        lines = [
            f"- {text}" if style == "text" else f"{label(k)}. {text}" for k, text in enumerate(item.options)
        ]
        return load(f"{self.name}_{style}").fill(question=with_context(item), options="\n".join(lines))

    def read(self, item: Item, text: str) -> Reading:
        """The options chosen. An option's exact text is that option, whatever else it could mean."""
        options = options_in(item.options, text)
        answer = strip_reasoning(text)
        # Before any refusal is looked for: an option may itself read "I cannot tell".
        exact = options.exactly(answer if isinstance(answer, str) else text)
        if exact is not None:
            return Reading("ok", self.parsed((exact,), options))
        if isinstance(answer, Reading):
            return answer

        def read_part(part: str) -> Reading:
            exact = options.exactly(part)
            if exact is not None:
                return Reading("ok", self.parsed((exact,), options))
            return (
                unanswered("a refusal without an answer")
                if abstains(part)
                else self.read_options(part, options)
            )

        answer = with_plain_marks(ticked_alone(answer))
        shortened = without_relisted(answer, options.texts)
        reading = read_first(shortened, read_part, lambda part: self.settles(part, options))
        if reading.status == "unreadable" and shortened != answer and self.several_answers:
            return read_first(answer, read_part, lambda part: self.settles(part, options))
        return self.in_view_of(item, shortened, reading)

    def in_view_of(self, item: Item, answer: str, reading: Reading) -> Reading:
        """The reading of an answer in view of what the question asks; a format may know better."""
        return reading

    def read_cut(self, item: Item, text: str) -> Reading:
        """The options chosen, where the choice was said to its end; a label in front is one."""
        options = options_in(item.options, text)
        answer = strip_reasoning(text)
        if isinstance(answer, Reading):
            return answer
        # A limit of one or two tokens cuts nothing off a bare label.
        if _named(_LEAD_IN.sub("", answer), options) is not None:
            return self.read(item, answer)
        reading = read_finished(
            answer, lambda part: self.read(item, part), lambda part: self.settles(part, options)
        )
        head = next((part.head for part in parts(answer)), answer)
        if reading.status == "unreadable" and self.opens(head, options):
            return self.read(item, answer)
        return reading

    def opens(self, answer: str, options: Options) -> bool:
        """True if an answer begins with the label of an option as an answer does."""
        return _opens_with_label(answer, options)

    def parsed(self, names: Sequence[int], options: Options) -> str | tuple[str, ...]:
        """What a reading holds for these options: the text of the only one, or several texts."""
        texts = tuple(options.texts[name] for name in names)
        return texts if self.several_answers else texts[0]

    def settles(self, answer: str, options: Options) -> bool:
        """True if a cue or a line of its own gives the answer, read or not; a format may know better."""
        return False

    def read_options(self, answer: str, options: Options) -> Reading:
        """The options that a response names; each format with options has its own grammar for it."""
        raise NotImplementedError(f"the format {self.name} does not say how options are read")

    def check(self, item: Item) -> Item:
        """Needs a question and enough different options; options are never edited."""
        require_options(item, self.fewest_options)
        return item


def _named(text: str, options: Options) -> int | None:
    """The option that a text is by itself, or the label of; null for none."""
    exact = options.exactly(text)
    return options.labels.get(text.strip(" \n*_.()[]")) if exact is None else exact


def _opens_with_label(answer: str, options: Options) -> bool:
    """Whether an answer begins with the label of an option as an answer does: "C. Explanation: …".

    "A. Metformin: …", with the first label and its option's text, may begin a walk through all of them.
    """
    lead = _LABEL.match(answer)
    name = _named(lead["label"], options) if lead else None
    if lead is None or name is None:
        return False
    return name > 0 or not answer[lead.end() :].lstrip(" *_").lower().startswith(options.texts[0].lower())


def require_options(item: Item, fewest: int) -> None:
    """Raise `InputError` for an item without a question, or without enough different options."""
    check_question(item)
    if len(item.options) < fewest:
        raise item_error(item, f"{item.format} needs {fewest} or more options, not {len(item.options)}")
    places: dict[str, int] = {}
    for k, text in enumerate(item.options):
        if not text.strip():
            raise item_error(item, f"option {label(k)} is empty", "an option is empty")
        place = places.setdefault(_plain(text), k)
        rival = item.options[place]
        if place < k and rival == text:
            raise item_error(item, f"the option {text!r} stands there twice", "two options are equal")
        if place < k:
            reason = "differ in nothing but spaces or case"
            raise item_error(item, f"the options {rival!r} and {text!r} {reason}", f"two options {reason}")


_SYMBOL = 3
"""Letters of a short symbol, whose case may tell it apart: the genotypes AA and Aa, pH and PH."""


def _plain(option: str) -> str:
    """An option without what tells no two apart: blanks, and the case of all but short symbols."""
    text = " ".join(option.split())
    return text if len(text) <= _SYMBOL else text.casefold()


def with_option_texts(item: Item) -> Item:
    """The item with its key as texts of options: each is an option's exact text, else its letter."""
    letters = {label(k): text for k, text in enumerate(item.options)}
    texts: list[str] = []
    for key in item.answer:
        # Text before letter: an option may be a letter itself, such as vitamin "C".
        text = key if key in item.options else letters.get(key)
        if text is None:
            choices = list(letters) if len(key) == 1 and key.isascii() and key.isupper() else item.options
            subject = f"the key {key!r} is no option.{suggest(key, choices)}"
            raise item_error(item, subject, "the key is no option")
        if text in texts:
            raise item_error(item, f"the key {text!r} stands there twice", "two keys are equal")
        texts.append(text)
    return item if tuple(texts) == item.answer else replace(item, answer=tuple(texts))
