"""Long answers checked fact by fact: clean the text, split it into facts, check each against evidence.

    from vivavoce.facts import clean, verdict

    cleaned = clean(question, response, finish_reason="length")
    word = verdict("Not true.")  # false

Pure functions of text, requests and readers: whoever scores asks the models. Names are loaded on first use.
"""

from importlib import import_module
from typing import Any

_HOMES = {"clean": "cleaning", "verdict": "verdict_words"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'vivavoce.facts' has no attribute {name!r}")
    return getattr(import_module(f"vivavoce.facts.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(_HOMES)
