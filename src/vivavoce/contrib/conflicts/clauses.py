"""Clauses, stretches of a line that state one thing, and conflicts of a denial with an affirmation.

A clause affirms, denies, or names what is not meant ("rather than warfarin").
"""

import math
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from vivavoce.contrib.conflicts.text import COMMON, Conflict, Line, alike
from vivavoce.core.text import lazy_pattern


class Clause(NamedTuple):
    """Place `start` to `end` of a line.

    `sign` is 1 if it affirms, -1 if it denies, 0 if it does neither; `rejected` if it only names what is not
    meant ("not 5 mg", "rather than warfarin"); `verb` if it has a verb such as "is" or "should".
    """

    start: int
    end: int
    sign: int
    rejected: bool
    verb: bool
    words: frozenset[str]


_AUX = (
    r"(?:is|are|was|were|be|has|have|had|does|do|did|can|could|may|might|must|should|shall|will|would|cannot"
    r"|isnt|arent|wasnt|werent|doesnt|dont|didnt|cant|couldnt|mustnt|shouldnt|wont|wouldnt|need not)"
)
_FINITE = lazy_pattern(rf"(?<!\S){_AUX}(?!\S)")
_SPLIT = lazy_pattern(
    rf"""
      \ \.\                                                                        # a stronger break
    | \ (?:,\ )?(?:and\ |but\ |or\ )?(?=(?:rather\ than|instead\ of|as\ opposed\ to|in\ contrast\ to
        |unlike)\b)
    | \ (?:,\ )?(?:and\ |but\ )?(?=(?:except|unless|although|though|even\ if|even\ though|whereas
        |while(?!\ \w+ing\b)|because(?!\ of)
        |however|therefore|thus|hence|so\ that|which|since|if|when|whether|until|without|despite)\b)
    | \ ,\ (?=(?:and\ |but\ |or\ )?(?:not|never|no)\b(?!\ (?:more|less|fewer|later|longer|exceeding)\b))
    | \ (?=(?:and|but)\ (?:not|never)\b)
    | \ (?:,\ )?(?=(?:but|yet)\ )
    | \ ,\ (?=(?:and\ )?(?:it|they|this|he|she|there|we|so|then)\ )
    | \ (?=and\ (?:[^\ ,.]+\ ){{0,2}}?{_AUX}\ )
    | \ ,\ (?=(?:[^\ ,.]+\ ){{0,3}}?{_AUX}\ )
    | \ ,\ (?=(?:and\ )?(?:do|does|avoid|stop|give|use|start|should)\b)
    | \ (?=and\ (?:then\ )?(?:stop|avoid|discontinue|start|continue|keep|give|use|do|begin|withhold)\b)
    | \ (?=not\ (?:in|for|by|with|on|at|to(?!\ be\b)|from|\d|the|a|an)\b)
    """,
    re.VERBOSE,
)
_REJECTED = lazy_pattern(
    r"(?:,? ?(?:and |but |or )?(?:rather than|instead of|as opposed to|in contrast to|unlike)\b"
    r"|(?:and |but )?(?:not|never) (?!only\b|just\b|uncommon|unusual|infrequent|rare|all\b|always\b"
    r"|necessarily\b|be\b|to be\b|have\b|recommended\b|needed\b|indicated\b"
    r"|required\b|given\b|used\b|contraindicated\b))"
)
_WILD = lazy_pattern(
    r"(?:and |but |or )?(?:if|when|in case|once|except|unless|even if|whether|although|though"
    r"|even though|despite|until)\b"
)
_WITHOUT = lazy_pattern(r"(?:and )?without (?:[^ .,]+ ){1,4}?(?=and |with |to )")
_AHEAD = lazy_pattern(rf"{_WILD.pattern}|(?:and )?without\b")
_PLAIN = lazy_pattern(
    r"""\b(?:(?:not|no|never)\ (?:(?:be|to|go|rise|fall|increase|decrease|drop|by|exceed|exceeding
        |have|been|corrected)\ )*
        (?:(?:more|less|greater|higher|lower|fewer|later|longer)\ than|exceed|exceeding|(?:over|above
            |below|under)(?=\ \d))\b
      |not\ (?:only|just|simply|merely|uncommon|uncommonly|infrequently)|no\ doubt|no\ matter
      |(?:without|do\ not|dont|not|never|must\ not\ be|should\ not\ be)\ (?:any\ )?(?:delay|delayed|delaying)
      |stop(?:s|ped|ping)?\ (?:bleeding|the\ bleeding|growth)
      |non\ [a-z]+)""",
    re.VERBOSE,
)
"""Words of denial that deny nothing: bounds, "not only", "without delay"."""
_NOT = lazy_pattern(
    r"\b(?:not|no|never|nor|neither|none|nothing|without|cannot"
    r"|(?:is|are|was|were|does|do|did|ca|could|must|should|wo|would|has|have|had|need)nt)\b"
)
_LACK = lazy_pattern(
    r"""\b(?:avoid\w*|contraindicat\w*|stop|stops|stopped|discontinu\w*|cease[sd]?|withh[eo]ld\w*|withdraw\w*
        |fail(?:s|ed)?\ to|unable|incapable|unlikely|improbable|unsafe|ineffective|inappropriate
            |unnecessary|unsuitable
        |lack(?:s|ing|ed)?|absen(?:t|ce)|rul(?:ed|es|ing)\ out|rule\ out|exclud\w+
            |(?<!true\ )(?<!false\ )(?<!gram\ )(?<!coagulase\ )negative(?!\ (?:bac|coc|rod|org|sep|str
                |result|predict|value|feed|control|press|charge|impact|effect|conseq|bias|symptom|emotion))
        |prohibited|forbidden|free\ of|free\ from|afebrile|inadvisable|discouraged|dangerous|denie[sd]
            |unrelated
        |unaffected|unnecessarily|insensitive|devoid|abstain\w*|refrain\w*|insufficient\w*|inadequate
            |is\ (?:fatal|lethal))\b""",
    re.VERBOSE,
)
_RARE = lazy_pattern(
    r"\b(?:rare|rarely|seldom|sometimes not|not always|not necessarily|may not|might not|not all)\b"
)


