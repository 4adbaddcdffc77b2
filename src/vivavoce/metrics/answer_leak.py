"""Answer leak: does an explanation say which option is right, instead of why?

A text that says "the answer is 2", or that says the right option word for word, helps an examiner to pick it
and explains nothing: overlap of words alone orders the sources of Ranking over Scoring as its trained
evaluators do. Rules find it, in English, Spanish, French and Italian; no model is asked.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from vivavoce.core.records import Criterion, Item, Row, Value
from vivavoce.core.registry import metric
from vivavoce.core.text import one_line, printable
from vivavoce.language.scripts import WORD
from vivavoce.metrics import Metric, ScoringContext
from vivavoce.reading.answer_mentions import AnswerMention, answer_mentions

MOST_QUOTES = 3
"""Places that a note quotes; the others are counted."""


@metric("answer_leak", version=2)
class AnswerLeak(Metric):
    """Share of explanations that give the answer away; lower is better.

    `names_answer`: 1 if a statement says which option is right ("the correct option is C", "(Answer 4
    correct)", "the answer is X"), whether it is or not. `numbers_options`: 1 if an option is named by number
    or letter, or all at once. `repeats_option`: 1 if the text of the right option stands word for word, case,
    accents and punctuation aside, and that of no other does; set aside where the right option is a number or
    a letter, which any dose could repeat. `parts` of each hold how often. The note quotes what was found, and
    at which character.
    """

    criteria = tuple(
        Criterion(criterion=name, direction="lower", if_unanswered="set_aside")
        for name in ("names_answer", "numbers_options", "repeats_option")
    )
    formats = ("argument",)
    needs = ("options", "answer")

    def values(self, rows: Sequence[Row], context: ScoringContext) -> Sequence[Mapping[str, Value]]:
        """1.0 or 0.0 for each row and criterion."""
        return [self._values(row.item, row.reading.text, context) for row in rows]

    def _values(self, item: Item, text: str, context: ScoringContext) -> dict[str, Value]:
        mentions = context.once(_mentions, text)
        return {
            "names_answer": _mentioned([m for m in mentions if m.kind == "answer"]),
            "numbers_options": _mentioned([m for m in mentions if m.kind != "answer" or m.named]),
            "repeats_option": _repeated(item, context.once(_words, text)),
        }


def _mentions(text: str) -> tuple[AnswerMention, ...]:
    return tuple(answer_mentions(text))


def _mentioned(mentions: Sequence[AnswerMention]) -> Value:
    quotes = [f"at {m.start}: {one_line(printable(m.quote), 60)}" for m in mentions[:MOST_QUOTES]]
    more = [f"{len(mentions) - MOST_QUOTES:,} more"] if len(mentions) > MOST_QUOTES else []
    return Value(float(bool(mentions)), {"places": float(len(mentions))}, "; ".join(quotes + more) or None)


_WORD = re.compile(rf"{WORD}(?:[.,]\d+)*")
_ACCENTS = str.maketrans("áàâäãéèêëíìîïóòôöõúùûüñç", "aaaaaeeeeiiiiooooouuuunc")


@lru_cache(maxsize=4096)
def _option_words(text: str) -> tuple[str, ...]:
    return _words(text)


def _words(text: str) -> tuple[str, ...]:
    """The words of a text without case, accents and punctuation; a number keeps its decimals."""
    return tuple(word.lower().translate(_ACCENTS) for word in _WORD.findall(text))


def _repeated(item: Item, words: Sequence[str]) -> Value:
    """Whether the right option alone stands in the words; an option within a longer one does not count."""
    right = _option_words(item.answer[0])
    if not any(len(word) > 1 and not word[0].isdigit() for word in right):
        return Value(None, note="the right option is a number or a letter", status="set_aside")
    options = {right, *map(_option_words, item.options)} - {()}
    counts = _standing(words, options)
    n, others = counts[right], sum(count > 0 for option, count in counts.items() if option != right)
    note = f"{n:,} x {one_line(printable(item.answer[0]), 60)}"
    if others:
        note += f", and other options too: {others:,}"
    return Value(
        float(n > 0 and not others), {"places": float(n), "others": float(others)}, note if n else None
    )


def _standing(words: Sequence[str], options: set[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    """How often each option stands in the words, the longest first; none within another."""
    by_head: dict[str, list[tuple[str, ...]]] = {}
    for option in sorted(options, key=lambda option: (-len(option), option)):
        by_head.setdefault(option[0], []).append(option)
    counts = dict.fromkeys(options, 0)
    k = 0
    while k < len(words):
        for option in by_head.get(words[k], ()):
            if tuple(words[k : k + len(option)]) == option:
                counts[option] += 1
                k += len(option) - 1
                break
        k += 1
    return counts
