"""What another rater changes: the level of the scores, the order of candidates, and what a line can carry.

Everything rests on responses that both scored. Differences are new minus old, in the criterion's own units
and direction; the unit of every error is the group.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.stats import LEAST_GROUPS
from vivavoce.stats.linking import LEAST_LINKED, Link
from vivavoce.studies.comparing.change import Change, DiffRow
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import FLIPPED, too_few
from vivavoce.studies.score_matrix import ScoreMatrix, common, grids
from vivavoce.studies.score_table import RESPONSE, by_repeat, item_of, weights_of
from vivavoce.studies.text import count

ONE_CASE = "all that both scored is one case, and one case says nothing about the next"


def level(change: Change) -> Iterator[DiffRow]:
    """Rows `level`, of all candidates ('') and of each, and rows `beyond`.

    `beyond` is a candidate's shift minus the mean shift of the others, on items that all have: another
    rater may be kinder to one of them. `p_adjusted` and `family` are the diff's to fill.
    """
    reason = change.why_empty or change.why_not_subtracted
    if reason:
        yield change.row("level", candidate="", reason=reason)
        return
    items = change.items
    yield _shift(change, items, "")
    parts = {str(name): part for (name,), part in items.group_by("candidate", maintain_order=True)}
    for name in sorted(parts):
        # One p for each claim: that a candidate moved at all is no other claim than that all did.
        yield replace(_shift(change, parts[name], name), p=None)
    if len(parts) > 1:
        yield from _beyond(change, items, sorted(parts))


def _beyond(change: Change, items: pl.DataFrame, names: Sequence[str]) -> Iterator[DiffRow]:
    """Each candidate's shift beside that of the others."""
    complete = items.filter(pl.len().over("item", "variant") == len(names))
    shifts = complete["d"].to_numpy().reshape(-1, len(names))  # items are sorted by candidate last
    shared = complete.gather_every(len(names))
    for k, name in enumerate(names):
        if not shared.height:
            reason = "no question has scores of all candidates"
            yield change.row("beyond", candidate=name, reason=reason)
            continue
        d = shifts[:, k] - np.delete(shifts, k, axis=1).mean(axis=1)
        # A difference of two shifts can be twice as wide as a shift.
        tested = _tested(d, shared, 2 * change.width)
        yield change.row("beyond", candidate=name, **tested, n_items=shared.height)


def _shift(change: Change, items: pl.DataFrame, candidate: str) -> DiffRow:
    weights = weights_of(items)
    old, new = (stats.exact_mean(items[name].to_numpy(), weights) for name in ("one", "other"))
    tested = _tested(items["d"].to_numpy(), items, change.width)
    n_items = items.n_unique(["item", "variant"])
    return change.row("level", candidate=candidate, one=old, other=new, **tested, n_items=n_items)


def _tested(d: np.ndarray[Any, Any], items: pl.DataFrame, width: float) -> dict[str, Any]:
    """A mean of differences with what its groups say of it."""
    paired = stats.paired(d, items["group"].to_numpy(), weights=weights_of(items))
    columns: dict[str, Any] = {"difference": paired.difference, "n_groups": paired.n_groups}
    if paired.n_groups < 2:
        return columns | {"reason": ONE_CASE}
    columns["p"] = paired.p
    ends = paired.interval()
    if ends is None:
        alike = "all cases moved alike: without spread there is no interval"
        return columns | {"reason": FLIPPED if paired.se else alike}
    return columns | {"low": max(ends.low, -width), "high": min(ends.high, width), "reason": None}


def order(change: Change) -> Iterator[DiffRow]:
    """A row `order`, a row `rank` per candidate, and a row `pair` for each pair that swapped or changed.

    On responses that both have a value for, silence counted by each measure's own rule, and on items that all
    candidates have. Verdicts are those of a ranking: paired tests by group, Holm over all pairs. Whether a
    pair changed is a test of its own, of the difference under the new less the difference under the old.
    """
    matrices = _matrices(change)
    row = _order_row(change, matrices)
    if matrices is None or row.reason:
        yield row
        return
    old = matrices[0]
    signs = [matrix.sign for matrix in matrices]
    ranked = [stats.rank_intervals(m.values * m.sign, m.groups, weights=m.weights) for m in matrices]
    few = too_few(old.groups)
    few = f"{few} pairs apart" if few else None
    moved = None if few else _moved(change, matrices)
    pairs = list(_pairs(change, old.candidates, ranked, moved, few))
    yield _with_order(row, ranked, pairs, few)
    yield from _ranks(change, old.candidates, ranked, signs)
    yield from (pair for pair in pairs if pair.swapped or pair.change_shown)


def _moved(change: Change, matrices: Sequence[ScoreMatrix]) -> stats.RankIntervals | None:
    """The candidates by how far they moved up; null where the scales have no common unit."""
    if change.ratio is None:
        return None
    old, new = matrices
    shifts = new.values * new.sign - old.values * old.sign * change.ratio
    return stats.rank_intervals(shifts, old.groups, weights=old.weights)


