"""Simulated benchmarks whose truth is known: scores of candidates on items that come in cases.

A score is a quantile of a standard normal variable, which is the sum of what a case does to every candidate,
an item to every candidate, a case to one candidate, and chance. So every candidate has the same distribution
of scores, its mean is known exactly, and scores of one case resemble each other.
"""

import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, gammaincinv, ndtr, ndtri, stdtrit

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

CASE, ITEM, CASE_OF_CANDIDATE = 0.30, 0.10, 0.36
"""Shares of the variance; the rest is chance. Inside a case scores correlate by .66 and differences of two
candidates by .60 as normal variables; as scores by .3 to .6, differences at a ceiling by .2."""
MEAN_SIZE = 4.0
"""Items in a case, on average, where sizes are lognormal (before they are rounded to 1 or more)."""
GRID = ndtri((np.arange(20_000) + 0.5) / 20_000)


class Scale(NamedTuple):
    """How a normal variable becomes a score: its mean, and the limits of the scale where it has any."""

    of: Callable[[Floats], Floats]
    mean: float
    low: float | None
    high: float | None

    def shift_for(self, difference: float) -> float:
        """What to add to the normal variable to move the mean by that much, 8 at most either way."""
        mean, way = float(self.of(GRID).mean()), 1.0 if difference > 0 else -1.0
        near, far = 0.0, 8.0
        for _ in range(40):
            middle = (near + far) / 2
            moved = way * (float(self.of(GRID + way * middle).mean()) - mean)
            near, far = (middle, far) if moved < abs(difference) else (near, middle)
        return way * far


def yes_no(p: float) -> Scale:
    return Scale(lambda z: (z > ndtri(1 - p)).astype(np.float64), p, 0.0, 1.0)


def grades(*shares: float) -> Scale:
    """Grades 0, 1, … with these shares."""
    borders = ndtri(np.cumsum(shares)[:-1])
    mean = float(np.dot(shares, np.arange(len(shares))))
    return Scale(lambda z: np.searchsorted(borders, z).astype(np.float64), mean, 0.0, float(len(shares) - 1))


def overlap(zeros: float, a: float, b: float) -> Scale:
    """A share that is 0 for `zeros` of the items, else Beta(a, b): an F1 of sets of words."""
    knots = np.linspace(0.0, 1.0, 20_001)
    values = betaincinv(a, b, knots)

    def of(z: Floats) -> Floats:
        u = (ndtr(z) - zeros) / (1 - zeros)
        return np.where(u > 0, np.interp(u, knots, values), 0.0)

    return Scale(of, (1 - zeros) * a / (a + b), 0.0, 1.0)


SCALES = {
    "yes/no .5": yes_no(0.5),
    "yes/no .9": yes_no(0.9),
    "yes/no .97": yes_no(0.97),
    "grades 0-5": grades(0.05, 0.10, 0.20, 0.30, 0.25, 0.10),
    "grades, most 5": grades(0.01, 0.01, 0.02, 0.04, 0.07, 0.85),
    "F1, zeros .4": overlap(0.4, 2.0, 3.0),
    "lognormal": Scale(np.exp, float(np.exp(0.5)), 0.0, None),
}


def _mean(of: Callable[[Floats], Floats]) -> float:
    return float(of(ndtri((np.arange(2_000_000) + 0.5) / 2_000_000)).mean())


def _rubric(z: Floats) -> Floats:
    """Scores of a rubric with points for harm: most near 1, a tail below 0."""
    return np.asarray(1 - 0.6 * gammaincinv(0.6, ndtr(-z)), dtype=np.float64)


def _rare_harm(z: Floats) -> Floats:
    """Scores of a rubric: good, but 6 % of the answers get 1.5 points less."""
    return np.minimum(1.0, 0.8 + 0.15 * z) - 1.5 * (z < ndtri(0.06))


