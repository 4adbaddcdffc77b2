"""What becomes of the units that a splitter gave: each comes back, in order, with its fate."""

from collections.abc import Mapping, Sequence

from vivavoce.core.text import is_blank, one_line, printable
from vivavoce.facts.alterations import why_changed
from vivavoce.facts.answer_words import AnswerWords, content_words
from vivavoce.facts.claims import why_no_claim
from vivavoce.facts.cleaning import sentence_key
from vivavoce.facts.fact import Answer, Fact, Fate
from vivavoce.facts.splitters import NoClaim
from vivavoce.language.invariants import invariants
from vivavoce.language.words import clinical_tokens

MOST = 200
"""Units of an answer that are checked: an answer of 256 tokens has about 30."""
STRANGE = 0.5
"""Share of a unit's content words above which, where neither answer nor question has them, it is foreign."""
ALIKE = 0.9
"""Share of words in common from which two units with the same numbers and negations are much alike."""


def settle(units: Sequence[str], answer: Answer, *, most: int = MOST) -> tuple[Fact, ...]:
    """Every unit with its fate, numbered from 1 in the order in which they came; of all the first that fits.

    `empty`: it holds no letter and no digit. `no_claim`: the splitter marked it so, or the rules of
    `facts.claims` do. `repeated`: its key (`sentence_key`, with the numbers) is that of an earlier unit.
    `surplus`: `most` units before it are checked; such a unit is not compared with the answer. `foreign`:
    more than half of its content words stand in neither answer nor question, or all that it says stands in
    the question alone. `changed`: see `facts.alterations`. Every other unit is `checked`, with a `reason`
    only where it is much like an earlier one, which is kept. Empty for no units. The rules are made for
    English; in other languages a unit is rather checked than set aside, but for numbers.
    """
    words = AnswerWords(answer)
    facts: list[Fact] = []
    first_of: dict[str, int] = {}
    alike = _Alike()
    checked = 0
    for number, unit in enumerate(units, 1):
        fate, reason = _alone(unit, first_of)
        first_of.setdefault(sentence_key(unit), number)
        if fate == "checked" and checked >= most:
            fate, reason = "surplus", f"beyond the {most} units of an answer that are checked"
        elif fate == "checked":
            fate, reason = _against(unit, words)
        if fate == "checked":
            checked += 1
            earlier = alike.earlier(number, unit)
            reason = f"much like unit {earlier}" if earlier else None
        facts.append(Fact(number, str(unit), fate, reason))
    return tuple(facts)


def _alone(unit: str, first_of: Mapping[str, int]) -> tuple[Fate, str | None]:
    """The fate of a unit by itself and by those before it."""
    if is_blank(unit):
        return "empty", "it holds no word"
    if isinstance(unit, NoClaim):
        return "no_claim", unit.why
    if (earlier := first_of.get(sentence_key(unit))) is not None:
        return "repeated", f"unit {earlier} says it"
    reason = why_no_claim(unit)
    return ("no_claim", reason) if reason else ("checked", None)


def _against(unit: str, words: AnswerWords) -> tuple[Fate, str | None]:
    """The fate of a unit by its answer."""
    if reason := _why_foreign(unit, words):
        return "foreign", reason
    reason = why_changed(unit, words)
    return ("changed", reason) if reason else ("checked", None)


def _why_foreign(unit: str, words: AnswerWords) -> str | None:
    content = content_words(unit)
    strange = [word for word in content if not words.words.holds(word)]
    unknown = [word for word in strange if not words.question_words.holds(word)]
    if len(unknown) > STRANGE * len(content):
        named = one_line(printable(", ".join(unknown)), 60)
        return f"{len(unknown)} of its {len(content)} content words are not in answer or question: {named}"
    if content and len(strange) == len(content) and not words.agrees:
        return "none of its content words is in the answer"
    return None


class _Alike:
    """Checked units, to tell a new one from."""

    def __init__(self) -> None:
        self._by_invariants: dict[tuple[object, int], list[tuple[int, frozenset[str]]]] = {}

    def earlier(self, number: int, unit: str) -> int | None:
        """The first earlier unit that is much like this one, which is put to them; null if none is."""
        numbers, negations = invariants(unit)
        same = self._by_invariants.setdefault((numbers, len(negations)), [])
        tokens = frozenset(clinical_tokens(unit))
        near = (n for n, words in same if len(tokens & words) >= ALIKE * len(tokens | words))
        earlier = next(near, None)
        same.append((number, tokens))
        return earlier
