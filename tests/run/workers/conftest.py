"""Two workers that the tests of this folder share, and two that have imported torch."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.run.workers.patient_pool import PatientPool


@pytest.fixture(scope="session")
def pool() -> Iterator[PatientPool]:
    pool = PatientPool(2)
    yield pool
    pool.end_workers()


@pytest.fixture
def torch_pool(fork_server: Any) -> Iterator[PatientPool]:
    with fork_server():
        pool = PatientPool(2)
        yield pool
        pool.end_workers()
