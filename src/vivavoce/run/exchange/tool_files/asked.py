"""How other tools are shown an item: as messages, as options with letters, under an id of its own."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from vivavoce.core.conversations import as_rows
from vivavoce.core.records import Item
from vivavoce.core.text import label
from vivavoce.formats.base import with_context

_LETTERS = 26
_LONGEST_ID = 150
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]|(?<![^/])\.\.?(?![^/])")


def messages_of(item: Item) -> list[dict[str, str]]:
    """The conversation that asks an item: its messages, else one of the user behind its context."""
    if item.messages:
        return as_rows(item.messages)
    return [{"role": "user", "content": with_context(item)}]


def item_ids(items: Iterable[Item]) -> dict[tuple[str, str], str]:
    """By item and variant an id of its own, which may stand in a file's name."""
    ids: dict[tuple[str, str], str] = {}
    present: Counter[str] = Counter()
    for item in items:
        name = _safe_id(item)
        present[name] += 1
        while present[name] > 1:
            name = f"{name} ({present[name]})"
            present[name] += 1
        ids[item.item, item.variant] = name
    return ids


def _safe_id(item: Item) -> str:
    """The id with its variant, short and without what leads out of a folder."""
    name = f"{item.item} [{item.variant}]" if item.variant else item.item
    name = _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name).lstrip("/")
    if len(name) <= _LONGEST_ID and name:
        return name
    return f"{name[:100]}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def key_letters(item: Item) -> list[str]:
    """The keyed options by letter, by their text where there are more options than letters."""
    places = {option: place for place, option in enumerate(item.options)}
    return [
        label(place) if (place := places.get(answer, _LETTERS)) < _LETTERS else answer
        for answer in item.answer
    ]


def key_texts(item: Item) -> list[str]:
    """The key in words: the keyed options, or the references."""
    return list(item.answer or item.references)


def file_slug(text: str) -> str:
    """A name as a part of a file's name: letters, digits, dots and hyphens, 60 at most."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.")[:60] or "run"


def folder_name(text: str) -> str:
    """A name as one folder, without what leads out of it; a long one is cut, with a hash of it all."""
    safe = quote(text, safe=" ()[]=,+@~'", errors="replace")
    if len(safe) > _LONGEST_ID:
        safe = f"{safe[:100]}-{hashlib.sha256(safe.encode()).hexdigest()[:12]}"
    return safe if safe.strip(".") else safe.replace(".", "%2E")


def filled(row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a row that hold something."""
    return {name: value for name, value in row.items() if value not in (None, "", [], {}, ())}
