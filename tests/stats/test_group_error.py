"""Errors over cases of unequal size: CR2 and Satterthwaite's degrees of freedom.

Oracles: the matrices themselves (`matrices.py`); R's clubSandwich, whose figures `clubsandwich.R` wrote to
`clubsandwich.csv` (versions in its first line) with its default target, which is rho = 0.
"""

import csv
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.matrices import by_matrices

from vivavoce.stats import cluster_mean, effective_groups, group_error, macro_mean, paired
from vivavoce.stats.group_error import GroupDesign

HERE = Path(__file__).parent


def near(expected, decimals=6):
    """Half a unit of the last printed decimal."""
    return pytest.approx(expected, abs=0.5 * 10**-decimals)


def of_sizes(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


def rows_of(name):
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@pytest.mark.parametrize(
    ("sizes", "df", "effective"),
    [
        ([5] * 12, 11.0000, 12),
        ([2] * 20 + [1] * 23, 33.0470, 34.05),
        ([8] * 10 + [1] * 40, 11.5161, 12.52),
        ([20, 10, 5, 5, 3, 2, 2, 1, 1, 1], 1.8982, 2.90),
        ([60] + [1] * 11, 1.0606, 2.06),
    ],
    ids=["fives", "twins", "eights", "falling", "giant"],
)
def test_golden_degrees_of_freedom_of_five_patterns(sizes, df, effective):
    groups = of_sizes(sizes)
    assert near(df, 4) == cluster_mean(np.arange(len(groups)), groups).df
    assert near(effective, 2) == effective_groups(groups)
    assert effective_groups(groups) == cluster_mean(np.arange(len(groups)), groups).effective_groups


def test_golden_hand_case():
    """1101 | 00 | 1 | 10111 | 0 | 1: mean 9/14; the error and df to six digits."""
    y, groups = list(map(int, "11010011011101")), of_sizes([4, 2, 1, 5, 1, 1])
    m = cluster_mean(y, groups)
    assert (near(0.642857), near(0.14044049, 8), near(2.17300821, 8)) == (m.value, m.se, m.df)
    assert near(0.01972353, 8) == m.se**2


def test_hand_worked_error_and_degrees_of_freedom():
    """1 | 3 | 2, 4, three cases: mean 2.5; sums -1.5, .5, 1 over 1 - w of 3/4, 3/4, 1/2.

    SE^2 = (2.25 / .75 + .25 / .75 + 1 / .5) / 16 = 1/3. With rho 1/2, v = 1, 1, 3, V = 5, 16 c^2 = 4/3, 4/3,
    2: 16 M has 4/3 (1 - 1/2 + 5/16) = 13/12 twice and 2 (3 - 3 + 5/4) = 5/2 on the diagonal; off it
    4/3 (-1/2 + 5/16) = -1/4 once, and sqrt(8/3) (-1/2 - 3/4 + 5/8) = -sqrt(8/3) 5/8 twice.
    """
    m = cluster_mean([1, 3, 2, 4], ["a", "b", "c", "c"])
    trace = 2 * 13 / 12 + 5 / 2
    squares = 2 * (13 / 12) ** 2 + (5 / 2) ** 2 + 2 * (1 / 16 + 2 * (8 / 3) * (25 / 64))
    assert (2.5, pytest.approx(math.sqrt(1 / 3))) == (m.value, m.se)
    assert pytest.approx(trace**2 / squares) == m.df


CLUB_SANDWICH = {row["design"]: row for row in rows_of("clubsandwich.csv")}


@pytest.mark.parametrize("name", CLUB_SANDWICH)
def test_clubsandwich_gives_the_same_variance_and_at_rho_0_the_same_df(monkeypatch, name):
    """Its df of weighted means rest on another working model, and are not in the table (`clubsandwich.R`)."""
    row = CLUB_SANDWICH[name]
    inputs = [r for r in rows_of("clubsandwich_inputs.csv") if r["design"] == name]
    y, groups, cells, weights = (
        np.array([float(r[k]) for r in inputs]) for k in ("y", "group", "cell", "weight")
    )
    monkeypatch.setattr(group_error, "RHO", 0.0)
    m = macro_mean(y, groups, categories=cells, weights=weights)
    assert (pytest.approx(float(row["value"])), pytest.approx(float(row["se"]))) == (m.value, m.se)
    assert row["df"] == "NA" or pytest.approx(float(row["df"])) == m.df
    if len(set(cells)) == 1:
        assert cluster_mean(y, groups, weights=weights)[1:] == pytest.approx(m[1:])


def test_clubsandwich_was_asked_about_13_designs():
    assert 13 == len(CLUB_SANDWICH)
    assert 11 == sum(row["df"] != "NA" for row in CLUB_SANDWICH.values())


@pytest.mark.parametrize(
    ("other", "difference", "se", "df", "p"),
    [
        ("MedGemma 27B", 0.187302, 0.086100, 32.6992, 0.036934),
        ("Claude 3.5 Sonnet", 0.090476, 0.084738, 32.6992, 0.293469),
    ],
)
def test_golden_comparisons_of_hivmedqa(items, common, other, difference, se, df, p):
    """63 questions, 42 cases of which 21 are of two questions."""
    pair = common(items("Gemini 2.5 Pro"), items(other))
    r = paired(*pair)
    assert (near(difference), near(se), near(df, 4), near(p)) == (r.difference, r.se, r.df, r.p)
    assert (63, 42, "t") == (r.n_items, r.n_groups, r.test)
    assert pytest.approx(by_matrices(*pair)) == (r.difference, r.se, r.df)


def test_golden_comparison_on_all_92_questions(hivmedqa):
    """Gemini - MedGemma on 68 cases."""
    import json

    with (hivmedqa / "questions.jsonl").open(encoding="utf-8") as lines:
        source = {q["id"]: q["derived_from"] or q["id"] for q in map(json.loads, lines)}
    marks = defaultdict(list)
    for row in rows_of(hivmedqa / "judge_scores.csv"):
        if row["supervised"] == "True" and row["parse_status"] == "ok":
            marks[row["model"], row["question_id"]].append(float(row["comprehension"]))
    names = sorted(source)
    d = [np.mean(marks["Gemini 2.5 Pro", n]) - np.mean(marks["MedGemma 27B", n]) for n in names]
    r = paired(d, [source[n] for n in names])
    assert (92, 68) == (r.n_items, r.n_groups)
    assert (near(0.157609), near(0.073371), near(50.9082, 4), near(0.036487)) == (
        r.difference,
        r.se,
        r.df,
        r.p,
    )


designs = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 2), st.floats(0.05, 20), st.floats(-5, 5)),
    min_size=2,
    max_size=30,
)


