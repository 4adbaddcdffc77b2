"""How many labels are saved by drawing cases where a label tells most: docs/statistics.md.

    python bench/label_draws.py [DRAWS]

Each cell simulates benchmarks of 600 cases, two equal candidates, a judge on all cases and people on 120 of
them. Three ways to draw the 120: all alike in chance; by the judge's scores alone; 40 of them so and 80 more
after their labels are known. Labels saved: 1 - 120 / (how many labels drawn alike give an interval of the
same mean squared width), interpolated in 1 / n between 80 and 200. Benchmarks in which some way has no
interval, as too few labelled cases differ, are left out and counted. Printed as Markdown.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from vivavoce import stats

Floats = NDArray[np.float64]

CASES, FIRST, SECOND = 600, 40, 80
ALIKE = (80, 100, 120, 160, 200)
FOLDS = 5
BATCHES = 10
JUDGES = ("good", "weak", "random", "wrong")


class Cell(NamedTuple):
    """What is simulated: the highest score (0 to `top`), the judge, the share of ties, the judge's passes."""

    top: int
    judge: str
    ties: float
    passes: int

    def __str__(self) -> str:
        return f"0–{self.top} | {self.judge} | {self.ties:.0%} | {self.passes}"


class Benchmark(NamedTuple):
    """Differences by case: people's, the judge's mean over passes, and its variance between them."""

    people: Floats
    judge: Floats
    spread: Floats | None


def simulated(cell: Cell, rng: Generator) -> Benchmark:
    """A benchmark on which people find the two candidates equally good on average.

    Harder cases have larger errors of the judge, half of which every pass repeats. The judge is good (wrong
    about 6 % of yes/no scores, or by .6 of a point), weak (25 %, 1.5 points), random, or wrong: it has an
    opinion like that of people on a benchmark of its own.
    """
    same = rng.random(CASES) < cell.ties
    pair = _people(cell.top, same, rng)
    people = pair[0] - pair[1]
    if cell.judge == "wrong":
        same = rng.random(CASES) < cell.ties
        pair = _people(cell.top, same, rng)
    # Where both answers are alike there is less to get wrong.
    hardness = np.exp(rng.normal(0, 0.7, CASES)) * np.where(same, 0.5, 1.0)
    judged = _judged(pair[0], cell, hardness, rng) - _judged(pair[1], cell, hardness, rng)
    spread = judged.var(axis=0, ddof=1) if cell.passes > 1 else None
    return Benchmark(people, judged.mean(axis=0), spread)


def _people(top: int, same: NDArray[np.bool_], rng: Generator) -> tuple[Floats, Floats]:
    if top == 1:
        a = (rng.random(CASES) < 0.7).astype(float)
        b = np.where(same, a, 1 - a)
    else:
        middle, gap = rng.normal(0.7 * top, 1.0, CASES), np.where(same, 0, rng.normal(0, 1.5, CASES))
        a, b = (np.clip(np.round(x), 0, top) for x in (middle + gap / 2, middle - gap / 2))
    swap = rng.random(CASES) < 0.5
    return np.where(swap, b, a), np.where(swap, a, b)


def _judged(scores: Floats, cell: Cell, hardness: Floats, rng: Generator) -> Floats:
    """Scores by pass and case."""
    shape = (cell.passes, CASES)
    if cell.judge == "random":
        return rng.integers(0, cell.top + 1, shape).astype(float)
    if cell.top == 1:
        error = {"good": 0.06, "weak": 0.25}.get(cell.judge, 0.03) * hardness
        return np.where(rng.random(shape) < np.minimum(error, 0.5), 1 - scores, scores)
    sd = {"good": 0.6, "weak": 1.5}.get(cell.judge, 0.3) * hardness / np.sqrt(2)
    noise = sd * (rng.normal(size=CASES) + rng.normal(size=shape))
    return np.clip(np.round(scores + noise), 0, cell.top)


class Interval(NamedTuple):
    """The squared width of an interval, NaN without one, and whether it holds the truth, which is 0."""

    squared_width: float
    holds: bool


