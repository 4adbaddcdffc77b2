"""What a gate lets pass: how often `--require not-worse --margin M` passes a system worse by exactly M.

Cells are those of `coverage_cells.py` (scores, sizes of cases, questions) with one to three criteria, one of
them worse; systems that fail whole cases and nothing else; systems that are better but for rare whole losses;
and fixed benchmarks, where repeats vary alone. Beside each rate stand the rate by the verdict and its own
interval, and how often an equal system passes; of rare losses, the same system without them.

Usage: python bench/gate.py [DRAWS] [--only TEXT] [--json FILE]
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coverage_cells import SCALES, Cell, Codes, Floats, draw
from coverage_rates import Goal, Rate, code_of, draw_few_flips, rate
from vivavoce import stats
from vivavoce.studies.comparing.gate import is_shown, objection
from vivavoce.studies.comparing.verdicts import BETTER, ComparisonRow

PASSED = Goal(most=5)
MARGINS = {
    "yes/no .5": (0.05, 0.1, 0.2),
    "yes/no .9": (0.05, 0.1, 0.2),
    "yes/no .97": (0.02, 0.05, 0.1),
    "grades 0-5": (0.25, 0.5),
    "grades, most 5": (0.1, 0.25, 0.5),
    "F1, zeros .4": (0.05, 0.1),
    "lognormal": (0.2, 0.5),
}
SIZES = ("single", "fives", "cv .95", "Pareto")
QUESTIONS = (20, 50, 200)
UNEVEN: dict[str, Codes] = {
    "20 single": np.arange(20),
    "50 single": np.arange(50),
    "200 single": np.arange(200),
    "500 single": np.arange(500),
    "40 of five": np.repeat(np.arange(40), 5),
    "10 of eight, 100 single": np.repeat(np.arange(110), [8] * 10 + [1] * 100),
    "10 of eight, 300 single": np.repeat(np.arange(310), [8] * 10 + [1] * 300),
    "20 of eight, 40 single": np.repeat(np.arange(60), [8] * 20 + [1] * 40),
}
"""Cases by how many questions they hold, for systems that fail whole cases."""

RARE = "better but for rare whole losses"
BETTER_BY = 0.02
RARE_SPREADS = {RARE: 0.0, f"{RARE}, sd .1": 0.1}
"""Standard deviation of the differences that are no whole loss."""


class Setting(NamedTuple):
    """A row of the table: what is simulated, the margin, and how many criteria."""

    scores: str
    cases: str
    n: int
    margin: float
    criteria: int = 1


class Draw(NamedTuple):
    """A simulated comparison: old minus new by criterion and question, its cases, its repeats if fixed."""

    differences: list[Floats]
    cases: Codes
    span: float | None
    fixed: stats.Fixed | None = None


def passes(made: Draw, margin: float) -> tuple[bool, bool]:
    """Whether the gate passes, and whether it would by the verdict's own interval."""
    tested = [stats.paired(d, made.cases) for d in made.differences]
    level = stats.bonferroni_level(0.95, len(tested))
    if made.fixed is not None:
        return (_on_repeats(tested[0], made.fixed, margin),) * 2
    adjusted = stats.holm([pair.p for pair in tested])
    gate = verdict = True
    for pair, p, d in zip(tested, adjusted, made.differences, strict=True):
        code = code_of(pair, float(p))
        better = code in BETTER and pair.direction < 0
        ends = stats.gate_interval(d, made.cases, span=made.span, level=level)
        gate &= _row_passes(pair, code, ends, margin)
        ends = stats.margin_interval(d, made.cases, span=made.span, level=level)
        verdict &= code != "too_few" and (better or (ends is not None and ends.high < margin))
    return gate, verdict


def _row_passes(
    pair: stats.Paired, code: str, ends: stats.Interval | None, margin: float, *, fixed: bool = False
) -> bool:
    """What the gate itself says of a row with these figures."""
    row = ComparisonRow(
        benchmark="", a="old", b="new", metric="", criterion="", rater="", difference=pair.difference,
        n_groups=pair.n_groups, effective_cases=None if fixed else pair.effective_groups, margin=margin,
        loss_b=None if ends is None else ends.high, population="fixed" if fixed else "sample", family=1,
        looks=1, verdict_code=code, favours="b" if pair.direction < 0 else "a",
    )  # fmt: skip
    return objection(row) is None and is_shown(row, "not-worse")


def _on_repeats(pair: stats.Paired, error: stats.Fixed, margin: float) -> bool:
    """As `compare` does with `--population fixed`."""
    if error.se is None or error.df is None or not error.se:
        return False
    ends = stats.t_interval(pair.difference, 2 * error.se, max(1, int(error.df)), level=0.95)
    return _row_passes(pair, "better" if ends.high < 0 else "cannot_tell", ends, margin, fixed=True)


# what is drawn


def of_cells(setting: Setting, draws: int, worse_by: float) -> Iterator[Draw]:
    """Systems of which the new one is worse on the first criterion."""
    cell, scale = Cell(setting.scores, setting.cases, setting.n), SCALES[setting.scores]
    rng = cell.rng(f"gate {setting.margin} {setting.criteria} {worse_by}")
    shift = scale.shift_for(-worse_by) if worse_by else 0.0
    span = None if scale.high is None or scale.low is None else scale.high - scale.low
    while draws > 0:
        made = draw(cell, min(draws, 500), 2 * setting.criteria, rng, shift=shift)
        for y, cases in zip(made.scores, made.cases, strict=True):
            yield Draw([y[2 * k + 1] - y[2 * k] for k in range(setting.criteria)], cases, span)
        draws -= 500


