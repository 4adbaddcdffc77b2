"""What another examiner changes: the level of the marks and the order of candidates.

Everything rests on answers that both marked. Differences are new minus old, in the criterion's own units and
direction; the unit of every error is the case.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.records import Measure
from vivavoce.studies import ITEM, LEAST_GROUPS, by_repeat, item_of, weighted_mean, weights_of
from vivavoce.studies.grids import Grid, common, grids
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ANSWER", "PARTS", "Change", "level", "order"]

ANSWER = (*ITEM[:3], "candidate", "repeat")
"""The columns that name an answer."""
ALONE = "all that both marked is one case, and one case says nothing about the next"

PARTS: dict[str, tuple[str, ...]] = {
    "overlap": ("n_both", "n_only_one", "n_only_other", "n_neither"),
    "status": ("status_one", "status_other", "n_answers"),
    "moved": (
        *("n_answers", "n_moved", "n_up", "n_down", "n_items", "n_items_moved", "n_groups"),
        *("margin", "n_by_margin"),
    ),
    "item": ("item", "candidate", "one", "other", "difference", "n_answers"),
    "agreement": ("candidate", "coefficient", "value", "low", "high", "n_answers", "n_groups"),
    "level": (
        *("candidate", "one", "other", "difference", "low", "high", "p", "p_adjusted", "family"),
        *("n_items", "n_groups"),
    ),
    "beyond": ("candidate", "difference", "low", "high", "p", "p_adjusted", "family", "n_items", "n_groups"),
    "order": (
        *("kendall", "n_candidates", "n_items", "n_groups", "n_pairs", "n_same", "n_swapped", "n_tied"),
        *("n_swapped_told_apart", "n_told_apart_one", "n_told_apart_other", "n_told_apart_alike"),
        "n_verdicts_changed",
    ),
    "rank": ("candidate", "one", "other", "rank_one", "rank_other"),
    "pair": (
        "candidate",
        "against",
        "difference_one",
        "difference_other",
        "swapped",
        "better_one",
        "better_other",
    ),
    "bridge": (
        *("method", "intercept", "se_intercept", "slope", "se_slope", "residual", "r", "furthest"),
        *("furthest_by", "n_values", "n_candidates", "n_items", "n_groups"),
    ),
    "carried": ("method", "candidate", "point", "one", "other", "low", "high", "clipped"),
}
"""The columns of each part, beside the part's name, `benchmark`, `criterion`, the raters and `reason`."""


class Change(NamedTuple):
    """One criterion on one benchmark under two measures.

    `answers` has a row per answer that either knows: `ANSWER`, group, `name` of the item, where there is one
    weight, the marks `one` and `other` (null unless ok), `status_one` and `status_other` (null if that one
    never marked it). `scores` are the score rows of the two.
    """

    benchmark: str
    one: Measure
    other: Measure
    answers: "pl.DataFrame"
    scores: "tuple[pl.DataFrame, pl.DataFrame]"

    @property
    def both(self) -> "pl.DataFrame":
        """The answers that both have a mark for."""
        return self.answers.drop_nulls(["one", "other"])

    @property
    def items(self) -> "pl.DataFrame":
        """The means over repeats of what both marked: a row per item and candidate, `d` the difference."""
        import polars as pl

        return (
            self.both.group_by(*item_of(self.answers), "name", "candidate", maintain_order=True)
            .agg(pl.col("one", "other").mean(), n=pl.len())
            .with_columns(d=(pl.col("other") - pl.col("one")).round(9))
            .sort("item", "variant", "candidate")
        )

    @property
    def empty(self) -> str | None:
        """Why nothing can be said; null if something can."""
        return None if self.both.height else "no answer was marked by both"

    @property
    def scales(self) -> str | None:
        """Why marks of the two cannot be subtracted; null if they can."""
        a, b = self.one.criterion, self.other.criterion
        if (a.low, a.high) != (b.low, b.high):
            ends = [
                " to ".join("no limit" if e is None else f"{e:g}" for e in (c.low, c.high)) for c in (a, b)
            ]
            return f"the scales differ ({ends[0]}, then {ends[1]}): only the order is compared"
        if a.direction != b.direction:
            return f"{a.direction} was better and {b.direction} is now: only the order is compared"
        return None

    @property
    def width(self) -> float:
        """The most that a mark can move."""
        c = self.other.criterion
        return float("inf") if c.low is None or c.high is None else c.high - c.low

    def row(self, part: str, **found: Any) -> dict[str, Any]:
        """A row of a part."""
        place = {
            "part": part,
            "benchmark": self.benchmark,
            "criterion": self.one.criterion.criterion,
            "rater_one": self.one.rater,
            "rater_other": self.other.rater,
        }
        return place | dict.fromkeys((*PARTS[part], "reason")) | found


