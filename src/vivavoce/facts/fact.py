"""What the three stages hand to each other: a cleaned answer, its facts, and the verdict on each."""

from typing import Literal, NamedTuple, get_args

from vivavoce.core.evidence import Evidence

CleanStatus = Literal["ok", "empty", "noncommittal"]
Fate = Literal["checked", "empty", "repeated", "foreign", "changed", "no_claim", "surplus"]
"""What becomes of a unit that a splitter gave; `checked` goes on to the checker, the others are set aside.

`empty` holds no word, `repeated` says what an earlier unit of the answer says, `foreign` stands nowhere in
the answer, `changed` has other numbers, units or negations than the answer, `no_claim` is nothing that could
be true or false, `surplus` is beyond the most units of an answer.
"""
KnowledgeWord = Literal["true", "false", "bad"]
EvidenceWord = Literal["supported", "contradicted", "unverifiable"]
VerdictWord = Literal[KnowledgeWord, EvidenceWord]
RIGHT, WRONG = ("true", "supported"), ("false", "contradicted")
"""The verdicts that are scores: 1 and 0. `bad` and `unverifiable` are none."""
ASIDE = tuple(fate for fate in get_args(Fate) if fate != "checked")


class Cleaned(NamedTuple):
    """An answer without what is no part of it.

    `sentences` in their order; `removed` names what was left out, each kind once, in the order of the rules:
    prompt, incomplete, duplicate, noncommittal.
    """

    status: CleanStatus
    sentences: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(self.sentences)


class AnswerKey(NamedTuple):
    """Which answer a recorded row is about; benchmark '' stands for any."""

    item: str
    candidate: str
    repeat: int = 1
    variant: str = ""
    edit: str = ""
    benchmark: str = ""


class Answer(NamedTuple):
    """A cleaned answer as a splitter gets it; `alias` is the id that its item was published under."""

    item: str
    candidate: str
    repeat: int
    question: str
    cleaned: Cleaned
    variant: str = ""
    edit: str = ""
    benchmark: str = ""
    alias: str | None = None

    @property
    def keys(self) -> tuple[AnswerKey, ...]:
        """The names under which it may be recorded, the most exact first."""
        names = [(self.item, self.variant), *([(self.alias, "")] if self.alias else [])]
        return tuple(
            AnswerKey(item, self.candidate, self.repeat, variant, self.edit, benchmark)
            for benchmark in dict.fromkeys((self.benchmark, ""))
            for item, variant in names
        )


class Fact(NamedTuple):
    """One unit of an answer: its number from 1 as the splitter gave it, its text and its fate.

    `reason` says in a clause why it is not checked; null where it is.
    """

    number: int
    text: str
    fate: Fate = "checked"
    reason: str | None = None


class Verdict(NamedTuple):
    """What a checker said of a fact, and what it rests on.

    `reason` says in a clause why a verdict is `bad` or `unverifiable`; null where none is needed.
    `evidence` holds the passages shown, with what each does to the fact.
    """

    word: VerdictWord
    reason: str | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def value(self) -> float | None:
        """1 for right, 0 for wrong; null where the verdict is no score."""
        return 1.0 if self.word in RIGHT else 0.0 if self.word in WRONG else None
