"""Whole losses that are rare or unseen. Oracle: the definition, maximised by SciPy over shares of losses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, t

from vivavoce.stats import RareLosses, paired


def chance(share: float, losses: RareLosses) -> float:
    """No more losses than were seen, and the others as far as they are from making up for that share."""
    distance = (share * losses.size / (1 - share) - losses.mean) / losses.se
    return float(binom.cdf(losses.hits, losses.n, share) * t.cdf(distance, losses.df))


@pytest.mark.parametrize("hits", [0, 1, 4])
@pytest.mark.parametrize(("mean", "se"), [(0.05, 0.01), (0.1, 0.04), (0.3, 0.02)])
def test_p_is_twice_the_largest_chance_over_shares_of_losses(hits, mean, se):
    losses = RareLosses(hits, 40, 1.0, mean, se, 39)
    highest = (mean + 8 * se) / (1 + mean + 8 * se)
    starts = np.linspace(0, highest, 60)
    peak = max(starts, key=lambda share: chance(share, losses))
    ends = max(0, peak - highest / 59), min(highest, peak + highest / 59)
    best = minimize_scalar(
        lambda x: -chance(x, losses), bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    assert pytest.approx(min(1, 2 * -best.fun), rel=1e-3) == losses.p()


@given(
    st.lists(st.sampled_from([-1.0, 0.02, 0.05, 0.08, 0.3, 1.0]), min_size=12, max_size=60),
    st.sampled_from([0.9, 0.95, 0.999]),
)
def test_the_interval_holds_0_where_p_is_above_its_level_and_mirrors_with_the_sides(d, level):
    result = paired(d, np.arange(len(d))).with_rare_losses(d, np.arange(len(d)), span=1)
    mirror = paired(-np.array(d), np.arange(len(d))).with_rare_losses(-np.array(d), np.arange(len(d)), span=1)
    assert pytest.approx(result.p, rel=1e-9) == mirror.p
    assert result.p >= paired(d, np.arange(len(d))).p
    if (ends := result.interval(level=level)) and result.direction:
        assert (result.p > 1 - level) == (ends.low < 0 < ends.high) or 0 in ends
        assert ends.low <= result.difference <= ends.high
        plain = paired(d, np.arange(len(d))).interval(level=level)
        assert plain is None or (ends.low <= plain.low and plain.high <= ends.high)


def test_a_little_better_on_all_of_20_is_no_proof_and_whole_gains_are():
    """p is near 2 (1 - .05 / 1.05)^20 / 2, as a share of .05 / 1.05 of whole losses makes a mean of 0."""
    rng = np.random.default_rng(1)
    d, cases = 0.05 + 0.005 * rng.standard_normal(20), np.arange(20)
    plain, planned = paired(d, cases), paired(d, cases).with_rare_losses(d, cases, span=1)
    assert plain.p < 1e-15
    assert (1 / 1.05) ** 20 < planned.p < 2 * (1 / 1.05) ** 20
    gains = np.repeat([1.0, 0.0], [14, 6])
    assert paired(gains, cases).with_rare_losses(gains, cases, span=1).p < 0.001


def test_many_losses_that_were_seen_leave_p_and_interval_to_t():
    d, cases = np.repeat([1.0, 0.0, -1.0], [70, 90, 40]), np.arange(200)
    plain, planned = paired(d, cases), paired(d, cases).with_rare_losses(d, cases, span=1)
    assert plain.p == planned.p
    assert pytest.approx(plain.interval(), abs=0.005) == planned.interval()


def test_without_error_among_the_others_a_count_alone_decides():
    """Twelve questions gain .1 alike and none is losses: twice the chance that 1 loss in 11 is not seen."""
    d, cases = np.full(12, 0.1), np.arange(12)
    assert pytest.approx(2 * (10 / 11) ** 12) == paired(d, cases).with_rare_losses(d, cases, span=1).p
    losses = np.full(12, -1.0)
    assert paired(losses, cases).p == paired(losses, cases).with_rare_losses(losses, cases, span=1).p
