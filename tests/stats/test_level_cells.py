"""Two cells of bench/levels.py with fewer draws: eight exams keep 5 %, and four say that they are few."""

import pytest
from tests.lengths import length
from tests.tools.loading import bench_module

pytestmark = pytest.mark.slow
DRAWS = length(200, 2_000)


@pytest.fixture(scope="module")
def levels():
    with bench_module("levels") as module:
        yield module


def test_with_eight_exams_declared_equal_candidates_are_rarely_told_apart(levels):
    rates = levels.rates(levels.Cell(8, 5, "exam, source"), DRAWS)
    assert rates.told_apart <= 5 + 200 * (0.05 * 0.95 / DRAWS) ** 0.5
    assert rates.told_apart < levels.rates(levels.Cell(8, 5, "source"), DRAWS).told_apart
    assert levels.Cell(8, 5, "exam, source").scope == ""


def test_four_exams_tell_equal_candidates_apart_and_say_that_they_are_these_four(levels):
    cell = levels.Cell(4, 10, "exam, source")
    rates = levels.rates(cell, DRAWS)
    assert rates.told_apart > 10
    assert rates.these_missed <= 5 + 200 * (0.05 * 0.95 / DRAWS) ** 0.5
    assert cell.scope == "Holds for these 4 exams, not for other exams."
    assert levels.Cell(4, 10, "source").scope == ""
