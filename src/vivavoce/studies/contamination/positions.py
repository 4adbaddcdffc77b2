"""Positions: which place among the options a candidate picks, whatever option is there.

Every question was asked in all rotations of its options, so that each option, the key too, stood once in
every place: a candidate that goes by the content picks each of k places in 1/k of the orders.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.stats import LEAST_GROUPS
from vivavoce.studies.bounded import ends_text, figure_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import Estimate, Floats, by_mean, too_few
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import ScoreTable, unweighted
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import count

CRITERION = "position_bias"
"""The criterion whose parts count picks: `options`, k, and `pick_1` to `pick_k`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionRow(MeasureRow):
    """A figure of one candidate, on the questions with one number of options."""

    candidate: str
    options: int
    figure: str
    position: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    se: float | None = None
    low_family: float | None = None
    high_family: float | None = None
    n_items: int
    n_groups: int
    favoured: bool | None = None
    reason: str | None = None


class _Picks(NamedTuple):
    """Picks as shares of the orders, questions x k, and the questions' groups."""

    measure: Measure
    benchmark: str
    candidate: str
    shares: Floats
    groups: np.ndarray[Any, Any]

    @property
    def options(self) -> int:
        return int(self.shares.shape[1])

    @property
    def too_few(self) -> str | None:
        return too_few(self.groups.tolist())


FAVOURED = NamingSentence(
    code="positions.favoured",
    templates=(
        "{measure}, {candidate} on {benchmark} ({basis}): of its picks {shares}, where {share} is "
        "even; favoured: {places}.",
    ),
    names=("candidate", "metric"),
    family="all shares of places of the call",
    correction="Bonferroni",
    null="positions",
)


