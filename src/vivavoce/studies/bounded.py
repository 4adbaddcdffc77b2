"""A figure with its interval, and with what missing scores could make of both; what is not known is null.

Studies trade these, and ask no end whether it is there: a null stays null, half an interval keeps its half,
and an order of null and a number is none.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from vivavoce import stats
from vivavoce.core.numbers import printed


class Ends(Protocol):
    """Anything with an interval."""

    @property
    def low(self) -> float | None:
        """The lower end."""

    @property
    def high(self) -> float | None:
        """The upper end."""


class Figure(Ends, Protocol):
    """Anything with a value and an interval, such as an estimate of the statistics."""

    @property
    def value(self) -> float | None:
        """The value."""


class Explained(Figure, Protocol):
    """A row with a value and an interval, or why it has none."""

    @property
    def reason(self) -> str | None:
        """Why something of it is null."""


class Bounded(NamedTuple):
    """A value and the ends of its interval, each null where it is not known."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def from_figure(cls, figure: Figure | None) -> "Bounded":
        """The value and interval of a figure; of none, nothing."""
        return cls() if figure is None else cls(figure.value, figure.low, figure.high)

    @classmethod
    def from_ends(cls, value: float | None, ends: Ends | None) -> "Bounded":
        """A value with an interval that may be none."""
        return cls(value) if ends is None else cls(value, ends.low, ends.high)

    def __neg__(self) -> "Bounded":
        value, low, high = (None if x is None else -x for x in self)
        return Bounded(value, high, low)

    def clip(self, width: float | None) -> "Bounded":
        """The interval cut to -width to width: no difference is wider than the range of a scale."""
        if width is None:
            return self
        return Bounded(self.value, _outer(max, self.low, -width), _outer(min, self.high, width))

    @property
    def holds_zero(self) -> bool:
        """Whether there is an interval, and 0 lies in it."""
        return self.low is not None and self.high is not None and self.low <= 0 <= self.high

    def text(self, form: str = ".2f") -> str:
        """The value with its interval, for a sentence."""
        return f"{printed(self.value, form)}{ends_text(self.low, self.high, form)}"

    def ends(self, ending: str = "") -> dict[str, Any]:
        """The columns `low` and `high` of a row, with this ending."""
        return {f"low{ending}": self.low, f"high{ending}": self.high}

    def columns(self, value: str = "value", ending: str = "") -> dict[str, Any]:
        """The columns of a row: `value`, `low` and `high`, each with this ending."""
        return {f"{value}{ending}": self.value} | self.ends(ending)


class Filled(NamedTuple):
    """A figure as observed, and with the missing scores at their lowest and at their highest.

    Where nothing is missing all three are one. What nothing bounds is null.
    """

    observed: Bounded = Bounded()
    lowest: Bounded = Bounded()
    highest: Bounded = Bounded()

    @classmethod
    def complete(cls, figure: Bounded) -> "Filled":
        """A figure of which nothing is missing."""
        return cls(figure, figure, figure)

    @classmethod
    def from_bounds(cls, observed: Bounded, bounds: stats.Bounds) -> "Filled":
        """A figure with these bounds, of which the wider end is taken: missing scores never narrow it."""
        # Bounds use t, an estimate Wilson: either may reach farther.
        return cls(
            observed,
            Bounded(bounds.set_low, _outer(min, bounds.bound_low, observed.low)),
            Bounded(bounds.set_high, high=_outer(max, bounds.bound_high, observed.high)),
        )

    def __neg__(self) -> "Filled":
        return Filled(-self.observed, -self.highest, -self.lowest)

    def clip(self, width: float | None) -> "Filled":
        """All three no wider than the range of a scale, and what missing scores make of the value inside."""
        observed, lowest, highest = (figure.clip(width) for figure in self)
        _, low, high = Bounded(None, lowest.value, highest.value).clip(width)
        return Filled(observed, lowest._replace(value=low), highest._replace(value=high))

    @property
    def is_bounded(self) -> bool:
        """Whether the missing scores could make no more of the value than a lowest and a highest."""
        return self.lowest.value is not None and self.highest.value is not None

    def bound_columns(self) -> dict[str, Any]:
        """The columns `set_…`, what missing scores could make of the value, and `bound_…`, with its error."""
        return {
            "set_low": self.lowest.value,
            "set_high": self.highest.value,
            "bound_low": self.lowest.low,
            "bound_high": self.highest.high,
        }

    def columns(self, value: str = "value") -> dict[str, Any]:
        """The columns of the figure and of its bounds."""
        return self.observed.columns(value) | self.bound_columns()


NOTHING = Filled()
"""A figure of which nothing is known."""


def outermost(figures: Sequence[Bounded]) -> stats.Bounds:
    """The lowest and the highest of these values, and of their ends; no end where a figure has none."""
    values, lows, highs = zip(*figures, strict=True)
    return stats.Bounds(
        _extreme(min, values), _extreme(max, values), _extreme(min, lows), _extreme(max, highs)
    )


def _extreme(choose: Callable[[Iterable[float]], float], numbers: Sequence[float | None]) -> float | None:
    """One of all these numbers; null where any is."""
    present = [x for x in numbers if x is not None]
    return choose(present) if len(present) == len(numbers) else None


def _outer(farther: Callable[[float, float], float], bound: float | None, end: float | None) -> float | None:
    """The bound, or the end where that lies farther out; a bound that is null stays so."""
    return bound if bound is None or end is None else farther(bound, end)


def ends_text(low: float | None, high: float | None, form: str = ".2f") -> str:
    """An interval for a sentence, with a blank before it; nothing where there is none."""
    return "" if low is None or high is None else f" ({printed(low, form)} to {printed(high, form)})"


def interval_text(row: Ends, form: str = ".2f") -> str:
    """The interval of a row, as `ends_text`."""
    return ends_text(row.low, row.high, form)


def figure_text(row: Explained, form: str = ".2f") -> str:
    """The value of a row with its interval; without a value, why there is none."""
    return str(row.reason) if row.value is None else Bounded.from_figure(row).text(form)


def reasons(*texts: str | None) -> str | None:
    """Why figures are null or lean, one after another and each once; null without any."""
    return "; ".join(dict.fromkeys(filter(None, texts))) or None
