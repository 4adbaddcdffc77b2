"""What stands in each exported table."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vivavoce.store import read
from vivavoce.tables import SCORES

if TYPE_CHECKING:
    import sqlite3

    import polars as pl

__all__ = ["Estimates", "ItemKey", "frame"]

ItemKey = tuple[str, str, str]
"""Benchmark, base id, variant."""
Estimates = Callable[[], Sequence[Mapping[str, Any]]]
"""Gives the rows of the table of estimates, where that is asked for."""


def frame(
    db: "sqlite3.Connection", name: str, *, chosen: "set[ItemKey] | None", estimates: Estimates
) -> "pl.DataFrame":
    """The table of that name; what belongs to items only for those chosen, null choosing all."""
    import polars as pl

    if name == "estimates":
        return _estimates(estimates())
    made = _READ[name](db)
    place = ("benchmark", "item", "variant")
    if chosen is None or not set(place) <= set(made.columns):
        return made
    keys = pl.DataFrame(sorted(chosen), schema=dict.fromkeys(place, pl.String), orient="row")
    return made.join(keys, on=place, how="semi", maintain_order="left")


def _scores(db: "sqlite3.Connection") -> "pl.DataFrame":
    """The scores with what only an analyst asks for: probe, signature, parts and note."""
    import polars as pl

    # A measure marks words, or what one probe told.
    probes = dict(
        db.execute(
            "SELECT measure_id, max(probe) FROM scores JOIN responses USING (response_id) "
            "JOIN edits USING (edit_id) WHERE probe != '' GROUP BY measure_id"
        )
    )
    keys = [(key, probes.get(key, ""), measure.signature) for key, measure in read.measures(db)]
    kinds = {"measure_id": pl.Int64, "probe": pl.String, "signature": pl.String}
    signed = pl.DataFrame(keys, schema=kinds, orient="row")
    frame = read.scores(db, details=True)
    joined = frame.join(signed, on="measure_id", how="left", validate="m:1", maintain_order="left")
    return joined.select(*SCORES, "category", "format", "probe", "signature", "parts", "note")


def _measures(db: "sqlite3.Connection") -> "pl.DataFrame":
    import polars as pl

    names = ("metric", "signature", "rater", "criterion", "low", "high", "direction", "if_unanswered", "pool",
             "smallest_difference")  # fmt: skip
    rows = [
        {"metric": m.metric, "signature": m.signature, "rater": m.rater, **asdict(m.criterion)}
        for _, m in read.measures(db)
    ]
    numbers = ("low", "high", "smallest_difference")
    kinds = {name: pl.Float64 if name in numbers else pl.String for name in names}
    return pl.DataFrame(rows, schema=kinds)


def _benchmarks(db: "sqlite3.Connection") -> "pl.DataFrame":
    import polars as pl

    names = ("benchmark", "spec", "signature", "description", "source", "revision", "revision_note",
             "licence", "access", "citation", "faults")  # fmt: skip
    rows = [
        {"benchmark": b.benchmark, "spec": b.spec, "signature": b.signature, **asdict(b.card)}
        for b in read.benchmarks(db)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String) | {"faults": pl.List(pl.String)})


def _calls(db: "sqlite3.Connection") -> "pl.DataFrame":
    """What was asked of models, oldest first, without the keys of requests and without replies."""
    import polars as pl

    said = ("made_at", "model", "endpoint", "repeat", "kind", "purpose", "status", "attempts", "seconds",
            "input_tokens", "output_tokens", "cost", "error")  # fmt: skip
    answered = ("benchmark", "item", "variant", "candidate")
    whole, parts = ("repeat", "attempts", "input_tokens", "output_tokens"), ("seconds", "cost")
    sql = (
        f"SELECT {', '.join(f'c.{name}' for name in said)}, {', '.join(answered)} FROM calls c "
        "LEFT JOIN responses USING (response_id) LEFT JOIN items USING (item_id) "
        "LEFT JOIN benchmarks USING (benchmark_id) LEFT JOIN candidates USING (candidate_id) "
        "ORDER BY c.made_at, c.call_id"
    )
    kinds = {
        name: pl.Int64 if name in whole else pl.Float64 if name in parts else pl.String
        for name in (*said, *answered)
    }
    return pl.DataFrame(db.execute(sql).fetchall(), schema=kinds, orient="row")


def _findings(db: "sqlite3.Connection") -> "pl.DataFrame":
    return _journal(db, "findings", ("made_at", "study", "settings", "rows"), "finding_id")


def _provenance(db: "sqlite3.Connection") -> "pl.DataFrame":
    return _journal(db, "provenance", ("made_at", "verb", "body"), "provenance_id")


def _journal(db: "sqlite3.Connection", table: str, columns: Sequence[str], key: str) -> "pl.DataFrame":
    """What was noted day by day, the oldest first."""
    import polars as pl

    found = db.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY made_at, {key}").fetchall()
    return pl.DataFrame(found, schema=dict.fromkeys(columns, pl.String), orient="row")


_READ: "Mapping[str, Callable[[sqlite3.Connection], pl.DataFrame]]" = {
    "items": read.items,
    "responses": read.responses,
    "scores": _scores,
    "measures": _measures,
    "benchmarks": _benchmarks,
    "findings": _findings,
    "provenance": _provenance,
    "calls": _calls,
}


_WORDS = ("benchmark", "candidate", "role", "metric", "criterion", "rater", "reason", "signature")


def _estimates(rows: Sequence[Mapping[str, Any]]) -> "pl.DataFrame":
    """Estimates as a table: nested values as JSON text, a column without a value as what it would hold."""
    import polars as pl

    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(_WORDS, pl.String) | {"estimate": pl.Float64})
    flat = [
        {k: json.dumps(v, ensure_ascii=False) if isinstance(v, Mapping | list | tuple) else v
         for k, v in row.items()}
        for row in rows
    ]  # fmt: skip
    frame = pl.DataFrame(flat, infer_schema_length=None)
    return frame.with_columns(
        pl.col(name).cast(pl.String if name in _WORDS else pl.Float64)
        for name, kind in frame.schema.items()
        if kind == pl.Null
    )
