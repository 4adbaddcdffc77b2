"""Answers and references drawn from a few words, and what sacrebleu counts in them."""

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

WORDS = [
    "the",
    "patient",
    "should",
    "take",
    "aspirin",
    "twice",
    "daily",
    "with",
    "food",
    "if",
    "pain",
    "persists",
]


def corpus(seed, n, longest):
    """Answers and two lists of references, drawn from a few words so that n-grams match."""
    draw = np.random.default_rng(seed)

    def text():
        return " ".join(draw.choice(WORDS, draw.integers(1, longest + 1)))

    return [text() for _ in range(n)], [[text() for _ in range(n)] for _ in range(2)]


def bleu_counts(answers, references):
    """By answer: matches and n-grams by order, lengths. sacrebleu holds the lengths first."""
    rows = np.array(BLEU()._extract_corpus_statistics(answers, references), dtype=float)
    return np.column_stack([rows[:, 2:], rows[:, :2]])


def chrf_counts(answers, references, word_order):
    """By answer: n-grams of answers, of references, matches. sacrebleu holds them order by order."""
    rows = np.array(CHRF(word_order=word_order)._extract_corpus_statistics(answers, references), dtype=float)
    return np.column_stack([rows[:, kind::3] for kind in range(3)])
