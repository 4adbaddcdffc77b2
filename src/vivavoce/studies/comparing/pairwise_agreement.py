"""Two raters on the same responses: agreement, mean difference and the order of candidates.

These are three questions: a correlation answers none of them.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.measure_names import rubric_name
from vivavoce.core.records import Measure
from vivavoce.core.specs import Spec, signed
from vivavoce.studies.intervals import Estimate, by_coefficient, by_difference, counts_text, interval_text
from vivavoce.studies.rater_scores import (
    CardPart,
    Rater,
    RaterRow,
    rater_row,
    raters_of,
    scores_of,
)
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable
from vivavoce.studies.text import count

LEAST_CANDIDATES = 4
FREE = "_free"
"""The ending of a rubric's name that says it is scored without the reference."""

PAIR_COEFFICIENTS: tuple[stats.AgreementCoefficient, ...] = (
    *("alpha_nominal", "alpha_ordinal", "alpha_interval", "ac1", "quadratic_kappa", "pearson", "percent"),
)
"""What says how far two raters agree who scored the same responses."""


def judge_agreement(scores: ScoreTable) -> CardPart:
    """Judge against judge: raters that differ in the model (or the rater) alone, two at a time."""
    card = CardPart([], [])
    for first, second in _matched(scores, _but_model):
        _add_pair(card, scores, "judges", first, second, each=("difference",))
    return card


def reference_effect(scores: ScoreTable) -> CardPart:
    """The same model with the reference before it, and without: how the scores shift and agree.

    Two signatures match if they differ only in `reference=false`, or in a rubric `x` and its twin `x_free`.
    `difference` is the scores without the reference less those with it.
    """
    card = CardPart([], [])
    for pair in _matched(scores, _but_reference):
        without = {_reference_free(signed(rater.signature).spec): rater for rater in pair}
        if len(without) == 2:
            _add_pair(card, scores, "reference", without[False], without[True], each=None)
    return card


def _but_model(rater: Rater) -> Hashable:
    """What judges that differ in the model alone share; so do raters of one measure."""
    signature = signed(rater.signature)
    settings = {k: str(v) for k, v in signature.spec.settings.items() if k != "model"}
    return signature.spec.name, tuple(settings.items()), signature.version


def _but_reference(rater: Rater) -> Hashable:
    """What a judge with the reference and its twin without share."""
    spec = signed(rater.signature).spec
    # A rubric without the reference is a file of its own, so names are compared without that ending.
    settings = {k: str(v) for k, v in spec.settings.items() if k not in ("reference", "rubric")}
    return spec.name, tuple(settings.items()), rubric_name(spec).removesuffix(FREE), rater.rater


def _reference_free(spec: Spec) -> bool:
    """True if the judge sees no reference."""
    return spec.settings.get("reference") is False or rubric_name(spec).endswith(FREE)


def _matched(scores: ScoreTable, shared: Callable[[Rater], Hashable]) -> Iterator[tuple[Rater, Rater]]:
    """The raters that share something, two at a time."""
    families: dict[Hashable, list[Rater]] = {}
    for rater in raters_of(scores):
        families.setdefault(shared(rater), []).append(rater)
    for family in families.values():
        yield from combinations(family, 2)


def _add_pair(
    card: CardPart, scores: ScoreTable, part: str, first: Rater, second: Rater, *, each: Sequence[str] | None
) -> None:
    """Add what two raters have in common on each criterion that both score.

    `each` names the figures to add by candidate too; null is all of them.
    """
    short = labels(scores.measures)
    for criterion in (name for name in first.keys if name in second.keys):
        keys = first.keys[criterion], second.keys[criterion]
        measure, name = scores.measures[keys[0]], short[key_of(scores.measures[keys[1]])]
        joined = scores_of(scores, keys[0]).join(
            scores_of(scores, keys[1]).select(*RESPONSE, other="value"),
            on=list(RESPONSE),
            how="inner",
            validate="1:1",
            maintain_order="left",
        )
        rows = list(_pair_rows(part, measure, name, joined, each=each))
        card.rows.extend(rows)
        card.sentences.extend(_sentences(part, short[key_of(measure)], name, rows))


