"""Figures that a paper states, one by one: what was printed, what comes out, and why they differ."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

__all__ = ["ROUNDING", "Claim", "held", "settled"]

ROUNDING = 1e-4
"""What is granted beyond half a unit of the last digit, for a paper that rounded twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A figure as it stands in the paper, and where the same one stands among those recomputed.

    `published` keeps the digits printed; it is null for a figure that cannot be read, `at` for one that
    cannot be recomputed. `why` is the reason if it does not come out.
    """

    what: str
    published: str | None
    at: tuple[str, ...] | None = None
    why: str | None = None

    def found(self, figures: Mapping[str, Any]) -> float | None:
        """The recomputed figure; null where there is none. Raises `KeyError` for an address of nothing."""
        if self.at is None:
            return None
        here: Any = figures
        for name in self.at:
            if here is None:
                return None
            here = here[name]
        return None if here is None else float(here)


def held(published: str, found: float) -> bool:
    """Whether a figure is the printed one, to half a unit of its last digit and `ROUNDING`."""
    exponent = Decimal(published).as_tuple().exponent
    return bool(abs(found - float(published)) <= 0.5 * 10.0 ** int(exponent) + ROUNDING)


def settled(claims: Iterable[Claim], figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each claim: `holds` is null where one of the two figures is not there."""
    rows = []
    for claim in claims:
        found = claim.found(figures)
        holds = None if claim.published is None or found is None else held(claim.published, found)
        rows.append(
            {
                "what": claim.what,
                "published": None if claim.published is None else float(claim.published),
                "recomputed": found,
                "holds": holds,
                "why": None if holds else claim.why,
            }
        )
    return rows
