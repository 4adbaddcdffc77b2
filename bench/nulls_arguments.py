"""The null of `viva study RUN arguments`: equal sources, and trainings that favour some of them."""

from itertools import combinations

import numpy as np
import polars as pl
from scipy.stats import ttest_rel

from false_alarms import Maker, Null, Rng
from vivavoce import stats
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.score_table import ScoreTable

Floats = np.ndarray


def draw_answers(
    rng: Rng, *, n_sources: int = 4, n_items: int = 60, mixtures: int = 1, runs: int = 5,
    luck: float = 0.3, planted: float = 0.0,
) -> Floats:  # fmt: skip
    """1 where an evaluator is right, shape (sources, items, mixtures, runs); `luck`: sd of trainings."""
    of_items = rng.normal(0, 1, n_items)[None, :, None, None]
    of_texts = rng.normal(0, 0.6, (n_sources, n_items, 1, 1))
    of_runs = rng.normal(0, luck, (n_sources, 1, mixtures, runs))
    z = of_items + of_texts + of_runs + rng.normal(0, 0.5, (n_sources, n_items, mixtures, runs))
    z[0] += planted
    return (z > 0).astype(float)


def argument_table(answers: Floats) -> ScoreTable:
    """The rows of `run.scores` of a trained evaluator."""
    criterion = Criterion(criterion="right", low=0.0, high=1.0)
    frames, measures = [], {}
    for mixture in range(answers.shape[2]):
        name = f"trained(weights=models/mixture-{mixture + 1})"
        measures[mixture + 1] = Measure(
            metric=name, signature=f"{name}@1", criterion=criterion, rater=f"mixture-{mixture + 1}"
        )
        of_mixture = answers[:, :, mixture]
        source, item, run = (x.ravel() for x in np.indices(of_mixture.shape))
        frames.append(
            pl.DataFrame(
                {"measure_id": mixture + 1, "benchmark": "simulated", "item": [f"q{i:04}" for i in item],
                 "variant": "", "category": None, "alias": None, "group": [f"g{i:04}" for i in item],
                 "candidate": [f"c{k}" for k in source], "role": "candidate", "repeat": 1, "edit": "",
                 "pass_no": run + 1, "unit": "", "ballot": "", "position": None,
                 "value": of_mixture.ravel(), "status": "ok", "parts": None, "format": "argument"},
                schema_overrides=dict.fromkeys(("category", "alias", "parts"), pl.String)
                | {"position": pl.Int64},
            )
        )  # fmt: skip
    return ScoreTable(pl.concat(frames), measures)


def trained(mixtures: int, runs: int, n_items: int = 60) -> Maker:
    """Four sources that are equal but for luck; planted: the first is better by .8 of an item's spread."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        shift = 0.8 if planted else 0.0
        return argument_table(draw_answers(rng, n_items=n_items, mixtures=mixtures, runs=runs, planted=shift))

    return make


def tells_apart(finding: Finding) -> bool:
    """Whether a pair of sources is told apart."""
    return any(row["figure"] == "pairs_told_apart" and row["value"] for row in finding.rows)


def plain_cases(table: ScoreTable) -> bool:
    """Paired t of each pair over cases, runs averaged, Holm over pairs: trainings are no luck."""
    by_item = table.scores.group_by("candidate", "item").agg(pl.col("value").mean()).sort("candidate", "item")
    values = [part["value"].to_numpy() for _, part in by_item.group_by("candidate", maintain_order=True)]
    p = [ttest_rel(a, b).pvalue for a, b in combinations(values, 2)]
    return bool((stats.holm(np.nan_to_num(p, nan=1.0)) <= stats.ALPHA).any())


NULLS = {
    "arguments": Null(
        study="arguments",
        cells={
            "4 sources, 5 trainings": trained(1, 5),
            "4 sources, 10 trainings": trained(1, 10),
            "4 sources, 3 trainings": trained(1, 3),
            "4 sources, 5 trainings, 200 items": trained(1, 5, 200),
            "4 sources, 5 mixtures of 3 trainings": trained(5, 3),
        },
        plain=plain_cases,
        named={"arguments.ranks": tells_apart},
    )
}
