"""A sample inside its set, checked by every sample that could be drawn; F and t as SciPy and R give them."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from vivavoce import stats

SET = {"u": [1.0, 3.0, 8.0, 4.0], "v": [2.0, 2.5, 7.0], "w": [5.0]}


def every_sample(n_u: int, n_v: int) -> list[stats.SampleRatio]:
    """The estimate of every stratified sample of these sizes; the third stratum is drawn whole."""
    estimates = []
    for u, v in itertools.product(
        itertools.combinations(SET["u"], n_u), itertools.combinations(SET["v"], n_v)
    ):
        strata = ["u"] * n_u + ["v"] * n_v + ["w"]
        sizes = [len(SET[name]) for name in strata]
        values = [*u, *v, *SET["w"]]
        estimates.append(stats.sample_ratio(values, np.ones(len(values)), strata=strata, sizes=sizes))
    return estimates


def test_over_all_samples_the_mean_is_that_of_the_set_and_the_error_its_spread() -> None:
    estimates = every_sample(2, 2)
    values = [e.value for e in estimates]
    assert np.mean(values) == pytest.approx(np.mean([x for part in SET.values() for x in part]))
    assert np.mean([e.se**2 for e in estimates]) == pytest.approx(np.var(values))


def test_a_set_that_was_drawn_whole_has_no_error() -> None:
    (whole,) = every_sample(4, 3)
    assert (0.0, 8, 8) == (whole.se, whole.n, whole.population)


def test_one_item_of_a_stratum_is_pooled_and_errs_on_the_wide_side() -> None:
    estimates = every_sample(2, 1)
    values = [e.value for e in estimates]
    assert np.mean(values) == pytest.approx(np.mean([x for part in SET.values() for x in part]))
    assert np.mean([e.se**2 for e in estimates]) > np.var(values)
    alone = stats.sample_ratio([1.0], [1.0], strata=["u"], sizes=[4])
    assert (1.0, None) == (alone.value, alone.se)


def test_by_hand() -> None:
    """N 4 of which 1 and 3, N 3 of which 2 and 7: SE^2 = (4 * 2 * 2 / 2 + 3 * 1 * 12.5 / 2) / 49."""
    estimate = stats.sample_ratio([1, 3, 2, 7], np.ones(4), strata=list("uuvv"), sizes=[4, 4, 3, 3])
    assert estimate.value == pytest.approx((4 * 2 + 3 * 4.5) / 7)
    assert estimate.se == pytest.approx(math.sqrt((8 + 18.75) / 49))
    assert estimate.df == pytest.approx(26.75**2 / (8**2 + 18.75**2))


def test_items_outside_the_domain_add_to_the_error_and_not_to_the_mean() -> None:
    inside = stats.sample_ratio([1, 2, 3, 0], [1, 1, 1, 0], strata=["u"] * 4, sizes=[40] * 4)
    assert 2.0 == inside.value
    z = np.array([-1.0, 0.0, 1.0, 0.0])
    assert inside.se == pytest.approx(math.sqrt(0.9 * z.var(ddof=1) / 4) / 0.75)
    nothing = stats.sample_ratio([0, 0], [0, 0], strata=["u"] * 2, sizes=[9, 9])
    assert (None, None) == (nothing.value, nothing.se)


def test_one_stratum_is_the_textbook_variance() -> None:
    y = np.array([0.2, 0.9, 0.4, 0.7, 0.1])
    estimate = stats.sample_ratio(y, np.ones(5), strata=["u"] * 5, sizes=[50] * 5)
    mean = stats.cluster_mean(y, range(5))
    assert (estimate.value, estimate.df) == (pytest.approx(mean.value), 4)
    assert estimate.se == pytest.approx(stats.sample_se(mean.se, 5, population=50))


@pytest.mark.parametrize("sizes", [[4, 5], [1, 1]])
def test_a_stratum_has_one_size_no_smaller_than_what_was_drawn(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="one number for each stratum"):
        stats.sample_ratio([1, 2], [1, 1], strata=["u", "u"], sizes=sizes)


def test_f_and_t_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for n, m in ((5, 9), (30, 12)):
        x, y = rng.normal(size=n), rng.normal(0.5, 2, size=m)
        t = stats.two_sample_t(x, y)
        assert tuple(t) == pytest.approx(tuple(scipy.stats.ttest_ind(x, y)))
        f = stats.variance_ratio(x, y)
        ratio = x.var(ddof=1) / y.var(ddof=1)
        tail = scipy.stats.f(n - 1, m - 1).cdf(ratio)
        assert tuple(f) == pytest.approx((ratio, 2 * min(tail, 1 - tail)))
        assert stats.variance_ratio(y, x).p == pytest.approx(f.p)


def test_sleep_data_as_r_prints_them() -> None:
    """Student's sleep: R 4 `t.test(extra ~ group, sleep, var.equal = TRUE)`, t = -1.8608, p = .07919;
    `var.test` F = 0.79834, p = .7427."""
    one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    two = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    assert tuple(stats.two_sample_t(one, two)) == pytest.approx((-1.8608, 0.07919), abs=5e-5)
    assert tuple(stats.variance_ratio(one, two)) == pytest.approx((0.79834, 0.7427), abs=5e-5)


def test_without_spread_there_is_no_test() -> None:
    assert (
        stats.TwoSamples(None, None)
        == stats.variance_ratio([1, 1], [1, 2])
        == stats.two_sample_t([1, 1], [2, 2])
    )
