"""Progress on stderr: bars at a terminal; elsewhere a line a minute, and which endpoint is waited for."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from vivavoce.core.text import one_line, printable

LINE_EVERY_S = 60.0
"""Seconds between two plain lines of progress; what takes less time prints none."""
FIRST_LINE_S, LONGEST_PAUSE_S = 30.0, 600.0
"""Seconds of waiting before the first plain line; the pause between two doubles up to the longest."""


def waiting_text(waiting: Sequence[object]) -> str:
    """`waiting for https://host (3 requests, longest 45 s)`; empty where nothing is waited for."""
    return printable(f"waiting for {'; '.join(map(str, waiting))}") if waiting else ""


class PlainProgress:
    """Prints lines where there is no terminal: how far it is each minute, and seldom what is waited for."""

    def __init__(self) -> None:
        self._pause, self._printed_at = FIRST_LINE_S, float("-inf")
        self._line_at = time.monotonic()

    def __call__(self, what: Any, *counts: int) -> None:
        """Say how far it is, and what is waited for, where the counter of a collect names it."""
        if time.monotonic() - self._line_at >= LINE_EVERY_S:
            self._line_at = time.monotonic()
            print(printable(f"viva: {_progress_text(what, *counts)}"), file=sys.stderr, flush=True)
        self.waiting(getattr(what, "waiting", ()))

    def remark(self, sentence: str) -> None:
        """Print a sentence that is said before anybody is asked."""
        print(printable(f"viva: {sentence}"), file=sys.stderr, flush=True)

    def waiting(self, waiting: Sequence[Any]) -> None:
        """Print a line if one of these is waited for long enough, and the last line is old enough."""
        now = time.monotonic()
        long = [wait for wait in waiting if wait.longest_s >= FIRST_LINE_S]
        if long and now - self._printed_at >= self._pause:
            print(printable(f"viva: {waiting_text(long)}"), file=sys.stderr)
            self._pause = min(2 * self._pause, LONGEST_PAUSE_S)
            self._printed_at = now


def _progress_text(what: Any, *counts: int) -> str:
    """`token_f1: 200 of 1,000`, or of a collect `200 of 1,000 answers, 3 failed`."""
    if isinstance(what, str):
        return f"{one_line(what)}: {' of '.join(f'{n:,}' for n in counts)}"
    return f"{what.done:,} of {' of '.join(f'{n:,}' for n in counts)} answers, {what.failed:,} failed"


class _Bars:
    """Bars by label, and a line of what is waited for."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._tasks: dict[str, Any] = {}
        self._waiting: Any = None

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(one_line(printable(what)), total=total)
        self._bars.update(self._tasks[what], completed=done, total=total)

    def waiting(self, waiting: Sequence[Any]) -> None:
        """Show what is waited for."""
        if self._waiting is None:
            self._waiting = self._bars.add_task("", total=None, visible=False)
        self._bars.update(self._waiting, description=waiting_text(waiting), visible=bool(waiting))


@contextmanager
def progress_bars(show: bool) -> Iterator[Any]:
    """Bars on stderr, moved by a function of (what, done, total); None when quiet."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if not show or not sys.stderr.isatty():
        yield PlainProgress() if show else None
        return
    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bars(bars)


@contextmanager
def collect_progress(show: bool) -> Iterator[Any]:
    """A line on stderr, moved by a function of a collect's usage counter and its number of requests."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    if not show or not sys.stderr.isatty():
        yield PlainProgress() if show else None
        return
    rate_column = TextColumn("{task.fields[rate]}", markup=False)
    columns = (BarColumn(), MofNCompleteColumn(), rate_column, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _CollectBar(bars)


class _CollectBar:
    """The bar of a collect."""

    def __init__(self, bars: Any) -> None:
        self._bars, self._task, self._started = bars, bars.add_task("", total=None, rate=""), time.monotonic()

    def __call__(self, usage: Any, total: int) -> None:
        per_second = usage.done / max(time.monotonic() - self._started, 0.1)
        cost = "" if usage.unpriced else f", {usage.cost:.2f} spent"
        rate = f"{per_second:.0f}/s, {usage.failed} failed, {usage.retries} tried again{cost}"
        waiting = waiting_text(usage.waiting)
        rate = f"{rate}, {waiting}" if waiting else rate
        self._bars.update(self._task, completed=usage.done, total=total, rate=rate)

    def remark(self, sentence: str) -> None:
        """Print a sentence above the bar."""
        self._bars.console.print(printable(sentence), markup=False, highlight=False)
