"""Other packages on the same simulated data: verdicts that are false, and effects that are found.

    python bench/rivals.py --draws 100 --install .venv/rivals --json bench/rivals.json

Three questions: which of two candidates is better by scores that count as they are; which is better for
people, who labelled a part of what a judge scored that is kinder to one candidate; and whether a judge may
stand for people. Every data set comes without and with an effect, and every package sees the same draws. A
package answers by its documented function for that question at its defaults, but that resampling draws 999
times for all, ours too. A function that takes cases gets them. A verdict is what the package itself calls
significant; without such a word, a p below .05 or an interval without 0. A refusal is no verdict.
"""

import argparse
import contextlib
import io
import json
import logging
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import judge
from coverage_cells import Cell, Codes, Floats, draw
from coverage_rates import FLIPS, Goal, Rate
from false_alarms import as_json, held_to, named_in
from nulls_comparing import rare_losses
from nulls_units import NULLS, values_of
from vivavoce import stats
from vivavoce.core import registry
from vivavoce.studies.score_table import ScoreTable

STORED = Path(__file__).parent / "rivals.json"
OURS = "vivavoce"
WORSE = 0.4
"""By how many standard deviations the first candidate is worse where an effect is planted: at a ceiling
nobody can be better."""
FALSE = Goal(most=5)
POINTS = 10
"""By how many points a package finds more, with a false rate that holds, where it counts as better."""
REFUSALS = (ValueError, RuntimeError, ArithmeticError)
PASS = 3
"""The grade from which an answer passes, where verdicts of a judge are compared with people's."""


class Package(NamedTuple):
    """What is imported, and what is installed for it."""

    module: str
    requirement: str


PACKAGES = {
    "evalstats": Package("evalstats", "evalstats==0.3.3"),
    "CJE": Package("cje", judge.PEERS[0]),
    "truescore": Package("truescore", judge.PEERS[1]),
    "evalsig": Package("evalsig", "evalsig==0.1.2"),
    "evalci": Package("evalci", "evalci==0.1.0"),
    "judgekeeper": Package("judgekeeper", "judgekeeper==0.1.3"),
}

Claim = int
"""1 for the first candidate or for the judge, -1 for the second candidate, 0 for neither."""


class Scored(NamedTuple):
    """Scores of two candidates, (2, n), and the case of each item."""

    scores: Floats
    cases: Codes

    @property
    def in_cases(self) -> bool:
        """Whether some case has more than one item."""
        return int(self.cases[-1]) < len(self.cases) - 1


def significant(difference: float, is_significant: bool) -> Claim:
    """The claim of a package that names a difference, first less second, and whether it is significant."""
    return int(np.sign(difference)) if is_significant else 0


# data


def scored(cell: Cell, planted: bool, draws: int) -> Iterator[Scored]:
    """Two candidates; planted: the first is worse."""
    made = draw(cell, draws, 2, cell.rng(f"rivals {planted}"), shift=-WORSE * planted)
    return (Scored(*one) for one in zip(made.scores, made.cases, strict=True))


def lost(share: float, planted: bool, draws: int) -> Iterator[Scored]:
    """The first gains a little everywhere and loses all in this share of 40; planted: it loses a third."""
    rng, maker = seeded(f"lost {share}", planted), rare_losses(2, 40, share)
    for _ in range(draws):
        values = maker(rng, planted).scores["value"].to_numpy().reshape(2, -1)
        # In the planted table it is the last candidate that loses a third.
        yield Scored(values[::-1] if planted else values, np.arange(values.shape[1]))


def labelled(cell: judge.Cell, planted: bool, draws: int) -> Iterable[judge.Compared]:
    """Two candidates by judge and labels; planted: the first is better and the judge kinder to the other."""
    better, kinder = (judge.BETTER, -judge.KINDER) if planted else (0.0, judge.KINDER)
    return judge.benchmarks(cell, draws, better=better, kinder=kinder)


def stamped(name: str, planted: bool, draws: int) -> Iterator[ScoreTable]:
    """A judge that gives all answers to a question one score; planted: it errs as people do."""
    rng = seeded(name, planted)
    return (NULLS["stamp"].cells[name](rng, planted) for _ in range(draws))


def seeded(name: str, planted: bool) -> np.random.Generator:
    """A stream of the data set alone."""
    return np.random.default_rng(zlib.crc32(f"rivals/{name}/{planted}".encode()))


# which of two is better by their scores


