"""Interim analyses: published bounds, what is spent, and what a sequential p value means."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from tests.cases import each_case

from vivavoce import stats
from vivavoce.stats.sequential import EXACT_SHARE, InterimAnalysis


def spent(analyses: int, alpha: float = 0.05) -> list[float]:
    total = [stats.obrien_fleming_spending(k / analyses, alpha) for k in range(analyses + 1)]
    return [float(step) for step in np.diff(total)]


def history(*information: float | None, cases: float = 20.0) -> list[InterimAnalysis]:
    return [InterimAnalysis(k, amount, k * cases) for k, amount in enumerate(information, 1)]


# R 4.2.2, rpact 3.3.4: getDesignGroupSequential(kMax, alpha=alpha / 2, typeOfDesign="asOF").
RPACT = {
    (3, 0.05): [3.710303, 2.511427, 1.993047],
    (3, 0.01): [4.722905, 3.245701, 2.589324],
    (5, 0.05): [4.876885, 3.357012, 2.680280, 2.289817, 2.031032],
    (5, 0.01): [6.168001, 4.286717, 3.443575, 2.946980, 2.615311],
    (10, 0.05): [6.991352, 4.876885, 3.929682, 3.367079, 2.989330, 2.714809, 2.504077, 2.335829, 2.197503,
                 2.081176],
}  # fmt: skip


@pytest.mark.parametrize(("analyses", "alpha"), RPACT)
def test_bounds_are_those_of_rpact(analyses: int, alpha: float) -> None:
    bounds = stats.critical_values(spent(analyses, alpha), range(1, analyses + 1))
    assert pytest.approx(RPACT[analyses, alpha], abs=2e-6) == list(bounds)


def test_uneven_information_gives_rpacts_bounds() -> None:
    """informationRates=c(.3, .45, .9, 1): what is spent follows the information too."""
    rates = [0.0, 0.3, 0.45, 0.9, 1.0]
    increments = np.diff([stats.obrien_fleming_spending(rate, 0.05) for rate in rates])
    assert pytest.approx([3.928573, 3.148976, 2.099994, 2.055438], abs=2e-6) == list(
        stats.critical_values(increments, rates[1:])
    )


def test_what_is_spent_may_follow_the_number_of_the_analysis_alone() -> None:
    """rpact's asUser at 1/5 to 5/5 with informationRates=c(.1, .25, .6, .7, 1)."""
    bounds = stats.critical_values(spent(5), [0.1, 0.25, 0.6, 0.7, 1.0])
    assert pytest.approx([4.876885, 3.357088, 2.692978, 2.271984, 2.062252], abs=2e-6) == list(bounds)


def test_one_analysis_is_a_normal_test() -> None:
    assert pytest.approx([norm.isf(0.025)]) == list(stats.critical_values([0.05], [7.0]))
    assert pytest.approx(0.05) == stats.nominal_alpha(history(7.0), analyses=1)


def test_two_analyses_by_hand() -> None:
    """|Z_1| > 2, or |Z_2| > 2 first, half the information being new: by the binormal distribution."""
    from scipy.stats import multivariate_normal

    joint = multivariate_normal([0, 0], [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])
    inside = joint.cdf([2, 2]) - 2 * joint.cdf([-2, 2]) + joint.cdf([-2, -2])
    spent = [2 * norm.sf(2), 1 - inside - 2 * norm.sf(2)]
    assert pytest.approx([2, 2], abs=1e-4) == list(stats.critical_values(spent, [1, 2]))


def test_the_unit_of_information_does_not_matter() -> None:
    assert list(stats.critical_values(spent(3), [1, 2, 3])) == pytest.approx(
        list(stats.critical_values(spent(3), [50, 100, 150]))
    )


def test_information_that_does_not_grow_widens_the_bound_and_breaks_nothing() -> None:
    same, fallen = (stats.critical_values(spent(3), [1, 2, last]) for last in (2.0, 1.5))
    assert list(same) == pytest.approx(list(fallen))
    assert 1.9 < same[2] < stats.critical_values(spent(3), [1, 2, 3])[2]


def test_spending_ends_at_alpha() -> None:
    assert pytest.approx([0, 0.05]) == [stats.obrien_fleming_spending(t, 0.05) for t in (0, 1)]
    assert sum(spent(7, 0.01)) == pytest.approx(0.01)
    assert all(a < b for a, b in zip(spent(7), spent(7)[1:], strict=False))


