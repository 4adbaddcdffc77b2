"""The card that lies beside the file of a frozen exam, and says what the exam is."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.json_text import read_json
from vivavoce.core.records import Card
from vivavoce.core.tables import is_file

CARD = "card.json"
SCHEMA = "viva.frozen-exam/1"


def card_json(card: Card, exam: str, figures: Mapping[str, Any]) -> str:
    """The text of the card of the file `exam`, with figures about it."""
    body = {"schema": SCHEMA, "exam": exam, "card": asdict(card), **figures}
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def read_frozen_card(exam: Path) -> Card | None:
    """The card that lies beside this file and is about it; null where there is none.

    Raises `InputError` for a card of ours that cannot be read: without it nobody knows who wrote the exam.
    """
    path = exam.with_name(CARD)
    body = _body(path) if is_file(path) else {}
    if (body.get("schema"), body.get("exam")) != (SCHEMA, exam.name):
        return None
    try:
        names = {field.name for field in fields(Card)}
        values = {name: value for name, value in body["card"].items() if name in names}
        lists = {name: tuple(values.get(name) or ()) for name in ("faults", "writers", "group_levels")}
        return Card(**values | lists)
    except (AttributeError, KeyError, TypeError) as error:
        message = f"{path} is no card of a frozen exam any more: take it away, or freeze again."
        raise InputError(message) from error


def _body(path: Path) -> Mapping[str, Any]:
    """The object of a file; an empty one where it holds none, as files of other tools may."""
    try:
        body = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return body if isinstance(body, dict) else {}
