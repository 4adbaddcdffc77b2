"""A mean of parts whose shares were fixed before: its error is of what differs inside each part.

Oracle: statsmodels (the version of the `dev` extra), a regression on one dummy a part, HC2 where each item is
a case, clustered without correction where cases reach across parts. By hand: Cochran (1977), ch. 5.
"""

import numpy as np
import pytest
from tests.lazy import lazy_module
from tests.lengths import length

from vivavoce import stats

sm = lazy_module("statsmodels.api")

SHARES = np.array([0.7, 0.3])


def uneven(seed: int = 1, sizes: tuple[int, int] = (3, 200)):
    """Values, a case for each, the weights of two parts, and the parts."""
    rng = np.random.default_rng(seed)
    cells = np.repeat([0, 1], sizes)
    values = np.clip(rng.normal(np.where(cells, 0.4, 0.7), 0.2), 0, 1)
    return values, np.arange(len(values)), (SHARES / np.bincount(cells))[cells], cells


def contrast(values, cells, groups=None):
    """The mean of the parts by their shares, and its error, by statsmodels."""
    model = sm.OLS(values, np.eye(2)[cells])
    kind = {"cov_type": "HC2"}
    if groups is not None:
        kind = {"cov_type": "cluster", "cov_kwds": {"groups": groups, "use_correction": False}}
    fit = model.fit(**kind)
    return float(SHARES @ fit.params), float(np.sqrt(SHARES @ fit.cov_params() @ SHARES))


def test_parts_of_3_and_200_items_have_the_error_of_a_regression_on_parts():
    values, groups, weights, cells = uneven()
    mean = stats.cluster_mean(values, groups, weights=weights, cells=cells)
    assert pytest.approx(contrast(values, cells), rel=1e-12) == (mean.value, mean.se)
    assert mean.df < 3  # the part of 3 carries most of the error, so it decides how well it is known


def test_cases_that_reach_across_parts_are_counted_once():
    rng = np.random.default_rng(2)
    case = np.repeat(np.arange(25), 4)
    cells = np.tile([0, 1, 1, 1], 25)  # one item of the first part and three of the second in each case
    values = rng.normal(size=25)[case] + rng.normal(size=100)
    weights = (SHARES / np.bincount(cells))[cells]
    mean = stats.cluster_mean(values, case, weights=weights, cells=cells)
    value, plain = contrast(values, cells, case)
    assert pytest.approx((value, plain * np.sqrt(25 / 24)), rel=1e-12) == (mean.value, mean.se)
    assert mean.df == 24
    alone = stats.cluster_mean(values, np.arange(100), weights=weights, cells=cells)
    assert alone.se < mean.se  # as if 100 cases had been asked


def test_two_parts_by_hand():
    """Means 1/2 and 1/2; variances .5 / 2 and (1/3) / 4: SE^2 = .25 * .25 + .25 / 12 = 1/12."""
    m = stats.cluster_mean([1, 0, 1, 1, 0, 0], range(6), weights=[2, 2, 1, 1, 1, 1], cells=list("xxyyyy"))
    assert pytest.approx((0.5, (1 / 12) ** 0.5)) == (m.value, m.se)
    d = stats.paired([1, 0, 1, 1, 0, 0], range(6), weights=[2, 2, 1, 1, 1, 1], cells=list("xxyyyy"))
    assert pytest.approx((0.5, (1 / 12) ** 0.5)) == (d.difference, d.se)
    assert (m.df, "sign-flip") == (d.df, d.test)


