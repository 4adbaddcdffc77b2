"""Paired comparisons. Golden values: docs/golden.md, section 3, by `matrices.py` and the t distribution."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit
from tests.lazy import lazy_module
from tests.stats.matrices import by_matrices

from vivavoce.stats import (
    agresti_min,
    group_sums,
    holm,
    margin_interval,
    mde,
    paired,
    sign_flips,
    t_interval,
)

sm = lazy_module("statsmodels.api")

OTHERS = [
    "Claude 3.5 Sonnet",
    "Gemma 3 27B",
    "Llama 3.1-8B-Instruct",
    "Llama 3.2-1B-Instruct",
    "Llama 3.3-70B-Instruct",
    "Med42-70B",
    "MedGemma 27B",
    "Meditron 3-70B",
    "NVLM-70B",
]


def near(expected, decimals=4):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.fixture(scope="module")
def against_gemini(items, common):
    """Item differences Gemini - other for the nine others, unparsed rows dropped."""
    gemini = items("Gemini 2.5 Pro")
    return {name: common(gemini, items(name)) for name in OTHERS}


@pytest.mark.parametrize(
    ("model", "difference", "se_item", "se", "p", "p_holm", "found"),
    [
        ("Claude 3.5 Sonnet", 0.0905, 0.0770, 0.0847, near(0.2935), near(0.2935), 0.2447),
        ("MedGemma 27B", 0.1873, 0.0725, 0.0861, near(0.0369), near(0.0739), 0.2487),
        ("Llama 3.3-70B-Instruct", 0.2683, 0.0782, 0.1005, near(0.0117), near(0.0352), 0.2902),
        ("Gemma 3 27B", 0.5524, 0.1280, 0.1658, near(0.0022), near(0.0086), 0.4789),
        ("Med42-70B", 0.4803, 0.1093, 0.1262, near(0.00061, 5), near(0.0030), 0.3649),
    ],
)
def test_golden_pairs_against_gemini(against_gemini, model, difference, se_item, se, p, p_holm, found):
    pair = against_gemini[model]
    r = paired(pair.differences, pair.groups)
    assert near(difference) == r.difference
    assert near(se) == r.se
    assert near(se_item) == paired(pair.differences, np.arange(len(pair.differences))).se
    assert (p, "t", 1) == (r.p, r.test, r.direction)
    assert near(found) == r.mde() == mde(r.se, df=r.df)
    value, error, df = by_matrices(*pair)
    assert pytest.approx((value, error, df, 2 * stdtr(df, -value / error))) == (r.difference, r.se, r.df, r.p)
    family = holm([paired(*against_gemini[name]).p for name in OTHERS])
    assert p_holm == family[OTHERS.index(model)]


def test_golden_gemini_against_claude_counts_questions_and_cases(against_gemini):
    r = paired(*against_gemini["Claude 3.5 Sonnet"])
    assert (63, 42, near(32.6992)) == (r.n_items, r.n_groups, r.df)
    assert (21, 21, 21) == (r.n_higher, r.n_items - r.n_higher - r.n_lower, r.n_lower)
    assert r.n_different == r.n_groups_higher + r.n_groups_lower


def test_golden_med42_shares_61_items_in_41_groups(against_gemini):
    r = paired(*against_gemini["Med42-70B"])
    assert (61, 41) == (r.n_items, r.n_groups)


def test_golden_blanks_as_zero_bring_med42_back_to_63_items(items, common):
    r = paired(*common(items("Gemini 2.5 Pro"), items("Med42-70B", blank=0)))
    assert (near(0.6746), near(0.1706), 42) == (r.difference, r.se, r.n_groups)


def test_golden_groups_change_a_verdict_that_items_would_give(against_gemini):
    """Gemini - MedGemma, Holm over 9: .024 with items as the unit, .074 with groups."""
    by_item = holm([paired(p.differences, np.arange(len(p.differences))).p for p in against_gemini.values()])
    by_group = holm([paired(*p).p for p in against_gemini.values()])
    at = OTHERS.index("MedGemma 27B")
    assert (near(0.024, 3), near(0.074, 3)) == (by_item[at], by_group[at])


def test_sign_flips_agree_with_t_on_the_published_marks(against_gemini):
    pair = against_gemini["MedGemma 27B"]
    flips = sign_flips(group_sums(*pair), rng=np.random.default_rng(7))
    assert pytest.approx(paired(*pair).p, abs=0.01) == flips.p


def test_hand_worked_pair():
    """Groups sum to 1, -1, 3 over 4 items: mean .75, u = -.5, -1.75, 2.25 over 1 - w = 1/2, 3/4, 3/4.

    |1 + 1 + 3|, |1 - 1 + 3| and |-1 + 1 + 3| reach 3, |-1 - 1 + 3| does not: p is 6 of 8 patterns.
    """
    d, g = [0.5, 0.5, -1, 3], ["a", "a", "b", "c"]
    r = paired(d, g)
    variance = (0.5**2 / 0.5 + 1.75**2 / 0.75 + 2.25**2 / 0.75) / 16
    assert (0.75, pytest.approx(math.sqrt(variance))) == (r.difference, r.se)
    # the sizes 2, 1, 1 of test_group_error's case worked by hand
    trace, squares = 14 / 3, 2 * (13 / 12) ** 2 + 25 / 4 + 2 * (1 / 16 + 2 * (8 / 3) * (25 / 64))
    assert pytest.approx((trace**2 / squares, r.df + 1)) == (r.df, r.effective_different)
    assert (4, 3, 1, 3, 3, 2, 1) == (
        r.n_items,
        r.n_higher,
        r.n_lower,
        r.n_groups,
        r.n_different,
        r.n_groups_higher,
        r.n_groups_lower,
    )
    assert (0.75, "sign-flip", 1, None) == (r.p, r.test, r.direction, r.interval())


def test_t_of_even_cases_is_that_of_statsmodels_with_clusters():
    rng = np.random.default_rng(8)
    g = np.repeat(np.arange(25), 5)
    d = 0.2 + rng.normal(size=125) + rng.normal(size=25)[g]
    fit = sm.OLS(d, np.ones(125)).fit(cov_type="cluster", cov_kwds={"groups": g}, use_t=True)
    r = paired(d, g)
    assert pytest.approx(fit.pvalues[0]) == r.p
    assert pytest.approx(fit.conf_int()[0], abs=1e-8) == r.interval()


def test_t_of_uneven_cases_is_that_of_the_matrices():
    rng = np.random.default_rng(8)
    g = rng.integers(0, 25, 120)
    d = 0.2 + rng.normal(size=120) + rng.normal(size=25)[g]
    value, error, df = by_matrices(d, g)
    r = paired(d, g)
    assert pytest.approx(2 * stdtr(df, -value / error)) == r.p
    assert pytest.approx(t_interval(value, error, df), abs=1e-8) == r.interval()


def test_one_giant_case_has_the_p_and_the_interval_of_its_sign_flips():
    """60 questions of one case won, of 11 cases of one question 5 won, 5 lost, 1 drawn.

    CR1 with t(11) gave .0002. A pattern reaches 60 if the ten single signs do not sum against the 60: (1 +
    C(10, 5) / 2^10) / 2 of them. The interval has that width too: t(1) would reach beyond the scale.
    """
    r = paired([1.0] * 60 + [1.0, -1.0] * 5 + [0.0], np.r_[np.zeros(60, int), 1:12])
    assert (12, 11, "sign-flip", None) == (r.n_groups, r.n_different, r.test, r.mde())
    assert pytest.approx((-0.5, 63 / 65)) == r.interval()
    assert pytest.approx((1 + 252 / 1024) / 2) == r.p
    assert 2 < r.effective_different < r.effective_groups < 2.1


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 25), st.floats(0.2, 4)), min_size=1, max_size=80)
)
def test_interval_and_p_come_from_one_test(data):
    """Of t or of sign flips; the interval leaves 0 out where p is below .05, but may end there by flips.

    Of items that weigh unlike, p is never below t's.
    """
    d, g, w = map(np.array, zip(*data, strict=True))
    r = paired(d, g, weights=w)
    assert r.test == ("t" if r.se and min(r.effective_different, r.effective_groups) >= 10 else "sign-flip")
    ends = r.interval()
    assert (ends is None) == (r.test == "sign-flip" and not (r.se and r.n_different >= 6))
    assert (r.mde() is None) == (r.effective_groups < 10 or not r.se)
    if ends:
        assert ends.low <= r.difference <= ends.high
        assert (r.p <= 0.05) == (not ends.low < 0 < ends.high and 0 not in (r.difference, *ends)) or (
            r.test == "sign-flip" and 0 in ends
        )
    if r.test == "sign-flip":
        sums = group_sums(d, g, weights=w)
        flips = sign_flips(sums, rng=np.random.default_rng(0), resamples=9_999).p
        assert flips == paired(d, g).p if np.ptp(w) == 0 else flips <= r.p


def test_interval_and_p_never_contradict():
    rng = np.random.default_rng(9)
    for shift in np.linspace(0, 1, 25):
        r = paired(rng.normal(shift, 1, 30), np.arange(30))
        low, high = r.interval()
        assert (r.p <= 0.05) == (not low < 0 < high)


def test_rounding_is_neither_a_difference_nor_a_tie():
    """.1 + .2 - .3 is 5.6e-17: equal items, and a group whose differences cancel is an equal group."""
    r = paired([0.1 + 0.2 - 0.3, 0.1, 0.2, -0.3], ["a", "b", "b", "b"])
    assert (4, 2, 1, 0) == (r.n_items, r.n_higher, r.n_lower, r.n_different)
    assert (0, 0, 1.0, 0) == (r.difference, r.se, r.p, r.direction)
    assert 1 == paired([2e-9, 0], [0, 1]).n_different


def test_fewer_than_ten_different_groups_are_left_to_sign_flips():
    nine = paired([1.0] * 9 + [0.0] * 20, np.arange(29))
    assert (pytest.approx(2 * 0.5**9), "sign-flip", 9) == (nine.p, nine.test, nine.n_different)
    assert (9, True) == (nine.effective_different, nine.interval().low > 0)
    five = paired([1.0] * 5 + [0.0] * 20, np.arange(25))
    assert (pytest.approx(0.0625), None) == (five.p, five.interval())
    ten = paired([1.0] * 10 + [0.0] * 20, np.arange(30))
    assert ("t", 10) == (ten.test, ten.n_different)


def test_a_constant_difference_is_judged_by_signs_not_by_a_zero_error():
    r = paired([0.2] * 12, np.arange(12))
    assert (0, pytest.approx(2 * 0.5**12), "sign-flip", 1) == (r.se, r.p, r.test, r.direction)


def test_flips_weigh_how_far_groups_lie_so_they_speak_for_the_mean():
    """Eight groups a little up, one far down: flipping that one alone turns the sum, so p is 1, not .039."""
    r = paired([0.1] * 8 + [-5.0] + [0.0] * 3, np.arange(12))
    assert (1.0, -1) == (r.p, r.direction)
    assert r.difference < 0


def test_one_group_has_a_difference_and_no_interval():
    r = paired([1, 2], ["a", "a"])
    assert (1.5, None, 0, 1.0, "sign-flip", None) == (r.difference, r.se, r.df, r.p, r.test, r.interval())
    assert margin_interval([1, 2], ["a", "a"], span=5) is None


def test_two_groups_have_one_degree_of_freedom():
    """And sign flips for a p: 2 of 4 patterns reach 4."""
    r = paired([1, 3], ["a", "b"])
    assert (1, 2, 2, 0.5, None) == (r.df, r.effective_groups, r.effective_different, r.p, r.interval())


def test_group_sums_follow_the_sorted_labels():
    assert [1.0, 0.0, -2.0] == list(group_sums([0.1, -2, 0.9, 0.1 + 0.2 - 0.3], ["a", "c", "a", "b"]))


pairs = st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 14)), min_size=1, max_size=60)


@given(pairs)
def test_swapping_the_candidates_turns_every_sign(data):
    d, g = map(np.array, zip(*data, strict=True))
    a, b = paired(d, g), paired(-d, g)
    assert (pytest.approx(-a.difference), -a.direction, pytest.approx(a.p)) == (
        b.difference,
        b.direction,
        b.p,
    )
    assert (a.n_higher, a.n_groups_higher, a.test) == (b.n_lower, b.n_groups_lower, b.test)
    if a.n_groups > 1:
        one, other = (margin_interval(x, g, span=5, level=0.99) for x in (d, -d))
        assert pytest.approx((-one.high, -one.low), abs=1e-9) == other


@given(pairs, st.randoms(use_true_random=False))
def test_order_of_items_and_names_of_groups_do_not_matter(data, random):
    d, g = map(np.array, zip(*data, strict=True))
    order = list(range(len(d)))
    random.shuffle(order)
    a, b = paired(d, g), paired(d[order], [f"case {(4 * k + 1) % 15}" for k in g[order]])
    assert pytest.approx(a.difference, abs=1e-9) == b.difference
    assert pytest.approx(a.p, abs=1e-6) == b.p
    assert a[6:-3] == b[6:-3]
    if ends := a.interval():
        assert pytest.approx(ends, abs=1e-6) == b.interval()
    assert pytest.approx(a.effective_different) == b.effective_different


def textbook_agresti_min(up, down, n, quantile):
    """Agresti & Min (2005), sec. 2: one half is added to each of the four cells of the table."""
    b, c, total = up + 0.5, down + 0.5, n + 2
    se = math.sqrt(b + c - (b - c) ** 2 / total) / total
    return (b - c) / total - quantile * se, (b - c) / total + quantile * se


@pytest.mark.parametrize(("up", "down", "n"), [(0, 0, 20), (3, 0, 12), (7, 2, 42), (1, 1, 2), (9, 9, 30)])
def test_agresti_min_is_the_textbook_interval_for_yes_no_items(up, down, n):
    """With t(G - 1) in place of z."""
    d = [1.0] * up + [-1.0] * down + [0.0] * (n - up - down)
    low, high = textbook_agresti_min(up, down, n, stdtrit(n - 1, 0.975))
    assert pytest.approx((max(-1, low), min(1, high))) == agresti_min(d, np.arange(n), span=1)


def test_agresti_min_hand_worked_with_unequal_groups():
    """Means 1 and 0 of 3 and 1 items weigh 1.5 and .5: theta = 1.5 / 4, df 1, clipped to the span."""
    low, high = agresti_min([1, 1, 1, 0], ["a", "a", "a", "b"], span=5, level=0.5)
    theta = 1.5 / 4
    se2 = (
        1.5**2 * (1 - theta) ** 2
        + 0.5**2 * theta**2
        + 0.5 * (5 - theta) ** 2
        + 0.5 * (5 + theta) ** 2
        + theta**2
    ) / 16
    assert pytest.approx((theta - math.sqrt(se2), theta + math.sqrt(se2))) == (low, high)
    assert (-5, 5) == agresti_min([1, 1, 1, 0], ["a", "a", "a", "b"], span=5)


def test_agresti_min_has_a_width_where_nothing_differs():
    low, high = agresti_min([0.0] * 42, np.arange(42), span=1)
    assert pytest.approx(stdtrit(41, 0.975) / 44) == high
    assert -high == low


def test_agresti_min_does_not_depend_on_the_unit():
    d, g = np.array([0.2, 0, 0, -0.4, 0, 0]), np.array([0, 0, 1, 2, 3, 4])
    small, large = agresti_min(d, g, span=1), agresti_min(5 * d, g, span=5)
    assert pytest.approx((5 * small.low, 5 * small.high)) == large


def test_margins_are_judged_by_t_or_where_signs_decide_by_agresti_min():
    few, many = [1.0] * 9 + [0.0] * 20, [1.0] * 10 + [0.0] * 20
    assert agresti_min(few, np.arange(29), span=5, level=0.99) == margin_interval(
        few, np.arange(29), span=5, level=0.99
    )
    assert paired(many, np.arange(30)).interval(level=0.99) == margin_interval(
        many, np.arange(30), span=5, level=0.99
    )
    assert margin_interval(few, np.arange(29), span=None) is None
    assert margin_interval(many, np.arange(30), span=None) is not None


def test_a_margin_is_never_judged_by_a_zero_error():
    same = [0.2] * 12
    assert agresti_min(same, np.arange(12), span=5) == margin_interval(same, np.arange(12), span=5)


def test_nan_nothing_and_misfits_are_refused():
    for statistic in (paired, group_sums, lambda d, g: agresti_min(d, g, span=5)):
        with pytest.raises(ValueError, match="differences holds nan at position 1"):
            statistic([1, float("nan")], [0, 1])
        with pytest.raises(ValueError, match="differences is empty"):
            statistic([], [])
        with pytest.raises(ValueError, match="groups has the shape"):
            statistic([1, 2], [0])
    with pytest.raises(
        ValueError, match=r"differences holds 6.0 at position 1, wider than the metric's span"
    ):
        agresti_min([1, 6], [0, 1], span=5)
    with pytest.raises(ValueError, match="span must be"):
        agresti_min([1, 2], [0, 1], span=0)
    with pytest.raises(ValueError, match="at least 2 are needed"):
        agresti_min([1, 2], [0, 0], span=5)
    with pytest.raises(ValueError, match="level must lie"):
        agresti_min([1, 2], [0, 1], span=5, level=95)


def test_a_million_items_are_paired():
    d = np.random.default_rng(10).normal(0.01, 1, 10**6)
    r = paired(d, np.arange(10**6) // 5)
    assert (10**6, 200_000, 1) == (r.n_items, r.n_groups, r.direction)


def test_margins_of_uneven_cases_count_effective_cases():
    """Eight single questions of 110 cases differ, 16.7 effective for ten cases of eight: 0 is inside."""
    groups = np.r_[np.repeat(np.arange(10), 8), np.arange(10, 110)]
    d = np.r_[np.zeros(80), np.ones(8), np.zeros(92)]
    r = paired(d, groups)
    assert ("sign-flip", pytest.approx(16.7, abs=0.05)) == (r.test, r.effective_groups)
    low, high = margin_interval(d, groups, span=1.0)
    assert low < 0
    assert high > 0.15
