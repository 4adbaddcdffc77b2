"""Multiple choice: one option of several, by its text or its letter."""

from typing import Any

from vivavoce.formats.base import Format, fault, unanswered, unreadable, voiced
from vivavoce.formats.choice import Answer, Choice
from vivavoce.formats.match import Options, options_of
from vivavoce.formats.options import as_keyed, checked_options, prompt
from vivavoce.formats.refusal import abstains, refuses
from vivavoce.formats.structured import values
from vivavoce.records import Item, Reading

__all__ = ["FORMAT"]


def _ask(item: Item, style: str | None) -> str:
    return prompt("mcq", item, style)


def _read(item: Item, text: str) -> Reading:
    options = options_of(item.options)
    answer = voiced(text)
    exact = options.plain.get(" ".join((answer if isinstance(answer, str) else text).split()))
    if exact is not None:
        return Reading("ok", options.texts[exact])
    if isinstance(answer, Reading):
        return answer
    if abstains(answer):
        return unanswered("a refusal without an answer")
    found = values(answer)
    read = _from_json(found, options) if found else Choice(answer, options).read(lambda: refuses(answer))
    if read.reason is None and read.names:
        return Reading("ok", options.texts[read.names[0]])
    if read.silent and refuses(answer):
        return unanswered("a refusal without an answer")
    return unreadable(read.reason or "it names no option")


def _from_json(found: list[Any], options: Options) -> Answer:
    answers = [_leaf(str(value), options) for value in found]
    names = tuple(dict.fromkeys(n for a in answers for n in a.names))
    if len(names) > 1:
        texts = ", ".join(options.texts[n] for n in names)
        return Answer(reason=f"two options for a single choice: {texts}")
    reasons = [a.reason for a in answers if a.reason and not (a.silent and names)]
    silent = all(a.silent for a in answers)
    return Answer(reason=reasons[0], silent=silent) if reasons else Answer(names)


def _leaf(text: str, options: Options) -> Answer:
    exact = options.plain.get(" ".join(text.split()))
    return Answer((exact,)) if exact is not None else Choice(text, options).read()


def _check(item: Item) -> Item:
    item = checked_options(item, at_least=2)
    if len(item.answer) != 1:
        raise fault(item, f"multiple choice needs exactly one answer, not {len(item.answer)}")
    return as_keyed(item)


FORMAT = Format(
    name="mcq",
    fields=("question", "options", "answer", "context"),
    answered="with one option, by its letter or its text",
    read_as="the option's text",
    ask=_ask,
    read=_read,
    check=_check,
)
