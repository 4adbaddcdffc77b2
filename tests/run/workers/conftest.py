"""Two workers that the tests of this folder share."""

from collections.abc import Iterator

import pytest
from tests.run.workers.patient_pool import PatientPool


@pytest.fixture
def pool() -> Iterator[PatientPool]:
    pool = PatientPool(2)
    yield pool
    pool.end_workers()
