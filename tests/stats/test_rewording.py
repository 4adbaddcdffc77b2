"""Wordings of responses: variance beside that of candidates, and whether the order stays."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from vivavoce.stats import crossed_variance, order_kept, wording_variance, wordings
from vivavoce.stats.rewording import Wordings

BY_HAND = [("A", 1, 0.0), ("A", 1, 0.2), ("A", 2, 0.4), ("A", 2, 0.6),
           ("B", 1, 0.5), ("B", 1, 0.7), ("B", 2, 0.8), ("B", 2, 1.0)]  # fmt: skip


def table(rows: list[tuple[str, int, float]]) -> Wordings:
    candidates, items, values = zip(*rows, strict=True)
    responses = [f"{c}{i}" for c, i in zip(candidates, items, strict=True)]
    return wordings(values, responses, candidates=candidates, items=items)


def cube(values: np.ndarray[Any, Any], groups: Any = None) -> Wordings:
    """Candidates x items x wordings."""
    m, n, k = values.shape
    candidates, items = (a.repeat(k) for a in map(np.ravel, np.indices((m, n))))
    codes = None if groups is None else np.asarray(groups)[items]
    return wordings(values.ravel(), candidates * n + items, candidates=candidates, items=items, groups=codes)


def test_a_table_worked_by_hand() -> None:
    """Means .1, .5 and .6, .9: MS candidate .2025, MS interaction .0025, so (.2025 - .0025) / 2 = .1."""
    v = wording_variance(table(BY_HAND))
    assert pytest.approx(0.02) == v.s2_rephrase
    assert v.s2_candidate is not None
    assert pytest.approx((0.1, 0.1)) == v.s2_candidate
    assert pytest.approx(0.2) == v.share
    assert pytest.approx(0.01) == v.scaled_published, "variances with ddof 0 are .01, and the range is 1"
    assert (None, None, 4, 2) == (v.low, v.high, v.n_responses, v.n_items)


def test_components_are_those_of_the_crossed_table_of_means() -> None:
    values = np.random.default_rng(3).normal(size=(5, 30, 6))
    v = wording_variance(cube(values))
    oracle = crossed_variance(values.mean(axis=2, keepdims=True)).s2_model
    assert oracle is not None
    assert pytest.approx(oracle) == v.s2_candidate
    assert pytest.approx(values.var(axis=2, ddof=1).mean()) == v.s2_rephrase
    spread = values.var(axis=2).mean(axis=0).mean() / (values.max() - values.min())
    assert pytest.approx(spread) == v.scaled_published
    by_item = values.var(axis=2).mean(axis=0) / (values.max() - values.min())
    assert pytest.approx(np.quantile(by_item, (0.25, 0.5, 0.75))) == v.scaled_quartiles


def test_equal_candidates_have_no_share_and_the_raw_figure_stays() -> None:
    """Means .1, .5 and .5, .1: MS candidate 0, MS interaction .16, so -.08."""
    rows = [("A", 1, 0.0), ("A", 1, 0.2), ("A", 2, 0.5), ("B", 1, 0.5), ("B", 2, 0.1)]
    v = wording_variance(table(rows))
    assert v.s2_candidate is not None
    assert pytest.approx((0.0, -0.08)) == v.s2_candidate
    assert (None, None) == (v.share, v.low)
    assert pytest.approx(0.02) == v.s2_rephrase
    assert 1 == v.n_responses, "a response with one wording has no spread"


def test_responses_to_one_item_share_their_cell() -> None:
    """Two repeats of A: the cell is their mean, and the published figure averages them before candidates."""
    rows = [
        ("A", 1, 0.0, 1),
        ("A", 1, 0.4, 1),
        ("A", 1, 0.2, 2),
        ("A", 1, 0.2, 2),
        ("B", 1, 1.0, 1),
        ("B", 1, 0.8, 1),
    ]
    c, i, y, r = zip(*rows, strict=True)
    v = wording_variance(wordings(y, [f"{a}{b}" for a, b in zip(c, r, strict=True)], candidates=c, items=i))
    assert pytest.approx((0.08 + 0 + 0.02) / 3) == v.s2_rephrase
    assert pytest.approx(((0.04 + 0) / 2 + 0.01) / 2) == v.scaled_published


def test_an_item_that_a_candidate_lacks_leaves_the_table_and_not_the_variances() -> None:
    v = wording_variance(table([*BY_HAND, ("A", 3, 0.0), ("A", 3, 1.0)]))
    assert (2, 5) == (v.n_items, v.n_responses)
    assert v.s2_candidate is not None
    assert pytest.approx(0.1) == v.s2_candidate.value
    assert pytest.approx((4 * 0.02 + 0.5) / 5) == v.s2_rephrase


def test_one_wording_one_candidate_and_equal_scores() -> None:
    one = wording_variance(table([("A", 1, 0.5), ("B", 1, 0.2), ("A", 2, 0.1), ("B", 2, 0.9)]))
    assert (None, None, None) == (one.s2_rephrase, one.share, one.scaled_published)
    alone = wording_variance(table(BY_HAND[:4]))
    assert (None, None) == (alone.s2_candidate, alone.share)
    assert pytest.approx(0.02) == alone.s2_rephrase
    alike = wording_variance(table([(c, i, 0.1 + 0.2) for c, i, _ in BY_HAND]))
    assert (0.0, None, None) == (alike.s2_rephrase, alike.share, alike.scaled_published)
    assert alike.scaled_quartiles is None
    assert (0.0, 0.0) == alike.s2_candidate


def test_without_values_there_is_nothing_to_estimate_from() -> None:
    with pytest.raises(ValueError, match="values is empty"):
        wordings([], [], candidates=[], items=[])
    with pytest.raises(ValueError, match="values holds nan at position 0"):
        wordings([math.nan], ["r"], candidates=["A"], items=[1])


def test_the_order_of_rows_does_not_matter_and_scale_does_as_it_must() -> None:
    """Shares have no unit; variances are squared units, the published figure is in units."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(3, 12, 4)) + np.arange(3)[:, None, None]
    rows = [(f"c{c}", i, float(values[c, i, e])) for c, i, e in np.ndindex(values.shape)]
    base = wording_variance(table(rows))
    shuffled = wording_variance(table([rows[k] for k in rng.permutation(len(rows))]))
    tenfold = wording_variance(table([(c, i, 10 * y + 3) for c, i, y in rows]))
    for other, squared, unit in ((shuffled, 1, 1), (tenfold, 100, 10)):
        assert pytest.approx((base.share, base.low, base.high)) == (other.share, other.low, other.high)
        assert base.s2_rephrase is not None
        assert base.scaled_published is not None
        assert pytest.approx((squared * base.s2_rephrase, unit * base.scaled_published)) == (
            other.s2_rephrase, other.scaled_published,
        )  # fmt: skip


