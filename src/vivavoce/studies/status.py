"""Status: what is in a run, what is missing from it, and why."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vivavoce.records import Finding, Measure
from vivavoce.text import is_blank

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "status"]

COLUMNS = (
    *("benchmark", "candidate", "metric", "criterion", "rater", "responses", "ok", "unanswered"),
    *("unreadable", "failed", "causes"),
)


def status(responses: "pl.DataFrame", scores: "pl.DataFrame", measures: Mapping[int, Measure]) -> Finding:
    """One row of `COLUMNS` per benchmark, candidate and measure; before marking, one with a null metric.

    `causes` maps each reason for a row that is not ok to how often it occurred. A blank text is unanswered
    before marking too; what else will count as no answer, marking tells. `responses` are those of the
    formats that the measure marked: some may not have been marked yet, which is a cause of its own.
    """
    rows = [_marked(key, part, responses) for key, part in _parts(scores, measures)]
    marked = {(row["benchmark"], row["candidate"]) for row in rows}
    for key, part in responses.group_by("benchmark", "candidate", maintain_order=True):
        if key not in marked:
            rows.append(_row((*key, None, None, None), _silent(part), "error"))
    rows.sort(key=lambda r: (r["benchmark"], r["candidate"], r["metric"] or "", r["criterion"] or ""))
    return Finding(study="status", rows=tuple(rows), text="\n".join(map(_sentence, rows)))


def _sentence(row: Mapping[str, Any]) -> str:
    """What one measure found of one candidate's answers."""
    by = f"{row['metric']}, {row['criterion']}" if row["metric"] else "not marked yet"
    causes = "; ".join(f"{n} x {why}" for why, n in row["causes"].items())
    return (
        f"{row['benchmark']}, {row['candidate']} ({by}): {row['ok']} of {row['responses']} ok"
        f"{': ' if causes else ''}{causes}."
    )


def _parts(scores: "pl.DataFrame", measures: Mapping[int, Measure]) -> Any:
    parts = scores.group_by("benchmark", "candidate", "measure_id", maintain_order=True)
    for (benchmark, candidate, measure), part in parts:
        m = measures[measure]
        yield (benchmark, candidate, m.metric, m.criterion.criterion, m.rater), part


def _marked(key: tuple[Any, ...], part: "pl.DataFrame", responses: "pl.DataFrame") -> dict[str, Any]:
    """The row of one measure, with what it has yet to mark."""
    import polars as pl

    row = _row(key, part, "note")
    there = responses.filter(
        (pl.col("benchmark") == key[0])
        & (pl.col("candidate") == key[1])
        & pl.col("format").is_in(part.get_column("format").unique().to_list())
    )
    thing = ("item", "variant", "repeat", "edit")
    unmarked = there.height - part.select(thing).n_unique()
    if unmarked > 0:
        row |= {"responses": there.height, "causes": row["causes"] | {"not marked yet": unmarked}}
    return row


def _silent(part: "pl.DataFrame") -> "pl.DataFrame":
    """Answers with those that arrived blank as unanswered, and the causes that marking would give."""
    import polars as pl

    blank = (pl.col("status") == "ok") & pl.col("text").map_elements(is_blank, return_dtype=pl.Boolean)
    return part.with_columns(
        status=pl.when(blank).then(pl.lit("unanswered")).otherwise(pl.col("status")),
        error=pl.when(blank)
        .then(pl.lit("blank: no letter and no digit"))
        .when(pl.col("status") == "filtered")
        .then(pl.lit("withheld by the provider's content filter"))
        .when((pl.col("status") == "failed") & (pl.col("error").fill_null("") == ""))
        .then(pl.lit("no answer was recorded"))
        .otherwise(pl.col("error")),
    )


def _row(key: tuple[Any, ...], part: "pl.DataFrame", cause: str) -> dict[str, Any]:
    import polars as pl

    counts = dict(part.get_column("status").value_counts().iter_rows())
    # A response withheld by the provider's filter is the candidate's silence, marked or not.
    silent = counts.get("unanswered", 0) + counts.get("filtered", 0)
    missing = part.filter(pl.col("status") != "ok").get_column(cause).fill_null("no reason recorded")
    causes = sorted(missing.value_counts().iter_rows(), key=lambda c: (-c[1], c[0]))
    figures = (part.height, counts.get("ok", 0), silent, counts.get("unreadable", 0), counts.get("failed", 0))
    return dict(zip(COLUMNS, (*key, *figures, dict(causes)), strict=True))
