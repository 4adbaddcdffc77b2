"""Closed questions put without their options: what a model is asked, and what is wrong with a wording."""

from collections.abc import Mapping
from typing import Any

from vivavoce.core.prompts import Unreadable, load
from vivavoce.core.records import Item
from vivavoce.language import languages
from vivavoce.language.invariants import numbers_beyond
from vivavoce.language.languages import refuse_other_language
from vivavoce.language.replies import boolean_of, text_of
from vivavoce.models.fencing import fenced, question_text
from vivavoce.models.requests import Request, json_request

_SHORT_KEY = 3
"""Characters up to which a key, such as a letter, may stand in a question by chance."""


def open_request(prompt: str, item: Item, language: str) -> Request:
    """Asks for the question without options, or whether that is possible at all."""
    return json_request(
        load(prompt),
        {"possible": "boolean", "question": "string", "reason": "string"},
        exact=True,
        language=languages.language(language).name,
        question=fenced("question", question_text(item)),
        right_answer=fenced("right_answer", item.answer[0]),
    )


def read_open(item: Item, fields: Mapping[str, Any], language: str) -> str:
    """An open wording; '' where the model says that there is none.

    Raises `Unreadable` for one that holds its answer, in another language, or with a number of its own.
    """
    if not boolean_of(fields, "possible"):
        return ""
    question, key = text_of(fields, "question"), item.answer[0].casefold().rstrip(". ")
    refuse_other_language(question, language)
    if len(key) > _SHORT_KEY and key in question.casefold() and key not in item.question.casefold():
        raise Unreadable("the question holds its answer")
    if added := numbers_beyond(question, f"{item.question} {' '.join(item.options)}"):
        raise Unreadable(f"a number was added: {' '.join(added[0]).strip()}")
    return question
