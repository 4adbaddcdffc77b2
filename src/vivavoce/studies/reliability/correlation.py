"""Correlation: do two measures order candidates, or responses, alike? Each figure names its level.

`system` is over candidates' means, what a leaderboard needs; `item_centred` and `double_centred` ask which
response to an item is better; `item` is difficulty; `pooled` mixes them and is shown to warn. Direction
is turned once, from the declarations, so that higher is better on both sides. A criterion that is pooled as
a ratio of sums takes part by its pooled figure at the system level, by each item's own ratio at the others;
a perplexity on the log scale. On different benchmarks there are no common items: such crossings are of the
system level alone (`crossings`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, get_args

import numpy as np

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.core.specs import Spec
from vivavoce.studies.bounded import interval_text
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.pooling import on_log_scale
from vivavoce.studies.reliability.correlation_rows import (
    LEAST_CANDIDATES,
    Coefficient,
    CorrelationRow,
    is_higher_better,
    without_each,
)
from vivavoce.studies.reliability.crossings import (
    ABSENT,
    Design,
    absent_crossings,
    crossing_rows,
    crossings,
    families_of,
    without_pairs,
)
from vivavoce.studies.score_matrix import ScoreMatrix, common, grids, key_of, labels, left_out
from vivavoce.studies.score_table import ScoreTable, unweighted
from vivavoce.studies.study import Study
from vivavoce.studies.text import and_so, count

MeasureKey = tuple[str, str, str]
ONE_MEASURE = "There is one measure only: nothing to correlate."
CLUSTER_RESAMPLES = 200  # gives support to two decimals


CORRELATE = NamingSentence(
    code="correlation.systems",
    templates=("{measure} and {other} on {benchmark}, {n} candidates, {basis}: tau-b {figures}.",),
    names=("metric",),
    family="each pair of measures alone",
    correction="none; q over all pairs in the rows",
    null="correlation",
)


@study("correlation")
class Correlation(Study):
    """Correlation between measures."""

    about = "Whether two measures order candidates, or answers, alike, and at which level."
    row = CorrelationRow
    sentences = (CORRELATE, ABSENT)
    needs = ("cards",)
    closed: str | tuple[str, ...] = ()
    closed_by: str | Spec = "accuracy"
    across: str | Spec | tuple[str | Spec, ...] = ()
    ratings: Path | None = None
    mapping: str | tuple[str, ...] = ()
    sizes: float | None = None
    cards: Path | None = None

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows per pair of measures, level and coefficient.

        At the system level: Kendall's tau-b with p by permuting candidates (`q` by Benjamini-Hochberg over
        the pairs shown), and Pearson with the Fisher interval for n = candidates. Two measures of the same
        answers share their noise, so p and interval are of means over disjoint halves of the cases: one
        measure in one half, the other in the other, and the reverse; the interval is extended to `value`
        where it does not hold it. `value_halves` is the mean of both coefficients. `a_told_apart` and
        `b_told_apart` are the pairs of candidates that each measure tells apart. `same_order` of `n_pairs`
        pairs of candidates are ordered alike; of `told_apart`, those that both measures tell apart,
        `told_apart_alike` are. `by_construction` marks criteria of one call, and measures of the same
        log-likelihoods: they agree because they were given together, and leave the family. `turned` names
        those of the two on which lower is better. `cluster_support` of the system rows is the share of
        bootstrap draws in which the pair's smallest common cluster is found again, null where that is all
        measures. `loo_low` to `loo_high` is the range of a coefficient without each candidate in turn, and
        `loo_family_…` without each of the `n_families` (by model card; who has none is one): versions of one
        family are not independent.

        Crossings have another `contrast` than `measures`. `closed` names benchmarks whose size-weighted mean
        by `closed_by` is held against every measure on other benchmarks; `across` names metrics that are held
        against themselves on every pair of benchmarks; `ratings` is a file `candidate,rating` that all are
        held against, and `mapping` holds `candidate:theirs`. `sizes`, in billions of parameters, splits each
        crossing by model card: `subset` is then `small` (below it) or `large`. Candidates that one side lacks
        are `left_out` of that pair. A setting that gives no row is named with the reason.
        """
        matrices: dict[str, list[ScoreMatrix]] = {}
        for matrix in grids(scores.scores, scores.measures, ratios=True):
            matrices.setdefault(matrix.benchmark, []).append(_higher_is_better(matrix))
        short = labels(scores.measures)
        requests = {
            short[key_of(m)]: scores.probes[key] for key, m in scores.measures.items() if key in scores.probes
        }
        families = families_of(scores)
        rows: list[CorrelationRow] = []
        for of_benchmark in matrices.values():
            support = _cluster_support(of_benchmark)
            for first, second in combinations(of_benchmark, 2):
                rows.extend(_pair_rows(first, second, short, requests, support, families))
        design = Design.of(self.closed, self.closed_by, self.across, self.mapping)
        every = list(chain.from_iterable(matrices.values()))
        rows.extend(crossing_rows(crossings(every, scores, short, design), scores, self.sizes, families))
        rows = _with_q(rows)
        sentences = [*_sentences(rows, requests), *absent_crossings(every, short, design)]
        text = "\n".join(sentences) or without_pairs(every, design) or ONE_MEASURE
        notes = (
            *left_out(scores, ratios=True),
            *_log_scale_notes(scores, short),
            *unweighted(scores.scores, "correlations count"),
        )
        return self.finding(rows, text, notes)


