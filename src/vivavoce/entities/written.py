"""A dictionary of synonyms that a model writes: what it is asked, and what can be read of its reply."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from vivavoce import prompts
from vivavoce.entities.synonyms import Synonyms, parse_dictionary
from vivavoce.models import Message, Request, Sampling
from vivavoce.prompts import Unreadable
from vivavoce.text import one_line

__all__ = ["PROMPT", "Page", "again", "pages"]

PROMPT = Path(prompts.__file__).with_name("synonyms.md")
"""The prompt, whose hash stands in signatures."""
_TERMS = 10
"""Terms a call, as published: with more the lists become worse."""


class Page(NamedTuple):
    """A part of the dictionary: its terms, how the model is asked for them, and how its reply is read."""

    terms: tuple[str, ...]
    request: Request
    read: Callable[[str], Synonyms]


def pages(terms: Iterable[str]) -> list[Page]:
    """The terms in alphabetical order, ten on a page: what is asked follows from the set of terms alone."""
    ordered = sorted(set(terms))
    return [_page(tuple(ordered[k : k + _TERMS])) for k in range(0, len(ordered), _TERMS)]


def again(request: Request, reply: str, why: str) -> Request:
    """The same request once more, with the reply that could not be used and what is wrong with it."""
    said = f"That cannot be used: {why}. Answer with the JSON object alone, a key for each term and no other."
    turns = (Message("assistant", reply), Message("user", said))
    return Request(messages=(*request.messages, *turns), sampling=request.sampling)


def _page(terms: tuple[str, ...]) -> Page:
    text = prompts.load("synonyms").fill(terms=json.dumps(terms, ensure_ascii=False))
    names = {"type": "array", "items": {"type": "string"}}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(terms, names),
        "required": list(terms),
        "additionalProperties": False,
    }
    request = Request(messages=(Message("user", text),), sampling=Sampling(temperature=0.0, schema=schema))
    return Page(terms, request, lambda reply: _read(reply, terms))


def _read(reply: str, terms: Sequence[str]) -> Synonyms:
    """The lists of exactly these terms. A fence of backticks around the object is allowed, other words not.

    Raises `Unreadable`.
    """
    lines = reply.strip().splitlines()
    if len(lines) > 2 and lines[0].strip() in ("```", "```json") and lines[-1].strip() == "```":
        lines = lines[1:-1]
    try:
        said = parse_dictionary("\n".join(lines))
    except ValueError as error:
        raise Unreadable(str(error)) from None
    for term in terms:
        if term not in said:
            raise Unreadable(f"it has no list for {term!r}")
    for term in said:
        if term not in terms:
            raise Unreadable(f"it has {one_line(repr(term))}, which was not asked")
    return said
