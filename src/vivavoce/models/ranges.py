"""Ranges of the numbers that people set: in providers files, in specs, as options and in plans.

None may be infinite. Where nothing else bounds a number, the limit is one that nobody means to pass.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from vivavoce.core.errors import InputError, VivaError
from vivavoce.core.numbers import finite
from vivavoce.core.text import one_line

DAY_S = 86_400
"""Seconds that anything may wait, at most."""
TIMEOUT_TOTAL_S = 600.0
"""Seconds that one request may take in all, unless the caller says otherwise."""
Preset = Literal["paper-settings", "published"]
"""A paper's settings: temperature, tokens, order of the parts. `published` is the older name."""


class Range(NamedTuple):
    """The numbers from `low` to `high`, or `above` low; whole ones, where it says so."""

    low: int
    high: int
    integer: bool = False
    above: bool = False

    def parse(self, value: object) -> float | None:
        """The value as a number of this range; null for anything else. A whole number may end in `.0`."""
        number = finite(value)
        if number is None or not isinstance(value, int | float):
            return None
        if not self.low <= value <= self.high or (self.above and value == self.low):
            return None
        if not self.integer:
            return number
        return int(value) if number.is_integer() else None

    def __str__(self) -> str:
        kind = "a whole number" if self.integer else "a number"
        if self.above:
            return f"{kind} above {self.low:,} and at most {self.high:,}"
        return f"{kind} from {self.low:,} to {self.high:,}"


RANGES: Mapping[str, Range] = {
    "concurrency": Range(1, 10_000, integer=True),
    # With waits that double up to a minute, a hundred attempts are more than an hour and a half.
    "attempts": Range(1, 100, integer=True),
    "timeout": Range(0, DAY_S, above=True),
    "timeout_total": Range(0, DAY_S, above=True),
    "requests_per_minute": Range(1, 10**9, integer=True),
    "tokens_per_minute": Range(1, 10**12, integer=True),
    "price": Range(0, 10**9),
    "max_cost": Range(0, 10**12),
    "repeats": Range(1, 10_000, integer=True),
    "temperature": Range(0, 10),
    "top_p": Range(0, 1, above=True),
    "max_tokens": Range(1, 10**8, integer=True),
    "seed": Range(-(2**63), 2**63 - 1, integer=True),
    "shots": Range(0, 10_000, integer=True),
}
"""By setting; `price` is of a million tokens, `seed` what fits into 64 bits."""


def check_option(name: str, value: object, error: type[VivaError] = InputError) -> None:
    """Raise an `error` that names the option, where its value is out of range; null is an option left out."""
    if value is not None and RANGES[name].parse(value) is None:
        option = f"--{name.replace('_', '-')}"
        raise error(f"{option} {one_line(str(value), 60)}: {RANGES[name]} is needed.")
