"""Rating behaviour that one rater shows alone: ceiling effect, halo, and where it puts ceiling and floor."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.studies.bounded import figure_text
from vivavoce.studies.intervals import (
    Estimate,
    by_coefficient,
    by_difference,
    by_jackknife,
    by_mean,
    counts_text,
)
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.rater_scores import (
    Entries,
    Rater,
    RaterRow,
    RaterScores,
    card_part,
    rated,
    rater_name,
    raters_of,
    scores_of,
)
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.text import count

HALO = NamingSentence(
    code="examiners.halo",
    templates=(
        "{judge} on {benchmark}: beyond what items and candidates explain, these criteria move together "
        "({basis}): {pairs}.",
    ),
    names=("metric", "rater"),
    family="all raters, benchmarks and pairs of criteria of the call",
    correction="Holm",
    null="halo",
)
SATURATED = 0.95
"""A criterion with so large a share of its scores at one value tells candidates apart no more."""
BEYOND_MEANS = "within questions, beyond candidates' means"
HALO_LEVELS = ("rows", "within questions", BEYOND_MEANS)
NAMED_PAIRS = 3
"""Of the pairs of criteria that are shown to move together, so many are named."""
ITEM_KEYS = ["item", "variant", "group"]


@card_part
def saturation(scores: ScoreTable) -> Entries:
    """Share of candidates' scores at the commonest value (of several, the highest), and at both ends.

    `contrast` says at which value. A criterion is `saturated` if the commonest value has 95 % or more: it
    then leaves any mean over criteria. Intervals are Wilson's by group, as of any share.
    """
    for scored in rated(scores):
        candidates = scored.rows.filter(scored.rows["role"] == "candidate")
        if candidates.height:
            modal, *ends = _shares(scored, candidates)
            yield from (modal, *ends)
            if modal.saturated:
                yield (
                    f"{scored.name} on {scored.benchmark}: saturated, "
                    f"{printed(100 * (modal.value or 0.0), '.1f')} % "
                    f"of {counts_text(modal, 'score')} are {modal.contrast}; it hardly tells candidates "
                    "apart and belongs in no mean over criteria."
                )


def _shares(scored: RaterScores, rows: pl.DataFrame) -> Iterator[RaterRow]:
    # Equal scores must count as one value, whatever their last digit.
    values, groups = stats.rounded(rows["value"].to_numpy()), rows["group"].to_numpy()
    numbers, times = np.unique(values, return_counts=True)
    modal = float(numbers[times == times.max()].max())
    c = scored.measure.criterion
    for figure, at in (("modal_share", modal), ("share_lowest", c.low), ("share_highest", c.high)):
        if at is not None:
            share = by_mean((np.abs(values - at) < 1e-9).astype(float), groups, low=0.0, high=1.0)
            is_known = figure == "modal_share" and share.value is not None
            saturated = (share.value or 0.0) >= SATURATED if is_known else None
            yield scored.row("saturation", share, figure=figure, contrast=f"{at:g}", saturated=saturated)


@card_part
def halo(scores: ScoreTable) -> Entries:
    """How far the criteria of one rater move together: Pearson and Spearman, two criteria at a time.

    `contrast` is the level: `rows`, over all candidates' responses, where good candidates are good at
    everything; `within questions`, each score less its item's mean; and that less the candidate's mean too,
    on items that all candidates have. At this level `p` is of the mean product of the two criteria, 0 where
    one says nothing of the other, and `p_adjusted` is by Holm over all pairs and raters of the call.
    Criteria scored in one call that correlate near 1 are one judgement with several names; how much of it is
    the responses' doing cannot be told from one rater.
    """
    by_rater = [
        (rater_name(scores, rater), list(_rater_halo(scores, rater)))
        for rater in raters_of(scores)
        if len(rater.keys) > 1
    ]
    p = [row.p for _, rows in by_rater for row in rows if row.p is not None]
    adjusted = iter(stats.holm(p).tolist())
    for name, rows in by_rater:
        rows = [
            row if row.p is None else replace(row, p_adjusted=next(adjusted), n_tests=len(p)) for row in rows
        ]
        yield from rows
        yield from _halo_sentences(rows, name)


def _rater_halo(scores: ScoreTable, rater: Rater) -> Iterator[RaterRow]:
    """The rows of every two criteria of a rater, by benchmark."""
    for first, second in combinations(rater.keys, 2):
        both, measure = _criterion_pair(scores, rater, first, second), scores.measures[rater.keys[first]]
        for (benchmark,), part in both.group_by("benchmark", maintain_order=True):
            if not _rescaled(part):  # one score on two scales agrees with itself by construction
                yield from _halo_rows(RaterScores(str(benchmark), measure, part, ""), second)


def _criterion_pair(scores: ScoreTable, rater: Rater, first: str, second: str) -> pl.DataFrame:
    """Candidates' scores by two criteria of a rater, as `value` and `other`."""
    first_rows, second_rows = (scores_of(scores, rater.keys[criterion]) for criterion in (first, second))
    return first_rows.filter(first_rows["role"] == "candidate").join(
        second_rows.select(*RESPONSE, other="value"), on=list(RESPONSE), validate="1:1", maintain_order="left"
    )


