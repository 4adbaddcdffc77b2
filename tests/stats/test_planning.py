"""What an exam can find, and what it takes. Golden values: docs/golden.md, section 3."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import bdtr, stdtrit
from tests.lengths import length

from vivavoce.stats import group_variance, groups_needed, items_needed, mde, paired


def near(expected, decimals):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


@pytest.fixture(scope="module")
def gemini_claude(items, common):
    """Comparison of the two, and the variance between repeats of one item summed over both."""
    a, b = items("Gemini 2.5 Pro"), items("Claude 3.5 Sonnet")
    return paired(*common(a, b)), float(a.variances.mean() + b.variances.mean())


def test_golden_variance_between_repeats(gemini_claude):
    assert near(0.34683, 5) == gemini_claude[1]


@pytest.mark.parametrize(
    ("repeats", "variance", "found", "groups", "questions"),
    [(1, 0.48656, 0.3108, 98, 147), (5, 0.30158, 0.2447, 62, 93), (1000, 0.25557, 0.2253, 53, 80)],
)
def test_golden_plans_for_gemini_and_claude(gemini_claude, repeats, variance, found, groups, questions):
    r, within = gemini_claude
    v = group_variance(r.se, 42, n_items=63, repeats=5, repeats_wanted=repeats, within=within)
    assert near(variance, 5) == v
    assert near(found, 4) == mde(math.sqrt(v / 42), df=r.df)
    assert groups == groups_needed(0.2, v, evenness=r.effective_groups / r.n_groups)
    assert questions == items_needed(groups, n_items=63, n_groups=42)


def test_hand_worked_mde():
    """t(.975, 10) = 2.228139, t(.80, 10) = .879058."""
    assert pytest.approx(0.5 * (2.228139 + 0.879058), abs=1e-6) == mde(0.5, df=10)


def test_a_family_needs_a_larger_difference():
    assert pytest.approx(stdtrit(41, 1 - 0.025 / 9) + stdtrit(41, 0.8)) == mde(1, df=41, k=9)
    assert mde(1, df=41, k=9) > mde(1, df=41)
    assert mde(1, df=3.5) > mde(1, df=41)


def test_nothing_is_promised_where_no_spread_was_seen():
    assert mde(None, df=0) is None
    assert mde(0, df=41) is None
    assert mde(0.1, df=0) is None
    assert groups_needed(0.2, None) is None
    assert groups_needed(0.2, 0) is None
    assert groups_needed(0.2, -0.1) is None


def test_unknown_variance_between_repeats_is_not_zero():
    assert group_variance(0.1, 42, n_items=63, repeats=5, repeats_wanted=1) is None
    assert group_variance(0.1, 42, n_items=63, repeats_wanted=1, within=0.3) is None
    assert pytest.approx(0.42) == group_variance(0.1, 42, n_items=63)
    assert pytest.approx(0.42) == group_variance(0.1, 42, n_items=63, repeats=5, repeats_wanted=5)


def iterated(margin, variance, reached=0.8, start=42):
    """The rule as written: iterate from G' = G; if it alternates, the smallest G' that satisfies it."""

    def right(g):
        return (stdtrit(g - 1, 0.975) + stdtrit(g - 1, reached)) ** 2 * variance / margin**2

    seen, g = [], start
    while g not in seen:
        seen.append(g)
        g = max(2, math.ceil(right(g)))
    return g if math.ceil(right(g)) == g else next(k for k in range(2, max(seen) + 1) if k >= right(k))


@given(st.floats(0.05, 2), st.floats(0.01, 3))
def test_bisection_finds_what_the_iteration_finds(margin, variance):
    assert iterated(margin, variance) == groups_needed(margin, variance)
    assert iterated(margin, variance, 0.9) == groups_needed(margin, variance, goal="equivalence")


@given(st.floats(0.05, 2), st.floats(0.01, 3), st.integers(1, 20))
def test_the_groups_needed_suffice_and_one_fewer_would_not(margin, variance, k):
    g = groups_needed(margin, variance, k=k)
    assert mde(math.sqrt(variance / g), df=g - 1, k=k) <= margin * (1 + 1e-12)
    if g > 2:
        assert mde(math.sqrt(variance / (g - 1)), df=g - 2, k=k) > margin * (1 - 1e-12)


@given(st.floats(0.05, 2), st.floats(0.01, 3), st.floats(0.05, 1))
def test_uneven_groups_are_planned_as_uneven(margin, variance, evenness):
    """New groups are as uneven as those seen: df is evenness * G' - 1, at least 1."""
    g = groups_needed(margin, variance, evenness=evenness)
    assert g >= groups_needed(margin, variance)
    assert mde(math.sqrt(variance / g), df=max(evenness * g - 1, 1)) <= margin * (1 + 1e-12)
    if g > 2:
        fewer = g - 1
        found = mde(math.sqrt(variance / fewer), df=max(evenness * fewer - 1, 1))
        assert found > margin * (1 - 1e-12)