def by_paired(data: Scored) -> Claim:
    found = judge.of_pair(stats.paired(data.scores[0] - data.scores[1], data.cases))
    return significant(found.direction, found.better)


def long_table(scores: Floats, **columns: Floats) -> Any:
    """A row per candidate and item, as evalstats reads it."""
    import pandas as pd

    n = scores.shape[1]
    names = {"model": np.repeat(["a", "b"], n), "item": np.tile([f"q{i:04}" for i in range(n)], 2)}
    return pd.DataFrame({**names, "score": scores.ravel()} | {k: v.ravel() for k, v in columns.items()})


def evalstats_claim(result: Any) -> Claim:
    (pair,) = result.to_dict()["pairwise"]
    difference = pair["diff"] if pair["a"] == "a" else -pair["diff"]
    return significant(difference, pair["significant"])


def by_evalstats(data: Scored) -> Claim:
    """It has no cases: every item counts for itself."""
    import evalstats

    table = evalstats.load_from(long_table(data.scores), metric_cols="score")
    return evalstats_claim(evalstats.compare(table, factors="model", n_bootstrap=FLIPS))


def by_evalsig(data: Scored) -> Claim:
    import evalsig

    def run_of(name: str, scores: Floats) -> Any:
        items = [
            evalsig.ItemResult(f"q{i:04}", float(score), f"c{case}" if data.in_cases else None)
            for i, (score, case) in enumerate(zip(scores, data.cases, strict=True))
        ]
        return evalsig.RunFrame(name, name, "task", "score", items)

    second, first = run_of("b", data.scores[1]), run_of("a", data.scores[0])
    cluster = "case" if data.in_cases else None
    found = evalsig.compare(second, first, cluster=cluster, n_resamples=FLIPS)
    return significant(found.delta, found.significant)


def by_evalci(data: Scored) -> Claim:
    """Its `compare` has no cases: of differences in cases its clustered interval is asked."""
    import evalci

    if data.in_cases:
        found = evalci.cluster_ci(
            data.scores[0] - data.scores[1], data.cases, n_resamples=FLIPS, random_state=0
        )
        return significant(found.estimate, not found.lower <= 0 <= found.upper)
    found = evalci.compare(*data.scores, n_resamples=FLIPS, random_state=0)
    return significant(found.delta, found.p_value < stats.ALPHA)


def by_truescore(data: Scored) -> Claim:
    """McNemar where scores are yes or no and no cases, as its command line has it; else its bootstrap."""
    import truescore

    if not data.in_cases and set(np.unique(data.scores)) <= {0.0, 1.0}:
        found = truescore.mcnemar(*data.scores)
    else:
        cases = data.cases if data.in_cases else None
        found = truescore.paired_bootstrap(*data.scores, n_bootstrap=FLIPS, clusters=cases)
    return significant(found.difference, found.significant)


# which of two is better for people, by a judge and labels


def by_verdict(way: Callable[[judge.Compared], judge.Verdict]) -> Callable[[judge.Compared], Claim]:
    """The claim of a way of `bench/judge.py`."""

    def claim(data: judge.Compared) -> Claim:
        found = way(data)
        return significant(found.direction, found.better)

    return claim


def labels_by_evalstats(data: judge.Compared) -> Claim:
    """It has no cases: every item counts for itself.

    How many labels the judge is worth, 2.6 seconds that no verdict rests on, is left out of its report.
    """
    import evalstats

    evalstats.alignment._efficiency_metric = lambda *_args, **_options: (None, None)
    people = np.full_like(data.scores, np.nan)
    people[:, data.at] = data.scores[:, data.at]
    frame = long_table(data.judge_scores, people=people)
    table = evalstats.load_from(frame, metric_cols=["score", "people"])
    alignment = evalstats.judge_alignment(
        table, llm_metric="score", human_groundtruth="people", selection="random", ci=False
    )
    found = evalstats.compare(
        table, factors="model", metric="score", alignment={"score": alignment}, n_bootstrap=FLIPS
    )
    return evalstats_claim(found)


# whether a judge may stand for people


def by_stamp(table: ScoreTable) -> Claim:
    finding = registry.build("study", NULLS["stamp"].study).findings(table)
    return int(any(named_in(finding, sentence) for sentence in held_to("stamp")))


