"""Correlation: do two measures order candidates, or answers, alike? Each figure names its level.

`system` is over candidates' means, what a leaderboard needs; `item_centred` and `double_centred` ask which
answer to a question is better; `item` is difficulty; `pooled` mixes them and is shown to warn. Direction
is turned once, from the declarations, so that higher is better on both sides. A criterion that is pooled as
a ratio of sums takes part by its pooled figure at the system level, by each item's own ratio at the others;
a perplexity on the log scale.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from vivavoce import stats
from vivavoce.records import Finding, Measure
from vivavoce.studies import Marks, unweighted
from vivavoce.studies.grids import Grid, common, grids, key_of, labels, left_out
from vivavoce.studies.pooling import on_log_scale
from vivavoce.studies.words import count

__all__ = ["COLUMNS", "findings"]

COLUMNS = (
    *("benchmark", "a", "b", "level", "coefficient", "value", "low", "high", "p", "q", "n", "n_candidates"),
    *("n_items", "n_groups", "same_order", "n_pairs", "told_apart_alike", "told_apart", "by_construction"),
    *("turned", "cluster_support", "reason"),
)
Coefficient = Literal["kendall", "spearman", "pearson"]
LEAST_CANDIDATES = 4
MOST_PAIRS_CLUSTERED = 200  # resamples of the clustering; support to two decimals


def findings(marks: Marks) -> Finding:
    """Rows per pair of measures, level and coefficient.

    At the system level: Kendall's tau-b with p by permuting candidates (`q` by Benjamini-Hochberg over the
    pairs shown), and Pearson with the Fisher interval for n = candidates. `same_order` of `n_pairs` pairs
    of candidates are ordered alike; of `told_apart`, those that both measures tell apart,
    `told_apart_alike` are. `by_construction` marks criteria of one call, and measures of the same
    probabilities: they agree because they were given together, and leave the family. `turned` names those of
    the two on which lower is better. `cluster_support` of the system rows is the share of bootstrap draws in
    which the pair's smallest common cluster is found again, null where that is all measures.
    """
    by_benchmark: dict[str, list[Grid]] = {}
    for grid in grids(marks.scores, marks.measures, ratios=True):
        by_benchmark.setdefault(grid.benchmark, []).append(_turned(grid))
    short = labels(marks.measures)
    probes = {short[key_of(m)]: marks.probes[key] for key, m in marks.measures.items() if key in marks.probes}
    rows: list[dict[str, Any]] = []
    for own in by_benchmark.values():
        support = _support(own)
        for one, other in combinations(own, 2):
            found = support.get((key_of(one.measure), key_of(other.measure)))
            rows.extend(_pair(short, probes, one, other, found))
    tested = [r for r in rows if r["p"] is not None and not r["by_construction"]]
    for row, q in zip(tested, stats.benjamini_hochberg([r["p"] for r in tested]).tolist(), strict=True):
        row["q"] = q
    text = "\n".join(_sentences(rows, probes)) or "There is one measure only: nothing to correlate."
    return Finding(
        study="correlation",
        rows=tuple(rows),
        text=text,
        notes=(
            *left_out(marks, ratios=True),
            *_logs(marks, short),
            *unweighted(marks.scores, "correlations count"),
        ),
    )


def _logs(marks: Marks, short: Mapping[Any, str]) -> tuple[str, ...]:
    """The line on what is correlated on the log scale, if anything is."""
    names = [short[key_of(m)] for m in marks.measures.values() if on_log_scale(m.criterion)]
    return (f"On the log scale: {'; '.join(dict.fromkeys(names))}.",) if names else ()


def _turned(grid: Grid) -> Grid:
    return grid if grid.measure.criterion.direction == "higher" else grid._replace(values=-grid.values)


def _pair(
    short: Mapping[Any, str], probes: Mapping[str, str], one: Grid, other: Grid, support: float | None
) -> Iterator[dict[str, Any]]:
    """All levels and coefficients of two measures on what they share."""
    a, b = short[key_of(one.measure)], short[key_of(other.measure)]
    x, y = common(one, other)
    kept = np.all(x.present, axis=0)
    shared = dict.fromkeys(COLUMNS) | {
        "benchmark": one.benchmark,
        "a": a,
        "b": b,
        "n_candidates": len(x.candidates),
        "n_items": int(kept.sum()),
        "n_groups": len(set(x.groups[kept].tolist())),
        "by_construction": _one_call(one.measure, other.measure) or _one_probe(a, b, probes),
        "turned": "; ".join(
            short[key_of(g.measure)] for g in (one, other) if g.measure.criterion.direction == "lower"
        ),
    }
    few = None
    if len(x.candidates) < LEAST_CANDIDATES:
        few = f"{count(len(x.candidates), 'candidate')}: too few to correlate"
    elif not kept.any():
        few = "no question that all candidates have both marks on"
    for level in get_args(stats.Level):
        for coefficient in get_args(Coefficient):
            row = shared | {"level": level, "coefficient": coefficient, "reason": few}
            yield row if few else row | _figures(x.on(kept), y.on(kept), level, coefficient, support)


def _one_call(one: Measure, other: Measure) -> bool:
    return (one.signature, one.rater) == (other.signature, other.rater)


def _one_probe(a: str, b: str, probes: Mapping[str, str]) -> bool:
    """Whether two measures, by their labels, mark the same probabilities."""
    return a in probes and probes[a] == probes.get(b)


def _figures(x: Grid, y: Grid, level: Any, coefficient: Any, support: float | None) -> dict[str, Any]:
    sides = (x.even(), y.even()) if level == "system" else (x.values, y.values)
    found = stats.correlation_at(*sides, level=level, coefficient=coefficient)
    row: dict[str, Any] = {"value": found.value, "n": found.n}
    if found.value is None:
        return row | {"reason": "one side does not vary"}
    if level != "system":
        return row
    means = sides[0].mean(axis=1), sides[1].mean(axis=1)
    if coefficient == "pearson":
        interval = stats.fisher_interval(found.value, found.n)
        row |= {"low": interval.low, "high": interval.high} if interval else {}
    if coefficient == "kendall":
        names = "|".join((x.benchmark, *sorted((str(key_of(x.measure)), str(key_of(y.measure))))))
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256(names.encode()).digest()[:8], "big"))
        permuted = stats.permute_systems(*means, coefficient="kendall", rng=rng)
        order = stats.order_agreement(*means)
        shown = stats.shown_agreement(*(stats.rank_intervals(values, x.groups).better for values in sides))
        row |= {
            "p": permuted.p if permuted else None,
            "same_order": order.same,
            "n_pairs": order.same + order.opposite + order.left_out,
            "told_apart_alike": shown.same,
            "told_apart": shown.same + shown.opposite,
            "cluster_support": support,
        }
    return row


def _support(own: Sequence[Grid]) -> dict[tuple[Any, Any], float]:
    """For each pair of measures, the bootstrap support of the smallest cluster that holds both."""
    names = [name for name in own[0].candidates if all(name in g.candidates for g in own)] if own else []
    if len(own) < 3 or len(names) < LEAST_CANDIDATES:
        return {}
    aligned = list(own)
    for _ in range(2):  # the second round brings the first ones to what the last ones share
        for k in range(1, len(aligned)):
            aligned[0], aligned[k] = common(aligned[0], aligned[k])
    kept = np.all([g.present for g in aligned], axis=(0, 1))
    groups = aligned[0].groups[kept]
    if len(set(groups.tolist())) < 2:
        return {}
    values = np.stack([g.on(kept).even() for g in aligned])
    rng = np.random.default_rng(len(own))
    found = stats.cluster_measures(values, groups, level="system", rng=rng, resamples=MOST_PAIRS_CLUSTERED)
    if found is None or found.support is None:
        return {}
    members: list[frozenset[int]] = [frozenset([k]) for k in range(len(own))]
    support: dict[tuple[Any, Any], float] = {}
    for step, row in enumerate(found.linkage):
        left, right = members[int(row[0])], members[int(row[1])]
        members.append(left | right)
        if len(members[-1]) == len(own):  # all measures together are found in every draw
            continue
        for i in left:
            for j in right:
                first, second = sorted((i, j))
                support[key_of(own[first].measure), key_of(own[second].measure)] = float(found.support[step])
    return support


def _sentences(rows: Sequence[dict[str, Any]], probes: Mapping[str, str]) -> Iterator[str]:
    by = {(r["benchmark"], r["a"], r["b"], r["level"], r["coefficient"]): r for r in rows}
    told = {key: row for key, row in by.items() if key[3:] == ("system", "kendall")}
    alike: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in told.values():
        alike.setdefault((row["benchmark"], row["reason"]), []).append(row)
    for key, row in told.items():
        name = f"{row['a']} and {row['b']} on {row['benchmark']}"
        if row["reason"]:
            # Dozens of pairs may lack the same: it is said once, where the first of them stands.
            same = alike[row["benchmark"], row["reason"]]
            if len(same) > 1:
                name = f"{count(len(same), 'pair')} of measures on {row['benchmark']}"
            if same[0] is row:
                yield f"{name}: {row['reason']}."
            continue
        pearson = by[(*key[:4], "pearson")]
        ends = "" if pearson["low"] is None else f" ({pearson['low']:.2f} to {pearson['high']:.2f})"
        least = stats.critical_r(row["n_candidates"])
        told_once = _one_probe(row["a"], row["b"], probes)
        made = "made of the same probabilities" if told_once else "criteria of one call"
        weak = pearson["value"] is not None and least is not None and abs(pearson["value"]) < least
        yield (
            f"{name}, {count(row['n_candidates'], 'candidate')}, {count(row['n_items'], 'question')} in "
            f"{count(row['n_groups'], 'case')}: tau-b {row['value']:.2f}, same order in "
            f"{row['same_order']} of "
            f"{row['n_pairs']} pairs, r {pearson['value']:.2f}{ends}"
            + (f"; with so few candidates |r| under {least:.2f} cannot be told from zero" if weak else "")
            + (f"; turned, as lower is better: {row['turned']}" if row["turned"] else "")
            + (f"; alike by construction, being {made}." if row["by_construction"] else ".")
        )
