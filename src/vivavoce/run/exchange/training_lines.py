"""Lines of files that models are trained on: JSON, one object a line, each with its question's names."""

import json
from collections.abc import Mapping
from typing import Any

from vivavoce.core.records import Item
from vivavoce.core.text import printable_json


def json_line(row: Mapping[str, Any]) -> str:
    """A row as JSON on one line, also for readers that end a line at U+2028 and U+2029."""
    text = printable_json(json.dumps(row, ensure_ascii=False, allow_nan=False))
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def question_names(item: Item, licence: str, group: str) -> dict[str, Any]:
    """What every line says of its question: answers to one group go into one split."""
    return {
        "benchmark": item.benchmark, "licence": licence, "item": item.item, "variant": item.variant,
        "category": item.category, "group": group,
    }  # fmt: skip
