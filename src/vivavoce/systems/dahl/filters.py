"""Questions that cannot be answered without the text they were written from, by the rules of DAHL's appendix.

DAHL, section 3.2.2 and appendices A and B, names the expressions by examples. The rules here finish its
lists; H1 to H3 are ours, for what is no question. The released file breaks the rules, so this is a report:
the benchmark leaves questions out only where it is told to.
"""

import re
from typing import Literal, NamedTuple

_RULES = {
    "A1": r"\b(?:the|this|that|these|those|their|our)\s+"
    r"(?:(?:present|current|above|described|included|provided|given|same|original|aforementioned|research|case"
    r"|authors['’])\s+)?"
    r"(?:stud(?:y|ies)|analys[ie]s|papers?|articles?|research|authors?|texts?|documents?|passages?|manuscripts?"
    r"|case\s+(?:reports?|stud(?:y|ies)|series|presented)|experiments?|trials?|reviews?|surveys?|findings?)\b",
    "A2": r"\b(?:mentioned|inferred|addressed|observed|suggested|described|discussed|reported|presented"
    r"|outlined|highlighted|noted|stated|cited)\b",
    "A3": r"\b(?:was|were)\s+(?:\w+ly\s+)?(?:used|identified|found|observed|employed|performed|conducted"
    r"|applied|developed|utilized|measured|assessed|evaluated|detected|included|selected|reported|considered|chosen"
    r"|implemented|compared)\b",
    "B1": r"\b(?:based\s+on|depending\s+on|according\s+to|in\s+the\s+context\s+of)\b",
    "B2": r"\b(?:was|were|did)\b",
    "H1": r"\A\s*[QA]\d*:",
    "H2": r"(?:\A|[^.?!\s\"'”’)\]])[\s\"'”’)\]]*\Z",
    "H3": r"\A\s*A\d*:",
}
RULES = {
    "A1": "it speaks of a text that is not there, such as this study",
    "A2": "it asks what was observed, described or the like",
    "A3": "it asks what was used, found or the like",
    "B1": "it rests on something, such as a guideline or a text",
    "B2": "it asks of the past",
    "H1": "it begins with a label, such as Q3:",
    "H2": "it has no end mark",
    "H3": "it is an answer",
}
"""What a question does that a rule hits."""
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _RULES.items()}
_DROP = ("A1", "A3", "H2", "H3")
_REVIEW = frozenset(("A2", "B1", "B2"))


class Decision(NamedTuple):
    """What to do with a question, and the rules that it breaks, in the order A1 to H3."""

    decision: Literal["keep", "review", "drop", "repair"]
    rules: tuple[str, ...]

    @property
    def grounds(self) -> tuple[str, ...]:
        """The rules that drop it; none where it is not dropped."""
        if self.decision != "drop":
            return ()
        return tuple(rule for rule in self.rules if rule in _DROP) or ("A2", "B1")


def decide(question: str) -> Decision:
    """Whether a question can be asked without the text that it was written from.

    A1, A3, H2 or H3 drop it, and A2 with B1. A2, B1 or B2 alone want a person to look: "according to the
    DSM-5" can be answered. H1 alone wants its label cut off. B2 counts only where A3 does not. An empty
    question has no end mark, and is dropped.
    """
    rules = [name for name, pattern in _PATTERNS.items() if pattern.search(question)]
    if "A3" in rules:
        rules.remove("B2")
    if any(rule in _DROP for rule in rules) or {"A2", "B1"} <= set(rules):
        return Decision("drop", tuple(rules))
    if not _REVIEW.isdisjoint(rules):
        return Decision("review", tuple(rules))
    return Decision("repair" if rules else "keep", tuple(rules))
