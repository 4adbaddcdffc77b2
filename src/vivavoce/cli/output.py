"""What a verb shows: JSON or tables on stdout, progress on stderr."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vivavoce.text import printable

__all__ = [
    "asking",
    "counted",
    "figure",
    "p_value",
    "plain",
    "print_estimates",
    "print_json",
    "print_table",
    "progress",
]


def print_json(verb: str, run: Path | None, rows: object) -> None:
    """One object: schema, run and rows; null where there is nothing, never NaN."""
    print(json.dumps({"schema": f"viva.{verb}/1", "run": run and str(run), "rows": rows},
                     ensure_ascii=False, allow_nan=False, indent=1))  # fmt: skip


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """A table, numbers to the right; 140 wide where the output is no terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    heading = None if title is None else Text(printable(title))  # no markup: a jury's spec has [brackets]
    table = Table(
        box=box.SIMPLE_HEAD, title=heading, title_justify="left", title_style="bold", pad_edge=False
    )
    for name, cells in zip(columns, zip(*rows, strict=True) if rows else [()] * len(columns), strict=True):
        numbers = all(isinstance(c, int | float) or c is None for c in cells)
        table.add_column(name, justify="right" if numbers and rows else "left", overflow="fold")
    for row in rows:
        # Text, not str: an answer or a label with [brackets] is no markup.
        table.add_row(*(Text("" if c is None else printable(str(c))) for c in row))
    width = None if sys.stdout.isatty() else 140
    Console(width=width).print(table)


@contextmanager
def progress(show: bool) -> Iterator[Any]:
    """A bar on stderr that hears (what, done, total); nothing when quiet or not at a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if not show:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def hear(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield hear


@contextmanager
def asking(show: bool) -> Iterator[Any]:
    """A line on stderr that hears the tally of a collect and the number of requests in all."""
    import time

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if not show:
        yield None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[said]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task, started = bars.add_task("", said=""), time.monotonic()

        def hear(tally: Any, total: int) -> None:
            rate = tally.done / max(time.monotonic() - started, 0.1)
            cost = "" if tally.unpriced else f", {tally.cost:.2f} spent"
            said = f"{rate:.0f}/s, {tally.failed} failed, {tally.retries} tried again{cost}"
            bars.update(task, completed=tally.done, total=total, said=said)

        yield hear


def counted(n: int, thing: str) -> str:
    """`1 answer`, `5060 answers`."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def figure(value: float | None, places: int = 3) -> str | None:
    """A number for a table, above a million by its leading digits; null stays null."""
    if value is None:
        return None
    return f"{value:.{places}f}" if abs(value) < 1e6 else f"{value:.{places}g}"


def p_value(value: float | None) -> str | None:
    """A p value for a table; none is so small that it is 0."""
    return "<0.0001" if value is not None and value < 0.0001 else figure(value, 4)


def plain(value: Any) -> str:
    """Nested rows as lines of text, without what is null."""
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {plain(v)}" for k, v in value.items() if v is not None)
    return "\n".join(plain(v) for v in value) if isinstance(value, list | tuple) else str(value)


def print_estimates(rows: Sequence[Mapping[str, Any]]) -> None:
    """A table of candidates for each benchmark and criterion."""
    from itertools import groupby

    key = ("benchmark", "metric", "criterion", "rater", "view", "signature")
    for (benchmark, metric, criterion, rater, view, _), part in groupby(
        rows, key=lambda r: tuple(r[k] for k in key)
    ):
        shown = list(part)
        lost = any(row["n_failed"] for row in shown)
        lines = [
            (
                row["candidate"] + ("" if row["role"] == "candidate" else f" ({row['role']})"),
                figure(row["estimate"]),
                _ends(row["low"], row["high"]),
                *([_ends(row["bound_low"], row["bound_high"]) if row["n_failed"] else None] if lost else []),
                row["n_items"],
                row["n_groups"],
                f"{row['coverage']:.1%}",
                row["n_unanswered"],
                row["n_unreadable"],
                row["n_failed"],
                *([row["n_vetoed"]] if view == "veto" else []),
            )
            for row in shown
        ]
        columns = ("candidate", "estimate", "95% interval", *(["bounds"] if lost else []), "items", "groups",
                   "coverage", "unanswered", "unreadable", "failed",
                   *(["vetoed"] if view == "veto" else []))  # fmt: skip
        by = f" by {rater}" if rater else ""
        seen = "" if view in ("mean", "pooled") else f", {view}"
        print_table(columns, lines, f"{metric}: {criterion}{by} on {benchmark}{seen}")
        for row in shown:
            if row["reason"]:
                print(printable(f"{row['candidate']}: {row['reason']}."))


def _ends(low: float | None, high: float | None) -> str | None:
    """Two ends; null where neither is known, a dash where one is not."""
    if low is None and high is None:
        return None
    below, above = (figure(end) or "-" for end in (low, high))
    return f"{below} to {above}"
