"""Numbers in other people's files and replies."""

LARGEST = 1e60
"""No measurement is larger. Statistics take fourth powers, which a float holds up to 1e308."""


def finite(value: object) -> float | None:
    """A number as a float; null for a truth value, NaN, and what is larger than `LARGEST`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if abs(number) <= LARGEST else None  # false for NaN
