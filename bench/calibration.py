"""Calibration's intervals and the promise of a threshold, over simulated benchmarks whose truth is known.

Per cell: coverage of the 95 % intervals of the debiased calibration error, Brier's score, its reliability and
resolution, and AURC; mean of the plain and of the debiased error; how often a threshold is named, how often
the true risk at it is above the promise, and what share it answers.

Usage: python bench/calibration.py [DRAWS] [--json FILE] [--seed N]
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vivavoce.stats.calibration import _bins, calibration, outcomes
from vivavoce.stats.selective import answer_threshold, risk_coverage

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Rng = np.random.Generator

POPULATION = 400_000


def stated(n: int, rng: Rng) -> Floats:
    """Confidences as models state them: few round numbers, most of them high."""
    return rng.choice([0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0], n, p=[0.05, 0.05, 0.1, 0.2, 0.3, 0.2, 0.1])


def repeats(n: int, rng: Rng) -> Floats:
    """Shares of five equal repeats."""
    return rng.choice([0.2, 0.4, 0.6, 0.8, 1.0], n, p=[0.05, 0.1, 0.15, 0.2, 0.5])


def likelihood(n: int, rng: Rng) -> Floats:
    """Probabilities of the option that is picked: any number, most of them near 1."""
    return rng.beta(4.0, 0.8, n)


CONFIDENCES: Mapping[str, Callable[[int, Rng], Floats]] = {
    "stated": stated,
    "repeats": repeats,
    "likelihood": likelihood,
}
RIGHT: Mapping[str, Callable[[Floats], Floats]] = {
    "calibrated": lambda c: c,
    "overconfident": lambda c: np.clip(c - 0.15, 0, 1),
    "tells nothing": lambda c: np.full_like(c, 0.8),
    "surest are wrong": lambda c: np.where(c >= 0.95, 0.6, np.where(c >= 0.75, 0.97, 0.6)),
    "nearly all right": lambda c: 0.9 + 0.1 * c,
    "just above the promise": lambda c: np.full_like(c, 0.899),
    "just above at the top": lambda c: np.where(c >= 0.9, 0.899, 0.5),
}
CASES = ("one", "threes alike", "lognormal")


class Cell(NamedTuple):
    """A kind of benchmark: number of cases, their sizes, the confidences and how often these are right."""

    n_cases: int
    cases: str
    confidence: str
    right: str

    def rng(self) -> Rng:
        """The same draws each time, and others in each cell."""
        return np.random.default_rng([ord(letter) for letter in repr(tuple(self))])


def sizes(cell: Cell, rng: Rng) -> Codes:
    """The case of each question."""
    if cell.cases == "one":
        return np.arange(cell.n_cases)
    if cell.cases == "threes alike":
        return np.repeat(np.arange(cell.n_cases), 3)
    n = np.maximum(1, np.round(rng.lognormal(0.7, 0.7, cell.n_cases))).astype(int)
    return np.repeat(np.arange(cell.n_cases), n)


def draw(cell: Cell, rng: Rng) -> tuple[Floats, Floats, Codes]:
    """Confidences, right or wrong, and cases; two of three questions share their case's luck."""
    cases = sizes(cell, rng)
    alike = rng.random(len(cases)) < (0.0 if cell.cases == "one" else 2 / 3)
    law = CONFIDENCES[cell.confidence]
    c = np.where(alike, law(cell.n_cases, rng)[cases], law(len(cases), rng))
    luck = np.where(alike, rng.random(cell.n_cases)[cases], rng.random(len(cases)))
    return c, (luck < RIGHT[cell.right](c)).astype(float), cases


class Truth(NamedTuple):
    """What the figures of a cell estimate."""

    squared: float
    resolution: float
    brier: float
    aurc: float
    confidence: Floats
    risk: Floats

    def risk_at(self, threshold: float) -> float:
        """The share of errors among all answers of at least this confidence."""
        return float(self.risk[np.searchsorted(-self.confidence, -threshold + 1e-9, side="right") - 1])