def level(change: Change) -> Iterator[dict[str, Any]]:
    """Rows `level`, of all candidates ('') and of each, and rows `beyond`.

    `beyond` is a candidate's shift minus the mean shift of the others, on items that all have: another
    examiner may be kinder to one of them. `p_adjusted` and `family` are the study's to fill.
    """
    import polars as pl

    why = change.empty or change.scales
    if why:
        yield change.row("level", candidate="", reason=why)
        return
    items = change.items
    yield _shift(change, items, "")
    parts = {str(name): part for (name,), part in items.group_by("candidate", maintain_order=True)}
    for name in sorted(parts):
        # One p for each claim: that a candidate moved at all is no other claim than that all did.
        yield _shift(change, parts[name], name) | {"p": None}
    if len(parts) < 2:
        return
    full = items.filter(pl.len().over("item", "variant") == len(parts))
    apart = full["d"].to_numpy().reshape(-1, len(parts))  # items are sorted by candidate last
    first = full.gather_every(len(parts))
    for k, name in enumerate(sorted(parts)):
        if not first.height:
            yield change.row("beyond", candidate=name, reason="no question has marks of all candidates")
            continue
        d = apart[:, k] - np.delete(apart, k, axis=1).mean(axis=1)
        yield change.row(
            "beyond", candidate=name, **_tested(d, first, 2 * change.width), n_items=first.height
        )


def _shift(change: Change, items: "pl.DataFrame", candidate: str) -> dict[str, Any]:
    weights = weights_of(items)
    means = {name: weighted_mean(items[name].to_numpy(), weights) for name in ("one", "other")}
    found = _tested(items["d"].to_numpy(), items, change.width)
    n = items.n_unique(["item", "variant"])
    return change.row("level", candidate=candidate, **means, **found, n_items=n)


def _tested(d: "np.ndarray[Any, Any]", items: "pl.DataFrame", width: float) -> dict[str, Any]:
    """A mean of differences with what its cases say of it."""
    found = stats.paired(d, items["group"].to_numpy(), weights=weights_of(items))
    row: dict[str, Any] = {"difference": found.difference, "n_groups": found.n_groups}
    ends = found.interval()
    if ends is None:
        return row | {"reason": ALONE}
    # Under the sign test the mean and most cases may disagree: p then speaks for nobody.
    row["p"] = found.p if found.direction or not found.difference else None
    if not found.se:
        return row | {"reason": "all cases moved alike: without spread there is no interval"}
    why = None if row["p"] is not None else "the mean and most cases moved opposite ways: no p"
    return row | {"low": max(ends.low, -width), "high": min(ends.high, width), "reason": why}


