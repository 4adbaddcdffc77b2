"""Numbers as files and replies hold them, and as we print them."""

import ast
import re
from pathlib import Path

import pytest
from tests.cases import each_case

from vivavoce.cli.output import figure
from vivavoce.core import numbers as rounding
from vivavoce.core.numbers import finite, printed
from vivavoce.core.records import Criterion
from vivavoce.report.format import number as report_number
from vivavoce.report.format import percent
from vivavoce.studies.bounded import Bounded, interval_text
from vivavoce.studies.comparing.headline import Unit
from vivavoce.studies.text import number


@pytest.mark.parametrize("value", [0, 5, -2, 0.25, 1e60, 10**60])
def test_a_number_is_its_float(value: float) -> None:
    assert float(value) == finite(value)
    assert isinstance(finite(value), float)


@each_case("value", [None, True, False, "5", "", [], float("nan"), float("inf"), 1e61, 10**400])
def test_what_is_no_number_is_none(value: object) -> None:
    """A whole number of 401 digits is one that JSON and YAML may hold, and no float."""
    assert finite(value) is None


TIES = (
    *((0.0875, "0.088", "8.8"), (0.7 - 0.6125, "0.088", "8.8"), (0.0625, "0.063", "6.3")),
    *((0.1875, "0.188", "18.8"), (1.0005, "1.001", "100.1"), (0.0005, "0.001", "0.1")),
    *((-0.0875, "-0.088", "-8.8"), (-0.0625, "-0.063", "-6.3"), (0.3125, "0.313", "31.3")),
    *((0.08749, "0.087", "8.7"), (0.08751, "0.088", "8.8"), (0.0, "0.000", "0.0"), (1.0, "1.000", "100.0")),
)


@each_case(("value", "text", "in_percent"), TIES)
def test_a_tie_goes_away_from_zero_wherever_it_is_printed(value: float, text: str, in_percent: str) -> None:
    """.0875 was 0.087 in tables and 8.8 points in headlines."""
    unit = Criterion(criterion="c", low=0, high=1)
    page = text.replace("-", "−")
    assert printed(value, ".3f") == figure(value) == number(value, unit) == text
    assert report_number(value) == page
    assert printed(value, ".1%") == f"{in_percent}%"
    assert percent(value) == f"{in_percent} %"
    assert Unit(unit).figure(value) == in_percent.replace("-", "−")
    assert interval_text(Bounded(value, value, value), ".3f") == f" ({text} to {text})"


@each_case(
    ("value", "form", "text"),
    [
        (2.675, ".2f", "2.68"),
        (0.5, ".0f", "1"),
        (2.5, "+.0f", "+3"),
        (0.125, ".2g", "0.13"),
        (-0.0003, ".3f", "0.000"),
        (-0.0003, "+.2f", "+0.00"),
        (-0.0001, ".1%", "0.0%"),
        (float("inf"), ".2f", "inf"),
        (float("nan"), ".2f", "nan"),
        (1e60, ".3g", "1e+60"),
        (12_345.5, ",.0f", "12,346"),
        (7, ".1f", "7.0"),
        (500_000, ".3f", "500000.000"),
        (-5e6, ",.2f", "-5,000,000.00"),
        (1_000.0625, ".3f", "1000.063"),
    ],
)
def test_other_forms_round_alike(value: float, form: str, text: str) -> None:
    assert printed(value, form) == text


PRINTED = re.compile(r"[+,]{0,2}\.\d[f%]")
NO_ESTIMATES = {
    "p",
    "alpha",
    "row.p_adjusted",
    "row.cost",
    "sum(costs)",
    "figures[kind]",
    "float(text)",
    "value",
}
"""What is printed without it: p values, money, counts that are whole, and places in a picture."""


def test_no_study_and_no_section_prints_an_estimate_by_another_rounding() -> None:
    src = Path(rounding.__file__).parents[1]
    modules = [*(src / "studies").rglob("*.py"), *(src / "report" / "sections").rglob("*.py")]
    misses = [
        f"{module.relative_to(src)}: {ast.unparse(part)}"
        for module in modules
        for part in ast.walk(ast.parse(module.read_text()))
        if isinstance(part, ast.FormattedValue)
        and isinstance(part.format_spec, ast.JoinedStr)
        and PRINTED.fullmatch("".join(str(getattr(v, "value", "")) for v in part.format_spec.values))
        and ast.unparse(part.value) not in NO_ESTIMATES
    ]
    assert len(modules) > 100
    assert misses == []
