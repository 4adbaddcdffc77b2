"""Coverage of nominal 95 % intervals of HIVMedQA's published scores drawn again, and errors of the test.

Items are drawn with replacement from all 92, as if single, and their five repeats drawn again inside each:
the true mean is then known. Below, whole groups (twins with their source) of the paper's 63 items. Real
scores come through VIVA_SHARED. Usage: python bench/redrawn_scores.py [draws]
"""

import csv
import json
import os
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from vivavoce.stats import estimate_mean, paired

SIZES = (10, 21, 63, 92)
REPEATS = 5
RESAMPLES = 1_000
COLUMNS = ("naive rows", "iterations", "percentile", "BCa", "cluster-t", "Wilson n*")


def load() -> tuple[dict[tuple[str, str], dict[str, list[float]]], dict[str, str], set[str]]:
    """Scores by (model, criterion) and question; the group of each question; the paper's questions."""
    folder = Path(os.environ.get("VIVA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    folder = folder / "data" / "hivmedqa"
    if not folder.is_dir():
        sys.exit(
            f"no scores at {folder}: VIVA_SHARED names the folder that holds data/. Nothing was simulated."
        )
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    marks: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (folder / "judge_scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["supervised"] == "True" and row["parse_status"] == "ok":
                for criterion in ("comprehension", "harm", "demographic_bias"):
                    marks[row["model"], criterion][row["question_id"]].append(float(row[criterion]))
    with (folder / "f1.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["variant"] == "gptdict_lemma":
                marks[row["model"], "MedSynF1"][row["question_id"]].append(float(row["f1"]))
    group = {q["id"]: q["derived_from"] or q["id"] for q in questions}
    return marks, group, {q["id"] for q in questions if q["paper_subset"]}


def matrix(items: dict[str, list[float]], names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Repeats of each item in a row, the missing ones padded with 0, and how many there are."""
    counts = np.array([len(items[name]) for name in names])
    padded = np.zeros((len(names), counts.max()))
    for i, name in enumerate(names):
        padded[i, : counts[i]] = items[name]
    return padded, counts


def redraw(
    padded: np.ndarray, counts: np.ndarray, chosen: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """New repeats, shape (..., 5), of the items chosen."""
    at = (rng.random((*chosen.shape, REPEATS)) * counts[chosen][..., None]).astype(int)
    return padded[chosen[..., None], at]


def covered(low: np.ndarray, high: np.ndarray, truth: float) -> float:
    return 100 * float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def spread(values: np.ndarray, truth: float) -> float:
    """Coverage of the t interval from independent values along the last axis."""
    n = values.shape[-1]
    half = stdtrit(n - 1, 0.975) * values.std(axis=-1, ddof=1) / np.sqrt(n)
    mean = values.mean(axis=-1)
    return covered(mean - half, mean + half, truth)


def resampled(y: np.ndarray, truth: float, rng: np.random.Generator) -> tuple[float, float]:
    """Coverage of percentile and BCa intervals of the mean; all draws share one set of resamples."""
    n = y.shape[1]
    shares = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES) / n
    means = np.sort(y @ shares.T, axis=1)
    low, high = np.quantile(means, [0.025, 0.975], axis=1)
    value = y.mean(axis=1)[:, None]
    below = ((means < value - 1e-12).mean(axis=1) + (means <= value + 1e-12).mean(axis=1)) / 2
    bias = ndtri(np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES))
    pull = y - value
    square = (pull**2).sum(axis=1)
    acceleration = (pull**3).sum(axis=1) / (6 * np.where(square > 0, square, 1) ** 1.5)
    ends = []
    for z in (ndtri(0.025), ndtri(0.975)):
        share = ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
        ends.append(means[np.arange(len(y)), np.round(share * (RESAMPLES - 1)).astype(int)])
    return covered(low, high, truth), covered(ends[0], ends[1], truth)


def singles(
    rows: np.ndarray, truth: float, limits: tuple[float, float] | None, rng: np.random.Generator
) -> list[float | None]:
    """Coverage by column, from rows of shape (draws, n, 5)."""
    draws, n, _ = rows.shape
    y = rows.mean(axis=2)
    wilson = None
    if limits:
        ends = np.array([estimate_mean(v, np.arange(n), low=limits[0], high=limits[1])[1:3] for v in y])
        wilson = covered(ends[:, 0], ends[:, 1], truth)
    percentile, bca = resampled(y, truth, rng)
    naive, iterations = spread(rows.reshape(draws, -1), truth), spread(rows.mean(axis=1), truth)
    return [naive, iterations, percentile, bca, spread(y, truth), wilson]


def main(draws: int = 2_000) -> None:
    start, rng = time.perf_counter(), np.random.default_rng(2024)
    marks, group, paper = load()
    marks["Gemini 2.5 Pro", "harm = 5"] = {
        name: [float(mark == 5) for mark in own] for name, own in marks["Gemini 2.5 Pro", "harm"].items()
    }
    print(f"{'data':34} {'n':>3}  " + " ".join(f"{name:>10}" for name in COLUMNS))
    for model, criterion, limits in (
        ("Claude 3.5 Sonnet", "comprehension", (0, 5)),
        ("Claude 3.5 Sonnet", "harm", (0, 5)),
        ("Gemini 2.5 Pro", "harm = 5", (0, 1)),
        ("Med42-70B", "demographic_bias", (0, 5)),
        ("Claude 3.5 Sonnet", "MedSynF1", (0, 1)),
    ):
        own = marks[model, criterion]
        padded, counts = matrix(own, sorted(own))
        truth = float(np.mean([np.mean(own[name]) for name in own]))
        for n in SIZES:
            rows = redraw(padded, counts, rng.integers(0, len(own), (draws, n)), rng)
            show(f"{model}, {criterion}", n, singles(rows, truth, limits, rng))
    a, b = marks["Gemini 2.5 Pro", "comprehension"], marks["MedGemma 27B", "comprehension"]
    names = sorted(set(a) & set(b))
    both = [matrix(side, names) for side in (a, b)]
    truth = float(np.mean([np.mean(a[name]) - np.mean(b[name]) for name in names]))
    for n in SIZES:
        chosen = rng.integers(0, len(names), (draws, n))
        rows = redraw(*both[0], chosen, rng) - redraw(*both[1], chosen, rng)
        show("Gemini - MedGemma, paired", n, singles(rows, truth, None, rng))
    twins(marks, group, sorted(paper), draws, rng)
    print(f"{draws} draws each, {RESAMPLES} resamples, {time.perf_counter() - start:.0f} s")


def show(name: str, n: int, cells: list[float | None]) -> None:
    print(f"{name:34} {n:3}  " + " ".join("         -" if c is None else f"{c:10.1f}" for c in cells))


def twins(
    marks: dict[tuple[str, str], dict[str, list[float]]],
    group: dict[str, str],
    paper: list[str],
    draws: int,
    rng: np.random.Generator,
) -> None:
    """Whole groups of the paper's items drawn again: intervals by group, and rejections of a true null.

    Coverage is that of the intervals that are given: with 14 groups often fewer than 10 effective ones.
    """
    print(f"\n{'63 items in groups':34}   G   item-t  group-t  Wilson n*")
    for model in ("Gemini 2.5 Pro", "Claude 3.5 Sonnet", "MedGemma 27B"):
        for criterion in ("comprehension", "harm"):
            own = marks[model, criterion]
            names = [name for name in paper if name in own]
            padded, counts = matrix(own, names)
            truth = float((padded.sum(axis=1) / counts).mean())
            codes = np.unique([group[name] for name in names], return_inverse=True)[1]
            for n_groups in (14, 42):
                hits, given = np.zeros(3), np.zeros(3)
                for _ in range(draws):
                    rows, drawn = draw_groups(codes, n_groups, rng)
                    y = redraw(padded, counts, rows, rng).mean(axis=1)
                    for k, (labels, limits) in enumerate(
                        ((np.arange(len(rows)), {}), (drawn, {}), (drawn, {"low": 0, "high": 5}))
                    ):
                        e = estimate_mean(y, labels, **limits)
                        # Of too few effective cases there is no t interval to be counted.
                        if e.low is not None and e.high is not None:
                            given[k] += 1
                            hits[k] += e.low <= truth <= e.high
                cells = " ".join(f"{100 * h / max(1, n):8.1f}" for h, n in zip(hits, given, strict=True))
                print(f"{model + ', ' + criterion:34} {n_groups:3} {cells}")
    print(f"\n{'rejected at .05 though equal':34}   G    items   groups")
    own = marks["Gemini 2.5 Pro", "comprehension"]
    for other in ("Claude 3.5 Sonnet", "MedGemma 27B", "Llama 3.3-70B-Instruct", "Gemma 3 27B"):
        both = [matrix(side, paper) for side in (own, marks[other, "comprehension"])]
        truth = float(np.subtract(*[(padded.sum(axis=1) / counts).mean() for padded, counts in both]))
        codes = np.unique([group[n] for n in paper], return_inverse=True)[1]
        hits = np.zeros(2)
        for _ in range(draws):
            rows, drawn = draw_groups(codes, 42, rng)
            a, b = (redraw(*side, rows, rng).mean(axis=1) for side in both)
            for k, labels in enumerate((np.arange(len(rows)), drawn)):
                hits[k] += paired(a - b - truth, labels).p <= 0.05
        print(f"{'Gemini - ' + other:34}  42 {100 * hits[0] / draws:8.1f} {100 * hits[1] / draws:8.1f}")


def draw_groups(codes: np.ndarray, n_groups: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of groups drawn with replacement, and the number of the draw that each row is from."""
    members = [np.flatnonzero(codes == g) for g in range(codes.max() + 1)]
    chosen = [members[g] for g in rng.integers(0, len(members), n_groups)]
    return np.concatenate(chosen), np.repeat(np.arange(n_groups), [len(rows) for rows in chosen])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
