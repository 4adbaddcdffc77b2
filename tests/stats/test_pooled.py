"""Pooled figures have an error that knows of groups: alone, as a difference, and by swaps."""

import numpy as np
import pytest
from scipy.special import stdtrit
from tests.stats.corpora import bleu_counts, chrf_counts, corpus
from tests.stats.matrices import by_matrices

from vivavoce import stats


def test_of_a_mean_the_jackknife_is_the_error_by_group():
    """Groups of one size: leaving one out of a mean gives its error exactly, and so the same interval."""
    values = np.array([0.1, 0.4, 0.4, 0.9, 0.7, 0.3])
    groups = [0, 0, 1, 1, 2, 2]
    counts = np.column_stack([values, np.ones(6)])
    found = stats.pooled(counts, groups, stats.sum_ratio, low=0, high=1)
    expected = stats.estimate_mean(values, groups, low=0, high=1)
    assert pytest.approx((expected.value, expected.se, expected.low, expected.high)) == (
        found.value, found.se, found.low, found.high
    )  # fmt: skip
    free = stats.pooled(counts, groups, stats.sum_ratio)
    assert pytest.approx(stats.estimate_mean(values, groups)[:3]) == (free.value, free.low, free.high)


def test_of_means_the_paired_jackknife_is_the_paired_test():
    draw = np.random.default_rng(3)
    a, b = draw.random(24), draw.random(24)
    groups = np.arange(24) // 2
    ones = np.ones(24)
    found = stats.pooled_paired(
        np.column_stack([a, ones]), np.column_stack([b, ones]), groups, stats.sum_ratio
    )
    expected = stats.paired(a - b, groups)
    assert found is not None
    assert pytest.approx((expected.difference, expected.se, expected.p)) == (
        found.difference, found.se, found.p
    )  # fmt: skip
    assert expected[4:] == found[4:]


def test_two_answers_worked_by_hand():
    """F1 of (2, 0, 0) and (0, 1, 1): 4/6 together, 0 and 1 without either; SE^2 = (1/2) (1/2) = 1/4."""
    found = stats.pooled([[2, 0, 0], [0, 1, 1]], ["a", "b"], stats.micro_f1)
    assert pytest.approx((2 / 3, 0.5)) == (found.value, found.se)


@pytest.mark.parametrize("statistic", ["bleu", "chrf"])
def test_neither_the_order_of_rows_nor_the_names_of_groups_matter(statistic):
    answers, references = corpus(5, 20, 9)
    counts, function = {
        "bleu": (bleu_counts(answers, references), stats.corpus_bleu),
        "chrf": (chrf_counts(answers, references, 2), stats.corpus_chrf),
    }[statistic]
    groups = np.arange(20) // 2
    order = np.random.default_rng(0).permutation(20)
    one = stats.pooled(counts, groups, function, low=0, high=1)
    other = stats.pooled(counts[order], [f"case {9 - g}" for g in groups[order]], function, low=0, high=1)
    assert pytest.approx(one[:4], rel=1e-9) == other[:4]
    assert one.low < one.value < one.high


def test_the_whole_exam_asked_twice_is_the_same_figure_with_a_smaller_error():
    """chrF only: in BLEU an order without a match is smoothed by less, the more n-grams there are."""
    answers, references = corpus(6, 20, 9)
    counts = chrf_counts(answers, references, 2)
    once = stats.pooled(counts, np.arange(20), stats.corpus_chrf)
    twice = stats.pooled(np.vstack([counts, counts]), np.arange(40), stats.corpus_chrf)
    assert pytest.approx(once.value) == twice.value
    assert twice.se < once.se


def test_the_same_answers_twice_in_one_case_change_no_figure_and_no_error():
    answers, references = corpus(6, 20, 9)
    counts = chrf_counts(answers, references, 2)
    once = stats.pooled(counts, np.arange(20), stats.corpus_chrf)
    twice = stats.pooled(np.vstack([counts, counts]), np.tile(np.arange(20), 2), stats.corpus_chrf)
    assert pytest.approx(once[:4]) == twice[:4]


