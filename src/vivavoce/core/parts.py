"""The parts of an answer: what is said in the end, whether there was thinking before it, and how it ended.

The parts are made once, where an answer arrives, and stored beside its text, which stays as it came. Answers
that were stored before there were parts are parted when they are read, by the same marks.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from vivavoce.core import endings
from vivavoce.core.errors import InputError
from vivavoce.core.text import Spoken, is_blank, one_line, spoken, with_line_ends

Ending = Literal["complete", "cut", "thinking", "filtered"]
"""How an answer ended: by itself, at a limit of tokens or time, at a limit while thinking, by a filter."""
Thinking = Literal["none", "in its text", "beside it"]
"""Where the thinking of an answer stands: beside it where the endpoint gives it, or its length, by itself."""
MARKS = "reasoning_marks"
"""The setting of a candidate, and the field of a response's `meta`, that holds its own marks of thinking."""
LIKE_THINKING, PROMPT_CUT, ESCAPED = "like_thinking", "prompt_cut", "escaped_line_ends"
"""Fields of `meta`: true where a copy without texts says what its text looked like; a prompt that was cut;
true where the line ends of the text stand escaped in the file it came from."""
ASK_FOR_STEPS = ("multi_hop",)
"""The formats whose questions ask for reasoning."""


class Answer(Protocol):
    """What the parts of a response are made of."""

    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def text(self) -> str | None: ...  # noqa: D102
    @property
    def final(self) -> str | None: ...  # noqa: D102
    @property
    def ending(self) -> Ending | None: ...  # noqa: D102
    @property
    def reasoning(self) -> str | None: ...  # noqa: D102
    @property
    def finish_reason(self) -> str | None: ...  # noqa: D102
    @property
    def meta(self) -> Mapping[str, Any]: ...  # noqa: D102


class Parts(NamedTuple):
    """An answer as it is read: its final part, whether it thought before, and how it ended.

    `final` has no thinking in it as far as the marks are known; a mark of a chat may stand at its ends.
    `thinking` says where thinking came with the answer. `ending` is null where nothing says how it ended.
    """

    final: str
    thinking: Thinking = "none"
    ending: Ending | None = None

    @property
    def is_cut(self) -> bool:
        """Whether a limit or a filter ended it, so that words are missing at its end."""
        return self.ending not in (None, "complete")


def reasoning_marks(setting: Iterable[object] | None, name: str) -> tuple[str, str] | None:
    """The opening and the closing mark of thinking that a setting or an option states; null for none.

    Raises `InputError`, which begins with `name`, for anything but two different texts.
    """
    if setting is None:
        return None
    marks = [setting] if isinstance(setting, str) else list(setting)
    if len(marks) != 2 or not all(isinstance(mark, str) and mark.strip() for mark in marks):
        raise InputError(
            f"{name} takes the opening and the closing mark of thinking, as in ['<plan>', '</plan>'], not "
            f"{one_line(repr(setting), 60)}."
        )
    opening, closing = (str(mark).strip() for mark in marks)
    if opening == closing:
        raise InputError(f"{name}: the mark that closes thinking is the one that opens it, {opening!r}.")
    return opening, closing


def parts_of(response: Answer) -> Parts:
    """The parts of a response: those that are stored with it, else made of its text by the known marks."""
    final, ending = response.final, response.ending
    if final is None and ending is None:
        final, ending = made_parts(response)
    if final is not None and (not response.meta.get(ESCAPED) or _spoken(response).thought):
        return Parts(final, "in its text", ending)
    thinking: Thinking = "beside it" if _has_thinking_beside(response) else "none"
    return Parts((response.text or "") if final is None else final, thinking, ending)


def final_text(text: str | None, final: str | None) -> str:
    """What an answer says in the end, of its stored text and final part; empty where no text arrived."""
    return spoken((text if final is None else final) or "").text


def made_parts(response: Answer, form: str | None = None) -> tuple[str | None, Ending | None]:
    """The final part of a response, null where it is all of its text, and how it ended.

    `meta` holds its own marks of thinking, if it has some, and says whether its line ends stand escaped: they
    are line ends of the final part. `form` is the item's format: where a question asks
    for reasoning, what a tag `<reasoning>` holds is part of the answer. Without a format that tag stays, and
    the reader of the answer decides.
    """
    if response.text is None:
        return None, "filtered" if response.status == "filtered" else None
    answer = _spoken(response, form)
    has_other_words = answer.thought or response.meta.get(ESCAPED)
    return answer.text if has_other_words else None, _ending(response, answer)


def _spoken(response: Answer, form: str | None = None) -> Spoken:
    pair = response.meta.get(MARKS)
    text = with_line_ends(response.text or "") if response.meta.get(ESCAPED) else response.text or ""
    steps = form is None or form in ASK_FOR_STEPS
    return spoken(text, steps=steps, own_marks=(pair[0], pair[1]) if pair else None)


def with_marks(meta: Mapping[str, Any], marks: Iterable[str] | None) -> Mapping[str, Any]:
    """The `meta` of a response with a model's own marks of thinking; null: none."""
    return {**meta, MARKS: list(marks)} if marks else meta


def _has_thinking_beside(response: Answer) -> bool:
    """Whether thinking came beside the text: its words, or the count of its tokens alone."""
    return bool(response.reasoning or response.meta.get("reasoning_tokens"))


def _ending(response: Answer, answer: Spoken) -> Ending | None:
    ending = "filtered" if response.status == "filtered" else endings.ending(response.finish_reason)
    if ending == "filtered":
        return "filtered"
    is_silent = (answer.thought or _has_thinking_beside(response)) and is_blank(answer.text)
    return "thinking" if not answer.closed or (ending == "cut" and is_silent) else ending
