"""Verdicts that were given elsewhere, by a model or by people, looked up by answer and text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.once import Once, once_each
from vivavoce.core.specs import Spec
from vivavoce.facts.checker import Checker, Claim
from vivavoce.facts.context_passages import is_statement
from vivavoce.facts.fact import RIGHT, WRONG, Answer, Fact, KnowledgeWord, Verdict, VerdictWord
from vivavoce.facts.recorded import RecordedUnit, read_recorded


@dataclass(frozen=True, kw_only=True)
class RecordedChecker(Checker):
    """The verdicts of a file, of one `rater` where there are several.

    A verdict is that on the text in this very answer: by this candidate, to this item, of this repeat.
    """

    spec: Spec
    file: Path
    rater: str | None = None

    @property
    def files(self) -> tuple[Path, ...]:  # type: ignore[override]
        """The file."""
        return (self.file,)

    def prepare(self, *, passages: bool) -> None:
        """Read the file. Raises `InputError` for a row that is wrong, and for a rater who is not there."""
        raters = read_recorded(self.file).raters
        if not raters:
            raise InputError(
                f"{self.file} holds no verdicts: a row needs verdict= true, false, supported, …."
            )
        if self.rater is not None and self.rater not in raters:
            raise InputError(f"{self.file} has no rater {self.rater!r}.{suggest(self.rater, list(raters))}")
        if self.rater is None and len(raters) > 1:
            named = ", ".join(rater or "(none)" for rater in raters)
            raise InputError(f"{self.file} holds the verdicts of several raters ({named}): give rater=.")

    def immediate_verdict(self, claim: Claim) -> Verdict | None:
        """None: what is recorded is not looked for in passages."""
        return None

    def verdicts(
        self, answer: Answer, facts: Sequence[Fact], claims: Sequence[Claim], once: Once = once_each
    ) -> tuple[Verdict | None, ...]:
        """The recorded verdict on each fact, with its evidence; null where there is none."""
        recorded = read_recorded(self.file)
        return tuple(
            self._chosen(recorded.checked(answer.keys, " ".join(fact.text.split()), must=is_statement(claim)))
            for fact, claim in zip(facts, claims, strict=True)
        )

    def _chosen(self, rows: Sequence[RecordedUnit]) -> Verdict | None:
        """The verdict of the rater, who may have met one text twice."""
        of_rater = [row for row in rows if self.rater in (None, row.rater)]
        return _verdict([row.verdict for row in of_rater if row.verdict], of_rater[0]) if of_rater else None


def _verdict(words: Sequence[VerdictWord], row: RecordedUnit) -> Verdict:
    """What the words come to, with the evidence of the first: two that say otherwise are no verdict."""
    if len({Verdict(word).value for word in words}) == 1:
        reason = None if words[0] in (*RIGHT, *WRONG) else "recorded so"
        return Verdict(words[0], reason, row.evidence)
    none: VerdictWord = "bad" if set(words) <= set(get_args(KnowledgeWord)) else "unverifiable"
    return Verdict(none, f"recorded as {' and as '.join(dict.fromkeys(words))}", row.evidence)
