"""Consistency: how much of the spread of scores is the item, the repeat, and the rater.

The unit is the item; candidates whose repeats are all the same text show the rater's noise alone, and
are left out of the repeat variance. What that means for the budget of the next run is one sentence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.core.registry import study
from vivavoce.stats import LEAST_GROUPS
from vivavoce.studies.bounded import ends_text
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.row_parts import by_benchmark, by_candidate, coded, distinct, parts_by, select_rows
from vivavoce.studies.score_matrix import row_labels
from vivavoce.studies.score_table import ITEM, ScoreTable, by_answer, counted_value, repeats, unweighted
from vivavoce.studies.study import MeasureRow, Study, measure_columns
from vivavoce.studies.text import count, once


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyRow(MeasureRow):
    """The variance components of one candidate, or of all together."""

    candidate: str
    n_candidates: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    repeats: int | None = None
    s2_group: float | None = None
    s2_item: float | None = None
    s2_interaction: float | None = None
    s2_repeat: float | None = None
    s2_pass: float | None = None
    raw_item: float | None = None
    raw_interaction: float | None = None
    worth: float | None = None
    worth_low: float | None = None
    worth_high: float | None = None
    best_repeats: int | None = None
    best_repeats_low: int | None = None
    best_repeats_high: int | None = None
    identical: bool | None = None
    reason: str | None = None
    variance_published: float | None = None
    variance_q1: float | None = None
    variance_median: float | None = None
    variance_q3: float | None = None
    cv_published: float | None = None
    n_cv_items: int | None = None
    cv_reason: str | None = None


NO_INTERVAL = "one case decides what repeats are worth, or none does: no interval of it"
ADVICE = NamingSentence(
    code="consistency.advice",
    templates=(
        "{measure} on {benchmark} ({basis}): {worth} times the questions, at {cost} times the "
        "calls: {advice}.",
    ),
    names=("metric",),
    family="each criterion alone",
    correction="none",
    null="consistency",
)


@study("consistency")
class Consistency(Study):
    """Variance components of scores: items, repeats, raters."""

    about = (
        "Variance components of scores (items, candidates by items, repeats, raters), and where more "
        "data helps most."
    )
    row = ConsistencyRow
    sentences = (ADVICE,)

    def findings(self, scores: ScoreTable) -> Finding:
        """A row per candidate, and one with an empty candidate for all together, per benchmark and criterion.

        `s2_…` are variance components (0 where the raw figure, beside it, is negative), from items that were
        scored in two repeats or more; with several passes `s2_repeat` is without their noise. `s2_pass` is
        the noise of one pass over a response, over all its ballots where responses were set side by side. Of
        all candidates together: `worth` is by what the variance of a difference grows with one repeat in
        place of `repeats`, with its interval by case; `best_repeats` is the number that costs least when a
        new item costs as much as a repeat, with the numbers at both ends of that interval (null where no
        number is too many). The sentence says what to add only where both ends say so.

        `variance_published` and `cv_published` are the self-consistency of "Automatic Evaluation of
        Healthcare LLMs Beyond Question-Answering", appendix C.2: the variance (ddof 0) over the repeats of a
        prompt, and its root over their mean, averaged over candidates, then over prompts; `variance_q1`,
        `variance_median` and `variance_q3` are the variance's quartiles over prompts. The coefficient of
        variation is for criteria that are never negative, on the `n_cv_items` prompts whose mean is above 0.
        """
        rows: list[ConsistencyRow] = []
        single, notes = by_answer(scores.measures)
        for key, measure in single.items():
            of_measure = (pl.col("measure_id") == key) & (pl.col("role") == "candidate")
            rows.extend(_measure_rows(measure, select_rows(scores.scores, of_measure), scores.identical))
        text = "\n".join(_sentences(rows, scores)) or "No candidate was scored: there is no spread to part."
        weighing = unweighted(scores.scores, "components of variance count")
        return self.finding(rows, text, (*notes, *weighing))


def _measure_rows(
    measure: Measure, scores: pl.DataFrame, identical: frozenset[str]
) -> Iterator[ConsistencyRow]:
    """The rows of one measure, from its score rows of candidates."""
    codes = coded(scores, *ITEM, "candidate")
    table = repeats(scores, measure.criterion, codes)
    # One candidate's silence never varies, which is no consistency of anything it said.
    ok = (pl.col("status") == "ok") & (pl.col("edit") == "")
    with_result = scores.lazy().filter(ok).select("benchmark", "candidate").unique().collect()
    passes = _pass_variances(scores, measure)
    for benchmark, part in by_benchmark(table):
        for (candidate,), rows in parts_by(part, "candidate"):
            row = _empty_row(str(benchmark), measure, str(candidate))
            row = replace(row, identical=candidate in identical)
            names = pl.col("item", "variant", "group").cast(pl.String)
            of_candidate = rows.with_columns(names)  # what is hashed decides the order in which sums add
            row = _candidate_row(row, of_candidate, passes.get((row.benchmark, row.candidate)))
            yield _with_published(row, _of(rows, with_result), measure.criterion)
        joint = _joint_row(_empty_row(str(benchmark), measure, ""), part, identical)
        # As published, over all candidates: identical repeats count as perfect consistency.
        yield _with_published(joint, _of(part, with_result), measure.criterion)
    with_values = set(distinct(table, "benchmark")["benchmark"])
    for benchmark in distinct(scores, "benchmark")["benchmark"]:
        if benchmark not in with_values:
            row = _empty_row(benchmark, measure, "")
            yield replace(row, identical=False, reason="no scores")


def _of(rows: pl.DataFrame, with_result: pl.DataFrame) -> pl.DataFrame:
    """The rows, at least one and all of a benchmark, of candidates with a result on it."""
    benchmark = rows.select(pl.col("benchmark").first()).item()
    names = with_result.filter(pl.col("benchmark") == benchmark)["candidate"].to_list()
    return select_rows(rows, pl.col("candidate").is_in(names))


def _with_published(row: ConsistencyRow, rows: pl.DataFrame, criterion: Criterion) -> ConsistencyRow:
    """With the published self-consistency, from the means of passes by repeat."""
    of_candidates = [
        of_candidate.group_by(*ITEM, "candidate")
        .agg(n=pl.len(), mean=exact_mean(pl.col("y")), variance=pl.col("y").sort().var(ddof=0))
        .filter(pl.col("n") > 1)
        for _, of_candidate in by_candidate(rows)
    ]
    if not of_candidates:
        return row
    prompts = pl.concat(of_candidates).sort(*ITEM, "candidate")
    if not prompts.height:
        return row
    by_prompt = _over_candidates(prompts, pl.col("variance"))
    quartiles = [by_prompt.quantile(share, "linear") for share in (0.25, 0.5, 0.75)]
    row = replace(
        row,
        variance_published=_mean(by_prompt),
        variance_q1=quartiles[0],
        variance_median=quartiles[1],
        variance_q3=quartiles[2],
    )
    if criterion.low is None or criterion.low < 0:
        return replace(row, cv_reason="the criterion may be negative: no coefficient of variation")
    positive = prompts.filter(pl.col("mean") > 0)
    if not positive.height:
        return replace(row, n_cv_items=0, cv_reason="all means are 0: no coefficient of variation")
    return replace(
        row,
        cv_published=_mean(_over_candidates(positive, pl.col("variance").sqrt() / pl.col("mean"))),
        n_cv_items=positive.select(ITEM).n_unique(),
    )


def _over_candidates(prompts: pl.DataFrame, figure: pl.Expr) -> pl.Series:
    """A figure by candidate and prompt, averaged over candidates: a value per prompt."""
    return prompts.group_by(*ITEM, maintain_order=True).agg(exact_mean(figure).alias("figure"))["figure"]


def _mean(values: pl.Series) -> float:
    return stats.exact_mean(values.to_numpy())


def _pass_variances(scores: pl.DataFrame, measure: Measure) -> dict[tuple[str, str], stats.PassVariance]:
    """The rater's noise by benchmark and candidate, where scores were given in several passes.

    Of responses set side by side a pass has the mean over the ballots that every pass of the response has:
    which other responses it met is no noise of the rater's.
    """
    if scores.select(pl.col("pass_no").n_unique()).item() < 2:
        return {}
    response = ["benchmark", "candidate", "item", "variant", "repeat"]
    n_passes = pl.col("pass_no").n_unique()
    passes = (
        scores.filter(pl.col("edit") == "")
        .with_columns(y=counted_value(measure.criterion))
        .drop_nulls("y")
        .filter(n_passes.over(*response, "ballot") == n_passes.over(response))
        .sort(*response, "pass_no", "ballot")  # a mean in another order has another last digit
        .group_by(*response, "pass_no", maintain_order=True)
        .agg(exact_mean(pl.col("y")))
    )
    variances = {}
    for (benchmark, candidate), part in passes.group_by("benchmark", "candidate", maintain_order=True):
        if part["pass_no"].n_unique() > 1:
            items = part.select("item", "variant").hash_rows().to_numpy()
            responses = part.select("item", "variant", "repeat").hash_rows().to_numpy()
            variances[str(benchmark), str(candidate)] = stats.pass_variance(
                part["y"].to_numpy(), responses, items=items
            )
    return variances


def _empty_row(benchmark: str, measure: Measure, candidate: str) -> ConsistencyRow:
    return ConsistencyRow(
        benchmark=benchmark,
        **measure_columns(measure),
        candidate=candidate,
    )


def _candidate_row(
    row: ConsistencyRow, rows: pl.DataFrame, passes: stats.PassVariance | None
) -> ConsistencyRow:
    """One candidate's items and repeats, nested in their groups."""
    n_repeats = rows["repeat"].n_unique()
    if n_repeats > 1:  # an item scored once cannot tell repeats from items
        rows = rows.filter(pl.len().over("item", "variant") > 1)
    n_groups = rows["group"].n_unique()
    n_items = rows.select("item", "variant").n_unique()
    is_enough = n_groups >= LEAST_GROUPS
    row = replace(
        row,
        n_items=n_items,
        n_groups=n_groups,
        repeats=n_repeats,
        s2_pass=passes.s2_pass if passes and is_enough else None,
    )
    if n_repeats < 2:
        return replace(row, reason="one repeat only: nothing tells repeats apart from questions")
    if not is_enough:
        return replace(row, reason=f"{count(n_groups, 'case')} with two repeats: too few to tell")
    codes = rows.select("item", "variant").hash_rows().to_numpy()
    parts = stats.nested_variance(rows["y"].to_numpy(), codes, groups=rows["group"].to_numpy())
    row = replace(
        row, s2_group=_cut(parts.s2_group), s2_item=_cut(parts.s2_item), raw_item=_raw(parts.s2_item)
    )
    # Repeats of one text differ by the rater alone, so their variance is the noise of a pass.
    if row.identical:
        return replace(row, s2_pass=passes.s2_pass if passes else parts.s2_within)
    sampling = passes.s2_sampling if passes else None
    return replace(row, s2_repeat=sampling.value if sampling else parts.s2_within)


