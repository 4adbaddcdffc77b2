"""What it costs to collect the tests: each worker of pytest-xdist collects all of them."""

import pytest
from tests.lazy import COLLECTED_MODULES, LARGE


def test_no_large_library_is_imported_while_tests_are_collected(pytestconfig: pytest.Config) -> None:
    assert set() == LARGE & pytestconfig.stash[COLLECTED_MODULES]
