"""Replies that are to be one JSON object: requested, and read from what models put around it."""

import html
import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from vivavoce.core.prompts import Prompt, Unreadable
from vivavoce.core.text import is_blank, one_line, printable, spoken
from vivavoce.models.requests import Message, Request, Sampling

LONGEST = 200_000
"""Characters of a reply that is still looked through."""

_OPENING = re.compile(r'\{(?=\s{0,40}")')


def json_request(prompt: Prompt, fields: Mapping[str, Any], *, exact: bool, **parts: str) -> Request:
    """A request for one JSON object with these fields, each with its JSON type or its schema.

    `exact` asks at temperature 0; else the model draws as its endpoint does. `parts` fill the prompt.
    """
    schema = {
        "type": "object",
        "properties": {
            name: {"type": kind} if isinstance(kind, str) else kind for name, kind in fields.items()
        },
        "required": list(fields),
        "additionalProperties": False,
    }
    return Request(
        messages=(Message("user", prompt.fill(**parts)),),
        sampling=Sampling(temperature=0.0 if exact else None, schema=schema),
    )


TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
"""The schema of a list of texts."""


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """The text under `name`, our escapes undone. Raises `Unreadable` where there is none."""
    text = fields.get(name)
    if not isinstance(text, str) or is_blank(text):
        raise Unreadable(f"no text under {name!r}")
    return html.unescape(text).strip()


def texts_of(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of the list under `name`. Raises `Unreadable` where it is no list of texts."""
    texts = fields.get(name)
    if not isinstance(texts, list) or not all(isinstance(text, str) and not is_blank(text) for text in texts):
        raise Unreadable(f"no list of texts under {name!r}")
    return tuple(html.unescape(text).strip() for text in texts)


def boolean_of(fields: Mapping[str, Any], name: str) -> bool:
    """The boolean under `name`, or its word. Raises `Unreadable` where it is neither."""
    value = fields.get(name)
    if isinstance(value, str):
        value = {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().casefold())
    if not isinstance(value, bool):
        raise Unreadable(f"neither true nor false under {name!r}")
    return value


def read_object(reply: str) -> Mapping[str, Any]:
    """The one JSON object of a reply, bare, fenced or amid prose.

    Raises `Unreadable` for none, for several, and for one that names a field twice.
    """
    text = spoken(reply).text
    if is_blank(text):
        raise Unreadable("empty reply")
    if len(text) > LONGEST:
        raise Unreadable(f"the reply is longer than {LONGEST} characters")
    objects: list[Mapping[str, Any]] = []
    position = 0
    while opening := _OPENING.search(text, position):
        try:
            parsed, position = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            break  # what begins like an object and is none may go on for ever: nothing after it is trusted
        objects.append(parsed)
    if len(objects) != 1:
        raise Unreadable("several JSON objects" if objects else "no JSON object")
    return objects[0]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((repeated, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable(f"the field {one_line(printable(repeated), 30)!r} stands there twice")
    return fields


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once)
