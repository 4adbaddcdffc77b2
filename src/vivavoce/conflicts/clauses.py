"""Clauses: stretches of a line that say one thing, whether they affirm, deny or turn it down."""

import re
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from vivavoce.conflicts.line import Line

__all__ = ["Clause", "Clauses"]


class Clause(NamedTuple):
    """Place `start` to `end` of a line.

    `sign` is 1 where it affirms, -1 where it denies, 0 where it does neither; `turned` if it only names what
    is not meant ("not 5 mg", "rather than warfarin"); `verb` if a verb such as "is" or "should" stands in it.
    """

    start: int
    end: int
    sign: int
    turned: bool
    verb: bool
    words: frozenset[str]


_AUX = (
    r"(?:is|are|was|were|be|has|have|had|does|do|did|can|could|may|might|must|should|shall|will|would|cannot"
    r"|isnt|arent|wasnt|werent|doesnt|dont|didnt|cant|couldnt|mustnt|shouldnt|wont|wouldnt|need not)"
)
_FINITE = re.compile(rf"(?<!\S){_AUX}(?!\S)")
_SPLIT = re.compile(
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
_TURNED = re.compile(
    r"(?:,? ?(?:and |but |or )?(?:rather than|instead of|as opposed to|in contrast to|unlike)\b"
    r"|(?:and |but )?(?:not|never) (?!only\b|just\b|uncommon|unusual|infrequent|rare|all\b|always\b"
    r"|necessarily\b|be\b|to be\b|have\b|recommended\b|needed\b|indicated\b"
    r"|required\b|given\b|used\b|contraindicated\b))"
)
_WILD = re.compile(
    r"(?:and |but |or )?(?:if|when|in case|once|except|unless|even if|whether|although|though"
    r"|even though|despite|until)\b"
)
_WITHOUT = re.compile(r"(?:and )?without (?:[^ .,]+ ){1,4}?(?=and |with |to )")
_AHEAD = re.compile(rf"{_WILD.pattern}|(?:and )?without\b")
_PLAIN = re.compile(
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
_NOT = re.compile(
    r"\b(?:not|no|never|nor|neither|none|nothing|without|cannot"
    r"|(?:is|are|was|were|does|do|did|ca|could|must|should|wo|would|has|have|had|need)nt)\b"
)
_LACK = re.compile(
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
_RARE = re.compile(
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


def _cut(found: re.Match[str]) -> int:
    """Where the next clause begins: behind a sign, before a word such as "but"."""
    return found.end() if found[0].strip() in {"", ",", ".", ", and", ", but"} else found.start() + 1


def _listed(line: Line, found: list[Clause]) -> list[Clause]:
    """The clauses, without a sign for what a denial lists behind a colon: "You cannot get it from:"."""
    heads = iter([*line.heads, len(line.text) + 1])
    head = next(heads)
    under = False
    made = []
    for clause in found:
        if under and _FINITE.search(line.text, clause.start, clause.end):
            under = False
        made.append(clause._replace(sign=0) if under else clause)
        while clause.end >= head:
            head = next(heads)
            under = clause.sign < 0 and bool(clause.words)
    return made


def _parted(line: Line, start: int, end: int) -> list[Clause]:
    """The clause from `start` to `end`; a condition, and what is only turned down, end at the next comma."""
    turned = _TURNED.match(line.text, start, end) is not None
    if (turned or _AHEAD.match(line.text, start, end)) and (comma := line.text.find(" , ", start, end)) >= 0:
        return [_clause(line, start, comma, turned), _clause(line, comma + 3, end, False)]
    if (without := _WITHOUT.match(line.text, start, end)) is not None:
        return [_clause(line, start, without.end(), False), _clause(line, without.end(), end, False)]
    return [_clause(line, start, end, turned)]


def _clause(line: Line, start: int, end: int, turned: bool) -> Clause:
    said = line.text[start:end]
    plain = _PLAIN.sub(" ", said)
    sign = -1 if bool(_NOT.search(plain)) != bool(_LACK.search(plain)) else 1
    if turned:
        sign = -1
    elif _WILD.match(said) or _RARE.search(plain):
        sign = 0
    return Clause(
        start, end, sign, turned, _FINITE.search(said) is not None, frozenset(line.words(start, end))
    )
