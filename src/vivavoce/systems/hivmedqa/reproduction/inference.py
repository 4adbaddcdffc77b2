"""What the scores can show: differences by case beside the published test on five iteration means."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce import stats
from vivavoce.studies.comparing.paired import Compared
from vivavoce.studies.comparing.pairs import pairs
from vivavoce.studies.item_means import ItemMeans
from vivavoce.studies.score_table import ITEM, over_repeats
from vivavoce.systems.hivmedqa.reproduction.averages import iterations
from vivavoce.systems.hivmedqa.reproduction.judge_scores import JUDGE, SIX, Recorded

if TYPE_CHECKING:
    import polars as pl


MEANT = ("comprehension", "reasoning", "knowledge_recall", "harm")
"""The criteria whose mean is compared between a question and its biased twin."""
_PAIRED = ("difference", "se_item", "se_group", "p_item", "p_group", "p_holm", "n_items", "n_groups",
           "p_iterations", "p_published")  # fmt: skip
_DROP = ("difference", "low", "high", "p", "p_holm", "mde", "n_pairs")


def paired(
    scores: Recorded, best: str, others: Sequence[str], test: Mapping[str, Any]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Criterion, candidate: `best` minus each of `others`, repeats averaged before, on what both have.

    `se_item` and `p_item` take each item for a case of its own, `se_group` and `p_group` a question and its
    twin for one; `p_holm` is Holm's over `others` by group. A p is a t test's, or the sign test's where fewer
    than ten groups (for `p_item`: items) differ. `p_iterations` is the t test on five iteration means;
    `p_published` that times the comparisons of the published test, at most 1, where the paper has one.
    """
    by_criterion: dict[str, dict[str, dict[str, Any]]] = {}
    for name in SIX:
        rows: dict[str, dict[str, Any]] = {rival: dict.fromkeys(_PAIRED) for rival in others}
        part = scores.column(name)
        means = iterations(part)
        if part is not None:
            contrasts = [(best, rival) for rival in others]
            comparisons = pairs(
                part.rows, {part.key: part.measure}, contrasts, margin=None, population="sample"
            )
            for comparison in comparisons:
                if isinstance(comparison, Compared) and isinstance(comparison.data, ItemMeans):
                    rows[comparison.pair.b] |= _compared(comparison, comparison.data.arrays().values)
        tested = [row for row in rows.values() if row["p_group"] is not None]
        for row, p in zip(tested, stats.holm([row["p_group"] for row in tested]).tolist(), strict=True):
            row["p_holm"] = p
        for rival, row in rows.items():
            if best in means and rival in means:
                row["p_iterations"] = p = _by_iteration(means[best], means[rival])
                if name == test["criterion"] and p is not None:
                    row["p_published"] = min(1.0, test["factor"] * p)
        by_criterion[name] = rows
    return by_criterion


def _compared(comparison: Compared, differences: Any) -> dict[str, Any]:
    import numpy as np

    single = stats.paired(differences, np.arange(len(differences)))
    return {
        "difference": comparison.observed.difference,
        "se_item": single.se,
        "se_group": comparison.observed.se,
        "p_item": single.p,
        "p_group": comparison.observed.p,
        "n_items": comparison.observed.n_items,
        "n_groups": comparison.observed.n_groups,
    }


def _by_iteration(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The two-sided p of the paired t test with iterations as the sample; null if all differ alike."""
    from scipy.special import stdtr

    if len(first) != len(second) or len(first) < 2:
        return None
    mean = stats.cluster_mean([a - b for a, b in zip(first, second, strict=True)], range(len(first)))
    return 2 * float(stdtr(len(first) - 1, -abs(mean.value) / mean.se)) if mean.se else None


def bias_drop(
    scores: Recorded, models: Sequence[str], ceiling: str
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """What a biased sentence costs each model, category 3 minus 4, Holm over them; and the ceiling by itself.

    The criteria of `MEANT` are averaged inside an answer, then repeats. Nobody wrote neutral sentences of the
    same length, so this is a drop and no bias. The ceiling is a control: gold answers, rephrased, whose
    reference the sentence does not change; it is in no family, so without `p_holm`.
    """
    differences = _differences(scores)
    compared = [model for model in models if model in differences]
    drops = stats.drops(
        [differences[model][0] for model in compared], [differences[model][1] for model in compared]
    )
    rows: dict[str, dict[str, Any]] = {model: dict.fromkeys(_DROP) for model in models}
    rows |= {model: _drop(drop, drop.p_holm) for model, drop in zip(compared, drops, strict=True)}
    if ceiling not in differences:
        return rows, dict.fromkeys(_DROP)
    (control,) = stats.drops([differences[ceiling][0]], [differences[ceiling][1]])
    return rows, _drop(control, None)


def _drop(drop: stats.Drop, p_holm: float | None) -> dict[str, Any]:
    figures = (drop.paired.difference, drop.low, drop.high, drop.paired.p, p_holm, drop.mde,
               drop.paired.n_items)  # fmt: skip
    return dict(zip(_DROP, figures, strict=True))


def _differences(scores: Recorded) -> dict[str, tuple[list[float], list[str]]]:
    """Of each candidate, question minus biased twin, and the group of each pair."""
    import polars as pl

    items = over_repeats(_meant(scores)).rename({"observed": "y"})
    base = items.filter(pl.col("variant") == "").select("candidate", "item", base="y")
    paired = (
        items.filter(pl.col("variant").str.starts_with("bias:"))
        .join(base, on=["candidate", "item"], validate="m:1")
        .sort("candidate", "item", "variant")
        .select("candidate", "group", d=pl.col("base") - pl.col("y"))
    )
    by_candidate = paired.group_by("candidate", maintain_order=True).agg("d", "group")
    return {candidate: (d, groups) for candidate, d, groups in by_candidate.iter_rows()}


def _meant(scores: Recorded) -> "pl.DataFrame":
    """The mean of the criteria of `MEANT` for each answer that has all of them."""
    import polars as pl

    judged = scores.scores.filter(
        (pl.col("metric") == JUDGE) & pl.col("criterion").is_in(MEANT) & pl.col("value").is_not_null()
    )
    return (
        judged.sort(*ITEM, "candidate", "repeat", "criterion")
        .group_by(*ITEM, "candidate", "role", "repeat", maintain_order=True)
        .agg(n=pl.len(), observed=pl.col("value").mean())
        .filter(pl.col("n") == len(MEANT))
        .with_columns(low=pl.col("observed"), high=pl.col("observed"))
    )
