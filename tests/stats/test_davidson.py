"""Strengths from comparisons. Golden values: docs/statistics.md, section 5.

Oracles: choix 0.4.1; statsmodels 0.15.0; R's PlackettLuce and BradleyTerry2 by their published examples.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.lazy import lazy_module
from tests.lengths import length
from tests.stats.tables import MODELS, marks, near

from vivavoce.stats.bradley_terry import bootstrap_strengths, davidson, parts

sm = lazy_module("statsmodels.api")
choix = lazy_module("choix")


@pytest.fixture(scope="module")
def published(items):
    """Every pair of ten models on 61 items: pairs, outcomes, groups. Only to have golden numbers."""
    table = marks(items)
    first, second = np.triu_indices(10, 1)
    outcomes = np.sign(np.round(table.values[first] - table.values[second], 9)).astype(int)
    pairs = np.repeat(np.column_stack([first, second]), 61, axis=0)
    return pairs, outcomes.ravel(), np.tile(table.groups, 45)


def likelihood(theta, pairs, outcomes):
    """-log L by the formula of the paper, strengths first, log nu last."""
    a, b = theta[pairs[:, 0]], theta[pairs[:, 1]]
    tie = theta[-1] + (a + b) / 2
    total = np.logaddexp(np.logaddexp(a, b), tie)
    return (total - np.where(outcomes == 1, a, np.where(outcomes == -1, b, tie))).sum()


def bend(theta, u, v, pairs, outcomes):
    """Four times the second difference of -log L."""
    return sum(s * t * likelihood(theta + s * u + t * v, pairs, outcomes) for s in (1, -1) for t in (1, -1))


def test_golden_strengths_of_ten_models(published):
    pairs, outcomes, _ = published
    found = davidson(pairs, outcomes, n_systems=10)
    assert (2745, 477, False) == (found.n, found.n_ties, found.separated)
    assert (near(0.55699, 5), near(-2323.1265, 4)) == (found.nu, found.log_likelihood)
    strengths = dict(zip(MODELS, found.strengths, strict=True))
    assert near(1.3221, 4) == strengths["Claude 3.5 Sonnet"]
    assert near(1.2723, 4) == strengths["Gemini 2.5 Pro"]
    assert near(1.0571, 4) == strengths["MedGemma 27B"]
    assert near(-3.4208, 4) == strengths["Llama 3.2-1B-Instruct"]
    assert pytest.approx(0, abs=1e-12) == found.strengths.sum()
    theta = np.append(found.strengths, np.log(found.nu))
    assert pytest.approx(found.log_likelihood) == -likelihood(theta, pairs, outcomes)


def test_golden_curvature_promises_less_than_half_the_error_of_groups(published):
    """Claude's strength: .10 from the Hessian in the strengths (nu held), .24 from groups drawn again."""
    pairs, outcomes, groups = published
    found = davidson(pairs, outcomes, n_systems=10)
    theta, h = np.append(found.strengths, np.log(found.nu)), 1e-3
    steps = h * np.eye(11)[:10]
    hessian = np.array([[bend(theta, u, v, pairs, outcomes) for v in steps] for u in steps]) / (4 * h**2)
    # The sum of strengths is 0: adding 1 everywhere makes the matrix regular, and 1 / 100 to its inverse.
    model = np.sqrt(np.linalg.inv(hessian + 1)[0, 0] - 1 / 100)
    assert near(0.10, 2) == model
    drawn = bootstrap_strengths(
        pairs, outcomes, groups=groups, n_systems=10, rng=np.random.default_rng(1), resamples=length(300, 500)
    )
    claude = drawn.systems[0]
    assert pytest.approx(0.24, abs=0.02) == claude.se
    assert (41, False, 0, 0) == (claude.n_groups, claude.few_groups, claude.n_undefined, drawn.n_separated)
    assert claude.low < found.strengths[0] < claude.high
    assert found.strengths[0] == pytest.approx(claude.value)


