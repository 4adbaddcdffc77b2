"""Resilience: what it does to a score, and to the order of candidates, that an answer is put in other words.

An answer says the same in every wording (`viva vary RUN "rephrase(model=…, k=6)"`), so what varies between
wordings is noise of the measure. It is set beside the variance between candidates, which is what a measure is
for, and the candidates' order before is set beside their order after. "Automatic Evaluation of Healthcare
LLMs Beyond Question-Answering", section 3.4 and appendix C.1, scales by the range of the scores at hand; that
figure stands beside ours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.bounded import Bounded, ends_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import by_difference, in_cases, too_few
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.reliability.wordings import (
    Reworded,
    as_wordings,
    nothing_reworded,
    reworded,
    scaled_columns,
    tables_by_candidate,
    template_pairs,
    why_fewer,
    wording_models,
)
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.score_table import ITEM, ITEM_KEY, RESPONSE, ScoreTable, by_answer, unweighted
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import count

LEAST_CANDIDATES = 2
TEMPLATE = "chat template"
"""The contrast of two candidates that differ by `chat_template` alone."""
NO_SCORE = "no wording has a score"
NO_BEFORE = "no score of the answers as they were first given"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResilienceRow(MeasureRow):
    """Figures of one measure over wordings: of all, of one candidate, of one wording, or of a contrast."""

    edits: str
    rephraser: str | None = None
    candidate: str = ""
    edit: str = ""
    contrast: str = ""
    against: str = ""
    n_candidates: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_responses: int | None = None
    n_edits: int | None = None
    n_failed: int = 0
    s2_rephrase: float | None = None
    s2_rephrase_low: float | None = None
    s2_rephrase_high: float | None = None
    s2_candidate: float | None = None
    raw_candidate: float | None = None
    wording_share: float | None = None
    wording_share_low: float | None = None
    wording_share_high: float | None = None
    variance_scaled_published: float | None = None
    variance_q1: float | None = None
    variance_median: float | None = None
    variance_q3: float | None = None
    order_kept_tau: float | None = None
    order_kept_tau_low: float | None = None
    order_kept_tau_high: float | None = None
    n_pairs: int | None = None
    n_same_order: int | None = None
    n_turned: int | None = None
    mean_before: float | None = None
    mean_after: float | None = None
    mean_shift: float | None = None
    mean_shift_low: float | None = None
    mean_shift_high: float | None = None
    s2_pass: float | None = None
    s2_rephrase_net: float | None = None
    raw_rephrase_net: float | None = None
    wording_share_net: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    s2_difference: float | None = None
    s2_difference_low: float | None = None
    s2_difference_high: float | None = None
    reason: str | None = None


ORDER = NamingSentence(
    code="resilience.order",
    templates=(
        "{measure} on {benchmark}, {wordings} of {answers}: {figures} candidates before and after: {order}.",
    ),
    names=("metric",),
    family="all pairs of candidates by one criterion",
    correction="none: both orders of a pair must be known",
    null="resilience",
)


@study("resilience")
class Resilience(Study):
    """Resilience of measures, and of the candidates' order, to rewording of answers."""

    about = "Whether a measure, and the order of candidates by it, stays when answers are put in other words."
    row = ResilienceRow
    sentences = (ORDER,)
    special = True

    def findings(self, scores: ScoreTable) -> Finding:
        """Rows per measure, benchmark and rephraser, from the scored edits `rephrase:k` of answers.

        With an empty `candidate` and `edit`, of all: `s2_rephrase` is the mean variance (ddof 1) over the
        wordings of one response, `s2_candidate` the variance between candidates, (MS candidate - MS
        interaction) / items of the table of means over wordings (0 where `raw_candidate` is negative),
        `wording_share` their ratio. `variance_scaled_published` is the paper's: variance by prompt (ddof 0),
        averaged over candidates, then prompts, over max - min of all scores of wordings; `variance_q1`,
        `variance_median` and `variance_q3` are its quartiles over prompts. `order_kept_tau` is Kendall's
        tau-b of the candidates' means before and after, the mean over wordings; a row for each `edit` has its
        own. Its interval rests on the `n_pairs` of candidates: `n_same_order` and `n_turned` are those whose
        order before and after is known; the others are near ties, which may be either. `mean_shift` is after
        less before on the same responses, with an interval by group; a row for each `candidate` has its own.
        Where a rater gave several passes, `s2_pass` is their noise, and `…_net` is without it.

        A row with a `contrast` is of two candidates that differ by `chat_template` alone, the one with the
        template less the one without: `difference` of scores as first answered, `s2_difference` of variances
        over wordings, both paired by item.
        """
        rows: list[ResilienceRow] = []
        measures, notes = by_answer(scores.measures)
        models = wording_models(scores.answers)
        for key, measure in measures.items():
            of_measure = (pl.col("measure_id") == key) & (pl.col("role") == "candidate")
            part = select_rows(scores.scores, of_measure)
            for data in reworded(part, measure.criterion):
                rows.extend(_rows(data, measure, models.get(data.edits)))
        text = "\n".join(_sentences(rows, scores)) or nothing_reworded(models)
        weighing = unweighted(scores.scores, "figures over wordings count")
        return self.finding(rows, text, (*notes, *weighing) if rows else ())