def order(change: Change) -> Iterator[dict[str, Any]]:
    """A row `order`, a row `rank` per candidate, and a row `pair` for each pair that swapped or whose
    verdict changed.

    On answers that both have a value for, silence counted by each measure's own rule, and on items that all
    candidates have. Verdicts are those of a ranking: paired tests by case, Holm over all pairs.
    """
    found = _grids(change)
    if found is None or not found[0].items:
        why = change.empty or "no question has values of all candidates under both"
        yield change.row("order", reason=why)
        return
    one = found[0]
    n_groups = len(set(one.groups.tolist()))
    shape = {"n_candidates": len(one.candidates), "n_items": len(one.items), "n_groups": n_groups}
    if len(one.candidates) < 2:
        yield change.row("order", **shape, reason="one candidate has no rank")
        return
    signs = [1 if g.measure.criterion.direction == "higher" else -1 for g in found]
    ranked = [
        stats.rank_intervals(grid.values * sign, grid.groups, weights=grid.weights)
        for grid, sign in zip(found, signs, strict=True)
    ]
    few = f"{count(n_groups, 'case')}: too few to tell pairs apart" if n_groups < LEAST_GROUPS else None
    pairs = [
        change.row("pair", candidate=one.candidates[i], against=one.candidates[j], reason=few,
                   **_pair(one.candidates, ranked, (i, j), told=not few))
        for i, j in combinations(range(len(one.candidates)), 2)
    ]  # fmt: skip
    better = [r.means for r in ranked]
    alike, shown = stats.order_agreement(*better), stats.shown_agreement(*(r.better for r in ranked))
    swapped = [p for p in pairs if p["swapped"]]
    row = shape | {
        "kendall": stats.kendall(*better),
        "n_pairs": len(pairs),
        "n_same": alike.same,
        "n_swapped": len(swapped),
        "n_tied": alike.left_out,
    }
    if not few:
        row |= {
            "n_told_apart_one": ranked[0].n_shown,
            "n_told_apart_other": ranked[1].n_shown,
            "n_told_apart_alike": shown.same,
            "n_swapped_told_apart": sum(bool(p["better_one"] or p["better_other"]) for p in swapped),
            "n_verdicts_changed": sum(p["better_one"] != p["better_other"] for p in pairs),
        }
    flat = "all candidates have one and the same mean" if row["kendall"] is None else None
    yield change.row("order", **row, reason=few or flat)
    ranks = [
        change.row("rank", candidate=name, one=float(better[0][k]) * signs[0],
                   other=float(better[1][k]) * signs[1],
                   rank_one=float(ranked[0].ranks[k]), rank_other=float(ranked[1].ranks[k]))
        for k, name in enumerate(one.candidates)
    ]  # fmt: skip
    yield from sorted(ranks, key=lambda r: (r["rank_other"], r["candidate"]))
    yield from (p for p in pairs if p["swapped"] or p["better_one"] != p["better_other"])


def _pair(
    names: Sequence[str], ranked: Sequence[stats.RankIntervals], at: tuple[int, int], *, told: bool
) -> dict[str, Any]:
    """How far the first of a pair is ahead under both, and who was shown better: '' if neither."""
    i, j = at
    ahead = [round(float(r.means[i] - r.means[j]), 9) for r in ranked]
    shown = [names[i] if r.better[i, j] else names[j] if r.better[j, i] else "" for r in ranked]
    return {
        "difference_one": ahead[0],
        "difference_other": ahead[1],
        "swapped": ahead[0] * ahead[1] < 0,
        "better_one": shown[0] if told else None,
        "better_other": shown[1] if told else None,
    }


def _grids(change: Change) -> tuple[Grid, Grid] | None:
    """Both tables of candidates by items, of answers that both have a value for."""
    counted = [
        by_repeat(rows, measure.criterion).drop_nulls("observed").select(*ANSWER)
        for rows, measure in zip(change.scores, (change.one, change.other), strict=True)
    ]
    shared = counted[0].join(counted[1], on=list(ANSWER), how="semi")
    made: list[Grid] = []
    for rows, measure in zip(change.scores, (change.one, change.other), strict=True):
        made.extend(grids(rows.join(shared, on=list(ANSWER), how="semi"), {rows["measure_id"][0]: measure}))
    if len(made) < 2:
        return None
    one, other = common(*made)
    kept = np.all(one.present, axis=0)
    return one.on(kept), other.on(kept)