def _pair_rows(
    part: str, measure: Measure, other: str, both: pl.DataFrame, *, each: Sequence[str] | None
) -> Iterator[RaterRow]:
    """Every figure of the columns `value` and `other` by benchmark, over all candidates and by candidate.

    `difference` is other less value, with a t interval by group. `tau_b` compares the candidates' means on
    the common responses; its unit is the candidate, and it has no interval.
    """
    for (benchmark,), rows in both.group_by("benchmark", maintain_order=True):
        shared = {"contrast": part, "other": other, "n_raters": 2}
        candidates = rows["candidate"].unique().sort()
        figures = [{"candidate": "", **figure.columns()} for figure in _pair_figures(rows, None)]
        for candidate in candidates if len(candidates) > 1 or each is None else ():
            of_candidate = _pair_figures(rows.filter(pl.col("candidate") == candidate), each)
            figures += [{"candidate": candidate, **figure.columns()} for figure in of_candidate]
        figures.append({"figure": "tau_b", **_tau_b(rows)._asdict()})
        for values in figures:
            yield rater_row(part, str(benchmark), measure, **shared | values)


class _PairFigure(NamedTuple):
    figure: str
    estimate: Estimate
    n_changed: int
    n_ratings: int

    def columns(self) -> dict[str, Any]:
        counts = {"n_changed": self.n_changed, "n_ratings": self.n_ratings}
        return {"figure": self.figure, **self.estimate._asdict(), **counts}


def _pair_figures(rows: pl.DataFrame, names: Sequence[str] | None) -> Iterator[_PairFigure]:
    """The coefficients and the difference of two raters, or those of them that are in `names`."""
    values, groups = rows.select("value", "other").to_numpy(), rows["group"].to_numpy()
    differences = values[:, 1] - values[:, 0]
    counts = int((np.abs(differences) > 1e-9).sum()), 2 * len(values)
    for name in PAIR_COEFFICIENTS:
        if names is None or name in names:
            yield _PairFigure(name, by_coefficient(name, values, groups), *counts)
    yield _PairFigure("difference", by_difference(differences, groups), *counts)


def _tau_b(both: pl.DataFrame) -> Estimate:
    """Kendall's tau-b of the candidates' means in `value` and `other`, without ceilings and floors."""
    # Means over the common responses, so that what one rater left out does not order candidates.
    means = (
        both.filter(pl.col("role") == "candidate")
        .group_by("candidate")
        .agg(pl.col("value", "other").mean())
        .sort("candidate")
    )
    n = means.height, both["group"].n_unique()
    if means.height < LEAST_CANDIDATES:
        return Estimate(*n, reason=f"{count(means.height, 'candidate')}: too few to order")
    tau = stats.kendall(means["value"], means["other"])
    return Estimate(*n, tau, reason="one side does not vary" if tau is None else None)


def _sentences(part: str, first: str, second: str, rows: Sequence[RaterRow]) -> Iterator[str]:
    for benchmark in dict.fromkeys(r.benchmark for r in rows):
        by_figure = {r.figure: r for r in rows if r.benchmark == benchmark and r.candidate == ""}
        yield f"{first} and {second} on {benchmark}{_pair_text(part, by_figure)}"


def _pair_text(part: str, by: Mapping[str | None, RaterRow]) -> str:
    alpha, shift, tau = by["alpha_ordinal"], by["difference"], by["tau_b"]
    if shift.value is None:
        return f": {shift.reason}."
    agreed = alpha.reason if alpha.value is None else f"{alpha.value:.2f}{interval_text(alpha)}"
    order = ""
    if tau.value is not None:
        candidates = count(tau.n_units or 0, "candidate")
        order = f"; on what both marked they order {candidates} with tau-b {tau.value:.2f}"
    scores = "Without the reference the marks are" if part == "reference" else "The second marks"
    return (
        f" ({counts_text(shift, 'response')}): alpha (ordinal) {agreed}{order}. {scores} "
        f"{_shift_text(shift)}.{_hidden_shift(shift, by['pearson'])}"
    )


def _shift_text(shift: RaterRow) -> str:
    """A shift with its interval, both as seen from the side that is higher."""
    value = shift.value or 0.0
    if value >= 0:
        return f"{abs(value):.2f}{interval_text(shift)} higher"
    low, high = shift.low, shift.high
    ends = "" if low is None or high is None else f" ({-high:.2f} to {-low:.2f})"
    return f"{abs(value):.2f}{ends} lower"


def _hidden_shift(shift: RaterRow, pearson: RaterRow) -> str:
    """That a correlation does not show the shift, where there is one."""
    if pearson.value is None or shift.low is None or shift.high is None or shift.low * shift.high <= 0:
        return ""
    return f" Their correlation (r {pearson.value:.2f}) does not show that shift."
