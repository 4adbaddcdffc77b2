"""A reply that came is paid for, whether or not it can be used: its error carries the tokens that it took."""

from collections.abc import Iterator
from contextlib import contextmanager

from vivavoce.models.requests import FatalError, RejectedError, RetryableError, Usage

UNCOUNTED = Usage()
"""The usage of a reply that states none: the engine charges an estimate for it."""


@contextmanager
def charged(usage: Usage = UNCOUNTED) -> Iterator[None]:
    """Put `usage` on the errors of this block, which reads a reply that came."""
    try:
        yield
    except (RetryableError, RejectedError, FatalError) as error:
        error.usage = usage
        raise
