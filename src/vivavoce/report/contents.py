"""What a report draws on."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.records import Measure
from vivavoce.store.read import Benchmark
from vivavoce.studies.stamps import Stamped, saturated, stamped

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Contents"]


class Contents(NamedTuple):
    """Everything a report draws on: one run's tables, estimates, comparisons and findings by study.

    `only` names for measures that mark not every item of their formats those that they mark,
    `probes` for those that mark probabilities what was asked of these: `responses` are answers in words,
    `told` what probes told, marked or not.
    """

    name: str
    items: "pl.DataFrame"
    responses: "pl.DataFrame"
    scores: "pl.DataFrame"
    measures: Mapping[int, Measure]
    estimates: Sequence[Mapping[str, Any]]
    comparisons: Sequence[Mapping[str, Any]]
    benchmarks: Sequence[Benchmark]
    provenance: Sequence[Mapping[str, Any]]
    selection: str | None
    studies: Mapping[str, Sequence[Mapping[str, Any]]]
    redact: bool = False
    only: Mapping[int, frozenset[tuple[str, str, str]]] = {}
    probes: Mapping[int, str] = {}
    told: "pl.DataFrame | None" = None

    @property
    def of_words(self) -> "Contents":
        """The same without marks of probabilities: no answer was read for them."""
        import polars as pl

        return self._replace(
            scores=self.scores.filter(~pl.col("measure_id").is_in(list(self.probes))),
            measures={key: m for key, m in self.measures.items() if key not in self.probes},
        )

    @property
    def examined(self) -> "pl.DataFrame":
        """Who was asked what, in words or for probabilities: a row per candidate and question."""
        import polars as pl

        columns = ("benchmark", "group", "item", "variant", "candidate", "role")
        tables = [self.responses, self.scores] + ([] if self.told is None else [self.told])
        return pl.concat(t.filter(pl.col("edit") == "").select(columns) for t in tables).unique()

    @property
    def n_told(self) -> int:
        """The number of questions about which probabilities were asked."""
        import polars as pl

        columns = ("benchmark", "item", "variant")
        marked = self.scores.filter(pl.col("measure_id").is_in(list(self.probes))).select(columns)
        told = marked if self.told is None else pl.concat([marked, self.told.select(columns)])
        return told.n_unique() if told.height else 0

    @property
    def stamps(self) -> dict[Stamped, str]:
        """What was found of judges that were held against people; the others are unvalidated."""
        return stamped(self.studies.get("examiners", ()))

    @property
    def saturated(self) -> frozenset[Stamped]:
        """Criteria of which nearly all marks are the same."""
        return saturated(self.studies.get("examiners", ()))

    @property
    def raters_compared(self) -> bool:
        """Whether a finding tells how far raters of the same answers agree."""
        found = self.studies.get("agreement", ())
        return any(row["contrast"] == "raters" for finding in found for row in finding["rows"])
