"""What an encoder reads of a task: question, argument and one option, joined and cut in one way.

`[CLS] question argument [SEP] option [SEP]`, and without an option for a head of classes; the marks are the
tokeniser's own, its first and last of a text where it has no others. Training and scoring share this module.

The option is never cut. What is too long loses the end of the argument, then the beginning of the question.
All options of an item are read after the same question and argument: the longest option says what is cut.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from vivavoce.core.errors import InputError
from vivavoce.core.text import one_line
from vivavoce.evaluators.proxy_task import ProxyInput

Kind = Literal["options", "classes"]
"""A head gives one number to each option, or to each class of a task that has the same in every item."""
_CACHED = 4_096


class TaskText(NamedTuple):
    """One text for an encoder. `option` is empty for a head of classes; `options` are sorted."""

    question: str
    argument: str
    option: str
    options: tuple[str, ...]


class TextIds(NamedTuple):
    """The tokens of a text as the encoder reads them; `n_cut` of argument and question were cut."""

    ids: tuple[int, ...]
    n_cut: int = 0


def texts_of(task: ProxyInput, kind: Kind) -> list[TaskText]:
    """The texts of a task, one for each option in order; a single one for a head of classes.

    Equal texts of equal tasks are equal, in whatever order the options are listed.
    """
    if kind == "classes":
        return [TaskText(task.question, task.argument, "", ())]
    options = tuple(sorted(task.options))
    return [TaskText(task.question, task.argument, option, options) for option in task.options]


class InputReader:
    """Turns texts into tokens by a tokeniser, `longest` of them at most."""

    def __init__(self, tokenizer: Any, longest: int) -> None:
        from vivavoce.models.local.foreign_text import ForeignText

        self.longest = longest
        first = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
        between = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
        self.padding = tokenizer.pad_token_id or 0
        self._first = () if first is None else (int(first),)
        self._mark = () if between is None else (int(between),)
        self._ids = lru_cache(_CACHED)(ForeignText(tokenizer).ids)

    def tokens(self, text: TaskText) -> TextIds:
        """The tokens of a text. Raises `InputError` where an option leaves no room for the question."""
        options = [self._ids(option) for option in text.options]
        marks = len(self._first) + len(self._mark) * (2 if options else 1)
        room = self.longest - marks - max(map(len, options), default=0)
        if room < 1:
            longest = one_line(max(text.options, key=len, default=""), 60)
            raise InputError(
                f"the evaluator reads {self.longest} tokens, options are never cut, and this one leaves no "
                f"room for its question: {longest!r}. Leave the item out, or train with more tokens."
            )
        # The blank keeps the words apart for tokenisers that count it to the word behind it.
        question = self._ids(text.question.strip())
        argument = self._ids(f" {text.argument.strip()}") if text.argument.strip() else ()
        n_cut = max(0, len(question) + len(argument) - room)
        context = (question[max(0, len(question) - room) :] + argument)[:room]
        option = self._ids(text.option) + self._mark if options else ()
        return TextIds((*self._first, *context, *self._mark, *option), n_cut)


def padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[list[list[int]], list[list[int]]]:
    """Rows of tokens filled up at their ends to one length, and the mask of what is no filling."""
    longest = max(map(len, rows))
    ids = [[*row, *[padding] * (longest - len(row))] for row in rows]
    return ids, [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