class Clauses:
    """The clauses of a line, found by place."""

    __slots__ = ("_starts", "all")

    def __init__(self, line: Line) -> None:
        cuts = [0, *map(_cut, _SPLIT.finditer(line.text)), len(line.text)]
        self.all = _listed(line, [c for a, b in pairwise(cuts) for c in _parted(line, a, b)])
        self._starts = [c.start for c in self.all]

    def at(self, place: int) -> Clause:
        """The clause in which `place` lies."""
        return self.all[max(bisect_right(self._starts, place) - 1, 0)]


def _cut(match: re.Match[str]) -> int:
    """Where the next clause begins: behind a sign, before a word such as "but"."""
    return match.end() if match[0].strip() in {"", ",", ".", ", and", ", but"} else match.start() + 1


def _listed(line: Line, clauses: list[Clause]) -> list[Clause]:
    """The clauses, without a sign for what a denial lists behind a colon: "You cannot get it from:"."""
    heads = iter([*line.heads, len(line.text) + 1])
    head = next(heads)
    under = False
    result = []
    for clause in clauses:
        if under and _FINITE.search(line.text, clause.start, clause.end):
            under = False
        result.append(clause._replace(sign=0) if under else clause)
        while clause.end >= head:
            head = next(heads)
            under = clause.sign < 0 and bool(clause.words)
    return result


def _parted(line: Line, start: int, end: int) -> list[Clause]:
    """The clause from `start` to `end`; a condition, and what is only rejected, end at the next comma."""
    rejected = _REJECTED.match(line.text, start, end) is not None
    comma = line.text.find(" , ", start, end)
    if comma >= 0 and (rejected or _AHEAD.match(line.text, start, end)):
        return [_clause(line, start, comma, rejected), _clause(line, comma + 3, end, False)]
    if (without := _WITHOUT.match(line.text, start, end)) is not None:
        return [_clause(line, start, without.end(), False), _clause(line, without.end(), end, False)]
    return [_clause(line, start, end, rejected)]


def _clause(line: Line, start: int, end: int, rejected: bool) -> Clause:
    text = line.text[start:end]
    plain = _PLAIN.sub(" ", text)
    sign = -1 if bool(_NOT.search(plain)) != bool(_LACK.search(plain)) else 1
    if rejected:
        sign = -1
    elif _WILD.match(text) or _RARE.search(plain):
        sign = 0
    return Clause(
        start, end, sign, rejected, _FINITE.search(text) is not None, frozenset(line.words(start, end))
    )


_CLOSE = 0.55
_FEW = 3
"""Clauses of an answer in which a single shared word is enough."""
_ASIDE = lazy_pattern(r"(?:and )?(?:without|that|which|who)\b")
"""What a thing is without is compared as a pair of words; a relative clause has no subject of its own."""
_RELATIVE = lazy_pattern(r"(?:and )?(?:that|which|who)\b")
_WORD = lazy_pattern(r"(?<!\S)(?:non )?[^\W\d]{5,}(?!\S)")
_PREFIXES = ("non", "un", "in", "im", "ir", "il")
_LONG = 5
_SAME = 0.34
_WITH = lazy_pattern(r"\b(?P<out>without|with) (?:any |a |an |the )?(?P<what>[^\W\d]\w*)")


