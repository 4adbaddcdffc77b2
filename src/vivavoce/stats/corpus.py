"""Figures of a whole corpus from its summed counts: ratios, micro F1, BLEU and chrF.

Each takes rows of sums, one per corpus, and gives one figure per row: leaving out each group in turn is one
call. BLEU and chrF are computed as sacrebleu computes them (Post 2018, arXiv:1804.08771).
"""

import numpy as np

from vivavoce.stats._arrays import Floats

__all__ = ["corpus_bleu", "corpus_chrf", "micro_f1", "sum_ratio"]

BLEU_ORDERS = 4


def sum_ratio(sums: Floats) -> Floats:
    """Numerator over denominator.

    Parameters
    ----------
    sums : array of shape (m, 2)
        Numerators, denominators.

    Returns
    -------
    array of shape (m,)
        NaN where the denominator is 0.
    """
    return _over(sums[:, 0], sums[:, 1])


def micro_f1(sums: Floats) -> Floats:
    """2 TP / (2 TP + FP + FN).

    Parameters
    ----------
    sums : array of shape (m, 3)
        TP, FP, FN.

    Returns
    -------
    array of shape (m,)
        0 to 1; NaN where there is nothing to find and nothing was found.
    """
    tp, fp, fn = sums.T
    return _over(2 * tp, 2 * tp + fp + fn)


def corpus_bleu(sums: Floats) -> Floats:
    """Corpus BLEU of four orders, smoothed exponentially: sacrebleu's default.

    Parameters
    ----------
    sums : array of shape (m, 10)
        n-grams of the answers that match for n = 1 … 4; n-grams in the answers for n = 1 … 4; length of
        the answers; length of the references (for each answer, of the closest in length).

    Returns
    -------
    array of shape (m,)
        0 to 1. 0 where nothing matches or no answer has four tokens: the score is then 0 by convention, as
        sacrebleu gives it. A corpus of a few short answers is one, and its figure is mostly smoothing.

    The k-th order in turn without a match counts 1 / (2^k total) instead of 0. Papineni et al. (2002);
    smoothing: Lin & Och (2004), NIST's mteval-v13a.
    """
    correct, total = sums[:, :BLEU_ORDERS], sums[:, BLEU_ORDERS : 2 * BLEU_ORDERS]
    said, meant = sums[:, -2], sums[:, -1]
    defined = (correct > 0).any(axis=1) & (total > 0).all(axis=1)
    missed = correct == 0
    counted = np.where(missed, 0.5 ** np.cumsum(missed, axis=1), correct)
    rows = np.reshape(defined, (-1, 1))
    logs = np.log(np.where(rows, counted, 1.0) / np.where(rows, total, 1.0))
    shortness = np.where(said < meant, 1 - _over(meant, said), 0.0)
    return np.where(defined, np.exp(np.where(defined, shortness, 0.0) + logs.mean(axis=1)), 0.0)


def corpus_chrf(sums: Floats, *, beta: float = 2.0) -> Floats:
    """Corpus chrF, or chrF++ if orders of words are among the orders: sacrebleu's default.

    Parameters
    ----------
    sums : array of shape (m, 3 n)
        For each of n orders the n-grams in the answers, then for each those in the references, then for
        each those that match.
    beta : float
        What recall weighs against precision, 2 by default.

    Returns
    -------
    array of shape (m,)
        0 to 1. Precision and recall are averaged over the orders that occur in answers and references
        both; 0 where there are none.

    Popović (2015), chrF; (2017), chrF++, both WMT.
    """
    answers, references, shared = np.split(sums, 3, axis=1)
    used = (answers > 0) & (references > 0)
    orders = np.maximum(used.sum(axis=1), 1)
    precision, recall = (
        np.where(used, shared / np.where(used, whole, 1.0), 0.0).sum(axis=1) / orders
        for whole in (answers, references)
    )
    weighed = beta**2 * precision + recall
    return np.where(weighed > 0, (1 + beta**2) * precision * recall / np.where(weighed > 0, weighed, 1), 0.0)


def _over(numerators: Floats, denominators: Floats) -> Floats:
    defined = denominators != 0
    ratios: Floats = np.where(defined, numerators / np.where(defined, denominators, 1.0), np.nan)
    return ratios