# Davidson (1970), JASA 65, 317-328, in R PlackettLuce::pudding: brands i and j of chocolate pudding, wins of
# i, wins of j, ties.
PUDDINGS = [
    (1, 2, 19, 22, 16),
    (1, 3, 16, 19, 12),
    (2, 3, 19, 19, 10),
    (1, 4, 18, 23, 13),
    (2, 4, 23, 19, 9),
    (3, 4, 19, 20, 15),
    (1, 5, 13, 19, 18),
    (2, 5, 16, 20, 12),
    (3, 5, 16, 15, 17),
    (4, 5, 17, 14, 16),
    (1, 6, 18, 21, 12),
    (2, 6, 22, 20, 12),
    (3, 6, 13, 18, 10),
    (4, 6, 14, 19, 18),
    (5, 6, 11, 21, 12),
]


def puddings():
    pairs, outcomes = [], []
    for i, j, won, lost, tied in PUDDINGS:
        pairs += [(i - 1, j - 1)] * (won + lost + tied)
        outcomes += [1] * won + [-1] * lost + [0] * tied
    return np.array(pairs), np.array(outcomes)


def test_published_puddings():
    """R, PlackettLuce: coef(PlackettLuce(pudding, npseudo = 0), log = FALSE), vignette "Overview"."""
    found = davidson(*puddings(), n_systems=6)
    worth = np.exp(found.strengths)
    expected = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    # Its fit stops after 7 iterations, not converged: the fifth digit is ours.
    assert pytest.approx(expected, abs=3e-5) == worth / worth.sum()
    assert pytest.approx(0.7468147, abs=3e-5) == found.nu


# R, BradleyTerry2: BTm on its data set `citations` (Stigler 1994; Agresti 2002, p. 448): cited in rows.
JOURNALS = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]])


def citations():
    return [(i, j) for i, j in itertools.permutations(range(4), 2) for _ in range(JOURNALS[i, j])]


def test_published_citations():
    """Against Biometrika: Comm Statist -2.9491, JASA -0.4796, JRSS-B 0.2690."""
    pairs = citations()
    found = davidson(pairs, np.ones(len(pairs)), n_systems=4).strengths
    assert [near(-2.9491, 4), near(-0.4796, 4), near(0.2690, 4)] == list(found[1:] - found[0])


def test_without_ties_it_is_a_logistic_regression_of_statsmodels():
    first, second = np.triu_indices(4, 1)
    wins = np.column_stack([JOURNALS[first, second], JOURNALS[second, first]])
    design = np.eye(4)[first] - np.eye(4)[second]
    fit = sm.GLM(wins, design[:, 1:], family=sm.families.Binomial()).fit(tol=1e-12)
    pairs = citations()
    found = davidson(pairs, np.ones(len(pairs)), n_systems=4).strengths
    assert pytest.approx(fit.params, abs=1e-8) == found[1:] - found[0]


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_it_is_the_model_of_choix(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 5, 200), rng.integers(1, 5, 200)
    wins = np.column_stack([first, (first + second) % 5])
    found = davidson(wins, [1] * 200, n_systems=5)
    oracle = choix.opt_pairwise(5, wins.tolist(), alpha=0, tol=1e-10)
    assert not found.separated
    assert pytest.approx(oracle - oracle.mean(), abs=1e-6) == found.strengths


def test_separated_strengths_are_those_of_choix_with_its_penalty():
    """0 never lost: its strength is infinite, and .01 on the squares makes it finite."""
    wins = [(0, 1), (1, 2), (0, 2), (0, 1), (2, 1)]
    found = davidson(wins, [1] * 5, n_systems=3)
    assert found.separated
    oracle = choix.opt_pairwise(3, wins, alpha=0.01, tol=1e-10)
    assert pytest.approx(oracle, abs=1e-6) == found.strengths
    assert found.log_likelihood < 0


def test_hand_worked_strengths():
    """Two systems, 6 : 2 and 4 ties: odds 3, and nu = 4 / sqrt(6 * 2); the model fits exactly."""
    outcomes = [1] * 6 + [-1] * 2 + [0] * 4
    found = davidson([(0, 1)] * 12, outcomes, n_systems=2)
    assert pytest.approx([np.log(3) / 2, -np.log(3) / 2]) == found.strengths
    assert pytest.approx(4 / np.sqrt(12)) == found.nu
    assert pytest.approx(6 * np.log(0.5) + 2 * np.log(1 / 6) + 4 * np.log(1 / 3)) == found.log_likelihood
    assert (12, 4, False) == (found.n, found.n_ties, found.separated)


