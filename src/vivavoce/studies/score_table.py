"""Studies: score rows in, findings out. A study knows no metric, no model and no store.

`counted_value` is the one place where a status becomes a number, by the criterion's own rule; `resolve`
averages to one value per item, and everything above works on that.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np
import polars as pl

from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Criterion, Measure, ModelCard
from vivavoce.core.specs import signed
from vivavoce.studies.answers import Answers
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.row_parts import are_few, beside_previous, distinct, parts_by_item, select_rows, stacked

if TYPE_CHECKING:
    from vivavoce.studies.coverage import Requests
    from vivavoce.studies.reviewed_items import Reviews


ITEM = ("benchmark", "item", "variant", "group")
ITEM_KEY = ["benchmark", "item", "variant"]
"""The columns that name an item."""
RESPONSE = [*ITEM_KEY, "candidate", "repeat"]
"""The columns that name a response."""
MISSING = ("unanswered", "unreadable", "failed", "set_aside")
"""Statuses without a value. Only `set_aside` is neither the candidate's doing nor a failure."""
NO_LIMIT = "scores failed, and a scale without a limit has no bound for what they could be"
"""The reason where a side has no bound: a score failed and the scale is unbounded, so no case is worst."""


class Labels(NamedTuple):
    """People's scores of one criterion.

    `scores` are the score rows, of one person or several, with `measure_id`; `measures` their measures.
    `draw` has a row per item whose case was drawn: benchmark, item, variant, `probability`; `frame` one per
    item that could have been, null where that is not known.
    `by_word` is true where only the user's word says that they were chosen at random.
    """

    metric: str
    scores: pl.DataFrame
    measures: Mapping[int, Measure]
    draw: pl.DataFrame
    by_word: bool = False
    frame: pl.DataFrame | None = None


BY_WORD = "That the labelled questions were chosen at random is your word, and the run does not show it."


def notes_by_word(labels: "Mapping[int, Labels | str]", kinds: Iterable[str]) -> tuple[str, ...]:
    """The line on labels that only the user vouches for, where figures of these kinds rest on any."""
    vouched = any(isinstance(entry, Labels) and entry.by_word for entry in labels.values())
    return (BY_WORD,) if vouched and "prediction_powered" in kinds else ()


class Rating(NamedTuple):
    """A candidate's rating from elsewhere, such as an arena's Elo, with its interval where it has one."""

    rating: float
    low: float | None = None
    high: float | None = None


class JudgedCriterion(NamedTuple):
    """What a status is about: one criterion as one judge scores it, on one benchmark."""

    benchmark: str
    signature: str
    rater: str
    criterion: str


