"""How a report writes figures, lists and rules: one way for the page, its charts and its texts."""

import math
import re
from collections.abc import Mapping

from vivavoce.core.numbers import printed
from vivavoce.core.records import IfUnanswered

MANY, HUGE = 1_000, 100_000
_PLUS = re.compile(r"e\+0*")
SILENCE: Mapping[IfUnanswered, str] = {
    "worst": "counts as the worst score",
    "set_aside": "is set aside",
    "correct": "counts as right",
}
"""How a non-response counts, by the criterion's rule."""


def number(value: float | None, form: str = ".3f") -> str:
    """A figure with a minus sign that is one; a dash where there is none.

    From a thousand on without decimals, from a hundred thousand on as three digits and a power: `2.31e11`.
    """
    if value is None:
        return "–"
    if form.endswith("f") and MANY <= abs(value) < math.inf:
        sign = "+" if form.startswith("+") else ""
        form = f"{sign}.3g" if abs(value) >= HUGE else f"{sign},.0f"
    return _PLUS.sub("e", printed(value, form)).replace("-", "−")


def interval(low: float | None, high: float | None) -> str:
    """`0.500 to 0.700`; one dash where an end is missing."""
    return "–" if low is None or high is None else f"{number(low)} to {number(high)}"


def p_value(value: float | None) -> str:
    """A p value; a small one is never 0."""
    if value is None:
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def percent(value: float | None) -> str:
    """A share of 1 in percent; a dash where there is none."""
    return "–" if value is None else f"{printed(100 * value, '.1f')} %"


def ranks(places: str) -> str:
    """Places as they are printed: `1–3` for `1-3`."""
    return places.replace("-", "–")
