"""The pytest plugin: the fixture `assert_not_worse`, for a gate among a team's own tests.

Loaded at the start of every pytest run where vivavoce is installed, so it imports nothing until it is used.
"""

from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def assert_not_worse() -> Callable[..., None]:
    """`vivavoce.testing.assert_not_worse`: fails unless a new candidate is shown to be not worse."""
    from vivavoce.testing import gate

    return gate.assert_not_worse