def estimated(data: Benchmark, drawn: NDArray[np.bool_], total: Floats | None = None) -> Interval:
    """The prediction-powered interval from labels on the drawn cases."""
    at = np.flatnonzero(drawn)
    ends = stats.prediction_powered(
        data.judge,
        data.people[at],
        labelled=at,
        probabilities=None if total is None else total[at],
    )
    if ends.low is None or ends.high is None:
        return Interval(float("nan"), True)
    return Interval((ends.high - ends.low) ** 2, ends.low <= 0 <= ends.high)


def intervals(cell: Cell, rng: Generator) -> dict[str | int, Interval]:
    """One benchmark, labelled in every way."""
    data, order = simulated(cell, rng), rng.permutation(CASES)
    found: dict[str | int, Interval] = {n: estimated(data, order < n) for n in ALIKE}
    judge = {"judged": data.judge, "spread": data.spread}
    once = stats.case_probabilities(FIRST + SECOND, **judge)
    drawn = stats.draw_cases(once.now, numbers=rng.random(CASES), start=rng.random())
    found["once"] = estimated(data, drawn, once.total)
    first = stats.case_probabilities(FIRST, **judge)
    drawn = stats.draw_cases(first.now, numbers=rng.random(CASES), start=rng.random())
    at = np.flatnonzero(drawn)
    second = stats.case_probabilities(
        *(SECOND,),
        **judge,
        earlier=first.total,
        free=~drawn,
        labels=data.people[at],
        labelled=at,
        folds=rng.integers(0, FOLDS, CASES),
    )
    left = np.where(drawn, 0.0, second.now)
    drawn |= stats.draw_cases(left, numbers=rng.random(CASES), start=rng.random())
    found["twice"] = estimated(data, drawn, second.total)
    return found


class Savings(NamedTuple):
    """Labels saved and coverage in percent, each with its Monte-Carlo error; the share left out."""

    saved: float
    saved_error: float
    coverage: float
    coverage_error: float
    left_out: float


def savings(cell: Cell, draws: int, *, seed: int = 9) -> dict[str, Savings]:
    """The cell's figures for drawing once and twice; the error of savings is that between ten batches."""
    rng = np.random.default_rng([seed, *map(ord, str(cell))])
    every = [intervals(cell, rng) for _ in range(draws)]
    rows = [row for row in every if not any(np.isnan(end.squared_width) for end in row.values())]
    table = {key: np.array([row[key].squared_width for row in rows]) for key in rows[0]}
    figures = {}
    for way in ("once", "twice"):
        saved = [_saved(table, way, slice(k, None, BATCHES)) for k in range(BATCHES)]
        covered = 100 * float(np.mean([row[way].holds for row in rows]))
        figures[way] = Savings(
            _saved(table, way, slice(None)),
            float(np.std(saved, ddof=1) / np.sqrt(BATCHES)),
            covered,
            float(np.sqrt(max(covered * (100 - covered), 50) / len(rows))),
            100 * (1 - len(rows) / draws),
        )
    return figures


def _saved(table: dict[str | int, Floats], way: str, part: slice) -> float:
    """Labels saved in percent: squared widths are a + b / n where all are drawn alike."""
    widths = [np.mean(table[n][part]) for n in ALIKE]
    slope, rest = np.polyfit(1 / np.array(ALIKE), widths, 1)
    needed = slope / (np.mean(table[way][part]) - rest)
    return float(100 * (1 - (FIRST + SECOND) / needed))


def cells() -> Iterator[Cell]:
    for top in (1, 5):
        for judge in JUDGES:
            for ties in (0.3, 0.7):
                for passes in (1, 3):
                    yield Cell(top, judge, ties, passes)


def main(draws: int) -> None:
    head = (
        "scale",
        "judge",
        "ties",
        "passes",
        "saved at once, %",
        "coverage",
        "saved in two draws, %",
        "coverage",
    )
    print(f"| {' | '.join(head)} | left out, % |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for cell in cells():
        once, twice = savings(cell, draws).values()
        figures = (
            f"{round(f.saved)} ± {f.saved_error:.0f} | {f.coverage:.1f} ± {f.coverage_error:.1f}"
            for f in (once, twice)
        )
        print(f"| {cell} | {' | '.join(figures)} | {once.left_out:.0f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
