"""Cutting a text into passages: whole sentences, together about as long as a paragraph."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from vivavoce.language.sentences import sentence_starts
from vivavoce.retrieval.terms import CJK

MOST_WORDS = 120
"""Words of a passage. A Chinese, Japanese or Korean character counts as one."""
MOST_CHARACTERS = 1_200
"""Characters of a passage: words are long where no blank parts them."""
FULL_WORDS = 90
"""A passage of so many words ends with its paragraph."""
OVERLAP_WORDS = 30
"""The last sentence of a passage also begins the next where it has at most so many words."""

_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]{{1,40}}")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*$")


class Span(NamedTuple):
    """A piece of a text, without blanks around it, and its words."""

    start: int
    end: int
    words: int
    begins_paragraph: bool = False


def passage_spans(text: str) -> list[Span]:
    """The passages of a text in order; none for a text without words.

    Sentences are packed up to `MOST_WORDS`. A sentence is cut only where it is longer than that alone.
    """
    spans: list[Span] = []
    packed: list[Span] = []
    for sentence in _sentences(text):
        if packed and _ends_before(sentence, packed):
            spans.append(_joined(packed))
            overlap = packed[-1:] if _overlaps(packed, sentence) else []
            packed = overlap
        packed.append(sentence)
    return [*spans, _joined(packed)] if packed else spans


def _ends_before(sentence: Span, packed: list[Span]) -> bool:
    words = sum(span.words for span in packed)
    return (
        words + sentence.words > MOST_WORDS
        or sentence.end - packed[0].start > MOST_CHARACTERS
        or (sentence.begins_paragraph and words >= FULL_WORDS)
    )


def _overlaps(packed: list[Span], sentence: Span) -> bool:
    """Whether the last sentence of a passage begins the next, too."""
    last = packed[-1]
    return (
        len(packed) > 1
        and not sentence.begins_paragraph
        and last.words <= OVERLAP_WORDS
        and last.words + sentence.words <= MOST_WORDS
        and sentence.end - last.start <= MOST_CHARACTERS
    )


def _joined(packed: list[Span]) -> Span:
    return Span(packed[0].start, packed[-1].end, sum(span.words for span in packed))


def _sentences(text: str) -> Iterator[Span]:
    """The sentences with a word in them; one that is longer than a passage comes in pieces."""
    for start, end in pairwise([*sentence_starts(text, wrapped=True), len(text)]):
        begins = start == 0 or bool(_PARAGRAPH.search(text, max(0, start - 100), start))
        for a, b in _pieces(text, start, end):
            piece = text[a:b]
            a += len(piece) - len(piece.lstrip())
            words = sum(1 for _ in _WORD.finditer(text, a, b))
            if words:
                yield Span(a, a + len(text[a:b].rstrip()), words, begins)
                begins = False


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A sentence in pieces of at most `MOST_WORDS` and `MOST_CHARACTERS`, cut before words if it has any."""
    words = 0
    for word in _WORD.finditer(text, start, end):
        if words == MOST_WORDS or (words and word.end() - start > MOST_CHARACTERS):
            yield from _slices(start, word.start())
            start, words = word.start(), 0
        words += 1
    yield from _slices(start, end)


def _slices(start: int, end: int) -> Iterator[tuple[int, int]]:
    """Long runs of signs that are no words, cut hard."""
    yield from ((k, min(k + MOST_CHARACTERS, end)) for k in range(start, end, MOST_CHARACTERS))
