"""Bounded figures: what is not known stays null, and missing scores widen and never narrow."""

from math import nan

import polars as pl
import pytest

from vivavoce import stats
from vivavoce.studies.bounded import NOTHING, Bounded, Filled, interval_text, outermost, reasons
from vivavoce.studies.item_means import ItemMeans


@pytest.mark.parametrize(
    ("figure", "negative"),
    [
        (Bounded(1.0, 0.5, 2.0), Bounded(-1.0, -2.0, -0.5)),
        (Bounded(1.0, 0.5, None), Bounded(-1.0, None, -0.5)),
        (Bounded(), Bounded()),
    ],
)
def test_a_figure_turned_has_its_ends_changed_over(figure: Bounded, negative: Bounded) -> None:
    assert negative == -figure
    assert figure == -negative


def test_no_difference_is_wider_than_the_range() -> None:
    assert Bounded(0.5, -1.0, 1.0) == Bounded(0.5, -1.2, 1.3).clip(1.0)
    assert Bounded(0.5, None, 1.0) == Bounded(0.5, None, 1.3).clip(1.0)
    assert Bounded(0.5, -1.2, 1.3) == Bounded(0.5, -1.2, 1.3).clip(None)
    assert (-1.0, 1.0) == tuple(f.value for f in Filled(Bounded(), Bounded(-1.1), Bounded(1.1)).clip(1.0)[1:])


@pytest.mark.parametrize(
    ("low", "high", "holds"),
    [(-1.0, 1.0, True), (0.0, 1.0, True), (0.1, 1.0, False), (None, 1.0, False), (-1.0, None, False)],
)
def test_zero_lies_in_an_interval_of_two_ends(low: float | None, high: float | None, holds: bool) -> None:
    assert holds is Bounded(0.5, low, high).holds_zero


def test_a_figure_of_nothing_is_null_in_every_column() -> None:
    assert Bounded() == Bounded.from_figure(None)
    assert Bounded(0.5) == Bounded.from_ends(0.5, None)
    names = ["value", "low", "high", "set_low", "set_high", "bound_low", "bound_high"]
    assert dict.fromkeys(names) == NOTHING.columns()
    assert not NOTHING.is_bounded


def test_a_figure_of_which_nothing_is_missing_is_its_own_bound() -> None:
    columns = Filled.complete(Bounded(0.5, 0.4, 0.6)).columns("mean")
    assert columns == {
        "mean": 0.5, "low": 0.4, "high": 0.6,
        "set_low": 0.5, "set_high": 0.5, "bound_low": 0.4, "bound_high": 0.6,
    }  # fmt: skip


def test_missing_scores_never_narrow_an_interval() -> None:
    observed = Bounded(0.5, 0.3, 0.7)
    filled = Filled.from_bounds(observed, stats.Bounds(0.45, 0.55, 0.4, 0.6))
    assert {"set_low": 0.45, "set_high": 0.55, "bound_low": 0.3, "bound_high": 0.7} == filled.bound_columns()
    # Without a limit there is no bound, however wide the interval of what was observed.
    unbounded = Filled.from_bounds(observed, stats.Bounds(None, 0.55, None, 0.6))
    assert {
        "set_low": None,
        "set_high": 0.55,
        "bound_low": None,
        "bound_high": 0.7,
    } == unbounded.bound_columns()
    assert filled.is_bounded
    assert not unbounded.is_bounded


def test_the_outermost_of_figures_has_an_end_where_all_have_one() -> None:
    figures = [Bounded(0.5, 0.4, 0.6), Bounded(0.2, None, 0.3), Bounded(0.9, 0.7, 1.0)]
    assert stats.Bounds(0.2, 0.9, None, 1.0) == outermost(figures)
    assert stats.Bounds(0.5, 0.5, 0.4, 0.6) == outermost(figures[:1])


def test_a_reason_is_given_once_and_null_is_none() -> None:
    assert reasons("few cases", None, "a limit", "few cases") == "few cases; a limit"
    assert reasons(None, "") is None


def test_half_an_interval_is_no_text() -> None:
    assert interval_text(Bounded(0.5, 0.25, 0.75)) == " (0.25 to 0.75)"
    assert interval_text(Bounded(0.5, 0.25, 0.75), "+.1f") == " (+0.3 to +0.8)"
    assert not interval_text(Bounded(0.5, 0.25, None))


def items(**columns: list[float | None]) -> ItemMeans:
    n = len(columns["observed"])
    place = {"benchmark": ["b"] * n, "item": list(map(str, range(n))), "variant": [""] * n}
    floats = {name: pl.Series(values, dtype=pl.Float64) for name, values in columns.items()}
    return ItemMeans(pl.DataFrame({**place, "group": list(range(n)), **floats}))


def test_item_means_leave_out_what_was_not_observed() -> None:
    means = items(observed=[0.0, None, 1.0], low=[0.0, 0.0, 1.0], high=[0.0, 1.0, 1.0])
    assert means.observed["item"].to_list() == ["0", "2"]
    assert means.arrays().values.tolist() == [0.0, 1.0]
    assert means.arrays("high").values.tolist() == [0.0, 1.0, 1.0]
    bounds = means.bounds(0.0, 1.0)
    assert (1 / 3, 2 / 3) == (pytest.approx(bounds.set_low), pytest.approx(bounds.set_high))


def test_a_side_without_a_limit_has_no_bound_and_nothing_has_none() -> None:
    means = items(observed=[0.0, None], low=[0.0, nan], high=[0.0, 1.0])
    assert (False, True) == (means.has_end("low"), means.has_end("high"))
    bounds = means.bounds(None, 1.0)
    assert (None, 0.5) == (bounds.set_low, bounds.set_high)
    empty = ItemMeans(means.items.clear())
    assert stats.Bounds(None, None, None, None) == empty.bounds(0.0, 1.0)


def test_one_case_has_bounds_of_its_value_and_none_with_sampling_error() -> None:
    bounds = items(observed=[None], low=[0.0], high=[1.0]).bounds(0.0, 1.0)
    assert stats.Bounds(0.0, 1.0, None, None) == bounds


def test_differences_are_lowest_where_the_first_is_low_and_the_second_high() -> None:
    first = items(observed=[1.0, None], low=[1.0, 0.0], high=[1.0, 1.0]).items
    second = items(observed=[0.0, 0.5], low=[0.0, 0.5], high=[0.0, 0.5]).items
    joined = first.join(second, on=["benchmark", "item", "variant", "group"], suffix="_2")
    table = ItemMeans.differences(joined).items.select("observed", "low", "high")
    assert table.rows() == [(1.0, 1.0, 1.0), (None, -0.5, 0.5)]
