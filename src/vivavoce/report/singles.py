"""The marks of single answers by measure, benchmark and format, and their quartiles."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.records import Measure
from vivavoce.studies.grids import key_of, labels

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ANSWER", "MISSING", "Part", "parts", "quartiles"]

ANSWER = ("candidate", "item", "variant", "repeat")
MISSING = ("unanswered", "unreadable", "failed")


class Part(NamedTuple):
    """One measure on the answers of one format: a value or a status per answer.

    Of a measure of probabilities (`told`) they are what was told of a question.
    """

    benchmark: str
    format: str
    measure: Measure
    label: str
    answers: "pl.DataFrame"
    told: bool = False

    @property
    def thing(self) -> str:
        """What is counted."""
        return "question" if self.told else "answer"


def parts(
    scores: "pl.DataFrame", measures: Mapping[int, Measure], probes: Collection[int] = ()
) -> list[Part]:
    """The answers by measure, benchmark and format, a row each; edited answers are left out.

    A mark is the mean of an answer's passes, and its status `ok` if one of them is. `probes` are the measures
    of probabilities.
    """
    import polars as pl

    short_names = labels(measures)
    order = pl.col("status").replace_strict(
        {s: k for k, s in enumerate(("ok", *MISSING))}, return_dtype=pl.Int8
    )
    made = []
    for key, measure in measures.items():
        own = scores.filter((pl.col("measure_id") == key) & (pl.col("edit") == ""))
        for (benchmark, form), part in own.group_by("benchmark", "format", maintain_order=True):
            answers = part.group_by(ANSWER).agg(
                value=pl.col("value").mean().round(9),
                status=pl.col("status").gather(order.arg_min()).first(),  # one mark is enough to have a value
            )
            name = short_names[key_of(measure)]
            made.append(Part(str(benchmark), str(form), measure, name, answers, key in probes))
    return made


def quartiles(own: Sequence[Part]) -> list[dict[str, Any]]:
    """A row for each part and candidate: least, quartiles, median and most of its marks, null without any.

    Quartiles are interpolated. `n` counts marks; what is missing stands beside it and is no value.
    """
    import polars as pl

    value = pl.col("value")
    made = []
    for part in own:
        figures = part.answers.group_by("candidate").agg(
            n=value.count(),
            n_missing=value.is_null().sum(),
            least=value.min(),
            lower=value.quantile(0.25, "linear"),
            median=value.median(),
            upper=value.quantile(0.75, "linear"),
            most=value.max(),
        )
        shared = {"benchmark": part.benchmark, "format": part.format, "measure": part.label}
        made += [shared | row for row in figures.sort("candidate").iter_rows(named=True)]
    return made
