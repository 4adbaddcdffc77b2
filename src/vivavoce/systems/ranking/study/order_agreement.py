"""How far two orders of the same sources agree: over their means, by item, and in who comes first."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from vivavoce import stats
from vivavoce.studies.intervals import Estimate, by_mean, by_rank_inside_items
from vivavoce.studies.text import count
from vivavoce.systems.ranking.study.rows import ArgumentsRow
from vivavoce.systems.ranking.study.source_scores import Floats

LEAST_SOURCES = 4
"""Fewer sources have too few orders for a coefficient to say anything."""
LEVEL = "one side puts all sources level"


class TwoOrders(NamedTuple):
    """Two tables of the same sources x items, higher being better in both, and the cases of the items."""

    sources: Sequence[str]
    first: Floats
    second: Floats
    groups: np.ndarray[Any, Any]


def over_sources(orders: TwoOrders, row: Callable[..., ArgumentsRow]) -> Iterator[ArgumentsRow]:
    """Kendall's tau-b with an exact p, Pearson's r with Fisher's interval, and pairs in the same order."""
    k = len(orders.sources)
    if not orders.first.shape[1] or k < LEAST_SOURCES:
        reason = (
            "no question in common"
            if not orders.first.shape[1]
            else f"{count(k, 'source')}: too few to order"
        )
        yield row("tau", n=k, reason=reason)
        return
    means = stats.exact_means(orders.first), stats.exact_means(orders.second)
    tau = stats.kendall(*means)
    permuted = stats.permute_systems(*means, coefficient="kendall", rng=stats.seeded_rng(0))
    level = LEVEL if tau is None else None
    yield row("tau", value=tau, p=permuted.p if permuted else None, n=k, reason=level or few_sources(k))
    r = stats.pearson(*means)
    interval = None if r is None else stats.fisher_interval(r, k)
    low, high = interval or (None, None)
    yield row("pearson", value=r, low=low, high=high, n=k, reason=level or _critical(k))
    pairs = k * (k - 1) // 2
    yield row("same_order", value=stats.order_agreement(*means).same / pairs, n=pairs)


def few_sources(k: int) -> str | None:
    """The warning that so few sources carry no correlation; null with many."""
    if k >= 10:
        return None
    return f"few sources ({k})"


def _critical(k: int) -> str | None:
    """The warning with what Pearson's r of so few sources must exceed; null with many."""
    few = few_sources(k)
    return few and f"{few}: |r| under {stats.critical_r(k):.2f} cannot be told from zero"


def within_items(orders: TwoOrders, row: Callable[..., ArgumentsRow]) -> Iterator[ArgumentsRow]:
    """By item: the rank correlation, the mean tau, and how often the first of one is first of the other."""
    if not orders.first.shape[1] or len(orders.sources) < 2:
        return
    within = by_rank_inside_items(orders.first, orders.second, orders.groups)
    yield row("within", **columns(within))
    taus = [stats.kendall(a, b) for a, b in zip(orders.first.T, orders.second.T, strict=True)]
    defined = np.array([tau is not None for tau in taus])
    if defined.any():
        values = np.array([tau for tau in taus if tau is not None])
        mean = _mean(values, orders.groups[defined], low=-1.0)
        yield row("tau_by_item", **columns(mean), n=int(defined.sum()))
    else:
        yield row("tau_by_item", n=0, reason="in every question one side puts all sources level")
    yield row("top1", **columns(_mean(_shared_first(orders), orders.groups, low=0.0)))


def _mean(values: Floats, groups: Any, *, low: float) -> Estimate:
    """The mean, shown also where cases are too few for an interval."""
    return by_mean(values, groups, low=low, high=1.0)._replace(value=stats.exact_mean(values))


def _shared_first(orders: TwoOrders) -> Floats:
    """By item the share of the first table's best sources that are best in the second, too."""
    best = [values >= values.max(axis=0) - 1e-9 for values in (orders.first, orders.second)]
    return np.asarray((best[0] & best[1]).sum(axis=0) / best[0].sum(axis=0))


def columns(estimate: Estimate) -> dict[str, Any]:
    """The fields of an estimate that a row has."""
    return {name: getattr(estimate, name) for name in ("value", "low", "high", "n_groups", "reason")}