def test_thirds_of_a_match_that_cancel_are_no_match():
    """Three repeats of one match in one case: without that case the order has none, and is smoothed."""
    rows = np.array([[1 / 3] * 4 + [4, 3, 2, 1, 4, 4]] * 3 + [[1, 0, 0, 0, 4, 3, 2, 1, 4, 4]] * 2)
    without = stats.pooled(rows, [0, 0, 0, 1, 2], stats.corpus_bleu)
    alone = stats.corpus_bleu(rows[3:].sum(axis=0, keepdims=True))[0]
    others = [stats.corpus_bleu(rows[[0, 1, 2, k]].sum(axis=0, keepdims=True))[0] for k in (3, 4)]
    assert pytest.approx(np.sqrt(2 * np.var([alone, *others]))) == without.se


def test_uneven_cases_have_the_degrees_of_freedom_of_their_sizes():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(25), rng.integers(1, 4, 25))
    counts = rng.integers(1, 9, (len(groups), 3)).astype(float)
    df = by_matrices(counts[:, 0], groups).df
    assert 10 < df < 24
    found = stats.pooled(counts, groups, stats.micro_f1)
    figures = np.array([float(stats.micro_f1(counts[groups != g].sum(axis=0)[None])[0]) for g in range(25)])
    deviations = figures.mean() - figures
    third = 0.5 * (deviations**3).sum() / (deviations**2).sum() ** 1.5
    third *= np.sqrt((df + 1) * df) / (df - 1)
    half = stdtrit(df, 0.975)
    far = [(np.cbrt(1 + 3 * third * (x - third / 2)) - 1) / third for x in (half, -half)]
    low, high = max(half, far[0]), min(-half, far[1])
    expected = df, found.value - low * found.se, found.value - high * found.se
    assert pytest.approx(expected) == (found.df, found.low, found.high)
    bounded = stats.pooled(counts, groups, stats.micro_f1, low=0, high=1)
    assert stats.wilson(found.value, found.se, found.df, low=0, high=1)[:2] == (bounded.low, bounded.high)
    pair = stats.pooled_paired(counts, counts[::-1], groups, stats.micro_f1)
    assert pytest.approx(df) == pair.df