def _rows(data: Reworded, measure: Measure, model: str | None) -> Iterator[ResilienceRow]:
    """The rows of one measure, benchmark and rephraser."""
    row = ResilienceRow(
        benchmark=data.benchmark, **measure_columns(measure), edits=data.edits, rephraser=model or None
    )
    if not data.after.height:
        failed = f"all {count(data.n_failed, 'score')} of wordings failed: score them again"
        yield replace(row, n_failed=data.n_failed, reason=failed if data.n_failed else NO_SCORE)
        return
    names = sorted(data.after["candidate"].unique())
    by_edit = [_edit_row(row, data, edit) for edit in data.numbers]
    yield _whole_row(row, data, names, by_edit)
    for name in names:
        yield _candidate_row(replace(row, candidate=name), data, name)
    yield from by_edit
    for first, second in template_pairs(names):
        yield _contrast_row(row, data, first, second)


def _counted(row: ResilienceRow, after: pl.DataFrame) -> ResilienceRow:
    return replace(
        row,
        n_candidates=after["candidate"].n_unique(),
        n_items=after.select(ITEM_KEY).n_unique(),
        n_groups=after["group"].n_unique(),
        n_responses=after.select(RESPONSE).n_unique(),
        n_edits=after["edit"].n_unique(),
    )


def _whole_row(
    row: ResilienceRow, data: Reworded, names: Sequence[str], by_edit: Sequence[ResilienceRow]
) -> ResilienceRow:
    """All candidates and wordings."""
    arrays = as_wordings(data.after)
    figures = stats.wording_variance(arrays)
    taus = [edit.order_kept_tau for edit in by_edit if edit.order_kept_tau is not None]
    row = _with_order(row, data.after) if taus else row
    row = replace(
        _counted(row, data.after),
        n_failed=data.n_failed,
        s2_rephrase=figures.s2_rephrase,
        s2_candidate=figures.s2_candidate.value if figures.s2_candidate else None,
        raw_candidate=figures.s2_candidate.raw if figures.s2_candidate else None,
        wording_share=figures.share,
        wording_share_low=figures.low,
        wording_share_high=figures.high,
        **scaled_columns(figures),
        **_mean_tau(row, taus),
    )
    row = _with_variance_interval(_with_shift(row, data.after), arrays)
    row = _with_noise(row, data.passes)
    reason = dict.fromkeys([*_why(row, figures, names, arrays), *why_fewer(data)])
    return replace(row, reason="; ".join(reason) or None)


def _mean_tau(row: ResilienceRow, taus: Sequence[float]) -> dict[str, Any]:
    """The mean tau over wordings, inside the interval of the order over all of them."""
    if not taus:
        return {}
    mean, low, high = stats.exact_mean(taus), row.order_kept_tau_low, row.order_kept_tau_high
    if low is None or high is None:
        return {"order_kept_tau": mean}
    ends = {"order_kept_tau_low": min(low, mean), "order_kept_tau_high": max(high, mean)}
    return {"order_kept_tau": mean, **ends}


def _why(
    row: ResilienceRow, figures: stats.WordingVariance, names: Sequence[str], arrays: stats.Wordings
) -> Iterator[str]:
    """Why figures or intervals are null."""
    if row.reason:
        yield row.reason
    if figures.s2_rephrase is None:
        yield "no answer has two wordings with a score"
    elif figures.scaled_published is None:
        yield "all scores are equal: there is no range to scale by"
    yield from _why_no_share(figures, names, arrays)
    # Without scores before there is nothing to be alike, and that reason stands already.
    if row.order_kept_tau is None and row.mean_before is not None and len(names) >= LEAST_CANDIDATES:
        yield "before or after rewording all candidates are alike, so there is no order"


def _why_no_share(
    figures: stats.WordingVariance, names: Sequence[str], arrays: stats.Wordings
) -> Iterator[str]:
    """Why there is no share, or no interval of it."""
    if len(names) < LEAST_CANDIDATES:
        yield "one candidate: there is no variance between candidates to set the wording beside"
    elif figures.s2_candidate is None:
        yield f"{count(figures.n_items, 'question')} that all candidates have wordings of: too few to tell"
    elif figures.s2_candidate.value == 0:
        yield "candidates differ no more than questions make them: no variance to divide by"
    elif figures.share is not None and figures.low is None:
        few = too_few(arrays.groups)
        none = "no wording moves a score, so the share has no interval" if not figures.share else ""
        yield few or none or "one case decides the share, or all weigh on it alike: no interval of the share"


