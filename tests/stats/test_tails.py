"""The bad end. Oracles: enumeration of every choice of k; the plain mean of the lowest values."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.stats import cluster_mean, estimate_mean, t_interval, wilson
from vivavoce.stats.worst_case import lower_tail_mean, worst_at_k, worst_of_k

answers = st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=7), min_size=1, max_size=8)


@given(answers, st.integers(1, 3))
def test_worst_of_k_is_the_mean_over_every_choice(data, k):
    y = [v for item in data for v in item]
    i = [f"item {n}" for n, item in enumerate(data) for _ in item]
    expected = [np.mean([min(c) for c in combinations(item, k)]) for item in data]
    assert pytest.approx(expected, abs=1e-12) == worst_of_k(y, i, k=k)


def test_hand_worked_worst_of_two():
    """Of 1, 2, 4: pairs have the minima 1, 1, 2."""
    assert [pytest.approx(4 / 3)] == list(worst_of_k([4, 1, 2], list("aaa"), k=2))
    assert [1, 3] == list(worst_of_k([4, 1, 2, 3, 3, 3], list("aaabbb"), k=3))


def test_it_falls_from_the_mean_to_the_minimum():
    rng = np.random.default_rng(1)
    y, i = rng.integers(0, 6, 60).astype(float), np.arange(60) // 5
    steps = [worst_of_k(y, i, k=k) for k in (1, 2, 3, 4, 5)]
    assert pytest.approx(y.reshape(12, 5).mean(axis=1)) == steps[0]
    assert list(y.reshape(12, 5).min(axis=1)) == list(steps[-1])
    assert all((a >= b - 1e-12).all() for a, b in pairwise(steps))


def test_it_is_unbiased_for_the_worst_of_k_new_answers():
    """Shares 1/4 of 0 and 3/4 of 1: the worst of two is 1 with probability 9/16, from 5 repeats too."""
    y = (np.random.default_rng(2).random(200_000) < 0.75).astype(float)
    assert pytest.approx(9 / 16, abs=0.006) == worst_of_k(y, np.arange(200_000) // 5, k=2).mean()


def test_golden_worst_of_one_is_the_headline(judge_scores, items):
    rows = [r for r in judge_scores if r["model"] == "Gemini 2.5 Pro"]
    y = [float(r["comprehension"]) for r in rows]
    i, g = [r["question_id"] for r in rows], [r["group"] for r in rows]
    data = items("Gemini 2.5 Pro")
    headline = estimate_mean(data.values, data.groups, low=0, high=5)
    one = worst_at_k(y, i, groups=g, k=1, low=0, high=5)
    assert pytest.approx(headline[:4]) == one[:4]
    assert headline[4:] == one[4:]
    assert worst_at_k(y, i, groups=g, k=5, low=0, high=5).value < one.value


def test_worst_at_k_of_one_group_two_groups_and_ties():
    assert (2.0, None, None, None, 2, 1) == worst_at_k([2, 3, 2, 2], list("aabb"), groups=[1] * 4, k=2)[:6]
    two = worst_at_k([2, 3, 4, 4], list("aabb"), groups=[0, 0, 1, 1], k=2)
    assert (3.0, pytest.approx(1.0)) == (two.value, two.se)
    same = worst_at_k([0.3] * 6, list("aabbcc"), groups=list("aabbcc"), k=2, low=0, high=1)
    assert (0.3, 0.0) == (same.value, same.se)
    assert same.low < 0.3 < same.high


def test_too_few_answers_and_misfits_are_refused_with_their_position():
    with pytest.raises(ValueError, match="the item at position 2 has 1 answers, fewer than k = 2"):
        worst_of_k([1, 2, 3], list("aab"), k=2)
    with pytest.raises(ValueError, match="k must be at least 1"):
        worst_of_k([1], ["a"], k=0)
    with pytest.raises(ValueError, match="values holds nan at position 1"):
        worst_of_k([1, float("nan")], ["a", "a"], k=1)
    with pytest.raises(ValueError, match="values is empty"):
        worst_of_k([], [], k=1)
    with pytest.raises(ValueError, match="items has no label at position 0"):
        worst_of_k([1, 2], [None, "a"], k=1)
    with pytest.raises(ValueError, match="groups differs inside one of the items"):
        worst_at_k([1, 2], ["a", "a"], groups=[0, 1], k=1)


def test_the_worst_quarter_is_the_mean_of_the_lowest_four_of_sixteen():
    y = np.random.default_rng(3).permutation(16) / 4
    e = lower_tail_mean(y, np.arange(16), share=0.25)
    assert (pytest.approx((0 + 1 + 2 + 3) / 16), 16, 16) == (e.value, e.n, e.n_groups)
    assert "t, influence function, 4 effective groups in the tail" == e.method


def test_an_item_on_the_border_counts_in_part():
    """The worst .3 of 1, 2, 3, 4, 5 are 1 and half of 2: (1 + 1) / 1.5."""
    assert pytest.approx(4 / 3) == lower_tail_mean([5, 3, 2, 1, 4], range(5), share=0.3).value


def test_hand_worked_tail_error():
    """share .5 of 1 … 20: Q = 10, z = 2 y - 10 up to 10, then 10; mean 5.5; ten groups in the tail: t(9)."""
    y = np.arange(1.0, 21)
    z = np.r_[np.arange(-8.0, 11, 2), [10.0] * 10]
    se = z.std(ddof=1) / np.sqrt(20)
    e = lower_tail_mean(y, range(20), share=0.5)
    assert (pytest.approx(5.5), pytest.approx(se), 9) == (e.value, e.se, e.df)
    assert pytest.approx(tuple(t_interval(5.5, se, 9))) == (e.low, e.high)
    bounded = lower_tail_mean(y, range(20), share=0.5, low=0, high=20)
    assert pytest.approx(wilson(5.5, se, 9, low=0, high=20)[:2]) == (bounded.low, bounded.high)
    assert "Wilson, influence function, 10 effective groups in the tail" == bounded.method


tail_rows = st.lists(st.tuples(st.floats(0, 5), st.integers(0, 6)), min_size=1, max_size=30)


@given(tail_rows, st.floats(0.05, 0.95), st.randoms(use_true_random=False))
def test_order_names_and_copies_do_not_matter_and_it_lies_below_the_mean(data, share, random):
    y, g = map(np.array, zip(*data, strict=True))
    a = lower_tail_mean(y, g, share=share, low=0, high=5)
    order = list(range(len(y)))
    random.shuffle(order)
    names = [f"case {9 - k}" for k in g[order]]
    for b in (
        lower_tail_mean(y[order], names, share=share, low=0, high=5),
        lower_tail_mean(np.tile(y, 2), np.tile(g, 2), share=share, low=0, high=5),
        lower_tail_mean(y, g, share=share, low=0, high=5, weights=[3] * len(y)),
    ):
        assert pytest.approx(a.value, abs=1e-9) == b.value
    assert y.min() <= a.value <= cluster_mean(y, g).value + 1e-9
    assert a.low is None or 0 <= a.low <= a.value + 1e-9 <= a.high + 2e-9


def test_a_weight_of_two_is_the_item_twice():
    one = lower_tail_mean([1, 2, 3, 4], list("abcd"), share=0.4, weights=[2, 1, 1, 1])
    two = lower_tail_mean([1, 1, 2, 3, 4], list("aabcd"), share=0.4)
    assert (one.value, pytest.approx(one.se)) == (two.value, two.se)


@pytest.mark.parametrize("limits", [{}, {"low": 0, "high": 200}])
def test_a_tail_of_fewer_than_ten_effective_groups_has_no_interval_and_a_reason(limits):
    for n, share in ((15, 0.1), (99, 0.1), (19, 0.5)):
        e = lower_tail_mean(np.arange(float(n)), np.arange(n), share=share, **limits)
        assert (None, None) == (e.low, e.high)
        assert e.se > 0
        assert "fewer than 10 effective groups in the tail: no interval" == e.reason
    assert lower_tail_mean(np.arange(100.0), np.arange(100), share=0.1, **limits).reason is None
    one = lower_tail_mean([1, 2], ["a", "a"], share=0.5, **limits)
    assert (1.0, None, None, None) == one[:4]
    assert "one group only: no interval" == one.reason


def test_a_giant_group_in_the_tail_is_few_groups():
    """A hundred cases, but the worst tenth of the questions is one case of 11 and some singles."""
    y, g = np.arange(110.0), np.maximum(np.arange(110) - 10, 0)
    e = lower_tail_mean(y, g, share=0.1, low=0, high=200)
    assert (100, None, None) == (e.n_groups, e.low, e.high)
    assert "fewer than 10 effective groups in the tail: no interval" == e.reason


def test_all_equal_has_no_error_and_wilson_still_has_a_width():
    e = lower_tail_mean([4.0] * 40, np.arange(40), share=0.25, low=0, high=5)
    assert (4.0, 0.0, 9) == (e.value, e.se, e.df)
    assert e.low < 4 < e.high
    free = lower_tail_mean([4.0] * 40, np.arange(40), share=0.25)
    assert (None, None) == (free.low, free.high)
    assert free.reason.startswith("no interval: all values are equal")


def test_tail_misfits_are_refused_with_their_position():
    with pytest.raises(ValueError, match="values holds nan at position 0"):
        lower_tail_mean([float("nan")], [0], share=0.1)
    with pytest.raises(ValueError, match="share must lie between 0 and 1"):
        lower_tail_mean([1], [0], share=10)
    with pytest.raises(ValueError, match=r"values holds 6\.0 at position 1, outside the limits"):
        lower_tail_mean([1, 6], [0, 1], share=0.5, low=0, high=5)
    with pytest.raises(ValueError, match=r"weights holds 0\.0 at position 0"):
        lower_tail_mean([1, 2], [0, 1], share=0.5, weights=[0, 1])


def test_a_million_rows_are_no_matter():
    y, k = np.random.default_rng(4).random(10**6), np.arange(10**6)
    worst = worst_at_k(y, k // 5, groups=k // 10, k=3, low=0, high=1)
    assert pytest.approx(0.25, abs=0.002) == worst.value
    tail = lower_tail_mean(y, k // 5, share=0.1, low=0, high=1)
    assert pytest.approx(0.05, abs=0.001) == tail.value
