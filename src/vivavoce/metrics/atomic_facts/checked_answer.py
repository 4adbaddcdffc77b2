"""An answer after the three stages: its units, what became of each, and how many of them count where."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from vivavoce.core.records import Unit, Value
from vivavoce.facts.citations import Citation, Lookup
from vivavoce.facts.fact import RIGHT, WRONG, Cleaned, Fact, Verdict
from vivavoce.facts.severity import severity

CLAIMS_ASIDE = ("bad", "unverifiable", "changed", "surplus")
"""Units that are claims of the answer and have no score: bounds take them all for false, then for true."""


class CheckedFact(NamedTuple):
    """A unit with its verdict; `failure` is why no reply came. A unit set aside has neither.

    `citations` are those of the reply, `lookup` what a source knows of them, and `support` the verdict of the
    documents that are cited.
    """

    fact: Fact
    verdict: Verdict | None = None
    failure: str | None = None
    citations: tuple[Citation, ...] = ()
    lookup: Lookup | None = None
    support: Verdict | None = None

    @property
    def word(self) -> str:
        """What became of the unit, in one word: its verdict, `failed`, or the fate that set it aside."""
        if self.verdict:
            return self.verdict.word
        return "failed" if self.failure else self.fact.fate

    @property
    def reason(self) -> str | None:
        """Why, as a clause; null where the word says it all."""
        return self.verdict.reason if self.verdict else self.failure or self.fact.reason

    @property
    def score(self) -> Value:
        """1 or 0 for a verdict that is one; else null with the word and the reason in its note."""
        note = f"{self.word}: {self.reason}" if self.reason else self.word
        if self.verdict is None:
            return Value(None, note=note, status="failed" if self.failure else "set_aside")
        value, evidence = self.verdict.value, (self.support or self.verdict).evidence
        if value is None:
            return Value(None, note=note, status="set_aside", evidence=evidence)
        return Value(value, note=note, evidence=evidence)


class CheckedAnswer:
    """The units of an answer, in the splitter's order; `failure` is why it could not be split.

    `statements` are the item's must-statements, each with the verdict whether the answer makes it.
    """

    def __init__(
        self,
        cleaned: Cleaned,
        facts: Sequence[CheckedFact] = (),
        *,
        failure: str | None = None,
        statements: Sequence[CheckedFact] = (),
    ) -> None:
        self.cleaned, self.facts, self.failure = cleaned, tuple(facts), failure
        self.statements = tuple(statements)

    @cached_property
    def words(self) -> Counter[str]:
        """How many units ended as each word."""
        return Counter(fact.word for fact in self.facts)

    @property
    def right(self) -> int:
        """Units that are true or supported."""
        return sum(self.words[word] for word in RIGHT)

    @property
    def wrong(self) -> int:
        """Units that are false or contradicted."""
        return sum(self.words[word] for word in WRONG)

    @property
    def n_scored(self) -> int:
        """Units with a score."""
        return self.right + self.wrong

    @property
    def aside(self) -> int:
        """Claims of the answer without a score."""
        return sum(self.words[word] for word in CLAIMS_ASIDE)

    @property
    def checked(self) -> int:
        """Units that a checker gave a verdict on."""
        return self.n_scored + self.words["bad"] + self.words["unverifiable"]

    @property
    def weights(self) -> tuple[float, float]:
        """The weights of the units that are right, and of all with a score, by what an error would do."""
        scored = [(fact.score.value, severity(fact.fact.text).weight) for fact in self.facts if fact.verdict]
        right = sum(weight for value, weight in scored if value)
        return right, sum(weight for value, weight in scored if value is not None)

    @property
    def failures(self) -> list[str]:
        """Why units, or the answer as a whole, got no reply."""
        return [reason for reason in (self.failure, *(fact.failure for fact in self.facts)) if reason]

    @property
    def units(self) -> Iterator[tuple[Unit, Value]]:
        """Every unit with its score."""
        for fact in self.facts:
            weight = severity(fact.fact.text).weight
            yield Unit(unit=str(fact.fact.number), text=fact.fact.text, weight=weight), fact.score

    @property
    def statement_units(self) -> Iterator[tuple[Unit, Value]]:
        """Every must-statement with the score whether the answer makes it."""
        for statement in self.statements:
            fact = statement.fact
            yield Unit(unit=f"must {fact.number}", text=fact.text), statement.score
