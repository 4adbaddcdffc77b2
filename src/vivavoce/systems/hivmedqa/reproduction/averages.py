"""Means as the paper takes them: categories inside an iteration first, so that each category weighs alike."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.studies.score_table import by_repeat
from vivavoce.systems.hivmedqa.reproduction.judge_scores import (
    CEILING,
    FREE,
    JUDGE,
    JUDGED,
    SIX,
    Part,
    Recorded,
    medsynf1,
)

if TYPE_CHECKING:
    import polars as pl


CATEGORIES = ("1", "2", "3", "4")


def _answers(part: Part, column: str = "observed") -> "pl.DataFrame":
    """`y` of each answer with its category; answers without a value are not there."""
    import polars as pl

    categories = part.rows.select("item", "variant", "category").unique()
    answers = by_repeat(part.rows, part.measure.criterion).select(
        "item", "variant", "candidate", "repeat", y=column
    )
    return answers.filter(pl.col("y").is_not_null()).join(
        categories, on=["item", "variant"], validate="m:1", maintain_order="left"
    )


def iterations(part: Part | None, column: str = "observed") -> dict[str, list[float]]:
    """Of each candidate the means of its iterations in their order, each a mean of category means.

    `column` low counts what could not be read as the worst.
    """
    import polars as pl

    if part is None:
        return {}
    means = (
        _answers(part, column)
        .group_by("candidate", "repeat", "category", maintain_order=True)
        .agg(pl.col("y").mean())
        .sort("candidate", "repeat", "category")
        .group_by("candidate", "repeat", maintain_order=True)
        .agg(pl.col("y").mean())
    )
    by_candidate = means.group_by("candidate", maintain_order=True).agg("y")
    return {candidate: ys for candidate, ys in by_candidate.iter_rows()}


def by_category(part: Part | None) -> dict[str, dict[str, float]]:
    """Category, then candidate: the mean over iterations of the mean inside one."""
    import polars as pl

    if part is None:
        return {}
    means = (
        _answers(part)
        .group_by("candidate", "repeat", "category")
        .agg(pl.col("y").mean())
        .sort("candidate", "repeat", "category")
        .group_by("candidate", "category", maintain_order=True)
        .agg(pl.col("y").mean())
    )
    result: dict[str, dict[str, float]] = {}
    for candidate, category, y in means.iter_rows():
        result.setdefault(category, {})[candidate] = y
    return result


def table2(marks: Recorded, published: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Candidate, criterion: mean and sd (n - 1) over iterations, beside what was printed.

    The sd says how much five generations differ, not how sure the mean is. Null where nothing was scored or
    printed.
    """
    by_criterion = {name: iterations(marks.column(name)) for name in SIX}
    table: dict[str, dict[str, Any]] = {}
    for candidate, printed in published.items():
        for name in SIX:
            iteration_means = by_criterion[name].get(candidate)
            mean, sd = printed[name] or (None, None)
            table.setdefault(candidate, {})[name] = {
                "mean": statistics.fmean(iteration_means) if iteration_means else None,
                "sd": statistics.stdev(iteration_means)
                if iteration_means and len(iteration_means) > 1
                else None,
                "published_mean": mean,
                "published_sd": sd,
            }
    return table


def exclusions(marks: Recorded) -> dict[str, Any]:
    """What the published figures leave out without saying so, and what they were if it counted 0.

    `zero` has the rows of Table 2 of the candidates concerned, with unparsed scores at 0 and their F1 as
    stored.
    """
    unparsed = marks.unparsed().sort("candidate", "alias", "repeat")
    rows = [
        {"candidate": candidate, "item": alias or item, "iteration": repeat, "parse_status": note}
        for candidate, item, alias, repeat, note in unparsed.select(
            "candidate", "item", "alias", "repeat", "note"
        ).iter_rows()
    ]
    zero: dict[str, dict[str, float]] = {}
    for name in SIX:
        means = iterations(marks.part(*SIX[name]), "low")
        for candidate in dict.fromkeys(row["candidate"] for row in rows):
            if candidate in means:
                zero.setdefault(candidate, {})[name] = statistics.fmean(means[candidate])
    return {
        "items": len(marks.exam.items),
        "items_in_all": len(marks.exam.items) + len(marks.exam.others),
        "items_left_out": [
            {
                "item": item.name,
                "category": item.category,
                "why": "the paper does not say"
                if item.category in CATEGORIES
                else "its category is not in the paper",
            }
            for item in marks.exam.others
        ],
        "unparsed": len(rows),
        "unparsed_rows": rows,
        "zero": zero,
    }


def reference_gap(marks: Recorded, models: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """What a model gains if the judge sees no reference: over the first three criteria, and over all five.

    Here answers are averaged inside their category over all iterations at once; it differs from the order of
    Table 2 only where answers are missing, by under 0.002.
    """
    import polars as pl

    def means(metric: str, criterion: str) -> dict[str, float]:
        part = marks.part(metric, criterion)
        if part is None:
            return {}
        frame = (
            _answers(part)
            .group_by("candidate", "category", maintain_order=True)
            .agg(pl.col("y").mean())
            .sort("candidate", "category")
            .group_by("candidate", maintain_order=True)
            .agg(pl.col("y").mean())
        )
        return dict(frame.iter_rows())

    gaps: dict[str, list[float]] = {model: [] for model in models}
    for criterion in JUDGED:
        without_reference, with_it = means(FREE, criterion), means(JUDGE, criterion)
        for model in models:
            if model in without_reference and model in with_it:
                gaps[model].append(without_reference[model] - with_it[model])
    return {
        model: {
            "mean3": statistics.fmean(gap[:3]) if gap else None,
            "mean5": statistics.fmean(gap) if gap else None,
        }
        for model, gap in gaps.items()
    }


def f1_variants(marks: Recorded, published: Mapping[str, float | None]) -> dict[str, dict[str, float | None]]:
    """The mean F1 of the rephrased gold answers by each variant, beside what was printed."""
    variants: dict[str, dict[str, float | None]] = {}
    for variant, printed in published.items():
        ceiling = iterations(marks.part(medsynf1(variant), "f1")).get(CEILING)
        variants[variant] = {"mean": statistics.fmean(ceiling) if ceiling else None, "published": printed}
    return variants
