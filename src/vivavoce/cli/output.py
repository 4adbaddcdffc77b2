"""What a command prints on stdout: JSON or tables."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from vivavoce.cli.forest_plot import HOLLOW, POINT, PlotRow, forest_plot
from vivavoce.cli.stdout import echo, echo_json, own_stdout, spelled, terminal_height, terminal_width
from vivavoce.cli.table_text import GAP, name_key, table_text
from vivavoce.core.measure_names import measure_name
from vivavoce.core.numbers import printed
from vivavoce.core.short_names import cell_width, short_names


def print_json(command: str, run: Path | None, rows: object, **more: object) -> None:
    """One object: schema, run, rows and what else there is; null where there is nothing, never NaN."""
    answer = {"schema": f"viva.{command}/1", "run": run and str(run), "rows": rows, **more}
    echo_json(answer, indent=1)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None, *, keys: int = 1
) -> None:
    """A table that fits the terminal. Where it goes on below, its first `keys` columns stand there again."""
    if title is not None:
        echo(title)
    cells = [[None if value is None else spelled(str(value)) for value in row] for row in rows]
    echo(table_text(columns, cells, table_width(), keys=keys), end="\n\n")


def table_width() -> int:
    """The width of the terminal; 140 if the output is none and COLUMNS does not say otherwise."""
    return terminal_width(80 if own_stdout().isatty() else 140)


SHORTEST_NAME, LESS = 12, " − "
"""The fewest places that a name is cut to, and the sign between two names in a label of a plot."""


def name_room(columns: Mapping[str, Sequence[Any]], n_names: int = 1) -> int:
    """How wide a name may be beside these columns: a row fits, and a label takes half of a plot.

    With `n_names` 2, a row and a label have two of them.
    """
    widths = [max(cell_width(str(cell)) for cell in (name, *cells)) for name, cells in columns.items()]
    width = table_width()
    in_table = (width - sum(widths) - GAP * len(widths)) // n_names - (n_names - 1)
    if in_table < SHORTEST_NAME:  # the table goes on below
        in_table = width // (2 + n_names) - GAP
    in_plot = width // 2 if n_names == 1 else (width // 2 - len(LESS)) // 2
    return max(min(in_table, in_plot), SHORTEST_NAME)


LEAST_ROWS, LINES_AROUND = 3, 5
"""The fewest rows of a plot, unless there are fewer, and the lines that it takes besides."""


def print_plot(title: str, rows: Sequence[PlotRow], *, zero: bool = False, n_below: int) -> bool:
    """In a terminal a plot of as many rows as fit above `n_below` lines; elsewhere nothing.

    Returns whether there is one.
    """
    most = terminal_height() - n_below - LINES_AROUND if own_stdout().isatty() else 0
    most -= len(rows) > most  # the line that counts the others
    if most < min(len(rows), LEAST_ROWS):
        return False
    lines = forest_plot(rows, table_width(), write=_axis_figure, zero=zero, most=most)
    if lines:
        echo("\n".join([title, *lines]), end="\n\n")
    return bool(lines)


def _axis_figure(value: float) -> str:
    return figure(value) or ""


def counted(n: int, thing: str) -> str:
    """`1 answer`, `5060 answers`."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def figure(value: float | None, places: int = 3) -> str | None:
    """A number for a table, above a million by its leading digits; null stays null."""
    if value is None:
        return None
    return printed(value, f".{places}{'f' if abs(value) < 1e6 else 'g'}")


def p_value(value: float | None) -> str | None:
    """A p value for a table; a small one is not printed as 0."""
    return "<0.0001" if value is not None and value < 0.0001 else figure(value, 4)


def as_text(value: Any) -> str:
    """Nested rows as lines of text, without what is null; blanks as JSON writes them."""
    if isinstance(value, Mapping):
        fields = {k: as_text(v).replace("\n", ", ") for k, v in value.items() if v is not None}
        return ", ".join(f"{k} {text}" for k, text in fields.items())
    if isinstance(value, str) and value.isspace():
        return json.dumps(value)
    return "\n".join(map(as_text, value)) if isinstance(value, list | tuple) else str(value)


def print_estimates(rows: Sequence[Mapping[str, Any]], *, full: bool = False, plot: bool = False) -> None:
    """A table of candidates for each benchmark and criterion, below what their order rests on.

    With `full` also the scores by status; with `plot` a terminal shows the first measure's estimates drawn.
    """
    from vivavoce.studies.comparing.common_items import order_basis

    keys = ("benchmark", "metric", "criterion", "rater", "view", "signature")
    for (benchmark, metric, criterion, rater, view, _), group in groupby(
        rows, key=lambda row: tuple(row[key] for key in keys)
    ):
        estimates = list(group)
        suffix = "" if view in ("mean", "pooled") else f", {view}"
        title = f"{measure_name(metric, criterion, rater)} on {benchmark}{suffix}"
        _print_estimates_of(estimates, view, title, full=full, plot=plot)
        plot = False
        if basis := order_basis(estimates, lambda value: figure(value) or "–"):
            echo(f"{title}: {basis}", end="\n\n")
        for row in estimates:
            if row["reason"]:
                echo(f"{row['candidate']}: {row['reason']}.")