# Plans


@pytest.mark.parametrize("analyses", [5, None])
@pytest.mark.parametrize("information", [(1.0, 2.0, 2.6), (None, 2.0, 2.6), (1.0, 2.0, None)])
def test_a_sequential_p_is_at_most_alpha_where_the_test_rejects(
    analyses: int | None, information: tuple
) -> None:
    plan = history(*information)
    for alpha in (0.3, 0.05, 0.001):
        nominal = stats.nominal_alpha(plan, analyses=analyses, alpha=alpha)
        assert 0 < nominal < alpha
        assert pytest.approx(alpha, rel=1e-6) == stats.sequential_p(nominal, plan, analyses=analyses)
        assert stats.sequential_p(nominal * 1.01, plan, analyses=analyses) > alpha


def test_sequential_p_values_are_never_below_their_own() -> None:
    plan = history(1.0, 2.0)
    for p in (0.0, 1e-12, 0.01, 0.4, 1.0):
        assert p <= stats.sequential_p(p, plan, analyses=5) <= 1
        assert p <= stats.sequential_p(p, plan, analyses=None) <= 1


def test_exact_tests_spend_the_alpha_of_their_analysis_and_no_more() -> None:
    declared = [stats.nominal_alpha(history(*[None] * k), analyses=4) for k in range(1, 5)]
    assert pytest.approx(spent(4)) == declared
    without = [stats.nominal_alpha(history(*[None] * k), analyses=None) for k in range(1, 1000)]
    assert sum(without) < 0.05 * EXACT_SHARE


def test_an_exact_test_before_them_takes_nothing_from_later_bounds() -> None:
    first = stats.nominal_alpha(history(None, 2.0, 3.0), analyses=3)
    assert pytest.approx(2 * norm.sf(stats.critical_values(spent(3)[1:], [2, 3])[-1])) == first


def test_the_confidence_sequence_by_hand() -> None:
    """300 r = 7.936, so z^2 = 2 * 1.126 * log(sqrt(8.936) / .05) = 9.2125."""
    size = 2 * math.log(20) + math.log(1 + 2 * math.log(20))
    z = math.sqrt(2 * (1 + 1 / size) * math.log(math.sqrt(size + 1) / 0.05))
    assert pytest.approx(3.0352, abs=5e-5) == z
    assert pytest.approx(z) == stats.mixture_critical(300)


def test_the_confidence_sequence_is_narrowest_near_the_cases_it_is_tuned_to() -> None:
    z = {n: stats.mixture_critical(n) for n in (20, 100, 270, 300, 330, 1000, 3000)}
    assert z[300] < 1.001 * min(z.values())
    assert max(z[100], z[1000], z[3000]) < 1.07 * z[300] < z[20]


def test_a_confidence_sequence_holds_at_every_case_from_10_to_1000() -> None:
    rng = np.random.default_rng(1)
    n = np.arange(1, 1001)
    bound = np.array([stats.mixture_critical(k) for k in n])
    paths = np.abs(rng.standard_normal((2000, 1000)).cumsum(axis=1)) / np.sqrt(n)
    assert (paths > bound)[:, 9:].any(axis=1).mean() < 0.05


@each_case(
    ("call", "message"),
    [
        (lambda: stats.nominal_alpha([], analyses=3), "history holds no analysis"),
        (lambda: stats.nominal_alpha(history(1.0, 2.0), analyses=1), "analysis 2 of 1"),
        (lambda: stats.sequential_p(1.5, history(1.0), analyses=3), "p must lie in 0 to 1"),
        (lambda: stats.critical_values([0.01], [1.0, 2.0]), "1 analyses, but the information of 2"),
        (lambda: stats.critical_values([0.01], [0.0]), "information must be above 0"),
        (lambda: stats.critical_values([0.6, 0.5], [1.0, 2.0]), "below 1 in all"),
        (lambda: stats.mixture_critical(0), "cases must be a finite number above 0"),
        (lambda: stats.obrien_fleming_spending(1.1, 0.05), "fraction must lie in 0 to 1"),
    ],
)
def test_numbers_out_of_range_are_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()
