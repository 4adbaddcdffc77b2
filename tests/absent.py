"""What a test needs and this machine lacks: a reason to skip for a user, a failure in the gate."""

import os
from typing import NoReturn

import pytest


def absent(what: str) -> NoReturn:
    """End the test: where real data are required, a check that is skipped is none."""
    if os.environ.get("VIVA_REQUIRE_SHARED") == "1":
        pytest.fail(what)
    pytest.skip(what)
