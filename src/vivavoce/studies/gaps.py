"""Gaps: whether candidates differ in profile between categories, before any category is talked about.

A candidate's profile is its value minus the mean of all candidates on the item, so that hard categories
are not taken for differences between candidates. Only where the test over all candidates and criteria of
the call shows that a profile differs (Holm) may its categories be read.
"""

from typing import Any

from vivavoce import stats
from vivavoce.records import Finding
from vivavoce.studies import Marks
from vivavoce.studies.grids import Grid, grids, key_of, labels
from vivavoce.studies.words import count

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *(
        "benchmark",
        "metric",
        "criterion",
        "candidate",
        "category",
        "mean",
        "low",
        "high",
        "n_items",
        "n_groups",
    ),
    *("f", "p", "p_adjusted", "differs", "reason"),
)
LEAST_GROUPS = 10


def findings(marks: Marks) -> Finding:
    """A row per candidate and category of every criterion: mean, interval, and the test of the whole profile.

    `f`, `p` and `p_adjusted` are of the candidate's profile over all categories and repeat in its rows;
    `differs` says whether its categories may be read. A category of fewer than 10 cases shows counts, no
    interval.
    """
    tests: list[tuple[Grid, int, stats.Wald | None, str | None]] = []
    for grid in grids(marks.scores, marks.measures):
        full = grid.complete
        centred = full.values - full.values.mean(axis=0) if full.items else full.values
        for k in range(len(full.candidates)):
            tests.append((full, k, *_test(full, centred[k] if full.items else None)))
    known = [t for _, _, t, _ in tests if t is not None and t.p is not None]
    adjusted = iter(stats.holm([t.p for t in known if t.p is not None]).tolist())
    rows: list[dict[str, Any]] = []
    for full, k, test, reason in tests:
        p = next(adjusted) if test is not None and test.p is not None else None
        rows.extend(_rows(full, k, test, p, reason))
    return Finding(study="gaps", rows=tuple(rows), text=_sentences(rows, marks, len(known)))


def _test(grid: Grid, profile: Any) -> tuple[stats.Wald | None, str | None]:
    if len(grid.candidates) < 2:
        return None, "one candidate has no profile against others"
    named = grid.categories != ""
    if profile is None or len(set(grid.categories[named].tolist())) < 2:
        return None, "fewer than two categories"
    test = stats.category_test(profile[named], grid.categories[named], grid.groups[named])
    return test, None if test.p is not None else "too few cases, or no spread, in a category"


def _rows(
    grid: Grid, k: int, test: stats.Wald | None, p: float | None, reason: str | None
) -> list[dict[str, Any]]:
    c = grid.measure.criterion
    rows = []
    for category in sorted(set(grid.categories.tolist()) - {""}):
        here = grid.categories == category
        values, groups = grid.values[k, here], grid.groups[here]
        few = len(set(groups.tolist())) < LEAST_GROUPS
        e = stats.estimate_mean(values, groups, low=c.low, high=c.high)
        rows.append(
            dict.fromkeys(COLUMNS)
            | {
                "benchmark": grid.benchmark,
                "metric": grid.measure.metric,
                "criterion": c.criterion,
                "candidate": grid.candidates[k],
                "category": category,
                "mean": None if few else e.value,
                "low": None if few else e.low,
                "high": None if few else e.high,
                "n_items": e.n,
                "n_groups": e.n_groups,
                "f": test.f if test else None,
                "p": test.p if test else None,
                "p_adjusted": p,
                "differs": None if p is None else bool(p <= stats.ALPHA),
                "reason": reason or (f"{count(e.n_groups, 'case')}: counts only" if few else None),
            }
        )
    return rows


def _sentences(rows: list[dict[str, Any]], marks: Marks, n_tests: int) -> str:
    short = labels(marks.measures)
    names = {(m.metric, m.criterion.criterion): short[key_of(m)] for m in marks.measures.values()}
    shown = dict.fromkeys((r["metric"], r["criterion"], r["candidate"]) for r in rows if r["differs"])
    if not n_tests:
        return "There is too little to tell whether any candidate's profile differs between categories."
    if not shown:
        return (
            f"Of {count(n_tests, 'profile')} tested (Holm), none was shown to differ between categories: "
            "intervals by category are no gaps."
        )
    told = "; ".join(f"{who} on {names[metric, criterion]}" for metric, criterion, who in shown)
    return f"Of {count(n_tests, 'profile')} tested (Holm), these differ between categories: {told}."
