"""The interval of a gate: never narrower than a verdict's, exact where hardly any group differs."""

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from vivavoce import stats
from vivavoce.stats import gate_interval, margin_interval, paired, unseen_shares
from vivavoce.stats.verdict import LEAST_DIFFERENT

EIGHTS = np.repeat(np.arange(110), [8] * 10 + [1] * 100)


@pytest.mark.parametrize(
    ("lost", "n", "low"), [(0, 20, -0.1684), (0, 72, -0.0499), (3, 20, -0.3789), (5, 100, -0.1128)]
)
def test_few_losses_are_bounded_as_clopper_and_pearson_do(lost: int, n: int, low: float) -> None:
    """Upper limits of k of n at 95 %, from the tables: 0/20 is 16.8 %, 3/20 37.9 %, 5/100 11.3 %."""
    ends = gate_interval([-1.0] * lost + [0.0] * (n - lost), np.arange(n), span=1)
    assert ends is not None
    assert pytest.approx(low, abs=5e-5) == ends.low
    assert pytest.approx(-scipy.stats.binomtest(lost, n).proportion_ci(0.95).high) == ends.low


def test_gains_do_not_narrow_what_was_lost() -> None:
    mixed = gate_interval([-1, 1, 1, 1] + [0] * 46, np.arange(50), span=1)
    alone = gate_interval([-1] + [0] * 49, np.arange(50), span=1)
    assert mixed is not None
    assert alone is not None
    assert mixed.low == alone.low


def test_it_holds_the_intervals_it_is_made_of() -> None:
    d = np.array([-1.0] * 17 + [0.0] * 483)
    ends, t = gate_interval(d, np.arange(500), span=1), paired(d, np.arange(500)).interval()
    assert ends is not None
    assert t is not None
    assert ends.low < stats.agresti_min(d, np.arange(500), span=1).low < -0.05 < t.low
    assert ends.low <= t.low <= t.high <= ends.high


def test_large_groups_that_happen_to_be_equal_are_not_forgotten() -> None:
    """Twelve of the hundred small cases lost and no large one: by t a loss of .13 is excluded."""
    d = np.zeros(180)
    d[80:92] = -1.0
    ends, t = gate_interval(d, EIGHTS, span=1), paired(d, EIGHTS).interval()
    assert ends is not None
    assert t is not None
    assert ends.low < -0.13 < t.low


def test_without_limits_there_is_t_and_its_tail_or_nothing() -> None:
    d = np.exp(np.random.default_rng(1).standard_normal(40)) - 2
    ends, t = gate_interval(d, np.arange(40), span=None), paired(d, np.arange(40)).interval()
    assert ends is not None
    assert t is not None
    assert ends.low == pytest.approx(t.low)
    assert ends.high > t.high
    assert gate_interval([0.0] * 20, np.arange(20), span=None) is None
    assert gate_interval([1.0] * 7 + [0.0] * 13, np.arange(20), span=None) is None


def test_one_group_has_none() -> None:
    assert gate_interval([1.0, 0.5], ["a", "a"], span=1) is None


def test_weights_that_are_all_alike_change_nothing() -> None:
    d = np.array([-1.0] * 8 + [0.5] * 4 + [0.0] * 40)
    plain = gate_interval(d, np.arange(52), span=1)
    assert plain == pytest.approx(gate_interval(d, np.arange(52), span=1, weights=np.full(52, 3.0)))


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.25, 1.0]), min_size=12, max_size=60),
    st.integers(1, 4),
)
def test_it_turns_with_the_candidates_and_holds_the_interval_of_margins(d: list[float], size: int) -> None:
    groups = np.arange(len(d)) // size
    ends, turned = gate_interval(d, groups, span=1), gate_interval([-x for x in d], groups, span=1)
    if ends is None or turned is None:
        assert ends is turned
        return
    assert pytest.approx((-turned.high, -turned.low)) == (ends.low, ends.high)
    inner = margin_interval(d, groups, span=1)
    if inner is not None and paired(d, groups).n_different >= LEAST_DIFFERENT:
        assert ends.low <= inner.low + 1e-12
        assert inner.high - 1e-12 <= ends.high


# What may not have been seen