def _joint_row(row: ConsistencyRow, part: pl.DataFrame, identical: frozenset[str]) -> ConsistencyRow:
    """The candidates together, on the items and repeats that all of them have."""
    # Where all repeats are one text nothing varies between them, and the variance would look smaller.
    names = sorted({*distinct(part, "candidate")["candidate"]} - identical)
    cube, groups = _cube(part, names)
    n_candidates, n_items, n_repeats = cube.shape
    n_groups = len(set(groups.tolist()))
    row = replace(
        row, n_candidates=n_candidates, n_items=n_items, repeats=n_repeats, n_groups=n_groups, identical=False
    )
    if n_candidates < 2 or n_repeats < 2:
        return replace(row, reason="it takes two candidates whose answers vary, with two repeats each")
    if n_groups < LEAST_GROUPS:
        reason = f"{count(n_groups, 'case')} that all of them have in full: too few to tell"
        return replace(row, reason=reason)
    # Henderson's ANOVA and not REML: its closed form is exact on small data.
    parts = stats.crossed_variance(cube)
    interaction, within = _cut(parts.s2_interaction), parts.s2_within
    row = replace(
        row,
        s2_item=_cut(parts.s2_item),
        raw_item=_raw(parts.s2_item),
        s2_interaction=interaction,
        raw_interaction=_raw(parts.s2_interaction),
        s2_repeat=within,
    )
    if interaction is None or within is None:
        return replace(row, reason="the table is too small to part its components")
    if not interaction and not within:
        return replace(row, reason="nothing varies but the questions: there is no budget to part")
    worth = stats.repeats_worth(s2_interaction=interaction, s2_within=within, repeats=n_repeats)
    row = replace(row, worth=worth, best_repeats=_best_repeats(interaction, within))
    ends = stats.repeats_worth_interval(cube, groups)
    if ends is None:
        return replace(row, reason=NO_INTERVAL)
    # Where R repeats are worth w, the interaction is ((R - 1) / (w - 1) - 1) / R times the repeats' variance.
    low, high = (_best_repeats(((n_repeats - 1) / (end - 1) - 1) / n_repeats, 1.0) for end in ends)
    return replace(
        row, worth_low=ends.low, worth_high=ends.high, best_repeats_low=low, best_repeats_high=high
    )


