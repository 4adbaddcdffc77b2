"""The worst cells of bench/coverage.py: simulated benchmarks whose truth is known, with fewer draws.

A rate may miss its goal by two Monte-Carlo errors; draws are seeded, so a figure changes only with the code.
"""

import importlib.util
import sys

import numpy as np
import pytest
from tests.lengths import length

from vivavoce import stats
from vivavoce.studies.comparing.compare import compare

pytestmark = pytest.mark.slow

DRAWS = length(200, 4_000)
PAIRS = length(150, 2_000)
FAMILIES = length(50, 1_000)


@pytest.fixture(scope="module")
def bench(root):
    """The modules of the bench, by name."""
    modules = {}
    for name in ("cells", "rates", "pooled", "studies", ""):
        file = f"coverage_{name}" if name else "coverage"
        # Not as `coverage`: a package of that name measures coverage of tests.
        spec = importlib.util.spec_from_file_location(
            file if name else "bench_coverage", root / "bench" / f"{file}.py"
        )
        modules[file] = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[file])
    yield modules
    for module in modules.values():
        del sys.modules[module.__name__]


@pytest.fixture(autouse=True)
def few_flips(bench, monkeypatch):
    """Sign flips rest on 999 draws, and only in these tests."""
    for function in (stats.sign_flips, stats.pooled_swaps):
        monkeypatch.setattr(sys.modules[function.__module__], function.__name__, function)
    bench["coverage_rates"].draw_few_flips()


@pytest.fixture
def figures(bench):
    """`figures(block, scale, sizes, n, draws)`: the rates of one cell."""

    def of(block, scale, sizes, n, draws):
        cell = bench["coverage_cells"].Cell(scale, sizes, n)
        return bench["coverage"].BLOCKS[block].figures(cell, draws)

    return of


@pytest.fixture
def meets(bench):
    """Whether a rate meets a goal, but for two Monte-Carlo errors."""
    return lambda rate, **goal: rate.n > 0 and rate.miss(bench["coverage_rates"].Goal(**goal)) != "!"


# the simulation itself


def test_every_scale_has_the_mean_that_it_states(bench):
    cells = bench["coverage_cells"]
    for name, scale in cells.SCALES.items():
        cell = cells.Cell(name, "single", 500)
        scores = cells.draw(cell, 400, 1, cell.rng("means")).scores.mean(axis=(1, 2))
        assert abs(scores.mean() - scale.mean) < 4 * scores.std() / np.sqrt(len(scores)), name
        if scale.high is not None:
            assert scale.low <= scores.min() <= scores.max() <= scale.high


def test_items_of_a_case_resemble_each_other_and_so_do_differences(bench):
    cells = bench["coverage_cells"]
    cell = cells.Cell("grades 0-5", "twins", 200)
    scores, cases = cells.draw(cell, 500, 2, cell.rng("twins"))
    assert (cases[:, ::2] == cases[:, 1::2]).all()
    differences = scores[:, 0] - scores[:, 1]
    for values, least in ((scores[:, 0], 0.5), (differences, 0.4)):
        first, second = values[:, ::2].ravel(), values[:, 1::2].ravel()
        assert least < np.corrcoef(first, second)[0, 1] < 0.7