@pytest.mark.parametrize(("n", "share"), [(10, 0.259), (20, 0.139), (30, 0.095), (50, 0.058), (100, 0.030)])
def test_shares_never_seen_are_those_of_the_rule_of_three(n: int, share: float) -> None:
    """Exact upper 95 % limits of 0 of n: Hanley & Lippman-Hand (1983); SciPy's one-sided exact limit."""
    exact = scipy.stats.binomtest(0, n, alternative="less").proportion_ci(0.95).high
    assert pytest.approx((share, exact), abs=5e-4) == (unseen_shares([0.1], n, span=1).negative,) * 2
    assert pytest.approx(exact, abs=1e-12) == unseen_shares([0.1], n, span=1).positive


def test_a_share_is_null_where_such_a_difference_was_seen_and_half_is_none() -> None:
    assert (None, 0.95) == unseen_shares([-0.51, 0.5], 1, span=1)
    assert (0.95, None) == pytest.approx(unseen_shares([-2.5, 2.6], 1, span=5))
    assert None not in unseen_shares([0.5 + 1e-12, -0.5 - 1e-12], 20, span=1)
    narrow, wide = (unseen_shares([0.0], 40, span=1, level=level).positive for level in (0.95, 0.99))
    assert narrow is not None
    assert wide is not None
    assert narrow < wide


@pytest.mark.parametrize(
    ("d", "n", "span", "message"),
    [
        ([], 20, 1, "differences"),
        ([0.1], 0, 1, "above 0"),
        ([0.1], 20, 0, "above 0"),
        ([np.nan], 9, 1, "NaN|nan"),
    ],
)
def test_shares_of_nothing_are_refused(d: list[float], n: float, span: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unseen_shares(d, n, span=span)


def test_one_test_asks_for_losses_that_were_not_seen_and_for_the_mean_of_the_others() -> None:
    """By hand: 20 differences of -.1 and .1, half each: mean 0, se .1 / sqrt(19) = .0229. With a share of .12
    the chance to see none is .88^20 = .0776, which leaves .05 / .0776 = .645 and t(19) = -.378, so
    .12 - .88 x .378 x .0229 = .1124. No share gives more than .1129 (.114); Agresti-Min: .1049."""
    ends = gate_interval([-0.1, 0.1] * 10, np.arange(20), span=1)
    assert ends == pytest.approx((-0.1129, 0.1129), abs=5e-5)


@given(
    st.lists(st.floats(-0.4, 0.4), min_size=12, max_size=60),
    st.floats(0, 0.3),
    st.sampled_from([0.95, 0.99]),
)
def test_an_unseen_share_and_an_average_are_rejected_together(
    d: list[float], share: float, level: float
) -> None:
    """What has a joint chance above 1 - level lies inside: a share, and an average of the other cases."""
    result = paired(d, np.arange(len(d)))
    if result.test != "t" or result.se is None:
        return
    quantile = (1 - level) / (1 - share) ** len(d)
    if quantile >= 1:
        return
    average = result.difference - result.se * float(scipy.stats.t.ppf(quantile, result.df))
    ends = gate_interval(d, np.arange(len(d)), span=1, level=level)
    assert ends is not None
    assert share + (1 - share) * average <= ends.high + 1e-4


def test_a_small_gain_everywhere_excludes_no_rare_whole_loss() -> None:
    """All better by .02: a share 1 - .05^(1 / n) may be lost, 4.87 % of 60 and so .0297, 5.8 % of 50."""
    for n, excluded in ((40, False), (50, False), (60, True), (100, True)):
        ends = gate_interval([0.02] * n, np.arange(n), span=1)
        assert ends is not None
        assert excluded == (ends.low > -0.031)
        share = 1 - 0.05 ** (1 / n)
        assert ends.low <= 0.02 * (1 - share) - share + 1e-9


def test_where_a_large_loss_was_seen_the_rest_of_the_interval_decides() -> None:
    d = [-0.6] + [0.02, 0.01] * 30
    ends, inner = (f(d, np.arange(61), span=1) for f in (gate_interval, stats.agresti_min))
    assert ends is not None
    assert ends.low <= inner.low
    skewed = gate_interval([-0.49] + [0.02, 0.01] * 30, np.arange(61), span=1)
    assert skewed is not None
    assert skewed.low < -0.03


def test_a_wider_level_is_a_wider_interval() -> None:
    d = np.array([-1.0] * 8 + [0.0] * 52)
    usual, family = (gate_interval(d, np.arange(60), span=1, level=level) for level in (0.95, 0.99))
    assert usual is not None
    assert family is not None
    assert family.low < usual.low