def test_equivalence_takes_more_groups_than_a_difference():
    assert groups_needed(0.2, 0.3) < groups_needed(0.2, 0.3, goal="equivalence")


def test_a_tiny_margin_ends_in_a_large_number():
    expected = (stdtrit(1e9, 0.975) + stdtrit(1e9, 0.8)) ** 2 / 1e-12
    assert pytest.approx(expected, rel=1e-6) == groups_needed(1e-6, 1.0)


def test_items_are_rounded_up():
    assert 147 == items_needed(98, n_items=63, n_groups=42)
    assert 92 == items_needed(61, n_items=63, n_groups=42)


def test_numbers_out_of_range_are_refused():
    for margin in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="margin must be"):
            groups_needed(margin, 1)
    for evenness in (0, 1.1, math.nan):
        with pytest.raises(ValueError, match="evenness must lie above 0 and up to 1"):
            groups_needed(1, 1, evenness=evenness)
    with pytest.raises(ValueError, match="df must be above 0"):
        groups_needed(1, 1, df=0)
    with pytest.raises(ValueError, match="differing must lie above 0 and up to 1"):
        groups_needed(1, 1, differing=0)
    with pytest.raises(ValueError, match="k must be at least 1"):
        groups_needed(1, None, k=0)
    with pytest.raises(ValueError, match="power must lie"):
        groups_needed(1, 1, goal="equivalence", power=80)
    with pytest.raises(ValueError, match="alpha must lie"):
        mde(1, df=9, alpha=5)
    with pytest.raises(ValueError, match="se must be"):
        mde(float("nan"), df=9)
    with pytest.raises(ValueError, match="se must be"):
        group_variance(-1, 10, n_items=10)
    with pytest.raises(ValueError, match="11 groups of 10 items"):
        group_variance(1, 11, n_items=10)
    with pytest.raises(ValueError, match="repeats must be"):
        group_variance(1, 10, n_items=10, repeats=5, repeats_wanted=0, within=0.1)
    with pytest.raises(ValueError, match="within must be"):
        group_variance(1, 10, n_items=10, repeats=5, repeats_wanted=1, within=np.nan)


def test_hand_worked_upper_limit_of_a_variance():
    """Chi-square(.2, 9) = 5.380053: the variance is planned with 9 / 5.380053 = 1.672845 times as large."""
    assert groups_needed(0.2, 0.3 * 1.672845) == groups_needed(0.2, 0.3, df=9) > groups_needed(0.2, 0.3)


def test_hand_worked_rule_of_six():
    """Of 78 groups that differ with a chance of .1, 6 or more do with 80 %: of 77, with 79 %."""
    assert [True, False] == [bool(1 - bdtr(5, g, 0.1) >= 0.8) for g in (78, 77)]
    assert 78 == groups_needed(5.0, 0.3, differing=0.1)
    assert 6 == groups_needed(5.0, 0.3, differing=1.0)


@pytest.mark.parametrize(("pilot", "wanted"), [(20, 0.10), (40, 0.12)])
def test_a_number_planned_from_a_pilot_keeps_its_power(pilot, wanted):
    """Yes or no, 15 % of items differ: with the variance taken for known 62 to 76 % were found."""
    rng, hits, draws = np.random.default_rng(pilot), 0, length(60, 400)

    def differences(n):
        u = rng.random(n)
        return np.where(u < (0.15 + wanted) / 2, 1.0, np.where(u < 0.15, -1.0, 0.0))

    pilots = 0
    while pilots < draws:
        observed = paired(differences(pilot), range(pilot))
        if not observed.se:
            continue
        variance = group_variance(observed.se, pilot, n_items=pilot)
        n = groups_needed(wanted, variance, df=observed.df, differing=observed.n_different / pilot)
        test = paired(differences(n), range(n))
        hits += test.p <= 0.05 and test.difference > 0 and test.n_different >= 6
        pilots += 1
    assert hits / draws >= 0.8 - 2 * (0.8 * 0.2 / draws) ** 0.5
