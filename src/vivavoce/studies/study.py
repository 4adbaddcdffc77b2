"""The door for studies: a class with a typed row, a sentence about it, and `findings` over score rows.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class SpreadRow:
        candidate: str
        lowest: float

    @study("spread")
    class Spread(Study):
        about = "The lowest score of each candidate."
        row = SpreadRow
        least: int = 1

        def findings(self, scores):
            return self.finding([SpreadRow(candidate=..., lowest=...)], "A sentence.")

The fields of the class are the study's options: `viva study RUN "spread(least=3)"`. Options named `cards`,
`labels`, `margin` and `threshold` are also options of the command line.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, dataclass_transform

from vivavoce.core import registry
from vivavoce.core.records import Finding, Measure
from vivavoce.studies.naming import NamingSentence

if TYPE_CHECKING:
    from vivavoce.studies.score_table import ScoreTable


_Row = TypeVar("_Row")
Need = Literal[
    "cards", "labels", "ranks", "twins", "any_tokeniser", "contrasts", "units", "points", "items", "reviews"
]
"""What a study's table must hold besides the scores of the benchmark's own items.

`cards`: what is known of the models that answer, judge or word references. `labels`: people's scores that
correct a judge's. `ranks`: the ranks of ballots.
`twins`: the items that `viva vary` made in the run. `any_tokeniser`: also what is counted in tokens where the
candidates' tokenisers differ. `contrasts`: what the metrics of the run give to pairs of opposite texts.
`units`: the facts of answers with their verdicts, as metrics of atomic facts score them. `points`: the points
of rubrics that answers met or not, in their place. `items`: what the
benchmarks ask: options, references and `meta`. `reviews`: what people said of the items themselves.
"""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Study(ABC):
    """What a study declares; its options are the fields of the subclass."""

    row: ClassVar[type]
    """The type of its rows: a frozen dataclass, the columns in their order."""
    about: ClassVar[str]
    """What it asks, for help, `viva list studies`, the docs and the heading in the report."""
    special: ClassVar[bool] = False
    """True for a study of data that not every run has: without rows it is left out, unless it was named."""
    needs: ClassVar[tuple[Need, ...]] = ()
    sentences: ClassVar[tuple[NamingSentence, ...]] = ()
    """The sentences of its findings that name a candidate, a rater, a metric, a category or an item."""

    def applies_to(self, scores: "ScoreTable") -> bool:
        """Whether it is made of these scores where no study was named."""
        return True

    @abstractmethod
    def findings(self, scores: "ScoreTable") -> Finding:
        """Its rows, sentences and notes; the same whatever the order of the score rows."""

    def finding(
        self, rows: Iterable[Any], text: str = "", notes: Iterable[str] = (), headline: str = ""
    ) -> Finding:
        """The finding of typed rows; here, and only here, a row becomes a mapping."""
        mappings = tuple(map(as_mapping, rows))
        name = registry.canonical(self).name
        return Finding(study=name, rows=mappings, text=text, notes=tuple(notes), headline=headline)


def why_empty(scores: "ScoreTable") -> str:
    """A sentence for a study that has neither a row nor anything to say."""
    if scores.scores.is_empty():
        return "No row: there is no score to study."
    if "candidate" not in scores.scores["role"]:
        names = ", ".join(sorted(scores.scores["candidate"].unique()))
        return f"No row: no candidate has scores beside floors and ceilings ({names})."
    return "No row: this run holds nothing that the study is about."


def as_mapping(row: Any) -> dict[str, Any]:
    """The columns of a typed row with their values."""
    return {field.name.removesuffix("_"): getattr(row, field.name) for field in fields(row)}


def typed_row(row: type[_Row], values: Mapping[str, Any]) -> _Row:
    """The typed row of these columns, the inverse of `as_mapping`; an absent column has its default."""
    names = {field.name.removesuffix("_"): field.name for field in fields(row)}  # type: ignore[arg-type]
    return row(**{name: values[column] for column, name in names.items() if column in values})


def columns(row: type) -> tuple[str, ...]:
    """The columns of a type of rows, in their order.

    A name that Python reserves, such as lambda, has an underscore in the type and none in the column.
    """
    return tuple(field.name.removesuffix("_") for field in fields(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureRow:
    """The columns that many studies begin with: which measure of which benchmark a row is about."""

    benchmark: str
    metric: str
    criterion: str
    rater: str


def measure_columns(measure: Measure) -> dict[str, Any]:
    """The columns of a row that name a measure."""
    return {"metric": measure.metric, "criterion": measure.criterion.criterion, "rater": measure.rater}
