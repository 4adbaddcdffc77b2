"""Numbers in other people's files and replies."""

import math


def finite(value: object) -> float | None:
    """A number as a float; null for a truth value, NaN, infinity, or a whole number that no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