def by_judgekeeper(table: ScoreTable) -> Claim:
    """Usable, with care or without: its lines on kappa and on both rates, by passes of one person."""
    from judgekeeper.metrics import agreement
    from judgekeeper.report import KAPPA_GATE, RATE_GATE

    own, person = (
        ["pass" if value >= PASS else "fail" for value in values_of(table, key).ravel()] for key in (0, 1)
    )
    found = agreement(person, own, "pass", "fail")
    rates = (found["tpr"], found["tnr"])
    if found["kappa"] is None or None in rates:
        return 0
    return int(found["kappa"] >= KAPPA_GATE and min(rates) >= RATE_GATE)


# cells


class Block(NamedTuple):
    """One question: data sets by name, who answers it and how, and the claim that a planted effect calls for.

    A package that is not in `ways` has no function for the question.
    """

    title: str
    data: Mapping[str, Callable[[bool, int], Iterable[Any]]]
    ways: Mapping[str, Callable[[Any], Claim]]
    right: Claim
    share: float = 1.0


def of_cells(maker: Callable[..., Iterable[Any]], cells: Mapping[str, Any]) -> dict[str, Any]:
    """Data sets by name: the maker on that cell."""

    def bound(cell: Any) -> Callable[[bool, int], Iterable[Any]]:
        return lambda planted, draws: maker(cell, planted, draws)

    return {name: bound(cell) for name, cell in cells.items()}


BLOCKS = {
    "scores": Block(
        "two candidates, scores as they are",
        of_cells(
            scored,
            {
                "yes/no .5, 50": Cell("yes/no .5", "single", 50),
                "yes/no .5, 200": Cell("yes/no .5", "single", 200),
                "yes/no .9, 100": Cell("yes/no .9", "single", 100),
                "harm in 3 %, 200": Cell("yes/no .97", "single", 200),
                "grades, 20": Cell("grades 0-5", "single", 20),
                "grades, 50": Cell("grades 0-5", "single", 50),
                "grades, 85 % at the ceiling, 100": Cell("grades, most 5", "single", 100),
                "shares, 40 % zeros, 50": Cell("F1, zeros .4", "single", 50),
                "lognormal, 50": Cell("lognormal", "single", 50),
                "points, rare harm, 100": Cell("clipped, rare harm", "single", 100),
                "yes/no .5, 200 in fives": Cell("yes/no .5", "fives", 200),
                "grades, 200 in fives": Cell("grades 0-5", "fives", 200),
                "grades, 50 in fives": Cell("grades 0-5", "fives", 50),
                "grades, 200 in uneven cases": Cell("grades 0-5", "cv .95", 200),
                "yes/no .9, 200 in twins": Cell("yes/no .9", "twins", 200),
            },
        )
        | of_cells(lost, {"grades, whole losses of one in 5 %, 40": 0.05}),
        {
            OURS: by_paired,
            "evalstats": by_evalstats,
            "truescore": by_truescore,
            "evalsig": by_evalsig,
            "evalci": by_evalci,
        },
        right=-1,
    ),
    "labels": Block(
        "two candidates, a judge kinder to one, labels of people",
        of_cells(
            labelled,
            {
                "yes/no .5, 50 of 200, good judge": judge.Cell("yes/no .5", "good", "single", 200, 50),
                "yes/no .9, 50 of 200, good judge": judge.Cell("yes/no .9", "good", "single", 200, 50),
                "yes/no .5, 25 of 60, good judge": judge.Cell("yes/no .5", "good", "single", 60, 25),
                "grades, 50 of 200, good judge": judge.Cell("grades 0-5", "good", "single", 200, 50),
                "grades, 50 of 200, weak judge": judge.Cell("grades 0-5", "weak", "single", 200, 50),
                "grades, 50 of 200, judge by chance": judge.Cell("grades 0-5", "random", "single", 200, 50),
                "grades, 100 of 400 in fives, good judge": judge.Cell(
                    "grades 0-5", "good", "fives", 400, 100
                ),
            },
        ),
        {
            OURS: by_verdict(judge.by_both),
            "evalstats": labels_by_evalstats,
            "CJE": by_verdict(judge.by_cje),
            "truescore": by_verdict(judge.by_truescore),
        },
        right=1,
        share=0.6,
    ),
    "stamp": Block(
        "a judge that knows the question alone",
        of_cells(stamped, {name: name for name in NULLS["stamp"].cells}),
        {OURS: by_stamp, "judgekeeper": by_judgekeeper},
        right=1,
        share=0.5,
    ),
}


# measuring


