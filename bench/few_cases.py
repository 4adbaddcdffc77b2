"""Few cases with many questions each, such as six hospitals: false verdicts, power and coverage.

Two systems answer 40 questions in each of 6, 8 and 9 hospitals, or as many in hospitals of unequal size. The
new one is as good, or better by `BETTER_BY` on average, by more in some hospitals than in others. Before,
fewer than 10 effective cases were "too few" whatever they showed; "before" is that rule on the same draws.

Usage: python bench/few_cases.py [DRAWS] [--json FILE]
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coverage_cells import Codes, Floats
from coverage_rates import Rate, code_of, holds, is_better, rate
from vivavoce import stats

QUESTIONS = 40
BETTER_BY = {"yes/no": 0.1, "grades 0-5": 0.4, "yes/no, whole hospitals lost": 0.1}
HOSPITALS = {"yes/no": 0.05, "grades 0-5": 0.2, "yes/no, whole hospitals lost": 0.02}
"""Standard deviation of the difference between hospitals."""
LOST = 0.1
"""Share of hospitals in which a system that is better elsewhere fails wholly, in the third world."""
SPANS = {"yes/no": 1.0, "grades 0-5": 5.0, "yes/no, whole hospitals lost": 1.0}


class Cell(NamedTuple):
    """What is simulated."""

    scores: str
    hospitals: int
    sizes: str

    def cases(self) -> Codes:
        """The hospital of each question."""
        sizes = np.full(self.hospitals, QUESTIONS)
        if self.sizes == "unequal":
            # From a quarter of the mean to twice it and more, the same at every draw.
            steps = np.geomspace(1, 10, self.hospitals)
            sizes = np.maximum(1, np.round(steps / steps.sum() * QUESTIONS * self.hospitals)).astype(int)
        return np.repeat(np.arange(self.hospitals), sizes)


def differences(cell: Cell, cases: Codes, better_by: float, rng: np.random.Generator) -> Floats:
    """New less old, by question."""
    by_hospital = better_by + rng.normal(0, HOSPITALS[cell.scores], cell.hospitals)
    if cell.scores == "yes/no, whole hospitals lost":
        # The mean stays what it is: the hospitals that are not lost make up for it.
        lost = rng.random(cell.hospitals) < LOST
        by_hospital = np.where(lost, -0.5, (by_hospital + 0.5 * LOST) / (1 - LOST))
    shift = by_hospital[cases]
    if cell.scores == "grades 0-5":
        question = rng.normal(3.2, 0.9, len(cases))
        old, new = (question + x + rng.normal(0, 0.7, len(cases)) for x in (-shift / 2, shift / 2))
        return np.clip(np.round(new * 2) / 2, 0, 5) - np.clip(np.round(old * 2) / 2, 0, 5)
    p = np.clip([0.6 - shift / 2, 0.6 + shift / 2], 0, 1)
    # Half of the answers of both hang together.
    common, alone = rng.random(len(cases)), rng.random((2, len(cases)))
    together = rng.random(len(cases)) < 0.5
    old, new = (np.where(together, common, x) < y for x, y in zip(alone, p, strict=True))
    return new.astype(float) - old


def figures(cell: Cell, draws: int) -> dict[str, Rate]:
    """The rates of a cell; the margin is the true difference, so that no "equivalent" is right."""
    rng = np.random.default_rng([7, cell.hospitals, *cell.scores.encode(), *cell.sizes.encode()])
    cases, better_by, span = cell.cases(), BETTER_BY[cell.scores], SPANS[cell.scores]
    equal = [stats.paired(differences(cell, cases, 0.0, rng), cases) for _ in range(draws)]
    drawn = [differences(cell, cases, better_by, rng) for _ in range(draws)]
    better = [stats.paired(d, cases) for d in drawn]
    margins = [stats.margin_interval(d, cases, span=span) for d in drawn]
    gates = [stats.gate_interval(d, cases, span=span) for d in drawn]
    # An old rule: fewer than 10 effective cases carry no verdict.
    before = [stats.enough_groups(pair.effective_groups) for pair in better]
    ends = [pair.interval() for pair in better]
    is_found = [is_better(code_of(pair, pair.p)) and pair.direction > 0 for pair in better]
    return {
        "false": rate(is_better(code_of(pair, pair.p)) for pair in equal),
        "found": rate(is_found),
        "found before": rate(f and b for f, b in zip(is_found, before, strict=True)),
        "covered": rate(holds(*e, better_by) for e in ends if e is not None),
        "no interval": rate(e is None for e in ends),
        "within the margin": rate(m is not None and m.high < better_by for m in margins),
        "passed": rate(g is not None and g.high < better_by for g in gates),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    sizes = ("equal", "unequal")
    cells = [Cell(s, k, size) for s in BETTER_BY for k in (6, 8, 9) for size in sizes]
    record = []
    heads = (
        "scores",
        "cases",
        "sizes",
        "effective cases",
        "false better",
        "better found",
        "before",
        "interval holds the truth",
        "no interval",
        "falsely within the margin",
        "falsely through the gate",
    )
    print(f"| {' | '.join(heads)} |\n|---|--:|---|{'--:|' * (len(heads) - 3)}")
    for cell in cells:
        rates = figures(cell, asked.draws)
        effective = stats.effective_groups(cell.cases())
        shown = [f"{r.percent:.1f} %" for r in rates.values()]
        print("| " + " | ".join([*map(str, cell), f"{effective:.1f}", *shown]) + " |", flush=True)
        record.append({**cell._asdict(), **{name: r.percent for name, r in rates.items()}})
    if asked.json:
        asked.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
