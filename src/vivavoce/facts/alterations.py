"""What a unit says otherwise than the answer it comes from: numbers with units, negations, conditions.

Numbers and negations are those of `reading.invariants`, by which rewordings are checked. A unit has a part of
the answer's numbers, so they are compared as a part; and it is one of several statements of a sentence, so a
negation or a condition is compared with what it governs. Words are English; numbers are of any language.
"""

# ruff: noqa: E501 - a line of a pattern is one kind of words

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from vivavoce.core.text import one_line, printable
from vivavoce.facts.answer_words import AnswerWords, Vocabulary, content_words, vocabulary
from vivavoce.language.invariants import NEGATION, numbers_beyond

_TIMES = ("", "year", "month", "week", "day", "hour")
"""Units of numbers that may come from the question: ages, durations, and numbers of a name, as in type 2."""
_NOT_DENYING = re.compile(
    r"\bnot (?:only|just|merely|solely|necessarily)\b|\bwith or without\b|\bwhether or not\b|\bor not\b|"
    r"\bto avoid\b|\bno(?:\.|\b)(?= ?\d)|\bno (?:sooner|doubt)\b|\bnegative (?:feedback|pressure|bacteri\w+|"
    r"bacill\w+|cocc\w+|organisms?|rods?|predictive|inotrop\w+|chronotrop\w+)|\bgram[- ]negative\b",
    re.IGNORECASE,
)
_DENYING_SOFTLY = re.compile(
    r"\b(?:unless|except|prevent\w*|rul(?:e|es|ed|ing) out|exclud\w+|fail(?:s|ed|ing)?|refrain\w*|stop\w*|discontinu\w+|"
    r"withh\w+|withdraw\w*|instead|rather than|prohibit\w*|forbid\w*|forbidden|insufficient\w*|inadequate\w*|"
    r"little|few|hardly|barely|rarely|seldom|un(?!der|i[tovq])[a-z]{4,}|in(?:effective|active|adequate|capable|appropriate|"
    r"advisable|complete|operable|curable)|im(?:possible|mune|mobile)|dis(?:courag|approv|agree)\w*|wrong|false|"
    r"free|zero|neither|nor|loss|lose[sd]?|lost|missing|reject\w*|"
    r"poorly|other than|(?<!not )only|harmful|dangerous)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?:(?:\b(?:per|each|every) |/ ?|(?:(?<=times )|(?<=once )|(?<=twice )|(?<=mg )|(?<=doses )|(?<=tablets ))an? )"
    r"(?=(?:hour|day|week|month|year)\b)|\b(?=(?:hour|week|month|year|dai)ly\b))"
    r"(hour|day|week|month|year|dai)|\b([btqo])\.? ?(?:i\.? ?)?d\b"
)
_BOUNDARY = re.compile(
    r"[,;:.()–—]|\b(?:and|but|while|whereas|although|though|which|who|because|since|if|unless|so|however|yet|"
    r"instead|except)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"[;:]|\b(?:but|whereas|while|although|though|however|yet|which)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:(?:only |even )?if|unless|provided(?: that)?|as long as|without(?= (?:\w+ ){0,2}\w+,)|in (?:the )?(?:case|event|presence|absence|setting) of|"
    r"(?:in|for|to|by) (?:\w+ ){0,2}?(?:patients?|people|persons|individuals|children|infants|neonates|women|men|"
    r"adults|those)(?= (?:with|who|whose|without|on|in|under|over|above|below|aged|older|younger|taking|"
    r"receiving|undergoing|having|at)\b))",
    re.IGNORECASE,
)
_CONDITION_END = re.compile(r"[,;.]|\bthen\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[;:]|,? (?:but|whereas|while|although|which)\b|, (?=and\b)|"
    r"\band (?=(?:can|may|also|therefore|thus|is|are|was|were|should|must|will|has|have)\b)",
    re.IGNORECASE,
)
_COVERED = 0.6
"""Share of a unit's words from which it repeats a consequent, and of what is denied from which it asserts it."""
_HALF = 0.5
"""Share of a unit's words that stand before a denial ("X is contraindicated") from which it is about that."""
_KEPT = 0.34
"""Share of a condition's words from which the unit has the condition."""


def why_changed(unit: str, answer: AnswerWords) -> str | None:
    """What the unit says otherwise than the answer, as a clause; null where nothing is."""
    return _numbers(unit, answer) or _rate(unit, answer) or _against_origins(unit, answer)


def _numbers(unit: str, answer: AnswerWords) -> str | None:
    strange = numbers_beyond(unit, answer.text)
    if strange:
        foreign = set(numbers_beyond(unit, f"{answer.text}\n{answer.question}"))
        strange = tuple(n for n in strange if n in foreign or n[1] not in _TIMES)
    if not strange:
        return None
    named = ", ".join(dict.fromkeys(" ".join(filter(None, number)) for number in strange))
    return f"numbers or units that the answer has not, or not so often: {one_line(named, 60)}"