def test_the_interval_is_the_jackknife_by_groups_on_the_log_scale() -> None:
    """Each group left out in turn, worked out anew from the rest."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(4, 24, 3)) * 0.3 + np.arange(4)[:, None, None]
    groups = np.arange(24) // 2
    v = wording_variance(cube(values, groups))
    logs = [math.log(wording_variance(cube(values[:, groups != g])).share or 0) for g in range(12)]
    half = 2.200985 * math.sqrt(11 * np.var(logs))  # t(.975, 11)
    assert v.share is not None
    assert pytest.approx((v.share * math.exp(-half), v.share * math.exp(half)), rel=1e-5) == (v.low, v.high)


def test_nine_groups_have_no_interval() -> None:
    values = np.random.default_rng(8).normal(size=(4, 18, 3)) + np.arange(4)[:, None, None]
    assert (None, None) == wording_variance(cube(values, np.arange(18) // 2))[3:5]


@pytest.mark.parametrize(
    ("m", "groups", "twins", "apart"), [(9, 40, 1, 0.1), (4, 20, 2, 0.3), (12, 12, 1, 0.2)]
)
def test_the_interval_of_the_share_covers(m: int, groups: int, twins: int, apart: float) -> None:
    """These candidates on other items: 95 % wanted, 92 to 99 % accepted of 300 draws."""
    rng = np.random.default_rng(m)
    effects = np.linspace(-1, 1, m) * apart
    truth = 0.1**2 / effects.var(ddof=1)
    covered = []
    for _ in range(300):
        cells = effects[:, None] + rng.normal(0, 0.3, (m, groups)).repeat(twins, axis=1) * 0.7
        cells = cells + rng.normal(0, 0.2, cells.shape) + rng.normal(0, 0.3, cells.shape[1])
        values = cells[:, :, None] + rng.normal(0, 0.1, (*cells.shape, 6))
        v = wording_variance(cube(values, np.arange(groups * twins) // twins))
        if v.low is not None and v.high is not None:
            covered.append(v.low <= truth <= v.high)
    assert len(covered) > 250
    assert 0.915 <= np.mean(covered) <= 0.99


def test_the_order_kept_is_kendalls_of_the_means() -> None:
    first, second = np.random.default_rng(2).normal(size=(2, 6, 15))
    order = order_kept(first, second, np.arange(15))
    assert pytest.approx(kendalltau(first.mean(axis=1), second.mean(axis=1)).statistic) == order.value
    assert order.low is not None
    assert order.high is not None
    assert order.value is not None
    assert -1 <= order.low <= order.value <= order.high <= 1
    assert 15 == order.n_pairs


def test_the_same_scores_keep_their_order_and_opposite_ones_lose_it() -> None:
    first = np.arange(5)[:, None] + np.random.default_rng(1).normal(0, 0.1, (5, 12))
    assert (1.0, 1.0, 1.0, 10, 10, 0) == order_kept(first, first, np.arange(12))
    assert (-1.0, -1.0, -1.0, 10, 0, 10) == order_kept(first, -first, np.arange(12))
    assert None is order_kept(first, 0 * first, np.arange(12)).value


def test_a_near_tie_may_be_in_either_order() -> None:
    """By hand: of three pairs two are clear, and the third is one tie in half of the cases each way."""
    first = np.array([[1.0, 0] * 6, [0, 1.01] * 6, [5, 5.5] * 6])
    order = order_kept(first, first, np.arange(12))
    assert (1.0, pytest.approx(1 / 3), 1.0, 3, 2, 0) == order


def test_the_interval_of_the_order_holds_that_of_the_true_means() -> None:
    """Six candidates near ties, and wordings that only add noise: the true order stays."""
    rng = np.random.default_rng(4)
    held = []
    for _ in range(60):
        quality = rng.normal(0, 0.1, (6, 1)) + rng.normal(0, 0.7, 60) + rng.normal(0, 0.7, (6, 60))
        first, second = (quality + rng.normal(0, sd, (6, 60)) for sd in (0.3, 0.25))
        order = order_kept(first, second, np.arange(60))
        held.append(order.high == 1.0)
    assert np.mean(held) >= 0.95


def test_few_groups_have_no_interval_of_the_order() -> None:
    first = np.arange(5)[:, None] + np.zeros((1, 9))
    assert (1.0, None, None) == order_kept(first, first, np.arange(9))[:3]


def test_tables_of_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="tables of one shape"):
        order_kept([[1.0]], [[1.0, 2.0]], [0])