def of_whole_cases(setting: Setting, draws: int, worse_by: float) -> Iterator[Draw]:
    """An old system that is always right, and a new one that fails whole cases, graded or not."""
    cases = UNEVEN[setting.cases]
    rng = np.random.default_rng(5)
    graded = setting.scores.endswith("by half")
    for _ in range(draws):
        n_cases = int(cases.max()) + 1
        fails = (rng.random(n_cases) < worse_by * (2 if graded else 1)).astype(float)
        loss = fails * rng.random(n_cases) if graded else fails
        yield Draw([loss[cases]], cases, 1.0)


def of_rare_losses(setting: Setting, draws: int, worse_by: float) -> Iterator[Draw]:
    """A new system that is better by .02, but for whole losses in so many cases that it is worse by that."""
    size = {"single": 1, "twins": 2}[setting.cases]
    cases = np.arange(setting.n) // size
    half = RARE_SPREADS[setting.scores] * np.sqrt(3)
    share = (worse_by + BETTER_BY) / (1 + BETTER_BY) if worse_by else 0.0
    rng = np.random.default_rng(11)
    for _ in range(draws):
        rest = rng.uniform(-half, half, setting.n) - BETTER_BY
        lost = (rng.random(setting.n // size) < share)[cases]
        yield Draw([np.where(lost, 1.0, rest)], cases, 1.0)


def of_repeats(setting: Setting, draws: int, worse_by: float) -> Iterator[Draw]:
    """A fixed benchmark with three repeats of each question, most of which are nearly always right."""
    rng = np.random.default_rng(7)
    right = {"repeats, mixed": 0.6, "repeats, ceiling": 1.0}[setting.scores]
    n, r = setting.n, 3
    for _ in range(draws):
        old = np.clip(rng.beta(4, 1.5, n) if right < 1 else rng.beta(60, 0.5, n), worse_by, 1.0)
        y = np.stack([rng.random((n, r)) < old[:, None], rng.random((n, r)) < (old - worse_by)[:, None]])
        values = y.astype(float) * np.array([1.0, -1.0])[:, None, None]
        error = stats.fixed_mean(values.ravel(), np.repeat(np.arange(2 * n), r))
        yield Draw([y[0].mean(axis=1) - y[1].mean(axis=1)], np.arange(n), 1.0, error)


def settings() -> Iterator[tuple[str, Setting]]:
    """Every row, with the function that draws it."""
    for scores, margins in MARGINS.items():
        for margin in margins:
            for cases in SIZES:
                for n in QUESTIONS:
                    yield "of_cells", Setting(scores, cases, n, margin)
    for scores in ("yes/no .9", "F1, zeros .4"):
        for criteria in (2, 3):
            for n in QUESTIONS:
                yield "of_cells", Setting(scores, "single", n, 0.1, criteria)
    for scores in ("whole cases fail", "whole cases fail by half"):
        for cases, codes in UNEVEN.items():
            for margin in (0.02, 0.05, 0.1, 0.2):
                yield "of_whole_cases", Setting(scores, cases, len(codes), margin)
    for scores in RARE_SPREADS:
        for cases in ("single", "twins"):
            for n in (20, 30, 60, 100, 200):
                for margin in (0.031, 0.082):  # whole losses in 5 and in 10 % of the cases
                    yield "of_rare_losses", Setting(scores, cases, n, margin)
    for scores in ("repeats, mixed", "repeats, ceiling"):
        for n in QUESTIONS:
            for margin in (0.05, 0.1):
                yield "of_repeats", Setting(scores, "single", n, margin)


def measure(kind: str, setting: Setting, draws: int) -> dict[str, Rate]:
    """The rates of one row."""
    make: Any = globals()[kind]
    worse = [passes(made, setting.margin) for made in make(setting, draws, setting.margin)]
    equal = [passes(made, setting.margin)[0] for made in make(setting, max(1, draws // 4), 0.0)]
    return {
        "worse by the margin": rate(gate for gate, _ in worse),
        "by the verdict's interval": rate(plain for _, plain in worse),
        "equal": rate(equal),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=2_000, help="benchmarks simulated per row")
    parser.add_argument("--only", default="", metavar="TEXT", help="only rows whose scores hold this text")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    asked = parser.parse_args()
    draw_few_flips()
    start, record, missed = time.perf_counter(), [], 0
    print(
        f"{asked.draws:,} draws. Percent that pass; bold: more than {PASSED.most:g} % by over two errors.\n"
    )
    print(
        "| scores | cases | n | criteria | margin | worse by the margin | by the verdict's interval | equal |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    for kind, setting in settings():
        if asked.only not in setting.scores:
            continue
        rates = measure(kind, setting, asked.draws)
        worse, plain, equal = rates.values()
        missed += worse.percent > PASSED.most
        mark = "**" if worse.miss(PASSED) == "!" else ""
        print(
            f"| {setting.scores} | {setting.cases} | {setting.n} | {setting.criteria} | {setting.margin:g} | "
            f"{mark}{worse.percent:.1f}{mark} | {plain.percent:.1f} | {equal.percent:.0f} |",
            flush=True,
        )
        record.append(setting._asdict() | {name: r.percent for name, r in rates.items()})
    print(f"\n{len(record)} rows, {missed} above {PASSED.most:g} %, {time.perf_counter() - start:.0f} s")
    if asked.json:
        asked.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
