"""The null of `viva study RUN arguments`: equal sources, and trainings that favour some of them."""

import numpy as np
import polars as pl

from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.score_table import ScoreTable
from vivavoce.systems.ranking.study.ranks import lineups, rank_rows
from vivavoce.systems.ranking.study.source_scores import families, source_scores

Rng = np.random.Generator
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


def tells_apart(rng: Rng, **terms: float) -> bool:
    """Whether a pair of sources is told apart; `terms` are those of `draw_answers`."""
    table = argument_table(draw_answers(rng, **terms))  # type: ignore[arg-type]
    (family,) = families(table.measures)
    (scores,) = source_scores(table, family)
    rows = (row for lineup in lineups(scores, {}) for row in rank_rows(lineup))
    return any(row.figure == "pairs_told_apart" and (row.value or 0) > 0 for row in rows)


NULLS: dict[str, object] = {}
