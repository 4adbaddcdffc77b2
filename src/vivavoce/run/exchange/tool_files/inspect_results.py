"""Results of a log of Inspect: our estimates with their intervals, as metrics of each scorer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vivavoce.run.exchange.tool_files.asked import filled
from vivavoce.run.exchange.tool_files.inspect_scores import OURS, Scorers, plain_names

_NUMBERS = ("n_items", "n_groups", "n_responses", "n_unanswered", "n_unreadable", "n_failed", "n_set_aside")
_FACTS = (
    *("low", "high", "set_low", "set_high", "bound_low", "bound_high", "coverage", "reason", "signature"),
    *_NUMBERS,
)


def results_of(
    benchmark: str,
    candidate: str,
    scorers: Scorers,
    counts: Mapping[str, int],
    estimates: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The results: how many samples there are, and by scorer and criterion the estimates of this run."""
    rows = [row for row in estimates if (row["benchmark"], row["candidate"]) == (benchmark, candidate)]
    return {
        "total_samples": counts["samples"],
        "completed_samples": counts["samples"] - counts["errors"],
        "scores": list(_scores(rows, scorers, counts)),
    }


def _scores(
    rows: Sequence[Mapping[str, Any]], scorers: Scorers, counts: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    measures = {(m.signature, m.rater, m.criterion.criterion): m for m in scorers.measures.values()}
    for row in rows:
        key = (row["signature"], row["rater"], row["criterion"])
        if key not in measures or row["estimate"] is None:  # a metric of Inspect is a number
            continue
        scorer = scorers.name_of(measures[key])
        yield {
            "name": scorer if row["criterion"] in plain_names(measures[key]) else row["criterion"],
            "scorer": scorer, "reducer": "mean",
            "scored_samples": counts.get(f"scored {scorer}", 0),
            "unscored_samples": counts.get(f"unscored {scorer}", 0),
            "params": {}, "metrics": dict(_metrics(row)),
            "metadata": {OURS: filled({name: row[name] for name in _FACTS})},
        }  # fmt: skip


def _metrics(row: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mean, and the ends of its 95 % interval where it has them."""
    for name, field in (("mean", "estimate"), ("low 95%", "low"), ("high 95%", "high")):
        if row[field] is not None:
            yield name, {"name": name, "value": row[field], "params": {}}