def of_rows(data, *, weighted=True, celled=True):
    g, c, w, y = map(np.array, zip(*data, strict=True))
    _, codes = np.unique(g, return_inverse=True)
    _, cells = np.unique(c if celled else 0 * c, return_inverse=True)
    return codes, cells, w if weighted else np.ones(len(w)), y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("celled", [False, True])
@given(data=designs)
def test_the_closed_form_is_that_of_the_matrices(weighted, celled, data):
    codes, cells, w, y = of_rows(data, weighted=weighted, celled=celled)
    m = macro_mean(y, codes, categories=cells, weights=w)
    alone = any(len(set(codes[cells == c])) < 2 for c in set(cells))
    assert alone == (m.se is None) == (m.df == 0)
    if alone:
        return
    expected = by_matrices(y, codes, weights=w, cells=cells)
    assert pytest.approx(expected.value, abs=1e-9) == m.value
    assert pytest.approx(expected.se, rel=1e-6, abs=1e-9) == m.se
    assert pytest.approx(min(max(expected.df, 1), codes.max()), rel=1e-6) == m.df


@given(designs)
def test_degrees_of_freedom_lie_between_1_and_the_groups_less_1(data):
    codes, _, w, y = of_rows(data)
    m = cluster_mean(y, codes, weights=w)
    assert m.df == 0 if m.n_groups == 1 else 1 <= m.df <= m.n_groups - 1


@given(st.integers(2, 40), st.integers(1, 9), st.floats(0.01, 100))
def test_groups_that_weigh_alike_have_exactly_one_less(n_groups, size, weight):
    groups = of_sizes([size] * n_groups)
    y = np.random.default_rng(n_groups).normal(size=len(groups))
    m = cluster_mean(y, groups, weights=np.full(len(groups), weight))
    assert n_groups - 1 == m.df
    # and the error is CR1: G / (G - 1) times the plain sum
    sums = np.bincount(groups, weights=y - y.mean())
    assert pytest.approx(math.sqrt(n_groups / (n_groups - 1) * sums @ sums) / len(y)) == m.se


@given(designs, st.floats(0.01, 100), st.randoms(use_true_random=False))
def test_order_labels_and_the_scale_of_weights_are_of_no_account(data, scale, random):
    codes, cells, w, y = of_rows(data)
    order = list(range(len(y)))
    random.shuffle(order)
    one = macro_mean(y, codes, categories=cells, weights=w)
    other = macro_mean(
        y[order],
        [f"case {9 - k}" for k in codes[order]],
        categories=[f"c{k}" for k in cells[order]],
        weights=scale * w[order],
    )
    assert pytest.approx(one.df, rel=1e-7) == other.df
    assert (one.se is None) == (other.se is None)
    assert one.se is None or pytest.approx(one.se, rel=1e-6, abs=1e-9) == other.se


def test_a_giant_beside_singles_is_two_effective_groups_however_large():
    """The larger the one, the nearer to 2: nothing else tells how the next giant would differ."""
    counts = [effective_groups(of_sizes([n] + [1] * 11)) for n in (1, 5, 60, 10**5)]
    assert counts == sorted(counts, reverse=True)
    assert (12, pytest.approx(2, abs=1e-3)) == (counts[0], counts[-1])
    weights = [1e15] + [1.0] * 9
    assert 1 <= effective_groups(range(10), weights=weights) <= 2.1