def _with_q(rows: Sequence[CorrelationRow]) -> list[CorrelationRow]:
    """The rows with p adjusted over those that are not alike by construction."""
    tested = {n: row.p for n, row in enumerate(rows) if row.p is not None and not row.by_construction}
    adjusted = stats.benjamini_hochberg(list(tested.values())).tolist()
    q = dict(zip(tested, adjusted, strict=True))
    return [replace(row, q=q.get(n)) for n, row in enumerate(rows)]


def _log_scale_notes(scores: ScoreTable, short: Mapping[MeasureKey, str]) -> tuple[str, ...]:
    """The line on what is correlated on the log scale, if anything is."""
    names = [short[key_of(m)] for m in scores.measures.values() if on_log_scale(m.criterion)]
    return (f"On the log scale: {'; '.join(dict.fromkeys(names))}.",) if names else ()


def _higher_is_better(matrix: ScoreMatrix) -> ScoreMatrix:
    return matrix if is_higher_better(matrix) else matrix._replace(values=-matrix.values)


def _pair_rows(
    first: ScoreMatrix,
    second: ScoreMatrix,
    short: Mapping[MeasureKey, str],
    requests: Mapping[str, str],
    support: Mapping[tuple[MeasureKey, MeasureKey], float],
    families: Mapping[str, str],
) -> Iterator[CorrelationRow]:
    """All levels and coefficients of two measures on what they share."""
    a, b = short[key_of(first.measure)], short[key_of(second.measure)]
    x, y = common(first, second)
    complete = np.all(x.present, axis=0)
    lower_is_better = [short[key_of(m.measure)] for m in (first, second) if not is_higher_better(m)]
    few = None
    if len(x.candidates) < LEAST_CANDIDATES:
        few = f"{count(len(x.candidates), 'candidate')}: too few to correlate"
    elif not complete.any():
        few = "no question that all candidates have both scores on"
    pair_support = support.get((key_of(first.measure), key_of(second.measure)))
    # All levels are shown: a figure without its level is often read as another one.
    for level in get_args(stats.Level):
        for coefficient in get_args(Coefficient):
            row = CorrelationRow(
                benchmark=first.benchmark,
                a=a,
                b=b,
                level=level,
                coefficient=coefficient,
                n_candidates=len(x.candidates),
                n_items=int(complete.sum()),
                n_groups=len(set(x.groups[complete].tolist())),
                by_construction=_one_call(first.measure, second.measure) or _one_request(a, b, requests),
                turned="; ".join(lower_is_better),
                reason=few,
                a_benchmark=first.benchmark,
                b_benchmark=second.benchmark,
                a_items=int(complete.sum()),
                b_items=int(complete.sum()),
                left_out="; ".join(sorted({*first.candidates} ^ {*second.candidates})),
            )
            if not few:
                names = [families[name] for name in x.candidates]
                parts = x.on(complete), y.on(complete)
                row = _with_figures(row, *parts, level, coefficient, pair_support, names)
            yield row


def _one_call(first: Measure, second: Measure) -> bool:
    return (first.signature, first.rater) == (second.signature, second.rater)


def _one_request(a: str, b: str, requests: Mapping[str, str]) -> bool:
    """Whether two measures, by their labels, score the same log-likelihoods."""
    return a in requests and requests[a] == requests.get(b)


