"""Friedman's test and Nemenyi's distance. Golden values: docs/statistics.md, section 5.

Oracles: scipy.stats.friedmanchisquare and studentized_range, SciPy 1.17.1; scikit-posthocs 0.17.1.
"""

import subprocess
import sys
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.cases import each_case
from tests.lazy import lazy_module
from tests.stats.tables import MODELS, marks, near

from vivavoce.stats.friedman import friedman, nemenyi_distance, studentized_range
from vivavoce.stats.ranking import mean_ranks

scikit_posthocs = lazy_module("scikit_posthocs")


@pytest.fixture(scope="module")
def table(items):
    return marks(items)


def test_golden_friedman_by_group(table):
    found = friedman(table.values, table.groups)
    assert (near(149.1435, 4), near(27.1347, 4)) == (found.chi2, found.f)
    assert (10, 41) == (found.n_systems, found.n_blocks)
    assert near(2.1155, 4) == nemenyi_distance(10, 41)
    assert found.p_f < found.p_chi2 < 1e-20


def test_golden_friedman_by_item(table):
    found = friedman(table.values, np.arange(61))
    assert near(209.547, 3) == found.chi2
    assert near(1.7344, 4) == nemenyi_distance(10, 61)
    assert list(mean_ranks(table.values)) == list(found.mean_ranks)


def test_golden_quantile_of_ten_systems():
    assert near(3.1637, 4) == nemenyi_distance(10, 1) / np.sqrt(110 / 6)


def test_golden_wrong_blocks_are_far_too_sure_or_useless(judge_scores):
    """The contrast: repeats are no blocks. 301 rows that all ten answered, and 5 iterations."""
    cells = defaultdict(dict)
    for row in judge_scores:
        if row["parse_status"] == "ok":
            cells[row["question_id"], row["iteration"]][row["model"]] = float(row["comprehension"])
    rows = np.array([[cell[m] for m in MODELS] for cell in cells.values() if set(MODELS) <= set(cell)]).T
    assert (10, 301) == rows.shape
    assert near(819.7, 1) == friedman(rows, np.arange(301)).chi2
    assert near(0.781, 3) == nemenyi_distance(10, 301)
    assert near(6.058, 3) == nemenyi_distance(10, 5)


# Conover (1999), Practical Nonparametric Statistics, sec. 5.8: twelve homeowners rank four grasses, 1 the
# worst; T1 = 8.0973, T2 = 3.1922, p = .0362 (R: agricolae::friedman on its data set `grass`).
GRASSES = [
    [4, 4, 3, 3, 4, 2, 1, 2, 3.5, 4, 4, 3.5],
    [3, 2, 1.5, 1, 2, 2, 3, 4, 1, 1, 2, 1],
    [2, 3, 1.5, 2, 1, 2, 2, 1, 2, 3, 3, 2],
    [1, 1, 4, 4, 3, 4, 4, 3, 3.5, 2, 1, 3.5],
]


def test_published_grasses_with_ties():
    found = friedman(GRASSES, range(12))
    assert (near(8.0973, 4), near(3.1922, 4)) == (found.chi2, found.f)
    assert near(0.03621547, 8) == found.p_f
    assert pytest.approx(5 - np.array([38, 23.5, 24.5, 34]) / 12) == found.mean_ranks


# R: friedman.test(RoundingTimes), from ?friedman.test; Hollander & Wolfe (1973), p. 140: seconds (hundredths)
# of 22 players round first base in three ways.
ROUNDING = np.concatenate(
    [
        [540, 550, 555, 585, 570, 575, 520, 560, 550, 555, 550, 540, 590, 585, 570, 545, 555, 560],
        [540, 540, 535, 545, 550, 535, 525, 515, 500, 585, 580, 570, 525, 520, 510, 565, 555, 545],
        [560, 535, 545, 505, 500, 495, 550, 550, 540, 545, 555, 550, 555, 555, 535, 545, 550, 555],
        [550, 545, 525, 565, 560, 540, 570, 565, 555, 630, 630, 625],
    ]
).reshape(22, 3)


def test_published_rounding_times():
    found = friedman(-ROUNDING.T, range(22))
    assert (near(11.143, 3), near(0.003805, 6)) == (found.chi2, found.p_chi2)


# Demšar (2006), JMLR 7, table 5 (a): critical values of the two-tailed Nemenyi test at .05.
@each_case(
    ("k", "q"),
    [
        (2, 1.960),
        (3, 2.343),
        (4, 2.569),
        (5, 2.728),
        (6, 2.850),
        (7, 2.949),
        (8, 3.031),
        (9, 3.102),
        (10, 3.164),
    ],
)
def test_published_critical_values(k, q):
    """Printed with an error of up to .001 there."""
    assert pytest.approx(q, abs=1.1e-3) == nemenyi_distance(k, 1) / np.sqrt(k * (k + 1) / 6)


