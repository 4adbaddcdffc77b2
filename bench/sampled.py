"""Coverage of nominal 95 % intervals where items weigh unequally, and of figures pooled over answers.

First, yes-or-no questions of which half weigh 8 times as much: our interval, and Wilson's as it is for equal
weights. Then corpus BLEU and chrF of HIVMedQA's published answers, whose questions are drawn again: the
jackknife's interval and the percentile bootstrap's. Usage: python bench/sampled.py [draws]
"""

import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from vivavoce.core import registry
from vivavoce.core.records import Item, Reading, Response, Row
from vivavoce.metrics import ScoringContext
from vivavoce.stats import cluster_mean, estimate_mean, wilson
from vivavoce.stats.pooled import corpus_bleu, corpus_chrf, pooled

CANDIDATE = "GPT-4o"
RESAMPLES = 500


def weighted(draws: int) -> None:
    """Twenty questions, half of them of weight 8, at several shares of right answers."""
    rng = np.random.default_rng(20)
    weights, groups = np.repeat([1.0, 8.0], 10), np.arange(20)
    print(f"20 questions, weights 1 and 8, {draws:,} draws: share of intervals that hold the truth")
    for share in (0.5, 0.7, 0.9, 0.95):
        ours = plain = 0
        for values in (rng.random((draws, 20)) < share).astype(float):
            made = estimate_mean(values, groups, weights=weights, low=0.0, high=1.0)
            found = cluster_mean(values, groups, weights=weights)
            equal = wilson(found.value, found.se, 19, low=0.0, high=1.0)
            ours += made.low <= share <= made.high
            plain += equal.low <= share <= equal.high
        print(f"  right {share:4.0%}: {ours / draws:6.1%}, with equal weights' rule {plain / draws:6.1%}")


def counted(spec: str, names: list[str]) -> np.ndarray:
    """The counts of one candidate's first answers, a row per question."""
    folder = Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    folder = folder / "data" / "hivmedqa"
    if not folder.is_dir():
        sys.exit(f"no answers at {folder}: VIVA_SHARED names the folder that holds data/.")
    gold = {q["id"]: q["gold"] for q in map(json.loads, (folder / "questions.jsonl").open(encoding="utf-8"))}
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for row in map(json.loads, (folder / "responses.jsonl").open(encoding="utf-8")):
        said[row["model"]].setdefault(row["question_id"], row["answer"] or "")
    name = CANDIDATE if CANDIDATE in said else max(said, key=lambda model: len(said[model]))
    rows = [
        Row(
            Item(benchmark="b", item=q, format="longform", question="?", references=(gold[q],)),
            Response(benchmark="b", item=q, candidate=name),
            Reading("ok", text),
        )
        for q, text in said[name].items()
        if text.strip()
    ]
    marks = registry.build("metric", spec).values(rows, ScoringContext())
    return np.array([[one[f"corpus_{spec}"].parts[n] for n in names] for one in marks])


def redrawn(draws: int) -> None:
    """Questions drawn with replacement, so that the pooled figure of all of them is the truth."""
    rng = np.random.default_rng(21)
    orders = range(1, 7)
    ways = {
        "bleu": (corpus_bleu, [*(f"correct_{n}" for n in range(1, 5)), *(f"total_{n}" for n in range(1, 5)),
                               "length_answer", "length_reference"]),
        "chrf": (corpus_chrf, [f"{what}_{n}" for what in ("hyp", "ref", "match") for n in orders]),
    }  # fmt: skip
    print(f"pooled figures of redrawn answers, {draws:,} draws: jackknife, percentile bootstrap")
    for spec, (statistic, names) in ways.items():
        table = counted(spec, names)
        truth = float(statistic(table.sum(axis=0, keepdims=True))[0])
        for size in (10, 21, 42, 63):
            jack = boot = 0
            for _ in range(draws):
                own = table[rng.integers(len(table), size=size)]
                found = pooled(own, np.arange(size), statistic, low=0.0, high=1.0)
                jack += found.low <= truth <= found.high
                picks = rng.multinomial(size, np.full(size, 1 / size), size=RESAMPLES)
                low, high = np.quantile(statistic(picks @ own), (0.025, 0.975))
                boot += low <= truth <= high
            print(f"  {spec} of {size} questions: {jack / draws:6.1%}, {boot / draws:6.1%}")


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    weighted(many)
    redrawn(many)