def _with_figures(
    row: CorrelationRow,
    x: ScoreMatrix,
    y: ScoreMatrix,
    level: Any,
    coefficient: Any,
    support: float | None,
    families: Sequence[str],
) -> CorrelationRow:
    # A system's mean must be its pooled ratio, which the mean of its items' ratios is not.
    sides = (x.even(), y.even()) if level == "system" else (x.values, y.values)
    correlation = stats.correlation_at(*sides, level=level, coefficient=coefficient)
    row = replace(row, value=correlation.value, n=correlation.n)
    if correlation.value is None:
        return replace(row, reason="one side does not vary")
    if level != "system":
        return row
    means = stats.exact_means(sides[0]), stats.exact_means(sides[1])
    row = without_each(row, means, families)
    if coefficient == "spearman":
        return row
    row = _over_halves(row, x, y)
    return _with_order(row, x, y, support) if coefficient == "kendall" else row


def _over_halves(row: CorrelationRow, x: ScoreMatrix, y: ScoreMatrix) -> CorrelationRow:
    """With p, or the interval, of means over disjoint halves of the cases."""
    rng = _rng(x, y)
    half = stats.random_half(x.groups, rng)
    if not half.any():
        return row
    of_halves = [[stats.exact_means(m.on(members).even()) for members in (half, ~half)] for m in (x, y)]
    if row.coefficient == "kendall":
        tau = stats.kendall_across_halves(*of_halves, rng=rng)
        return replace(row, value_halves=tau.value, p=tau.p)
    # Fisher's z covers 95 % with 9 systems, where a bootstrap over systems covers 90 %.
    r = stats.pearson_across_halves(*of_halves)
    row = replace(row, value_halves=r.value)
    if r.low is None or r.high is None or row.value is None:
        return row
    return replace(row, low=min(r.low, row.value), high=max(r.high, row.value))


def _with_order(row: CorrelationRow, x: ScoreMatrix, y: ScoreMatrix, support: float | None) -> CorrelationRow:
    """With the pairs of candidates in the same order, and those told apart."""
    sides = x.even(), y.even()
    order = stats.order_agreement(*map(stats.exact_means, sides))
    ranked = [stats.rank_intervals(values, x.groups) for values in sides]
    tested = stats.shown_agreement(*(r.better for r in ranked))
    return replace(
        row,
        same_order=order.same,
        n_pairs=order.same + order.opposite + order.left_out,
        told_apart_alike=tested.same,
        told_apart=tested.same + tested.opposite,
        a_told_apart=ranked[0].n_shown,
        b_told_apart=ranked[1].n_shown,
        cluster_support=support,
    )


def _rng(x: ScoreMatrix, y: ScoreMatrix) -> np.random.Generator:
    """A generator seeded by the pair, so that a p does not depend on which other measures there are."""
    return stats.seeded_rng(
        "|".join((x.benchmark, *sorted((str(key_of(x.measure)), str(key_of(y.measure))))))
    )


def _cluster_support(matrices: Sequence[ScoreMatrix]) -> dict[tuple[MeasureKey, MeasureKey], float]:
    """For each pair of measures, the bootstrap support of the smallest cluster that holds both."""
    if len(matrices) < 3 or len(_shared_candidates(matrices)) < LEAST_CANDIDATES:
        return {}
    aligned = _aligned(matrices)
    complete = np.all([m.present for m in aligned], axis=(0, 1))
    groups = aligned[0].groups[complete]
    if len(set(groups.tolist())) < 2:
        return {}
    values = np.stack([m.on(complete).even() for m in aligned])
    clusters = stats.cluster_measures(
        values, groups, level="system", rng=stats.seeded_rng(len(matrices)), resamples=CLUSTER_RESAMPLES
    )
    if clusters is None or clusters.support is None:
        return {}
    keys = [key_of(m.measure) for m in matrices]
    return {
        (keys[i], keys[j]): float(clusters.support[step])
        for step, (i, j) in _joined_pairs(clusters.linkage, len(matrices))
    }


def _shared_candidates(matrices: Sequence[ScoreMatrix]) -> set[str]:
    return set.intersection(*(set(matrix.candidates) for matrix in matrices))


def _aligned(matrices: Sequence[ScoreMatrix]) -> list[ScoreMatrix]:
    """The matrices on the candidates and items that all of them share."""
    aligned = list(matrices)
    for _ in range(2):  # the second round brings the first ones to what the last ones share
        for k in range(1, len(aligned)):
            aligned[0], aligned[k] = common(aligned[0], aligned[k])
    return aligned