def test_published_distance_of_four_systems_on_fourteen_sets():
    """Demšar (2006), the example of C4.5: 1.25 at .05."""
    assert near(1.25, 2) == nemenyi_distance(4, 14)
    assert nemenyi_distance(4, 14, level=0.9) < nemenyi_distance(4, 14)


def test_distance_is_the_quantile_of_scipy():
    q = stats.studentized_range.ppf(0.99, 7, np.inf) / np.sqrt(2)
    assert pytest.approx(q * np.sqrt(56 / 120), abs=1e-6) == nemenyi_distance(7, 20, level=0.99)


@pytest.mark.parametrize("n", [2, 3, 10, 60])
def test_studentized_range_is_that_of_scipy(n):
    q = np.array([0, 0.01, 0.5, 2, 3.5, 5, 8, 12])
    assert pytest.approx(stats.studentized_range.cdf(q, n, np.inf), abs=1e-9) == studentized_range(q, n)


blocks = st.tuples(st.integers(3, 6), st.integers(2, 15), st.integers(0, 10**6)).map(
    lambda t: np.random.default_rng(t[2]).integers(0, 6, (t[0], t[1])).astype(float)
)


@given(blocks)
def test_chi2_is_that_of_scipy(values):
    found = friedman(values, range(values.shape[1]))
    if (values == values[0]).all():
        assert found.chi2 is None
        return
    oracle = stats.friedmanchisquare(*values)
    assert pytest.approx((oracle.statistic, oracle.pvalue), abs=1e-9) == (found.chi2, found.p_chi2)


@given(blocks)
def test_f_is_that_of_an_analysis_of_variance_of_the_ranks(values):
    """Conover & Iman: two-way, blocks and systems, on the ranks inside blocks."""
    k, n = values.shape
    found = friedman(values, range(n))
    ranks = stats.rankdata(-values, axis=0)
    between = n * ((ranks.mean(axis=1) - ranks.mean()) ** 2).sum() / (k - 1)
    rest = ranks - ranks.mean(axis=1, keepdims=True) - ranks.mean(axis=0) + ranks.mean()
    within = (rest**2).sum() / ((k - 1) * (n - 1))
    if within > 1e-9:
        assert pytest.approx(between / within, abs=1e-9) == found.f
        assert pytest.approx(stats.f.sf(between / within, k - 1, (k - 1) * (n - 1)), abs=1e-9) == found.p_f
    else:
        assert found.f is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_nemenyi_is_that_of_scikit_posthocs(table):
    found = friedman(table.values, np.arange(61))
    p = scikit_posthocs.posthoc_nemenyi_friedman(np.round(table.values, 9).T).to_numpy()
    distances = np.abs(found.mean_ranks[:, None] - found.mean_ranks)
    for first, second in zip(*np.triu_indices(10, 1), strict=True):
        level = 1 - p[first, second]
        if 0.001 < level < 1 - 1e-9:
            expected = pytest.approx(distances[first, second], abs=1e-6)
            assert expected == nemenyi_distance(10, 61, level=level)
    assert ((p < 0.05) == (distances > nemenyi_distance(10, 61))).all()


def test_hand_worked_blocks():
    """Ranks 1 2 3, 1 3 2: sums 2, 5, 5; chi2 = 2 * 6 / 4 = 3, F = 3 / (4 - 3) = 3."""
    found = friedman([[9, 9], [5, 1], [1, 5]], ["a", "b"])
    assert (pytest.approx(3), pytest.approx(3)) == (found.chi2, found.f)
    assert [1, 2.5, 2.5] == list(found.mean_ranks)


def test_groups_are_averaged_before_they_are_ranked():
    """In group a the second system is ahead on average though behind in two items of three."""
    values = np.array([[2.0, 2, 0, 3], [1, 1, 9, 1]])
    found = friedman(values, ["a", "a", "a", "b"])
    assert (2, [1.5, 1.5]) == (found.n_blocks, list(found.mean_ranks))
    assert 0 == found.chi2


def test_rounding_in_the_average_is_no_rank():
    found = friedman([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]], ["a", "a", "a"])
    assert (None, None, None, None) == found[:4]
    assert [1.5, 1.5] == list(found.mean_ranks)


def test_nothing_but_ties_has_no_test():
    assert (None, None, None, None) == friedman(np.ones((3, 5)), range(5))[:4]