def _order_row(change: Change, matrices: tuple[ScoreMatrix, ScoreMatrix] | None) -> DiffRow:
    """How much there is to be ordered, with a reason where that is too little."""
    if matrices is None or not matrices[0].items:
        reason = change.why_empty or "no question has values of all candidates under both"
        return change.row("order", reason=reason)
    old, _ = matrices
    return change.row(
        "order",
        n_candidates=len(old.candidates),
        n_items=len(old.items),
        n_groups=len(set(old.groups.tolist())),
        reason="one candidate has no rank" if len(old.candidates) < 2 else None,
    )


def _ranks(
    change: Change, names: Sequence[str], ranked: Sequence[stats.RankIntervals], signs: Sequence[int]
) -> list[DiffRow]:
    """The candidates' means and ranks, by their new rank."""
    rows = [
        change.row(
            "rank",
            candidate=name,
            one=float(ranked[0].means[k]) * signs[0],
            other=float(ranked[1].means[k]) * signs[1],
            rank_one=float(ranked[0].ranks[k]),
            rank_other=float(ranked[1].ranks[k]),
        )
        for k, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (row.rank_other, row.candidate))


def _with_order(
    row: DiffRow, ranked: Sequence[stats.RankIntervals], pairs: Sequence[DiffRow], few: str | None
) -> DiffRow:
    """The row with what became of the order; verdicts only where there are not too few groups."""
    means = [r.means for r in ranked]
    alike = stats.order_agreement(*means)
    kendall = stats.kendall(*means)
    swapped = [pair for pair in pairs if pair.swapped]
    flat = "all candidates have one and the same mean" if kendall is None else None
    row = replace(
        row,
        kendall=kendall,
        n_pairs=len(pairs),
        n_same=alike.same,
        n_swapped=len(swapped),
        n_tied=alike.left_out,
        reason=few or flat,
    )
    if few:
        return row
    if all(pair.p_change is not None for pair in pairs):
        row = replace(
            row,
            n_changed=sum(pair.change_shown for pair in pairs),
            n_verdicts_changed=sum(pair.verdict_changed for pair in pairs),
        )
    return replace(
        row,
        n_told_apart_one=ranked[0].n_shown,
        n_told_apart_other=ranked[1].n_shown,
        n_told_apart_alike=stats.shown_agreement(*(r.better for r in ranked)).same,
        n_swapped_told_apart=sum(bool(pair.better_one or pair.better_other) for pair in swapped),
    )


def _pairs(
    change: Change,
    names: Sequence[str],
    ranked: Sequence[stats.RankIntervals],
    moved: stats.RankIntervals | None,
    few: str | None,
) -> Iterator[DiffRow]:
    """How far the first of each pair is ahead under both, who was shown better, and the change."""
    for i, j in combinations(range(len(names)), 2):
        # Rounded, because a tie with a different last digit would count as a swap.
        ahead = [float(stats.rounded(r.means[i] - r.means[j])) for r in ranked]
        better = [names[i] if r.better[i, j] else names[j] if r.better[j, i] else "" for r in ranked]
        yield change.row(
            "pair",
            candidate=names[i],
            against=names[j],
            difference_one=ahead[0],
            difference_other=ahead[1],
            swapped=ahead[0] * ahead[1] < 0,
            better_one=None if few else better[0],
            better_other=None if few else better[1],
            change=None if moved is None else float(stats.rounded(moved.means[i] - moved.means[j])),
            p_change=None if moved is None else float(moved.p[i, j]),
            reason=few,
        )


def _matrices(change: Change) -> tuple[ScoreMatrix, ScoreMatrix] | None:
    """Both tables of candidates by items, of responses that both have a value for."""
    sides = list(zip(change.scores, (change.old, change.new), strict=True))
    counted = [
        by_repeat(rows, measure.criterion).drop_nulls("observed").select(*RESPONSE) for rows, measure in sides
    ]
    shared = counted[0].join(counted[1], on=list(RESPONSE), how="semi")
    matrices: list[ScoreMatrix] = []
    for rows, measure in sides:
        of_both = rows.join(shared, on=list(RESPONSE), how="semi")
        matrices.extend(grids(of_both, {rows["measure_id"][0]: measure}))
    if len(matrices) < 2:
        return None
    old, new = common(*matrices)
    complete = np.all(old.present, axis=0)
    return old.on(complete), new.on(complete)


class _Units(NamedTuple):
    """Old scores on the new scale: start + ratio * old."""

    start: float
    ratio: float

    def scaled(self, old: float) -> float:
        return self.start + self.ratio * old