class ScoreTable(NamedTuple):
    """What studies work on: the score rows of a run with their `measure_id`, and what is known beside them.

    `scores` has a column `weight` where a sample of a benchmark was asked: how many of its items each item
    stands for.
    """

    scores: pl.DataFrame
    measures: Mapping[int, Measure]
    identical: frozenset[str] = frozenset()
    """Candidates whose repeats of every item are one text: their repeats differ by the rater alone."""
    cards: Mapping[str, ModelCard] | None = None
    """Model cards of the candidates by label, and of judges under the names of `rubrics.models_named`."""
    answers: Answers | None = None
    """The answers in words, read when a study asks for them; null where none are at hand."""
    people: frozenset[int] = frozenset()
    """The measures whose raters are people."""
    only: Mapping[int, frozenset[tuple[str, str, str]]] = {}
    """The items that a measure scores, for measures that do not score every item of their formats."""
    probes: Mapping[int, str] = {}
    """The requests for log-likelihoods that a measure scores."""
    released: Mapping[str, str] = {}
    """By benchmark the month in which its items could first be read."""
    labels: Mapping[int, Labels | str] = {}
    """By measure the people's scores that correct it, or why none do."""
    statuses: Mapping[JudgedCriterion, str] = {}
    """What is known of judges."""
    contrasts: Mapping[int, Mapping[tuple[str, str], float] | str] = {}
    """By measure its values of the texts of contrast pairs, by pair and side, or why it has none."""
    notes: tuple[str, ...] = ()
    """Lines on what was left out of the table."""
    ratings: Mapping[str, Rating] = {}
    """Ratings from elsewhere, under the names that candidates have there."""
    units: pl.DataFrame | None = None
    """The scores of single facts: the columns of a response and its item, measure_id, pass_no, unit, text,
    unit_weight, value, status, note. An answer without facts has one row without a unit.
    """
    unit_measures: Mapping[int, Measure] = {}
    """The measures of `units`."""
    items: pl.DataFrame | None = None
    """The items of the benchmarks, a row each: the fields of an item, `meta` as JSON text."""
    reviews: "Reviews | None" = None
    """What people said of the items."""
    requests: "Requests | None" = None
    """What was expected of each candidate; null where nothing but the scores is known."""

    @property
    def responses(self) -> pl.DataFrame | None:
        """All answers in words in all columns, read anew each time; `answers` reads some columns alone."""
        return None if self.answers is None else self.answers()

    def joined(self, more: "ScoreTable") -> "ScoreTable":
        """These scores and others of the same run."""
        # Polars stacks only tables with the same columns in the same order, and then copies both.
        scores = self.scores
        if more.scores.height:
            scores = pl.concat([scores, more.scores.select(scores.columns)])
        return self._replace(
            scores=scores,
            measures={**self.measures, **more.measures},
            only={**self.only, **more.only},
            probes={**self.probes, **more.probes},
        )


SAMPLED = "A sample was asked: means weigh each question by how many of the exam it stands for."
"""The note of a study that weighs items, where `weight` is among the columns."""


def sample_note(scores: pl.DataFrame) -> tuple[str, ...]:
    """The note of a study that weighs items, where a sample was asked."""
    return (SAMPLED,) if "weight" in scores.columns else ()


def unweighted(scores: pl.DataFrame, what: str) -> tuple[str, ...]:
    """The line that `what` counts every item alike, where a sample was asked; else none."""
    return (f"A sample was asked: {what} each question alike.",) if "weight" in scores.columns else ()


SECTION, SHARE = "section", "share"
"""The part of an overall that an item is in, and what share of the overall that part was given before."""


def item_of(rows: pl.DataFrame) -> tuple[str, ...]:
    """The columns of an item: `ITEM`, with its weight, section and share where there are any."""
    return (*ITEM, *(name for name in ("weight", SECTION, SHARE) if name in rows.columns))


def weights_of(rows: pl.DataFrame) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """The weights of rows by item; null where all count alike.

    In an overall the items of a section have its share between them, as their own weights divide it.
    """
    if SECTION in rows.columns:
        weight = pl.col("weight" if "weight" in rows.columns else SHARE)
        return rows.select(pl.col(SHARE) * weight / weight.sum().over(SECTION)).to_series().to_numpy()
    if "weight" not in rows.columns or rows["weight"].n_unique() < 2:
        return None
    return rows["weight"].to_numpy()


class Weighing(TypedDict):
    """What statistics take beside values and groups: weights by item, and the cells they were fixed for."""

    weights: np.ndarray[Any, np.dtype[np.float64]] | None
    cells: np.ndarray[Any, np.dtype[np.int64]] | None


def weighing_of(rows: pl.DataFrame) -> Weighing:
    """The weights of rows by item, and their sections."""
    cells = rows[SECTION].to_physical().cast(pl.Int64).to_numpy() if SECTION in rows.columns else None
    return {"weights": weights_of(rows), "cells": cells}


def section_name(benchmark: str, group: str) -> str:
    """What a section is called among those of all benchmarks."""
    return f"{benchmark}\t{group}"


def section_names(rows: pl.DataFrame) -> list[str]:
    """The sections of all benchmarks, also of those without a row here: the column is an enumeration."""
    names: Any = rows[SECTION].dtype
    return list(names.categories)


