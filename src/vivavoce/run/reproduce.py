"""Published systems, recomputed from their published data: each figure beside the one that was printed.

A system is a module with a function `reproduce(data)`; what its paper prints stands in a file beside it. What
does not come out is named, with the reason where there is one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple

from vivavoce.core import registry
from vivavoce.core.errors import SelectionError, suggest


class Table(NamedTuple):
    """Figures as they are shown: recomputed ones with the published beside them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Reproduction(NamedTuple):
    """The figures under their keys, and the same as tables and sentences. What cannot be given is null."""

    rows: Mapping[str, Any]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]


def reproduce(name: str, data: Path) -> Reproduction:
    """Recompute what the system `name` published, from the files in the folder `data`.

    Raises `SelectionError` for a name that no system registered, and `InputError` for a folder or a file that
    cannot be used.
    """
    systems = {entry.name: entry.cls for entry in registry.entries("reproduction")}
    if name not in systems:
        raise SelectionError(f"nothing named {name!r} can be reproduced.{suggest(name, list(systems))}")
    result: Reproduction = systems[name](data)
    return result


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

    def recomputed(self, figures: Mapping[str, Any]) -> float | None:
        """The recomputed figure; null where there is none. Raises `KeyError` for an address of nothing."""
        if self.at is None:
            return None
        figure: Any = figures
        for name in self.at:
            if figure is None:
                return None
            figure = figure[name]
        return None if figure is None else float(figure)


def agrees(published: str, recomputed: float) -> bool:
    """Whether a figure is the printed one, to half a unit of its last digit and `ROUNDING`."""
    exponent = Decimal(published).as_tuple().exponent
    return bool(abs(recomputed - float(published)) <= 0.5 * 10.0 ** int(exponent) + ROUNDING)


def check_claims(claims: Iterable[Claim], figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each claim: `holds` is null where one of the two figures is not there."""
    rows = []
    for claim in claims:
        figure = claim.recomputed(figures)
        holds = None if claim.published is None or figure is None else agrees(claim.published, figure)
        rows.append(
            {
                "what": claim.what,
                "published": None if claim.published is None else float(claim.published),
                "recomputed": figure,
                "holds": holds,
                "why": None if holds else claim.why,
            }
        )
    return rows


ClaimVerdict = Literal["holds", "holds in part", "fails", "not shown", "cannot be checked"]
"""`not shown`: what is reported could not show it. `cannot be checked`: what it rests on is not released."""


class JudgedClaim(NamedTuple):
    """A claim in our words, the printed figure and the recomputed one, null where there is none, and why."""

    what: str
    published: Any
    recomputed: Any
    verdict: ClaimVerdict
    why: str

    @property
    def row(self) -> dict[str, Any]:
        """The claim as it is shown; `holds` is null where the verdict is neither yes nor no."""
        return {**self._asdict(), "holds": {"holds": True, "fails": False}.get(self.verdict)}


def claims_table(claims: Sequence[Mapping[str, Any]]) -> Table:
    """Judged claims as they are shown."""
    return Table(
        "What the paper says",
        ("claim", "verdict", "why"),
        [[row["what"], row["verdict"], row["why"]] for row in claims],
    )


def not_reproducible_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """What nothing released can recompute, as it is shown."""
    return Table("What cannot be recomputed", ("what", "why"), [[row["what"], row["why"]] for row in rows])


def count_verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """A sentence that counts the verdicts."""
    verdicts = [row["verdict"] for row in claims]
    counts = ", ".join(f"{word} {verdicts.count(word)}" for word in dict.fromkeys(verdicts))
    return f"Verdicts on {len(verdicts)} claims: {counts}."
