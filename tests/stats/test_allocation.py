"""Items, repeats or passes. Golden values: docs/statistics.md, section 4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vivavoce.stats.power import best_repeats, repeats_worth, variance_of_difference

# Comprehension of eight models.
PARTS = {"s2_interaction": 0.27082, "s2_within": 0.29038}


def near(expected, decimals):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def test_golden_five_repeats_are_worth_1_7_times_the_questions():
    assert near(1.1224, 4) == variance_of_difference(**PARTS, n_items=1, repeats=1)
    assert near(0.6578, 4) == variance_of_difference(**PARTS, n_items=1, repeats=5)
    assert near(1.706, 3) == repeats_worth(**PARTS, repeats=5)


def test_golden_one_repeat_if_items_are_cheap_and_five_if_they_are_dear():
    assert 1 == best_repeats(**PARTS, cost_item=1, cost_repeat=1)
    assert 5 == best_repeats(**PARTS, cost_item=25, cost_repeat=1)


def test_golden_a_second_repeat_takes_more_than_2_25_times_the_variance():
    assert 1 == best_repeats(s2_interaction=1, s2_within=2.25, cost_item=1, cost_repeat=1)
    assert 2 == best_repeats(s2_interaction=1, s2_within=2.2501, cost_item=1, cost_repeat=1)


def test_what_does_not_vary_needs_no_second_look():
    assert 1 == best_repeats(s2_interaction=0.3, s2_within=0, cost_item=25, cost_repeat=1)
    assert 1 == best_repeats(s2_interaction=0, s2_within=0, cost_item=25, cost_repeat=1)
    assert 1.0 == repeats_worth(s2_interaction=0.3, s2_within=0, repeats=5)
    assert repeats_worth(s2_interaction=0, s2_within=0, repeats=5) is None


def test_an_interaction_of_zero_gives_no_plan():
    assert best_repeats(s2_interaction=0, s2_within=0.3, cost_item=1, cost_repeat=1) is None
    assert pytest.approx(5) == repeats_worth(s2_interaction=0, s2_within=0.3, repeats=5)


@given(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(0.1, 100), st.floats(0.01, 100))
def test_the_currency_and_the_metrics_unit_do_not_matter(interaction, within, dear, rate):
    a = best_repeats(s2_interaction=interaction, s2_within=within, cost_item=dear, cost_repeat=1)
    b = best_repeats(s2_interaction=4 * interaction, s2_within=4 * within, cost_item=dear, cost_repeat=1)
    c = best_repeats(s2_interaction=interaction, s2_within=within, cost_item=8 * dear, cost_repeat=8)
    assert a == b == c
    assert 1 <= repeats_worth(s2_interaction=interaction, s2_within=within, repeats=5) <= 5


@given(st.floats(0.01, 5), st.floats(0.01, 5), st.floats(0.1, 100))
def test_the_best_number_is_next_to_the_cheapest_for_a_given_error(interaction, within, dear):
    """Cost times variance, which a budget leaves to be minimised."""

    def price(repeats):
        error = variance_of_difference(
            s2_interaction=interaction, s2_within=within, n_items=1, repeats=repeats
        )
        return (dear + repeats) * error

    best = best_repeats(s2_interaction=interaction, s2_within=within, cost_item=dear, cost_repeat=1)
    cheapest = min(range(1, 300), key=price)
    assert abs(best - cheapest) <= 1


def test_numbers_out_of_range_are_refused():
    with pytest.raises(ValueError, match="s2_within must be a finite number, 0 or more, but is -1"):
        variance_of_difference(s2_interaction=1, s2_within=-1, n_items=5)
    with pytest.raises(ValueError, match="s2_interaction must be"):
        variance_of_difference(s2_interaction=float("nan"), s2_within=1, n_items=5)
    with pytest.raises(ValueError, match="n_items must be at least 1, but is 0"):
        variance_of_difference(s2_interaction=1, s2_within=1, n_items=0)
    with pytest.raises(ValueError, match="repeats must be at least 1"):
        repeats_worth(**PARTS, repeats=0)
    with pytest.raises(ValueError, match="cost_repeat must be a finite number above 0"):
        best_repeats(**PARTS, cost_item=1, cost_repeat=0)
    with pytest.raises(ValueError, match="cost_item must be"):
        best_repeats(s2_interaction=1, s2_within=1, cost_item=-1, cost_repeat=1)
