"""Replies that are to be one JSON object: read from what models put around it, and never guessed at."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from vivavoce.core.prompts import Unreadable
from vivavoce.core.text import is_blank, one_line, printable, spoken

LONGEST = 200_000
"""Characters of a reply that is still looked through."""

_OPENING = re.compile(r'\{(?=\s{0,40}")')


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
    at = 0
    while opening := _OPENING.search(text, at):
        try:
            parsed, at = _DECODER.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            break  # what begins like an object and is none may go on for ever: nothing after it is trusted
        objects.append(parsed)
    if len(objects) != 1:
        raise Unreadable("several JSON objects" if objects else "no JSON object")
    return objects[0]


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable(f"the field {one_line(printable(twice), 30)!r} stands there twice")
    return fields


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_once)
