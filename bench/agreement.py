"""Agreement on rare labels and at ceilings: how often the 95 % interval holds the truth, and how wide it is.

Two or three raters share a part of what they see. They say yes of a rare share of units, or give 0 to 5 with
all but that share at 5. Beside the interval of `stats.agreement_interval` stands the jackknife's alone, as it
was before. Draws without an interval (fewer than three cases of the rarer kind) count in `none`.

Usage: python bench/agreement.py [DRAWS] [--coefficient NAME …] [--json FILE]
"""

import argparse
import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from coverage_cells import Floats
from coverage_rates import Rate, rate
from vivavoce import stats

OF_TWO = ("quadratic_kappa", "pearson")
BY_NUMBERS = ("alpha_ordinal", "alpha_interval", "icc_a1", *OF_TWO)
SHARES = (0.03, 0.05, 0.1, 0.2, 0.5)
SIZES = (40, 100, 200, 500)
CORRELATIONS = (0.0, 0.5, 0.8)
STEPS = (0.03, 0.1, 0.25, 0.5, 1.0)
"""Below 5, the shares of the rare scores that are 0, at most 1, … at most 4."""
LARGE = 400_000
"""Units of the table whose coefficient is the truth."""


class Cell(NamedTuple):
    """What is simulated."""

    coefficient: str
    scores: str
    raters: int
    share: float
    units: int
    correlation: float

    def ratings(self, n: int, rng: np.random.Generator) -> Floats:
        """A table of n units."""
        common = math.sqrt(self.correlation) * rng.standard_normal((n, 1))
        seen = common + math.sqrt(1 - self.correlation) * rng.standard_normal((n, self.raters))
        if self.scores == "yes/no":
            return (seen < ndtri(self.share)).astype(float)
        return np.searchsorted(ndtri(self.share * np.array(STEPS)), seen).astype(float)


class Figures(NamedTuple):
    """The rates of a cell; widths are medians."""

    truth: float
    held: Rate
    held_by_jackknife: Rate
    none: Rate
    width: float


def figures(cell: Cell, draws: int) -> Figures:
    """How a cell comes out."""
    rng = np.random.default_rng([19, *map(ord, "".join(map(str, cell)))])
    # Without groups to speak of: the value alone is used.
    large = stats.agreement_without_groups(cell.coefficient, cell.ratings(LARGE, rng), np.arange(LARGE) % 2)
    truth = large.value or 0.0
    groups = np.arange(cell.units)
    found, alone = [], []
    for _ in range(draws):
        ratings = cell.ratings(cell.units, rng)
        found.append(stats.agreement_interval(cell.coefficient, ratings, groups))
        plain = stats.agreement_without_groups(cell.coefficient, ratings, groups).jackknife()
        alone.append((plain.low, plain.high))
    ends = [(f.low, f.high) for f in found if f.low is not None]
    return Figures(
        truth,
        rate(low <= truth <= high for low, high in ends),
        rate(low <= truth <= high for low, high in alone if low is not None),
        rate(f.low is None for f in found),
        float(np.median([high - low for low, high in ends])) if ends else math.nan,
    )


def cells(coefficients: list[str]) -> list[Cell]:
    """The cells of these coefficients."""
    return [
        Cell(name, scores, raters, share, units, correlation)
        for name in coefficients
        for scores in (("yes/no", "0-5 at the ceiling") if name in BY_NUMBERS else ("yes/no",))
        for raters in ((2,) if name in OF_TWO else (2, 3))
        for share in SHARES
        for units in SIZES
        for correlation in CORRELATIONS
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=1_000)
    names = ("alpha_nominal", "ac1", *BY_NUMBERS)
    parser.add_argument("--coefficient", nargs="+", choices=names, default=list(names))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    heads = (*Cell._fields, "truth", "interval holds it", "the jackknife's alone", "none", "median width")
    print(f"| {' | '.join(heads)} |\n|---|---|{'--:|' * (len(heads) - 2)}")
    record = []
    for cell in cells(asked.coefficient):
        found = figures(cell, asked.draws)
        rates = [f"{r.percent:.1f} %" for r in found[1:4]]
        print(
            "| " + " | ".join([*map(str, cell), f"{found.truth:.2f}", *rates, f"{found.width:.2f}"]) + " |",
            flush=True,
        )
        percents = {name: getattr(found, name).percent for name in ("held", "held_by_jackknife", "none")}
        record.append({**cell._asdict(), "truth": found.truth, **percents, "width": found.width})
    if asked.json:
        asked.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
