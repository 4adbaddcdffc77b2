"""Macro F1: the mean over labels, what an item is of it, and whether its intervals cover."""

import numpy as np
import pytest
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.lengths import length

from vivavoce import stats

sklearn_metrics = lazy_module("sklearn.metrics")

SILENT = -1


def counted(keyed, given, n_labels):
    """A row per item: the true positives of each label, then the false ones, then the misses."""
    items, right = np.arange(len(keyed)), keyed == given
    spoken = ~right & (given != SILENT)
    table = np.zeros((len(keyed), 3 * n_labels))
    table[items[right], keyed[right]] = 1
    table[items[spoken], n_labels + given[spoken]] = 1
    table[items[~right], 2 * n_labels + keyed[~right]] = 1
    return table


@each_case("seed", range(20))
def test_it_is_that_of_scikit_learn(seed):
    """1.9.1; a silence is an answer outside the labels. Label 5 is only ever given, 6 never occurs."""
    rng = np.random.default_rng(seed)
    keyed = rng.choice(5, 40, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    given = np.where(rng.random(40) < 0.6, keyed, rng.choice([SILENT, 0, 1, 2, 5], 40))
    labels = sorted({*keyed, *given} - {SILENT})
    expected = sklearn_metrics.f1_score(keyed, given, average="macro", labels=labels, zero_division=0)
    sums = counted(keyed, given, 7).sum(axis=0, keepdims=True)
    assert pytest.approx(expected) == stats.macro_f1(sums)[0]
    micro = sums.reshape(3, 7).sum(axis=1)[None, :]
    assert (
        pytest.approx(sklearn_metrics.f1_score(keyed, given, average="micro", labels=labels))
        == stats.micro_f1(micro)[0]
    )


def test_worked_by_hand():
    """2/3 and 2/4, and 0 for a label that is given but never keyed; one that never occurs is left out."""
    sums = np.array([*[1, 1, 0, 0], *[0, 1, 1, 0], *[1, 1, 0, 0]], dtype=float)
    assert pytest.approx((2 / 3 + 2 / 4 + 0) / 3) == stats.macro_f1(sums[None])[0]
    assert np.isnan(stats.macro_f1(np.zeros((1, 6)))[0])


def test_of_one_label_it_is_micro_f1():
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    macro, micro = (
        stats.pooled(counts, [0, 1, 2], f, low=0, high=1) for f in (stats.macro_f1, stats.micro_f1)
    )
    assert macro == micro


def test_the_order_of_labels_and_of_items_changes_nothing():
    rng = np.random.default_rng(2)
    keyed, given, turned = rng.choice(4, 60), rng.choice(4, 60), rng.permutation(60)
    one = counted(keyed, given, 4)
    other = counted(3 - keyed, 3 - given, 4)[turned]
    groups = np.arange(60) // 2
    found = stats.pooled(one, groups, stats.macro_f1, sizes=stats.label_sizes(one), low=0, high=1)
    again = stats.pooled(other, groups[turned], stats.macro_f1, sizes=stats.label_sizes(other), low=0, high=1)
    assert pytest.approx(found[:4]) == again[:4]
    assert pytest.approx(found.df) == again.df


def test_two_items_of_a_rare_label_are_half_of_the_figure():
    """Of 100 items, all right, 2 bear the other label: two labels, so each has half of the figure."""
    keyed = np.repeat([0, 1], [98, 2])
    sizes = stats.label_sizes(counted(keyed, keyed, 2))
    assert pytest.approx([1 / 98, 1 / 2]) == [sizes[0], sizes[-1]]
    assert pytest.approx(2) == sizes.sum()
    assert stats.effective_groups(np.arange(100), weights=sizes) < 5
    assert [0.0] == stats.label_sizes(np.zeros((1, 6))).tolist()


def test_all_wrong_is_zero_with_an_interval_that_has_a_width():
    keyed, given = np.repeat([0, 1], 20), np.repeat([1, 0], 20)
    table = counted(keyed, given, 2)
    found = stats.pooled(table, np.arange(40), stats.macro_f1, sizes=stats.label_sizes(table), low=0, high=1)
    assert (0.0, 0.0) == (found.value, found.low)
    assert 0.05 < found.high < 0.3


def drawn(rng, shares, n, size):
    """Two candidates alike: 7 of 10 right, 1 of 20 silent, answers of a case resemble each other."""
    cases = np.arange(n) // size
    keyed = rng.choice(len(shares), n, p=shares)
    shared = 0.7 * rng.standard_normal(n)[cases]
    tables = []
    for _ in range(2):
        right = rng.random(n) < 1 / (1 + np.exp(-(0.85 + shared + 0.5 * rng.standard_normal(n))))
        given = np.where(right, keyed, rng.choice(len(shares), n, p=shares))
        tables.append(counted(keyed, np.where(rng.random(n) < 0.05, SILENT, given), len(shares)))
    return *tables, cases


FEW_LABELS, RARE_LABELS = (0.55, 0.33, 0.12), (0.5, 0.3, 0.1, 0.05, 0.03, 0.02)


EXAMS = [
    (FEW_LABELS, 100, 4),
    (RARE_LABELS, 500, 4),
    (FEW_LABELS, 100, 1),
    (FEW_LABELS, 500, 4),
    (RARE_LABELS, 500, 1),
]


@pytest.mark.parametrize(("shares", "n", "size"), length(EXAMS[:2], EXAMS))
def test_its_interval_covers_and_two_alike_are_seldom_told_apart(shares, n, size):
    """Of many draws 93 % and more covered, at most 6 % told apart, within two Monte-Carlo errors."""
    limit = drawn(np.random.default_rng(1), shares, 400_000, 1)
    truth = stats.macro_f1((limit[0] + limit[1]).sum(axis=0, keepdims=True))[0]
    rng, covered, apart, draws = np.random.default_rng(7), 0, 0, length(150, 1_000)
    for _ in range(draws):
        a, b, cases = drawn(rng, shares, n, size)
        sizes = stats.label_sizes(a)
        found = stats.pooled(a, cases, stats.macro_f1, sizes=sizes, low=0, high=1)
        covered += found.low <= truth <= found.high
        pair = stats.pooled_paired(a, b, cases, stats.macro_f1, sizes=sizes + stats.label_sizes(b))
        apart += pair.p < 0.05
    assert covered / draws >= 0.93 - 2 * np.sqrt(0.93 * 0.07 / draws)
    assert apart / draws <= 0.06 + 2 * np.sqrt(0.06 * 0.94 / draws)
