"""Verdicts and means on people's scale, where a judge scores everything and people label a part.

Blocks: `verdicts` (two equally good candidates, a judge that is kinder to one), `labels` (the same with 10 to
30 labels), `few` (yes/no answers of which few labelled ones differ) and `few power`, `drawn` (cases labelled
with unequal probabilities), `families` (three candidates, of which people labelled two), `power` (a true
difference), `rates` (a share, down to a harm of .03 with 20 labels; Rogan-Gladen where the judge was
validated elsewhere) and `peers` (the same verdicts by CJE and truescore, where they can be imported). Each
prints a table with the promise beside it and what misses it.

Usage: python bench/judge.py [DRAWS] [--block NAME]… [--json FILE] [--jobs N] [--install FOLDER]
"""

import argparse
import json
import logging
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coverage_cells import SCALES, Codes, Floats, Scale, draw_normal, yes_no
from coverage_rates import Figures, Goal, Rate, code_of, draw_few_flips, holds, is_better, rate
from vivavoce import stats

CONTINUOUS = Scale(lambda z: z, 0.0, None, None)
ALL_SCALES = SCALES | {f"yes/no {share:g}".replace("0.", "."): yes_no(share) for share in (0.65, 0.7, 0.8)}
JUDGES = {"best": 0.99, "good": 0.9, "weak": 0.5, "random": 0.0, "wrong": -0.5}
"""Correlation of judge and people in one answer, as normal variables; a wrong judge turns the scale round."""
KINDER = 0.3
"""By how many standard deviations the judge is kinder to the first candidate than people are."""
BETTER = 0.35
"""By how many the first candidate is better in `power`; the judge is as kind as ever to the other one."""
BETTER_BY_SHARE = {"yes/no .5": 0.3, "yes/no .7": 0.2}
"""By which share the first candidate is better in `few power`."""
SEEN = {"good": (0.9, 0.95), "weak": (0.6, 0.8)}
"""How often the judge sees a harm that is there, and passes an answer that has none."""
VALIDATED = 100
"""Harms, and as many harmless answers, on which the judge was validated elsewhere."""
PEERS = ("cje-eval==0.9.3", "truescore==0.7.4")
PEER_SHARE = 0.5
PEER_COLUMNS = tuple(f"{name}{end}" for name in ("CJE", "truescore") for end in ("", ", width"))
FEWEST = 50
"""Draws with a verdict below which a rate is not held to its promise."""


class Cell(NamedTuple):
    """One setting; a rate in `scale` of `rates`. `labels` are labelled items of `n`, by whole cases."""

    scale: str
    judge: str
    sizes: str
    n: int
    labels: int
    drawn: str = "alike"

    def rng(self, purpose: str) -> np.random.Generator:
        """Seeded by the setting alone."""
        return np.random.default_rng(zlib.crc32("|".join((purpose, *map(str, self))).encode()))


class Compared(NamedTuple):
    """Two candidates on one benchmark: item differences, and what of them is labelled, how probably."""

    judged: Floats
    people: Floats
    cases: Codes
    at: Codes
    probabilities: Floats | None
    scores: Floats
    judge_scores: Floats


class Verdict(NamedTuple):
    """Whether a difference is claimed, in whose favour, and how wide the interval is; NaN for none."""

    better: bool
    direction: int
    width: float
    too_few: bool = False
    lambda_: float = float("nan")


# simulated benchmarks


def benchmarks(cell: Cell, draws: int, *, better: float = 0.0, kinder: float = KINDER) -> Iterable[Compared]:
    """Benchmarks of two candidates; the first is `better`, and the judge `kinder` to it."""
    rng = cell.rng("two candidates")
    scale, rho = ALL_SCALES.get(cell.scale, CONTINUOUS), JUDGES[cell.judge]
    z, cases = draw_normal(cell.sizes, cell.n, draws, 2, rng)
    z[:, 0] += better
    seen = rho * z + np.sqrt(1 - rho**2) * rng.standard_normal(z.shape)
    seen[:, 0] += kinder
    people, judged = scale.of(z), scale.of(seen)
    for truth, marks, of_item in zip(people, judged, cases, strict=True):
        d = marks[0] - marks[1]
        at, p = labelled(cell, d, of_item, rng)
        yield Compared(d, truth[0] - truth[1], of_item, at, p, truth, marks)


