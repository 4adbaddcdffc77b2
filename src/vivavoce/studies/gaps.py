"""Gaps: whether candidates differ in profile between categories, before any category is talked about.

A candidate's profile is its value minus the mean of all candidates on the item, so that hard categories
are not taken for differences between candidates. Only where the test over all candidates and criteria of
the call shows that a profile differs (Holm) may its categories be read.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding
from vivavoce.studies import LEAST_GROUPS, Marks, unweighted
from vivavoce.studies.grids import Grid, grids, key_of, labels, left_out
from vivavoce.studies.words import count

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "metric", "criterion", "rater", "candidate", "category", "mean", "low", "high"),
    *("n_items", "n_groups", "f", "p", "p_adjusted", "differs", "reason"),
)


def findings(marks: Marks) -> Finding:
    """A row per candidate and category of every criterion: mean, interval, and the test of the whole profile.

    `f`, `p` and `p_adjusted` are of the candidate's profile over all categories and repeat in its rows;
    `differs` says whether its categories may be read. A category of fewer than 10 cases shows counts, no
    interval, and is not in the test.
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
    seen: dict[tuple[str, int, int], dict[tuple[str, str, str], None]] = {}
    for full, *_ in tests:
        size = full.benchmark, len(full.items), len(set(full.groups.tolist()))
        seen.setdefault(size, {})[key_of(full.measure)] = None
    text = _sentences(rows, marks, len(known), seen)
    return Finding(study="gaps", rows=tuple(rows), text=text, notes=_notes(marks))


def _notes(marks: Marks) -> tuple[str, ...]:
    sampled = unweighted(marks.scores, "means by category are weighted; the test of profiles counts")
    return (*left_out(marks), *sampled)


def _test(grid: Grid, profile: Any) -> tuple[stats.Wald | None, str | None]:
    if len(grid.candidates) < 2:
        return None, "one candidate has no profile against others"
    named = np.isin(grid.categories, [c for c in _categories(grid) if _cases(grid, c) >= LEAST_GROUPS])
    if profile is None or len(set(grid.categories[named].tolist())) < 2:
        return None, f"fewer than two categories of {LEAST_GROUPS} cases: too few to tell"
    test = stats.category_test(profile[named], grid.categories[named], grid.groups[named])
    return test, None if test.p is not None else "no spread in a category"


def _categories(grid: Grid) -> list[str]:
    return sorted(set(grid.categories.tolist()) - {""})


def _cases(grid: Grid, category: str) -> int:
    return len(set(grid.groups[grid.categories == category].tolist()))


def _rows(
    grid: Grid, k: int, test: stats.Wald | None, p: float | None, reason: str | None
) -> list[dict[str, Any]]:
    c = grid.measure.criterion
    rows = []
    for category in _categories(grid):
        here = grid.categories == category
        values, groups = grid.values[k, here], grid.groups[here]
        few = _cases(grid, category) < LEAST_GROUPS
        weights = None if grid.weights is None else grid.weights[here]
        e = stats.estimate_mean(values, groups, weights=weights, low=c.low, high=c.high)
        rows.append(
            dict.fromkeys(COLUMNS)
            | {
                "benchmark": grid.benchmark,
                "metric": grid.measure.metric,
                "criterion": c.criterion,
                "rater": grid.measure.rater,
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
                "reason": (f"{count(e.n_groups, 'case')}: counts only" if few else None) or reason,
            }
        )
    return rows


def _sentences(
    rows: list[dict[str, Any]],
    marks: Marks,
    n_tests: int,
    seen: Mapping[tuple[str, int, int], Iterable[tuple[str, str, str]]],
) -> str:
    short = labels(marks.measures)
    names = {(m.metric, m.criterion.criterion, m.rater): short[key_of(m)] for m in marks.measures.values()}
    shown = dict.fromkeys(
        (r["metric"], r["criterion"], r["rater"], r["benchmark"], r["candidate"])
        for r in rows
        if r["differs"]
    )
    # Measures that mark different formats rest on different questions: then each is named.
    on = "; ".join(
        (name if len(seen) == 1 else f"{', '.join(short[key] for key in keys)} on {name}")
        + f": {count(n, 'question')} in {count(g, 'case')}"
        for (name, n, g), keys in seen.items()
    )
    if not n_tests:
        return "There is too little to tell whether any candidate's profile differs between categories" + (
            f" ({on})." if on else "."
        )
    if not shown:
        return (
            f"Of {count(n_tests, 'profile')} tested (Holm; {on}), none was shown to differ between "
            "categories: intervals by category are no gaps."
        )
    several = len({name for name, *_ in seen}) > 1
    told = "; ".join(
        f"{who} on {names[metric, criterion, rater]}" + (f" ({benchmark})" if several else "")
        for metric, criterion, rater, benchmark, who in shown
    )
    return f"Of {count(n_tests, 'profile')} tested (Holm; {on}), these differ between categories: {told}."
