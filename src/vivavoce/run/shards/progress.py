"""How far runs are that other processes write: a snapshot of one run, or of all shards in a folder."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from vivavoce.core.errors import RunNotFound, StoreError
from vivavoce.core.numbers import finite
from vivavoce.run.shards.memory import ShardWork, shard_works
from vivavoce.store.call_log import calls_cost, calls_within, latest_call
from vivavoce.store.damage import decoding
from vivavoce.store.read import provenance
from vivavoce.store.run_counts import came_and_failed, items_by_spec, score_count
from vivavoce.store.runfile import RunFile

Number = TypeVar("Number", int, float)
WINDOW_S = 60.0
"""Seconds over which the rate is counted."""
SILENT_S = 900.0
"""Seconds without a call after which a run has no rate: a Slurm task copies its run every 600."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressRow:
    """How far a run is, or all together.

    `done` and `failed` count responses, `remaining` those that are still to be asked, null where nothing says
    how many are expected. `rate` is calls a minute, over the last minute; `seconds_left` is null without it.
    A run of which the latest call is older, such as a copy, says by `as_of` when that was (UTC), and its rate
    is of the minute before; after 15 minutes without a call it is 0. `as_of` of the total is the oldest that
    its rate counts.
    `error` says why a run cannot be read now. `missing` counts shards of which no run lies there that can
    be read: while it is not 0, or a row has an `error`, what is left in all is null; so is the time where a
    run has some left and no rate. `copy_of` names the run, further on or as far, that holds the same shard
    and counts in place of this one.
    """

    about: str = "progress"
    run: str
    shard: str | None = None
    done: int = 0
    failed: int = 0
    remaining: int | None = None
    scores: int = 0
    rate: float = 0.0
    as_of: str | None = None
    seconds_left: float | None = None
    cost: float | None = None
    error: str | None = None
    missing: int = 0
    copy_of: str | None = None


class _ShardRun(NamedTuple):
    """The row of a run, and what it did in shards."""

    row: ProgressRow
    works: Sequence[ShardWork]

    @property
    def parts(self) -> set[tuple[str, int]]:
        """The parts of jobs that it holds."""
        return {(work.key, work.shard.number) for work in self.works}


def run_files(path: Path) -> list[Path]:
    """The run at a path, or the runs in a folder.

    Raises `RunNotFound` where nothing lies at the path and for a folder without a run, `StoreError` where
    nobody can look now.
    """
    try:
        if not path.exists():
            raise RunNotFound(f"no run at {path}.")
        if not path.is_dir():
            return [path]
        runs = sorted(file for file in path.glob("*.viva") if file.is_file())
    except OSError as error:
        raise StoreError(f"cannot look into {path}: {error.strerror or error}.") from error
    if not runs:
        raise RunNotFound(
            f"no run lies in the folder {path}: a run is a file whose name ends with .viva, such as `viva "
            "collect` makes."
        )
    return runs


def snapshot(path: Path) -> list[ProgressRow]:
    """A row for each run, and one for all: in a folder of shards those that are no shard do not count there.

    Nor do second runs of one shard, such as copies: the one that is furthest counts. A run that is named by
    itself is one shard, which misses no other.

    Raises `RunNotFound` where nothing lies at the path and for a folder without a run.
    """
    files = run_files(path)
    progress_of = _progress if files == [path] else _readable
    runs = [progress_of(file) for file in files]
    rows = _without_copies(runs)
    counted = [row for row in rows if row.shard and not row.copy_of] or rows
    missing = 0 if files == [path] else _count_missing(runs)
    is_known = not (missing or any(row.error for row in rows))
    return [*rows, _total(path, counted, missing, is_known=is_known)]


class _Division(NamedTuple):
    """Exams that are divided into so many shards, and the numbers of those that a run holds."""

    of: int
    exams: frozenset[str]
    numbers: frozenset[int]

    def goes_with(self, division: "_Division") -> bool:
        """Whether both are one division: an exam is in both, or neither names any."""
        same_exams = self.exams & division.exams or self.exams == division.exams
        return self.of == division.of and bool(same_exams)


def _count_missing(runs: Sequence[_ShardRun]) -> int:
    """How many shards have no run, over all divisions. Exams that one run holds are divided together.

    A run that only scores as a shard names no exam: such runs are divided together too.
    """
    divisions: list[_Division] = []
    for run in runs:
        if not run.works:
            continue
        exams = frozenset(str(work.job["benchmark"]) for work in run.works if work.verb == "collect")
        number, of = run.works[-1].shard
        division = _Division(of, exams, frozenset({number}))
        joined = [division, *filter(division.goes_with, divisions)]
        divisions = [d for d in divisions if d not in joined]
        exams = exams.union(*(d.exams for d in joined))
        divisions.append(_Division(of, exams, frozenset().union(*(d.numbers for d in joined))))
    return sum(division.of - len(division.numbers) for division in divisions)


def _without_copies(runs: Sequence[_ShardRun]) -> list[ProgressRow]:
    """The rows in their order; each run whose shards all stand in others, too, names one of these."""
    furthest = sorted(runs, key=lambda run: (run.row.done, run.row.scores), reverse=True)
    holders: dict[tuple[str, int], str] = {}
    copies: dict[str, str] = {}
    for run in furthest:
        if run.parts and run.parts <= holders.keys():
            copies[run.row.run] = holders[min(run.parts)]
        holders = dict.fromkeys(run.parts, run.row.run) | holders
    return [replace(run.row, copy_of=copies.get(run.row.run)) for run in runs]


