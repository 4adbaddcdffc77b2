"""Texts of items, answers and scores give way to marks before any exporter sees them."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from vivavoce.core.records import Item, Unit
from vivavoce.privacy import redacted
from vivavoce.privacy.redaction import PLAIN_UNIT

Hide = Callable[[str], str]
_OPEN = (
    *("benchmark", "item", "variant", "alias", "group", "category", "format", "step", "follows", "origin"),
    *("weight", "outer_groups"),
)
"""Fields of an item that hold no text of it."""


def hider() -> Hide:
    """What gives a text's mark, under a key that is then forgotten; an empty text stays empty."""
    key = secrets.token_bytes(32)
    return lambda text: redacted(text, key) if text else text


def hidden_value(value: Any, hide: Hide) -> Any:
    """A value with marks in place of its texts; numbers, null and names of fields stay.

    Of a record with a `content`, such as a message, that alone is a text.
    """
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Unit):
        return hidden_unit(value, hide)
    if isinstance(value, Mapping):
        return {name: hidden_value(entry, hide) for name, entry in value.items()}
    if hasattr(value, "_replace") and hasattr(value, "content"):
        return value._replace(content=hidden_value(value.content, hide))
    if isinstance(value, list | tuple):
        return type(value)(hidden_value(entry, hide) for entry in value)
    return value


def hidden_unit(unit: Unit, hide: Hide) -> Unit:
    """A unit with marks in place of its text, and of a name that is words."""
    name = unit.unit if PLAIN_UNIT.fullmatch(unit.unit) else hide(unit.unit)
    return replace(unit, unit=name, text=hide(unit.text))


def hidden_item(item: Item, hide: Hide) -> Item:
    """An item with marks in place of its texts: of all its fields but ids, group, category and the like."""
    names = [f.name for f in fields(item) if f.name not in _OPEN]
    return replace(item, **{name: hidden_value(getattr(item, name), hide) for name in names})
