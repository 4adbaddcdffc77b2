"""Bridging: what marks of an examiner who is retired correspond to under the next one.

Drawn through the answers that both marked, refused where these are too few or do not bear a line.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from vivavoce.stats.bridging import Link, Linking, linear_link
from vivavoce.studies import LEAST_GROUPS, item_of, weighted_mean, weights_of
from vivavoce.studies.shifts import PARTS, Change
from vivavoce.studies.words import count

if TYPE_CHECKING:
    import polars as pl

__all__ = ["bridge"]


def bridge(change: Change) -> Iterator[dict[str, Any]]:
    """A row `bridge` per method, and rows `carried`: what old means correspond to.

    The values are those of a candidate's item, repeats averaged. What is carried are the least, the mean and
    the greatest mean of the candidates that both marked, and the means of those that only the old one marked.
    """
    items = change.items
    n_groups = items.n_unique("group")
    for method in get_args(Linking):
        why = change.empty or _unlinked(change, n_groups, method)
        link = None
        if not why:
            columns = (items[name].to_numpy() for name in ("one", "other", "group"))
            link = linear_link(*columns, method=method, weights=weights_of(items))
            why = _undrawn(link, moved=bool(change.scales or (items["d"] != 0).any()))
        if link is None or why:
            yield change.row("bridge", method=method, n_groups=n_groups, reason=why)
            continue
        off = _off(items, link)
        furthest = max(off, key=lambda name: (abs(off[name]), name))
        yield change.row(
            "bridge", **{name: getattr(link, name) for name in PARTS["bridge"] if name in Link._fields},
            n_values=link.n, n_candidates=len(off), n_items=items.n_unique(["item", "variant"]),
            furthest=furthest, furthest_by=off[furthest],
        )  # fmt: skip
        yield from _carried(change, items, link)


def _unlinked(change: Change, n_groups: int, method: Linking) -> str | None:
    """Why no line is drawn, as far as it shows before one is tried."""
    a, b = change.one.criterion, change.other.criterion
    if n_groups < LEAST_GROUPS:
        return f"both marked {count(n_groups, 'case')}: too few for a bridge"
    if a.direction != b.direction:
        return f"{a.direction} was better and {b.direction} is now"
    if method == "mean" and change.scales:
        return "the scales differ: a shift of the level is no bridge"
    return None


def _undrawn(link: Link, *, moved: bool) -> str | None:
    if not moved:
        return "no mark moved: old marks stand as they are"
    if link.r is None:
        return "the marks of one of them do not vary"
    if link.r <= 0:
        return "the two do not rise together: a line between them means nothing"
    return None if link.se_slope is not None else "without one of its cases there is no line"


def _off(items: "pl.DataFrame", link: Link) -> dict[str, float]:
    """How far each candidate's new mean lies from what the line makes of the old one."""
    off = {}
    for (name,), part in items.group_by("candidate", maintain_order=True):
        one, other = (weighted_mean(part[c].to_numpy(), weights_of(part)) for c in ("one", "other"))
        off[str(name)] = other - ((link.intercept or 0.0) + (link.slope or 0.0) * one)
    return off


def _carried(change: Change, items: "pl.DataFrame", link: Link) -> Iterator[dict[str, Any]]:
    import polars as pl

    new = change.other.criterion
    marked = _means(items)
    ends = min(marked.values()), max(marked.values())
    points = {
        "least": ends[0],
        "mean": weighted_mean(items["one"].to_numpy(), weights_of(items)),
        "greatest": ends[1],
    }
    alone = change.answers.drop_nulls("one").filter(~pl.col("candidate").is_in(list(marked)))
    wanted = [(point, "", old) for point, old in points.items()]
    wanted += [("candidate", name, old) for name, old in sorted(_means(alone).items())]
    for point, name, old in wanted:
        found = link.at(old, low=new.low, high=new.high)
        if found is not None:
            beyond = not ends[0] - 1e-9 <= old <= ends[1] + 1e-9
            told = [
                f"outside the means that were linked, {ends[0]:.3g} to {ends[1]:.3g}: the line is extended"
            ]
            told = (told if beyond else []) + ([] if link.erring else ["all lie on the line: no interval"])
            yield change.row("carried", method=link.method, candidate=name, point=point, one=old,
                             other=found.value, low=found.low, high=found.high, clipped=found.clipped,
                             reason="; ".join(told) or None)  # fmt: skip


def _means(rows: "pl.DataFrame") -> dict[str, float]:
    """The old mean of each candidate over its items."""
    import polars as pl

    by_item = (
        rows.group_by(*item_of(rows), "candidate", maintain_order=True)
        .agg(pl.col("one").mean())
        .sort("candidate", "item", "variant")
    )
    return {
        str(name): weighted_mean(part["one"].to_numpy(), weights_of(part))
        for (name,), part in by_item.group_by("candidate", maintain_order=True)
    }
