"""What another rater changes: the level of the scores, the order of candidates, and what a line can carry.

Everything rests on responses that both scored. Differences are new minus old, in the criterion's own units
and direction; the unit of every error is the group.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, get_args

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.stats import LEAST_GROUPS
from vivavoce.stats.linking import Link, Linking, linear_link
from vivavoce.studies.comparing.change import Change, DiffRow
from vivavoce.studies.intervals import FLIPPED, too_few
from vivavoce.studies.score_matrix import ScoreMatrix, common, grids
from vivavoce.studies.score_table import RESPONSE, by_repeat, item_of, weighted_mean, weights_of
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
    old, new = (weighted_mean(items[name].to_numpy(), weights) for name in ("one", "other"))
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
    """A row `order`, a row `rank` per candidate, and a row `pair` for each pair that swapped or whose
    verdict changed.

    On responses that both have a value for, silence counted by each measure's own rule, and on items that all
    candidates have. Verdicts are those of a ranking: paired tests by group, Holm over all pairs.
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
    pairs = list(_pairs(change, old.candidates, ranked, few))
    yield _with_order(row, ranked, pairs, few)
    yield from _ranks(change, old.candidates, ranked, signs)
    yield from (pair for pair in pairs if pair.swapped or pair.verdict_changed)


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
    return replace(
        row,
        n_told_apart_one=ranked[0].n_shown,
        n_told_apart_other=ranked[1].n_shown,
        n_told_apart_alike=stats.shown_agreement(*(r.better for r in ranked)).same,
        n_swapped_told_apart=sum(bool(pair.better_one or pair.better_other) for pair in swapped),
        n_verdicts_changed=sum(pair.verdict_changed for pair in pairs),
    )


def _pairs(
    change: Change, names: Sequence[str], ranked: Sequence[stats.RankIntervals], few: str | None
) -> Iterator[DiffRow]:
    """How far the first of each pair is ahead under both, and who was shown better: '' if neither."""
    for i, j in combinations(range(len(names)), 2):
        # Rounded, because a tie with a different last digit would count as a swap.
        ahead = [round(float(r.means[i] - r.means[j]), 9) for r in ranked]
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


def bridge(change: Change) -> Iterator[DiffRow]:
    """A row `bridge` per method, and rows `carried`: what old means correspond to.

    A line is drawn through the values of a candidate's item, repeats averaged, and refused where these are
    too few or do not bear one. What is carried are the least, the mean and the greatest mean of the
    candidates that both scored, and the means of those that only the old measure scored.
    """
    items = change.items
    n_groups = items.n_unique("group")
    for method in get_args(Linking):
        reason = change.why_empty or _why_unlinked(change, n_groups, method)
        link = None
        if not reason:
            old, new, groups = (items[name].to_numpy() for name in ("one", "other", "group"))
            link = linear_link(old, new, groups, method=method, weights=weights_of(items))
            moved = bool(change.why_not_subtracted or (items["d"] != 0).any())
            reason = _why_refused(link, moved=moved)
        if link is None or reason:
            yield change.row("bridge", method=method, n_groups=n_groups, reason=reason)
            continue
        residuals = _residuals(items, link)
        furthest = max(residuals, key=lambda name: (abs(residuals[name]), name))
        yield change.row(
            "bridge",
            method=link.method,
            intercept=link.intercept,
            se_intercept=link.se_intercept,
            slope=link.slope,
            se_slope=link.se_slope,
            residual=link.residual,
            r=link.r,
            furthest=furthest,
            furthest_by=residuals[furthest],
            n_values=link.n,
            n_candidates=len(residuals),
            n_items=items.n_unique(["item", "variant"]),
            n_groups=link.n_groups,
        )
        yield from _carried(change, items, link)


def _why_unlinked(change: Change, n_groups: int, method: Linking) -> str | None:
    """Why no line is drawn, as far as it shows before one is tried."""
    old, new = change.old.criterion, change.new.criterion
    if n_groups < LEAST_GROUPS:
        return f"both scored {count(n_groups, 'case')}: too few for a bridge"
    if old.direction != new.direction:
        return f"{old.direction} was better and {new.direction} is now"
    if method == "mean" and change.why_not_subtracted:
        return "the scales differ: a shift of the level is no bridge"
    return None


def _why_refused(link: Link, *, moved: bool) -> str | None:
    """Why a line says nothing once it is drawn; null if it does."""
    if not moved:
        return "no score moved: old scores stay as they are"
    if link.r is None:
        return "the scores of one of them do not vary"
    if link.r <= 0:
        return "the two do not rise together: a line between them means nothing"
    return None if link.se_slope is not None else "without one of its cases there is no line"


def _residuals(items: pl.DataFrame, link: Link) -> dict[str, float]:
    """How far each candidate's new mean lies from what the line makes of the old one."""
    residuals = {}
    for (name,), part in items.group_by("candidate", maintain_order=True):
        old, new = (weighted_mean(part[c].to_numpy(), weights_of(part)) for c in ("one", "other"))
        residuals[str(name)] = new - ((link.intercept or 0.0) + (link.slope or 0.0) * old)
    return residuals


def _carried(change: Change, items: pl.DataFrame, link: Link) -> Iterator[DiffRow]:
    """What old means correspond to by the line."""
    linked = _old_means(items)
    lowest, highest = min(linked.values()), max(linked.values())
    mean = weighted_mean(items["one"].to_numpy(), weights_of(items))
    of_old_alone = change.responses.drop_nulls("one").filter(~pl.col("candidate").is_in(list(linked)))
    means = [("least", "", lowest), ("mean", "", mean), ("greatest", "", highest)]
    means += [("candidate", name, old) for name, old in sorted(_old_means(of_old_alone).items())]
    scale = change.new.criterion
    for point, name, old in means:
        carried = link.at(old, low=scale.low, high=scale.high)
        if carried is None:
            continue
        reasons = []
        if not lowest - 1e-9 <= old <= highest + 1e-9:
            reasons.append(
                f"outside the means that were linked, {lowest:.3g} to {highest:.3g}: the line is extended"
            )
        if not link.erring:
            reasons.append("all lie on the line: no interval")
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


def _old_means(rows: pl.DataFrame) -> dict[str, float]:
    """The old mean of each candidate over its items."""
    by_item = (
        rows.group_by(*item_of(rows), "candidate", maintain_order=True)
        .agg(pl.col("one").mean())
        .sort("candidate", "item", "variant")
    )
    return {
        str(name): weighted_mean(part["one"].to_numpy(), weights_of(part))
        for (name,), part in by_item.group_by("candidate", maintain_order=True)
    }