@study("positions")
class Positions(Study):
    """Preference for a place among the options."""

    about = (
        "Which position among the options a candidate prefers, whatever stands there; without a "
        "preference every position has the same share."
    )
    row = PositionRow
    sentences = (FAVOURED,)
    special = True

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows per benchmark, measure, candidate and number of options k.

        `share`, one for each `position` from 1: how much of the picks it has, with Wilson's interval by
        group; `low_family` and `high_family` are at 1 - 0.05/m, for all m shares of the call together: every
        place of every candidate, benchmark, measure and k with ten cases or more. A place is `favoured` if
        `low_family` lies above 1/k. `position_bias` is the mean of the questions' own values, which chance
        raises: few orders of one question are never quite even. `pooled_bias` is the same figure of the
        shares, where chance evens out and only a place that is favoured again and again is left. Passes and
        repeats are averaged by question first; floor and ceiling are in no row.
        """
        tables = [
            picks
            for key, measure in scores.measures.items()
            if measure.criterion.criterion == CRITERION
            for picks in _picks(scores, key)
        ]
        family = sum(picks.options for picks in tables if not picks.too_few)
        short = labels(scores.measures)
        rows: list[PositionRow] = []
        sentences = []
        for picks in tables:
            shares, single, pooled = _share_rows(picks, family), _single_row(picks), _pooled_row(picks)
            rows += [*shares, single, pooled]
            name = short[key_of(picks.measure)].removesuffix(f": {CRITERION}")
            sentences.append(f"{name}, {_sentence(shares, single, pooled)}")
        text = "\n".join(sentences) or (
            "No candidate was asked in several orders of the options: "
            "collect and score options(rotate=true) for that."
        )
        notes = unweighted(scores.scores, "shares of places count")
        if family:
            notes = (
                f"{count(family, 'share')} told together, over all candidates and benchmarks: the intervals "
                "by which a place is favoured are by Bonferroni over all of them.",
                *notes,
            )
        return self.finding(rows, text, notes)


def _picks(scores: ScoreTable, key: int) -> Iterator[_Picks]:
    """The picks of one measure by benchmark, candidate and k."""
    rows = scores.scores.filter(
        (pl.col("measure_id") == key)
        & (pl.col("role") == "candidate")
        & (pl.col("edit") == "")
        & (pl.col("status") == "ok")
    ).with_columns(options=_part("options").cast(pl.Int64))
    place = ["benchmark", "candidate", "options"]
    for (benchmark, candidate, k), part in (
        rows.drop_nulls("options").sort(*place).group_by(place, maintain_order=True)
    ):
        names = [f"pick_{j}" for j in range(1, int(str(k)) + 1)]
        items = (
            part.with_columns(_part(name).alias(name) for name in names)
            .sort("item", "variant", "repeat", "pass_no")  # a mean in another order has another last digit
            .group_by("item", "variant", "group", "repeat", maintain_order=True)
            .agg(exact_mean(pl.col(*names)))
            .group_by("item", "variant", "group", maintain_order=True)
            .agg(exact_mean(pl.col(*names)))
        )
        picks = items.select(names).to_numpy()
        # Shares by question first, so that a question weighs alike however many picks were readable.
        shares = picks / picks.sum(axis=1, keepdims=True)
        yield _Picks(scores.measures[key], str(benchmark), str(candidate), shares, items["group"].to_numpy())


def _part(name: str) -> pl.Expr:
    return pl.col("parts").str.json_path_match(f"$.{name}").cast(pl.Float64)


def _row(picks: _Picks, figure: str, estimate: Estimate) -> PositionRow:
    return PositionRow(
        benchmark=picks.benchmark,
        **measure_columns(picks.measure),
        candidate=picks.candidate,
        options=picks.options,
        figure=figure,
        n_items=estimate.n_units,
        **estimate.columns(),
    )


def _share_rows(picks: _Picks, family: int) -> list[PositionRow]:
    rows = []
    for j in range(picks.options):
        share = picks.shares[:, j]
        row = _row(picks, "share", by_mean(share, picks.groups, low=0.0, high=1.0))
        row = replace(row, position=j + 1)
        if row.low is not None:
            level = stats.bonferroni_level(0.95, family)
            wide = stats.estimate_mean(share, picks.groups, low=0.0, high=1.0, level=level)
            favoured = wide.low is not None and wide.low > 1 / picks.options
            row = replace(row, low_family=wide.low, high_family=wide.high, favoured=favoured)
        rows.append(row)
    return rows


def _single_row(picks: _Picks) -> PositionRow:
    """The mean of the questions' own values."""
    # Rounding may leave a hair outside, and Wilson's interval takes 0 to 1 only.
    single = np.clip(_unevenness(picks.shares), 0.0, 1.0)
    return _row(picks, CRITERION, by_mean(single, picks.groups, low=0.0, high=1.0))


def _pooled_row(picks: _Picks) -> PositionRow:
    """The value of the shares over all questions."""
    pooled = float(_unevenness(picks.shares.mean(axis=0)[None, :])[0])
    few = picks.too_few
    n = len(picks.shares), len(set(picks.groups.tolist()))
    return _row(picks, "pooled_bias", Estimate(*n, None if few else pooled, reason=few))


def _unevenness(shares: Floats) -> Floats:
    """By row the total variation distance from 1/k each, over its largest value 1 - 1/k."""
    k = shares.shape[1]
    return np.asarray(np.abs(shares - 1 / k).sum(axis=1) / (2 * (1 - 1 / k)))


def _sentence(shares: Sequence[PositionRow], single: PositionRow, pooled: PositionRow) -> str:
    """One candidate's shares in a sentence."""
    first, k = shares[0], len(shares)
    sample = f"{count(first.n_items, 'question')} of {k} options in {count(first.n_groups, 'case')}"
    head = f"{first.candidate} on {first.benchmark} ({sample}): "
    if first.reason:
        return f"{head}{first.reason}; it takes {LEAST_GROUPS} cases."
    picked = ", ".join(f"place {r.position} {printed(r.value)}" for r in shares)
    places = [f"place {r.position}{ends_text(r.low_family, r.high_family)}" for r in shares if r.favoured]
    finding = f"favoured: {', '.join(places)}" if places else "no place was shown to be favoured"
    return (
        f"{head}of its picks {picked}, where {printed(1 / k)} is even; {finding}. Position bias "
        f"{figure_text(single)} by question, {printed(pooled.value)} pooled."
    )
