"""The filters of the list of answers, as the address of a page has them."""

from collections.abc import Mapping
from typing import Literal, get_args

from vivavoce.core.errors import SelectionError
from vivavoce.store.answer_pages import MOST_NUMBER, Filters

Status = Literal["ok", "filtered", "failed"]
ScoreStatus = Literal["ok", "unanswered", "unreadable", "failed", "set_aside"]


def read_filters(query: Mapping[str, str]) -> Filters:
    """The filters of a query string. Raises `SelectionError` for a value that none can have."""
    return Filters(
        benchmark=_number(query, "benchmark"),
        candidate=_number(query, "candidate"),
        measure=_number(query, "measure"),
        status=_word(query, "status", get_args(Status)),
        score_status=_word(query, "score_status", get_args(ScoreStatus)),
        text=query.get("text", "").strip()[:200],
        newest=_word(query, "newest", ("1",)),
        after=_number(query, "after"),
    )


def _number(query: Mapping[str, str], name: str) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    if not is_key(text):
        raise SelectionError(f"{name} is no number of this run: choose it on the first page.")
    return int(text)


def is_key(text: str) -> bool:
    """Whether a text of an address can be the key of a row."""
    return text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MOST_NUMBER


def _word(query: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    word = query.get(name, "")
    if word not in ("", *words):
        raise SelectionError(f"{name} is one of {', '.join(words)}: choose it on the first page.")
    return word
