"""Where a response ends: before it runs on into what nobody asked, and before a limit cut it.

Models that complete text write "B", and behind it "Question: ... Answer: C" of their own. Only the first is
the response. A choice in an unfinished sentence may be taken back by the words that are missing: "the answer
is A, unless".
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from vivavoce.core.records import Reading
from vivavoce.core.text import is_blank, lazy_pattern

_MOST = 8
"""Places at which a response is divided; what repeats itself further on is no answer any more."""
_RUN_ON = lazy_pattern(
    r"""(?P<turn>
          <\|(?:im_end|im_start|eot_id|end|endoftext|end_of_text|user|start_header_id)\|> | </s> | \[/?INST\]
        | <(?:end|start)_of_turn> | ^[#*\ ]*(?:user|human)[*]*\ ?: | ^\#+\ ?(?:user|human)\b.{0,3}$)
      | ^[#*\ ]*(?:(?:next|new|another)\ )?(?:question|statement|q|frage|pregunta|domanda|pergunta)
        (?:\ ?[\#.]?\d{0,3}[*]*\ ?:|\ \#?\d{1,3}[.)])
      | ^(?:\#+|\*\*)\ ?(?:(?:next|new|another)\ )?question\b.{0,6}$
      | ^\#{2,9}\ ?$
      | ^[#*\ ]*(?:input|output|instruction|problem|exercise|vignette|options|choices)\ ?\d{0,3}[*]*\ ?:
      | (?<=\n\n)an?\ \d{1,3}[\ -](?:year|month|week|day)s?[\ -]old\b""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_FINAL = lazy_pattern(
    r"\b(?:final|definitive)\b.{0,20}\banswer|\b(?:so|thus|therefore|hence)\b,? (?:the|my)\b.{0,20}\banswer",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """What stands before a run-on, and the rest; `turn` if a user speaks there, or a mark ends the turn."""

    head: str
    tail: str
    turn: bool


def parts(text: str) -> list[Part]:
    """The places where a response may have ended before its text does."""
    marks = list(_RUN_ON.finditer(text))[:_MOST]
    divided = [Part(text[: m.start()].rstrip(), text[m.start() :], m["turn"] is not None) for m in marks]
    return [part for part in divided if not is_blank(part.head)]


def read_first(text: str, reader: Callable[[str], Reading], settles: Callable[[str], bool]) -> Reading:
    """The reading of a response without what it runs on into.

    `reader` reads a text; `settles` is true of one with an answer behind a cue or on a line of its own. What
    stands before a new question counts if it settles on an answer. Otherwise, and where a "final answer"
    follows, the response may have asked that question itself: then all of it must agree with what stands
    before, else it is unreadable.
    """
    for part in parts(text):
        first = reader(part.head)
        is_settled = settles(part.head)
        if first.status != "unreadable" or is_settled:
            return _first_or_all(text, part, first, reader, is_settled=is_settled)
    return reader(text)


def _first_or_all(
    text: str, part: Part, first: Reading, reader: Callable[[str], Reading], *, is_settled: bool
) -> Reading:
    """The reading of the first part, or of all of the text where that may belong together."""
    if first.status != "ok" or part.turn:
        return first
    concludes = _FINAL.search(part.tail) is not None and _FINAL.search(part.head) is None
    if is_settled and not concludes:
        return first
    all_of_it = reader(text)
    if all_of_it == first or (concludes and not is_settled):
        return all_of_it
    return Reading("unreadable", reason="two answers, before and behind a question in the response")


# --- what was said to its end in a text that a limit cut

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


_FRAGMENT = lazy_pattern(r"(?<=\s)[a-z]\Z|(?<=[.!?])\s{1,3}[A-Z]\Z")


def without_fragment(text: str) -> str:
    """The text without a letter at its end that is rather the head of a word than a label.

    Such is a small one, and a capital behind a sentence.
    """
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
