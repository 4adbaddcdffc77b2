"""What variations ask of models, and how the replies are read: one JSON object with one field that counts."""

import html
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from vivavoce import formats
from vivavoce.models import Message, Request, Sampling
from vivavoce.prompts import Prompt, Unreadable, load
from vivavoce.records import Item
from vivavoce.rubrics.fencing import asked, fenced
from vivavoce.text import is_blank, one_line, spoken

__all__ = [
    *("Verdict", "about_twin", "for_planted", "for_rephrasing", "read_text", "read_verdict", "the_key"),
]

LONGEST = 200_000
"""Characters of a reply that is still looked through."""


@cache
def _prompt(name: str) -> Prompt:
    # Beside this file, not among the shipped prompts: those ask candidates, and a user may name them.
    return load(str(Path(__file__).with_name(f"{name}.md")))


def _request(prompt: str, wanted: Mapping[str, str], *, exact: bool, **parts: str) -> Request:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in wanted.items()},
        "required": list(wanted),
        "additionalProperties": False,
    }
    return Request(
        messages=(Message("user", _prompt(prompt).fill(**parts)),),
        sampling=Sampling(temperature=0.0 if exact else None, schema=schema),
    )


def the_key(item: Item) -> str:
    """The right answer as a model is told it: the key, and every reference on a line of its own."""
    return "\n".join(item.references) or formats.key(item)


def for_planted(item: Item) -> Request:
    """Asks for a wrong answer that this item could suggest."""
    return _request(
        "planted",
        {"answer": "string"},
        exact=True,
        question=fenced("question", asked(item)),
        right_answer=fenced("right_answer", the_key(item)),
    )


def about_twin(before: Item, after: Item) -> Request:
    """Asks whether the right answer of `before` is that of `after` too."""
    return _request(
        "twin_check",
        {"reason": "string", "same": "boolean"},
        exact=True,
        before=fenced("before", asked(before)),
        after=fenced("after", asked(after)),
        right_answer=fenced("right_answer", the_key(before)),
    )


def for_rephrasing(text: str) -> Request:
    """Asks for a text in other words; how it is drawn is the model's, so that repeats may differ."""
    return _request("rephrase", {"text": "string"}, exact=False, text=fenced("text", text))


def read_text(name: str) -> Callable[[str], str]:
    """A reader of the text under `name`, our escapes undone; it raises `Unreadable` where there is none."""

    def read(reply: str) -> str:
        found = _object(reply).get(name)
        if not isinstance(found, str) or is_blank(found):
            raise Unreadable(f"no text under {name!r}")
        return html.unescape(found).strip()

    return read


class Verdict(NamedTuple):
    """Whether the right answer is still the same, and why."""

    same: bool
    why: str


def read_verdict(reply: str) -> Verdict:
    """What a reply says of a twin. Raises `Unreadable` where it says neither yes nor no."""
    found = _object(reply)
    same = found.get("same")
    if isinstance(same, str):
        same = {"true": True, "yes": True, "false": False, "no": False}.get(same.strip().casefold())
    if not isinstance(same, bool):
        raise Unreadable("neither true nor false under 'same'")
    why = found.get("reason")
    return Verdict(
        same, one_line(why, 200) if isinstance(why, str) and not is_blank(why) else "no reason given"
    )


_OPENING = re.compile(r'\{(?=\s{0,40}")')
_DECODER = json.JSONDecoder(strict=False)


def _object(reply: str) -> Mapping[str, Any]:
    """The one JSON object of a reply, bare, fenced or amid prose; two are none."""
    text = spoken(reply).text
    if is_blank(text):
        raise Unreadable("empty reply")
    if len(text) > LONGEST:
        raise Unreadable(f"the reply is longer than {LONGEST} characters")
    found: list[Mapping[str, Any]] = []
    at = 0
    while opening := _OPENING.search(text, at):
        try:
            one, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            break  # what begins like an object and is none may go on for ever: nothing after it is trusted
        found.append(one)
    if len(found) != 1:
        raise Unreadable("several JSON objects" if found else "no JSON object")
    return found[0]
