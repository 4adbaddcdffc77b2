"""Keys to services: what looks like one, which are set, and how they are kept out of whatever is stored."""

import os
import re
from urllib.parse import unquote_plus

from vivavoce.models import Broken

__all__ = ["is_variable", "key_values", "keyless", "name_variable", "scrubbed"]

SHORTEST = 8
"""Characters from which the value of a variable counts as a key; a dummy such as EMPTY is a word."""
_LOOSE = re.compile(r"\b(?:sk|pk|rk|key|hf|gh[opsu]|xox[bp])[-_][\w*-]{6,}|Bearer\s+\S+", re.I)
# For answers, where HF-related and key-finding are words of medicine and no keys.
_SURE = re.compile(
    r"(?<![\w/.-])(?:(?:sk[-_]|[pr]k_(?:live|test)_|gsk_|gh[opsu]_|hf_|xox[bp]-)(?=[\w-]*\d)|AKIA|AIza)[\w-]{16,}"
    r"|Bearer\s+(?=\S*\d)[\w.~+/=-]{16,}"
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY_NAME = re.compile(r"key|token|secret|sig|passw|pwd|credential", re.I)
_variables: set[str] = set()


def name_variable(name: str) -> None:
    """Remember that a provider's key is read from this environment variable."""
    _variables.add(name)


def is_variable(name: str) -> bool:
    """True if `name` can be an environment variable's, and does not look like a key itself."""
    return bool(_VARIABLE.fullmatch(name)) and not _SURE.search(name)


def key_values() -> tuple[str, ...]:
    """The keys that are set now, in variables that a provider we know of names; longest first."""
    if not _variables:
        from vivavoce.models.providers import providers

        providers()
    values = {os.environ.get(name, "").strip() for name in _variables}
    # longest first, because one key may begin with another
    return tuple(sorted((v for v in values if len(v) >= SHORTEST), key=len, reverse=True))


def scrubbed(text: str, *, answer: bool = False) -> str:
    """`text` with `[key]` in place of each key that is set, and of what looks like one.

    An answer is a measurement, so there only what is surely a key is struck out.
    """
    for value in key_values():
        text = text.replace(value, "[key]")
    return (_SURE if answer else _LOOSE).sub("[key]", text)


def keyless(url: str) -> None:
    """Raise `Broken`, without repeating it, if a URL that names a candidate holds a key or a password."""
    held = "@" in url.partition("?")[0]
    parameters = re.split(r"[?#&;]", url)[1:]
    if held or any(_KEY_NAME.search(unquote_plus(p.partition("=")[0])) for p in parameters):
        raise Broken(
            "the url of http(url=…) holds a user, password or key, and a candidate's name is stored: take it "
            "out, and write an entry in a --providers file, whose key comes from the environment."
        )
