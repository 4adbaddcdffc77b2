"""Two texts side by side, with the words that differ."""

import re
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

MOST_WORDS = 1_000
"""Words of each text that are compared: what comparing costs grows with their square."""
_PIECE = re.compile(r"\s+|[^\s\w]|\w+")


class Piece(NamedTuple):
    """A stretch of one text: in both, or in this one alone; `plain` was not compared."""

    text: str
    kind: Literal["both", "alone", "plain"]


def differing_words(first: str, second: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces. Case counts, white space does not; behind `MOST_WORDS` nothing is compared."""
    sides = [_words(first), _words(second)]
    heads = [words[:MOST_WORDS] for words in sides]
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    # Words that stand in every hundredth place are no anchors: without that, loops cost seconds.
    matcher = SequenceMatcher(a=[w.strip() for w in heads[0]], b=[w.strip() for w in heads[1]])
    for kind, *places in matcher.get_opcodes():
        for side, (start, end) in enumerate((places[:2], places[2:])):
            if start < end:
                text = "".join(heads[side][start:end])
                pieces[side].append(Piece(text, "both" if kind == "equal" else "alone"))
    for side, words in enumerate(sides):
        if remainder := "".join(words[MOST_WORDS:]):
            pieces[side].append(Piece(remainder, "plain"))
    return pieces


def _words(text: str) -> list[str]:
    """The words and signs of a text, each with the white space behind it; joined they are the text."""
    words: list[str] = []
    for piece in _PIECE.findall(text):
        if piece.isspace() and words:
            words[-1] += piece
        else:
            words.append(piece)
    return words
