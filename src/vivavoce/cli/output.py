"""What a command prints on stdout: JSON or tables."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from vivavoce.cli.stdout import echo, own_stdout, terminal_width
from vivavoce.cli.table_text import table_text
from vivavoce.core.measure_names import measure_name
from vivavoce.core.text import printable_json


def print_json(command: str, run: Path | None, rows: object, **more: object) -> None:
    """One object: schema, run, rows and what else there is; null where there is nothing, never NaN.

    What could drive a terminal stands as an escape of JSON, so that it is the same to whoever reads it.
    """
    answer = {"schema": f"viva.{command}/1", "run": run and str(run), "rows": rows, **more}
    echo(printable_json(json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=1)))


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None, *, keys: int = 1
) -> None:
    """A table that fits the terminal; 140 wide if the output is none and COLUMNS does not say otherwise.

    Where it goes on below, its first `keys` columns stand there again.
    """
    width = terminal_width(80 if own_stdout().isatty() else 140)
    if title is not None:
        echo(title)
    echo(table_text(columns, rows, width, keys=keys), end="\n\n")


def counted(n: int, thing: str) -> str:
    """`1 answer`, `5060 answers`."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def figure(value: float | None, places: int = 3) -> str | None:
    """A number for a table, above a million by its leading digits; null stays null."""
    if value is None:
        return None
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.{places}g}"


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


def print_estimates(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of candidates for each benchmark and criterion, below what their order rests on."""
    from vivavoce.studies.leaderboard.common_items import order_basis

    keys = ("benchmark", "metric", "criterion", "rater", "view", "signature")
    for (benchmark, metric, criterion, rater, view, _), group in groupby(
        rows, key=lambda row: tuple(row[key] for key in keys)
    ):
        estimates = list(group)
        suffix = "" if view in ("mean", "pooled") else f", {view}"
        title = f"{measure_name(metric, criterion, rater)} on {benchmark}{suffix}"
        basis = order_basis(estimates, lambda value: figure(value) or "–")
        if basis:
            echo(f"{title}: {basis}")
        _print_estimates_of(estimates, view, title)
        for row in estimates:
            if row["reason"]:
                echo(f"{row['candidate']}: {row['reason']}.")


def _print_estimates_of(rows: Sequence[Mapping[str, Any]], view: str, title: str) -> None:
    """One table, with the columns that its rows have something for."""
    columns = list(_columns_of_estimates(rows, view))
    print_table([name for name, _ in columns], [[cell(row) for _, cell in columns] for row in rows], title)


_STATUSES = ("unanswered", "unreadable", "failed")
_Cell = Callable[[Mapping[str, Any]], Any]


def _columns_of_estimates(rows: Sequence[Mapping[str, Any]], view: str) -> Iterator[tuple[str, _Cell]]:
    """The columns with what stands in them: only failed scores have bounds, only the veto counts vetoed.

    A mean on common items has a column where it is not everyone's own.
    """
    from vivavoce.studies.text import few_cases  # Polars, which help does not wait for

    n_common = next((row["n_common"] for row in rows if _is_elsewhere(row)), None)
    common = f"on {n_common} common"
    cells: dict[str, _Cell] = {
        "candidate": _candidate_of,
        "estimate": _estimate_of,
        common: lambda row: figure(row["estimate_common"]),
        "95% interval": lambda row: _ends(row["low"], row["high"]),
        "scale": itemgetter("scale"),
        "bounds": _bounds_of,
        "items": itemgetter("n_items"),
        "groups": lambda row: groups_of(row) + few_cases(row["effective_cases"]),
        "coverage": lambda row: f"{row['coverage']:.1%}",
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
        "set aside": _has_any(rows, "n_set_aside"),
        "never asked": _has_any(rows, "n_never_asked"),
        "not scored yet": _has_any(rows, "n_unscored"),
        "vetoed": view == "veto",
        **{status: _has_any(rows, f"n_{status}") for status in _STATUSES},
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
    return _ends(row["bound_low"], row["bound_high"]) if row["n_failed"] else None


def _is_elsewhere(row: Mapping[str, Any]) -> bool:
    """Whether a candidate's estimate rests on other items than its place in the order."""
    return row["role"] == "candidate" and row["estimate"] is not None and row["n_items"] != row["n_common"]


def groups_of(row: Mapping[str, Any]) -> str:
    """How many groups a row rests on; `12, 2.1 effective` where they are uneven."""
    from vivavoce.studies.text import uneven  # Polars, which help does not wait for

    return f"{row['n_groups']}{uneven(row['n_groups'], row['effective_cases'])}"


def _ends(low: float | None, high: float | None) -> str | None:
    """Two ends; None if neither exists, a dash for one that does not."""
    if low is None and high is None:
        return None
    below, above = (figure(end) or "-" for end in (low, high))
    return f"{below} to {above}"
