"""What an endpoint's answer holds, whatever shape a stranger gave it."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from vivavoce.models import Transient, Usage
from vivavoce.text import one_line

__all__ = [
    "as_dict",
    "as_list",
    "first_choice",
    "logprobs_of",
    "same_model",
    "text_of",
    "usage_of",
    "word",
]

_MOST_TOKENS = 1 << 53
_ROUNDING = 1e-3
_VERSION = re.compile(r"[-@:_]?(?:latest|v?\d{3,8}|20\d\d-\d\d-\d\d)(?:[-:]v\d+(?::\d)?)?")
_VARIANT = re.compile(r"(?:[-:]latest|:free|:nitro|:floor|:online|:exacto)$")


def same_model(asked: str, said: str) -> bool:
    """True if `said` is `asked`, or a dated or numbered version of it; a size or a purpose is another model.

    Folders before the name (`openai/gpt-4o`) and case do not matter.
    """
    asked, said = (name.rpartition("/")[2].lower() for name in (asked, said))
    base = _VARIANT.sub("", asked)
    if said in (asked, base):
        return True
    return said.startswith(base) and said[len(base)] in "-@:_" and bool(_VERSION.fullmatch(said[len(base) :]))


def first_choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice of an answer; `Transient` where there is none."""
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Transient("the answer has no choices")
    return choices[0]


def as_dict(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """`value` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def word(value: Any) -> str | None:
    """`value` if it is a text that is not empty, else null."""
    return value if isinstance(value, str) and value else None


def text_of(content: Any) -> str | None:
    """A message's content: a text, or the texts of its parts."""
    if isinstance(content, list):
        parts = [as_dict(p).get("text") for p in content if as_dict(p).get("type") in (None, "text")]
        return "".join(p for p in parts if isinstance(p, str))
    return content if isinstance(content, str) else None


def usage_of(usage: Any, sent: str, made: str) -> Usage:
    """Tokens sent and made, by these names; null where they are no counts."""
    counted = [as_dict(usage).get(sent), as_dict(usage).get(made)]
    return Usage(*(n if type(n) is int and 0 <= n < _MOST_TOKENS else None for n in counted))


def logprobs_of(numbers: Sequence[Any]) -> tuple[float, ...] | None:
    """Log-probabilities as the endpoint gave them; null for none.

    `Transient`, naming the place, where one is missing, no number, or above 0 by more than rounding (a server
    that is set to give logits).
    """
    for place, n in enumerate(numbers, 1):
        number = isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n)
        if not number or n > _ROUNDING:
            raise Transient(
                f"a log-probability is {one_line(repr(n), 40)} (that of token {place} of {len(numbers)})"
            )
    return tuple(map(float, numbers)) or None
