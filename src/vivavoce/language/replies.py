"""A model's reply as an object: the JSON in it, bare, fenced or amid prose, or why it is unreadable.

Nothing is guessed: of two values for one name both are kept, numbers are doubles, and what only begins like
an object is counted, so that time is linear in the length of the reply.
"""

import html
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

from vivavoce.core.prompts import Unreadable
from vivavoce.core.text import is_blank, one_line, printable, spoken
from vivavoce.language.characters import in_one_form

REPEATED = "only what it repeats of the texts that it was shown could be the answer"
"""Why a reply is unreadable whose values may all be quotations: a part of the reason."""
LONGEST = 200_000
"""Characters of a reply in which `read_object` still looks for its object."""
_SPELLED = re.compile(r"(?:(?<![\w.)\]])-)?[0-9]+(?:\.[0-9]+)?|[^\W_]+|[{}\[\]:=|>]")
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,15}(?:\.[0-9]{1,15})?\s*")
_DOTS = re.compile(r"\.{2,}|…")
_DEEPEST = 8
"""Objects and lists within one another that are compared with those shown."""
_ATTEMPTS = 200
"""Braces in a text shown that may open no object before it is read no further."""
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

    The rule. An object of a reply is a quotation where all its entries stand in one and the same object that
    was shown, an inner one too: in any order, numbers by their value, texts in part or cut with dots, some
    entries left out, none added. So an object with an entry more, such as a reason in words of its own, is
    the model's, whatever value it has in common with one shown; objects within it are held against the rule
    by themselves. A line or a tag with a value is a quotation where a whole line, or a tag, that was shown
    has the same label and the same value: "GCS score: 3" is not "Score: 3". A reply that is one word, one
    number or one order is none: whoever is asked for "A" or "B" has no other word.

    Words are compared whatever their case, white space, escapes, quotation marks and commas: a quotation
    seldom keeps these.
    """

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = tuple(texts)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts, escapes undone and with one character for all that look the same."""
        return tuple(in_one_form(html.unescape(text)) for text in self._texts)

    @cached_property
    def _spelled(self) -> tuple[str, ...]:
        return tuple(map(_spelling, self._texts))

    @cached_property
    def _objects(self) -> Mapping[Any, Sequence[Mapping[str, list[Any]]]]:
        """The objects shown, by each of their entries: its name, and its value where that is a number."""
        by_entry: dict[Any, list[Mapping[str, list[Any]]]] = {}
        for pairs in _every_object(self.texts):
            entries: dict[str, list[Any]] = {}
            for key, value in pairs:
                entries.setdefault(_spelling(key), []).append(_comparable(value))
            for entry in {_place(key, value) for key, values in entries.items() for value in values}:
                by_entry.setdefault(entry, []).append(entries)
        return by_entry

    def hold(self, part: str) -> bool:
        """Whether the words of a part of a reply stand in one of the texts."""
        spelled = _spelling(part)
        return bool(spelled.strip()) and any(spelled in text for text in self._spelled)

    def hold_object(self, pairs: Pairs) -> bool:
        """Whether an object of a reply is a quotation by the rule; entries without a word are passed over."""
        entries = [(_spelling(key), _comparable(value)) for key, value in pairs]
        entries = [(key, value) for key, value in entries if value not in (None, ())]
        return bool(entries) and any(
            all(any(_stands_in(value, full) for full in candidate.get(key, ())) for key, value in entries)
            for candidate in self._objects.get(_place(*entries[0]), ())
        )


def _spelling(text: str) -> str:
    words = _SPELLED.findall(in_one_form(html.unescape(text)).translate(_SEPARATORS))
    return f" {' '.join(words).casefold()} "


def _every_object(texts: Iterable[str]) -> Iterator[Pairs]:
    """The JSON objects of some texts, inner ones too."""
    for text in texts:
        stack: list[Any] = []
        with suppress(Unreadable):
            stack += (place.pairs for place in objects(text, attempts=_ATTEMPTS))
        while stack:
            value = stack.pop()
            if isinstance(value, Pairs):
                yield value
                stack += (inner for _, inner in value)
            elif isinstance(value, list):
                stack += value


def _comparable(value: Any, depth: int = 0) -> Any:
    """A JSON value as it is compared: a number, the pieces of a text, a list, or an object as a dictionary.

    Null for null and for what lies too deep; a text without a word has no pieces.
    """
    if value is None or depth > _DEEPEST:
        return None
    if isinstance(value, Pairs):
        return {_spelling(key): _comparable(inner, depth + 1) for key, inner in value}
    if isinstance(value, list):
        return [_comparable(inner, depth + 1) for inner in value]
    text = json.dumps(value) if isinstance(value, bool) else value
    if isinstance(text, float) or _NUMBER.fullmatch(text):
        return float(text)
    return tuple(filter(str.strip, map(_spelling, _DOTS.split(text))))


def _place(key: str, value: Any) -> tuple[str, float | None]:
    return key, value if isinstance(value, float) else None


def _stands_in(part: Any, full: Any) -> bool:
    """Whether a comparable value is the same as another, or of texts and objects a part of it."""
    if type(part) is not type(full):
        return False
    if isinstance(part, dict):
        return part.keys() <= full.keys() and all(_stands_in(part[key], full[key]) for key in part)
    if isinstance(part, list):
        return len(part) == len(full) and all(map(_stands_in, part, full))
    if isinstance(part, tuple):
        return all(piece in "".join(full) for piece in part)
    return bool(part == full)


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
        if material.hold_object(place.pairs):
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
