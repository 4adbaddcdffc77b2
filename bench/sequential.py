"""False verdicts where two equal candidates are tested ten times while the benchmark grows, and the price.

Each simulated benchmark grows from 20 to 200 items (or --to) in ten steps and is tested at each. Rules:
`uncorrected` (p <= .05 each time), `Bonferroni` (.05 / 10), `declared` (a plan of ten analyses, O'Brien-
Fleming spending) and `open` (a plan without a number: the confidence sequence). Blocks: `better` (equal
candidates: any false "better" in ten tests, beside one test of all items), `margin` (a candidate worse by
exactly the margin: any "not worse by more than the margin"), `price` (a true difference that one test of all
items finds in 80 %: how often it is found by the last analysis, how many items it takes where one stops at
the verdict, how wide the interval is).

Usage: python bench/sequential.py [DRAWS] [--to ITEMS] [--block NAME]… [--json FILE]
"""

import argparse
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coverage_cells import SCALES, Cell, Codes, Floats, draw
from coverage_rates import Rate, code_of, is_better, rate
from vivavoce import stats

ITEMS = list(range(20, 201, 20))
RULES = ("uncorrected", "Bonferroni", "declared", "open")
MARGINS = {"yes/no .9": 0.05, "yes/no .97": 0.05, "yes/no .5": 0.1, "grades 0-5": 0.25, "F1, zeros .4": 0.05}


RARE = {"rare whole losses, .05": 0.05, "rare whole losses, .03": 0.03}
"""Shares of questions that one of two equal candidates loses whole; it is a little better in all others."""


class Data(NamedTuple):
    """Differences by item (draws, 200), their cases, and the span of a difference where it has one."""

    differences: Floats
    cases: Codes
    span: float | None = None


def rng_of(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32("|".join(map(str, names)).encode()))


def singles(
    of: Callable[[np.random.Generator, tuple[int, int]], Floats],
    name: str,
    draws: int,
    span: float | None = None,
) -> Data:
    """Differences that are drawn as such, each item its own case."""
    differences = of(rng_of("sequential", name), (draws, ITEMS[-1]))
    return Data(differences, np.tile(np.arange(ITEMS[-1]), (draws, 1)), span)