def by_fractions(sizes):
    """Satterthwaite's degrees of freedom of equal weights and one cell, M_gh term by term, in fractions."""
    total = sum(sizes)
    w = [Fraction(n, total) for n in sizes]
    v = [Fraction(n + n**2, 2 * total**2) for n in sizes]
    trace = squared = Fraction(0)
    for g, h in itertools.product(range(len(sizes)), repeat=2):
        m = (v[g] if g == h else 0) - w[h] * v[g] - w[g] * v[h] + w[g] * w[h] * sum(v)
        trace += m / (1 - w[g]) if g == h else 0
        squared += m**2 / (1 - w[g]) / (1 - w[h])
    return float(trace**2 / squared)


@pytest.mark.parametrize(
    "sizes",
    [
        [60] + [1] * 11,
        [10_000, 3, 1],
        [7, 7, 7, 100_000],
        [1_000_000] + [1] * 11,
        [1_000_000] + [2] * 30,
        [100_000, 90, 1, 1, 1, 1, 1],
        [50, 50, 1, 1],
        [5, 5, 5, 5],
    ],
)
def test_a_giant_group_loses_no_digit(sizes):
    """M_gg as a difference of sums near 1 kept 2 to 14 of 16 digits: df 1.0251 for 7, 7, 7 and 100,000."""
    assert pytest.approx(by_fractions(sizes), rel=2e-15, abs=0) == effective_groups(of_sizes(sizes)) - 1


def test_giants_of_several_cells_are_those_of_the_matrices():
    groups, cells = of_sizes([60, 3, 2, 50, 1, 4]), np.repeat([0, 1, 0], [65, 53, 2])
    cells[:2] = 1
    expected = by_matrices(np.zeros(len(groups)), groups, cells=cells)
    assert pytest.approx(expected.df, rel=1e-9) == macro_mean(cells, groups, categories=cells).df


def test_a_group_with_all_the_weight_that_floats_tell_has_no_error():
    m = cluster_mean([1.0, 2, 3], range(3), weights=[1e30, 1, 1])
    assert (None, 0) == (m.se, m.df)


def test_groups_across_categories_count_once():
    """12 paragraphs with a question in each of 3 categories are 12 cases, not 36."""
    groups, category = np.repeat(np.arange(12), 3), np.tile(range(3), 12)
    m = macro_mean(np.random.default_rng(1).normal(size=36), groups, categories=category)
    assert (12, 11) == (m.n_groups, m.df)


def test_groups_chosen_are_a_design_of_their_own():
    groups = of_sizes([3, 2, 1, 4])
    whole = GroupDesign.of(groups, 4, np.ones(10))
    part = whole.only(np.array([True, False, True, True]))
    assert pytest.approx(effective_groups(of_sizes([3, 1, 4])) - 1) == part.df


def test_skewness_is_that_of_the_mean_enlarged_and_turns_with_the_sign():
    """1.5 G1 / sqrt(n) of single values, G1 Fisher's with n - 1 in the spread."""
    y = np.random.default_rng(2).lognormal(size=40)
    design = GroupDesign.of(np.arange(40), 40, np.ones(40))
    d = y - y.mean()
    skew = (d**3).mean() / (d**2).mean() ** 1.5
    # the corrected sums d / n / sqrt(1 - 1/n): their cubes over the cube of the SE are skew / sqrt(n)
    expected = 1.5 * skew / math.sqrt(40) * math.sqrt(40 * 39) / 38
    assert pytest.approx(expected) == design.skewness(d)
    assert pytest.approx(-expected) == design.skewness(-d)
    assert 0 == design.skewness(np.zeros(40))
    assert 0 == GroupDesign.of(np.arange(2), 2, np.ones(2)).skewness(np.array([1.0, -1.0]))


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="one label for each row"):
        effective_groups([])
    with pytest.raises(ValueError, match="no label at position 1"):
        effective_groups(["a", None])
    with pytest.raises(ValueError, match=r"weights holds 0\.0 at position 1"):
        effective_groups([0, 1], weights=[1, 0])
    with pytest.raises(ValueError, match="weights has 1 entries"):
        effective_groups([0, 1], weights=[1])


def test_a_million_rows_in_uneven_groups_take_linear_time():
    groups = np.random.default_rng(3).zipf(1.5, 10**6) % 200_000
    assert 1 < effective_groups(groups) < len(np.unique(groups))


@pytest.mark.parametrize("scale", [1e160, 1.0, 1e-160])
def test_weights_may_stand_on_any_scale(scale):
    groups = np.repeat(np.arange(12), [1, 2] * 6)
    weights = scale * np.arange(1.0, 19.0)
    expected = effective_groups(groups, weights=np.arange(1.0, 19.0))
    assert pytest.approx(expected) == effective_groups(groups, weights=weights)
