"""Numbers in other people's files and replies, and the one rounding of those that we print."""

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


TIE = 1e-9
"""How near to a tie, as a share of itself, a number is taken for one: a float holds .0875 as .087499999…."""


def printed(value: float | None, form: str = ".2f") -> str:
    """A number in a format of Python, such as `.3f`, `+.2f` or `.1%`, halves away from zero; a dash for none.

    What rounds to zero has no minus sign. `format` alone rounds what the float holds: .0875 becomes 0.087,
    and 8.75, the same in percent, 8.8.
    """
    if value is None:
        return "–"
    # of large numbers 1e-9 are digits that a fixed form prints: 500000 must not become 500000.001
    nudge = TIE * (value if form[-1] in "eg" else max(-1e3, min(1e3, value)))
    sign, form = (form[0], form[1:]) if form[0] in "+-" else ("", form)
    return format(value + nudge, f"{sign}z{form}")