def test_wins_without_ties_are_plain_bradley_terry():
    found = davidson([(0, 1)] * 4, [1, 1, 1, -1], n_systems=2)
    assert pytest.approx([np.log(3) / 2, -np.log(3) / 2]) == found.strengths
    assert 0 == found.nu
    assert 4 == found.n


def test_nothing_but_ties_makes_all_equal():
    found = davidson([(0, 1), (1, 2)], [0, 0], n_systems=3)
    assert ([0, 0, 0], None, 0, False) == (
        list(found.strengths),
        found.nu,
        found.log_likelihood,
        found.separated,
    )


def test_one_system_needs_no_comparison():
    found = davidson([], [], n_systems=1)
    assert ([0], None, 0) == (list(found.strengths), found.nu, found.n)


def test_ties_alone_do_not_bound_what_never_loses():
    """One win and ties, no defeat: nu and the lead grow together, the defeat's share goes to 0."""
    assert davidson([(0, 1)] * 3, [1, 0, 0], n_systems=2).separated
    found = davidson([(0, 1)] * 3, [1, 0, 0], n_systems=2)
    assert 0 < found.strengths[0] < 20
    assert not davidson([(0, 1)] * 3, [1, 0, -1], n_systems=2).separated


def directions(pairs, outcomes, n):
    """Whether a direction of strengths and log nu never loses and somewhere gains: a linear programme."""
    rows = []
    for (i, j), outcome in zip(pairs, outcomes, strict=True):
        options = {1: np.zeros(n + 1), -1: np.zeros(n + 1), 0: np.zeros(n + 1)}
        options[1][i], options[-1][j] = 1, 1
        options[0][[i, j]], options[0][n] = 0.5, 1
        rows += [options[other] - options[outcome] for other in options if other != outcome]
    a = np.array(rows)
    return linprog(a.sum(axis=0), A_ub=a, b_ub=np.zeros(len(a)), bounds=(-1, 1)).fun < -1e-7


comparisons = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(1, n - 1), st.sampled_from([1, 0, -1])),
            min_size=1,
            max_size=14,
        ),
    )
)


@given(comparisons)
def test_separation_is_that_of_a_linear_programme_and_all_is_finite(data):
    n, rows = data
    pairs = np.array([(i, (i + step) % n) for i, step, _ in rows])
    outcomes = np.array([outcome for _, _, outcome in rows])
    if len(parts(pairs[:, 0], pairs[:, 1], n)) > 1:
        with pytest.raises(ValueError, match="parts that never met"):
            davidson(pairs, outcomes, n_systems=n)
        return
    found = davidson(pairs, outcomes, n_systems=n)
    assert np.isfinite(found.strengths).all()
    assert pytest.approx(0, abs=1e-8) == found.strengths.sum()
    if outcomes.any() and not outcomes.all():
        assert directions(pairs, outcomes, n) == found.separated
        theta = np.append(found.strengths, np.log(found.nu))
        best = likelihood(theta, pairs, outcomes) + 0.01 * found.separated * found.strengths @ found.strengths
        for step in 1e-3 * np.vstack([np.eye(n + 1), -np.eye(n + 1)]):
            near_by = theta + step
            penalty = 0.01 * found.separated * near_by[:-1] @ near_by[:-1]
            assert best <= likelihood(near_by, pairs, outcomes) + penalty + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_sides_order_and_names_of_systems_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    pairs, outcomes = puddings()
    a = davidson(pairs, outcomes, n_systems=6)
    order, names = rng.permutation(len(pairs)), rng.permutation(6)
    turned = rng.random(len(pairs)) < 0.5
    renamed = names[pairs[order]]
    renamed[turned] = renamed[turned][:, ::-1]
    b = davidson(renamed, np.where(turned, -outcomes[order], outcomes[order]), n_systems=6)
    assert pytest.approx(a.strengths, abs=1e-8) == b.strengths[names]
    assert pytest.approx((a.nu, a.log_likelihood)) == (b.nu, b.log_likelihood)


