"""What was said to its end in a text that a limit cut: not its last sentence, unless an end stands there.

A choice in an unfinished sentence may be taken back by the words that are missing: "the answer is A, unless".
"""

import re

from vivavoce.core.text import lazy_pattern

# A sentence's end, a line's, or the end of a box, an object, a tag or a value in JSON.
_END = lazy_pattern(
    r"""[.!?…]["'”’»)\]*_`]{0,4}(?=\s|\Z) | [。！？؟।॥]["'”’»）」』*_`]{0,4}
      | \} | </\w{1,20}> | "(?=\s{0,4},) | \n""",
    re.VERBOSE,
)
_LABEL = lazy_pattern(r"(?:\A|[\n.!?]\s{0,3})[\s*_(\[]{0,4}[A-Za-z0-9]\Z")
"""A label at the beginning of a sentence or line, as in "A. Metformin": its full stop ends none."""
# What leads from an answer to its reasons: the answer before it is complete.
_REASONS = lazy_pattern(
    r"""[,;:(\s–—-]{1,4}(?:because|since|as|due\ to|given\ that|for\ the\ reason|porque|ya\ que|dado\ que
        |debido|parce\ qu|car|puisqu|weil|da|perch[eé]|poich[eé]|omdat|want|pois|perquè|ja\ que)\b""",
    re.VERBOSE | re.IGNORECASE,
)


_FRAGMENT = lazy_pattern(r"(?<=\s)[a-z]\Z")


def without_fragment(text: str) -> str:
    """The text without a small letter at its end, which is rather the head of a word than a label."""
    return _FRAGMENT.sub("", text)


def finished_part(text: str) -> str:
    """The text up to the end of its last finished sentence or line, or to where reasons begin behind that.

    Empty where nothing in it is finished. Takes time linear in the text.
    """
    end = 0
    for match in _END.finditer(text):
        if match[0][0] != "." or not _LABEL.search(text, max(0, match.start() - 8), match.start()):
            end = match.end()
    reasons = _REASONS.search(text, end)
    return text[: reasons.start() if reasons else end].rstrip()
