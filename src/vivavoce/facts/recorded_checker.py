"""Verdicts that were given elsewhere, by a model or by people, looked up by answer and text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vivavoce.core.errors import InputError, suggest
from vivavoce.core.specs import Spec
from vivavoce.facts.checker import Checker, Claim, Once, once_each
from vivavoce.facts.fact import Answer, Fact, Verdict
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
            self._chosen(recorded.checked(answer.keys, " ".join(fact.text.split()))) for fact in facts
        )

    def _chosen(self, rows: Sequence[RecordedUnit]) -> Verdict | None:
        for row in rows:
            if row.verdict and (self.rater is None or row.rater == self.rater):
                reason = (
                    None if row.verdict in ("true", "false", "supported", "contradicted") else "recorded so"
                )
                return Verdict(row.verdict, reason, row.evidence)
        return None