def labelled(cell: Cell, d: Floats, cases: Codes, rng: np.random.Generator) -> tuple[Codes, Floats | None]:
    """Items of the cases that people label, and with which probability; null where all are alike."""
    sizes = np.bincount(cases)
    n_cases = min(len(sizes), max(2, round(cell.labels / cell.n * len(sizes))))
    numbers, start = rng.random(len(sizes)), float(rng.random())
    if cell.drawn == "alike":
        chosen = np.argsort(numbers)[:n_cases]
        return np.flatnonzero(np.isin(cases, chosen)), None
    if cell.drawn == "where they tell most":
        p = stats.case_probabilities(n_cases, judged=np.bincount(cases, weights=d), sizes=sizes).total
    else:
        # Three times as probable for every other case, whatever the judge says.
        uneven = np.where(np.arange(len(sizes)) % 2, 3.0, 1.0)
        p = np.minimum(1.0, n_cases * uneven / uneven.sum())
    at = np.flatnonzero(stats.draw_cases(p, numbers=numbers, start=start)[cases])
    return at, p[cases[at]]


# verdicts


def of_pair(pair: stats.Paired) -> Verdict:
    """As `compare` gives it on these scores."""
    code, ends = code_of(pair, pair.p), pair.interval()
    width = ends.high - ends.low if ends else float("nan")
    return Verdict(is_better(code), pair.direction, width, code == "too_few")


def by_judge(b: Compared) -> Verdict:
    return of_pair(stats.paired(b.judged, b.cases))


def by_labels(b: Compared) -> Verdict:
    weights = None if b.probabilities is None else 1 / b.probabilities
    return of_pair(stats.paired(b.people[b.at], b.cases[b.at], weights=weights))


def powered(b: Compared) -> stats.PredictionPowered:
    return stats.prediction_powered(
        b.judged, b.people[b.at], labelled=b.at, groups=b.cases, probabilities=b.probabilities
    )


def p_by_both(b: Compared) -> stats.Paired:
    """The labels' pair with the p and direction of judge and labels together.

    Where few of the labels differ, with those of sign flips of the labels.
    """
    both = powered(b)
    weights = None if b.probabilities is None else 1 / b.probabilities
    pair = stats.paired(b.people[b.at], b.cases[b.at], weights=weights)
    p = pair.p if both.p is None else both.p
    return pair._replace(p=p, direction=int(np.sign(both.value)))


def by_both(b: Compared) -> Verdict:
    """Judge and labels together."""
    both, pair = powered(b), p_by_both(b)
    code = code_of(pair, pair.p)
    width = float("nan") if both.low is None or both.high is None else both.high - both.low
    return Verdict(is_better(code), pair.direction, width, code == "too_few", both.lambda_)


def by_truescore(b: Compared) -> Verdict:
    import truescore

    (ja, jb), (ga, gb) = b.judge_scores, b.scores[:, b.at]
    clusters = b.cases if b.cases[-1] < len(b.cases) - 1 else None
    found = truescore.ppi_compare(ja, jb, ga, gb, b.at, clusters=clusters)
    return Verdict(not found.low <= 0 <= found.high, int(np.sign(found.difference)), found.high - found.low)


