"""A plot in characters says what its numbers say, whatever they are, and fits."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from vivavoce.cli.forest_plot import HOLLOW, PlotRow, forest_plot


def plot(*rows: PlotRow, width: int = 60, zero: bool = False, most: int = 40) -> list[str]:
    return forest_plot(rows, width, write="{:g}".format, zero=zero, most=most)


def test_a_value_lies_between_its_ends_and_the_axis_has_the_outermost_figures() -> None:
    first, second, axis = plot(PlotRow("A", 0.5, 0.25, 1.0), PlotRow("Long", 0.0, 0.0, 0.25))
    assert first.index("├") < first.index("●") < first.index("┤") == 59
    assert "●" == second[6]
    assert ["0", "1"] == axis.split()
    assert 60 == len(axis)


def test_the_lines_of_zero_stand_in_one_column_and_an_interval_that_holds_it_crosses() -> None:
    positive, crossing, axis = plot(PlotRow("A", 2, 1, 3), PlotRow("B", 0.5, -1, 1), zero=True)
    assert positive.index("│") == crossing.index("┼") == axis.index("0")


def test_a_row_without_a_value_is_said_and_not_drawn() -> None:
    for value in (None, nan, inf):
        _, line, _ = plot(PlotRow("A", 0.5, 0.2, 0.8), PlotRow("B", value, 0.0, 0.4))
        assert ["B", "no", "result"] == line.split()


def test_a_value_without_an_interval_is_a_point() -> None:
    for limit in (None, nan):
        line, _ = plot(PlotRow("A", 0.5, limit, limit))
        assert ["A", "●"] == line.split()


def test_an_end_without_limit_points_on() -> None:
    line, _, _ = plot(PlotRow("A", 0.5, -inf, inf), PlotRow("B", 0.7, 0.1, 0.9))
    assert ("<", ">") == (line.split()[1][0], line[-1])


def test_equal_values_and_one_row_have_an_axis_around_them() -> None:
    for rows in ([PlotRow("A", 0.0)], [PlotRow("A", 5), PlotRow("B", 5)]):
        *lines, axis = plot(*rows)
        assert 1 == len({line.index("●") for line in lines})
        low, high = map(float, axis.split())
        assert low < rows[0].value < high  # type: ignore[operator]


def test_there_is_no_plot_of_nothing_nor_on_a_narrow_terminal_nor_beside_names_of_half_its_width() -> None:
    row = PlotRow("A", 0.5, 0.2, 0.8)
    assert [] == plot() == plot(PlotRow("A", None)) == plot(row, width=49)
    assert [] == plot(row._replace(name="x" * 31))
    assert plot(row, width=50)


def test_a_row_may_have_a_mark_of_its_own() -> None:
    line, _ = plot(PlotRow("A", 0.5, 0, 1, HOLLOW))
    assert (1, 0) == (line.count("○"), line.count("●"))


def test_rows_beyond_the_most_are_counted() -> None:
    lines = plot(*[PlotRow(f"m{k}", k) for k in range(100)], most=10)
    assert 12 == len(lines)
    assert "… and 90 more in the table" == lines[-1]


def test_names_in_wide_letters_and_emoji_leave_the_columns_straight() -> None:
    lines = plot(PlotRow("北京大学", 1, 0, 2), PlotRow("🩺", 1, 0, 2), PlotRow("A", 1, 0, 2))
    assert 1 == len({cell_len(line[: line.index("├")]) for line in lines[:-1]})


numbers = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, 1e308, -1e308, 5e-324]))


@given(
    st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=5),
    st.integers(50, 140),
    st.booleans(),
)
def test_any_numbers_fit_the_width(values: list[tuple[float | None, ...]], width: int, zero: bool) -> None:
    lines = plot(*[PlotRow(f"m{k}", *row) for k, row in enumerate(values)], width=width, zero=zero)
    assert width >= max(map(len, lines[: len(values)]), default=0)


@pytest.mark.parametrize("width", [50, 80, 140])
def test_the_highest_end_is_at_the_edge(width: int) -> None:
    line, _ = plot(PlotRow("A", 0.5, 0, 1), width=width)
    assert width == len(line)