def _print_estimates_of(
    rows: Sequence[Mapping[str, Any]], view: str, title: str, *, full: bool, plot: bool
) -> None:
    """One table, with the columns that its rows have something for, and above it the plot."""
    columns = {
        name: [cell(row) for row in rows] for name, cell in _columns_of_estimates(rows, view, full=full)
    }
    names = [spelled(_candidate_of(row)) for row in rows]
    short = short_names(names, name_room(columns))
    key = name_key(names, short, table_width())
    bars, words = _bars(rows, [*map(short, names)])
    n_below = len(rows) + len(key) + bool(key) + 3
    heading = None if plot and print_plot(title + words, bars, n_below=n_below) else title
    cells = {"candidate": [*map(short, names)], **columns}
    print_table([*cells], [*zip(*cells.values(), strict=True)], heading)
    if key:
        echo("\n".join(key), end="\n\n")


def _bars(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[list[PlotRow], str]:
    """The rows of a plot of estimates, and what its title says of the hollow ones.

    Where some are on people's scale, those by a judge alone are hollow.
    """
    from vivavoce.studies.scale import JUDGE, PHRASES, by_scale

    is_mixed = len(by_scale(rows)) > 1
    marks = [HOLLOW if is_mixed and row["scale"] == JUDGE else POINT for row in rows]
    bars = [
        PlotRow(name, row["estimate"], row["low"], row["high"], mark)
        for name, row, mark in zip(names, rows, marks, strict=True)
    ]
    return bars, f", {HOLLOW} {PHRASES[JUDGE]}" if is_mixed else ""


_STATUSES = ("unanswered", "unreadable", "failed")
_Cell = Callable[[Mapping[str, Any]], Any]


def _columns_of_estimates(
    rows: Sequence[Mapping[str, Any]], view: str, *, full: bool
) -> Iterator[tuple[str, _Cell]]:
    """The columns behind the names: only failed scores have bounds, only the veto counts vetoed.

    A mean on common questions has a column where it is not everyone's own. The scores by status and the
    effective cases are in the `full` table alone.
    """
    from vivavoce.studies.text import few_cases  # Polars, which help does not wait for

    n_common = next((row["n_common"] for row in rows if _is_elsewhere(row)), None)
    common = f"on {n_common} common"
    cells: dict[str, _Cell] = {
        "estimate": _estimate_of,
        common: lambda row: figure(row["estimate_common"]),
        "95% interval": lambda row: interval(row["low"], row["high"]),
        "scale": itemgetter("scale"),
        "bounds": _bounds_of,
        "questions": itemgetter("n_items"),
        "cases": lambda row: (
            (groups_of(row) if full else f"{row['n_groups']}") + few_cases(row["effective_cases"])
        ),
        "coverage": lambda row: printed(row["coverage"], ".1%"),
        **{status: itemgetter(f"n_{status}") for status in _STATUSES},
        "set aside": itemgetter("n_set_aside"),
        "never asked": itemgetter("n_never_asked"),
        "not scored yet": itemgetter("n_unscored"),
        "vetoed": itemgetter("n_vetoed"),
    }
    needed = {
        common: n_common is not None,
        "scale": _has_any(rows, "scale"),
        "bounds": _has_any(rows, "n_failed"),
        "set aside": full and _has_any(rows, "n_set_aside"),
        "never asked": _has_any(rows, "n_never_asked"),
        "not scored yet": _has_any(rows, "n_unscored"),
        "vetoed": view == "veto",
        **{status: full and _has_any(rows, f"n_{status}") for status in _STATUSES},
    }
    yield from ((name, cell) for name, cell in cells.items() if needed.get(name, True))


def _has_any(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    return any(row[column] for row in rows)


def _candidate_of(row: Mapping[str, Any]) -> str:
    role = "" if row["role"] == "candidate" else f" ({row['role']})"
    return f"{row['candidate']}{role}"


def _estimate_of(row: Mapping[str, Any]) -> str:
    return figure(row["estimate"]) or "no result"


def _bounds_of(row: Mapping[str, Any]) -> str | None:
    return interval(row["bound_low"], row["bound_high"]) if row["n_failed"] else None


def _is_elsewhere(row: Mapping[str, Any]) -> bool:
    """Whether a candidate's estimate rests on other items than its place in the order."""
    return row["role"] == "candidate" and row["estimate"] is not None and row["n_items"] != row["n_common"]


def groups_of(row: Mapping[str, Any]) -> str:
    """How many groups a row rests on; `12, 2.1 effective` where they are uneven."""
    from vivavoce.studies.text import uneven  # Polars, which help does not wait for

    return f"{row['n_groups']}{uneven(row['n_groups'], row['effective_cases'])}"


def interval(low: float | None, high: float | None) -> str | None:
    """Two ends; None if neither exists, a dash for one that does not."""
    if low is None and high is None:
        return None
    below, above = (figure(end) or "-" for end in (low, high))
    return f"{below} to {above}"