TAILS = {
    "t(3)": Scale(lambda z: np.asarray(stdtrit(3, ndtr(z)), dtype=np.float64), 0.0, None, None),
    "lognormal": SCALES["lognormal"],
    "clipped, rubric": Scale(_rubric, 1 - 0.6 * 0.6, None, None),
    "clipped, rare harm": Scale(_rare_harm, _mean(_rare_harm), None, None),
}
"""Scales without two limits; the mean of those that are clipped is cut to 0 to 1, as HealthBench's is."""


def lognormal_sizes(cv: float) -> Callable[[np.random.Generator, tuple[int, int]], Codes]:
    spread = float(np.log1p(cv**2))

    def sizes(rng: np.random.Generator, shape: tuple[int, int]) -> Codes:
        raw = np.exp(rng.normal(np.log(MEAN_SIZE) - spread / 2, np.sqrt(spread), shape))
        return np.maximum(1, np.round(raw)).astype(np.int64)

    return sizes


def pareto_sizes(rng: np.random.Generator, shape: tuple[int, int]) -> Codes:
    """P(size >= k) = k^-1.5, mean 2.6; none above 10^6."""
    return np.minimum(rng.random(shape) ** (-1 / 1.5), 1e6).astype(np.int64)


def even_sizes(size: int) -> Callable[[np.random.Generator, tuple[int, int]], Codes]:
    return lambda rng, shape: np.full(shape, size)


SIZES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Codes]] = {
    "single": even_sizes(1),
    "twins": even_sizes(2),
    "fives": even_sizes(5),
    "cv .5": lognormal_sizes(0.5),
    "cv .95": lognormal_sizes(0.95),
    "cv 1.4": lognormal_sizes(1.4),
    "Pareto": pareto_sizes,
}


class Cell(NamedTuple):
    """One setting of a block; `n` counts items, or cases where the block says so."""

    scale: str
    sizes: str
    n: int

    def rng(self, purpose: str) -> np.random.Generator:
        """Seeded by the setting alone, so that a cell gives the same figures in any selection of cells."""
        return np.random.default_rng(zlib.crc32("|".join((purpose, *map(str, self))).encode()))


class Benchmarks(NamedTuple):
    """Simulated benchmarks: scores (draws, k, n) of k candidates, and the case of each item (draws, n)."""

    scores: Floats
    cases: Codes


def draw_cases(sizes: str, n: int, draws: int, rng: np.random.Generator) -> Codes:
    """The case of each of n items, numbered from 0; the last case is cut where the items end."""
    ends = np.minimum(np.cumsum(SIZES[sizes](rng, (draws, n)), axis=1), n)
    starts = np.zeros((draws, n + 1), dtype=np.int64)
    np.put_along_axis(starts, ends, 1, axis=1)
    return np.cumsum(starts[:, :n], axis=1)


def draw_normal(sizes: str, n: int, draws: int, k: int, rng: np.random.Generator) -> Benchmarks:
    """What becomes the scores of k candidates that are equally good: standard normal variables."""
    cases = draw_cases(sizes, n, draws, rng)

    def by_case(*shape: int) -> Any:
        effects = rng.standard_normal((draws, *shape, n))
        at = cases if not shape else np.broadcast_to(cases[:, None, :], effects.shape)
        return np.take_along_axis(effects, at, axis=-1)

    shared = np.sqrt(CASE) * by_case() + np.sqrt(ITEM) * rng.standard_normal((draws, n))
    own = np.sqrt(CASE_OF_CANDIDATE) * by_case(k)
    chance = np.sqrt(1 - CASE - ITEM - CASE_OF_CANDIDATE) * rng.standard_normal((draws, k, n))
    return Benchmarks(shared[:, None, :] + own + chance, cases)


def draw(cell: Cell, draws: int, k: int, rng: np.random.Generator, *, shift: float = 0.0) -> Benchmarks:
    """Scores of k candidates that are equally good; `shift` is added to the first one's normal variable."""
    z, cases = draw_normal(cell.sizes, cell.n, draws, k, rng)
    z[:, 0] += shift
    return Benchmarks((SCALES | TAILS)[cell.scale].of(z), cases)
