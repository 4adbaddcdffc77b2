"""Levels of groups: how often equal candidates are told apart where questions come from few exams.

    python bench/levels.py --draws 4000

Each exam suits one candidate a little better, and so does each source of an exam. A verdict that is to hold
for other exams may be wrong in 5 % of draws; one that holds for these exams is held to what the candidates
would reach on them. Power is that of a difference of .10 in shares of right answers.
"""

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from coverage_cells import GRID, SCALES
from vivavoce import stats
from vivavoce.core.cases import Cases, Place, join_cases
from vivavoce.core.group_levels import scope_text
from vivavoce.stats.verdict import LEAST_DIFFERENT

EXAM, SOURCE = 0.08, 0.28
"""Shares of the variance of a candidate's scores that are its own on an exam and on a source."""
SHARED = 0.40
"""What is common to all candidates: of the source and of the item; the rest is chance."""
DIFFERENCE = 0.10
SCALE = SCALES["yes/no .5"]
OF_ITEMS = 4


class Cell(NamedTuple):
    """Exams, sources of each and the levels that are declared."""

    exams: int
    sources: int
    levels: str

    @property
    def cases(self) -> Cases:
        """The cases of the items, four to a source."""
        both = self.levels == "exam, source"
        places = (
            Place(
                "simulated", f"q{n}", "", f"{exam}.{source}", None, outer_groups=(f"{exam}",) if both else ()
            )
            for n, (exam, source) in enumerate(self.at)
        )
        return join_cases(places, level_names={"simulated": ("exam", "source")})

    @property
    def scope(self) -> str:
        """For which exams alone a verdict holds; '' where it says nothing of the kind."""
        level = self.cases.levels.get("simulated")
        return scope_text(**level.facts) if level else ""

    @property
    def at(self) -> list[tuple[int, int]]:
        """The exam and the source of each item."""
        return [
            (exam, source)
            for exam in range(self.exams)
            for source in range(self.sources)
            for _ in range(OF_ITEMS)
        ]


CELLS = [
    Cell(exams, sources, levels)
    for exams, sources in ((4, 10), (6, 10), (8, 5), (8, 10), (20, 5))
    for levels in ("source", "exam, source")
]


class Rates(NamedTuple):
    """Percent of draws: equal candidates told apart, intervals that miss what holds on these exams, power."""

    told_apart: float
    these_missed: float
    power: float


class Drawn(NamedTuple):
    """Scores of two candidates, (2, n), and how far they would be apart on these exams."""

    scores: np.ndarray
    apart: float


def draw(cell: Cell, rng: np.random.Generator, shift: float = 0.0) -> Drawn:
    """Scores of two candidates that are equally good but for a shift of the first one's normal variable."""
    at = np.array(cell.at)
    source = at[:, 0] * cell.sources + at[:, 1]
    of_exam = np.sqrt(EXAM) * rng.standard_normal((2, cell.exams))
    of_exam[0] += shift
    of_source = np.sqrt(SOURCE) * rng.standard_normal((2, source.max() + 1))[:, source]
    shared = np.sqrt(SHARED) * rng.standard_normal(len(at))
    chance = np.sqrt(1 - SHARED - EXAM - SOURCE) * rng.standard_normal((2, len(at)))
    within = np.sqrt(1 - EXAM) * GRID[::40]
    truth = SCALE.of(of_exam[:, :, None] + within).mean(axis=(1, 2))
    return Drawn(SCALE.of(of_exam[:, at[:, 0]] + of_source + shared + chance), float(truth[0] - truth[1]))


def rates(cell: Cell, draws: int) -> Rates:
    """The rates of a cell; the seed is that of its exams and sources, so that levels see the same draws."""
    cases, rng = cell.cases, np.random.default_rng([cell.exams, cell.sources])
    shift = SCALE.shift_for(DIFFERENCE)
    told_apart = missed = n_found = 0
    for _ in range(draws):
        scores, apart = draw(cell, rng)
        result = paired(scores, cases)
        told_apart += is_told(result)
        ends = result.interval()
        missed += ends is not None and not ends[0] <= apart <= ends[1]
        result = paired(draw(cell, rng, shift).scores, cases)
        n_found += is_told(result) and result.direction == 1
    return Rates(*(100 * n / draws for n in (told_apart, missed, n_found)))


def paired(scores: np.ndarray, cases: Cases) -> stats.Paired:
    return stats.paired(scores[0] - scores[1], cases.labels)


def is_told(result: stats.Paired) -> bool:
    """Whether `compare` calls one of the two better."""
    return result.n_different >= LEAST_DIFFERENT and result.p <= stats.ALPHA


def lines(cells: Sequence[Cell], draws: int) -> Iterator[str]:
    """The rates as a table."""
    yield "| exams x sources | declared | equal, told apart | these missed | power | verdict holds for |"
    yield "|---|---|---|---|---|---|"
    for cell in cells:
        r, scope = rates(cell, draws), cell.scope or "exams like these"
        holds = scope.removeprefix("Holds for ").removesuffix(".") if cell.levels != "source" else "not said"
        yield (
            f"| {cell.exams} x {cell.sources} | {cell.levels} | {r.told_apart:.1f} % "
            f"| {r.these_missed:.1f} % | {r.power:.0f} % | {holds} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=4_000)
    for line in lines(CELLS, parser.parse_args().draws):
        print(line, flush=True)


if __name__ == "__main__":
    main()
