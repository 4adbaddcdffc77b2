"""One event loop answers all requests of the tests in a process: each would start its own, in a thread."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient


@pytest.fixture(scope="package", autouse=True)
def _portal() -> Iterator[None]:
    with start_blocking_portal("asyncio") as portal:
        TestClient.portal = portal
        yield
    TestClient.portal = None
