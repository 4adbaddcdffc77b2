"""Studies: score rows in, findings out. A study knows no metric, no model and no store.

`settled` is the one place where a status becomes a number, by the criterion's own rule; `resolve` averages to
one value per item, and everything above works on that.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Criterion, Measure

if TYPE_CHECKING:
    import polars as pl

    from vivavoce.models.cards import ModelCard

__all__ = [
    "FILLED",
    "ITEM",
    "LEAST_GROUPS",
    "NO_LIMIT",
    "PARTICULAR",
    "SAMPLED",
    "STUDIES",
    "Marks",
    "by_answer",
    "by_repeat",
    "identical_repeats",
    "item_of",
    "over_repeats",
    "repeats",
    "resolve",
    "settled",
    "span",
    "unweighted",
    "weighted_mean",
    "weights_of",
]

ITEM = ("benchmark", "item", "variant", "group")
LEAST_GROUPS = 10
"""Of fewer independent cases no test and no interval of a study tells anything."""
NO_LIMIT = "marks failed, and a scale without a limit has no bound for what they could be"
"""Why a side of the identified set is null."""


STUDIES = (
    *("agreement", "bias", "consistency", "contamination", "correlation", "examiners", "gaps", "overall"),
    *("panel", "positions", "ranking", "rubrics", "size"),
)
"""The studies; each is the module of that name with a function `findings`. Size needs cards as well."""
PARTICULAR = ("bias", "contamination", "examiners", "overall", "panel", "positions", "rubrics")
"""Studies of what not every run has: twins, probes of training data, judges, marks by cliniqlink, ballots of
a panel, options asked in several orders, versions of a rubric. Unasked, they are left out then.
"""


class Marks(NamedTuple):
    """What studies work on: score rows with their `measure_id`, the measures, and who only repeats himself.

    `identical` names candidates whose repeats of every item are the same text: what differs between their
    repeats is the examiner's doing. `cards` are what is known of the candidates, by label, and where
    examiners are studied, of the models in `circles.models_named`. `scores` has a column `weight` where a
    sample of an exam was asked: how many of its questions each item stands for. `answers` is the table of
    responses, for studies of texts. `people` are the measures whose raters are people. `only` names for
    measures that mark not every item of their formats those that they mark, `probes` for those that mark a
    model's probabilities what was asked of these. `released` is by benchmark the month in which its questions
    could first be read.
    """

    scores: "pl.DataFrame"
    measures: Mapping[int, Measure]
    identical: frozenset[str] = frozenset()
    cards: "Mapping[str, ModelCard] | None" = None
    answers: "pl.DataFrame | None" = None
    people: frozenset[int] = frozenset()
    only: Mapping[int, frozenset[tuple[str, str, str]]] = {}
    probes: Mapping[int, str] = {}
    released: Mapping[str, str] = {}

    def joined(self, more: "Marks") -> "Marks":
        """These marks and others of the same run."""
        import polars as pl

        scores = pl.concat([self.scores, more.scores.select(self.scores.columns)])
        return self._replace(
            scores=scores,
            measures={**self.measures, **more.measures},
            only={**self.only, **more.only},
            probes={**self.probes, **more.probes},
        )


SAMPLED = "A sample was asked: means weigh each question by how many of the exam it stands for."
"""The note of what weighs items, where `weight` is among the columns."""


def unweighted(scores: "pl.DataFrame", what: str) -> tuple[str, ...]:
    """The line that `what` counts every question alike, where a sample was asked; else none."""
    return (f"A sample was asked: {what} each question alike.",) if "weight" in scores.columns else ()


def item_of(rows: "pl.DataFrame") -> tuple[str, ...]:
    """The columns of an item: `ITEM`, and its weight where there is one."""
    return (*ITEM, "weight") if "weight" in rows.columns else ITEM


def weights_of(rows: "pl.DataFrame") -> "np.ndarray[Any, np.dtype[np.float64]] | None":
    """The weights of rows by item; null where all count alike."""
    if "weight" not in rows.columns or rows["weight"].n_unique() < 2:
        return None
    return rows["weight"].to_numpy()


def weighted_mean(values: "np.ndarray[Any, Any]", weights: "np.ndarray[Any, Any] | None") -> float:
    """The mean of one value per item, at least one."""
    return float(np.mean(values) if weights is None else np.average(values, weights=weights))


def identical_repeats(responses: "pl.DataFrame") -> frozenset[str]:
    """Candidates with several answers to some item, and to every item always the same text.

    Answers that never arrived are no texts: failing alike is not answering alike.
    """
    import polars as pl

    said = responses.filter((pl.col("edit") == "") & pl.col("text").is_not_null())
    repeated = (
        said.group_by("candidate", "benchmark", "item", "variant")
        .agg(n=pl.len(), texts=pl.col("text").n_unique())
        .filter(pl.col("n") > 1)
    )
    same = repeated.group_by("candidate").agg((pl.col("texts") == 1).all().alias("same"))
    return frozenset(same.filter("same")["candidate"])


def resolve(rows: "pl.DataFrame", criterion: Criterion) -> "pl.DataFrame":
    """One row per candidate and item, from the score rows of one criterion (`tables.SCORES`).

    `observed` is the mean over passes, then repeats, of what is there; `low` and `high` the same with
    every failed mark at the criterion's lower and upper limit. A silence under `set_aside` is left out of
    all three; a column is null where nothing is left. `low` or `high` is NaN, and only there, where a
    failed mark meets a side without a limit: `span` turns it into "no bound".
    """
    return over_repeats(by_repeat(rows, criterion))


FILLED = ("observed", "low", "high")
"""What was seen of a value, and what the failed marks could make of it."""


def by_repeat(rows: "pl.DataFrame", criterion: Criterion) -> "pl.DataFrame":
    """As `resolve`, one row per candidate, item and repeat: the means of its passes."""
    import polars as pl

    failed = pl.col("status") == "failed"
    observed = settled(criterion)

    def filling(limit: float | None) -> pl.Expr:
        # Unlike a null, NaN swallows the mean: what nothing bounds must not drop out of a bound.
        return pl.when(failed).then(pl.lit(float("nan") if limit is None else limit)).otherwise(observed)

    return (
        rows.filter(pl.col("edit") == "")
        .select(*item_of(rows), "candidate", "role", "repeat", observed.alias("observed"),
                filling(criterion.low).alias("low"), filling(criterion.high).alias("high"))
        .group_by(*item_of(rows), "candidate", "role", "repeat")
        .agg(pl.col(*FILLED).mean())
        .sort(*ITEM, "candidate", "repeat")  # a mean in another order has another last digit
    )  # fmt: skip


def over_repeats(answers: "pl.DataFrame") -> "pl.DataFrame":
    """The means over repeats of what `by_repeat` gives: one row per candidate and item."""
    import polars as pl

    return (
        answers.group_by(*item_of(answers), "candidate", "role", maintain_order=True)
        .agg(pl.col(*FILLED).mean())
        .sort(*ITEM, "candidate")
    )


def repeats(rows: "pl.DataFrame", criterion: Criterion) -> "pl.DataFrame":
    """One row per candidate, item and repeat: `y`, the mean of its passes, without failures."""
    import polars as pl

    found = by_repeat(rows, criterion).rename({"observed": "y"}).filter(pl.col("y").is_not_null())
    return found.select(*item_of(found), "candidate", "repeat", "y")


def by_answer(measures: Mapping[int, Measure]) -> tuple[dict[int, Measure], tuple[str, ...]]:
    """The measures whose values by answer are averaged, and a line on the pooled ones that are left out."""
    single = {key: m for key, m in measures.items() if m.criterion.pool == "mean"}
    pooled = [f"{m.metric}, {m.criterion.criterion}" for m in measures.values() if m.criterion.pool != "mean"]
    if not pooled:
        return single, ()
    left_out = "; ".join(dict.fromkeys(pooled))
    return single, (f"Left out, being pooled over all answers and no value of each: {left_out}.",)


def settled(criterion: Criterion) -> "pl.Expr":
    """The value of a score row: silence by the criterion's rule, null where it is set aside or failed."""
    import polars as pl

    silent = pl.col("status").is_in(["unanswered", "unreadable"])
    return pl.when(silent).then(pl.lit(criterion.silence, pl.Float64)).otherwise(pl.col("value"))


def span(
    lows: "pl.Series",
    highs: "pl.Series",
    groups: "pl.Series",
    *,
    weights: "pl.Series | None" = None,
    low: float | None,
    high: float | None,
    level: float = 0.95,
) -> stats.Bounds:
    """`stats.bounds` of the two fillings by item.

    Null rows are set aside; a side that holds NaN has no bound.
    """
    there = lows.is_not_null() & highs.is_not_null()
    below, above = (None if side.is_nan().any() else side.filter(there).to_numpy() for side in (lows, highs))
    if not there.any() or (below is None and above is None):
        return stats.Bounds(None, None, None, None)
    w = None if weights is None or weights.n_unique() < 2 else weights.filter(there).to_numpy()
    return stats.bounds(
        below, above, groups.filter(there).to_numpy(), weights=w, low=low, high=high, level=level
    )