def test_parts_that_count_the_same_are_the_macro_mean():
    values, groups, _, cells = uneven(sizes=(30, 50))
    weights = (np.array([0.5, 0.5]) / np.bincount(cells))[cells]
    one = stats.cluster_mean(values, groups // 2, weights=weights, cells=cells)
    other = stats.macro_mean(values, groups // 2, categories=cells)
    assert pytest.approx(tuple(other)) == tuple(one)


def test_what_the_parts_are_called_the_order_of_items_and_the_scale_of_weights_change_nothing():
    values, groups, weights, cells = uneven(sizes=(12, 40))
    order = np.random.default_rng(3).permutation(52)
    one = stats.paired(values - 0.5, groups, weights=weights, cells=cells)
    renamed = np.array(["zebra", "ant"])[cells]
    other = stats.paired(
        (values - 0.5)[order], groups[order], weights=7e5 * weights[order], cells=renamed[order]
    )
    assert pytest.approx(one[:4]) == other[:4]
    assert one[4:13] == other[4:13]


def test_of_parts_of_one_size_and_share_the_mean_is_the_plain_one_and_its_error_no_larger():
    values, groups, _, cells = uneven(sizes=(40, 40))
    one = stats.cluster_mean(values, groups, weights=np.full(80, 0.5 / 40), cells=cells)
    plain = stats.cluster_mean(values, groups)
    assert pytest.approx(plain.value) == one.value
    assert one.se < plain.se  # what parts differ in is no chance: both would be asked again


def test_one_part_is_no_part():
    values, groups, weights, _ = uneven()
    one = stats.estimate_mean(values, groups, weights=weights, cells=["all"] * 203, low=0, high=1)
    assert pytest.approx(stats.estimate_mean(values, groups, weights=weights, low=0, high=1)[:5]) == one[:5]


def test_a_part_of_one_case_has_no_error():
    e = stats.estimate_mean(
        [1, 0, 1, 1], list("aabc"), weights=[1, 1, 1, 1], cells=list("xxyy"), low=0, high=1
    )
    assert (None, None, None, 0) == (e.low, e.high, e.se, e.df)
    assert e.reason == "a category or stratum of one group only: no interval"
    assert stats.margin_interval([1, 0, 1, 1], list("aabc"), span=1, cells=list("xxyy")) is None


def test_where_nobody_differs_p_is_1():
    d = stats.paired(np.zeros(40), range(40), cells=[0, 1] * 20)
    assert (0.0, 0.0, 1.0, 0) == (d.difference, d.se, d.p, d.direction)


def test_a_part_of_three_that_are_all_right_does_not_make_an_interval_short():
    """CR2 sees no spread among three equal values; the interval takes no credit for that."""
    values = np.concatenate([np.ones(3), np.tile([1.0, 1.0, 0.0], 66)])
    cells = np.repeat([0, 1], (3, 198))
    weights = (np.array([0.5, 0.5]) / np.bincount(cells))[cells]
    e = stats.estimate_mean(values, np.arange(201), weights=weights, cells=cells, low=0, high=1)
    assert e.se < 0.02
    assert e.high - e.low > 0.3


def test_a_part_that_does_not_differ_is_lent_the_spread_of_the_others():
    """By hand: r_g / W_g is +-1/2 in the second part, s^2 = (1/2) / 4 = 1/8; sum W_g^2 = 2 / 16 + 4 / 64.

    SE^2 = 1/8 * 3/16 = 3/128, where inside the parts alone it is (1/4) (1/3) / 4 = 1/48.
    """
    weights = [1 / 4] * 2 + [1 / 8] * 4
    d = stats.paired([0, 0, 1, 0, 1, 0], range(6), weights=weights, cells=list("xxyyyy"))
    assert pytest.approx((1 / 4, (3 / 128) ** 0.5)) == (d.difference, d.se)
    tripled = stats.paired([0, 0, 3, 0, 3, 0], range(6), weights=weights, cells=list("xxyyyy"))
    assert pytest.approx(3 * d.se) == tripled.se


@pytest.mark.parametrize("n_different", [8, 25])
def test_rare_differences_of_a_large_part_say_nothing_of_a_small_one(n_different):
    """15 questions without a difference may be of a part where 1 in 20 goes the other way."""
    d = np.concatenate([np.zeros(15), np.ones(n_different), np.zeros(500 - n_different)])
    cells = np.repeat([0, 1], (15, 500))
    weights = (np.array([0.5, 0.5]) / np.bincount(cells))[cells]
    r = stats.paired(d, np.arange(515), weights=weights, cells=cells)
    assert r.test == ("t" if n_different >= 10 else "sign-flip")
    assert r.p > 0.2
    reach = stats.margin_interval(d, np.arange(515), weights=weights, cells=cells, span=1)
    assert reach.low < -0.01


@pytest.mark.parametrize(("sizes", "rare"), [((15, 500), 0.05), ((30, 500), 0.03), ((60, 500), 0.02)])
def test_two_that_are_equal_overall_get_a_false_verdict_in_at_most_5_percent(sizes, rare):
    """Better in one part as rarely as worse in the other; by spread inside the parts alone it is 45 %."""
    rng = np.random.default_rng(6)
    cells = np.repeat([0, 1], sizes)
    weights = (np.array([0.5, 0.5]) / np.bincount(cells))[cells]
    false = 0
    for _ in range(200):
        d = np.where(cells, 1.0, -1.0) * (rng.random(len(cells)) < rare)
        r = stats.paired(d, np.arange(len(cells)), weights=weights, cells=cells)
        false += r.p < 0.05 and r.effective_groups >= 10 and r.n_different >= 6
    assert false <= 10


def test_gate_and_bounds_know_the_parts():
    values, groups, weights, cells = uneven(sizes=(20, 60))
    d = values - 0.5
    gate = stats.gate_interval(d, groups, span=1, weights=weights, cells=cells)
    plain = stats.margin_interval(d, groups, span=1, weights=weights, cells=cells)
    assert gate.low <= plain.low < plain.high <= gate.high
    b = stats.bounds(values, values, groups, weights=weights, cells=cells, low=0, high=1)
    mean = stats.cluster_mean(values, groups, weights=weights, cells=cells)
    assert pytest.approx(stats.t_interval(mean.value, mean.se, mean.df)) == b[2:]


UNEVEN = [
    ((3, 200), (0.5, 0.5), (0.7, 0.6), 0.93),
    ((10, 30), (0.5, 0.5), (0.9, 0.5), 0.93),
    ((20, 60, 15), (0.2, 0.5, 0.3), (0.3, 0.8, 0.6), 0.93),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "shares", "right", "at_least"), length(UNEVEN[:1], UNEVEN))
def test_intervals_of_uneven_parts_cover(sizes, shares, right, at_least):
    """Yes-or-no items; Monte-Carlo error of 2,000 draws half a point, of the 1,000 of the gate .8."""
    rng, draws = np.random.default_rng(5), length(1_000, 2_000)
    cells = np.repeat(np.arange(len(sizes)), sizes)
    weights = (np.array(shares) / np.bincount(cells))[cells]
    truth = float(np.dot(shares, right))
    hits = 0
    for _ in range(draws):
        values = (rng.random(len(cells)) < np.array(right)[cells]).astype(float)
        e = stats.estimate_mean(values, np.arange(len(cells)), weights=weights, cells=cells, low=0, high=1)
        hits += e.low <= truth <= e.high
    assert hits / draws >= at_least
