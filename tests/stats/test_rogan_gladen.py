"""A share corrected for a judge's mistakes. Oracles: simulation from known errors, hand-worked cases."""

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from vivavoce.stats import Mean, rogan_gladen


def share(value, se=0.02, n_groups=50):
    return Mean(value, se, 500, n_groups, n_groups - 1)


def test_hand_worked_rogan_gladen():
    """(.7 + .9 - 1) / (.8 + .9 - 1) = 6/7; the errors of se and sp weigh 6/7 and 1/7."""
    r = rogan_gladen(share(0.7), sensitivity=share(0.8), specificity=share(0.9))
    assert pytest.approx(6 / 7) == r.value == r.raw
    assert pytest.approx(0.02 / 0.7 * math.sqrt(1 + (6 / 7) ** 2 + (1 / 7) ** 2)) == r.se
    parts = np.array([1, (6 / 7) ** 2, (1 / 7) ** 2])
    df = parts.sum() ** 2 / (parts**2 / 49).sum()
    assert pytest.approx(r.value - stdtrit(df, 0.975) * r.se) == r.low


def test_the_cows_of_epi_prev():
    """epiR's example of `epi.prev`: 23 of 150 test positive, sensitivity .96, specificity .89: 5.1 in 100."""
    known = {"sensitivity": Mean(0.96, 0.0, 150, 150, 149), "specificity": Mean(0.89, 0.0, 150, 150, 149)}
    p = 23 / 150
    r = rogan_gladen(Mean(p, math.sqrt(p * (1 - p) / 149), 150, 150, 149), **known)
    assert 5.1 == round(100 * r.value, 1)
    assert pytest.approx(math.sqrt(p * (1 - p) / 149) / 0.85) == r.se
    assert 12 == round(100 * r.high)
    assert 0.0 == r.low


def test_a_perfect_judge_needs_no_correction():
    certain = Mean(1.0, 0.0, 99, 50, 49)
    r = rogan_gladen(share(0.7), sensitivity=certain, specificity=certain)
    assert (pytest.approx(0.7), pytest.approx(0.02), pytest.approx(0.7 - stdtrit(49, 0.975) * 0.02)) == (
        r.value,
        r.se,
        r.low,
    )
    no_error = rogan_gladen(Mean(0.7, 0.0, 9, 9, 8), sensitivity=certain, specificity=certain)
    assert (pytest.approx(0.7), None, None, 0.0) == no_error[:4]  # no interval of width 0


def test_exchanging_true_and_false_mirrors():
    a = rogan_gladen(share(0.7), sensitivity=share(0.8, 0.03), specificity=share(0.9, 0.01))
    b = rogan_gladen(share(0.3), sensitivity=share(0.9, 0.01), specificity=share(0.8, 0.03))
    assert pytest.approx((1 - a.value, a.se, 1 - a.high, 1 - a.low)) == (b.value, b.se, b.low, b.high)


def test_the_error_carried_along_is_that_of_simulation():
    rng = np.random.default_rng(6)
    p, se, sp = (rng.normal(m, s, 200_000) for m, s in ((0.6, 0.02), (0.85, 0.03), (0.8, 0.04)))
    spread = ((p + sp - 1) / (se + sp - 1)).std()
    r = rogan_gladen(share(0.6, 0.02), sensitivity=share(0.85, 0.03), specificity=share(0.8, 0.04))
    assert pytest.approx(spread, rel=0.03) == r.se


def test_a_share_outside_its_range_is_put_back_and_kept_raw():
    r = rogan_gladen(share(0.05), sensitivity=share(0.8), specificity=share(0.9))
    assert (0.0, 0.0, pytest.approx(-0.05 / 0.7)) == (r.value, r.low, r.raw)


def test_a_judge_no_better_than_chance_knows_nothing():
    assert (None,) * 5 == rogan_gladen(share(0.5), sensitivity=share(0.4), specificity=share(0.6))
    r = rogan_gladen(share(0.7, None, 1), sensitivity=share(0.8), specificity=share(0.9))
    assert (pytest.approx(6 / 7), None, None, None) == r[:4]
    with pytest.raises(ValueError, match=r"judged has an SE but 0.5 degrees of freedom"):
        rogan_gladen(Mean(0.7, 0.1, 9, 9, 0.5), sensitivity=share(0.8), specificity=share(0.9))
    with pytest.raises(ValueError, match="specificity must be a share"):
        rogan_gladen(share(0.7), sensitivity=share(0.8), specificity=share(90))
    with pytest.raises(ValueError, match="level must lie"):
        rogan_gladen(share(0.7), sensitivity=share(0.8), specificity=share(0.9), level=95)