def whole_losses(share: float, mean: float = 0.0) -> Callable[[np.random.Generator, tuple[int, int]], Floats]:
    """Differences of this mean: whole losses in a share of the items, in the others a bit better, sd .05."""

    def of(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        others = (mean + share) / (1 - share) + 0.05 * rng.standard_normal(shape)
        return np.where(rng.random(shape) < share, -1.0, others)

    return of


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """One candidate's lognormal scores against a constant of the same mean."""
    return np.exp(rng.standard_normal(shape)) - np.exp(0.5)


def rarely_worse(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """A little better in nine items of ten, much worse in one."""
    return np.where(rng.random(shape) < 0.1, -0.9, 0.1)


def two_candidates(scale: str, sizes: str, draws: int, shift: float = 0.0) -> Data:
    """Two candidates on items in cases, as in `coverage.py`; the first one's normal variable is shifted."""
    cell = Cell(scale, sizes, ITEMS[-1])
    made = draw(cell, draws, 2, cell.rng(f"sequential {shift:.6f}"), shift=shift)
    limits = SCALES[scale].low, SCALES[scale].high
    span = None if None in limits else limits[1] - limits[0]
    return Data(made.scores[:, 0] - made.scores[:, 1], made.cases, span)


BOUNDED = {
    "rarely worse": rarely_worse,
    **{name: whole_losses(share) for name, share in RARE.items()},
    "a true difference of .05": whole_losses(0.0, 0.05),
}
SINGLES = {"normal": np.random.Generator.standard_normal, "skewed": skewed}
PAIRS = [(scale, "single") for scale in SCALES] + [
    ("grades 0-5", "cv .5"),
    ("yes/no .9", "cv .5"),
    ("yes/no .5", "fives"),
]


def cells(draws: int) -> dict[str, Data]:
    by_name = {name: singles(of, name, draws) for name, of in SINGLES.items()}
    # On a scale from 0 to 1. A true difference is no false verdict: its rates are power.
    by_name |= {name: singles(of, name, draws, 1.0) for name, of in BOUNDED.items()}
    return by_name | {f"{scale}, {sizes}": two_candidates(scale, sizes, draws) for scale, sizes in PAIRS}


def growing(data: Data, k: int) -> list[tuple[Floats, Codes, stats.Paired]]:
    """The data of one benchmark at each of the analyses, with its test."""
    parts = [(data.differences[k, :n], data.cases[k, :n]) for n in ITEMS]
    tests = [(d, cases, stats.paired(d, cases)) for d, cases in parts]
    if data.span is None:
        return tests
    # As a plan of `viva compare` does.
    return [(d, cases, tested.with_rare_losses(d, cases, span=data.span)) for d, cases, tested in tests]


def analysis(number: int, tested: stats.Paired) -> stats.InterimAnalysis:
    information = tested.se**-2 if tested.se and tested.test == "t" else None
    return stats.InterimAnalysis(number, information, tested.effective_groups)


def nominal(rule: str, history: Sequence[stats.InterimAnalysis]) -> float:
    """The significance level of the last analysis."""
    if rule in ("uncorrected", "Bonferroni"):
        return 0.05 if rule == "uncorrected" else 0.05 / len(ITEMS)
    return stats.nominal_alpha(history, analyses=len(ITEMS) if rule == "declared" else None)


def verdicts(rule: str, tests: Sequence[stats.Paired]) -> list[bool]:
    """Whether each analysis says "better"."""
    history = [analysis(k, tested) for k, tested in enumerate(tests, 1)]
    said = []
    for k, tested in enumerate(tests, 1):
        # No rule holds a test to more than .05, so most need no integration.
        rejects = tested.p <= 0.05 and tested.p <= nominal(rule, history[:k])
        said.append(rejects and is_better(code_of(tested, 0.0)))
    return said


def better(draws: int) -> dict[str, dict[str, Rate]]:
    """Equal candidates: whether any of ten tests calls one better."""
    rows = {}
    for name, data in cells(draws).items():
        tests = [[tested for *_, tested in growing(data, k)] for k in range(draws)]
        alone = rate(verdicts("uncorrected", of_one[-1:])[0] for of_one in tests)
        rows[name] = {"one test": alone} | {
            rule: rate(any(verdicts(rule, of_one)) for of_one in tests) for rule in RULES
        }
    return rows


def margin(draws: int) -> dict[str, dict[str, Rate]]:
    """A candidate worse by the margin: whether any of ten tests says that it is not."""
    rows = {}
    cells_of = {
        f"{scale}, margin {size:g}": (
            size,
            two_candidates(scale, "single", draws, SCALES[scale].shift_for(-size)),
        )
        for scale, size in MARGINS.items()
    }
    for name, share in RARE.items():
        losses = whole_losses(share + 0.02, -0.05)
        cells_of[f"{name}, margin 0.05"] = 0.05, singles(losses, f"{name}, margin", draws, 1.0)
    for name, (size, data) in cells_of.items():
        passed: dict[str, list[bool]] = {rule: [] for rule in RULES}
        for k in range(draws):
            parts = growing(data, k)
            history = [analysis(j, tested) for j, (*_, tested) in enumerate(parts, 1)]
            for rule in RULES:
                passed[rule].append(
                    any(
                        is_not_worse(part, size, data.span, nominal(rule, history[: j + 1]))
                        for j, part in enumerate(parts)
                        # The widest level first: where it does not pass, no other does.
                        if is_not_worse(part, size, data.span, 0.05)
                    )
                )
        rows[name] = {rule: rate(hits) for rule, hits in passed.items()}
    return rows


def is_not_worse(
    part: tuple[Floats, Codes, stats.Paired], size: float, span: float | None, alpha: float
) -> bool:
    """Whether the interval lies above minus the margin, and there are cases enough to say so."""
    d, cases, tested = part
    if code_of(tested, 1.0) == "too_few":
        return False
    interval = stats.gate_interval(d, cases, span=span, level=1 - alpha)
    return interval is not None and interval.low > -size


def price(draws: int) -> dict[str, dict[str, float]]:
    """A true difference that one test of all items finds in 80 %."""
    size = stats.mde(1 / np.sqrt(ITEMS[-1]), df=ITEMS[-1] - 1) or 0.0
    data = singles(lambda rng, shape: rng.standard_normal(shape) + size, "price", draws)
    tests = [[tested for *_, tested in growing(data, k)] for k in range(draws)]
    rows = {"one test of all items": {"found": rate(of_one[-1].p <= 0.05 for of_one in tests).percent,
                                      "items": float(ITEMS[-1]), "width at the last": 1.0}}  # fmt: skip
    for rule in RULES:
        said = [verdicts(rule, of_one) for of_one in tests]
        items = [ITEMS[hits.index(True)] if any(hits) else ITEMS[-1] for hits in said]
        history = [analysis(k, tested) for k, tested in enumerate(tests[0], 1)]
        wide, narrow = (tests[0][-1].interval(level=1 - alpha) for alpha in (nominal(rule, history), 0.05))
        width = (wide.high - wide.low) / (narrow.high - narrow.low) if wide and narrow else float("nan")
        rows[rule] = {
            "found": rate(map(any, said)).percent,
            "items": float(np.mean(items)),
            "width at the last": width,
        }
    return rows


BLOCKS = {"better": better, "margin": margin, "price": price}


def table(block: str, rows: dict[str, dict[str, Rate]] | dict[str, dict[str, float]]) -> str:
    columns = list(next(iter(rows.values())))
    lines = [f"| {block} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, row in rows.items():
        figures = [f"{x.percent:.1f}" if isinstance(x, Rate) else f"{x:.2f}" for x in row.values()]
        lines.append(f"| {name} | {' | '.join(figures)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("draws", nargs="?", type=int, default=2000)
    parser.add_argument("--block", action="append", choices=BLOCKS, default=None)
    parser.add_argument("--to", type=int, default=ITEMS[-1])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    ITEMS[:] = [round(n) for n in np.linspace(ITEMS[0], asked.to, len(ITEMS))]
    result = {}
    for block in asked.block or BLOCKS:
        result[block] = BLOCKS[block](asked.draws)
        print(table(block, result[block]), flush=True)
        print(flush=True)
    if asked.json:
        asked.json.write_text(
            json.dumps(result, default=lambda r: {"hits": r.hits, "n": r.n, "percent": r.percent}, indent=1)
        )


if __name__ == "__main__":
    main()
