"""The null of `viva study RUN confusion`: a candidate that is as good on every label."""

import json

import numpy as np
import polars as pl
from scipy.special import ndtr

from false_alarms import Maker, Null, Rng
from nulls_comparing import candidate_table
from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.score_table import ScoreTable

LABEL_F1 = Measure(
    metric="label_f1",
    signature="label_f1()@1",
    criterion=Criterion(criterion="label_f1", low=0.0, high=1.0, pool="macro_f1"),
)


def labelled(n_labels: int, n_each: int, right: float) -> Maker:
    """Answers to each label, wrong ones at random; planted: those to the first are right a third as often."""

    def make(rng: Rng, planted: bool) -> ScoreTable:
        keys = np.repeat(np.arange(n_labels), n_each)
        share = np.where(planted & (keys == 0), right / 3, right)
        wrong = (keys + rng.integers(1, n_labels, len(keys))) % n_labels
        chosen = np.where(rng.random(len(keys)) < share, keys, wrong)
        parts = [counts_of(f"label {k}", f"label {c}") for k, c in zip(keys, chosen, strict=True)]
        frame = candidate_table((chosen == keys)[None].astype(float), measure=LABEL_F1).scores
        return ScoreTable(frame.with_columns(parts=pl.Series(parts)), {1: LABEL_F1})

    return make


def counts_of(key: str, chosen: str) -> str:
    """What `label_f1` counts of one answer."""
    counts = {f"tp:{key}": 1.0} if key == chosen else {f"fn:{key}": 1.0, f"fp:{chosen}": 1.0}
    return json.dumps(counts)


def key_of(counts: dict[str, int]) -> str:
    """The label that was keyed, of the counts of one answer."""
    return next(name[3:] for name in counts if name[:2] in ("tp", "fn"))


def plain_recall(table: ScoreTable) -> bool:
    """Each label's share right against the others', by two proportions; Bonferroni over labels."""
    keys = [key_of(json.loads(parts)) for parts in table.scores["parts"]]
    right = table.scores["value"].to_numpy()
    names = sorted(set(keys))
    p = []
    for name in names:
        part = np.array(keys) == name
        share = right.mean()
        se = np.sqrt(share * (1 - share) * (1 / part.sum() + 1 / (~part).sum()))
        p.append(2 * ndtr(-abs(right[part].mean() - right[~part].mean()) / se))
    return bool(min(p) * len(p) <= stats.ALPHA)


NULLS = {
    "labels": Null(
        study="confusion",
        cells={
            "4 labels of 20, .8 right": labelled(4, 20, 0.8),
            "8 labels of 15, .7 right": labelled(8, 15, 0.7),
            "3 labels of 50, .9 right": labelled(3, 50, 0.9),
        },
        plain=plain_recall,
    )
}
