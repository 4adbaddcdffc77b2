"""Strangers' texts in Markdown: their characters, and no markup, mention or link."""

import re

from vivavoce.core.text import xml_text

_MARKUP = re.compile(r"([\\`*_{}\[\]|~$!])")
_WORD_JOINER = "\u2060"
"""Seen by nobody. It keeps @name, #1 and a bare address from becoming a mention or a link."""


def markdown(text: str) -> str:
    """A stranger's text as one line of Markdown that means its characters and nothing else."""
    flat = " ".join(xml_text(text).split())
    flat = _MARKUP.sub(r"\\\1", flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    flat = re.sub(r"^([-+=]+|\d+[.)])(?=\s|$)", rf"{_WORD_JOINER}\1", flat)
    flat = re.sub(r"([@#])", rf"\1{_WORD_JOINER}", flat)
    return re.sub(r"(?i)(:)(?=//)|(www)(?=\.)", rf"\1\2{_WORD_JOINER}", flat)


def code_span(text: str) -> str:
    """A text to be copied, on one line; a fence longer than any in it."""
    flat = " ".join(xml_text(text).split())
    fence = "`" * (1 + max(map(len, re.findall("`+", flat)), default=0))
    return f"{fence} {flat} {fence}"
