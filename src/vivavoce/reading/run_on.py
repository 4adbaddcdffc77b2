"""Where a response runs on into what nobody asked: a next question, or a turn of the user.

Models that complete text write "B", and behind it "Question: ... Answer: C" of their own. Only the first is
the response.
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
