"""What variations ask of models, and how the replies are read: one JSON object with one field that counts."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vivavoce import formats
from vivavoce.core.prompts import Prompt, load
from vivavoce.core.records import Item
from vivavoce.core.text import is_blank, one_line
from vivavoce.language.replies import Material, boolean_of, read_object, text_of
from vivavoce.models.fencing import fenced, question_text, texts_shown
from vivavoce.models.requests import Message, Request, json_request

_MATERIAL = "What stands inside <text>"
"""Where the part of our prompt begins that says what is material, and the form of the reply."""


@cache
def _prompt(name: str) -> Prompt:
    # Beside this file, not among the shipped prompts: those ask candidates, and a user may name them.
    return load(str(Path(__file__).with_name(f"{name}.md")))


def the_key(item: Item) -> str:
    """The right answer as a prompt shows it: the key, or every reference on a line of its own."""
    return "\n".join(item.references) or formats.key(item)


def for_planted(item: Item) -> Request:
    """Asks for a wrong answer that this item could suggest."""
    return json_request(
        _prompt("planted"),
        {"answer": "string"},
        exact=True,
        question=fenced("question", question_text(item)),
        right_answer=fenced("right_answer", the_key(item)),
    )


def about_twin(before: Item, after: Item) -> Request:
    """Asks whether the right answer of `before` is that of `after` too."""
    return json_request(
        _prompt("twin_check"),
        {"reason": "string", "same": "boolean"},
        exact=True,
        before=fenced("before", question_text(before)),
        after=fenced("after", question_text(after)),
        right_answer=fenced("right_answer", the_key(before)),
    )


def for_rephrasing(text: str, instruction: str | None = None) -> Request:
    """Asks for a text in other words; how it is drawn is the model's, so that repeats may differ.

    An `instruction` is the system message in place of our prompt, of which the form of the reply is left.
    """
    prompt = _prompt("rephrase")
    if instruction is not None:
        material = prompt.text[prompt.text.index(_MATERIAL) :]
        prompt = Prompt(prompt.name, material)
    request = json_request(prompt, {"text": "string"}, exact=False, text=fenced("text", text))
    if instruction is None:
        return request
    return replace(request, messages=(Message("system", instruction), *request.messages))


def _material(request: Request) -> Material:
    return Material(texts_shown(request.messages))


def text_reader(request: Request, name: str) -> Callable[[str], str]:
    """A reader of the text under `name`, our escapes undone; it raises `Unreadable` where there is none."""
    material = _material(request)
    return lambda reply: text_of(read_object(reply, material), name)


class Verdict(NamedTuple):
    """Whether the right answer is still the same, and why."""

    same: bool
    why: str


def read_verdict(reply: str, request: Request) -> Verdict:
    """What a reply to the request says of a twin. Raises `Unreadable` where it says neither yes nor no."""
    verdict = read_object(reply, _material(request))
    same = boolean_of(verdict, "same")
    reason = verdict.get("reason")
    return Verdict(
        same, one_line(reason, 200) if isinstance(reason, str) and not is_blank(reason) else "no reason given"
    )
