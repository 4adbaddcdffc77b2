"""Estimates: what each candidate scored on each criterion, how sure that is, and what is missing from it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vivavoce import stats
from vivavoce.records import Criterion, Finding, Measure
from vivavoce.studies import NO_LIMIT, resolve, span
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["COLUMNS", "estimates"]

COLUMNS = (
    *("benchmark", "candidate", "role", "metric", "criterion", "rater", "estimate", "low", "high", "set_low"),
    *("set_high", "bound_low", "bound_high", "n_items", "n_groups", "n_responses", "n_unanswered"),
    *("n_unreadable", "n_failed", "coverage", "reason", "signature"),
)


def estimates(scores: "pl.DataFrame", items: "pl.DataFrame", measures: Mapping[int, Measure]) -> Finding:
    """One row of `COLUMNS` per benchmark, candidate and criterion, the best first.

    `scores` are score rows with `measure_id`; `items` the exam's items, which say what was to be expected:
    coverage is the share of (items of the formats marked) x (the candidate's repeats) whose status is ok.
    `low` and `high` are the 95% interval (Wilson with effective size, or t), null with one group; `set_…`
    what the failed marks could make of the estimate, `bound_…` that with sampling error. `reason` says why a
    figure is null.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for key, measure in measures.items():
        marked = scores.filter(pl.col("measure_id") == key)
        for (benchmark,), part in marked.group_by("benchmark", maintain_order=True):
            formats = part.get_column("format").unique().to_list()
            expected = items.filter(
                (pl.col("benchmark") == benchmark) & pl.col("format").is_in(formats)
            ).height
            made = [{name: r[name] for name in COLUMNS} for r in _candidates(part, measure, expected)]
            better = -1 if measure.criterion.direction == "higher" else 1
            made.sort(key=lambda r: (r["estimate"] is None, better * (r["estimate"] or 0.0), r["candidate"]))
            rows.extend(made)
    return Finding(study="estimates", rows=tuple(rows), text="\n".join(map(_sentence, rows)))


def _sentence(row: Mapping[str, Any]) -> str:
    """One candidate on one criterion: the estimate, how sure it is, and what is missing from it."""
    by = f" by {row['rater']}" if row["rater"] else ""
    what = f"{row['metric']}, {row['criterion']}{by} on {row['benchmark']}: {row['candidate']}"
    if row["estimate"] is None:
        return f"{what}: {row['reason']}."
    ends = "" if row["low"] is None else f" ({row['low']:.3f} to {row['high']:.3f})"
    missing = [f"{row[f'n_{s}']} {s}" for s in ("unanswered", "unreadable", "failed") if row[f"n_{s}"]]
    return (
        f"{what} {row['estimate']:.3f}{ends}, {count(row['n_items'], 'question')} in "
        f"{count(row['n_groups'], 'case')}{'; ' if missing else ''}{', '.join(missing)}."
    )


def _candidates(part: "pl.DataFrame", measure: Measure, expected: int) -> Iterator[dict[str, Any]]:
    """The rows of one criterion on one benchmark."""
    import polars as pl

    values = resolve(part, measure.criterion)
    for (benchmark, candidate, role), own in part.group_by(
        "benchmark", "candidate", "role", maintain_order=True
    ):
        answers = own.filter(pl.col("edit") == "").unique(["item", "variant", "repeat", "status"])
        count = {
            s: answers.filter(pl.col("status") == s).height for s in ("unanswered", "unreadable", "failed")
        }
        n_ok = answers.filter(pl.col("status") == "ok").height
        repeats = answers.get_column("repeat").n_unique()
        yield {
            "benchmark": benchmark,
            "candidate": candidate,
            "role": role,
            "metric": measure.metric,
            "criterion": measure.criterion.criterion,
            "rater": measure.rater,
            "signature": measure.signature,
            **_estimate(values.filter(pl.col("candidate") == candidate), measure.criterion, count["failed"]),
            "n_responses": answers.unique(["item", "variant", "repeat"]).height,
            **{f"n_{status}": n for status, n in count.items()},
            "coverage": n_ok / (expected * repeats) if expected * repeats else None,
        }


def _estimate(values: "pl.DataFrame", criterion: Criterion, failed: int) -> dict[str, Any]:
    """The figures of one candidate from one value per item."""
    import polars as pl

    low, high = criterion.low, criterion.high
    seen = values.filter(pl.col("observed").is_not_null())
    row: dict[str, Any] = dict.fromkeys(
        ("estimate", "low", "high", "set_low", "set_high", "bound_low", "bound_high"), None
    )
    row |= {"n_items": seen.height, "n_groups": seen.n_unique("group"), "reason": None}
    if seen.height:
        e = stats.estimate_mean(seen["observed"].to_numpy(), seen["group"].to_numpy(), low=low, high=high)
        row |= {"estimate": e.value, "low": e.low, "high": e.high}
        if e.low is None:
            row["reason"] = "one group only: no interval"
    else:
        row["reason"] = "every mark failed" if failed else "nothing was answered, and silence is set aside"
    if not failed:
        return row | {"set_low": row["estimate"], "set_high": row["estimate"],
                      "bound_low": row["low"], "bound_high": row["high"]}  # fmt: skip
    found = span(values["low"], values["high"], values["group"], low=low, high=high)
    if found.set_low is None or found.set_high is None:
        row["reason"] = "; ".join(filter(None, (row["reason"], NO_LIMIT)))
    return row | found._asdict()
