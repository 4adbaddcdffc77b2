"""Ranking: the order by mean with rank intervals, and beside it the order by mean rank.

Means ask by how much, mean ranks how often; the two may differ and are never mixed. The unit is the case;
items that a candidate lacks are left out for all.
"""

from collections.abc import Mapping
from typing import Any

from vivavoce import stats
from vivavoce.records import Finding
from vivavoce.studies import LEAST_GROUPS, Marks, unweighted
from vivavoce.studies.grids import Grid, grids, key_of, labels, left_out
from vivavoce.studies.words import count, number

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "mean", "rank", "rank_low", "rank_high"),
    *("mean_rank", "mean_rank_items", "n_candidates", "n_items", "n_groups", "n_shown", "n_pairs"),
    *("friedman_chi2", "friedman_f", "friedman_p", "critical_difference", "reason"),
)


def findings(marks: Marks) -> Finding:
    """A row per candidate, benchmark and criterion, the best first.

    `rank_low` to `rank_high` are the ranks that paired tests leave open (Holm over all pairs); `n_shown` of
    `n_pairs` pairs were told apart. `mean_rank` is over cases, `mean_rank_items` over questions. Friedman's
    figures and the critical difference of mean ranks (over cases) are of the whole criterion and repeat in
    each row.
    """
    rows: list[dict[str, Any]] = []
    said = []
    short = labels(marks.measures)
    for grid in grids(marks.scores, marks.measures):
        full = grid.complete
        own = _rows(full)
        rows.extend(own)
        said.append(_sentence(short[key_of(grid.measure)], full, own))
    return Finding(study="ranking", rows=tuple(rows), text="\n".join(said), notes=_notes(marks))


def _notes(marks: Marks) -> tuple[str, ...]:
    sampled = unweighted(marks.scores, "means and ranks are weighted; mean ranks and Friedman's test count")
    return (*left_out(marks), *sampled)


def _rows(grid: Grid) -> list[dict[str, Any]]:
    c = grid.measure.criterion
    sign = 1 if c.direction == "higher" else -1
    n_groups = len(set(grid.groups.tolist()))
    shared: dict[str, Any] = dict.fromkeys(COLUMNS) | {
        "benchmark": grid.benchmark,
        "metric": grid.measure.metric,
        "criterion": c.criterion,
        "rater": grid.measure.rater,
        "n_candidates": len(grid.candidates),
        "n_items": len(grid.items),
        "n_groups": n_groups,
    }
    few = _too_few(grid, n_groups)
    if few:
        means = grid.means() if grid.items else [None] * len(grid.candidates)
        return [
            shared | {"candidate": name, "mean": None if mean is None else float(mean), "reason": few}
            for name, mean in zip(grid.candidates, means, strict=True)
        ]
    ranked = stats.rank_intervals(grid.values * sign, grid.groups, weights=grid.weights)
    order = stats.friedman(grid.values * sign, grid.groups)
    by_item = stats.mean_ranks(grid.values * sign)
    shared |= {
        "n_shown": ranked.n_shown,
        "n_pairs": ranked.n_pairs,
        "friedman_chi2": order.chi2,
        "friedman_f": order.f,
        "friedman_p": order.p_f,
        "critical_difference": stats.nemenyi_distance(len(grid.candidates), order.n_blocks),
    }
    rows = [
        shared
        | {
            "candidate": name,
            "mean": float(ranked.means[k]) * sign,
            "rank": float(ranked.ranks[k]),
            "rank_low": ranked.intervals[k].best,
            "rank_high": ranked.intervals[k].worst,
            "mean_rank": float(order.mean_ranks[k]),
            "mean_rank_items": float(by_item[k]),
        }
        for k, name in enumerate(grid.candidates)
    ]
    return sorted(rows, key=lambda row: (row["rank"], row["candidate"]))


def _too_few(grid: Grid, n_groups: int) -> str | None:
    if len(grid.candidates) < 2:
        return "one candidate has no rank"
    if n_groups < LEAST_GROUPS:
        return f"{count(n_groups, 'case')} that all candidates have marks on: too few to rank"
    return None


def _sentence(label: str, grid: Grid, rows: list[Mapping[str, Any]] | list[dict[str, Any]]) -> str:
    name = f"{label} on {grid.benchmark}"
    first = rows[0] if rows else None
    if first is None or first["reason"]:
        return f"{name}: {first['reason'] if first else 'no marks'}."
    on = f"{count(len(grid.items), 'question')} in {count(first['n_groups'], 'case')}"
    ranks = ", ".join(
        f"{r['candidate']} {r['rank_low']}"
        + (f"-{r['rank_high']}" if r["rank_high"] > r["rank_low"] else "")
        + f" ({number(r['mean'], grid.measure.criterion)}; {r['mean_rank']:.2f})"
        for r in rows
    )
    return (
        f"{name} ({on}; {first['n_shown']} of {first['n_pairs']} pairs told apart), ranks left open (mean; "
        f"mean rank): {ranks}."
    )
