"""Figures by group: coefficients worked by hand, and one way for every study that gives one."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from tests.studies.judging import JUDGE, OTHER, card, each, judged
from tests.studies.making import row

from vivavoce import stats
from vivavoce.run.tables.load import load_scores
from vivavoce.stats import LEAST_GROUPS
from vivavoce.store.view import with_view
from vivavoce.studies.comparing.diff import diff
from vivavoce.studies.intervals import Estimate, by_coefficient, mean_excess, minus

# Of twelve cases five have 1 from both, four 0 from both, three 1 from the first and 0 from the second.
FIRST, SECOND = [1] * 5 + [0] * 4 + [1] * 3, [1] * 5 + [0] * 7
TWO = np.array([FIRST, SECOND], dtype=np.float64).T
CASES = np.arange(12)


def test_coefficients_worked_by_hand() -> None:
    alpha = by_coefficient("alpha_nominal", TWO, CASES)
    assert pytest.approx(1 - (3 / 12) / (2 * 13 * 11 / (24 * 23))) == alpha.value
    assert (12, 12, None) == (alpha.n_units, alpha.n_groups, alpha.reason)
    assert 0.75 == by_coefficient("percent", TWO, CASES).value


def test_a_share_has_a_plain_interval_and_a_coefficient_one_on_fishers_scale() -> None:
    for name in get_args(stats.AgreementCoefficient):
        found = by_coefficient(name, TWO, CASES)
        below, above = found.value - found.low, found.high - found.value
        assert below != pytest.approx(above), name
        assert found.low >= -1, name
        assert found.high <= 1, name


def test_a_missing_mark_is_read_by_nothing() -> None:
    three = np.column_stack([TWO, np.full(12, 99.0)])
    missing = np.column_stack([np.zeros((12, 2), dtype=bool), np.ones(12, dtype=bool)])
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "percent"):
        assert by_coefficient(name, three, CASES, missing) == by_coefficient(name, TWO, CASES), name


def test_the_kinds_of_marks_stay_those_of_the_whole_table() -> None:
    """Only one case has a 2; without it there would be two kinds, and another AC1."""
    values = np.vstack([TWO[:11], [[2.0, 1.0]]])
    kinds = np.array([0.0, 1.0, 2.0])
    left = [stats.gwet_ac1(np.delete(values, k, axis=0), categories=kinds).value for k in range(12)]
    whole = stats.gwet_ac1(values, categories=kinds).value

    def recomputed(at: np.ndarray) -> float | None:  # type: ignore[type-arg]
        return whole if len(at) == 12 else left[int(next(iter({*range(12)} - {*at.tolist()})))]

    expected = stats.by_group_jackknife(recomputed, CASES, scale="z")
    found = by_coefficient("ac1", values, CASES)
    assert pytest.approx((expected.value, expected.se)) == (found.value, found.se)


def test_scores_equal_to_the_ninth_digit_are_one_label() -> None:
    """0.3 and 0.1 + 0.2 from two raters: AC1 once took them for a label named twice, and stopped."""
    values = np.array([[0.3, 0.1 + 0.2], [0.5, 0.3]] * 6)
    exact = np.array([[0.3, 0.3], [0.5, 0.3]] * 6)
    assert by_coefficient("ac1", exact, CASES) == by_coefficient("ac1", values, CASES)


def test_a_difference_of_two_agreements_leaves_the_same_case_out_of_both() -> None:
    """Against the slow form: the difference computed anew without each case, on a plain scale."""
    less = np.array([FIRST, FIRST[::-1]], dtype=np.float64).T

    def difference(at: np.ndarray) -> float | None:  # type: ignore[type-arg]
        return minus(
            *(stats.krippendorff_alpha(ratings[at], "ordinal").value for ratings in (TWO, less)),
        )

    expected = stats.by_group_jackknife(difference, CASES, scale="raw")
    found = by_coefficient("alpha_ordinal", TWO, CASES, less=less)
    assert pytest.approx((expected.value, expected.se)) == (found.value, found.se)
    assert found.low <= expected.low <= expected.high <= found.high


def test_below_the_least_number_of_cases_there_is_a_reason() -> None:
    few = LEAST_GROUPS - 1
    found = by_coefficient("percent", TWO[:few], CASES[:few])
    assert Estimate(n_units=few, n_groups=few, reason="9 cases: too few to tell") == found
    assert by_coefficient("percent", TWO[: few + 1], CASES[: few + 1]).value is not None


def test_two_passes_two_judges_and_two_versions_of_the_same_marks_agree_alike(tmp_path: Path) -> None:
    """Agreement, the examiner's card and diff give one figure with one interval."""
    passes = [(*line, None, n) for n, own in ((1, FIRST), (2, SECOND)) for line in each(own)]
    again = judged(tmp_path / "passes", {JUDGE: passes}).study("agreement")["agreement"]
    both = judged(tmp_path / "judges", {JUDGE: each(FIRST), OTHER: each(SECOND)})
    one, other = (m.signature for m in both.measures)
    versions = diff(with_view(both.file, load_scores), one, other)
    for name in ("alpha_nominal", "alpha_ordinal", "alpha_interval", "percent"):
        expected = by_coefficient(name, TWO, CASES)
        for found in (
            row(again, contrast="passes", coefficient=name),
            row(card(both), part="judges", candidate="", figure=name),
            next(r for r in versions.rows if r["part"] == "agreement" and r["coefficient"] == name),
        ):
            told = tuple(found[k] for k in ("value", "low", "high"))
            assert pytest.approx((expected.value, expected.low, expected.high)) == told, name


def test_what_is_null_has_no_difference() -> None:
    assert (None, None, 0.5) == (minus(None, 1.0), minus(1.0, None), minus(1.0, 0.5))
    values, own = np.array([3.0, 1.0, 2.0]), np.array([True, False, False])
    assert 1.5 == mean_excess(values, own)
    assert (None, None) == (mean_excess(values, own & False), mean_excess(values, own | True))
