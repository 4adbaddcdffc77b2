"""A model's reply as an object: the JSON in it, bare, fenced or amid prose, or why it is unreadable.

Nothing is guessed: of two values for one name both are kept, numbers are doubles, and what only begins like
an object is counted, so that time is linear in the length of the reply.
"""

import html
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

from vivavoce.core.prompts import Unreadable
from vivavoce.core.text import is_blank, one_line, printable, spoken
from vivavoce.language.characters import in_one_form

REPEATED = "only what it repeats of the texts that it was shown could be the answer"
"""Why a reply is unreadable whose values may all be quotations: a part of the reason."""
LONGEST = 200_000
"""Characters of a reply in which `read_object` still looks for its object."""
_SPELLED = re.compile(r"[0-9]+(?:\.[0-9]+)?|[^\W_]+|[{}\[\]:=|>]")
_SEPARATORS = str.maketrans("=|", "::")
_OPENING = re.compile(r'\{(?=\s{0,40}["}])')


class Pairs(tuple[tuple[str, Any], ...]):
    """The entries of a JSON object, in order and with those that stand there twice."""

    __slots__ = ()


class _NoNumber(str):
    """NaN or Infinity: a word that is no text either."""

    __slots__ = ()


class _Whole(float):
    """A number without a point. A double has no longest, as whole numbers of Python do."""

    __slots__ = ()


_JSON = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=_Whole, parse_constant=_NoNumber, strict=False)


class Place(NamedTuple):
    """An outermost JSON object of a text, and where it begins and ends."""

    start: int
    end: int
    pairs: Pairs


class Material:
    """The texts of others that a prompt showed, to tell what a reply repeats of them.

    Compared are words, numbers, brackets, colons and `>`, whatever the case, white space, escapes, quotation
    marks and commas: a quotation seldom keeps these.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = tuple(texts)

    @cached_property
    def _spelled(self) -> tuple[str, ...]:
        return tuple(map(_spelling, self._texts))

    def hold(self, part: str) -> bool:
        """Whether a part of a reply stands in one of the texts."""
        spelled = _spelling(part)
        return bool(spelled.strip()) and any(spelled in text for text in self._spelled)

    def are(self, reply: str) -> bool:
        """Whether a whole reply is one of the texts."""
        spelled = _spelling(reply)
        return bool(spelled.strip()) and spelled in self._spelled


def _spelling(text: str) -> str:
    words = _SPELLED.findall(in_one_form(html.unescape(text)).translate(_SEPARATORS))
    return f" {' '.join(words).casefold()} "


NO_MATERIAL = Material()


def objects(text: str, *, attempts: int = 60) -> Iterator[Place]:
    """The outermost JSON objects of a text.

    Raises `Unreadable` at the end where more than so many braces opened no object.
    """
    position = failed = 0
    while opening := _OPENING.search(text, position):
        try:
            pairs, position = _JSON.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            position, failed = opening.end(), failed + 1
            if failed > attempts:
                raise Unreadable("too many braces that open no JSON object") from None
        else:
            yield Place(opening.start(), position, pairs)


def read_object(reply: str, material: Material = NO_MATERIAL) -> Mapping[str, Any]:
    """The one JSON object of a reply, bare, fenced or amid prose; what it repeats of the `material` is none.

    Raises `Unreadable` for none, for several, and for one that names a field twice.
    """
    text = spoken(reply).text
    if is_blank(text):
        raise Unreadable("empty reply")
    if len(text) > LONGEST:
        raise Unreadable(f"the reply is longer than {LONGEST} characters")
    fields: list[Mapping[str, Any]] = []
    repeated = False
    # what begins like an object and is none may go on for ever: nothing after it is trusted
    for place in _until_a_fault(text):
        if material.hold(text[place.start : place.end]):
            repeated = True
        elif place.pairs:
            fields.append(_mapping(place.pairs))
    if len(fields) != 1:
        reason = f"no JSON object: {REPEATED}" if repeated else "no JSON object"
        raise Unreadable("several JSON objects" if fields else reason)
    return fields[0]


def _until_a_fault(text: str) -> Iterator[Place]:
    try:
        yield from objects(text, attempts=0)
    except Unreadable:
        return


def _mapping(pairs: Pairs) -> dict[str, Any]:
    """An object with its inner ones as mappings. Raises `Unreadable` where a name stands in one twice."""
    fields = {name: _plain(value) for name, value in pairs}
    if len(fields) < len(pairs):
        ((repeated, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise Unreadable(f"the field {one_line(printable(repeated), 30)!r} stands there twice")
    return fields


def _plain(value: Any) -> Any:
    if isinstance(value, Pairs):
        return _mapping(value)
    if isinstance(value, _Whole) and math.isfinite(value):
        return int(value)
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """The text under `name`, our escapes undone. Raises `Unreadable` where there is none."""
    text = fields.get(name)
    if not _is_text(text):
        raise Unreadable(f"no text under {name!r}")
    return html.unescape(text).strip()


def texts_of(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The texts of the list under `name`. Raises `Unreadable` where it is no list of texts."""
    texts = fields.get(name)
    if not isinstance(texts, list) or not all(map(_is_text, texts)):
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


def quoted(raw: object, width: int = 30) -> str:
    """A JSON value on one short line, for a reason."""
    if raw is None or isinstance(raw, bool):
        return json.dumps(raw)
    return f"{raw:g}" if isinstance(raw, float) else f"'{one_line(printable(str(raw)), width)}'"


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, _NoNumber) and not is_blank(value)