def _rescaled(part: pl.DataFrame) -> bool:
    """Whether each value of one criterion goes with one of the other, as in a score on a second scale."""
    kinds = part.select("value", "other").unique()
    return 1 < kinds.height == kinds["value"].n_unique() == kinds["other"].n_unique() and (
        abs(stats.pearson(part["value"].to_numpy(), part["other"].to_numpy()) or 0.0) > 1 - 1e-9
    )


ONE_SIDE = "one side does not vary"


def _halo_rows(scored: RaterScores, other: str) -> Iterator[RaterRow]:
    item = ["item", "variant"]
    # An item that is hard for all lowers every criterion; less its mean, only the responses are left.
    centred = scored.rows.with_columns(pl.col(c) - pl.col(c).mean().over(item) for c in ("value", "other"))
    for level, rows in zip(HALO_LEVELS, (scored.rows, centred, _beyond_means(scored.rows)), strict=True):
        values, groups = rows.select("value", "other").to_numpy(), rows["group"].to_numpy()
        for figure in ("pearson", "spearman"):
            correlation = by_coefficient(figure, values, groups, undefined=ONE_SIDE)
            row = scored.row("halo", correlation, contrast=level, other=other, figure=figure)
            if level == BEYOND_MEANS and figure == "pearson" and row.value is not None:
                row = replace(row, p=stats.paired(values.prod(axis=1), groups).p)
            yield row


def _beyond_means(rows: pl.DataFrame) -> pl.DataFrame:
    """Both criteria by candidate and item, less the means of both, on items that all candidates have."""
    cells = rows.group_by(*ITEM_KEYS, "candidate", maintain_order=True).agg(pl.col("value", "other").mean())
    n = cells["candidate"].n_unique()
    complete = cells.filter(pl.len().over("item", "variant") == n)
    return complete.with_columns(
        pl.col(c)
        - pl.col(c).mean().over("item", "variant")
        - pl.col(c).mean().over("candidate")
        + pl.col(c).mean()
        for c in ("value", "other")
    )


def _halo_sentences(rows: Sequence[RaterRow], name: str) -> Iterator[str]:
    for benchmark in dict.fromkeys(r.benchmark for r in rows):
        part = [r for r in rows if r.benchmark == benchmark and r.figure == "pearson"]
        yield f"{name} on {benchmark}, {_halo_text(part)}"
        yield from _moving_together(part, name)


def _moving_together(rows: Sequence[RaterRow], name: str) -> Iterator[str]:
    """The pairs of criteria of one benchmark that a test shows to move together, the closest first."""
    closest = sorted(filter(_moves_together, rows), key=lambda row: -(row.value or 0.0))
    texts = [f"{r.criterion} and {r.other} r {figure_text(r)}" for r in closest[:NAMED_PAIRS]]
    if len(closest) > NAMED_PAIRS:
        texts[-1] += f" and {count(len(closest) - NAMED_PAIRS, 'more pair')}"
    for row in closest[:1]:
        basis = f"Holm over {count(row.n_tests or 0, 'pair')}"
        yield HALO.text(judge=name, benchmark=row.benchmark, basis=basis, pairs=", ".join(texts))


def _moves_together(row: RaterRow) -> bool:
    """Whether the test of two criteria shows that they rise together."""
    return row.p_adjusted is not None and row.p_adjusted <= stats.ALPHA and (row.value or 0.0) > 0


def _halo_text(rows: Sequence[RaterRow]) -> str:
    """The sentence on the pairs of criteria on one benchmark."""
    defined = {
        level: [r for r in rows if r.contrast == level and r.value is not None] for level in HALO_LEVELS
    }
    pairs = defined["rows"]
    if not pairs:
        return f"criteria together: {rows[0].reason}."
    ranges = [_range_text(level, [r.value for r in part]) for level, part in defined.items() if part]
    return (
        f"{count(len(pairs), 'pair')} of criteria that vary: {'; '.join(ranges)}. Where one call scored both "
        "criteria of a pair they are no separate evidence."
    )


