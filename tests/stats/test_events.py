"""The exact test of how many events happened, each with a chance of its own."""

import numpy as np
import pytest
from scipy.stats import binomtest, poisson_binom

from vivavoce import stats


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_p_is_that_of_the_poisson_binomial_distribution(n):
    chances = np.random.default_rng(n).random(n)
    law = poisson_binom(chances)
    for happened in range(n + 1):
        tail = min(law.cdf(happened), law.sf(happened - 1)) - law.pmf(happened) / 2
        assert pytest.approx(min(1.0, 2 * tail), abs=1e-12) == stats.events_test(happened, chances)


def test_equal_chances_are_binomial_and_counted_by_hand():
    """9 of 10 at .5: (10 + 1) / 1024 on this side, of which half of 10 is not counted; 2 × 6 / 1024."""
    assert pytest.approx(12 / 1024) == stats.events_test(9, [0.5] * 10)
    mid = binomtest(9, 10, 0.5).pvalue - 10 / 1024
    assert pytest.approx(mid) == stats.events_test(1, [0.5] * 10)


def test_events_that_are_certain_say_nothing():
    assert 1.0 == stats.events_test(0, []) == stats.events_test(3, [1.0, 1.0, 0.0, 1.0])
    assert pytest.approx(stats.events_test(4, [0.5] * 5)) == stats.events_test(
        6, [0.5, 1.0] * 2 + [0.5] * 3 + [0.0]
    )


def test_their_order_and_which_side_is_counted_change_nothing():
    chances = np.random.default_rng(0).random(30)
    expected = stats.events_test(11, chances)
    assert pytest.approx(expected, rel=1e-12) == stats.events_test(11, chances[::-1])
    assert pytest.approx(expected, rel=1e-9) == stats.events_test(19, 1 - chances)


def test_ten_thousand_events_of_few_chances_are_counted():
    chances = np.repeat([0.0, 1 / 3, 2 / 3, 1.0], 2_500)
    assert pytest.approx(1.0, abs=0.02) == stats.events_test(5_000, chances)
    assert stats.events_test(5_200, chances) < 1e-8


@pytest.mark.parametrize(
    ("happened", "chances", "reason"),
    [
        (0, [1.5], "between 0 and 1"),
        (0, [np.nan], "chances"),
        (2, [0.5], "between 0 and 1, but is 2"),
        (-1, [0.5], "between 0 and 1, but is -1"),
    ],
)
def test_what_is_no_chance_or_no_count_is_refused(happened, chances, reason):
    with pytest.raises(ValueError, match=reason):
        stats.events_test(happened, chances)