@pytest.mark.parametrize("sizes", [[1] * 9, [30] + [1] * 20])
def test_few_effective_cases_without_limits_have_a_reason(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.random.default_rng(6).integers(1, 9, (len(groups), 3)).astype(float)
    found = stats.pooled(counts, groups, stats.micro_f1)
    assert (None, None) == (found.low, found.high)
    assert found.se > 0
    assert found.reason.startswith("no interval: fewer than 10 effective groups")


def test_one_case_has_a_figure_and_no_interval():
    found = stats.pooled([[1, 1, 0], [2, 0, 0]], ["a", "a"], stats.micro_f1, low=0, high=1)
    assert (6 / 7, None, None, None, 2, 1) == found[:6]


def test_what_is_undefined_without_a_case_has_no_interval():
    found = stats.pooled([[1, 1, 0], [0, 0, 0]], ["a", "b"], stats.micro_f1)
    assert (2 / 3, None, None, 1) == (found.value, found.low, found.se, found.n_undefined)
    assert stats.pooled([[0, 0, 0]] * 2, ["a", "b"], stats.micro_f1).value is None
    assert stats.pooled_paired([[0, 0]] * 2, [[1, 1]] * 2, ["a", "b"], stats.sum_ratio) is None


def test_a_candidate_that_answers_alike_differs_in_nothing():
    counts = bleu_counts(*corpus(7, 15, 9))
    found = stats.pooled_paired(counts, counts, np.arange(15), stats.corpus_bleu)
    assert found is not None
    assert (0.0, 1.0, "swap", 0, 0, 0) == (
        found.difference, found.p, found.test, found.direction, found.n_higher, found.n_different
    )  # fmt: skip


def test_turned_round_the_difference_turns_its_sign():
    a, b = (bleu_counts(*corpus(seed, 30, 12)) for seed in (1, 2))
    one, other = (stats.pooled_paired(*pair, np.arange(30), stats.corpus_bleu) for pair in ((a, b), (b, a)))
    assert one is not None
    assert other is not None
    assert pytest.approx((one.difference, one.se, one.p)) == (-other.difference, other.se, other.p)
    assert (one.direction, one.n_higher, one.n_lower) == (-other.direction, other.n_lower, other.n_higher)


def test_of_means_swapping_is_flipping_signs():
    """With denominators of 1 both are the same test: exactly, and within the draw beyond 16 groups."""
    draw = np.random.default_rng(9)
    for n, tolerance in ((10, 1e-12), (30, 0.01)):
        a, b, ones = draw.random(n), draw.random(n), np.ones(n)
        pair = np.column_stack([a, ones]), np.column_stack([b, ones])
        found = stats.pooled_swaps(*pair, np.arange(n), stats.sum_ratio, rng=np.random.default_rng(1))
        flips = stats.sign_flips(a - b, rng=np.random.default_rng(2))
        assert pytest.approx(flips.p, abs=tolerance) == found.p
        assert (flips.n_different, n <= 16) == (found.n_different, found.exact)


def test_swaps_worked_by_hand():
    """F1 1 against 0 in two cases: both kept or both swapped give 1, one of the two gives 0: p is 1/2."""
    one, other = [[1, 0, 0]] * 2, [[0, 1, 1]] * 2
    found = stats.pooled_swaps(one, other, ["a", "b"], stats.micro_f1, rng=np.random.default_rng(0))
    assert (0.5, 2, 4, True) == found
    same = stats.pooled_swaps(one, one, ["a", "b"], stats.micro_f1, rng=np.random.default_rng(0))
    assert (1.0, 0, 1, True) == same


def test_swaps_are_redrawn_from_the_same_seed():
    a, b = (bleu_counts(*corpus(seed, 30, 12)) for seed in (1, 2))
    first, second = (
        stats.pooled_swaps(a, b, np.arange(30), stats.corpus_bleu, rng=np.random.default_rng(4))
        for _ in range(2)
    )
    assert first == second
    assert 9_999 == first.n_patterns
    paired = stats.pooled_paired(a, b, np.arange(30), stats.corpus_bleu)
    assert paired is not None
    assert abs(first.p - paired.p) < 0.2
    with pytest.raises(ValueError, match="resamples"):
        stats.pooled_swaps(a, b, np.arange(30), stats.corpus_bleu, rng=np.random.default_rng(4), resamples=0)


def test_a_floor_and_a_ceiling_keep_an_honest_interval():
    floor = stats.pooled([[0, 1, 1]] * 12, np.arange(12), stats.micro_f1, low=0, high=1)
    ceiling = stats.pooled([[1, 0, 0]] * 12, np.arange(12), stats.micro_f1, low=0, high=1)
    assert (0.0, 0.0) == (floor.value, floor.low)
    assert (1.0, 1.0) == (ceiling.value, ceiling.high)
    assert floor.high > 0.2
    assert ceiling.low < 0.8


@pytest.mark.parametrize(
    ("counts", "groups", "wrong"),
    [
        ([], [], "table"),
        ([1.0, 2.0], ["a", "b"], "table"),
        ([[1, 2], [float("nan"), 1]], ["a", "b"], "position 1"),
        ([[1, 2], [3, 4]], ["a"], "groups"),
        ([[1, 2], [3, 4]], ["a", None], "no label at position 1"),
    ],
)
def test_what_is_no_table_of_counts_is_refused(counts, groups, wrong):
    with pytest.raises(ValueError, match=wrong):
        stats.pooled(counts, groups, stats.sum_ratio)


def test_two_of_different_shape_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        stats.pooled_paired([[1, 2]], [[1, 2], [3, 4]], ["a"], stats.sum_ratio)
