"""Texts out of tables: questions, answers and notes give way to marks; numbers, ids and labels stay."""

import json
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vivavoce.privacy import redacted

if TYPE_CHECKING:
    import polars as pl


TEXTS = (
    *("question", "options", "answer", "references", "must", "nice", "steps", "false_answer", "context"),
    *("source", "text", "final", "logprobs", "reasoning", "error", "note", "quote"),
)
"""The columns whose texts are replaced."""
_JSON = ("meta", "parts", "rubric", "messages")
"""The columns of JSON: the texts in it are replaced, names of fields and numbers stay."""
PLAIN_UNIT = re.compile(r"[A-Za-z]{0,8}[ _-]?\d{0,6}")
"""Names of units that are numbers of points, steps and sentences, not words of an answer."""
_LOG = "of_run"
"""What the log of another tool says of its run: labels of prompts may be the prompts themselves."""
_TEXTS_OF_SETTINGS = frozenset({"system", "prompt", "criterion", "note", "text", "error", _LOG})
"""Settings of verbs in which a user's own words stand."""


def redactor() -> "Callable[[pl.DataFrame], pl.DataFrame]":
    """What replaces the texts of one table after the other, see `privacy.redacted`.

    One key is made for all of them and then forgotten: equal texts have equal marks in these tables, and
    nobody can try out texts afterwards. Null stays null, and an empty text empty: that nothing was said is no
    secret.
    """
    key = secrets.token_bytes(32)

    def redact(text: str) -> str:
        return redacted(text, key) if text else text

    def unit_name(name: str) -> str:
        return name if PLAIN_UNIT.fullmatch(name) else redact(name)

    def several(texts: Any) -> list[str]:
        return [redact(text) for text in texts]

    def inside(value: Any) -> Any:
        if isinstance(value, str):
            return redact(value)
        if isinstance(value, dict):
            return {name: inside(x) for name, x in value.items()}
        return [inside(x) for x in value] if isinstance(value, list) else value

    def nested(text: str) -> str:
        return json.dumps(inside(json.loads(text)), ensure_ascii=False)

    def table(frame: "pl.DataFrame") -> "pl.DataFrame":
        import polars as pl

        columns = []
        for name, kind in frame.schema.items():
            if name in TEXTS and isinstance(kind, pl.List):
                columns.append(pl.col(name).map_elements(several, return_dtype=pl.List(pl.String)))
            elif name in TEXTS and kind == pl.String:
                columns.append(pl.col(name).map_elements(redact, return_dtype=pl.String))
            elif name == "unit" and kind == pl.String:
                columns.append(pl.col(name).map_elements(unit_name, return_dtype=pl.String))
            elif name in _JSON and kind == pl.String:
                columns.append(pl.col(name).map_elements(nested, return_dtype=pl.String))
        return frame.with_columns(columns)

    return table


def without_words_of_users(value: Any, name: str = "") -> Any:
    """Settings without the texts among them: those of these names, and all that stands under `of_run`."""
    if isinstance(value, dict):
        inner = _LOG if name == _LOG else ""
        return {key: without_words_of_users(entry, inner or key) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_words_of_users(entry, name) for entry in value]
    return "[redacted]" if isinstance(value, str) and value and name in _TEXTS_OF_SETTINGS else value