def test_entire_agreement_has_a_chi2_and_no_f():
    found = friedman(np.tile([[3.0], [2], [1]], 7), range(7))
    assert (14, None, None) == (found.chi2, found.f, found.p_f)


def test_by_hand_the_ranks_of_four_blocks_are_turned_round():
    """Ranks 1 2 in all four blocks: of 16 patterns 2 are as far apart; 1 2 in three of four: 10 are."""
    assert 2 / 16 == friedman([[2] * 4, [1] * 4], range(4)).p
    assert 10 / 16 == friedman([[2, 2, 2, 1], [1, 1, 1, 2]], range(4)).p


def test_systems_that_never_differ_are_ranked_as_one():
    """Of three in twelve blocks, the last better in ten, the first two the same: a sign test of 10 and 2."""
    values = np.array([[1.0] * 10 + [3] * 2, [1.0] * 10 + [3] * 2, [2.0] * 12])
    assert pytest.approx(stats.binomtest(10, 12).pvalue) == friedman(values, range(12)).p
    assert friedman(values, range(12)).p > friedman(values, range(12)).p_f


def test_half_of_the_systems_with_one_answer_are_no_difference():
    """8 equal systems of which 4 answer alike, 30 blocks: F says more in 10 % of tables, p in 5 %."""
    rng = np.random.default_rng(5)
    rejected = []
    for _ in range(150):
        values = rng.standard_normal((8, 30))
        values[:4] = values[0]
        tested = friedman(values, range(30))
        rejected.append((tested.p_f <= 0.05, tested.p <= 0.05))
    by_f, by_turns = np.mean(rejected, axis=0)
    assert by_turns <= 0.08 < by_f


def test_p_of_many_blocks_is_near_that_of_f_where_systems_are_independent():
    values = np.random.default_rng(3).standard_normal((5, 200))
    values[0] += 0.2
    tested = friedman(values, range(200))
    assert pytest.approx(tested.p_f, abs=0.02) == tested.p


def test_one_block_has_no_f():
    found = friedman([[3], [2], [1]], [0])
    assert (2, None) == (found.chi2, found.f)


def test_two_systems_are_a_sign_test_without_ties():
    """7 up, 3 down: chi2 = (7 - 3)^2 / 10, as McNemar's."""
    assert pytest.approx(1.6) == friedman([[1] * 7 + [0] * 3, [0] * 7 + [1] * 3], range(10)).chi2


@given(blocks, st.randoms(use_true_random=False))
def test_order_of_systems_and_blocks_and_the_scale_do_not_matter(values, random):
    systems, items = list(range(values.shape[0])), list(range(values.shape[1]))
    random.shuffle(systems)
    random.shuffle(items)
    a = friedman(values, range(values.shape[1]))
    b = friedman(np.exp(values[systems][:, items]), [f"case {k}" for k in items])
    assert a[:4] == b[:4]
    assert a.p == b.p
    assert list(a.mean_ranks[systems]) == list(b.mean_ranks)


def test_nan_nothing_and_misfits_are_refused():
    with pytest.raises(ValueError, match="values holds nan for system 0, item 1"):
        friedman([[1, float("nan")], [1, 2]], [0, 1])
    with pytest.raises(ValueError, match="at least 2 are needed"):
        friedman([[1, 2]], [0, 1])
    with pytest.raises(ValueError, match="values is empty"):
        friedman(np.empty((2, 0)), [])
    with pytest.raises(ValueError, match="groups has the shape"):
        friedman([[1, 2], [3, 4]], [0])
    with pytest.raises(ValueError, match="at least 2 systems"):
        nemenyi_distance(1, 10)
    with pytest.raises(ValueError, match="n_blocks must be"):
        nemenyi_distance(2, 0)
    with pytest.raises(ValueError, match="level must lie"):
        nemenyi_distance(3, 10, level=95)
    with pytest.raises(ValueError, match="n must be at least 2"):
        studentized_range(1, 1)
    with pytest.raises(ValueError, match="q must be 0 or more"):
        studentized_range([1, -1], 3)


def test_no_slow_part_of_scipy_is_imported():
    """scipy.stats takes two seconds, scipy.optimize a third of one."""
    code = (
        "import sys\n"
        "import vivavoce.stats.clustering, vivavoce.stats.correlation_systems, vivavoce.stats.bradley_terry\n"
        "from vivavoce.stats.friedman import nemenyi_distance\n"
        "nemenyi_distance(3, 10)\n"
        "print([m for m in sys.modules if m in ('scipy.stats', 'scipy.optimize', 'scipy.cluster')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]" == done.stdout.strip()
