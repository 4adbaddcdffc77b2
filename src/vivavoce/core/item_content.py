"""What an item says, so that questions that say the same are told apart from others."""

import hashlib
import json
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.core.text import SIGNS, raised_as_powers

_MEANINGFUL = re.compile(
    r"""(
    [.,:*!%‰/&-] (?:
      (?<=[%‰/&])
    | (?<=\d[.,:])(?=\d)             # 0.5 is not 05, and 1:1000 is no 1 and 1000
    | (?<=\.)(?<!\w\.)(?=\d)        # .5
    | (?<=\d-)(?=[ ]?\d) | (?<=\d[ ]-)(?=[ ]\d)   # 5-10, 5 - 10
    | (?<=-)(?<![^\W_]-)(?=\d)       # -2; but HIV-1 is HIV 1
    | (?<=[^\W_]-)(?=[ .,;:)/]|$)    # CD4- is not CD4
    | (?<=\w\*)(?=\w)               # B*57
    | (?<=!)(?==)
    ))""",
    re.VERBOSE,
)
"""Punctuation that is part of what a question says."""
_SIGN = re.compile(f"[{''.join(map(chr, SIGNS))}]")
_FRACTION = re.compile("[¼-¾⅐-⅞](?<=[0-9].)")
_WORD = re.compile(r"\d+|[<>=+|~^$]")
_MEDIA = re.compile(
    "(?:(?<![A-Za-z])|(?=[A-Z]))"
    "(?i:images?|img|pictures?|photos?|figures?|attachments?|media|audio|videos?)(?![a-z])"
)
"""Names of fields of `meta` that hold what is shown beside the text."""


class _Spacing(dict[int, str | None]):
    """What stands for a character: punctuation is a space, an apostrophe nothing, a symbol a word."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        kind = unicodedata.category(character)
        spaced: str | None = character
        if character in "'’‘" or kind == "Cf":
            spaced = None
        elif kind[0] in "PZ" or kind == "Cc" or character == "`":
            spaced = " "
        elif kind[0] == "S" and not character.isascii():  # `_WORD` spaces the others, which is faster
            spaced = f" {character} "
        self[code] = spaced
        return spaced


_SPACING = _Spacing()


def content_text(text: str) -> str:
    """A text without case, spaces and punctuation, for telling whether two questions are the same.

    Words stay apart ("a symptomatic patient" is no asymptomatic one), as do numbers and their units ("5mg" is
    "5 mg"). Signs that say something stay: a decimal point, a minus before a number, a range, a ratio, a
    percentage, a slash, comparators and all other symbols. '' where nothing is left.
    """
    if not text.isascii():
        text = raised_as_powers(_FRACTION.sub(r" \g<0>", _SIGN.sub(lambda sign: SIGNS[ord(sign[0])], text)))
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = text.replace("\u2044", "/")  # ½ is 1/2
    pieces = _MEANINGFUL.split(" ".join(text.casefold().split()))
    pieces[::2] = [piece.translate(_SPACING) for piece in pieces[::2]]
    return " ".join(_WORD.sub(r" \g<0> ", " ".join(pieces)).split())


class Content(NamedTuple):
    """What an item says, as digests: question, options and context; and its exhibit, empty without one.

    The exhibit is what a format shows after the question: a false answer, or a chain with a wrong step.
    """

    text: bytes
    exhibit: bytes


def content_of(
    question: str,
    options: Sequence[str],
    context: str | None,
    *,
    exhibit: Sequence[str] = (),
    meta: Mapping[str, Any] = {},
) -> Content | None:
    """The content of an item; null where question and context hold no letter, digit or symbol.

    Options count as a set: in another order they are the same question. Fields of `meta` named like images
    and attachments are part of the content. The key and the references are not, nor is the format.
    """
    texts = content_text(question), content_text(context or "")
    if not any(texts):
        return None
    text = [*texts, sorted(map(content_text, options)), media_of(meta)]
    return Content(_digest(text), _digest(list(map(content_text, exhibit))) if exhibit else b"")


def media_of(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `meta` that hold what is shown beside the text, by name."""
    return {name: meta[name] for name in sorted(meta) if _MEDIA.search(name) and meta[name]}


def _digest(texts: Sequence[Any]) -> bytes:
    return hashlib.blake2b(json.dumps(texts, default=str).encode(), digest_size=16).digest()


def exhibit_of(false_answer: str | None, steps: Sequence[str], step: int | None) -> tuple[str, ...]:
    """A false answer, and a chain with a wrong `step`; without a wrong step, the chain belongs to the key."""
    return (*([false_answer] if false_answer else ()), *(steps if step is not None else ()))


class Hashed(ABC):
    """A record with a hash of its content, which is made once, since no field changes."""

    __slots__ = ("_hash",)
    _hash: str

    @property
    def hash(self) -> str:
        """The hash of what candidate or examiner sees."""
        if not hasattr(self, "_hash"):
            object.__setattr__(self, "_hash", self._hash_of_content())
        return self._hash

    @abstractmethod
    def _hash_of_content(self) -> str:
        """The hash, made anew."""