@pytest.mark.parametrize("sizes", ["fives", "cv .5", "cv .95", "cv 1.4", "Pareto"])
def test_cases_are_numbered_from_0_and_end_with_the_items(bench, sizes):
    cells = bench["coverage_cells"]
    cases = cells.draw_cases(sizes, 50, 200, np.random.default_rng(5))
    assert (cases[:, 0] == 0).all()
    assert set(np.diff(cases, axis=1).ravel().tolist()) <= {0, 1}
    if sizes == "fives":
        assert (cases == np.arange(50) // 5).all()


@pytest.mark.parametrize(
    ("sizes", "n"), length([("single", 20)], [("single", 20), ("cv .95", 150), ("Pareto", 60)])
)
def test_a_pair_is_judged_as_compare_judges_it(bench, sizes, n):
    """The blocks skip the tables of `compare`: its verdict on the same scores must be theirs."""
    cells, rates, studies = (bench[f"coverage_{name}"] for name in ("cells", "rates", "studies"))
    cell, codes = cells.Cell("grades 0-5", sizes, n), set()
    for shift in (0.0, 0.7):
        scores, cases = cells.draw(cell, 12, 3, cell.rng("compare"), shift=shift)
        for y, of_item in zip(scores, cases, strict=True):
            measures = {1: studies.of_scale("grades 0-5")}
            names = np.full(n, "")
            table = studies.score_table(of_item, measures, [studies.Scores(1, names, y[:, None, :])])
            (row,) = compare(table.scores, table.measures, ["A", "B"]).rows
            (pair,) = bench["coverage"].tested_pairs(y[:1] - y[1:2], of_item[None])
            assert row["verdict_code"] == rates.code_of(pair, pair.p)
            assert row["p"] == pytest.approx(pair.p)
            codes.add(row["verdict_code"])
    assert len(codes) > 1


# intervals


@pytest.mark.parametrize(
    ("scale", "sizes", "n"),
    [
        ("yes/no .9", "cv .95", 100),
        ("yes/no .97", "twins", 50),
        ("grades 0-5", "cv 1.4", 200),
        ("grades 0-5", "Pareto", 100),
        ("F1, zeros .4", "cv .95", 100),
        ("lognormal", "single", 20),
        ("lognormal", "fives", 100),
        ("lognormal", "cv .5", 200),
    ],
)
def test_the_interval_of_a_mean_covers_93_percent(figures, meets, scale, sizes, n):
    assert meets(figures("estimates", scale, sizes, n, DRAWS)["coverage"], least=93)


@pytest.mark.parametrize(
    ("scale", "sizes", "n"),
    [("grades 0-5", "Pareto", 200), ("yes/no .5", "cv 1.4", 200), ("lognormal", "single", 50)],
)
def test_equal_candidates_are_told_apart_in_at_most_6_percent(figures, meets, scale, sizes, n):
    result = figures("pairs", scale, sizes, n, PAIRS)
    assert meets(result["false better"], most=6)
    assert meets(result["coverage"], least=93)


FAMILY = [("grades 0-5", "cv .95"), ("yes/no .5", "twins"), ("F1, zeros .4", "cv 1.4")]


@pytest.mark.parametrize(("scale", "sizes"), length(FAMILY[:1], FAMILY))
def test_six_equal_candidates_are_told_apart_in_at_most_6_percent(figures, meets, scale, sizes):
    result = figures("families", scale, sizes, 200, FAMILIES)
    assert meets(result["false better, all pairs"], most=6)
    assert meets(result["false better, against one"], most=6)
    assert meets(result["false pair in ranking"], most=7)


@pytest.mark.parametrize("sizes", ["cv 1.4", "cv .5"])
def test_very_uneven_cases_are_not_too_few_and_not_told_apart_falsely(figures, meets, sizes):
    result = figures("pairs", "grades 0-5", sizes, 100, 300)
    assert result["too few"].percent < 50
    assert meets(result["false better"], most=6)
    assert meets(result["coverage"], least=93)


POOLED = [("perplexity, lengths cv 1.3", 100), ("corpus BLEU, lengths cv .5", 40)]


@pytest.mark.parametrize(("scale", "n"), length(POOLED[:1], POOLED))
def test_a_pooled_figure_of_skewed_lengths_is_covered_93_percent(figures, meets, scale, n):
    assert meets(figures("pooled", scale, "fives", n, PAIRS)["coverage"], least=93)


@pytest.mark.parametrize("scale", ["grades 0-5", "yes/no .9"])
def test_a_difference_as_large_as_the_mde_is_found_four_times_in_five(figures, meets, scale):
    found = figures("power", scale, "twins", 100, PAIRS)["found"]
    assert meets(found, least=77)
    assert meets(found, most=88)


# the bench says what it saw


def test_a_rate_misses_its_goal_only_beyond_two_monte_carlo_errors(bench):
    rates = bench["coverage_rates"]
    goal = rates.Goal(most=6)
    assert ["", "?", "!"] == [rates.Rate(hits, 1_000).miss(goal) for hits in (60, 70, 90)]
    assert "" == rates.Rate(0, 0).miss(goal)


def test_an_entry_marks_a_miss_and_says_the_share_of_too_few(bench):
    coverage, rates = bench["coverage"], bench["coverage_rates"]
    goals = {"coverage": rates.Goal(least=93)}
    few = {"too few": rates.Rate(250, 1_000)}
    assert "**90.0** (25)" == coverage.entry({"coverage": rates.Rate(900, 1_000), **few}, goals)
    assert "95.0 (25)" == coverage.entry({"coverage": rates.Rate(950, 1_000), **few}, goals)
    assert "– (25)" == coverage.entry({"coverage": rates.Rate(9, 10), **few}, goals)
