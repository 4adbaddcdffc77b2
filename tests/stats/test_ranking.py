"""Ranks and their intervals. Golden values: docs/golden.md, section 5."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, t
from tests.stats.matrices import by_matrices
from tests.stats.tables import MODELS, marks, near

from vivavoce import stats
from vivavoce.stats import holm, paired
from vivavoce.stats._arrays import group_codes
from vivavoce.stats.ranking import mean_ranks, rank_intervals, ranks_under_fillings

INTERVALS = {
    "Gemini 2.5 Pro": (1, 5),
    "Claude 3.5 Sonnet": (1, 6),
    "MedGemma 27B": (1, 6),
    "Llama 3.3-70B-Instruct": (1, 6),
    "Med42-70B": (2, 9),
    "Meditron 3-70B": (5, 9),
    "Gemma 3 27B": (1, 9),
    "Llama 3.1-8B-Instruct": (5, 9),
    "NVLM-70B": (5, 9),
    "Llama 3.2-1B-Instruct": (10, 10),
}


@pytest.fixture(scope="module")
def table(items):
    return marks(items)


def test_golden_rank_intervals_of_ten_models(table):
    found = rank_intervals(table.values, table.groups)
    assert dict(zip(MODELS, found.intervals, strict=True)) == INTERVALS
    assert (22, 45, 61, 41) == (found.n_shown, found.n_pairs, found.n_items, found.n_groups)


def test_golden_rank_intervals_follow_from_the_matrices(table):
    """1 + those shown better to 10 - those shown worse, by t on CR2 and Holm over 45 pairs."""
    first, second = np.triu_indices(10, 1)
    y = table.values
    fits = [by_matrices(y[i] - y[j], table.groups) for i, j in zip(first, second, strict=True)]
    p = np.array([2 * t.sf(abs(f.value) / f.se, f.df) for f in fits])
    order = np.argsort(p)
    adjusted = np.empty(45)
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(45, 0, -1)).clip(max=1)
    better = np.zeros((10, 10), bool)
    for i, j, f, shown in zip(first, second, fits, adjusted <= 0.05, strict=True):
        better[(i, j) if f.value > 0 else (j, i)] = shown
    spans = {name: (1 + better[:, k].sum(), 10 - better[k].sum()) for k, name in enumerate(MODELS)}
    assert spans == INTERVALS
    assert 22 == better.sum()


def test_golden_means_and_mean_ranks_name_different_winners(table):
    means = dict(zip(MODELS, rank_intervals(table.values, table.groups).means, strict=True))
    ranks = dict(zip(MODELS, mean_ranks(table.values), strict=True))
    assert (near(4.126, 3), near(4.036, 3)) == (means["Gemini 2.5 Pro"], means["Claude 3.5 Sonnet"])
    assert (near(3.631, 3), near(3.557, 3)) == (ranks["Gemini 2.5 Pro"], ranks["Claude 3.5 Sonnet"])


def test_golden_bootstrapped_ranks_are_far_too_narrow(table):
    """The contrast: percentiles of ranks over draws of groups say 1-2, 1-4, 2-4, 2-5 for the first four."""
    rng = np.random.default_rng(1)
    names, codes = np.unique(table.groups, return_inverse=True)
    of = [np.flatnonzero(codes == g) for g in range(len(names))]
    draws = []
    for _ in range(2000):
        drawn = np.concatenate([of[g] for g in rng.integers(0, len(names), len(names))])
        draws.append(rankdata(-table.values[:, drawn].mean(axis=1), method="min"))
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    first = ["Gemini 2.5 Pro", "Claude 3.5 Sonnet", "MedGemma 27B", "Llama 3.3-70B-Instruct"]
    at = [MODELS.index(name) for name in first]
    assert [(1, 2), (1, 4), (2, 4), (2, 5)] == list(zip(low[at], high[at], strict=True))


def test_pairs_are_those_of_paired_with_holm_over_all(table):
    found = rank_intervals(table.values, table.groups)
    first, second = np.triu_indices(10, 1)
    pairs = [
        paired(table.values[i] - table.values[j], table.groups) for i, j in zip(first, second, strict=True)
    ]
    assert {"t"} == {pair.test for pair in pairs}
    assert list(holm([pair.p for pair in pairs])) == list(found.p[first, second])
    assert (found.p == found.p.T).all()
    assert not (found.better & found.better.T).any()


def three_systems():
    """A is ahead of B by .9 to 1.1 in 12 cases; C is as good as A on average."""
    a = np.linspace(0.3, 0.8, 12)
    wave = np.tile([0.1, -0.1], 6)
    return np.array([a + 1 + wave, a, a + 1 - wave])


def test_hand_worked_rank_intervals():
    found = rank_intervals(three_systems(), range(12))
    assert ((1, 2), (3, 3), (1, 2)) == found.intervals
    assert [[False, True, False], [False] * 3, [False, True, False]] == found.better.tolist()
    assert [1.5, 3, 1.5] == list(found.ranks)
    assert (2, 3, 12, 12) == (found.n_shown, found.n_pairs, found.n_items, found.n_groups)


def filled(values, failed, low=0.0, high=1.0):
    """The two fillings of a table, `failed` being True where a score failed."""
    return np.where(failed, low, values), np.where(failed, high, values)


def test_fillings_that_change_nothing_leave_the_ranks_as_they_are(table):
    found = rank_intervals(table.values, table.groups)
    same = ranks_under_fillings(found, table.values, table.values, table.groups)
    assert (found.intervals, found.n_shown) == (same.intervals, same.n_shown)


def test_a_pair_is_shown_only_if_both_fillings_show_it():
    """Two failed scores of A at 1 close its gap of .15 to C, and not that of .65 to B."""
    values = np.array([[0.2] * 12, [0.9, 0.8] * 6, [0.4, 0.3] * 6])
    failed = np.zeros((3, 12), dtype=bool)
    failed[0, :2] = True
    observed = rank_intervals(values[:, 2:], range(10))
    found = ranks_under_fillings(observed, *filled(values, failed), range(12))
    assert ((3, 3), (1, 1), (2, 2)) == observed.intervals
    assert ((2, 3), (1, 1), (2, 3)) == found.intervals
    assert (3, 2) == (observed.n_shown, found.n_shown)


def test_an_interval_is_the_union_of_both_fillings_of_its_system():
    """By hand: all pairs by `paired` with each system at its worst against the others at their best."""
    rng = np.random.default_rng(3)
    values = np.clip(rng.normal(0.5, 0.15, (4, 30)) + np.array([[0.25], [0.15], [0.0], [-0.1]]), 0, 1)
    failed = rng.random((4, 30)) < 0.06
    complete = ~failed.any(axis=0)
    observed = rank_intervals(values[:, complete], np.arange(30)[complete])
    worst, best = filled(values, failed)
    found = ranks_under_fillings(observed, worst, best, range(30))
    for k in range(4):
        ends = list(observed.intervals[k])
        for own, others in ((worst, best), (best, worst)):
            table = others.copy()
            table[k] = own[k]
            ends += rank_intervals(table, range(30)).intervals[k]
        assert (min(ends), max(ends)) == found.intervals[k]


def test_a_pair_that_meets_an_unbounded_score_is_not_shown():
    values = np.array([[0.9, 0.8] * 6, [0.1, 0.2] * 6, [0.4, 0.5] * 6])
    worst, best = values.copy(), values.copy()
    best[1, 0] = np.nan
    found = ranks_under_fillings(rank_intervals(values, range(12)), worst, best, range(12))
    assert ((1, 2), (1, 3), (2, 3)) == found.intervals
    assert 1 == found.n_shown


def test_fillings_of_other_shapes_are_refused():
    observed = rank_intervals([[1, 2], [3, 4]], [0, 1])
    with pytest.raises(ValueError, match="worst and best must both have 2 rows"):
        ranks_under_fillings(observed, [[1, 2]], [[1, 2]], [0, 1])


def test_stricter_error_shows_less(table):
    wide = rank_intervals(table.values, table.groups, alpha=0.001)
    usual = rank_intervals(table.values, table.groups)
    assert wide.n_shown < usual.n_shown
    for w, u in zip(wide.intervals, usual.intervals, strict=True):
        assert w.best <= u.best <= u.worst <= w.worst


def test_all_equal_leaves_every_rank_open():
    found = rank_intervals(np.full((3, 20), 4.2), range(20))
    assert ((1, 3),) * 3 == found.intervals
    assert (0, [2, 2, 2]) == (found.n_shown, list(found.ranks))
    assert [2, 2, 2] == list(mean_ranks(np.full((3, 20), 4.2)))


def test_one_system_one_item_and_one_group_are_ranked_without_claims():
    assert ((1, 1),) == rank_intervals([[3, 4]], [0, 1]).intervals
    assert ((1, 2), (1, 2)) == rank_intervals([[3], [4]], [0]).intervals
    found = rank_intervals([[3, 3.5], [4, 4]], ["a", "a"])
    assert ((1, 2), (1, 2)) == found.intervals
    assert 1 == found.n_groups


def test_two_systems_are_one_pair():
    found = rank_intervals(three_systems()[:2], range(12))
    assert ((1, 1), (2, 2)) == found.intervals
    assert found.p[0, 1] == paired(three_systems()[0] - three_systems()[1], range(12)).p


def test_eight_groups_a_little_up_and_one_far_down_show_nobody():
    """Flipping the far one alone turns the sum, so p is 1: by signs it was .039, against the mean."""
    found = rank_intervals([[0.1] * 8 + [-5.0] + [0.0] * 3, [0.0] * 12], range(12))
    assert 1 == found.p[0, 1]
    assert (0, ((1, 2), (1, 2))) == (found.n_shown, found.intervals)


def test_one_giant_group_shows_nobody():
    """60 questions of one case, all won, and 11 cases that are even."""
    values = np.zeros((2, 71))
    values[0, :60] = 1
    values[0, 60:] = np.tile([0.5, -0.5], 6)[:11]
    found = rank_intervals(values, np.maximum(np.arange(71) - 59, 0))
    assert 0.5 == found.p[0, 1]
    assert ((1, 2), (1, 2)) == found.intervals


matrices = st.tuples(st.integers(2, 5), st.integers(1, 25), st.integers(0, 10**6)).map(
    lambda t: np.random.default_rng(t[2]).integers(0, 6, (t[0], t[1])) / 5 + np.arange(t[0])[:, None] / 3
)


@given(matrices, st.randoms(use_true_random=False))
def test_order_of_systems_items_and_names_do_not_matter(values, random):
    systems, items = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(systems)
    random.shuffle(items)
    groups = np.arange(values.shape[1]) // 2
    a = rank_intervals(values, groups)
    b = rank_intervals(values[systems][:, items], [f"case {k}" for k in groups[items]])
    assert [a.intervals[k] for k in systems] == list(b.intervals)
    assert pytest.approx(a.p[np.ix_(systems, systems)], abs=1e-6) == b.p
    assert pytest.approx(mean_ranks(values)[systems]) == mean_ranks(values[systems][:, items])


@given(matrices)
def test_turning_the_scale_turns_the_ranks(values):
    k = len(values)
    a, b = rank_intervals(values, range(values.shape[1])), rank_intervals(-values, range(values.shape[1]))
    assert [(k + 1 - i.worst, k + 1 - i.best) for i in a.intervals] == list(b.intervals)
    assert pytest.approx(k + 1 - mean_ranks(values)) == mean_ranks(-values)


@given(matrices)
def test_mean_ranks_are_those_of_scipy_and_see_order_only(values):
    expected = rankdata(-np.round(values, 9), axis=0).mean(axis=1)
    assert pytest.approx(expected) == mean_ranks(values)
    assert pytest.approx(expected) == mean_ranks(np.exp(values))
    assert pytest.approx(len(values) * (len(values) + 1) / 2) == mean_ranks(values).sum()


def test_rounding_makes_no_false_rank():
    assert [1.5, 1.5] == list(mean_ranks([[0.1 + 0.2], [0.3]]))


def test_nan_nothing_and_misfits_are_refused():
    for function in (lambda v: rank_intervals(v, [0, 1]), mean_ranks):
        with pytest.raises(ValueError, match="values holds nan for system 1, item 0"):
            function([[1, 2], [float("nan"), 2]])
        with pytest.raises(ValueError, match="values is empty"):
            function(np.empty((2, 0)))
        with pytest.raises(ValueError, match="two dimensions"):
            function([1, 2])
        with pytest.raises(ValueError, match="at least 1 are needed"):
            function(np.empty((0, 2)))
    with pytest.raises(ValueError, match="groups has the shape"):
        rank_intervals([[1, 2]], [0])
    with pytest.raises(ValueError, match="alpha must lie"):
        rank_intervals([[1, 2]], [0, 1], alpha=5)


def test_labels_of_groups_are_sorted_once_and_not_for_each_pair(monkeypatch):
    """Work is counted: the tests of 15 pairs get numbers, whatever the labels are."""
    dtypes = []

    def counted(groups, *, length):
        dtypes.append(np.asarray(groups).dtype.kind)
        return group_codes(groups, length=length)

    monkeypatch.setattr(sys.modules["vivavoce.stats.paired"], "group_codes", counted)
    values = np.random.default_rng(1).normal(size=(6, 24))
    labels = [f"case {n // 2:02}" for n in range(24)]
    assert 15 == rank_intervals(values, labels).n_pairs
    assert {"i"} == set(dtypes)
    assert len(dtypes) >= 15


def test_ranks_of_tests_that_were_made_elsewhere_are_those_of_rank_intervals() -> None:
    rng = np.random.default_rng(4)
    y = rng.normal([[0.0], [0.4], [0.9]], 0.6, (3, 40))
    whole = stats.rank_intervals(y, np.arange(40))
    pairs = [stats.paired(y[i] - y[j], np.arange(40)) for i, j in ((0, 1), (0, 2), (1, 2))]
    ranked = stats.ranks_of_pairs(y.mean(axis=1), [p.p for p in pairs], [p.direction for p in pairs])
    assert whole.intervals == ranked.intervals
    assert np.allclose(whole.p, ranked.p)
    assert (whole.n_shown, whole.n_pairs) == (ranked.n_shown, ranked.n_pairs)


def test_a_test_is_missing_for_a_pair() -> None:
    with pytest.raises(ValueError, match="3 systems have 3 pairs, but there are 2 p and 2 directions"):
        stats.ranks_of_pairs([1.0, 2.0, 3.0], [0.1, 0.2], [1, 1])


def test_one_system_has_the_first_rank() -> None:
    assert ((1, 1),) == tuple(map(tuple, stats.ranks_of_pairs([2.0], [], []).intervals))


def test_what_both_show_is_shown() -> None:
    first = stats.ranks_of_pairs([1.0, 2.0, 3.0], [0.001, 0.001, 0.001], [-1, -1, -1])
    second = stats.ranks_of_pairs([1.0, 2.0, 3.0], [0.9, 0.001, 0.001], [-1, -1, 1])
    both = first.shown_by_both(second)
    assert (3, 1) == (first.n_shown, both.n_shown)
    assert [(2, 3), (1, 3), (1, 2)] == [tuple(interval) for interval in both.intervals]


def two_way(y: np.ndarray) -> tuple[float, float]:
    """What cases and runs add to the variance of a mean, by mean squares."""
    n, runs = y.shape
    residuals = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    ms = (
        runs * y.mean(axis=1).var(ddof=1),
        n * y.mean(axis=0).var(ddof=1),
        (residuals**2).sum() / (n - 1) / (runs - 1),
    )
    return ms[0] / n / runs, (ms[1] - ms[2]) / n / runs


def test_the_error_over_cases_and_runs_is_that_of_the_two_way_mean_squares() -> None:
    rng = np.random.default_rng(3)
    y = rng.normal(size=(12, 1)) + rng.normal(size=(1, 6)) + rng.normal(size=(12, 6))
    error = stats.crossed_error(y, range(12), range(6))
    assert error
    assert pytest.approx((*two_way(y), 11, 5)) == error
    assert pytest.approx(sum(two_way(y)) ** 0.5) == error.se
    # Twice the same run, and twice the same item of a case, tell no more.
    twice = stats.crossed_error(np.repeat(np.repeat(y, 2, 0), 2, 1), np.arange(24) // 2, np.arange(12) // 2)
    assert pytest.approx(error) == twice
    assert pytest.approx(error) == stats.crossed_error(y[::-1, ::-1], range(12), range(6))


def test_p_over_cases_and_runs_lies_between_the_two_t_tests() -> None:
    """At p both quantiles together make the difference; alone each margin is a t test."""
    error = stats.CrossedError(v_groups=0.04, v_runs=0.01, df_groups=30, df_runs=4)
    p = error.p(0.5)
    assert 2 * t.sf(0.5 / error.se, 30) < p < 2 * t.sf(0.5 / error.se, 4)
    assert pytest.approx(0.25) == 0.04 * t.isf(p / 2, 30) ** 2 + 0.01 * t.isf(p / 2, 4) ** 2
    assert pytest.approx(2 * t.sf(2.5, 30)) == error._replace(v_runs=0.0).p(-0.5)
    assert pytest.approx(1) == error.p(0.0)


def test_runs_that_do_not_differ_leave_the_error_over_cases() -> None:
    y = np.repeat(np.arange(12.0)[:, None] ** 2, 5, axis=1)
    plain = stats.cluster_mean(y[:, 0], range(12))
    error = stats.crossed_error(y, range(12), range(5))
    assert error
    assert pytest.approx((plain.se, 0, plain.df)) == (error.se, error.v_runs, error.df_groups)
    assert stats.crossed_error(y, [0] * 12, range(5)) is None
    assert stats.crossed_error(y, range(12), [1] * 5) is None


def test_a_pair_that_only_the_luck_of_runs_tells_apart_is_not_shown() -> None:
    """A is ahead by 1 in every case, in three of five runs."""
    y = np.zeros((2, 20, 5))
    y[0, :, :3] = 1
    y[0, ::2] += 0.01
    assert 1 == rank_intervals(y.mean(axis=2), range(20)).n_shown
    ranked = rank_intervals(y, range(20), runs=range(5))
    assert (0, (1, 2)) == (ranked.n_shown, ranked.intervals[0])
    assert ranked.intervals == ranks_under_fillings(ranked, y, y, range(20), runs=range(5)).intervals
    y[0, :, 3:] = 1
    assert 1 == rank_intervals(y, range(20), runs=range(5)).n_shown


def test_few_runs_are_refused() -> None:
    y = np.zeros((2, 20, 4))
    with pytest.raises(ValueError, match="at least 5 labels, but have 4"):
        rank_intervals(y, range(20), runs=range(4))
    with pytest.raises(ValueError, match=r"must have the shape \(K, n, R\)"):
        rank_intervals(y[:, :, 0], range(20), runs=range(5))
