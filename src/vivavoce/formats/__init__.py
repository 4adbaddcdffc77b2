"""Formats: how an item is asked, and how an answer to it is read.

A format is one module with a `FORMAT`; it is listed here once. Reading is a pure function of item and text,
so an answer is read when it is scored, never when it is collected. `TABLE` says what each format uses.
"""

from collections.abc import Mapping
from types import MappingProxyType

from vivavoce.errors import InputError, suggest
from vivavoce.formats import (
    listing,
    longform,
    mcq,
    multi_hop,
    multi_hop_inverse,
    short,
    short_inverse,
    true_false,
)
from vivavoce.formats.base import Format, fault
from vivavoce.formats.match import label
from vivavoce.records import Item, Reading

__all__ = ["FORMATS", "TABLE", "Format", "ask", "check", "key", "label", "read"]

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        f.name: f
        for f in (
            mcq.FORMAT,
            true_false.FORMAT,
            listing.FORMAT,
            short.FORMAT,
            short_inverse.FORMAT,
            multi_hop.FORMAT,
            multi_hop_inverse.FORMAT,
            longform.FORMAT,
        )
    }
)

TABLE: tuple[tuple[str, str, str, str], ...] = (
    ("format", "item fields", "answered", "read as"),
    *((f.name, ", ".join(f.fields), f.answered, f.read_as) for f in FORMATS.values()),
)
"""What `viva list formats` prints: a heading and a row for each format."""


def ask(item: Item, *, style: str | None = None) -> str:
    """The user prompt for an item.

    `style` is for formats with options: 'text' shows them without letters and asks for the text, 'letter'
    asks for the letter, 'both' (the default) for both. Raises `InputError` for an unknown format or style.
    """
    return _format(item).ask(item, style)


def read(item: Item, text: str) -> Reading:
    """What the item's format makes of an answer: never an exception, whatever the text.

    `parsed` is null unless the status is `ok`. Raises `InputError` only for an unknown format.
    """
    return _format(item).read(item, text)


def check(item: Item) -> Item:
    """The item in its format's normal form, or `InputError` with a sentence that names benchmark and item."""
    points = [point.unit for point in item.rubric]
    if len(set(points)) < len(points):
        raise fault(item, "two points of its rubric bear one name")
    for field in ("must", "nice"):
        if any(not text.strip() for text in getattr(item, field)):
            raise fault(item, f"a statement under {field} is blank: take it out, or say what it is")
    return _format(item).check(item)


def key(item: Item) -> str:
    """The keyed answer as a candidate would give it: options by their text, a chain with its steps.

    For examples in a prompt and for the ceiling; empty for an item that has no key.
    """
    if not (item.references or item.answer):
        return ""
    said = item.references[0] if item.references else ", ".join(item.answer)
    if item.format == "multi_hop" and item.steps:
        return f"Final answer: {said}\nReasoning: {' '.join(item.steps)}"
    return f"Step: {item.step}\nExplanation: {said}" if item.format == "multi_hop_inverse" else said


def _format(item: Item) -> Format:
    try:
        return FORMATS[item.format]
    except KeyError:
        known = tuple(FORMATS)
        raise InputError(
            f"{item.benchmark}, item {item.name!r}: no format named {item.format!r}."
            f"{suggest(item.format, known)}"
        ) from None
