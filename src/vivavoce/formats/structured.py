"""Answers in JSON, bare or fenced: the value under an answer key."""

import ast
import json
import re
from contextlib import suppress
from typing import Any

from vivavoce.formats.sections import split_steps

__all__ = ["entries", "entry", "listed", "values"]

_FENCE = re.compile(r"```[a-zA-Z]{0,10}[ \t]*\n(.*?)```", re.DOTALL)
_KEY = re.compile(
    r"(?:final|correct|selected|chosen|my|best|predicted)?[ _-]*"
    r"(?:answers?|options?|choices?|selections?|selected|response|result|results|verdict|prediction|letters?"
    r"|labels?|respuesta|reponse|réponse|antwort|risposta|resposta)"
    r"(?:[ _-]*(?:letters?|text|option|choice|key|value))?",
    re.IGNORECASE,
)


def values(text: str) -> list[Any] | None:
    """What a JSON answer holds: strings, numbers and booleans; None if `text` is no JSON object or array.

    Of an object the values under answer keys count ("answer", "final_answer", "choice"), or else every entry
    as "key: value". The last fenced block is read where the text around it is prose.
    """
    found = _found(text)
    return None if found is None else _flat(found)


def _found(text: str) -> Any:
    found = _parse(text)
    if found is None and "```" in text:
        for block in reversed(_FENCE.findall(text)):
            found = _parse(block)
            if found is not None:
                break
    return found


_LITERAL_LIMIT = 20_000
_FIELDS = {
    "answer": re.compile(r"(?:final|correct|short|my|the)?[ _-]*(?:answer|conclusion|result)", re.IGNORECASE),
    "reasoning": re.compile(
        r"(?:step[ _-]by[ _-]step)?[ _-]*(?:reasoning|steps|rationale|explanation|logic"
        r"|chain[ _-]of[ _-]thought)(?:[ _-]*(?:steps|chain|process))?",
        re.IGNORECASE,
    ),
    "explanation": re.compile(
        r"(?:(?:incorrect|wrong|error|reasoning|step|the|correct)[ _-]*){0,4}"
        r"(?:explanation|reason|rationale|justification|why|reasoning|text)",
        re.IGNORECASE,
    ),
    "step": re.compile(
        r"(?:(?:incorrect|wrong|faulty|flawed|erroneous|error|reasoning|inference|identified|first|the)"
        r"[ _-]*){0,5}(?:step|hop)s?(?:[ _-]*(?:number|no|index|id|num))?",
        re.IGNORECASE,
    ),
}


def entries(text: str) -> dict[str, Any] | None:
    """The entries of a JSON object, bare or fenced, also the only one in an array; None if there is none."""
    found = _found(text)
    if found is None and text[:1] == "{" and text[-1:] == "}" and len(text) <= _LITERAL_LIMIT:
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            found = ast.literal_eval(text)  # as Python prints a dict
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, dict) and len(found) == 1 and isinstance(only := next(iter(found.values())), dict):
        found = only
    return found if isinstance(found, dict) and found else None


def entry(found: dict[str, Any], field: str) -> str | None:
    """What stands under the last key that names `field`, as text; None if there is none, or it is null."""
    texts = [_text(value) for key, value in found.items() if _FIELDS[field].fullmatch(str(key).strip())]
    given = [text for text in texts if text is not None]
    return given[-1] if given else None


def listed(found: dict[str, Any], field: str) -> tuple[str, ...]:
    """The entries of the list under a key that names `field`; a text is split into steps."""
    for key, value in found.items():
        if _FIELDS[field].fullmatch(str(key).strip()) and value is not None:
            entries_ = list(value.values()) if isinstance(value, dict) else value
            if isinstance(entries_, list):
                return tuple(" ".join(split_steps(t)) for v in entries_ if (t := _text(v)) and split_steps(t))
            return split_steps(_text(value) or "")
    return ()


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return ", ".join(str(leaf) for leaf in _leaves(value) if leaf is not None)
    return str(value)


def _parse(text: str) -> Any:
    text = text.strip()
    if not (text[:1] in {"{", "["} and text[-1:] in {"}", "]"}):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, (dict, list)) else None


def _flat(found: Any) -> list[Any]:
    if isinstance(found, list):
        return [
            leaf for entry in found for leaf in (_flat(entry) if isinstance(entry, (dict, list)) else [entry])
        ]
    keyed = {
        key: value for key, value in found.items() if _KEY.fullmatch(str(key).strip()) and value is not None
    }
    if keyed:
        return [leaf for value in keyed.values() for leaf in _leaves(value)]
    if all(isinstance(value, bool) for value in found.values()):
        return [key for key, value in found.items() if value]
    if len(found) == 1 and isinstance(only := next(iter(found.values())), (dict, list)):
        return _flat(only)
    return [f"{key}: {value}" for key, value in found.items() if not isinstance(value, (dict, list, bool))]


def _leaves(found: Any) -> list[Any]:
    """Every value below an answer key, whatever it is called: {"letter": "B", "text": "Heparin"}."""
    if isinstance(found, dict):
        if found and all(isinstance(value, bool) for value in found.values()):
            return _flat(found)
        found = list(found.values())
    return [leaf for entry in found for leaf in _leaves(entry)] if isinstance(found, list) else [found]