def test_turning_every_outcome_turns_every_strength():
    pairs, outcomes = puddings()
    a, b = (davidson(pairs, sign * outcomes, n_systems=6) for sign in (1, -1))
    assert pytest.approx(a.strengths, abs=1e-8) == -b.strengths


def test_a_disconnected_graph_is_reported_and_not_ranked():
    pairs = [(0, 2), (2, 0), (1, 3), (3, 1)]
    with pytest.raises(ValueError, match=r"2 parts that never met, \(0, 2\) and \(1, 3\)"):
        davidson(pairs, [1, 1, 1, 1], n_systems=4)
    with pytest.raises(ValueError, match="parts that never met"):
        bootstrap_strengths(
            pairs, [1] * 4, groups=range(4), n_systems=4, rng=np.random.default_rng(0), resamples=10
        )
    with pytest.raises(ValueError, match=r"2 parts that never met, \(0, 2, 3\) and \(1,\)"):
        davidson([(0, 2), (2, 3)], [1, 1], n_systems=4)
    with pytest.raises(ValueError, match=r"\(0, 1\) and \(2,\)"):
        davidson([(0, 1), (1, 0)], [1, 1], n_systems=3)


def test_draws_that_fall_apart_are_counted_and_can_be_redrawn():
    """Two groups hold the only links to system 2: a quarter of the draws has neither."""
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0)] * 2
    outcomes, groups = [1, 1, 1, 1, 1, -1, 0, 1], ["a", "a", "b", "b"] * 2
    drawn, again = (
        bootstrap_strengths(
            pairs,
            outcomes,
            groups=groups,
            n_systems=3,
            rng=np.random.default_rng(2),
            resamples=200,
            level=0.4,
        )
        for _ in range(2)
    )
    assert again == drawn
    first = drawn.systems[0]
    assert (2, True, 200) == (first.n_groups, first.few_groups, first.n_resamples)
    assert 60 < first.n_undefined < 140


def test_whole_groups_are_drawn():
    """Every group holds the same comparisons: nothing varies, however few they are."""
    drawn = bootstrap_strengths(
        [(0, 1)] * 30,
        [1, -1, 0] * 10,
        groups=np.repeat(np.arange(10), 3),
        n_systems=2,
        rng=np.random.default_rng(3),
        resamples=20,
    )
    assert pytest.approx(0, abs=1e-9) == drawn.systems[0].se


def test_one_group_has_strengths_without_errors():
    drawn = bootstrap_strengths(
        [(0, 1)] * 3, [1, 1, -1], groups=["a"] * 3, n_systems=2, rng=np.random.default_rng(0)
    )
    assert (None, None, None) == (drawn.systems[0].se, drawn.systems[0].low, drawn.systems[0].high)
    assert pytest.approx(np.log(2) / 2) == drawn.systems[0].value


def test_misfits_are_refused():
    for pairs, outcomes, n, match in (
        ([(0, 0)], [1], 2, "pairs holds 0 and 0 at position 0"),
        ([(0, 1), (0, 2)], [1, 1], 2, "pairs holds 0 and 2 at position 1"),
        ([(0, -1)], [1], 2, "pairs holds 0 and -1"),
        ([(0.0, 1.0)], [1], 2, "pairs must be whole numbers"),
        ([0, 1], [1], 2, "pairs must be whole numbers"),
        ([(0, 1)], [2], 2, "outcomes holds 2 at position 0"),
        ([(0, 1)], [float("nan")], 2, "outcomes holds nan at position 0"),
        ([(0, 1)], [1, 1], 2, "outcomes has the shape"),
        ([], [], 0, "n_systems must be at least 1"),
        ([], [], 2, "2 parts that never met"),
    ):
        with pytest.raises(ValueError, match=match):
            davidson(pairs, outcomes, n_systems=n)
