"""A study of one's own: `viva study RUN "spread(least=5)" --plugin examples/plugin_study.py`"""

from dataclasses import dataclass

from vivavoce import Study, study


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadRow:  # noqa: D101
    candidate: str
    lowest: float
    highest: float


@study("spread")
class Spread(Study):
    """Candidates with fewer than `least` scores are left out."""

    about = "Between which values the scores of each candidate lie."
    row = SpreadRow
    least: int = 1

    def findings(self, scores):
        """A row per candidate, by name."""
        ok = scores.scores.filter(status="ok").sort("candidate")
        rows = [
            SpreadRow(candidate=name, lowest=own["value"].min(), highest=own["value"].max())
            for (name,), own in ok.group_by("candidate", maintain_order=True) if own.height >= self.least
        ]  # fmt: skip
        return self.finding(rows, "\n".join(f"{r.candidate}: {r.lowest} to {r.highest}" for r in rows))