def by_cje(b: Compared) -> Verdict:
    import cje

    known = set(b.at.tolist())
    rows = {
        name: [
            {
                "prompt_id": f"q{b.cases[i]}",
                "judge_score": float(b.judge_scores[k, i]),
                "oracle_label": float(b.scores[k, i]) if i in known else None,
            }
            for i in range(len(b.judged))
        ]
        for k, name in enumerate("AB")
    }
    found = cje.analyze_dataset(fresh_draws_data=rows).compare_policies("A", "B")
    low, high = found["ci_lower"], found["ci_upper"]
    return Verdict(not low <= 0 <= high, int(np.sign(found["difference"])), high - low)


WAYS: dict[str, Callable[[Compared], Verdict]] = {
    "judge": by_judge,
    "labels": by_labels,
    "both": by_both,
}
OTHERS = {"CJE": ("cje", by_cje), "truescore": ("truescore", by_truescore)}


def install(folder: str, peers: Iterable[str] = PEERS) -> None:
    """Put the peers there, one by one, unless the folder exists."""
    if folder and not Path(folder).exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder]
        for peer in peers:
            subprocess.run([*pip, peer], check=False)


def can_import(module: str) -> bool:
    """Whether a peer is installed."""
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def importable() -> dict[str, Callable[[Compared], Verdict]]:
    """The peers that are installed."""
    return {name: way for name, (module, way) in OTHERS.items() if can_import(module)}


def figures_of(ways: dict[str, list[Verdict]], *, power: bool = False) -> Figures:
    """How often each way claims a difference, and its width beside the labels'.

    In `power` the right one, of all draws; else of those that are not too few.
    """
    out: Figures = {}
    labels = np.array([v.width for v in ways["labels"]])
    for name, verdicts in ways.items():
        told = [power or not v.too_few for v in verdicts]
        out[name] = rate([v.better and (v.direction > 0 or not power) for v in verdicts], told)
        width = np.array([v.width for v in verdicts])
        both = np.isfinite(width) & np.isfinite(labels)
        out[f"{name}, width"] = float(width[both].mean() / labels[both].mean()) if both.any() else np.nan
    out["too few"] = rate([v.too_few for v in ways["both"]])
    return out


def verdicts(cell: Cell, draws: int) -> Figures:
    """Two candidates of which neither is better."""
    made = list(benchmarks(cell, draws))
    return figures_of({name: [way(b) for b in made] for name, way in WAYS.items()})


def power(cell: Cell, draws: int) -> Figures:
    """One is better, and the judge kinder to the other."""
    made = list(benchmarks(cell, draws, better=BETTER, kinder=-KINDER))
    return figures_of({name: [way(b) for b in made] for name, way in WAYS.items()}, power=True)


