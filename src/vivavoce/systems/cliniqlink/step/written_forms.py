"""What a model writes for each of the seven formats, held to what the format needs, and to the passage."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from vivavoce.core.prompts import Unreadable
from vivavoce.language.invariants import either_holds
from vivavoce.language.replies import text_of, texts_of
from vivavoce.models.requests import TEXTS

Fields = Mapping[str, Any]
_N_OPTIONS = 4
_BLANKS = re.compile(r"\s+")
_NUMBERED = re.compile(r"^\W*step\s*\d+\s*[:.)-]\s*", re.IGNORECASE)


class Form(NamedTuple):
    """A format: what a model is asked for, and how its reply becomes fields of an item."""

    fields: Mapping[str, Any]
    parse: Callable[[Fields], dict[str, Any]]


def find_quote(quote: str, passage: str) -> tuple[int, int]:
    """Where a quote stands in a passage, word for word; kinds of blanks and line ends do not count.

    Raises `Unreadable` where it does not stand there, or is no more than three words.
    """
    words = quote.split()
    if len(words) <= 3:
        raise Unreadable("the quote is no more than three words")
    match = re.search(r"\s+".join(map(re.escape, words)), passage)
    if match is None:
        raise Unreadable("the quote does not stand in the passage word for word")
    return match.span()


def _true_false(fields: Fields) -> dict[str, Any]:
    answer = str(fields.get("answer")).strip().casefold()
    if answer not in ("true", "false"):
        raise Unreadable("'answer' is neither True nor False")
    return {"answer": (answer.capitalize(),)}


def _choice(fields: Fields) -> dict[str, Any]:
    options, answers = texts_of(fields, "options"), texts_of(fields, "answers")
    _distinct(options)
    if len(options) != _N_OPTIONS:
        raise Unreadable(f"{len(options)} options, and {_N_OPTIONS} were asked for")
    if len(answers) != 1:
        raise Unreadable(f"{len(answers)} right options, and one was asked for")
    return {"options": options, "answer": _among(answers, options)}


def _list(fields: Fields) -> dict[str, Any]:
    options, answers = texts_of(fields, "options"), texts_of(fields, "answers")
    _distinct(options)
    if not 2 <= len(set(answers)) < len(options) or len(options) < _N_OPTIONS:
        raise Unreadable(
            f"{len(answers)} right options of {len(options)}: at least 2 of {_N_OPTIONS} or more, and not all"
        )
    return {"options": options, "answer": _among(answers, options)}


def _distinct(options: tuple[str, ...]) -> None:
    if len({option.casefold() for option in options}) < len(options):
        raise Unreadable("two of the options are the same")


def _among(answers: tuple[str, ...], options: tuple[str, ...]) -> tuple[str, ...]:
    """The answers in the words of the options."""
    by_text = {option.casefold(): option for option in options}
    absent = [answer for answer in answers if answer.casefold() not in by_text]
    if absent:
        raise Unreadable(f"the right answer {absent[0][:60]!r} is none of the options")
    return tuple(dict.fromkeys(by_text[answer.casefold()] for answer in answers))


def _short(fields: Fields) -> dict[str, Any]:
    return {"references": (text_of(fields, "answer"),)}


def _short_inverse(fields: Fields) -> dict[str, Any]:
    false, right = text_of(fields, "false_answer"), text_of(fields, "right_answer")
    if _BLANKS.sub(" ", false).casefold() == _BLANKS.sub(" ", right).casefold() or either_holds(false, right):
        raise Unreadable("the false answer holds the right one")
    return {"false_answer": false, "references": (text_of(fields, "explanation"),)}


def _multi_hop(fields: Fields) -> dict[str, Any]:
    return {"references": (text_of(fields, "answer"),), "steps": _steps(fields)}


def _multi_hop_inverse(fields: Fields) -> dict[str, Any]:
    steps, wrong = _steps(fields), fields.get("wrong_step")
    if not isinstance(wrong, int) or isinstance(wrong, bool) or not 1 <= wrong <= len(steps):
        raise Unreadable(f"'wrong_step' is no number from 1 to {len(steps)}")
    false = text_of(fields, "false_answer")
    return {
        "steps": steps, "step": wrong, "false_answer": false, "references": (text_of(fields, "explanation"),)
    }  # fmt: skip


def _steps(fields: Fields) -> tuple[str, ...]:
    steps = tuple(_NUMBERED.sub("", step) for step in texts_of(fields, "steps"))
    if len(steps) < 2:
        raise Unreadable(f"{len(steps)} steps, and at least 2 are needed")
    return steps


_COMMON = {"question": "string", "quote": "string"}
_CHOICE = {"options": TEXTS, "answers": TEXTS}
FORMS = {
    "true_false": Form({**_COMMON, "answer": "string"}, _true_false),
    "mcq": Form({**_COMMON, **_CHOICE}, _choice),
    "list": Form({**_COMMON, **_CHOICE}, _list),
    "short": Form({**_COMMON, "answer": "string"}, _short),
    "short_inverse": Form(
        {**_COMMON, "right_answer": "string", "false_answer": "string", "explanation": "string"},
        _short_inverse,
    ),
    "multi_hop": Form({**_COMMON, "answer": "string", "steps": TEXTS}, _multi_hop),
    "multi_hop_inverse": Form(
        {
            **_COMMON,
            "false_answer": "string",
            "steps": TEXTS,
            "wrong_step": "integer",
            "explanation": "string",
        },
        _multi_hop_inverse,
    ),
}
"""The seven formats of ClinIQLink (section 3.4), by our name."""
