"""Numbers as files and replies hold them."""

import pytest
from tests.cases import each_case

from vivavoce.core.numbers import finite


@pytest.mark.parametrize("value", [0, 5, -2, 0.25, 1e60, 10**60])
def test_a_number_is_its_float(value: float) -> None:
    assert float(value) == finite(value)
    assert isinstance(finite(value), float)


@each_case("value", [None, True, False, "5", "", [], float("nan"), float("inf"), 1e61, 10**400])
def test_what_is_no_number_is_none(value: object) -> None:
    """A whole number of 401 digits is one that JSON and YAML may hold, and no float."""
    assert finite(value) is None
