"""Labels: whose marks people gave, and a judge's marks of the same answers beside them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from vivavoce.records import Measure
from vivavoce.studies import Marks
from vivavoce.studies.examined import RESPONSE, marked

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Beside", "beside", "given", "unlike"]


class Beside(NamedTuple):
    """A judge's marks beside labels on one benchmark.

    `single` has a row per response and person (RESPONSE, group, person, judge, label); `double` one per
    response and ordered pair of people (judge, one, two, group), empty where nobody was labelled twice.
    """

    benchmark: str
    single: "pl.DataFrame"
    double: "pl.DataFrame"


def given(marks: Marks, criterion: str) -> "pl.DataFrame":
    """Everybody's labels of a criterion: RESPONSE, group, person, label; a person's first where two stand."""
    import polars as pl

    keys = [k for k, m in marks.measures.items() if k in marks.people and m.criterion.criterion == criterion]
    tables = [
        marked(marks, key).select(*RESPONSE, "group", person=pl.lit(marks.measures[key].rater), label="value")
        for key in keys
    ]
    if not tables:
        return pl.DataFrame()
    return pl.concat(tables).unique([*RESPONSE, "person"], keep="first", maintain_order=True)


def unlike(marks: Marks, measure: Measure) -> str | None:
    """Why the labels of a criterion cannot be held against its marks; null where they can.

    They need a criterion of the same name, and the same range where both declare one.
    """
    c = measure.criterion
    own = [
        m.criterion
        for k, m in marks.measures.items()
        if k in marks.people and m.criterion.criterion == c.criterion
    ]
    if not own:
        return f"no labels of {c.criterion}" if marks.people else "no labels: nobody was named with --labels"
    for other in own:
        ranges = (other.low, other.high), (c.low, c.high)
        if None not in (*ranges[0], *ranges[1]) and ranges[0] != ranges[1]:
            (low, high), (a, b) = ranges
            return f"people marked {low:g} to {high:g} and the judge {a:g} to {b:g}: bring them to one scale"
        if other.direction != c.direction:
            return f"{c.direction} is better for the judge and {other.direction} for people"
    return None


def beside(marks: Marks, key: int) -> Iterator[Beside]:
    """A judge's marks and the labels of the same responses, by benchmark."""
    import polars as pl

    measure = marks.measures[key]
    if unlike(marks, measure):
        return
    single = (
        marked(marks, key)
        .select(*RESPONSE, "role", judge="value")
        .join(given(marks, measure.criterion.criterion), on=list(RESPONSE), validate="1:m")
        .sort(*RESPONSE, "person")
    )
    for (benchmark,), part in single.group_by("benchmark", maintain_order=True):
        double = (
            part.rename({"label": "one"})
            .join(part.select(*RESPONSE, other="person", two="label"), on=list(RESPONSE))
            .filter(pl.col("person") != pl.col("other"))
            .sort(*RESPONSE, "person", "other")
        )
        yield Beside(str(benchmark), part, double)