def _range_text(level: str, values: Sequence[Any]) -> str:
    return f"{level} r {printed(min(values))} to {printed(max(values))}, mean {printed(np.mean(values))}"


@card_part
def ceiling_and_floor(scores: ScoreTable) -> Entries:
    """Where the ceiling and the floor of the run stand in a rater's scores, and candidates beside them.

    `mean` of each ceiling and floor; for each candidate `from_ceiling` and `from_floor`, candidate less bound
    on the items both have scores on, and `share_of_span`, how far up from floor to ceiling it stands (where
    there is one of each). Values by item are means over repeats, the unit is the group.
    """
    for scored in rated(scores):
        rows = list(_bound_rows(scored))
        yield from rows
        if text := " ".join(_bound_sentence(row, rows) for row in rows if row.figure == "mean"):
            yield f"{scored.name} on {scored.benchmark}: {text}"


def _bound_rows(scored: RaterScores) -> Iterator[RaterRow]:
    """The rows of each bound and of every candidate beside it, then each candidate between the two."""
    items, c = scored.means(), scored.measure.criterion
    bounds = items.filter(items["role"] != "candidate").select("candidate", "role").unique()
    named: dict[str, list[pl.DataFrame]] = {"ceiling": [], "floor": []}
    candidates = {
        name: _item_values(items, name, "value")
        for name in items.filter(pl.col("role") == "candidate")["candidate"].unique().sort()
    }
    for name, role in bounds.sort("role", "candidate").iter_rows():
        bound = _item_values(items, name, role)
        named[role].append(bound)
        place = {"contrast": role, "other": name}
        mean = by_mean(bound[role].to_numpy(), bound["group"].to_numpy(), low=c.low, high=c.high)
        yield scored.row("bounds", mean, **place, figure="mean")
        for candidate, values in candidates.items():
            joined = values.join(bound, on=ITEM_KEYS, maintain_order="left")
            if joined.height:
                differences = (joined["value"] - joined[role]).to_numpy()
                distance = by_difference(differences, joined["group"].to_numpy())
                yield scored.row("bounds", distance, **place, figure=f"from_{role}", candidate=candidate)
    if len(named["ceiling"]) == len(named["floor"]) == 1:
        span = named["ceiling"][0].join(named["floor"][0], on=ITEM_KEYS, maintain_order="left")
        place = {"contrast": "floor to ceiling", "figure": "share_of_span"}
        for candidate, values in candidates.items():
            joined = values.join(span, on=ITEM_KEYS, maintain_order="left")
            if joined.height:
                yield scored.row("bounds", _share_of_span(joined), candidate=candidate, **place)


def _item_values(items: pl.DataFrame, name: str, column: str) -> pl.DataFrame:
    """The values of one candidate or bound by item, in a column of that name."""
    rows = items.filter(pl.col("candidate") == name)
    return rows.select(*ITEM_KEYS, pl.col("value").alias(column)).sort("item", "variant")


def _share_of_span(items: pl.DataFrame) -> Estimate:
    table = items.select("value", "ceiling", "floor").to_numpy()

    def share(at: Any) -> float | None:
        # A ratio of means, because an item's ratio explodes where its ceiling and floor are close.
        value, top, bottom = (float(mean) for mean in table[at].mean(axis=0))
        return None if abs(top - bottom) < 1e-9 else (value - bottom) / (top - bottom)

    return by_jackknife(share, items["group"].to_numpy(), scale="raw", undefined="ceiling and floor are one")


def _bound_sentence(bound: RaterRow, rows: Sequence[RaterRow]) -> str:
    """Where a bound stands, and how far the candidates are from it."""
    name = f"the {bound.contrast} {bound.other}"
    if bound.value is None:
        return f"{name}: {bound.reason}."
    beside = [r for r in rows if r.figure == f"from_{bound.contrast}" and r.other == bound.other]
    distances = [r.value for r in beside if r.value is not None]
    candidates = ""
    if distances:
        lowest, highest = printed(min(distances), "+.2f"), printed(max(distances), "+.2f")
        candidates = f"; candidates stand {lowest} to {highest} from it"
    mean = figure_text(bound)
    return f"{name} has {mean} on {counts_text(bound, 'question')}{candidates}."
