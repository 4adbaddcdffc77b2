"""Answers in JSON, bare or fenced: the value under an answer key."""

import json
import re
from typing import Any

__all__ = ["values"]

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
    found = _parse(text)
    if found is None and "```" in text:
        for block in reversed(_FENCE.findall(text)):
            found = _parse(block)
            if found is not None:
                break
    return None if found is None else _flat(found)


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