def bridge(change: Change) -> Iterator[DiffRow]:
    """A row `bridge`, and rows `carried`: what old means correspond to.

    The unit is the candidate: a line through the means of those that both scored, refused where they are
    too few. What is carried are the least, the mean and the greatest of their means, and the means of
    candidates that only the old measure scored; an interval is that of one further candidate.
    """
    items = change.items
    n_groups = items.n_unique("group")
    units = _units(change)
    means = _means(items, "one", "other")
    reason = change.why_empty or _why_refused(change, items, n_groups, len(means))
    if units is None and not reason:
        reason = "the scales differ, and not both have limits"
    if reason or units is None:
        yield change.row("bridge", n_candidates=len(means), n_groups=n_groups, reason=reason)
        return
    names = sorted(means)
    old = [units.scaled(means[name][0]) for name in names]
    link = stats.candidate_link(old, [means[name][1] for name in names])
    residuals = {
        name: means[name][1] - link.intercept - link.slope * x for name, x in zip(names, old, strict=True)
    }
    furthest = max(names, key=lambda name: (abs(residuals[name]), name))
    yield change.row(
        "bridge",
        method=link.method,
        intercept=link.intercept + link.slope * units.start,
        slope=link.slope * units.ratio,
        p_slope=link.p_slope,
        residual=link.residual,
        r=_r(items),
        furthest=furthest,
        furthest_by=residuals[furthest],
        n_values=items.height,
        n_candidates=len(names),
        n_items=items.n_unique(["item", "variant"]),
        n_groups=n_groups,
    )
    yield from _carried(change, {name: pair[0] for name, pair in means.items()}, link, units)


def _units(change: Change) -> _Units | None:
    """How old scores are put on the new scale; null where the scales differ and one has no limits."""
    if change.ratio is None:
        return None
    # The two lower limits correspond; of one scale, with limits or without, nothing is moved.
    start = (
        0.0
        if change.ratio == 1
        else (change.new.criterion.low or 0.0) - change.ratio * (change.old.criterion.low or 0.0)
    )
    return _Units(start, change.ratio)


def _why_refused(change: Change, items: pl.DataFrame, n_groups: int, n_candidates: int) -> str | None:
    """Why there is no bridge; null where there is one."""
    old, new = change.old.criterion, change.new.criterion
    if old.direction != new.direction:
        return f"{old.direction} was better and {new.direction} is now"
    if n_groups < LEAST_GROUPS:
        return f"both scored {count(n_groups, 'case')}: too few for a bridge"
    if not change.why_not_subtracted and not (items["d"] != 0).any():
        return "no score moved: old scores stay as they are"
    r = _r(items)
    if r is None:
        return "the scores of one of them do not vary"
    if r <= 0:
        return "the two do not rise together: a line between them means nothing"
    if n_candidates < LEAST_LINKED:
        return (
            f"both scored {count(n_candidates, 'candidate')}: the shifts of fewer than {LEAST_LINKED} do not "
            "tell how far the next one would shift"
        )
    return None


def _r(items: pl.DataFrame) -> float | None:
    """Pearson's correlation of old and new values of a candidate's item."""
    return stats.pearson(items["one"].to_numpy(), items["other"].to_numpy())


def _means(rows: pl.DataFrame, *columns: str) -> dict[str, tuple[float, ...]]:
    """The means of each candidate over its items, repeats averaged first."""
    by_item = (
        rows.group_by(*item_of(rows), "candidate", maintain_order=True)
        .agg(exact_mean(pl.col(columns)))
        .sort("candidate", "item", "variant")
    )
    return {
        str(name): tuple(stats.exact_mean(part[column].to_numpy(), weights_of(part)) for column in columns)
        for (name,), part in by_item.group_by("candidate", maintain_order=True)
    }


def _carried(change: Change, linked: dict[str, float], link: Link, units: _Units) -> Iterator[DiffRow]:
    """What old means correspond to by the line."""
    lowest, highest = min(linked.values()), max(linked.values())
    of_old_alone = change.responses.drop_nulls("one").filter(~pl.col("candidate").is_in(list(linked)))
    points = [
        ("least", "", lowest),
        ("mean", "", stats.exact_mean(list(linked.values()))),
        ("greatest", "", highest),
    ]
    points += [("candidate", name, old) for name, (old,) in sorted(_means(of_old_alone, "one").items())]
    scale = change.new.criterion
    for point, name, old in points:
        carried = link.at(units.scaled(old), low=scale.low, high=scale.high)
        reasons = []
        if not lowest - 1e-9 <= old <= highest + 1e-9:
            reasons.append(
                f"outside the means that were linked, {lowest:.3g} to {highest:.3g}: the line is extended"
            )
        if not link.residual:
            reasons.append("all candidates lie on the line: no interval")
        yield change.row(
            "carried",
            method=link.method,
            candidate=name,
            point=point,
            one=old,
            other=carried.value,
            low=carried.low,
            high=carried.high,
            clipped=carried.clipped,
            reason="; ".join(reasons) or None,
        )