def _rate(unit: str, answer: AnswerWords) -> str | None:
    """A dose per week is none per day, though its number and unit are the same."""
    strange = _rates(unit) - _rates(f"{answer.text}\n{answer.question}")
    return f"a rate that the answer has not: per {min(strange)}" if strange else None


@lru_cache(maxsize=64)
def _rates(text: str) -> set[str]:
    return {match[1] if match[1] not in (None, "dai") else "day" for match in _RATE.finditer(text.lower())}


def _against_origins(unit: str, answer: AnswerWords) -> str | None:
    """What of negations and conditions is otherwise than in every sentence that the unit may come from."""
    if unit in answer.sentences:  # among many that are alike it need not be one of the likeliest origins
        return None
    faults = [_negation(unit, origin) or _condition(unit, origin) for origin in answer.origins(unit)]
    return faults[0] if faults and all(faults) else None


def _denials(text: str) -> list[re.Match[str]]:
    """Words that deny, but for those that deny nothing ("not only")."""
    spared = [match.span() for match in _NOT_DENYING.finditer(text)]
    return [
        match
        for match in NEGATION.finditer(text)
        if not any(start <= match.start() < end for start, end in spared)
    ]


def _negation(unit: str, origin: str) -> str | None:
    in_unit = _denials(unit)
    if in_unit:
        parts = [origin] if _CONTRAST.search(unit) else _nearest(unit, origin)
        denied = any(_denials(part) or _DENYING_SOFTLY.search(part) for part in parts)
        return None if denied else f"a negation added: {_excerpt(in_unit[0][0])}"
    if _DENYING_SOFTLY.search(unit):
        return None
    words = content_words(unit)
    lost = (match for match in _denials(origin) if _asserts(words, origin, match))
    return next((f"a negation lost: {_excerpt(match[0])}" for match in lost), None)


def _nearest(unit: str, origin: str) -> list[str]:
    """The clauses of a sentence that have most words of the unit."""
    words = content_words(unit)
    parts = [origin[start:stop] for start, stop in _spans(origin)]
    counts = [sum(map(vocabulary(part).holds, words)) for part in parts]
    return [part for count, part in zip(counts, parts, strict=True) if count == max(counts)]


def _spans(origin: str) -> Iterator[tuple[int, int]]:
    """Where the clauses of a sentence that are set against each other begin and end."""
    return pairwise((0, *(match.start() for match in _CONTRAST.finditer(origin)), len(origin)))


def _asserts(words: Sequence[str], origin: str, denial: re.Match[str]) -> bool:
    """True if these words of a unit say what a denial in the sentence denies.

    That is what follows it in its clause; where nothing does, what goes before. A unit with words of another
    clause is of that clause.
    """
    start, stop = next((a, b) for a, b in _spans(origin) if a <= denial.start() < b)
    clause, remainder = vocabulary(origin[start:stop]), vocabulary(origin[:start] + origin[stop:])
    if any(remainder.holds(word) and not clause.holds(word) for word in words):
        return False
    preceding, following = _around(origin, denial)
    if content_words(following):
        return _share(content_words(following), Vocabulary(words)) >= _COVERED
    return _share(words, vocabulary(preceding)) >= _HALF


def _around(origin: str, denial: re.Match[str]) -> tuple[str, str]:
    """What stands before and after a denial, up to the next words or signs that end what it governs."""
    ends = [match.span() for match in _BOUNDARY.finditer(origin)]
    end = min((first for first, _ in ends if first >= denial.end()), default=len(origin))
    begin = max((last for _, last in ends if last <= denial.start()), default=0)
    return origin[begin : denial.start()], origin[denial.end() : end]


def _share(words: Sequence[str], among: Vocabulary) -> float:
    """The share of the words that stand among others; 0 for none."""
    return sum(map(among.holds, words)) / len(words) if words else 0.0


class _Condition(NamedTuple):
    """A condition of a sentence, and what it governs."""

    text: str
    consequent: str


def _conditions(origin: str) -> Iterator[_Condition]:
    for match in _CONDITION.finditer(origin):
        end = _CONDITION_END.search(origin, match.end())
        stop = end.start() if end else len(origin)
        clauses = [clause.end() for clause in _CLAUSE.finditer(origin, 0, match.start())]
        preceding = origin[clauses[-1] if clauses else 0 : match.start()]
        if content_words(preceding):
            yield _Condition(origin[match.start() : stop], preceding)
        elif end:  # without a comma nobody knows where the consequent begins
            yield _Condition(origin[match.start() : stop], origin[stop:])


def _condition(unit: str, origin: str) -> str | None:
    words = content_words(unit)
    vocabulary_of_unit = Vocabulary(words)
    for condition in _conditions(origin):
        consequent = vocabulary(condition.consequent)
        distinct = [word for word in content_words(condition.text) if not consequent.holds(word)]
        if (
            distinct
            and _share(distinct, vocabulary_of_unit) < _KEPT
            and _share(words, consequent) >= _COVERED
        ):
            return f"a condition lost: {_excerpt(condition.text)}"
    return None


def _excerpt(text: str) -> str:
    return f"'{one_line(printable(text), 50)}'"
