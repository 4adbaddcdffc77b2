"""Pooled figures of simulated texts: corpus BLEU, micro F1, perplexity, bits per byte, `n` being cases.

Lengths are skewed, long texts are the easier ones, and texts of one case resemble each other.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from coverage_cells import CASE, CASE_OF_CANDIDATE, ITEM, SIZES, Cell, Floats
from coverage_rates import SILENT, Figures, code_of, coverage_of, is_better, rate
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


def f1_counts(lengths: Floats, z: Floats, rng: np.random.Generator) -> Floats:
    """Terms of a text found, false and missed; a term in eight words."""
    terms = np.maximum(1, np.round(lengths / 8)).astype(int)
    share = expit(0.6 + 0.7 * z)
    found = rng.binomial(terms, share)
    return np.stack([found, rng.poisson(0.8 * terms * (1 - share)), terms - found], axis=1).astype(float)


KINDS = {
    "corpus BLEU": (bleu_counts, stats.corpus_bleu),
    "micro F1": (f1_counts, stats.micro_f1),
    "perplexity": (perplexity_counts, stats.sum_ratio),
    "bits per byte": (perplexity_counts, stats.sum_ratio),
}
SIZES_OF: dict[str, Callable[[Floats], Floats]] = {
    "micro F1": lambda counts: 2 * counts[:, 0] + counts[:, 1] + counts[:, 2],
    "perplexity": lambda counts: counts[:, 1],
    "bits per byte": lambda counts: counts[:, 1],
}
"""What each text is of a ratio: what it is divided by."""
LENGTHS = {
    "cv .5": lognormal_lengths(30, 0.5),
    "cv 1.3": lognormal_lengths(30, 1.3),
    "Pareto": pareto_lengths,
}
SCALES = (
    *("corpus BLEU, lengths cv .5", "corpus BLEU, lengths cv 1.3"),
    *("perplexity, lengths cv .5", "perplexity, lengths cv 1.3", "perplexity, lengths Pareto"),
    "bits per byte, lengths cv 1.3",
    *("micro F1, lengths cv 1.3", "micro F1, lengths Pareto"),
)


def texts(scale: str, sizes: np.ndarray, rng: np.random.Generator, shift: float = 0.0) -> Texts:
    """The texts of cases of these sizes, by one reference; the second candidate's quality is shifted."""
    kind, _, lengths_name = scale.partition(", lengths ")
    cases = np.repeat(np.arange(len(sizes)), sizes)
    n = len(cases)
    lengths = LENGTHS[lengths_name](rng, n)
    shared = np.sqrt(CASE) * rng.standard_normal(len(sizes))[cases] + np.sqrt(ITEM) * rng.standard_normal(n)
    counts = []
    for quality in (0.0, shift):
        own = np.sqrt(CASE_OF_CANDIDATE) * rng.standard_normal(len(sizes))[cases]
        chance = np.sqrt(1 - CASE - ITEM - CASE_OF_CANDIDATE) * rng.standard_normal(n)
        counts.append(KINDS[kind][0](lengths, shared + own + chance + quality, rng))
    return Texts(counts[0], counts[1], cases)


@cache
def truth(scale: str) -> float:
    """The figure of a very large corpus: the limit that sums of counts go to."""
    made = texts(scale, np.ones(TEXTS_FOR_TRUTH, dtype=int), np.random.default_rng(1))
    both = (made.first.sum(axis=0) + made.second.sum(axis=0))[None, :]
    return float(KINDS[scale.partition(",")[0]][1](both)[0])


def pooled(cell: Cell, draws: int) -> Figures:
    """Coverage of the interval, false verdicts of equal candidates, and how often half a sd is found.

    `no verdict` are draws in which fewer than six cases differ.
    """
    rng, kind = cell.rng("pooled"), cell.scale.partition(",")[0]
    statistic, results, verdicts = KINDS[kind][1], [], list[list[str]]()
    for _ in range(draws):
        sizes = np.minimum(SIZES[cell.sizes](rng, (1, cell.n))[0], LARGEST_CASE)
        made = texts(cell.scale, sizes, rng)
        a, b, cases = made
        if kind == "corpus BLEU":
            results.append(stats.pooled(a, cases, statistic, low=0.0, high=1.0))
        elif kind == "perplexity":
            results.append(stats.exp_ratio(a[:, 0], a[:, 1], groups=cases))
        elif kind == "micro F1":
            results.append(stats.ratio(2 * a[:, 0], SIZES_OF[kind](a), groups=cases, low=0.0, high=1.0))
        else:
            results.append(stats.ratio(a[:, 0], a[:, 1], groups=cases, low=0.0))
        codes = []
        for a, b, cases in (made, texts(cell.scale, sizes, rng, 0.5)):
            of_text = SIZES_OF[kind](a) + SIZES_OF[kind](b) if kind in SIZES_OF else None
            pair = stats.pooled_paired(a, b, cases, statistic, sizes=of_text)
            codes.append("incomparable" if pair is None else code_of(pair, pair.p))
        verdicts.append(codes)
    figure = truth(cell.scale)
    return {
        **coverage_of(results, float(np.exp(figure)) if kind == "perplexity" else figure),
        "false better": rate(is_better(equal) for equal, _ in verdicts),
        "found": rate(is_better(better) for _, better in verdicts),
        "no verdict": rate(equal in SILENT for equal, _ in verdicts),
    }
