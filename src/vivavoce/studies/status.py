"""Status: what is in a run, what is missing from it, and why."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vivavoce.records import Finding, Measure
from vivavoce.studies.words import count
from vivavoce.tables import within
from vivavoce.text import causes_said, is_blank

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CALLS", "COLUMNS", "status"]

COLUMNS = (
    *("about", "benchmark", "candidate", "metric", "criterion", "rater", "responses", "ok", "unanswered"),
    *("unreadable", "failed", "causes"),
)
CALLS = (
    *("about", "model", "endpoint", "purpose", "calls", "failed", "attempts", "input_tokens"),
    *("output_tokens", "cost", "reason"),
)


def status(
    responses: "pl.DataFrame",
    scores: "pl.DataFrame",
    measures: Mapping[int, Measure],
    calls: Sequence[Mapping[str, Any]] = (),
    only: Mapping[int, frozenset[tuple[str, str, str]]] | None = None,
    probes: Mapping[int, str] | None = None,
) -> Finding:
    """What is here of marks, and what was asked; `about` tells the rows apart.

    `marks`: one row of `COLUMNS` per benchmark, candidate and measure; before marking, one with a null
    metric, or in its place the name of what was asked of the model's probabilities; `probes` says which
    measures mark that. `calls`: one row of `CALLS` per model, endpoint and purpose, from those of
    `store.calls.spent`. Failed calls may have been made good by later ones. Tokens are those that the
    endpoint counted, null where it counted none; the cost is null, with a reason, where a call that was
    answered has no price.

    `causes` maps each reason for a row that is not ok to how often it occurred. A blank text is unanswered
    before marking too; what else will count as no answer, marking tells. Each answer counts once: marked in
    several passes, pieces or ballots it is what the worst of those marks is (failed, unreadable, unanswered,
    ok). `responses` are those of the formats that the measure marked, and of those of its items that `only`
    names: some may not have been marked yet, which is a cause of its own. Where answers are set side by
    side, edited ones are none of them, nor those that have none beside them.
    """
    by_probe = {str(name): part for (name,), part in responses.group_by("probe")}
    rows, marked = [], set()
    for m, key, part in _parts(scores, measures):
        probe = (probes or {}).get(m, "")
        rows.append(_marked(key, part, by_probe.get(probe, responses.clear()), (only or {}).get(m)))
        marked.add((*key[:2], probe))
    for (*who, probe), part in responses.group_by("benchmark", "candidate", "probe", maintain_order=True):
        if (*who, probe) not in marked:
            missing = part if probe else _silent(part)
            rows.append(_row((*who, probe or None, None, None), missing, "error"))
    rows.sort(key=lambda r: (r["benchmark"], r["candidate"], r["metric"] or "", r["criterion"] or ""))
    asked = [_called(one) for one in calls]
    text = [*map(_sentence, rows), *map(_bill, asked)]
    return Finding(study="status", rows=(*rows, *asked), text="\n".join(text))


def _called(one: Mapping[str, Any]) -> dict[str, Any]:
    """The row of one model at one endpoint. A sum of the calls with a price alone would be too low a bill."""
    priced = not one["unpriced"]
    reason = None if priced else f"no price is known of {count(one['unpriced'], 'call')}"
    cost = one["cost"] if priced else None
    if cost is None and reason is None:
        reason = "no call was answered"
    made = {name: one.get(name) for name in CALLS}
    return made | {"about": "calls", "cost": cost, "reason": reason}


def _bill(row: Mapping[str, Any]) -> str:
    """What was asked of one model, and what it cost."""
    cost = f"cost {row['cost']:.4f}" if row["cost"] is not None else f"cost not known: {row['reason']}"
    at = f" at {row['endpoint']}" if row["endpoint"] else ""
    made = f"{count(row['calls'], 'call')}, {row['failed']} failed"
    return f"{row['model']}{at} ({row['purpose']}): {made}; {cost}."


def _sentence(row: Mapping[str, Any]) -> str:
    """What one measure found of one candidate's answers."""
    by = f"{row['metric']}, {row['criterion'] or 'not marked yet'}" if row["metric"] else "not marked yet"
    causes = causes_said(row["causes"])
    return (
        f"{row['benchmark']}, {row['candidate']} ({by}): {row['ok']} of {row['responses']} ok"
        f"{': ' if causes else ''}{causes}."
    )


def _parts(scores: "pl.DataFrame", measures: Mapping[int, Measure]) -> Any:
    parts = scores.group_by("benchmark", "candidate", "measure_id", maintain_order=True)
    for (benchmark, candidate, measure), part in parts:
        m = measures[measure]
        yield measure, (benchmark, candidate, m.metric, m.criterion.criterion, m.rater), part


def _marked(
    key: tuple[Any, ...],
    part: "pl.DataFrame",
    responses: "pl.DataFrame",
    only: "frozenset[tuple[str, str, str]] | None",
) -> dict[str, Any]:
    """The row of one measure, with what it has yet to mark; `only` are the items it marks, null for all."""
    import polars as pl

    row = _row(key, _by_answer(part), "note")
    there = responses.filter(
        (pl.col("benchmark") == key[0])
        & (pl.col("candidate") == key[1])
        & pl.col("format").is_in(part.get_column("format").unique().to_list())
    )
    there = within(there, only)
    if (part["ballot"] != "").any():
        there = there.join(_met(responses), on=["benchmark", "item", "variant", "repeat"], how="semi")
        there = there.filter(pl.col("edit") == "")
    unmarked = there.height - row["responses"]
    if unmarked > 0:
        row |= {"responses": there.height, "causes": row["causes"] | {"not marked yet": unmarked}}
    return row


def _by_answer(part: "pl.DataFrame") -> "pl.DataFrame":
    """A row for each answer of a candidate: of its marks by one measure the worst."""
    import polars as pl

    worst_first = pl.Enum(["failed", "unreadable", "unanswered", "ok"])
    return (
        part.sort(pl.col("status").cast(worst_first), "pass_no", "unit", "ballot", maintain_order=True)
        .unique(["item", "variant", "repeat", "edit"], keep="first", maintain_order=True)
    )  # fmt: skip


def _met(responses: "pl.DataFrame") -> "pl.DataFrame":
    """The questions and repeats that several candidates answered: only those answers meet others."""
    import polars as pl

    own = responses.filter((pl.col("edit") == "") & (pl.col("role") == "candidate"))
    answered = own.group_by("benchmark", "item", "variant", "repeat").agg(n=pl.col("candidate").n_unique())
    return answered.filter(pl.col("n") > 1)


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
    return dict(zip(COLUMNS, ("marks", *key, *figures, dict(causes)), strict=True))
