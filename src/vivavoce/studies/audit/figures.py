"""What the responses of a benchmark show of each measure: agreement, redundancy, wording, length and silence.

Within an item a figure is Pearson's r of values centred at the item, or at the candidate too, with an
interval by case; at the level of systems it is of the candidates' means over the items that all of them have.
They are never mixed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import scipy

from vivavoce import stats
from vivavoce.core.records import Measure
from vivavoce.studies.audit.responses import SILENT, WORDS, YARDSTICK, Responses
from vivavoce.studies.audit.rows import CENTRED, ONE_CALL, SYSTEM, WITHIN, AuditRow, audit_row
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.reliability.resilience import Resilience
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import count

LEAST_CANDIDATES = 4
LEAST_TO_INFER = 8
"""Candidates from which on the order of their means is more than a description."""
HELD = "candidates held"
NO_SPREAD = "inside the questions one of the two does not vary"


def agreement(responses: Responses, seed: int) -> Iterator[AuditRow]:
    """Each measure against the yardstick, within items and of systems; `seed` halves the cases for these.

    Within items `delivered` counts silence as the criteria do, and `answered` leaves out silent responses:
    how far agreement rests on silence; `candidates held` takes out what a candidate has on all items alike.
    A criterion of the trusted judge's own call agrees by construction.
    """
    yardstick = responses.yardstick
    if yardstick is None:
        return
    for column, measure in responses.measures.items():
        same_call = (measure.signature, measure.rater) in yardstick.calls
        row = audit_row(
            *("agreement", responses.benchmark, measure),
            yardstick=yardstick.kind,
            against=yardstick.name,
            reason=ONE_CALL if same_call else None,
        )
        # Both, as a rule that gives silence the worst score agrees by that alone.
        for contrast, part in (("delivered", responses), ("answered", responses.answered)):
            yield _within_row(replace(row, figure="pearson", contrast=contrast), part, column, YARDSTICK)
        row_held = replace(row, figure="pearson", contrast=HELD)
        yield _within_row(row_held, responses, column, YARDSTICK, level=CENTRED)
        yield from _system_rows(row, responses, column, seed)


def _within_row(
    row: AuditRow, responses: Responses, a: str, b: str, *controls: str, level: str = WITHIN
) -> AuditRow:
    """The row with the correlation of two columns inside items, others held."""
    correlation = responses.within(a, b, *controls, level=level)
    estimate = correlation.estimate(0, 1, NO_SPREAD, controls=tuple(range(2, 2 + len(controls))))
    reason = "; ".join(filter(None, (row.reason, estimate.reason))) or None
    figures = estimate._asdict() | {"reason": reason}
    return replace(row, level=level, n_candidates=correlation.n_candidates, **figures)


def _system_rows(row: AuditRow, responses: Responses, column: str, seed: int) -> Iterator[AuditRow]:
    """Kendall's tau-b and Pearson's r of the candidates' means, on the items that all have both scores of.

    Both scores of an answer share its luck: `value_halves` is r of means over disjoint halves of the cases.
    """
    cells = (
        responses.table.drop_nulls([column, YARDSTICK])
        .group_by("item", "variant", "group", "candidate")
        .agg(exact_mean(pl.col(column, YARDSTICK)))
    )
    n = cells["candidate"].n_unique()
    common = cells.filter(pl.len().over("item", "variant") == n).sort("candidate", "item", "variant")
    means = common.group_by("candidate", maintain_order=True).agg(exact_mean(pl.col(column, YARDSTICK)))
    items = common.select("item", "variant", "group").unique()
    row = replace(row, level=SYSTEM, n_candidates=n, n_units=items.height, n_groups=items["group"].n_unique())
    sides = means[column].to_numpy(), means[YARDSTICK].to_numpy()
    reason = None
    if n < LEAST_CANDIDATES:
        reason = f"{count(n, 'candidate')}: too few to correlate"
    elif not items.height:
        reason = "no question that all candidates have both scores on"
    halves = None if reason or n < LEAST_TO_INFER else _across_halves(common, column, seed)
    for figure in ("kendall", "pearson"):
        yield _system_row(replace(row, figure=figure), sides, reason, halves)


def _across_halves(common: pl.DataFrame, column: str, seed: int) -> stats.HalvesCorrelation | None:
    """Pearson's r of the candidates' means of both columns, each from cases that the other has not."""
    half = stats.random_half(common["group"].to_numpy(), stats.seeded_rng(seed))
    if not half.any():
        return None
    parts = [
        common.filter(pl.Series(members))
        .group_by("candidate", maintain_order=True)
        .agg(pl.col(column, YARDSTICK).mean())
        for members in (half, ~half)
    ]
    return stats.pearson_across_halves(
        *(np.stack([p[c].to_numpy() for p in parts]) for c in (column, YARDSTICK))
    )


def _system_row(
    row: AuditRow, sides: tuple[Any, Any], reason: str | None, halves: stats.HalvesCorrelation | None
) -> AuditRow:
    """The row with a coefficient over candidates, or with the reason why there is none.

    Below 8 candidates it has a reason beside its value.
    """
    coefficient: Any = row.figure
    value = None if reason else stats.correlation(*sides, coefficient=coefficient)
    reason = reason or (_described(row) if value is not None else "one side does not vary")
    row = replace(row, value=value, reason="; ".join(filter(None, (row.reason, reason))) or None)
    if value is None:
        return row
    if row.figure == "pearson":
        return _with_halves(row, value, halves)
    order = stats.order_agreement(*sides)
    return replace(row, same_order=order.same, n_pairs=order.same + order.opposite + order.left_out)


def _described(row: AuditRow) -> str | None:
    """Why a coefficient over candidates is no more than a description; null where it is."""
    n = row.n_candidates or 0
    return (
        None
        if n >= LEAST_TO_INFER
        else f"{count(n, 'candidate')}: fewer than {LEAST_TO_INFER}, a description alone"
    )


def _with_halves(row: AuditRow, value: float, halves: stats.HalvesCorrelation | None) -> AuditRow:
    """The row with r over disjoint halves of the cases, and its interval, extended to the value."""
    if halves is None or halves.low is None or halves.high is None:
        return row
    low, high = min(halves.low, value), max(halves.high, value)
    return replace(row, low=low, high=high, value_halves=halves.value)


def redundancy(responses: Responses, threshold: float) -> Iterator[AuditRow]:
    """Every pair of measures inside items, on the row of the first of them."""
    for a, b in combinations(responses.measures, 2):
        first, second = responses.measures[a], responses.measures[b]
        row = audit_row(
            *("redundancy", responses.benchmark, first),
            figure="pearson",
            against=responses.names[b],
            threshold=threshold,
            reason=ONE_CALL if _call_of(first) == _call_of(second) else None,
        )
        yield _within_row(row, responses, a, b)


def clusters(responses: Responses, pairs: Sequence[AuditRow], threshold: float) -> dict[str, int]:
    """The cluster of each measure, by column: each two of a cluster correlate above the threshold.

    `pairs` are the rows of `redundancy`, in their order.
    """
    names = list(responses.measures)
    if len(names) < 2:
        return dict.fromkeys(names, 1)
    distances = np.zeros((len(names), len(names)))
    for (a, b), row in zip(combinations(range(len(names)), 2), pairs, strict=True):
        distances[a, b] = distances[b, a] = 1 - (row.value or 0.0)
    # Complete linkage: in a chain the first and the last may have little in common.
    condensed = scipy.spatial.distance.squareform(np.clip(distances, 0, 2), checks=False)
    tree = scipy.cluster.hierarchy.linkage(condensed, "complete")
    places = scipy.cluster.hierarchy.fcluster(tree, 1 - threshold + 1e-12, criterion="distance")
    return {name: int(place) for name, place in zip(names, places, strict=True)}


def _call_of(measure: Measure) -> tuple[str, str]:
    return measure.signature, measure.rater


def length(responses: Responses) -> Iterator[AuditRow]:
    """How far each measure goes with the logarithm of the number of words, inside items, silence apart.

    `words` is as it stands. With a yardstick, `words, quality held` takes the yardstick's scores out of both:
    what a measure pays for length beyond what the yardstick does. `quality, words held` is the agreement
    that is left once length is taken out.
    """
    responses = responses.answered  # a blank is no short answer
    for column, measure in responses.measures.items():
        row = audit_row("length", responses.benchmark, measure, figure="pearson")
        yield _within_row(replace(row, contrast="words"), responses, column, WORDS)
        if responses.yardstick:
            row = replace(row, yardstick=responses.yardstick.kind, against=responses.yardstick.name)
            words_row = replace(row, contrast="words, quality held")
            yield _within_row(words_row, responses, column, WORDS, YARDSTICK)
            quality_row = replace(row, contrast="quality, words held")
            yield _within_row(quality_row, responses, column, YARDSTICK, WORDS)


def rephrasing(scores: ScoreTable, measures: Mapping[int, Measure]) -> Iterator[AuditRow]:
    """The variance of a measure over other wordings of one answer, as a share of that between candidates.

    From edits such as `rephrase:1`, by the study `resilience`; none without them.
    """
    by_name = {(m.metric, m.criterion.criterion, m.rater): m for m in measures.values()}
    for row in Resilience().findings(scores._replace(measures=dict(measures))).rows:
        # The rows of all candidates and wordings; others are details of that study.
        if row["candidate"] or row["edit"] or row["contrast"]:
            continue
        yield audit_row(
            *("rephrasing", row["benchmark"], by_name[row["metric"], row["criterion"], row["rater"]]),
            figure="wording_share",
            contrast=row["edits"],
            against=row["rephraser"] or "",
            value=row["wording_share"],
            low=row["wording_share_low"],
            high=row["wording_share_high"],
            n_units=row["n_responses"],
            n_groups=row["n_groups"],
            n_candidates=row["n_candidates"],
            reason=row["reason"],
        )


def silence(responses: Responses) -> Iterator[AuditRow]:
    """What each measure gives to silent responses, and how much of its spread inside items is silence.

    `share` is the share of its responses that are silent, `score_silent` and `score_answered` its means of
    both, in its own direction; `variance_share` is r squared with being silent or not.
    """
    for column, measure in responses.measures.items():
        sign = 1.0 if measure.criterion.direction == "higher" else -1.0
        scored = responses.table.drop_nulls(column).select("group", SILENT, value=sign * pl.col(column))
        silent, answered = (scored.filter(pl.col(SILENT) == flag) for flag in (1.0, 0.0))
        row = audit_row("silence", responses.benchmark, measure, n_units=scored.height)
        row = replace(row, n_groups=scored["group"].n_unique())
        yield replace(row, figure="share", value=silent.height / scored.height)
        for figure, part in (("score_silent", silent), ("score_answered", answered)):
            yield replace(
                row,
                figure=figure,
                n_units=part.height,
                n_groups=part["group"].n_unique(),
                value=float(part["value"].sort().mean()) if part.height else None,  # type: ignore[arg-type]
                reason=None if part.height else f"no {'silent' if part is silent else 'other'} response",
            )
        share = _within_row(replace(row, figure="variance_share"), responses, column, SILENT)
        if share.value is None:
            reason = "no silent response among those of one question" if not silent.height else share.reason
            yield replace(share, reason=reason)
        else:
            # The interval of r says nothing simple of its square near 0.
            yield replace(share, value=share.value**2, low=None, high=None, se=None)