def _readable(file: Path) -> _ShardRun:
    """The row of a run of several, with the error where it cannot be read now."""
    try:
        return _progress(file)
    except StoreError as error:
        return _ShardRun(ProgressRow(run=str(file), error=str(error)), ())


def _progress(file: Path) -> _ShardRun:
    """The row of a run, and what it did in shards."""
    with RunFile(file).reading() as db:
        works = shard_works(db, since_merge=True)
        expected = _expected(db, works)
        done, failed = came_and_failed(db)
        scores = score_count(db)
        rate, as_of = _rate(db)
        cost, unpriced = calls_cost(db)
    remaining = None if expected is None else max(0, expected - done - failed)
    row = ProgressRow(
        run=str(file),
        shard=str(works[-1].shard) if works else None,
        done=done,
        failed=failed,
        remaining=remaining,
        scores=scores,
        rate=rate,
        as_of=as_of,
        seconds_left=_seconds_left(remaining, rate),
        cost=None if unpriced else finite(cost),
    )
    return _ShardRun(row, works)


def _rate(db: sqlite3.Connection) -> tuple[float, str | None]:
    """Calls a minute over the last minute, or over the minute before the latest call, and when that was."""
    latest = latest_call(db)
    if latest is None:
        return 0.0, None
    as_of = latest.made_at if latest.age_s > WINDOW_S else None
    if latest.age_s > SILENT_S:
        return 0.0, as_of
    # Another machine's clock may be ahead of ours, too.
    is_of_now = 0 <= latest.age_s <= WINDOW_S
    n = calls_within(db, WINDOW_S, None if is_of_now else latest.made_at)
    # A minute that is chosen to end at a call would count a call too many.
    return float((n if is_of_now else n - 1) * 60.0 / WINDOW_S), as_of


def _expected(db: sqlite3.Connection, works: Sequence[ShardWork]) -> int | None:
    """How many responses the collects of a run bring in all; null where that is not known."""
    collects = {work.key: work for work in works if work.verb == "collect"}
    return _expected_in_shards(collects.values()) if collects else _expected_whole(db)


def _expected_in_shards(collects: Iterable[ShardWork]) -> int | None:
    """The same of collects that may overlap: of a benchmark and a candidate the largest counts.

    Log-probabilities count beside text, and those of other requests beside each other. Null where two
    collects have some of these requests in common and not all.
    """
    largest: dict[tuple[str, str], dict[frozenset[str], int]] = {}
    for work in collects:
        with decoding("which shard this is"):
            candidates = [str(candidate) for candidate in work.job["candidates"]]
            requests = frozenset(map(str, work.job.get("for") or ()))
        for candidate in candidates:
            by_requests = largest.setdefault((str(work.job["benchmark"]), candidate), {})
            n = (work.expected or 0) // len(candidates)
            by_requests[requests] = max(by_requests.get(requests, 0), n)
    return _sum(map(_sum_apart, largest.values()))


def _sum_apart(expected: Mapping[frozenset[str], int]) -> int | None:
    """The sum over sets of requests, those that lie in another left out; null where two overlap."""
    widest = [names for names in expected if not names or not any(names < wider for wider in expected)]
    if len(frozenset().union(*widest)) < sum(map(len, widest)):
        return None
    return sum(expected[names] for names in widest)


def _expected_whole(db: sqlite3.Connection) -> int | None:
    """How many responses the collects of a run that is no shard bring in all; null: not known."""
    collects = [row for row in provenance(db) if row["verb"] == "collect"]
    # Of log-probabilities it is not said for which items they are collected.
    if not collects or any("for" in row for row in collects):
        return None
    items = items_by_spec(db)
    return sum(items.get(spec, 0) * n for (spec, _), n in _repeats(collects).items())


def _repeats(collects: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """By benchmark and candidate how often an item is asked."""
    repeats: dict[tuple[str, str], int] = {}
    for row in collects:
        for candidate in row.get("candidates") or ():
            key = str(row.get("benchmark")), str(candidate)
            repeats[key] = max(repeats.get(key, 0), int(row.get("repeats", 1)))
    return repeats


def _seconds_left(remaining: int | None, rate: float) -> float | None:
    if remaining == 0:
        return 0.0
    return None if remaining is None or not rate else remaining / rate * 60.0


def _sum(numbers: Iterable[Number | None]) -> Number | None:
    """The sum; null where a number is not known."""
    total: Number = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def _total(path: Path, rows: Sequence[ProgressRow], missing: int, *, is_known: bool) -> ProgressRow:
    """All rows together; `is_known`: they are all that there is."""
    remaining = _sum(row.remaining for row in rows) if is_known else None
    rate = sum(row.rate for row in rows)
    return ProgressRow(
        about="total",
        run=str(path),
        done=sum(row.done for row in rows),
        failed=sum(row.failed for row in rows),
        remaining=remaining,
        scores=sum(row.scores for row in rows),
        rate=rate,
        as_of=_oldest(rows),
        seconds_left=None if _has_stopped(rows) else _seconds_left(remaining, rate),
        cost=_sum(row.cost for row in rows),
        missing=missing,
    )


def _oldest(rows: Sequence[ProgressRow]) -> str | None:
    """As of when the oldest rate is that counts; null where all are of now."""
    return min((row.as_of for row in rows if row.rate and row.as_of), default=None)


def _has_stopped(rows: Sequence[ProgressRow]) -> bool:
    """Whether a run has some left and asks nobody: the others do not do that for it."""
    return any(row.remaining and not row.rate for row in rows)


def as_rows(rows: Sequence[ProgressRow]) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    return [asdict(row) for row in rows]