class Row(NamedTuple):
    """One package on one data set: false claims without an effect, right ones with one, refusals of both."""

    block: str
    cell: str
    package: str
    draws: int
    hits: int
    found: int
    refused: int

    @property
    def false(self) -> Rate:
        """How often a difference is claimed, or a judge stamped, where nothing is there."""
        return Rate(self.hits, self.draws)

    @property
    def power(self) -> float:
        """How often the effect is found, in percent."""
        return 100 * self.found / self.draws


def claims(way: Callable[[Any], Claim], data: Iterable[Any]) -> list[Claim | None]:
    """What is claimed of each data set; null where the package refuses."""
    every: list[Claim | None] = []
    for one in data:
        try:
            # Some print a report, and warn in each draw.
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                every.append(way(one))
        except REFUSALS:
            every.append(None)
    return every


def row(block: str, cell: str, package: str, draws: int) -> Row:
    """A package on one data set."""
    question = BLOCKS[block]
    null, planted = (
        claims(question.ways[package], question.data[cell](effect, draws)) for effect in (False, True)
    )
    return Row(
        block=block,
        cell=cell,
        package=package,
        draws=draws,
        hits=sum(claim not in (0, None) for claim in null),
        found=sum(claim == question.right for claim in planted),
        refused=sum(claim is None for claim in (*null, *planted)),
    )


def measured(draws: int, packages: Sequence[str], only: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of these packages on all data sets, or on those of the blocks named."""
    for name, block in BLOCKS.items():
        if only and name not in only:
            continue
        for cell in block.data:
            for package in block.ways:
                if package in packages:
                    yield row(name, cell, package, max(1, round(draws * block.share)))


# printing


def entry(row: Row) -> str:
    """False and found in percent, false bold where it is above 5 % by over two Monte-Carlo errors."""
    false = f"{row.false.percent:.0f}"
    false = f"**{false}**" if row.false.miss(FALSE) == "!" else false
    refused = f", refuses {50 * row.refused / row.draws:.0f}" if row.refused else ""
    return f"{false}, {row.power:.0f}{refused}"


def table(every: Sequence[Row]) -> str:
    """A row per data set that was measured; "no function" where a package has none for the question."""
    by_place = {(row.block, row.cell, row.package): row for row in every}
    heads = [OURS, *(f"{name} {p.requirement.partition('==')[2]}" for name, p in PACKAGES.items())]
    lines = [
        f"| question | data | draws | {' | '.join(heads)} |",
        f"|---|---|--:|{'--:|' * len(heads)}",
    ]
    # Data sets that were not measured are left out.
    draws_of = {(row.block, row.cell): row.draws for row in every}
    for (name, cell), draws in draws_of.items():
        block, entries = BLOCKS[name], []
        for package in (OURS, *PACKAGES):
            found = by_place.get((name, cell, package))
            absent = "not installed" if package in block.ways else "no function"
            entries.append(entry(found) if found else absent)
        lines.append(f"| {block.title} | {cell} | {draws} | {' | '.join(entries)} |")
    return "\n".join(lines)


def ahead(every: Sequence[Row]) -> list[Row]:
    """Rows of packages that are better than ours: over 10 points more found, at a false rate that holds."""
    ours = {(row.block, row.cell): row for row in every if row.package == OURS}
    return [
        row
        for row in every
        if row.package != OURS
        and row.false.miss(FALSE) != "!"
        and row.power - ours[row.block, row.cell].power > POINTS
    ]


def stored(path: Path = STORED) -> list[Row]:
    """The rows of a file that `--json` wrote."""
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--draws", type=int, default=100, help="data sets without, and as many with an effect"
    )
    parser.add_argument(
        "--only", action="append", default=[], choices=BLOCKS, help="this question; repeatable"
    )
    parser.add_argument("--install", default="", metavar="FOLDER", help="packages are, or are put, there")
    parser.add_argument("--json", type=Path, help="write the rows here")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    judge.install(options.install, [package.requirement for package in PACKAGES.values()])
    judge.ready(options.install)
    packages = [OURS, *(name for name, p in PACKAGES.items() if judge.can_import(p.module))]
    every: list[Row] = []
    start = time.process_time()
    for one in measured(options.draws, packages, options.only):
        every.append(one)
        seconds = time.process_time() - start
        print(f"{one.cell}, {one.package}: {entry(one)}; {seconds:.1f} s", file=sys.stderr, flush=True)
        start = time.process_time()
    print(table(every))
    for one in ahead(every):
        print(f"{one.package} finds {one.power:.0f} % of {one.cell}, over {POINTS} points more than ours")
    if options.json:
        options.json.write_text(as_json(every), encoding="utf-8")


if __name__ == "__main__":
    main()