def _best_repeats(interaction: float, repeat: float) -> int | None:
    """Repeats of a question that tell most at equal cost: two where their variance is over 2.25 times."""
    return stats.best_repeats(s2_interaction=interaction, s2_within=repeat, cost_item=1, cost_repeat=1)


def _cut(component: stats.Component | None) -> float | None:
    """A component, 0 where its raw figure is negative."""
    return component.value if component else None


def _raw(component: stats.Component | None) -> float | None:
    return component.raw if component else None


def _cube(part: pl.DataFrame, names: Sequence[str]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The complete cube, candidates x items x repeats, and the group of each item."""

    def of_names() -> Iterator[pl.DataFrame]:  # one candidate's rows are copied at a time
        return (rows for name, rows in by_candidate(part) if name in names)

    numbers = sorted({number for rows in of_names() for number in rows["repeat"].unique()})
    # The crossed design needs every cell: an item that lacks one is left out for all.
    nobody = part.clear().group_by(*ITEM).len()
    sizes = pl.concat([nobody, *(rows.group_by(*ITEM).len() for rows in of_names())])
    full = sizes.group_by(*ITEM).agg(pl.col("len").sum()).filter(pl.col("len") == len(names) * len(numbers))
    cube = np.zeros((len(names), full.height, len(numbers)))
    for place, rows in enumerate(of_names()):
        complete = rows.join(full, on=list(ITEM), how="semi").sort(*ITEM, "repeat")
        cube[place] = complete["y"].to_numpy().reshape(full.height, len(numbers))
    return cube, full.sort(*ITEM)["group"].to_numpy()


def _sentences(rows: Sequence[ConsistencyRow], scores: ScoreTable) -> Iterator[str]:
    names = row_labels(scores.measures)
    joint = [(names[row.metric, row.criterion, row.rater], row) for row in rows if row.candidate == ""]
    lacking: dict[str, list[tuple[str, str]]] = {}
    for name, row in joint:
        if not row.worth:
            lacking.setdefault(str(row.reason), []).append((name, row.benchmark))
    for name, row in joint:
        if row.worth:
            yield f"{name} on {row.benchmark} {_budget_text(row)}"
        # Dozens of tables may lack the same: it is said once, where the first of them stands.
        elif places := lacking.pop(str(row.reason), None):
            yield once(str(row.reason), places)
    if scores.identical:
        candidates = ", ".join(sorted(scores.identical))
        yield f"All repeats of {candidates} are the same text; what varies between them is the examiner."


def _budget_text(row: ConsistencyRow) -> str:
    n = row.repeats or 0
    ends = ends_text(row.worth_low, row.worth_high, ".1f")
    return (
        f"({row.n_candidates} candidates, {row.n_items} questions in {row.n_groups} cases): {n} repeats "
        f"are worth {printed(row.worth, '.1f')}{ends} times the questions, at {n} times the calls: "
        f"{_advice(row)}."
    )


def _advice(row: ConsistencyRow) -> str:
    """What to add at equal cost, where both ends of the interval agree on it."""
    n, few, many = row.repeats or 0, row.best_repeats_low, row.best_repeats_high
    if row.worth_low is None:
        return "no interval, so no advice"
    if many and many < n:
        times = count(many, "time") if few == many else f"{few} to {many} times"
        return f"buy questions; ask each {times}"
    if not few or few >= n:
        return "repeats are worth their calls"
    return "too few cases to tell whether questions or repeats help more"
