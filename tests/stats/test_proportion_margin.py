"""The margin of a number of scored items, against the planner that it turns round."""

import pytest
from scipy.stats import binomtest

from vivavoce.stats import proportion_margin, proportion_n


@pytest.mark.parametrize(
    ("n", "population", "percent"),
    [(360, 5621, 5.00), (260, 5621, 5.94), (260, 3730, 5.86), (260, 2769, 5.79)],
)
def test_260_items_of_careqa_do_not_give_the_margin_that_360_give(n, population, percent):
    assert percent == round(100 * proportion_margin(n, population=population), 2)


def test_hand_worked_margin():
    """z sqrt(.25 / 100) = 1.959964 / 20."""
    assert 0.0979982 == pytest.approx(proportion_margin(100), abs=1e-7)


@pytest.mark.parametrize("population", [None, 5621, 400])
@pytest.mark.parametrize("deff", [1.0, 1.5])
def test_the_number_for_a_margin_is_the_least_that_keeps_it(population, deff):
    n = proportion_n(0.5, 0.05, population=population, design_effect=deff)
    kept = {"population": population, "design_effect": deff}
    assert proportion_margin(n, **kept) <= 0.05 < proportion_margin(n - 1, **kept)


@pytest.mark.parametrize(("n", "events"), [(100, 1), (189, 4), (500, 9), (12, 6), (19, 9)])
def test_few_events_have_the_margin_of_scipys_exact_interval(n, events):
    ends = binomtest(events, n).proportion_ci(method="exact")
    assert pytest.approx((ends.high - ends.low) / 2) == proportion_margin(n, events / n)


def test_a_margin_from_few_events_is_wider_than_the_normal_formulas():
    """At a share and a margin of 2 % it planned 189 items: the exact interval is 16 % wider; now 245."""
    normal = 1.959964 * (0.02 * 0.98 / 189) ** 0.5
    assert (1.16, 0.02) == (round(proportion_margin(189, 0.02) / normal, 2), round(normal, 4))
    n = 245
    assert n == proportion_n(0.02, 0.02)
    assert proportion_margin(n, 0.02) <= 0.02 < proportion_margin(n - 1, 0.02)


@pytest.mark.parametrize("p", [0.001, 0.02, 0.3, 0.98])
def test_more_items_never_have_a_wider_margin(p):
    margins = [proportion_margin(n, p) for n in range(1, 700)]
    assert margins == sorted(margins, reverse=True)


def test_a_set_marked_whole_has_no_margin():
    assert 0 == proportion_margin(5621, population=5621) == proportion_margin(1, population=1)


def test_a_share_and_its_counterpart_have_one_margin():
    assert proportion_margin(50, 0.2) == pytest.approx(proportion_margin(50, 0.8))


@pytest.mark.parametrize(
    "wrong",
    [{"n": 0}, {"n": 11}, {"p": 0.0}, {"p": 1.0}, {"design_effect": 0.0}, {"level": float("nan")}],
)
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=r"must|sample"):
        proportion_margin(**{"n": 10, "population": 10} | wrong)
