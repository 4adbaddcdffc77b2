"""Lengths of the long tests: `make test` takes the first, `make test-long` the second, same seeds."""

import os
from typing import TypeVar

T = TypeVar("T")
LONG = os.environ.get("VIVA_TEST_LONG") == "1"


def length(gate: T, long: T) -> T:
    """`gate` in the gate, `long` in `make test-long`."""
    return long if LONG else gate
