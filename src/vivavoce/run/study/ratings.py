"""Ratings of candidates from elsewhere, such as an arena's Elo: a table with a row per candidate."""

import math
from pathlib import Path
from typing import Any

from vivavoce.core.errors import InputError
from vivavoce.core.tables import read_lines
from vivavoce.studies.score_table import Rating


def read_ratings(path: Path) -> dict[str, Rating]:
    """The ratings by candidate, from a file with the columns `candidate,rating[,low,high]`.

    Raises `InputError` naming file and row where a name is missing or comes twice, or a number is none.
    """
    ratings: dict[str, Rating] = {}
    for line in read_lines(path):
        name = str(line.row.get("candidate") or "").strip()
        if not name or name in ratings:
            what = f"{name!r} comes twice" if name else "the column candidate is empty or missing"
            raise InputError(f"{line.where}: {what}; a file of ratings has a row for each candidate.")
        rating = _number(line.row.get("rating"))
        if rating is None:
            raise InputError(
                f"{line.where}: the column rating holds a number, not {line.row.get('rating')!r}."
            )
        ratings[name] = Rating(rating, _number(line.row.get("low")), _number(line.row.get("high")))
    return ratings


def _number(value: Any) -> float | None:
    """A finite number, or null."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