def absent_sections(rows: pl.DataFrame) -> list[str]:
    """The groups of an overall that no row of its benchmark is in: their shares would go to the others."""
    if SECTION not in rows.columns or not rows.height:
        return []
    place = section_name(rows["benchmark"][0], "")
    present = set(rows[SECTION].cast(pl.String))
    return [
        name.removeprefix(place)
        for name in section_names(rows)
        if name.startswith(place) and name not in present
    ]


def no_overall(absent: Iterable[str]) -> str:
    """Why there is no overall where sections have no score."""
    return f"no scores on {', '.join(absent)}: an overall takes every group"


def with_group_codes(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with their groups as numbers in the order of the labels.

    Statistics count numbers without sorting; labels they would sort in every call.
    """
    labels = pl.Enum(distinct(rows, "group")["group"].drop_nulls().sort())
    return rows.with_columns(pl.col("group").cast(labels).to_physical().cast(pl.Int64))


def resolve(rows: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    """One row per candidate and item, from the score rows of one criterion (`tables.SCORES`).

    `observed` is the mean over passes, then repeats, of the scores that are there; `low` and `high` the same
    with every failed score at the criterion's lower and upper limit. Scores set aside, and non-response under
    `if_unanswered=set_aside`, are left out of all three; a column is null where nothing is left. `low` or
    `high` is NaN only where a failed score meets a side without a limit: a bound is null there.
    """
    # Two steps, because a plain mean would weigh repeats by their number of passes.
    return stacked([over_repeats(_by_repeat(part, criterion)) for part in parts_by_item(rows)])


def with_results(rows: pl.DataFrame) -> pl.DataFrame:
    """The score rows of one measure and benchmark without the candidates that have no result.

    A candidate has a result if one of its scores is ok. A figure of silence counted as worst, alone or beside
    scores that all failed, would say nothing of what the candidate can do, and a dead endpoint is silent too.
    """
    ok = (pl.col("status") == "ok") & (pl.col("edit") == "")
    with_one = rows.select(pl.col("candidate").filter(ok).unique()).to_series()
    return select_rows(rows, pl.col("candidate").is_in(with_one.implode()))


FILLED = ("observed", "low", "high")
"""A value as observed, and what the failed scores could make of it."""


def by_repeat(rows: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    """As `resolve`, one row per candidate, item and repeat: the means of its passes."""
    return stacked([_by_repeat(part, criterion) for part in parts_by_item(rows)])


def _by_repeat(rows: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    failed = pl.col("status") == "failed"
    observed = counted_value(criterion)

    def filling(limit: float | None) -> pl.Expr:
        # Unlike a null, NaN swallows the mean: what nothing bounds must not drop out of a bound.
        return pl.when(failed).then(pl.lit(float("nan") if limit is None else limit)).otherwise(observed)

    keys = (*item_of(rows), "candidate", "role", "repeat")
    unedited = select_rows(rows.select(*keys, "edit", "status", "value"), pl.col("edit") == "")
    values = unedited.select(
        *keys, observed=observed, low=filling(criterion.low), high=filling(criterion.high)
    )  # fmt: skip
    return _means_by(values, keys, order=(*ITEM, "candidate", "repeat"))


def over_repeats(answers: pl.DataFrame) -> pl.DataFrame:
    """The means over repeats of what `by_repeat` gives: one row per candidate and item."""
    return _means_by(answers, (*item_of(answers), "candidate", "role"), order=(*ITEM, "candidate"))


_MEANS = [exact_mean(pl.col(name)) for name in FILLED]
"""Means without nulls, null where nothing else is."""


def _means_by(rows: pl.DataFrame, keys: Sequence[str], order: Sequence[str]) -> pl.DataFrame:
    """The means of `FILLED` by these keys, in this order of some of them.

    Many score rows are read in order, and then each group is a run of rows: nothing is hashed or sorted.
    """
    starts = None if are_few(rows) else _starts(rows, keys, order)
    if starts is None:
        means = rows.group_by(*keys, maintain_order=True).agg(_MEANS)
        return means.sort(*order)
    if starts.all():
        return rows.select(*keys, *FILLED)
    group = starts.cast(pl.UInt32).cum_sum().alias("group number")
    means = rows.select(*FILLED, group).group_by("group number", maintain_order=True).agg(_MEANS)
    return rows.filter(starts).select(*keys).hstack(means.select(*FILLED))


def _starts(rows: pl.DataFrame, keys: Sequence[str], order: Sequence[str]) -> pl.Series | None:
    """Where a new group of these keys begins; null where the rows do not stand in this order.

    Null too where a key changes by which nothing is ordered: then a group could come again.
    """
    if rows.height < 2 or any(rows.select(pl.col(order).null_count()).row(0)):
        return None
    steps = beside_previous(rows, order)
    differs = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in keys if name not in order]
    changes = rows.select(pl.any_horizontal(differs)).to_series().slice(1)
    if not steps["in_order"].all() or (steps["equal"] & changes).any():
        return None
    return pl.concat([pl.Series([True]), ~steps["equal"]])


def repeats(
    rows: pl.DataFrame, criterion: Criterion, codes: Mapping[str, pl.Enum] | None = None
) -> pl.DataFrame:
    """One row per candidate, item and repeat: `y`, the mean of its passes, without failures.

    Names are codes where `codes` has a type for their column.
    """
    columns = (*item_of(rows), "candidate", "repeat")
    parts = (_by_repeat(part, criterion) for part in parts_by_item(rows))
    values = (part.select(*columns, y="observed").filter(pl.col("y").is_not_null()) for part in parts)
    return stacked([part.cast(dict(codes or {})) for part in values])  # type: ignore[arg-type]


CONFIDENCE = "confidence"
"""The metric, and its criterion, that says how sure a candidate is of its answer."""
SECONDS = "seconds"
"""The metric, and its criterion, of how long an answer took: no score, but recorded with the answer."""


def is_confidence(measure: Measure) -> bool:
    """True if the scores say how sure a candidate is: more of it is not better."""
    return signed(measure.signature).spec.name == CONFIDENCE == measure.criterion.criterion


def better_end(measure: Measure) -> str:
    """Which end of a scale is better, in words; a confidence has none."""
    return "no better end" if is_confidence(measure) else f"{measure.criterion.direction} is better"


def is_seconds(measure: Measure) -> bool:
    """True for how long an answer took."""
    return measure.signature == SECONDS_MEASURE.signature


SECONDS_MEASURE = Measure(
    metric=SECONDS,
    signature=f"{SECONDS}()@1",
    criterion=Criterion(
        criterion=SECONDS, low=None, high=None, direction="lower", if_unanswered="set_aside",
        pool="geometric_mean",
    ),
)  # fmt: skip
"""Its score rows hold natural logarithms; what has no answer has no time of one."""


def by_answer(measures: Mapping[int, Measure]) -> tuple[dict[int, Measure], tuple[str, ...]]:
    """The measures whose values by answer are averaged, and lines on those that are left out.

    A pooled figure is no value of an answer, and a confidence says nothing of how good the answer is.
    """
    reasons = {key: _why_excluded(m) for key, m in measures.items()}
    single = {key: m for key, m in measures.items() if reasons[key] is None}
    names: dict[str, dict[str, None]] = {}
    for key, reason in reasons.items():
        if reason:
            m = measures[key]
            names.setdefault(reason, {})[f"{metric_name(m.metric)}, {m.criterion.criterion}"] = None
    return single, tuple(f"Left out, {reason}: {'; '.join(listed)}." for reason, listed in names.items())


def _why_excluded(measure: Measure) -> str | None:
    """Why the values of a measure are not averaged by answer; null where they are."""
    if measure.criterion.pool != "mean":
        return "being pooled over all answers and no value of each"
    return "being no quality of an answer" if is_confidence(measure) else None


def counted_value(criterion: Criterion) -> pl.Expr:
    """The value of a score row: non-response by the criterion's rule, null where set aside or failed."""
    # `failed` is our fault and not silence: it stays null and enters the bounds alone.
    silent = pl.col("status").is_in(["unanswered", "unreadable"])
    return pl.when(silent).then(pl.lit(criterion.silence, pl.Float64)).otherwise(pl.col("value"))