def power_of_few(cell: Cell, draws: int) -> Figures:
    """The same for shares of yes, whether the judge is kinder to the better one or to the other."""
    shift = ALL_SCALES[cell.scale].shift_for(BETTER_BY_SHARE[cell.scale])
    made = [
        b
        for kinder in (KINDER, -KINDER)
        for b in benchmarks(cell, -(-draws // 2), better=shift, kinder=kinder)
    ]
    return figures_of({name: [way(b) for b in made] for name, way in WAYS.items()}, power=True)


def families(cell: Cell, draws: int) -> Figures:
    """Three equal candidates, people's labels of two; the judge is kinder to the first. Holm over the pairs.

    "people": the two that have labels are said to differ. "judge prefers": one of the other two pairs does,
    which is said of the judge alone and promised nothing. "better found": the first of the two is better.
    """
    hits: dict[str, list[bool]] = {"people": [], "judge prefers": [], "better found": []}
    told: list[bool] = []
    for better in (0.0, BETTER):
        rng = cell.rng("unlabelled candidate")
        scale, rho = ALL_SCALES.get(cell.scale, CONTINUOUS), JUDGES[cell.judge]
        for b in benchmarks(cell, draws, better=better):
            third = scale.of(rng.standard_normal(cell.n))
            seen = np.where(rng.random(cell.n) < (1 + rho) / 2, third, scale.of(rng.standard_normal(cell.n)))
            labelled_pair = p_by_both(b)
            judged = [stats.paired(marks - seen, b.cases) for marks in b.judge_scores]
            adjusted = stats.holm([labelled_pair.p, *(pair.p for pair in judged)])
            code = code_of(labelled_pair, float(adjusted[0]))
            if better:
                hits["better found"].append(is_better(code) and labelled_pair.direction > 0)
                continue
            told.append(code != "too_few")
            hits["people"].append(is_better(code))
            others = zip(judged, adjusted[1:], strict=True)
            hits["judge prefers"].append(any(is_better(code_of(pair, float(p))) for pair, p in others))
    return {
        "people": rate(hits["people"], told),
        "judge prefers": rate(hits["judge prefers"]),
        "better found": rate(hits["better found"]),
        "too few": rate([not t for t in told]),
    }


def peers(cell: Cell, draws: int) -> Figures:
    logging.disable(logging.WARNING)
    made = list(benchmarks(cell, draws))
    return figures_of({name: [way(b) for b in made] for name, way in (WAYS | importable()).items()})


# shares


def rates(cell: Cell, draws: int) -> Figures:
    """A share of yes; `scale` is its size. An interval covers it, or there is none."""
    rng, share = cell.rng("share"), float(cell.scale)
    sensitivity, specificity = SEEN[cell.judge]
    covered: dict[str, list[bool]] = {"both": [], "labels": [], "Rogan-Gladen": []}
    given: dict[str, list[bool]] = {name: [] for name in covered}
    widths = []
    for _ in range(draws):
        truth = (rng.random(cell.n) < share).astype(float)
        judged = (rng.random(cell.n) < np.where(truth == 1, sensitivity, 1 - specificity)).astype(float)
        at = rng.permutation(cell.n)[: cell.labels]
        both = stats.prediction_powered(judged, truth[at], labelled=at, low=0, high=1)
        alone = stats.estimate_mean(truth[at], np.arange(len(at)), low=0, high=1)
        one = np.arange(VALIDATED)
        elsewhere = [
            stats.cluster_mean((rng.random(VALIDATED) < right).astype(float), one)
            for right in (sensitivity, specificity)
        ]
        mean = stats.cluster_mean(judged, np.arange(cell.n))
        rogan = stats.rogan_gladen(mean, sensitivity=elsewhere[0], specificity=elsewhere[1])
        for name, ends in (("both", both), ("labels", alone), ("Rogan-Gladen", rogan)):
            covered[name].append(holds(ends.low, ends.high, share))
            given[name].append(ends.low is not None)
        widths.append([both.high - both.low, alone.high - alone.low])
    out: Figures = {name: rate(covered[name], given[name]) for name in covered}
    width, labels = np.mean(widths, axis=0)
    out |= {"both, width": float(width / labels), "refused": rate([not g for g in given["Rogan-Gladen"]])}
    return out


# blocks


class Block(NamedTuple):
    """A table: its cells, which rates are promised what, and the share of all draws that it takes."""

    title: str
    figures: Callable[[Cell, int], Figures]
    cells: Sequence[Cell]
    shown: Sequence[str]
    goals: dict[str, Goal]
    share: float = 1.0


FALSE, COVERED, NO_WIDER = Goal(most=5), Goal(least=93), 1.02
SOME = ("good", "weak", "random")
TOO_FEW = ("both, width", "too few")

BLOCKS = {
    "verdicts": Block(
        "Two equally good candidates, a judge kinder to one: differences claimed, %",
        verdicts,
        [
            Cell(scale, judge, sizes, n, labels)
            for scale, sizes, n, labels in (
                *((scale, "single", 200, 50) for scale in ("yes/no .5", "grades 0-5", "continuous")),
                *((scale, "fives", 400, 100) for scale in ("grades 0-5", "continuous")),
                *((scale, "cv .5", 400, 150) for scale in ("grades 0-5", "continuous")),
            )
            for judge in JUDGES
        ],
        ("judge", "labels", "both", *TOO_FEW),
        {"both": FALSE},
    ),
    "labels": Block(
        "The same with few labels",
        verdicts,
        [
            Cell(scale, judge, "single", 200, labels)
            for scale in ("yes/no .9", "grades 0-5", "continuous")
            for labels in (10, 15, 20, 30)
            for judge in SOME
        ],
        ("judge", "labels", "both", *TOO_FEW),
        {"both": FALSE},
    ),
    "few": Block(
        "The same where few labels differ",
        verdicts,
        [
            *(
                Cell(f"yes/no {share}", judge, "single", 60, 25)
                for share in (".5", ".65", ".8", ".9")
                for judge in JUDGES
            ),
            *(
                Cell(scale, judge, sizes, n, labels)
                for scale, sizes, n, labels in (
                    ("yes/no .5", "single", 200, 10),
                    ("yes/no .5", "single", 200, 15),
                    ("yes/no .5", "single", 200, 20),
                    ("yes/no .5", "single", 1000, 20),
                    ("yes/no .8", "single", 1000, 20),
                    ("yes/no .8", "single", 1000, 30),
                    ("yes/no .8", "fives", 300, 125),
                    ("yes/no .9", "cv .5", 300, 125),
                )
                for judge in ("best", "good", "weak")
            ),
            *(
                Cell(scale, judge, "single", 120, 30, "three to one")
                for scale in ("yes/no .5", "yes/no .8")
                for judge in ("best", "good", "weak")
            ),
        ],
        ("judge", "labels", "both", *TOO_FEW),
        {"both": FALSE},
    ),
    "few power": Block(
        "One is better, .8 against .5 or .9 against .7, and few labels differ: the better one found, %",
        power_of_few,
        [Cell(scale, judge, "single", 60, 25) for scale in BETTER_BY_SHARE for judge in JUDGES],
        ("judge", "labels", "both", *TOO_FEW),
        {},
    ),
    "families": Block(
        "Three candidates, of which people labelled two: differences claimed, %",
        families,
        [
            Cell(scale, judge, "single", n, labels)
            for scale, n, labels in (("yes/no .5", 60, 25), ("yes/no .5", 200, 50), ("grades 0-5", 200, 50))
            for judge in ("good", "weak", "random")
        ],
        ("people", "judge prefers", "better found", "too few"),
        {"people": FALSE},
    ),
    "drawn": Block(
        "The same, cases drawn with unequal probabilities",
        verdicts,
        [
            Cell(scale, judge, sizes, n, labels, drawn)
            for drawn in ("where they tell most", "three to one")
            for scale, sizes, n, labels in (
                ("grades 0-5", "single", 200, 50),
                ("continuous", "single", 200, 50),
                ("continuous", "fives", 400, 150),
            )
            for judge in SOME
        ],
        ("judge", "labels", "both", *TOO_FEW),
        {"both": FALSE},
    ),
    "power": Block(
        "One is better and the judge kinder to the other: the better one found, %",
        power,
        [
            Cell(scale, judge, "single", 200, labels)
            for scale in ("grades 0-5", "continuous")
            for labels in (50, 100)
            for judge in SOME
        ],
        ("judge", "labels", "both", *TOO_FEW),
        {},
    ),
    "rates": Block(
        "A share: intervals that hold it, %",
        rates,
        [
            Cell(share, judge, "single", 400, labels)
            for share in (".03", ".1", ".3")
            for labels in (20, 50, 100, 200)
            for judge in SEEN
        ],
        ("labels", "both", "Rogan-Gladen", "both, width", "refused"),
        {"both": COVERED, "Rogan-Gladen": COVERED},
    ),
    "peers": Block(
        "Two equally good candidates, a judge kinder to one, beside peers: differences claimed, %",
        peers,
        [Cell(scale, "good", "single", 200, 50) for scale in ("yes/no .5", "grades 0-5")]
        + [Cell("grades 0-5", "good", "fives", 400, 100)],
        ("judge", "labels", "both", "both, width", *PEER_COLUMNS),
        {"both": FALSE},
        PEER_SHARE,
    ),
}  # fmt: skip


# printing


def entry(name: str, figures: Figures, goals: dict[str, Goal]) -> str:
    """A rate with its Monte-Carlo error, bold where it misses; a ratio of widths as it is."""
    figure = figures.get(name)
    if figure is None or (isinstance(figure, float) and np.isnan(figure)):
        return "–"
    if isinstance(figure, float):
        return f"**{figure:.3f}**" if name == "both, width" and figure > NO_WIDER else f"{figure:.3f}"
    if not figure.n:
        return "–"
    text = f"{figure.percent:.1f} ± {figure.error:.1f}"
    return f"**{text}**" if name in goals and figure.miss(goals[name]) == "!" else text


def table(block: Block, results: dict[Cell, Figures]) -> str:
    """A markdown table: a row per cell, a column per figure, the promise in the head."""
    heads = [f"{name} ({block.goals[name]})" if name in block.goals else name for name in block.shown]
    lines = [
        f"| {' | '.join((*Cell._fields, *heads))} |",
        "|---" * 3 + "|--:" * 2 + "|---" + "|--:" * len(heads) + "|",
    ]
    for cell, figures in results.items():
        row = [entry(name, figures, block.goals) for name in block.shown]
        lines.append(f"| {' | '.join((*map(str, cell), *row))} |")
    return "\n".join(lines)  # fmt: skip


def summary(block: Block, results: dict[Cell, Figures]) -> str:
    """Least and most of what is promised, and the cells that miss it by more than two Monte-Carlo errors."""
    lines = []
    for name, goal in block.goals.items():
        found = {
            cell: r for cell, f in results.items() if isinstance(r := f.get(name), Rate) and r.n >= FEWEST
        }
        if not found:
            continue
        missed = [cell for cell, r in found.items() if r.miss(goal) == "!"]
        percents = [r.percent for r in found.values()]
        lines.append(
            f"- {name}, {goal}: {min(percents):.1f} to {max(percents):.1f} % in {len(found)} cells, "
            f"{len(missed)} miss"
        )
        lines += [f"  - missed: {', '.join(map(str, cell))}: {found[cell].percent:.1f}" for cell in missed]
    widths = [f.get("both, width") for f in results.values()]
    known = [w for w in widths if isinstance(w, float) and not np.isnan(w)]
    if known:
        over = sum(w > NO_WIDER for w in known)
        lines.append(
            f"- width of both beside labels, at most {NO_WIDER}: {min(known):.3f} to {max(known):.3f}, "
            f"{over} miss"
        )
    return "\n".join(lines)


def run(job: tuple[str, Cell, int]) -> Figures:
    name, cell, draws = job
    return BLOCKS[name].figures(cell, draws)


def as_json(figures: Figures) -> dict[str, Any]:
    return {
        name: {"percent": f.percent, "error": f.error, "hits": f.hits, "n": f.n} if isinstance(f, Rate) else f
        for name, f in figures.items()
    }


def ready(folder: str) -> None:
    """Few flips, and the peers of that folder, behind everything that is installed here."""
    draw_few_flips()
    if folder:
        sys.path.append(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("draws", nargs="?", type=int, default=1_000, help="benchmarks simulated per cell")
    parser.add_argument("--block", action="append", choices=BLOCKS, help="only this block; repeatable")
    parser.add_argument("--json", type=Path, help="write every figure to this file")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--install", default="", metavar="FOLDER", help="peers are, or are put, there")
    asked = parser.parse_args()
    install(asked.install)
    ready(asked.install)
    missing = set(OTHERS) - set(importable())
    if missing:
        print(f"Not installed, so not measured: {', '.join(sorted(missing))} (--install FOLDER)")
    record: list[dict[str, Any]] = []
    with Pool(asked.jobs, ready, (asked.install,)) as pool:
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
