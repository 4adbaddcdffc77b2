"""Figures of a corpus from its counts: BLEU and chrF as sacrebleu gives them, F1 and ratios by hand."""

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF
from tests.cases import each_case
from tests.stats.corpora import bleu_counts, chrf_counts, corpus

from vivavoce import stats


@each_case("longest", [2, 5, 14])
@each_case("n", [1, 3, 40])
def test_corpus_bleu_is_sacrebleus(n, longest):
    answers, references = corpus(n * longest, n, longest)
    sums = bleu_counts(answers, references).sum(axis=0, keepdims=True)
    assert (
        pytest.approx(BLEU().corpus_score(answers, references).score / 100, rel=1e-12)
        == (stats.corpus_bleu(sums)[0])
    )


@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("n", [1, 3, 40])
def test_corpus_chrf_is_sacrebleus(n, word_order):
    answers, references = corpus(n, n, 6)
    sums = chrf_counts(answers, references, word_order).sum(axis=0, keepdims=True)
    expected = CHRF(word_order=word_order).corpus_score(answers, references).score / 100
    assert pytest.approx(expected, rel=1e-12) == stats.corpus_chrf(sums)[0]


def test_bleu_worked_by_hand():
    """Precisions 3/4, 1/3, then 1/(2*2) and 1/(4*1) for orders without a match; 4 words against 5."""
    sums = np.array([[3, 1, 0, 0, 4, 3, 2, 1, 4, 5]], dtype=float)
    expected = (3 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** 0.25 * np.exp(1 - 5 / 4)
    assert pytest.approx(expected) == stats.corpus_bleu(sums)[0]


def test_nothing_in_common_is_0_and_the_same_text_is_1():
    nothing = np.array([[0, 0, 0, 0, 4, 3, 2, 1, 4, 4]], dtype=float)
    same = np.array([[4, 3, 2, 1, 4, 3, 2, 1, 4, 4]], dtype=float)
    assert [0, 1] == stats.corpus_bleu(np.vstack([nothing, same])).tolist()
    assert [0, 1] == stats.corpus_chrf(np.array([[5, 4, 5, 4, 0, 0], [5, 4, 5, 4, 5, 4.0]])).tolist()


def test_empty_answers_are_0_and_warn_of_nothing():
    assert [0] == stats.corpus_bleu(np.zeros((1, 10))).tolist()
    assert [0] == stats.corpus_chrf(np.array([[0, 0, 5, 4, 0, 0.0]])).tolist()


def test_a_ratio_and_f1_without_a_denominator_are_undefined():
    assert np.isnan(stats.sum_ratio(np.array([[0.0, 0.0]]))[0])
    assert np.isnan(stats.micro_f1(np.zeros((1, 3)))[0])
    assert [0.5] == stats.micro_f1(np.array([[1.0, 1.0, 1.0]])).tolist()
