"""CPU time of the statistics rooms, the plain way beside ours in one run: ratio with its spread, exponents.

The exponent is the slope of log time on log size: 1 is proportional, 2 its square. The plain ways stand here:
a coefficient called once for each case left out, one random sign for each case, labels sorted for each pair,
the table filtered for each pair, a statistic called once for each case for BCa. Both ways give the same
figures (sampled p within their Monte-Carlo error).
Usage: OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 python bench/stats.py [rounds]
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.comparing.paired import CandidateScores, Compared, Pair, compare_pair
from vivavoce.studies.comparing.pairs import pairs, pairs_of

SIZES = (250, 500, 1_000, 2_000)
LEAST_S = 0.005  # a call is repeated until it takes so long
Way = Callable[[], object]


def seconds(call: Way) -> float:
    """CPU seconds of one call."""
    n = 0
    start = time.process_time()
    while True:
        call()
        n += 1
        spent = time.process_time() - start
        if spent >= LEAST_S:
            return spent / n


def exponent(sizes: tuple[int, ...], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def table(
    title: str, ways: Callable[[int], tuple[Way, Way]], rounds: int, sizes: tuple[int, ...] = SIZES
) -> None:
    """A line for each size, and the exponents; `ways` gives the plain way and ours."""
    print(title)
    plain_times, our_times = [], []
    for size in sizes:
        plain, ours = ways(size)
        timed = [(seconds(plain), seconds(ours)) for _ in range(rounds)]
        ratios = sorted(a / b for a, b in timed)
        a, b = (median(times) for times in zip(*timed, strict=True))
        plain_times.append(a)
        our_times.append(b)
        spread = f"{median(ratios):6.1f}x ({ratios[0]:.1f} to {ratios[-1]:.1f})"
        print(f"  {size:6,}  plain {1000 * a:9.2f} ms   ours {1000 * b:8.2f} ms   {spread}")
    print(f"  exponent: plain {exponent(sizes, plain_times):.2f}, ours {exponent(sizes, our_times):.2f}")


def ratings(n: int, steps: int | None) -> np.ndarray:
    """Two raters of n responses, on a scale of steps or on numbers that all differ."""
    rng = np.random.default_rng(n)
    scores = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 2))
    return scores if steps is None else np.clip(np.round(scores + (steps + 1) / 2), 1, steps)


def left_out(name: str, steps: int | None) -> Callable[[int], tuple[Way, Way]]:
    coefficients = {
        "alpha_ordinal": lambda r: stats.krippendorff_alpha(r, "ordinal").value,
        "alpha_interval": lambda r: stats.krippendorff_alpha(r, "interval").value,
        "ac1": lambda r: stats.gwet_ac1(r, categories=range(1, 6)).value,
        "quadratic_kappa": lambda r: stats.weighted_kappa(r).value,
        "percent": lambda r: stats.percent_agreement(r).value,
    }

    def ways(n: int) -> tuple[Way, Way]:
        values, groups = ratings(n, steps), np.arange(n)
        return (
            lambda: stats.by_group_jackknife(lambda at: coefficients[name](values[at]), groups),
            lambda: stats.agreement_without_groups(name, values, groups).jackknife(),
        )

    return ways


def flips(n: int) -> tuple[Way, Way]:
    sums = np.random.default_rng(n).normal(0.1, 1, n)

    def one_by_one() -> float:
        rng, hits, rows = np.random.default_rng(1), 0, 4_000_000 // n
        for start in range(0, 99_999, rows):
            signs = rng.integers(0, 2, size=(min(rows, 99_999 - start), n), dtype=np.int8)
            hits += np.count_nonzero(
                np.abs(2 * (signs.astype(np.float64) @ sums) - sums.sum()) >= abs(sums.sum())
            )
        return hits / 99_999

    return one_by_one, lambda: stats.sign_flips(sums, rng=np.random.default_rng(1))


def ranks(n: int) -> tuple[Way, Way]:
    values = np.random.default_rng(n).normal(size=(8, n))
    labels = np.array([f"case-{k // 2:06}" for k in range(n)], dtype=object)
    first, second = np.triu_indices(8, 1)

    def by_pair() -> list[float]:
        return [stats.paired(values[i] - values[j], labels).p for i, j in zip(first, second, strict=True)]

    return by_pair, lambda: stats.rank_intervals(values, labels)


def against_one(n_candidates: int) -> tuple[Way, Way]:
    """500 questions, three repeats: each candidate with the first."""
    rng, n = np.random.default_rng(n_candidates), 500
    names = [f"provider/model-{k:03}" for k in range(n_candidates)]
    shape = (n_candidates, n, 3)
    candidate, item, repeat = (axis.ravel() for axis in np.indices(shape))
    scores = pl.DataFrame(
        {
            "measure_id": np.zeros(candidate.size, dtype=int),
            "benchmark": "exam",
            "item": [f"q{k:05}" for k in item],
            "variant": "",
            "group": [f"case-{k // 2:05}" for k in item],
            "candidate": [names[k] for k in candidate],
            "role": "candidate",
            "repeat": repeat,
            "edit": "",
            "pass_no": 1,
            "value": rng.random(candidate.size),
            "status": "ok",
        }
    )
    measure = Measure(metric="m", signature="m()@1", criterion=Criterion(criterion="c"))
    compared = pairs_of(names, names[0])

    def by_pair() -> list[Compared]:
        results = []
        for a, b in compared:
            pair = Pair("exam", a, b, measure, "sample", None, None)
            rows = scores.filter((pl.col("measure_id") == 0) & (pl.col("edit") == ""))
            rows = rows.filter((pl.col("benchmark") == "exam") & pl.col("candidate").is_in([a, b]))
            results.append(compare_pair(pair, CandidateScores.of(rows, measure.criterion)))
        return results

    return by_pair, lambda: list(pairs(scores, {0: measure}, compared, margin=None, population="sample"))


def accelerated(n: int) -> tuple[Way, Way]:
    """BCa of a mean with 200 draws: the acceleration by n calls, and from sums."""
    values, groups = np.random.default_rng(n).exponential(size=2 * n), np.arange(2 * n) // 2
    plain = {"statistic": np.mean, "resamples": 200, "method": "bca"}

    def from_sums() -> stats.Bootstrap:
        sizes = np.bincount(groups)
        without = (values.sum() - np.bincount(groups, values)) / (len(values) - sizes)
        return stats.bootstrap(values, groups, **plain, rng=np.random.default_rng(1), without=without)

    return lambda: stats.bootstrap(values, groups, **plain, rng=np.random.default_rng(1)), from_sums


def main(rounds: int = 3) -> None:
    for name in ("alpha_ordinal", "alpha_interval", "ac1", "quadratic_kappa", "percent"):
        table(f"jackknife of {name}, two raters, five steps, by units", left_out(name, 5), rounds)
    table(
        "jackknife of alpha_ordinal, numbers that all differ, by units",
        left_out("alpha_ordinal", None),
        rounds,
    )
    table("99,999 sign flips, by cases", flips, rounds)
    table("paired tests of 8 candidates, labels of cases as texts, by questions", ranks, rounds)
    table("compare all with one, by candidates", against_one, rounds, (5, 10, 20, 40))
    table("BCa of a mean, 200 draws, by cases", accelerated, rounds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
