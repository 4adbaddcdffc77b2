"""Nulls of `viva diff`: a new rater under whom only noise changes, and one that is kinder to some candidates.

A bridge's interval is to hold the new mean of a further candidate in 95 %, and a pair of candidates is to be
called another in at most 5 % of the tables in which no candidate is treated unlike the others.
"""

import numpy as np
import polars as pl

from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.comparing.diff import diff
from vivavoce.studies.score_table import ScoreTable

OLD, NEW = "old()@1", "new()@1"
FURTHER = "further"
Rng = np.random.Generator
Floats = np.ndarray


def draw_scores(
    rng: Rng, n_candidates: int, n_items: int, *, able: float, shift: float, slope: float = 1.0
) -> Floats:
    """Scores by the old and the new rater, shape (2, candidates, items): quality, shift of each, and noise.

    `able` and `shift` are standard deviations of candidates' means and of their own shifts, on a scale from 0
    to 5; the new rater stretches the means by `slope`.
    """
    mean = rng.normal(2.5, able, n_candidates)[:, None]
    within = rng.normal(0, 0.7, n_items) + rng.normal(0, 0.5, (n_candidates, n_items))
    noise = rng.normal(0, 0.6, (2, n_candidates, n_items))
    shifts = rng.normal(-0.3, shift, n_candidates)[:, None]
    return np.stack([mean + within, 2.5 + slope * (mean - 2.5) + within + shifts]) + noise


def diff_table(scores: Floats, further: Floats | None = None) -> ScoreTable:
    """The rows of `run.scores` of both raters; `further` are scores of a candidate by the old one alone."""
    frames = [
        score_rows(rater + 1, f"c{k:02}", of_candidate)
        for rater, of_rater in enumerate(scores)
        for k, of_candidate in enumerate(of_rater)
    ]
    if further is not None:
        frames.append(score_rows(1, FURTHER, further))
    criterion = Criterion(criterion="score", low=0.0, high=5.0)
    measures = {
        n + 1: Measure(metric=signature, signature=signature, criterion=criterion)
        for n, signature in enumerate((OLD, NEW))
    }
    return ScoreTable(pl.concat(frames), measures)


def score_rows(measure: int, candidate: str, values: Floats) -> pl.DataFrame:
    """The rows of one candidate by one measure, each item a case."""
    n = range(len(values))
    return pl.DataFrame(
        {"measure_id": measure, "benchmark": "simulated", "item": [f"q{i:04}" for i in n], "variant": "",
         "category": None, "alias": None, "group": [f"g{i:04}" for i in n], "candidate": candidate,
         "role": "candidate", "repeat": 1, "edit": "", "pass_no": 1, "unit": "", "ballot": "",
         "position": None, "value": values, "status": "ok", "parts": None},
        schema_overrides=dict.fromkeys(("category", "alias", "parts"), pl.String) | {"position": pl.Int64},
    )  # fmt: skip


def covers(rng: Rng, n_candidates: int, n_items: int, **terms: float) -> bool | None:
    """Whether the interval of a further candidate holds its new mean; null where there is no interval."""
    scores = draw_scores(rng, n_candidates + 1, n_items, **terms)
    rows = diff(diff_table(scores[:, :-1], scores[0, -1]), OLD, NEW).rows
    carried = [row for row in rows if row["part"] == "carried" and row["candidate"] == FURTHER]
    if not carried or carried[0]["low"] is None:
        return None
    return bool(carried[0]["low"] <= scores[1, -1].mean() <= carried[0]["high"])


def names_pair(rng: Rng, n_candidates: int, n_items: int, *, able: float, planted: float = 0.0) -> bool:
    """Whether the verdict on a pair is another; `planted` is what the new rater takes from the first."""
    scores = draw_scores(rng, n_candidates, n_items, able=able, shift=0.0)
    scores[1, 0] -= planted
    (order,) = (row for row in diff(diff_table(scores), OLD, NEW).rows if row["part"] == "order")
    return bool(order["n_verdicts_changed"])


NULLS: dict[str, object] = {}
"""`viva diff` is no study with declared sentences: `covers` and `names_pair` are run by themselves."""
