"""Candidates side by side: every criterion in one grid, and the primary criterion by category."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vivavoce.report.data import Board, Rows, board_of
from vivavoce.report.sections.leaderboard import Leaderboard, Scale
from vivavoce.report.sections.profiles import FEW_GROUPS
from vivavoce.studies.primary import Primary
from vivavoce.studies.text import count

MOST_CANDIDATES, MOST_CRITERIA, MOST_CATEGORIES = 8, 16, 24
"""What one grid has room for; what is beyond is counted under it, and stands further down the page."""


class GridRow(NamedTuple):
    """A line of a grid: what it is of, and a cell per candidate; null where there is no figure.

    A cell has at least `estimate`, `low`, `high`, `n_items` and `n_groups`. `scale` is where its intervals
    are drawn.
    """

    label: str
    detail: str
    scale: Scale
    cells: Sequence[Mapping[str, Any] | None]
    is_primary: bool = False
    stamp: str | None = None


class Grid(NamedTuple):
    """Rows by candidates. `omitted` says what the grid has no room for; `reason` why it is empty."""

    candidates: Sequence[str]
    rows: Sequence[GridRow]
    omitted: Sequence[str] = ()
    reason: str | None = None

    @property
    def any_blank(self) -> bool:
        """Whether a cell has no figure."""
        return any(cell is None for row in self.rows for cell in row.cells)


def primary_of_boards(boards: Sequence[Leaderboard], primary: Primary | None) -> Leaderboard | None:
    """The leaderboard of the primary criterion, in its default view; null where there is none."""
    if primary is None:
        return None
    place = Board(primary.benchmark, primary.metric, primary.criterion, primary.rater)
    return next((board for board in boards if any(board_of(row) == place for row in board.rows)), None)


def candidates_in_order(boards: Sequence[Leaderboard], first: Rows = ()) -> list[str]:
    """Every candidate once: those of `first` with the best ahead, the rest by name, floor and ceiling last.

    `first` are the rows of the primary criterion.
    """
    roles = {row["candidate"]: row["role"] for board in boards for row in board.rows}
    roles |= {row["candidate"]: row["role"] for row in first}
    ahead = {row["candidate"]: place for place, row in enumerate(first)}
    return sorted(roles, key=lambda name: (roles[name] != "candidate", ahead.get(name, len(ahead)), name))


def overall_row(primary: Primary | None, scored: Rows, candidates: Sequence[str]) -> GridRow | None:
    """The row of a primary criterion without a leaderboard, which is a mean over groups; null for no rows."""
    by_candidate = {row["candidate"]: row for row in scored if row["estimate"] is not None}
    if primary is None or not by_candidate:
        return None
    ends = [row[end] for row in by_candidate.values() for end in ("estimate", "low", "high")]
    values = [end for end in ends if end is not None]
    scale = Scale(min(0.0, *values), max(1.0, *values))
    cells = [by_candidate.get(name) for name in candidates[:MOST_CANDIDATES]]
    return GridRow(primary.label, primary.benchmark, scale, cells, is_primary=True)


def criteria_grid(
    boards: Sequence[Leaderboard],
    first: Leaderboard | None,
    candidates: Sequence[str],
    overall: GridRow | None = None,
) -> Grid:
    """A row per leaderboard, the primary criterion or an `overall` ahead, a column per candidate."""
    if not boards and overall is None:
        return Grid((), (), reason="Nothing has been scored yet.")
    columns = candidates[:MOST_CANDIDATES]
    benchmarks = {board.benchmark for board in boards}
    in_order = sorted(boards, key=lambda board: board is not first)  # stable: the rest keeps its order
    rows = [_criterion(board, columns, len(benchmarks) > 1, board is first) for board in in_order]
    rows = [*filter(None, [overall]), *rows]
    omitted = _omitted(len(candidates) - len(columns), len(rows) - MOST_CRITERIA, "criterion", "criteria")
    return Grid(columns, rows[:MOST_CRITERIA], omitted)


def _criterion(
    board: Leaderboard, candidates: Sequence[str], many_candidates: bool, is_primary: bool
) -> GridRow:
    by_candidate = {row["candidate"]: row for row in board.rows if row["estimate"] is not None}
    name = " · ".join(dict.fromkeys((board.metric, board.criterion)))
    details = [board.benchmark] if many_candidates else []
    if board.size:
        details.append(count(board.size[0], "question"))
    if board.direction == "lower":
        details.append("lower is better")
    cells = [by_candidate.get(candidate) for candidate in candidates]
    return GridRow(name, ", ".join(details), board.scale, cells, is_primary, board.stamp)


def category_grid(
    profiles: Sequence[Mapping[str, Any]], first: Leaderboard | None, candidates: Sequence[str]
) -> Grid:
    """The primary criterion by category, the largest category ahead; cells under ten cases are null."""
    profile = _profile(profiles, first)
    if profile is None or first is None:
        return Grid((), (), reason="There are no two categories with scores on the primary criterion.")
    by_part: dict[str, dict[str, Mapping[str, Any]]] = {}
    sizes: dict[str, int] = {}
    for row in profile["rows"]:
        sizes[row["part"]] = max(sizes.get(row["part"], 0), row["n_groups"])
        if row["n_groups"] >= FEW_GROUPS and row["estimate"] is not None:
            by_part.setdefault(row["part"], {})[row["candidate"]] = row
    columns = candidates[:MOST_CANDIDATES]
    large = sorted(by_part, key=lambda part: (-sizes[part], part))
    rows = [
        GridRow(part, count(sizes[part], "case"), first.scale, [by_part[part].get(name) for name in columns])
        for part in large
    ]
    small = len(sizes) - len(large)
    if not rows:
        return Grid(
            (), (), reason=f"All {small} categories have fewer than {FEW_GROUPS} cases: too few for a figure."
        )
    omitted = _omitted(len(candidates) - len(columns), len(rows) - MOST_CATEGORIES, "category", "categories")
    if small:
        omitted = (*omitted, f"{small} with fewer than {FEW_GROUPS} cases in each cell")
    return Grid(columns, rows[:MOST_CATEGORIES], omitted)


def _profile(profiles: Sequence[Mapping[str, Any]], first: Leaderboard | None) -> Mapping[str, Any] | None:
    """The profile by category of the leaderboard's criterion."""
    places = {board_of(row) for row in first.rows} if first else set()
    return next((p for p in profiles if p["by"] == "category" and board_of(p) in places), None)


def _omitted(n_candidates: int, n_rows: int, singular: str, plural: str) -> tuple[str, ...]:
    further = [count(n_candidates, "further candidate")] if n_candidates > 0 else []
    if n_rows > 0:
        further.append(f"{n_rows} further {singular if n_rows == 1 else plural}")
    return tuple(further)


def grid_rows(grid: Grid, section: str) -> list[dict[str, Any]]:
    """The cells as rows; `section` is the column that holds the labels of lines."""
    figures = ("estimate", "low", "high", "n_items", "n_groups")
    return [
        {section: row.label, "candidate": candidate, "primary": row.is_primary,
         **{name: cell[name] if cell else None for name in figures},
         "reason": None if cell else "no figure"}
        for row in grid.rows
        for candidate, cell in zip(grid.candidates, row.cells, strict=True)
    ]  # fmt: skip