def _with_variance_interval(row: ResilienceRow, arrays: stats.Wordings) -> ResilienceRow:
    """With the mean variance over wordings and its interval by group."""
    many = ~np.isnan(arrays.variances)
    if not many.any():
        return row
    mean = stats.estimate_mean(arrays.variances[many], arrays.groups[many], low=0.0)
    return replace(
        row,
        s2_rephrase=mean.value,
        s2_rephrase_low=mean.low,
        s2_rephrase_high=mean.high,
        reason=row.reason or in_cases(mean.reason),
    )


def _with_shift(row: ResilienceRow, after: pl.DataFrame) -> ResilienceRow:
    """With the paired shift of the mean: by candidate and item, then over candidates."""
    both = (
        after.drop_nulls("before")
        .group_by(*ITEM, "candidate", "repeat", maintain_order=True)
        .agg(exact_mean(pl.col("y")), pl.col("before").first())
        .group_by(*ITEM, "candidate", maintain_order=True)
        .agg(exact_mean(pl.col("y", "before")))
        .group_by(*ITEM, maintain_order=True)
        .agg(exact_mean(pl.col("y", "before")))
        .sort(ITEM)
    )
    if not both.height:
        return replace(row, reason=NO_BEFORE)
    before, now = both["before"].to_numpy(), both["y"].to_numpy()
    shift = by_difference(now - before, both["group"].to_numpy())
    return replace(
        row,
        mean_before=stats.exact_mean(before),
        mean_after=stats.exact_mean(now),
        mean_shift=stats.exact_mean(now - before),
        mean_shift_low=shift.low,
        mean_shift_high=shift.high,
        reason=row.reason or shift.reason,
    )


def _with_noise(row: ResilienceRow, passes: pl.DataFrame) -> ResilienceRow:
    """With the rater's noise apart, where wordings were scored in several passes."""
    if passes["pass_no"].n_unique() < 2 or row.s2_rephrase is None:
        return row

    def codes(*names: str) -> np.ndarray[Any, Any]:
        return passes.select(pl.struct(*names).rank("dense")).to_series().to_numpy().astype(int)

    noise = stats.pass_variance(passes["y"].to_numpy(), codes(*RESPONSE, "edit"), items=codes(*RESPONSE))
    if noise.s2_pass is None or noise.s2_sampling is None:
        return row
    net = noise.s2_sampling
    return replace(
        row,
        s2_pass=noise.s2_pass,
        s2_rephrase_net=net.value,
        raw_rephrase_net=net.raw,
        wording_share_net=net.value / row.s2_candidate if row.s2_candidate else None,
    )


def _candidate_row(row: ResilienceRow, data: Reworded, name: str) -> ResilienceRow:
    """One candidate's wordings."""
    after = data.after.filter(candidate=name)
    arrays = as_wordings(after)
    # The range is that of all candidates' scores, so that candidates can be set beside each other.
    on_one_range = arrays._replace(low=float(data.after["y"].min()), high=float(data.after["y"].max()))  # type: ignore[arg-type]
    row = replace(_counted(row, after), **scaled_columns(stats.wording_variance(on_one_range)))
    return _with_variance_interval(_with_shift(row, after), arrays)


def _edit_row(row: ResilienceRow, data: Reworded, number: int) -> ResilienceRow:
    """The first, second … wording of all answers."""
    after = data.after.filter(number=number)
    row = replace(_counted(row, after), edit=after["edit"][0])
    return _with_order(_with_shift(row, after), after)


def _with_order(row: ResilienceRow, wordings: pl.DataFrame) -> ResilienceRow:
    """With Kendall's tau of candidates before and after, on the items that all have."""
    first, reworded_means, groups = tables_by_candidate(wordings)
    if first.shape[0] < LEAST_CANDIDATES or not first.shape[1]:
        few = "one candidate has no order" if first.shape[0] < LEAST_CANDIDATES else ""
        few = few or (NO_BEFORE if row.mean_before is None else "")
        return replace(row, reason=few or "no question that all candidates have this wording of")
    order = stats.order_kept(first, reworded_means, groups)
    reason = "before or after, all candidates are alike: no order" if order.value is None else None
    row = replace(row, order_kept_tau=order.value, reason=reason or row.reason)
    if order.low is None:
        return row
    return replace(
        row,
        order_kept_tau_low=order.low,
        order_kept_tau_high=order.high,
        n_pairs=order.n_pairs,
        n_same_order=order.n_same,
        n_turned=order.n_turned,
    )


