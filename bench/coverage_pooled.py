"""Pooled figures of simulated texts: corpus BLEU, perplexity and bits per byte, `n` being cases.

Lengths are skewed, long texts are the easier ones, and texts of one case resemble each other.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from coverage_cells import CASE, CASE_OF_CANDIDATE, ITEM, SIZES, Cell, Floats
from coverage_rates import Figures, code_of, coverage_of, is_better, rate
from vivavoce import stats

LARGEST_CASE = 60
"""Texts in a case at most: a Pareto tail would else hold millions."""
TEXTS_FOR_TRUTH = 400_000


def lognormal_lengths(median: float, cv: float) -> Callable[[np.random.Generator, int], Floats]:
    spread = np.sqrt(np.log1p(cv**2))
    return lambda rng, n: np.maximum(4.0, np.round(median * np.exp(spread * rng.standard_normal(n))))


def pareto_lengths(rng: np.random.Generator, n: int) -> Floats:
    """At least 8 words, P(more than k) falls with k^-2.2."""
    return np.minimum(np.round(8 * rng.random(n) ** (-1 / 2.2)), 5_000.0)


class Texts(NamedTuple):
    """Counts by item of two equally good candidates, and the case of each item."""

    first: Floats
    second: Floats
    cases: np.ndarray


def perplexity_counts(lengths: Floats, z: Floats, rng: np.random.Generator) -> Floats:
    """Nats and words: about 3 nats a word, the first words of a text dearer."""
    nats = lengths * np.maximum(0.2, 3.0 + 0.6 * z - 0.2 * np.log(lengths / 30)) + 4.0
    return np.stack([nats, lengths], axis=1)


def bleu_counts(lengths: Floats, z: Floats, rng: np.random.Generator) -> Floats:
    """Matching n-grams, n-grams, and the lengths of answer and reference, as `corpus_bleu` takes them."""
    answer = np.maximum(4.0, np.round(lengths * np.exp(0.25 * rng.standard_normal(len(lengths)))))
    share = expit(0.1 + 0.5 * z + 0.2 * np.log(lengths / 30))
    totals = np.stack([answer - n for n in range(4)], axis=1)
    matches = np.stack(
        [rng.binomial(totals[:, n].astype(int), share ** (1 + 0.7 * n)) for n in range(4)], axis=1
    )
    return np.column_stack([matches, totals, answer, lengths])


KINDS = {
    "corpus BLEU": (bleu_counts, stats.corpus_bleu),
    "perplexity": (perplexity_counts, stats.sum_ratio),
    "bits per byte": (perplexity_counts, stats.sum_ratio),
}
LENGTHS = {
    "cv .5": lognormal_lengths(30, 0.5),
    "cv 1.3": lognormal_lengths(30, 1.3),
    "Pareto": pareto_lengths,
}
SCALES = (
    *("corpus BLEU, lengths cv .5", "corpus BLEU, lengths cv 1.3"),
    *("perplexity, lengths cv .5", "perplexity, lengths cv 1.3", "perplexity, lengths Pareto"),
    "bits per byte, lengths cv 1.3",
)


def texts(scale: str, sizes: np.ndarray, rng: np.random.Generator) -> Texts:
    """The texts of cases of these sizes; the candidates answer the same references."""
    kind, _, lengths_name = scale.partition(", lengths ")
    cases = np.repeat(np.arange(len(sizes)), sizes)
    n = len(cases)
    lengths = LENGTHS[lengths_name](rng, n)
    shared = np.sqrt(CASE) * rng.standard_normal(len(sizes))[cases] + np.sqrt(ITEM) * rng.standard_normal(n)
    counts = []
    for _ in range(2):
        own = np.sqrt(CASE_OF_CANDIDATE) * rng.standard_normal(len(sizes))[cases]
        chance = np.sqrt(1 - CASE - ITEM - CASE_OF_CANDIDATE) * rng.standard_normal(n)
        counts.append(KINDS[kind][0](lengths, shared + own + chance, rng))
    return Texts(counts[0], counts[1], cases)


@cache
def truth(scale: str) -> float:
    """The figure of a very large corpus: the limit that sums of counts go to."""
    made = texts(scale, np.ones(TEXTS_FOR_TRUTH, dtype=int), np.random.default_rng(1))
    both = (made.first.sum(axis=0) + made.second.sum(axis=0))[None, :]
    return float(KINDS[scale.partition(",")[0]][1](both)[0])


def pooled(cell: Cell, draws: int) -> Figures:
    """Coverage of the figure's interval, and how often one of two equal candidates is called better."""
    rng, kind = cell.rng("pooled"), cell.scale.partition(",")[0]
    statistic, results, codes = KINDS[kind][1], [], []
    for _ in range(draws):
        sizes = np.minimum(SIZES[cell.sizes](rng, (1, cell.n))[0], LARGEST_CASE)
        made = texts(cell.scale, sizes, rng)
        a, b, cases = made
        if kind == "corpus BLEU":
            results.append(stats.pooled(a, cases, statistic, low=0.0, high=1.0))
        elif kind == "perplexity":
            results.append(stats.exp_ratio(a[:, 0], a[:, 1], groups=cases))
        else:
            results.append(stats.ratio(a[:, 0], a[:, 1], groups=cases, low=0.0))
        pair = stats.pooled_paired(a, b, cases, statistic)
        codes.append("incomparable" if pair is None else code_of(pair, pair.p))
    figure = truth(cell.scale)
    return {
        **coverage_of(results, float(np.exp(figure)) if kind == "perplexity" else figure),
        "false better": rate(map(is_better, codes)),
    }
