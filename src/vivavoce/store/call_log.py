"""The calls of a run as they are looked at later: what was asked and when, what it cost, and what failed."""

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from vivavoce.store.damage import decoding

if TYPE_CHECKING:
    import polars as pl


def call_totals(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """By model and endpoint: calls, those that failed, attempts, tokens and cost; null without a price."""
    columns = ("model", "endpoint", "purpose", "calls", "failed", "attempts", "input_tokens", "output_tokens",
               "cost", "unpriced")  # fmt: skip
    rows = db.execute(
        "SELECT model, endpoint, purpose, count(*), sum(status = 'failed'), sum(attempts), "
        "sum(input_tokens), sum(output_tokens), sum(cost), "
        "sum(cost IS NULL AND status != 'failed') FROM calls "
        "GROUP BY model, endpoint, purpose ORDER BY model, endpoint, purpose"
    )
    return [dict(zip(columns, row, strict=True)) for row in rows]


def call_rows(db: sqlite3.Connection) -> "pl.DataFrame":
    """What was asked of models, oldest first, without the keys of requests and without replies.

    Item and candidate are null where a call brought no candidate's answer in words.
    """
    import polars as pl

    columns = ("made_at", "model", "endpoint", "repeat", "kind", "purpose", "status", "attempts", "seconds",
            "input_tokens", "output_tokens", "cost", "error")  # fmt: skip
    place = ("benchmark", "item", "variant", "candidate")
    integers, floats = ("repeat", "attempts", "input_tokens", "output_tokens"), ("seconds", "cost")
    sql = (
        f"SELECT {', '.join(f'c.{name}' for name in columns)}, {', '.join(place)} FROM calls c "
        "LEFT JOIN responses USING (response_id) LEFT JOIN items USING (item_id) "
        "LEFT JOIN benchmarks USING (benchmark_id) LEFT JOIN candidates USING (candidate_id) "
        "ORDER BY c.made_at, c.call_id"
    )
    kinds = {
        name: pl.Int64 if name in integers else pl.Float64 if name in floats else pl.String
        for name in (*columns, *place)
    }
    with decoding("a call"):
        return pl.DataFrame(db.execute(sql).fetchall(), schema=kinds, orient="row")


def request_keys(db: sqlite3.Connection) -> dict[tuple[str, str, str, str, int], set[str]]:
    """By benchmark, item, variant, candidate and repeat the keys of the requests that brought an answer."""
    keys: dict[tuple[str, str, str, str, int], set[str]] = {}
    rows = db.execute(
        "SELECT b.benchmark, i.item, i.variant, c.candidate, r.repeat, k.key FROM calls k "
        "JOIN responses r USING (response_id) JOIN items i USING (item_id) "
        "JOIN benchmarks b USING (benchmark_id) JOIN candidates c USING (candidate_id) "
        "WHERE i.current = 1 AND k.purpose = 'collect' AND k.status != 'failed'"
    )
    for *place, key in rows:
        keys.setdefault(tuple(place), set()).add(key)
    return keys


class CallsCost(NamedTuple):
    """What calls cost, those without a price left out, and how many these are."""

    cost: float
    unpriced: int


def calls_cost(db: sqlite3.Connection, start: str = "") -> CallsCost:
    """The cost of the calls since a moment (UTC), by default of all."""
    return CallsCost(
        *db.execute(
            "SELECT total(cost), count(*) - count(cost) FROM calls WHERE made_at >= ?", (start,)
        ).fetchone()
    )


class LatestCall(NamedTuple):
    """When the latest call was made (UTC), and how many seconds ago: negative by a clock that was ahead."""

    made_at: str
    age_s: float


def latest_call(db: sqlite3.Connection) -> LatestCall | None:
    """The latest call of the run; null where there is none."""
    made_at, age_s = db.execute(
        "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(made_at)), "
        "86400.0 * (julianday('now') - julianday(max(made_at))) FROM calls"
    ).fetchone()
    return None if made_at is None else LatestCall(made_at, age_s)


def calls_within(db: sqlite3.Connection, seconds: float, moment: str | None = None) -> int:
    """How many calls were made in the seconds before a moment (UTC), null for now, and since."""
    (n,) = db.execute(
        "SELECT count(*) FROM calls WHERE made_at >= strftime('%Y-%m-%dT%H:%M:%fZ', ?, ?)",
        (moment or "now", f"-{seconds:.0f} seconds"),
    ).fetchone()
    return int(n)


def has_calls(db: sqlite3.Connection) -> bool:
    """Whether a model was ever called."""
    return db.execute("SELECT 1 FROM calls LIMIT 1").fetchone() is not None


class FailedCalls(NamedTuple):
    """The failed calls to one model for one purpose: how many by cause, the last cause last.

    `answered_since` counts the calls that were answered after the last failure.
    """

    causes: Mapping[str, int]
    answered_since: int


def response_days(db: sqlite3.Connection) -> "pl.DataFrame | None":
    """The day (UTC) on which each generated response was collected; null where all came on one day.

    Imported responses have none: the run does not know when they were given.
    """
    generated = "FROM calls WHERE kind = 'generate' AND status != 'failed' AND response_id IS NOT NULL"
    ends = "substr(min(made_at), 1, 10), substr(max(made_at), 1, 10)"
    first, last = db.execute(f"SELECT {ends} {generated}").fetchone()
    if first == last:  # both are null where nothing was collected
        return None
    import polars as pl

    names = ("benchmark", "item", "variant", "candidate", "repeat", "day")
    rows = db.execute(
        "SELECT b.benchmark, i.item, i.variant, c.candidate, r.repeat, substr(max(k.made_at), 1, 10) "
        "FROM calls k JOIN responses r USING (response_id) JOIN items i USING (item_id) "
        "JOIN benchmarks b USING (benchmark_id) JOIN candidates c USING (candidate_id) "
        "WHERE k.kind = 'generate' AND k.status != 'failed' AND i.current = 1 AND r.edit_id = 0 "
        "GROUP BY r.response_id"
    ).fetchall()
    types = [pl.Int64 if name == "repeat" else pl.String for name in names]
    return pl.DataFrame(rows, schema=dict(zip(names, types, strict=True)), orient="row")


def failed_calls(db: sqlite3.Connection) -> dict[tuple[str, str, str], FailedCalls]:
    """The failed calls by model, endpoint and purpose."""
    causes: dict[tuple[str, str, str], dict[str, int]] = {}
    for *place, cause, n in db.execute(
        "SELECT model, endpoint, purpose, error, count(*) FROM calls WHERE status = 'failed' "
        "GROUP BY model, endpoint, purpose, error ORDER BY max(call_id)"
    ):
        causes.setdefault((place[0], place[1], place[2]), {})[cause or "no cause was stored"] = n
    answered = {
        (model, endpoint, purpose): n
        for model, endpoint, purpose, n in db.execute(
            "SELECT model, endpoint, purpose, count(*) FROM calls JOIN (SELECT model, endpoint, purpose, "
            "max(call_id) AS last FROM calls WHERE status = 'failed' GROUP BY model, endpoint, purpose) "
            "USING (model, endpoint, purpose) WHERE call_id > last GROUP BY model, endpoint, purpose"
        )
    }
    return {place: FailedCalls(counted, answered.get(place, 0)) for place, counted in causes.items()}
