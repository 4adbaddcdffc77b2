"""Coverage of intervals, false verdicts and power over simulated benchmarks whose truth is known.

Blocks: `estimates` (the interval of a mean), `pairs` (two equally good candidates), `families` (six of them:
all pairs, all against one, the ranking), `pooled` (corpus BLEU, micro F1, perplexity), `power` (a true
difference as large as the MDE) and `studies` (false alarms of bias, contamination and positions; needs
polars), `tails` (means without two limits, and clipped ones), `views` (worst of three answers). Each
prints a table and what misses the goals.
`coverage_cells.py` says what is simulated.

Usage: python bench/coverage.py [DRAWS] [--block NAME]… [--json FILE] [--jobs N]
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import coverage_pooled
from coverage_cells import SCALES, SIZES, TAILS, Cell, Codes, Floats, draw, draw_normal
from coverage_rates import (
    SILENT,
    Figures,
    Goal,
    Rate,
    code_of,
    coverage_of,
    draw_few_flips,
    holds,
    is_better,
    rate,
)
from vivavoce import stats

FEW_DRAWS = 0.05
"""Share of draws with an interval below which its coverage is not printed: the rest says too few."""
STUDIES = (
    *("bias, yes/no .9", "bias, grades", "bias, demographic", "contamination, second half"),
    *("contamination, option order", "positions"),
)
CANDIDATES = 6
ROUNDS = 4
LEGEND = """In each entry: the rates of the title in percent, then in brackets the share of too few cases.
Bold: misses its goal; ?: misses it by less than two Monte-Carlo errors; +: coverage above 98 %;
–: fewer than 5 % of the draws have the figure."""
CHUNK = 250  # benchmarks of six candidates held at once


COVERED, FALSE, RANKED, POWER, ANY = Goal(least=93), Goal(most=6), Goal(most=7), Goal(least=75), Goal()
FLATTERING = Goal(most=5)
CAUTIOUS = 98.0
"""Coverage above which an interval is wider than it need be: reported, no miss."""


# estimates


def estimates(cell: Cell, draws: int) -> Figures:
    """The 95 % interval of a mean; `shown` are those of ten effective cases or more."""
    scale, made = SCALES[cell.scale], draw(cell, draws, 1, cell.rng("estimates"))
    results = [
        stats.estimate_mean(y, cases, low=scale.low, high=scale.high)
        for y, cases in zip(made.scores[:, 0], made.cases, strict=True)
    ]
    return coverage_of(results, scale.mean)


def tails(cell: Cell, draws: int) -> Figures:
    """The interval of a mean without two limits; `flattering` lies above the mean as a whole."""
    scale, made = TAILS[cell.scale], draw(cell, draws, 1, cell.rng("tails"))
    results: list[stats.Estimate | stats.Pooled] = []
    for y, cases in zip(made.scores[:, 0], made.cases, strict=True):
        if cell.scale.startswith("clipped"):
            results.append(stats.pooled(np.column_stack([y, np.ones(cell.n)]), cases, stats.sum_ratio))
        else:
            results.append(stats.estimate_mean(y, cases, low=scale.low))
    lows = [e.low for e in results if e.low is not None]
    return {**coverage_of(results, scale.mean), "flattering": rate(low > scale.mean for low in lows)}


# verdicts


def tested_pairs(differences: Floats, cases: Codes) -> list[stats.Paired]:
    """The paired test of each benchmark."""
    return [stats.paired(d, of_item) for d, of_item in zip(differences, cases, strict=True)]


def pairs(cell: Cell, draws: int) -> Figures:
    """Two equally good candidates: false verdicts, and the interval of their difference, 0."""
    made = draw(cell, draws, 2, cell.rng("pairs"))
    results = tested_pairs(made.scores[:, 0] - made.scores[:, 1], made.cases)
    codes = [code_of(r, r.p) for r in results]
    ends = [r.interval() for r in results]
    given = np.array([e is not None for e in ends])
    told = np.array([code not in SILENT for code in codes])
    covered = np.array([e is not None and holds(*e, 0.0) for e in ends])
    return {
        "false better": rate(map(is_better, codes)),
        "coverage": rate(covered, given & told),
        "coverage, few cases too": rate(covered, given),
        "too few": rate(~told),
        "no interval": rate(~given & told),
    }


def families(cell: Cell, draws: int) -> Figures:
    """Six equally good candidates: whether any is called better, and whether the ranking shows any pair."""
    rng = cell.rng("families")
    first, second = np.triu_indices(CANDIDATES, 1)
    against = np.flatnonzero(first == 0)
    hits: list[tuple[bool, bool, bool, bool]] = []
    for start in range(0, draws, CHUNK):
        made = draw(cell, min(CHUNK, draws - start), CANDIDATES, rng)
        for y, cases in zip(made.scores, made.cases, strict=True):
            tested = [stats.paired(y[i] - y[j], cases) for i, j in zip(first, second, strict=True)]
            codes = family_codes(tested)
            hits.append(
                (
                    any(map(is_better, codes)),
                    any(map(is_better, family_codes([tested[k] for k in against]))),
                    bool(stats.rank_intervals(y, cases).better.any()),
                    all(code in SILENT for code in codes),
                )
            )
    columns = np.array(hits).T
    names = ("false better, all pairs", "false better, against one", "false pair in ranking", "too few")
    return {name: rate(column) for name, column in zip(names, columns, strict=True)}


def family_codes(tested: Sequence[stats.Paired]) -> list[str]:
    adjusted = stats.holm([pair.p for pair in tested]).tolist()
    return [code_of(pair, p) for pair, p in zip(tested, adjusted, strict=True)]


REPEATS = 3


def views(cell: Cell, draws: int) -> Figures:
    """The worst of three answers of two candidates: false verdicts and half a sd found, beside means."""
    rng, scale = cell.rng("views"), SCALES[cell.scale]
    hits: list[tuple[bool, ...]] = []
    for shift in (0.0, 0.5):
        z, cases = draw_normal(cell.sizes, cell.n, draws, 2, rng)
        z[:, 0] -= shift
        repeats = (z[..., None] + 0.5 * rng.standard_normal((*z.shape, REPEATS))) / np.sqrt(1.25)
        scores = scale.of(repeats)
        for y in (scores.min(axis=-1), scores.mean(axis=-1)):
            tested = tested_pairs(y[:, 0] - y[:, 1], cases)
            hits.append(tuple(is_better(code_of(pair, pair.p)) for pair in tested))
    names = ("false better", "false by means", "found", "found by means")
    return {name: rate(of_name) for name, of_name in zip(names, hits, strict=True)}


# power


def power(cell: Cell, draws: int) -> Figures:
    """How often a true difference is found that is as large as the MDE of just such benchmarks.

    The MDE is the mean of those that such benchmarks print. The first candidate is worse by as much, and
    since that changes the scores, a few rounds of simulation look for the difference that is its own MDE.
    Worse, because at a ceiling nobody can be better.
    """
    rng, scale = cell.rng("power"), SCALES[cell.scale]

    def tested(n: int, shift: float) -> list[tuple[stats.Paired, str]]:
        made = draw(cell, n, 2, rng, shift=shift)
        results = tested_pairs(made.scores[:, 0] - made.scores[:, 1], made.cases)
        return [(pair, code_of(pair, pair.p)) for pair in results]

    shift, mde = 0.0, float("nan")
    for _ in range(ROUNDS):
        rounds = tested(max(100, draws // 4), shift)
        printed = [pair.mde() for pair, code in rounds if code not in SILENT]
        known = [x for x in printed if x is not None]
        if len(known) < FEW_DRAWS * len(rounds):
            return {"found": Rate(0, 0), "too few": Rate(len(rounds) - len(known), len(rounds))}
        mde = float(np.mean(known))
        shift = scale.shift_for(-mde)
    results = tested(draws, shift)
    told = [code not in SILENT for _, code in results]
    return {
        "found": rate([is_better(code) and pair.direction < 0 for pair, code in results], told),
        "too few": rate([not t for t in told]),
        "mde": mde,
    }


def studies(cell: Cell, draws: int) -> Figures:
    import coverage_studies

    return coverage_studies.studies(cell, draws)


class Block(NamedTuple):
    """A table: its cells, the rates in each entry with their goals, and the share of all draws it takes."""

    title: str
    figures: Callable[[Cell, int], Figures]
    cells: list[Cell]
    goals: dict[str, Goal]
    share: float = 1.0


def cells(scales: Iterable[str], sizes: Iterable[str], ns: Iterable[int]) -> list[Cell]:
    return [Cell(scale, size, n) for scale in scales for n in ns for size in sizes]


BLOCKS = {
    "estimates": Block(
        "Estimates: coverage of the 95 % interval of a mean, ten effective cases or more",
        estimates,
        cells(SCALES, SIZES, (20, 50, 100, 200)),
        {"coverage": COVERED},
    ),
    "tails": Block(
        "Means without two limits: coverage, and intervals that lie above the mean as a whole",
        tails,
        cells(TAILS, ("single", "fives", "cv .5"), (20, 50, 100, 200)),
        {"coverage": COVERED, "flattering": FLATTERING},
    ),
    "pairs": Block(
        'Two equally good candidates: false "better", coverage of the difference',
        pairs,
        cells(SCALES, SIZES, (20, 50, 100, 200)),
        {"false better": FALSE, "coverage": COVERED},
    ),
    "views": Block(
        "Worst of three answers: false verdicts, by means, half a sd found, by means",
        views,
        cells(("yes/no .5", "yes/no .9", "grades 0-5", "grades, most 5"), ("single", "fives"), (50, 200)),
        {"false better": FALSE, "false by means": FALSE, "found": ANY, "found by means": ANY},
    ),
    "families": Block(
        'Six equally good candidates: any false "better" in all pairs, against one, any pair in the ranking',
        families,
        # With 50 items the uneven sizes are nearly always too few.
        [*cells(SCALES, ("single", "twins", "fives"), (50,)), *cells(SCALES, SIZES, (200,))],
        {
            "false better, all pairs": FALSE,
            "false better, against one": FALSE,
            "false pair in ranking": RANKED,
        },
        0.3,
    ),
    "pooled": Block(
        'Pooled figures of n cases: coverage, false "better" of two equal candidates, no verdict, found',
        coverage_pooled.pooled,
        cells(coverage_pooled.SCALES, ("single", "fives", "cv .95", "Pareto"), (10, 20, 40, 100)),
        {"coverage": COVERED, "false better": FALSE, "no verdict": ANY, "found": ANY},
    ),
    "power": Block(
        "Power: a true difference as large as the MDE is found (about 80 %)",
        power,
        cells(SCALES, SIZES, (50, 100, 200)),
        {"found": POWER},
    ),
    "studies": Block(
        "Studies of three candidates: calls with a false alarm where nobody differs, planted effects found",
        studies,
        [*cells(STUDIES, ("single", "twins"), (60,)), *cells(STUDIES, ("cv .95",), (150,))],
        {"false alarms": FALSE, "planted and found": ANY},
        0.2,
    ),
}


# printing


def shown(figures: Figures, name: str) -> Rate | None:
    """That rate, if enough of the draws have it."""
    figure = figures.get(name)
    draws = max(f.n for f in figures.values() if isinstance(f, Rate))
    return figure if isinstance(figure, Rate) and figure.n >= max(1, FEW_DRAWS * draws) else None


def entry(figures: Figures, goals: dict[str, Goal]) -> str:
    """The rates of a cell in percent, scored where they miss, and in brackets the share of too few."""
    parts = []
    for name, goal in goals.items():
        r = shown(figures, name)
        if r is None:
            parts.append("–")
            continue
        mark = r.miss(goal) or ("+" if goal is COVERED and r.percent > CAUTIOUS else "")
        parts.append(f"**{r.percent:.1f}**" if mark == "!" else f"{r.percent:.1f}{mark}")
    few = figures.get("too few")
    return " / ".join(parts) + (f" ({few.percent:.0f})" if isinstance(few, Rate) else "")


def table(block: Block, results: dict[Cell, Figures]) -> str:
    """A markdown table: a row per scale and n, a column per sizes of cases."""
    columns = [size for size in SIZES if any(cell.sizes == size for cell in results)]
    lines = [f"| scores | n | {' | '.join(columns)} |", "|---|--:|" + "--:|" * len(columns)]
    for scale, n in dict.fromkeys((cell.scale, cell.n) for cell in results):
        row = [Cell(scale, size, n) for size in columns]
        entries = [entry(results[cell], block.goals) if cell in results else "" for cell in row]
        lines.append(f"| {scale} | {n} | {' | '.join(entries)} |")
    return "\n".join(lines)


def summary(block: Block, results: dict[Cell, Figures]) -> str:
    """How many cells meet each goal, and those that miss it by more than two Monte-Carlo errors."""
    lines = []
    for name, goal in block.goals.items():
        rates = {cell: r for cell, figures in results.items() if (r := shown(figures, name)) is not None}
        if goal is ANY or not rates:
            continue
        percents = [r.percent for r in rates.values()]
        missed = {cell: r for cell, r in rates.items() if r.miss(goal) == "!"}
        near = sum(r.miss(goal) == "?" for r in rates.values())
        cautious = f", {sum(p > CAUTIOUS for p in percents)} above {CAUTIOUS:g} %" if goal is COVERED else ""
        lines.append(
            f"- {name}, {goal}: {len(rates)} cells, {min(percents):.1f} to {max(percents):.1f} %; "
            f"{len(missed)} miss, {near} more by less than two Monte-Carlo errors{cautious} "
            f"(errors up to {max(r.error for r in rates.values()):.1f} points)"
        )
        far_first = sorted(missed.items(), key=lambda one: one[1].percent, reverse=goal.most < 100)
        lines += [
            f"  - missed: {cell.scale}, {cell.sizes}, n {cell.n}: {r.percent:.1f} ± {r.error:.1f} "
            f"({r.n:,} draws)"
            for cell, r in far_first
        ]
    return "\n".join(lines)


def run(job: tuple[str, Cell, int]) -> Figures:
    name, cell, draws = job
    return BLOCKS[name].figures(cell, draws)


def as_json(figures: Figures) -> dict[str, Any]:
    return {
        name: {"percent": f.percent, "error": f.error, "hits": f.hits, "n": f.n} if isinstance(f, Rate) else f
        for name, f in figures.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=1_000, help="benchmarks simulated per cell")
    parser.add_argument("--block", action="append", choices=BLOCKS, help="only this block; repeatable")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    print(f"{asked.draws:,} draws.\n\n{LEGEND}\n")
    record: list[dict[str, Any]] = []
    draw_few_flips()
    with Pool(asked.jobs, draw_few_flips) as pool:
        for name in asked.block or BLOCKS:
            start, block = time.perf_counter(), BLOCKS[name]
            draws = max(20, round(asked.draws * block.share))
            jobs = [(name, cell, draws) for cell in block.cells]
            calls = pool.imap(run, jobs) if asked.jobs > 1 else map(run, jobs)
            results = dict(zip(block.cells, calls, strict=True))
            print(f"## {block.title}\n\n{table(block, results)}\n\n{summary(block, results)}")
            print(f"- {draws:,} draws a cell, {time.perf_counter() - start:.0f} s\n", flush=True)
            record += [
                {"block": name, **cell._asdict(), "draws": draws, **as_json(figures)}
                for cell, figures in results.items()
            ]
            if asked.json:
                asked.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