def _contrast_row(row: ResilienceRow, data: Reworded, first: str, second: str) -> ResilienceRow:
    """A candidate with its chat template less the same without: scores, and variances over wordings."""

    def by_item(name: str) -> pl.DataFrame:
        return (
            data.after.filter(candidate=name)
            .group_by(*ITEM, "repeat", maintain_order=True)
            .agg(pl.col("before").first(), s2=pl.col("y").var())
            .group_by(*ITEM, maintain_order=True)
            .agg(exact_mean(pl.col("before", "s2")))
        )

    joined = by_item(first).join(by_item(second), on=list(ITEM), suffix="_2", validate="1:1").sort(ITEM)
    row = replace(
        row, candidate=first, against=second, contrast=TEMPLATE,
        n_items=joined.height, n_groups=joined["group"].n_unique(),
    )  # fmt: skip
    reasons = []
    for name, column in (("difference", "before"), ("s2_difference", "s2")):
        pairs = joined.drop_nulls([column, f"{column}_2"])
        if not pairs.height:
            reasons.append("no question that both have wordings of")
            continue
        values = (pairs[column] - pairs[f"{column}_2"]).to_numpy()
        figure = by_difference(values, pairs["group"].to_numpy())
        ends = {f"{name}_low": figure.low, f"{name}_high": figure.high}
        row = replace(row, **{name: stats.exact_mean(values)}, **ends)  # type: ignore[arg-type]
        reasons += [figure.reason] if figure.reason else []
    return replace(row, reason="; ".join(dict.fromkeys(reasons)) or None)


def _sentences(rows: Sequence[ResilienceRow], scores: ScoreTable) -> Iterator[str]:
    names = row_labels(scores.measures)
    for row in rows:
        name = names[row.metric, row.criterion, row.rater]
        if row.contrast:
            yield _contrast_text(row, name)
        elif row.n_responses is None:
            yield f"{name} on {row.benchmark}, wordings{_by(row)}: {row.reason}."
        elif not row.candidate and not row.edit:
            yield _whole_text(row, name)


def _by(row: ResilienceRow) -> str:
    named = row.rephraser or row.edits.partition("@")[2]
    return f" by {named}" if named else ""


def _whole_text(row: ResilienceRow, name: str) -> str:
    text = (
        f"{name} on {row.benchmark}, {count(row.n_edits or 0, 'wording')}{_by(row)} of "
        f"{count(row.n_responses or 0, 'answer')} of {count(row.n_candidates or 0, 'candidate')} in "
        f"{count(row.n_groups or 0, 'case')}"
    )
    parts = []
    if row.s2_rephrase is not None:
        parts.append(
            f"in other words a score moves by {printed(row.s2_rephrase**0.5, '.2g')} (standard deviation)"
        )
    if row.wording_share is not None:
        ends = ends_text(row.wording_share_low, row.wording_share_high, ".2g")
        parts.append(
            f"that variance is {printed(row.wording_share, '.2g')} times that between candidates{ends}"
        )
    if row.mean_shift is not None:
        shift = Bounded(row.mean_shift, row.mean_shift_low, row.mean_shift_high)
        parts.append(f"the mean moves by {shift.text('+.3g')}")
    if row.order_kept_tau is not None:
        tau = Bounded(row.order_kept_tau, row.order_kept_tau_low, row.order_kept_tau_high).text()
        parts.append(f"candidates before and after: tau-b {tau}{_pairs_text(row)}")
    if row.reason:
        parts.append(row.reason)
    return f"{text}: {'; '.join(parts)}."


def _pairs_text(row: ResilienceRow) -> str:
    """How many pairs of candidates stay, turn round, and are too near to say."""
    if row.n_pairs is None or row.n_same_order is None or row.n_turned is None:
        return ""
    n_ties = row.n_pairs - row.n_same_order - row.n_turned
    ties = f", {count(n_ties, 'near tie')}" if n_ties else ""
    order = f"{row.n_same_order} of {count(row.n_pairs, 'pair')} in the same order"
    return f" ({order}, {row.n_turned} turned{ties})"


def _contrast_text(row: ResilienceRow, name: str) -> str:
    n_items = count(row.n_items or 0, "question")
    text = f"{name} on {row.benchmark}, {row.candidate} less {row.against}, {n_items}"
    parts = []
    if row.difference is not None:
        ends = ends_text(row.difference_low, row.difference_high, "+.3g")
        parts.append(f"score {printed(row.difference, '+.3g')}{ends}")
    if row.s2_difference is not None:
        ends = ends_text(row.s2_difference_low, row.s2_difference_high, "+.2g")
        parts.append(f"variance over wordings{_by(row)} {printed(row.s2_difference, '+.2g')}{ends}")
    return f"{text}: {', '.join(parts) or row.reason}."
