"""A judge against people, with people against people beside it: nothing else shows what a judge is worth.

There are no cut-offs for a coefficient: the yardstick is how far people agree with each other on the same
answers. Labels are as people gave them, before anybody settled differences.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import Marks
from vivavoce.studies.corrected import corrected, needed
from vivavoce.studies.examined import RESPONSE, Part, examiners, marked, row
from vivavoce.studies.figures import (
    COEFFICIENTS,
    Ratings,
    Row,
    by_coefficient,
    by_jackknife,
    by_mean,
    ends,
    less,
    less_others,
)
from vivavoce.studies.grids import key_of, labels
from vivavoce.studies.labelled import Beside, beside, unlike
from vivavoce.studies.words import count

__all__ = ["people"]

AGREEMENT = ("alpha_ordinal", "percent")
BETWEEN = ("people and people", "difference")
ONE_PERSON = "no answer has the labels of two people: no ceiling to hold the judge against"


def people(marks: Marks, margin: float | None) -> Part:
    """Every examiner and criterion against the labels, or a row that says why not.

    `contrast` tells what agrees: `judge and people`, `people and people`, and their `difference`, which is
    how much better the judge agrees with a person than another person does. For that each person is left
    out in turn, on the responses with labels of two or more; each person and each other one count alike.
    Above -margin with its whole interval, the judge is as good as a person within the margin.

    `bias` is the mean of judge less person, in all and by third of what people gave (a third is cut by one
    person's labels and measured by another's, where two labelled; else chance alone lifts the lowest third
    and lowers the highest); by candidate also `favour`, its bias less that of the others, with intervals that
    hold for all candidates together. `needed` are labels: for the difference known to the margin, and for a
    share of equal marks known to 5 points (there `margin` is that). `correction` turns each candidate's mean
    into what people would have given, which holds only if the labelled questions were drawn at random.
    """
    made = Part([], [])
    short = labels(marks.measures)
    for examiner in examiners(marks):
        for key in examiner.keys.values():
            measure = marks.measures[key]
            found: list[Row] = []
            for both in beside(marks, key):
                found += _compared(measure, both, margin)
                found += _biases(measure, both)
                found += needed(measure, both, marked(marks, key), found, margin)
                found += corrected(marks, key, both)
            if not found:
                reason = unlike(marks, measure) or "the judge and people marked no answer in common"
                found = [row("people", "", measure, figure="alpha_ordinal", reason=reason)]
            made.rows.extend(found)
            made.said.extend(_sentences(short[key_of(measure)], found))
    if any(r["figure"] == "corrected" and r["value"] is not None for r in made.rows):
        made.said.append(
            "The candidates' means as people would have given them, `corrected`, are in the rows; they hold "
            "only if the labelled questions were drawn at random."
        )
    return made


def _compared(measure: Measure, both: Beside, margin: float | None) -> Iterator[Row]:
    """Judge with people, people with people, and the difference, on the same responses."""
    single, double = both.single, both.double
    n_people = single["person"].n_unique()
    paired = double.height > 0
    of = double if paired else single
    n = {"n_raters": n_people, "n_ratings": of.unique([*RESPONSE, "person"]).height}
    units = {**n, "n_units": of.unique(RESPONSE).height, "n_groups": of["group"].n_unique()}
    groups = of["group"].to_numpy()
    judged = of.select("judge", "two" if paired else "label").to_numpy()
    between = of.select("one", "two").to_numpy() if paired else None
    for figure in AGREEMENT:

        def each(table: Any, figure: str = figure) -> Row:
            return by_coefficient(figure, table, groups) | units

        how, shared = COEFFICIENTS[figure], {"figure": figure}
        yield row("people", both.benchmark, measure, contrast="judge and people", **shared, **each(judged))
        if between is None:
            for contrast in BETWEEN:
                yield row("people", both.benchmark, measure, contrast=contrast, **shared, **units,
                          reason=ONE_PERSON)  # fmt: skip
            continue
        yield row("people", both.benchmark, measure, contrast="people and people", **shared, **each(between))
        apart = by_jackknife(
            lambda at, how=how: less(how(Ratings(judged[at])), how(Ratings(between[at]))),  # type: ignore[misc]
            groups,
            scale="raw",
        )
        yield row("people", both.benchmark, measure, contrast="difference", margin=margin,
                  **shared, **apart | units)  # fmt: skip


def _biases(measure: Measure, both: Beside) -> Iterator[Row]:
    import polars as pl

    def one(**values: Any) -> Row:
        return row("people", both.benchmark, measure, figure="bias", **values)

    responses = (
        both.single.group_by(*RESPONSE, "group", "judge", maintain_order=True)
        .agg(pl.col("label").mean())
        .with_columns(apart=pl.col("judge") - pl.col("label"))
    )
    apart, groups = responses["apart"].to_numpy(), responses["group"].to_numpy()
    yield one(contrast="judge less people", **by_mean(apart, groups))

    rows = both.double if both.double.height else both.single.rename({"label": "one"})
    quality = rows["two"] if "two" in rows.columns else rows["one"]
    place = (quality.round(9).rank() - 0.5) / rows.height
    third = np.minimum((place * 3).floor().to_numpy(), 2)
    for n, name in enumerate(("lowest third", "middle third", "highest third")):
        own = rows.filter(pl.Series(third == n))
        values = by_mean((own["judge"] - own["one"]).to_numpy(), own["group"].to_numpy())
        yield one(contrast=name, **values | {"n_units": own.unique(RESPONSE).height})

    candidates = responses["candidate"].to_numpy()
    names = sorted(set(candidates.tolist()))
    for name in names:
        own_rows = candidates == name
        yield one(contrast="by candidate", candidate=name, **by_mean(apart[own_rows], groups[own_rows]))
    if len(names) < 2:
        return
    level = stats.bonferroni_level(0.95, len(names))
    for name in names:
        values = by_jackknife(
            lambda at, name=name: less_others(apart[at], candidates[at] == name),  # type: ignore[misc]
            groups,
            scale="raw",
            level=level,
            undefined="no label of this candidate or of the others",
        )
        yield one(contrast="by candidate", candidate=name, **values) | {"figure": "favour"}


def _sentences(name: str, found: list[Row]) -> Iterator[str]:
    for benchmark in dict.fromkeys(r["benchmark"] for r in found if r["benchmark"]):
        own = [r for r in found if r["benchmark"] == benchmark]
        by = {(r["contrast"], r["figure"]): r for r in own if r["candidate"] == ""}
        where = f"{name} against people on {benchmark}"
        judge, person, apart = (by[c, "alpha_ordinal"] for c in ("judge and people", *BETWEEN))
        bias = by["judge less people", "bias"]
        on = f"{count(judge['n_units'], 'answer')} in {count(judge['n_groups'], 'case')}"
        among = (
            str(person["reason"])
            if person["value"] is None
            else f"people among themselves {_figure(person)}, the difference {_figure(apart)}"
        )
        yield (
            f"{where} ({on}): alpha (ordinal) {_figure(judge)}; {among}. Judge less person, on average: "
            f"{_figure(bias, '+.2f')}."
        )
        told = [r for r in own if r["figure"] == "favour" and r["low"] is not None]
        clear = [f"{r['candidate']} by {_figure(r, '+.2f')}" for r in told if r["low"] * r["high"] > 0]
        if clear:
            yield (
                f"{where}: more generous (or, below 0, stricter) than with the others to {'; '.join(clear)}. "
                f"These intervals hold for all {len(told)} candidates together."
            )


def _figure(found: Mapping[str, Any], form: str = ".2f") -> str:
    return str(found["reason"]) if found["value"] is None else f"{found['value']:{form}}{ends(found, form)}"