def negation_conflicts(
    expected: Sequence[Clause], actual: Sequence[Clause], reference: Line, answer: Line
) -> Iterator[Conflict]:
    """Each clause of the reference whose nearest clause in the answer has the opposite sign."""
    asserted = [c for c in actual if c.sign and c.words]
    if answer.text and not asserted and len(actual) == 1 and len(expected) == 1:
        reference_clause, answer_clause = expected[0], actual[0]
        if reference_clause.sign * answer_clause.sign < 0:
            yield _conflict(answer_clause, reference_clause, answer, reference)
        return
    few = len(asserted) <= _FEW
    done: set[int] = set()
    open_ = [
        (c, following)
        for c, following in zip(actual, [*actual[1:], None], strict=True)
        if c.sign and c.words and not _RELATIVE.match(answer.text, c.start)
    ]
    for clause in expected:
        if not clause.sign or not clause.words or _ASIDE.match(reference.text, clause.start):
            continue
        same = max((_close(clause, c, few) for c in asserted if c.sign == clause.sign), default=0.0)
        score, best = max(
            (
                (_close(clause, c, few), c)
                for c, following in open_
                if c.sign != clause.sign and not (following and _denied(clause, following, answer))
            ),
            key=lambda f: f[0],
            default=(0.0, None),
        )
        if best is None or score < _CLOSE or score <= same or best.start in done:
            continue
        if any(_close(c, best, few) >= score for c in expected if c.sign == best.sign):
            continue  # the reference says that too
        done.add(best.start)
        yield _conflict(best, clause, answer, reference)
    yield from _with(reference, answer, done)
    yield from _prefixed(reference, answer)


def _denied(expected: Clause, following: Clause, answer: Line) -> bool:
    """Whether what follows takes back the clause before: "can be managed | without antibiotics"."""
    return answer.text.startswith("without", following.start) and bool(following.words & expected.words)


def _close(a: Clause, b: Clause, few: bool) -> float:
    """Cosine of the words of two clauses; one shared word is too few, but between short clauses."""
    shared = len(a.words & b.words)
    largest = max(len(a.words), len(b.words))
    if not shared or (shared == 1 and (largest > 2 or not few) and not (largest == 1 and a.verb and b.verb)):
        return 0.0
    return shared / math.sqrt(len(a.words) * len(b.words))


def _with(reference: Line, answer: Line, done: set[int]) -> Iterator[Conflict]:
    """A pair such as "with food" and "without food"."""
    expected, actual = _accompaniments(reference), _accompaniments(answer)
    reference_words = set(reference.words(0, len(reference.text))) if expected and actual else set()
    for (subject, how), m in actual.items():
        opposite = "with" if how == "without" else "without"
        if (
            m.start() in done
            or (subject, opposite) in actual
            or (subject, how) in expected
            or (subject, opposite) not in expected
        ):
            continue
        near = answer.words(max(0, m.start() - 60), m.start())
        if alike(near, reference_words) >= 0.5:
            yield Conflict(
                "negation", answer.written(m.start(), m.end()), f"{opposite} {subject}", m.start(), m.end()
            )


def _accompaniments(line: Line) -> dict[tuple[str, str], re.Match[str]]:
    """Each thing with the word "with" or "without" before it, and where the line last says so."""
    return {(m["what"], m["out"]): m for m in _WITH.finditer(line.text)}


def _prefixed(reference: Line, answer: Line) -> Iterator[Conflict]:
    """A pair such as "selective" and "non-selective", "stable" and "unstable"."""
    expected, actual = _words(reference), _words(answer)
    prefixed = _by_bare_form(expected)
    for word, (start, end) in actual.items():
        opposite = _bare_form_in(expected, word) or prefixed.get(word, "")
        if not opposite or opposite in actual or word in expected or {word, opposite} & COMMON:
            continue
        if answer.text.endswith("not ", 0, start):
            continue
        if reference.text.endswith("not ", 0, expected[opposite][0]):
            continue
        if alike(_near(answer, start, end), _near(reference, *expected[opposite])) >= _SAME:
            yield Conflict(
                "negation", answer.written(start, end), reference.written(*expected[opposite]), start, end
            )


def _bare_form_in(words: Collection[str], word: str) -> str:
    """The word without a prefix that may deny it, if that is one of the words; else empty."""
    return next((remainder for remainder in _bare(word) if remainder in words), "")


def _by_bare_form(words: Iterable[str]) -> dict[str, str]:
    """The words with a prefix that may deny them, by the rest of the word; of several the first counts."""
    prefixed: dict[str, str] = {}
    for word in words:
        for remainder in _bare(word):
            prefixed.setdefault(remainder, word)
    return prefixed


def _near(line: Line, start: int, end: int) -> list[str]:
    return line.words(max(0, line.text.rfind(" ", 0, max(start - 40, 0))), start) + line.words(end, end + 40)


def _words(line: Line) -> dict[str, tuple[int, int]]:
    """The words of a line with their first place, "non selective" as one."""
    return {m[0].replace(" ", ""): m.span() for m in reversed(list(_WORD.finditer(line.text)))}


def _bare(word: str) -> list[str]:
    """What is left of a word without a prefix that may deny it."""
    return [word[len(p) :] for p in _PREFIXES if word.startswith(p) and len(word) - len(p) >= _LONG]


def _conflict(actual: Clause, expected: Clause, answer: Line, reference: Line) -> Conflict:
    return Conflict(
        "negation",
        answer.written(actual.start, actual.end),
        reference.written(expected.start, expected.end),
        actual.start,
        actual.end,
    )