def truth(cell: Cell, effective: float) -> Truth:
    """From a population so large that it has no noise; bins are as many as the benchmark has."""
    rng = np.random.default_rng(7)
    c = np.sort(CONFIDENCES[cell.confidence](POPULATION, rng))[::-1]
    p = RIGHT[cell.right](c)
    codes = _bins(outcomes(c, np.ones_like(c), np.arange(len(c)), None), effective)
    share = np.bincount(codes) / len(c)
    gaps = np.bincount(codes, weights=c - p) / len(c) / share
    hits = np.bincount(codes, weights=p) / len(c) / share
    _, ties = np.unique(-c, return_inverse=True)
    n, errors = np.bincount(ties), np.bincount(ties, weights=1 - p)
    part = (np.arange(len(c)) - np.repeat(np.cumsum(n) - n, n) + 1) / n[ties]
    wrong = (np.cumsum(errors) - errors)[ties] + errors[ties] * part
    return Truth(
        float(share @ gaps**2),
        float(share @ (hits - p.mean()) ** 2),
        float((p * (1 - c) ** 2 + (1 - p) * c**2).mean()),
        float((wrong / np.arange(1, len(c) + 1)).mean()),
        c,
        np.cumsum(1 - p) / np.arange(1, len(c) + 1),
    )


def covers(figure: Any, value: float) -> float:
    """1 or 0; NaN without an interval."""
    return np.nan if figure.low is None else float(figure.low - 1e-9 <= value <= figure.high + 1e-9)


def intervals(cell: Cell, draws: int) -> dict[str, float]:
    """How often each interval holds the truth; the mean plain and debiased error, and the true one."""
    rng, true = cell.rng(), dict[int, Truth]()
    columns: dict[str, list[float]] = {}
    for _ in range(draws):
        c, y, cases = draw(cell, rng)
        figures, curve = calibration(c, y, cases), risk_coverage(c, y, cases, most=2)
        n_bins = max(1, min(10, int(figures.effective_groups // 10)))
        if n_bins not in true:
            true[n_bins] = truth(cell, figures.effective_groups)
        t = true[n_bins]
        row = {
            "ece": figures.ece.value or 0.0,
            "ece_debiased": figures.ece_debiased.value or 0.0,
            "true_ece": t.squared**0.5,
            "error": covers(figures.ece_debiased, t.squared**0.5),
            "brier": covers(figures.brier, t.brier),
            "resolution": covers(figures.resolution, t.resolution),
            "aurc": covers(curve.aurc, t.aurc),
        }
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    return {name: _mean(np.array(values)) for name, values in columns.items()}


def promises(cell: Cell, draws: int, *, risk: float = 0.1) -> dict[str, float]:
    """How often a threshold is named and its true risk is above the promise, and what it answers."""
    rng = cell.rng()
    true = truth(cell, 100.0)
    named, broken, answered = 0, 0, []
    for _ in range(draws):
        promise = answer_threshold(*draw(cell, rng), risk=risk)
        if promise.threshold is not None and promise.coverage is not None:
            named += 1
            broken += true.risk_at(promise.threshold) > risk + 1e-9
            answered.append(promise.coverage)
    return {"named": named / draws, "broken": broken / draws, "answered": _mean(np.array(answered))}


def _mean(values: Floats) -> float:
    """The mean of those draws that have a value."""
    some = values[~np.isnan(values)]
    return float(some.mean()) if len(some) else np.nan


BLOCKS: Mapping[str, Callable[[Cell, int], dict[str, float]]] = {"intervals": intervals, "promises": promises}
AT_THE_PROMISE = ("calibrated", "surest are wrong", "just above the promise", "just above at the top")


def cells(block: str) -> Iterator[Cell]:
    """All cells of a block; of promises those in which one can be broken."""
    if block == "promises":
        yield from starmap(Cell, product((100, 300), CASES, ("stated", "likelihood"), AT_THE_PROMISE))
    else:
        yield from starmap(Cell, product((60, 240), CASES, CONFIDENCES, list(RIGHT)[:5]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("draws", nargs="?", type=int, default=1000)
    parser.add_argument("--block", action="append", choices=list(BLOCKS))
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows = []
    for block in args.block or BLOCKS:
        for cell in cells(block):
            figures = BLOCKS[block](cell, args.draws)
            rows.append({"block": block, **cell._asdict(), **figures})
            words = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            print(*cell, words, sep="; ", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