def _joined_pairs(linkage: np.ndarray[Any, Any], n: int) -> Iterator[tuple[int, tuple[int, int]]]:
    """The step of the clustering at which each pair of measures first shares a cluster, before the last."""
    members: list[frozenset[int]] = [frozenset([k]) for k in range(n)]
    for step, row in enumerate(linkage):
        first, second = members[int(row[0])], members[int(row[1])]
        members.append(first | second)
        if len(members[-1]) < n:  # all measures together are found in every draw
            yield from ((step, (min(i, j), max(i, j))) for i in first for j in second)


def _sentences(rows: Sequence[CorrelationRow], requests: Mapping[str, str]) -> Iterator[str]:
    system = [row for row in rows if row.level == "system"]
    pearson = {_pair_of(row): row for row in system if row.coefficient == "pearson"}
    tau = [row for row in system if row.coefficient == "kendall"]
    lacking: dict[tuple[str, str], list[CorrelationRow]] = {}
    for row in tau:
        if row.reason:
            lacking.setdefault((row.benchmark, row.reason), []).append(row)
    for row in tau:
        if not row.reason:
            yield _correlation_text(row, pearson[_pair_of(row)], requests)
        elif row is lacking[row.benchmark, row.reason][0]:
            # Dozens of pairs may lack the same: it is said once, where the first of them stands.
            yield _lacking_text(lacking[row.benchmark, row.reason])


def _pair_of(row: CorrelationRow) -> tuple[str, ...]:
    """What tells the pair of a row from others."""
    return row.contrast, row.subset, row.benchmark, row.a, row.b


def _place(row: CorrelationRow) -> str:
    """Which measures on which benchmarks, over which candidates."""
    if row.contrast == "measures":
        text = f"{row.a} and {row.b} on {row.benchmark}, {count(row.n_candidates, 'candidate')}"
    else:
        sides = ((row.a, row.a_benchmark), (row.b, row.b_benchmark))
        named = and_so(f"{label} on {place}" if place else label for label, place in sides)
        text = f"{named}, {count(row.n_candidates, f'{row.subset} candidate'.strip())}"
    return f"{text}, {count(row.n_items, 'question')} in {count(row.n_groups, 'case')}"


def _lacking_text(rows: Sequence[CorrelationRow]) -> str:
    """Why pairs have no figure; all of one benchmark and for one reason."""
    row = rows[0]
    subject = f"{count(len(rows), 'pair')} of measures" if len(rows) > 1 else f"{row.a} and {row.b}"
    return f"{subject} on {row.benchmark}: {row.reason}."


def _correlation_text(tau: CorrelationRow, pearson: CorrelationRow, requests: Mapping[str, str]) -> str:
    text = (
        f"{_place(tau)}: tau-b {printed(tau.value)}, same "
        f"order in {tau.same_order} of {tau.n_pairs} pairs, r {printed(pearson.value)}"
    )
    # The interval is of the halves, which share no noise.
    if pearson.value_halves is None:
        text += interval_text(pearson)
    else:
        halves = f"{printed(pearson.value_halves)}{interval_text(pearson)}"
        text += f", {halves} between disjoint halves of the cases"
    if tau.contrast != "measures":
        text += _crossing_text(pearson)
    if tau.a_told_apart == tau.b_told_apart == 0:
        text += "; candidates are not told apart by either"
    least = stats.critical_r(tau.n_candidates)
    if pearson.value is not None and least is not None and abs(pearson.value) < least:
        text += f"; with so few candidates |r| under {printed(least)} cannot be told from zero"
    if tau.turned:
        text += f"; turned, as lower is better: {tau.turned}"
    if tau.by_construction:
        same_request = _one_request(tau.a, tau.b, requests)
        reason = "made of the same probabilities" if same_request else "criteria of one call"
        text += f"; alike by construction, being {reason}"
    return f"{text}."


def _crossing_text(row: CorrelationRow) -> str:
    """How far one candidate carries the coefficient, and who has no part in it."""
    text = ""
    if row.loo_low is not None and row.loo_high is not None:
        text += f", without one candidate {printed(row.loo_low)} to {printed(row.loo_high)}"
    if row.left_out:
        text += f"; left out, as one side has none: {row.left_out}"
    return text
