"""Estimates: what each candidate scored on each criterion, how sure that is, and what is missing from it.

The default view is the mean over items, or the pooled figure of a criterion that is pooled. Asked for, the
bad end stands beside it: the worst of k responses, the worst share of the items, and the mean under vetoes.
Every view gives the same `Figures` (`estimators`). Candidates are ordered by their figures on the items that
all of them have values for, and a candidate without a single score that is ok has no result.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.measure_names import measure_name, metric_name
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.studies.bounded import interval_text
from vivavoce.studies.comparing.common_items import common_items, order_basis
from vivavoce.studies.comparing.estimators import (
    Figures,
    mean_of,
    pooled_of,
    tail_of,
    without_result,
    worst_of,
)
from vivavoce.studies.comparing.people_mean import on_peoples_scale, people_means
from vivavoce.studies.coverage import Requests, coverage
from vivavoce.studies.pooling import counts
from vivavoce.studies.rater_scores import scale_columns
from vivavoce.studies.row_parts import by_benchmark, distinct, select_rows
from vivavoce.studies.scale import PEOPLE
from vivavoce.studies.score_matrix import key_of, labels, place_of
from vivavoce.studies.score_table import (
    MISSING,
    SECTION,
    ScoreTable,
    by_answer,
    by_repeat,
    notes_by_word,
    over_repeats,
    resolve,
    with_results,
)
from vivavoce.studies.study import as_mapping, columns, typed_row
from vivavoce.studies.text import HEADLINES, cases, count, few_cases, sampled
from vivavoce.studies.thresholds import BadEnds, RedLine, apply_vetoes, share_no_format
from vivavoce.studies.validation_status import stamp_notes, status_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateRow:
    """A candidate on one benchmark and criterion in one view."""

    benchmark: str
    candidate: str
    role: str
    metric: str
    criterion: str
    rater: str
    view: str
    estimate: float | None
    estimate_common: float | None
    n_common: int
    low: float | None
    high: float | None
    set_low: float | None
    set_high: float | None
    bound_low: float | None
    bound_high: float | None
    n_items: int
    n_groups: int
    effective_cases: float | None
    n_expected: int
    n_responses: int
    n_unanswered: int
    n_unreadable: int
    n_failed: int
    n_set_aside: int
    n_unscored: int
    n_never_asked: int
    n_vetoed: int | None
    coverage: float | None
    reason: str | None
    signature: str
    estimate_kind: str = "scores"
    judge_alone: bool = False
    scale: str | None = None
    stamp: str | None = None
    n_labelled: int | None = None
    lambda_: float | None = None
    estimate_judge: float | None = None
    estimate_people: float | None = None


COLUMNS = columns(EstimateRow)
ONE_TEXT = (
    "its repeats of every question are one text: a worst one tells of the examiner, not of the candidate"
)


class _Views(NamedTuple):
    """The bad ends asked for, and the red lines with their scores."""

    bad: BadEnds
    lines: tuple[RedLine, ...]


def estimates(
    scores: ScoreTable, items: pl.DataFrame, bad: BadEnds | None = None, lines: Sequence[RedLine] = ()
) -> Finding:
    """An `EstimateRow` per benchmark, criterion, view and candidate, the best on common items first.

    `items` are the benchmark's. Coverage and all counts of what is missing are of the responses that were
    expected of the candidate (`coverage.Requests`). `view` is mean or pooled; and, for what `bad`
    asks, worst@k, tail@share, and veto with the red lines `lines`. `low` and `high` are the 95% interval
    (Wilson with effective size, or t), null with one group. `estimate_common` is the figure on the `n_common`
    items that all candidates have values for, which orders them; without a common item they stand by name.
    `scale` is people or judge, null for any other metric, and orders hold on one scale: where two candidates
    or more are on people's, it comes first.
    `set_…` is what the failed scores could make of the estimate, `bound_…` that with sampling error.
    Where people's scores correct a judge's mean (`scores.labels`) its `estimate_kind` is prediction_powered:
    `lambda` says how far it rests on the judge, whose own mean is `estimate_judge`; `estimate_people` is that
    of the `n_labelled` items that people scored. Else a judge's row is `judge_alone`; `stamp` says what is
    known of the judge. `n_vetoed` counts the responses that crossed a red line, null in other views;
    `n_unscored` those that are there without a score yet, `n_never_asked` the expected ones without a
    request. At coverage 0 there is no
    result, only what failed scores could make of it. `reason` says why a figure is null, or what was left
    out of it.
    """
    views = _Views(bad or BadEnds(), tuple(lines))
    rows: list[EstimateRow] = []
    for key, measure in scores.measures.items():
        for benchmark, part in by_benchmark(select_rows(scores.scores, pl.col("measure_id") == key)):
            formats = distinct(part, "format")["format"].to_list()
            of_formats = items.filter((pl.col("benchmark") == benchmark) & pl.col("format").is_in(formats))
            requests = scores.requests or Requests.of_rows(part, of_formats)
            expected = partial(
                requests.expected,
                benchmark,
                probe=scores.probes.get(key, ""),
                formats=formats,
                chosen=scores.only.get(key),
                compared=bool((part["ballot"] != "").any()),
            )
            boards = list(_boards(scores, key, part, views))
            rows.extend(_sorted(_rows(part, measure, expected, boards, scores), measure.criterion))
    text = "\n".join((*_order_sentences(rows), *map(_sentence, rows)))
    stamps = stamp_notes((row.metric, row.criterion, row.stamp) for row in rows)
    by_word = notes_by_word(scores.labels, [row.estimate_kind for row in rows])
    notes = (*_notes(scores, views), *sampled(items), *stamps, *by_word)
    return Finding(study="estimates", rows=tuple(map(as_mapping, rows)), text=text, notes=notes)


def _sorted(rows: Iterator[EstimateRow], criterion: Criterion) -> list[EstimateRow]:
    """The rows of a criterion view by view, the best on common items first.

    Those without a figure there follow by name, and those without any estimate are last. Rows on people's
    scale come first, unless a single candidate is on it: then the order of the others does.
    """
    unsorted = list(rows)
    people_first = sum(row.scale == PEOPLE and row.role == "candidate" for row in unsorted) > 1
    views = list(dict.fromkeys(row.view for row in unsorted))
    sign = -1 if criterion.direction == "higher" else 1
    return sorted(
        unsorted,
        key=lambda row: (
            views.index(row.view),
            row.estimate is None,
            (row.scale == PEOPLE) != people_first,
            row.estimate_common is None,
            # A mean over a candidate's own items would rank the items too.
            sign * (row.estimate_common or 0.0),
            row.candidate,
        ),
    )


def _order_sentences(rows: Sequence[EstimateRow]) -> Iterator[str]:
    """What the order rests on, for each measure and view whose candidates have values on different items."""
    boards: dict[tuple[str, ...], list[EstimateRow]] = {}
    for row in rows:
        boards.setdefault((_what(row), row.signature), []).append(row)
    for (subject, _), board in boards.items():
        basis = order_basis([as_mapping(row) for row in board], partial(printed, form=".3f"))
        if basis:
            yield f"{subject}: {basis}"


def _notes(scores: ScoreTable, views: _Views) -> Iterator[str]:
    """What has no row in a view that was asked for."""
    single, left_out = by_answer(scores.measures)
    if views.bad.worst_at is None and views.bad.tail is None and not views.lines:
        return
    yield from (f"Bad ends are of values by answer. {line}" for line in left_out)
    if SECTION in scores.scores.columns:
        yield "Bad ends are of one criterion: an overall has none."
    yield from _notes_on_vetoes(scores, single, views.lines)


def _notes_on_vetoes(
    scores: ScoreTable, single: Mapping[int, Measure], lines: Sequence[RedLine]
) -> Iterator[str]:
    """The criteria that a red line has no bearing on."""
    endless = [
        f"{metric_name(m.metric)}, {m.criterion.criterion}"
        for m in single.values()
        if m.criterion.worst is None
    ]
    if lines and endless:
        yield f"No veto where a scale has no worst end: {'; '.join(dict.fromkeys(endless))}."
    short = labels(scores.measures)
    for line in lines:
        unrelated = [key for key in single if share_no_format(line, scores.scores.filter(measure_id=key))]
        if unrelated:
            names = ", ".join(short[key_of(single[key])] for key in unrelated)
            veto_text = f"{line.veto.metric} {line.veto.op} {line.veto.limit:g}"
            yield f"No veto by {veto_text} on {names}: they score no format in common."


def _sentence(row: EstimateRow) -> str:
    """One candidate on one criterion: the estimate, how sure it is, and what is missing from it."""
    subject = f"{_what(row)}: {row.candidate}"
    if row.estimate is None:
        return f"{subject}: {row.reason}."
    numbers = {
        "unanswered": row.n_unanswered,
        "unreadable": row.n_unreadable,
        "failed": row.n_failed,
        "set aside": row.n_set_aside,
        "never asked": row.n_never_asked,
        "not scored yet": row.n_unscored,
        "vetoed": row.n_vetoed,
    }
    missing = [f"{n} {status}" for status, n in numbers.items() if n]
    missing += [row.reason] if row.view not in HEADLINES and row.reason else []
    estimate = f"{printed(row.estimate, '.3f')}{interval_text(row, '.3f')}{_correction(row)}"
    return (
        f"{subject} {estimate}, {count(row.n_items, 'question')} in "
        f"{cases(row.n_groups, row.effective_cases)}{few_cases(row.effective_cases)}"
        f"{'; ' if missing else ''}{', '.join(missing)}."
    )


def _correction(row: EstimateRow) -> str:
    """What people's scores did to the estimate; nothing where none did."""
    labels = row.n_labelled or 0
    if row.estimate_kind == "rogan_gladen":
        return (
            f", corrected by the judge's errors on {count(labels, 'answer')} that people scored elsewhere "
            f"(the judge alone {printed(row.estimate_judge, '.3f')})"
        )
    if row.estimate_kind == "prediction_powered":
        return (
            f" on people's scale (the judge alone {printed(row.estimate_judge, '.3f')}, people alone "
            f"{printed(row.estimate_people, '.3f')} on {count(labels, 'question')})"
        )
    return ""


def _what(row: EstimateRow) -> str:
    """What a row is about, but for its candidate."""
    view = "" if row.view in HEADLINES else f", {row.view}"
    return f"{measure_name(row.metric, row.criterion, row.rater)} on {row.benchmark}{view}"


def _rows(
    part: pl.DataFrame,
    measure: Measure,
    expected: Callable[[str], pl.DataFrame],
    boards: Sequence["_Board"],
    scores: ScoreTable,
) -> Iterator[EstimateRow]:
    """The rows of one criterion on one benchmark, in every view."""
    shared = [common_items(board.counted(part)) for board in boards]
    for benchmark, candidate, role in distinct(part, "benchmark", "candidate", "role").iter_rows():
        unedited = part.filter((pl.col("candidate") == candidate) & (pl.col("edit") == ""))
        counted = coverage(expected(str(candidate)), unedited)
        missing = {status.replace("_", " "): getattr(counted, status) for status in MISSING}
        lacking = ", ".join(f"{n} {status}" for status, n in missing.items() if n)
        why_none = f"no result: no answer could be scored ({lacking})"
        for board, items in zip(boards, shared, strict=True):
            figures = board.of(str(candidate), bool(counted.failed), why_none)
            columns_of = dict(
                **place_of(str(benchmark), measure),
                candidate=str(candidate),
                role=str(role),
                view=board.name,
                signature=measure.signature,
                estimate_common=board.on_items(str(candidate), items, figures) if counted.n_covered else None,
                n_common=items.height,
                n_expected=counted.expected,
                n_responses=counted.n_scored,
                **{f"n_{name}": getattr(counted, name) for name in (*MISSING, "unscored", "never_asked")},
                coverage=counted.share,
                **scale_columns(measure, figures.estimate_kind),
                stamp=status_of(scores.statuses, str(benchmark), measure),
            )
            figures = figures if counted.n_covered else without_result(figures, why_none)
            yield typed_row(EstimateRow, columns_of | figures.columns())


class _Board(NamedTuple):
    """A view of one criterion on one benchmark: the values of all candidates and the figures of one's.

    `counts` says which rows of the values enter an estimate; without `values` there is none.
    """

    name: str
    values: pl.DataFrame | None
    counts: pl.Expr
    figures: Callable[[Any, bool, str], Figures]

    def counted(self, part: pl.DataFrame) -> pl.DataFrame:
        """The rows of the candidates with a result that enter an estimate."""
        values = part.clear() if self.values is None else self.values.filter(self.counts)
        return values.join(with_results(part).select("candidate").unique(), on="candidate", how="semi")

    def of(self, candidate: str, failed: bool, why_none: str) -> Figures:
        """The figures of a candidate; whether scores of it failed, and why it may have none."""
        rows = None if self.values is None else self.values.filter(pl.col("candidate") == candidate)
        return self.figures(rows, failed, why_none)

    def on_items(self, candidate: str, items: pl.DataFrame, figures: Figures) -> float | None:
        """The estimate on these items of a candidate with these figures; null where it lacks some items."""
        if self.values is None or not items.height:
            return None
        values = self.values.filter(pl.col("candidate") == candidate)
        rows = values.filter(self.counts).join(items, on=items.columns, how="semi", maintain_order="left")
        if rows.n_unique(items.columns) < items.height:
            return None
        return (figures if rows.height == values.height else self.figures(rows, False, "")).estimate


def _boards(scores: ScoreTable, key: int, part: pl.DataFrame, views: _Views) -> Iterator[_Board]:
    """The views of a measure on the benchmark of these score rows."""
    measure, bad = scores.measures[key], views.bad
    criterion = measure.criterion
    if criterion.pool != "mean":
        counted = counts(part, criterion)

        def pooled(rows: Any, failed: bool, why_none: str) -> Figures:
            return pooled_of(rows, counted, criterion, failed=failed, why_none=why_none)

        yield _Board("pooled", counted.items, pl.lit(True), pooled)
        return
    by_item, observed = resolve(part, criterion), pl.col("observed").is_not_null()
    means = people_means(scores, key, part)

    def mean(rows: Any, failed: bool, why_none: str) -> Figures:
        figures = mean_of(rows, criterion, failed=failed, why_none=why_none)
        return on_peoples_scale(figures, rows, means, criterion, failed=failed)

    def worst(rows: Any, failed: bool, why_none: str) -> Figures:
        figures = worst_of(rows, criterion, k=bad.worst_at or 1, failed=failed)
        is_one_text = figures.n_items and rows["candidate"][0] in scores.identical
        return figures.with_reason(ONE_TEXT) if is_one_text else figures

    def tail(rows: Any, failed: bool, why_none: str) -> Figures:
        return tail_of(rows, criterion, share=bad.tail or 1.0, failed=failed, why_none=why_none)

    def veto(rows: Any, failed: bool, why_none: str) -> Figures:
        return _under_veto(rows, criterion, failed, why_none)

    yield _Board("mean", by_item, observed, mean)
    if SECTION in part.columns:  # the bad end of one format is no bad end of another
        return
    if bad.worst_at is not None:
        complete = observed & (observed.sum().over("candidate", "item", "variant") >= bad.worst_at)
        yield _Board(f"worst@{bad.worst_at}", by_repeat(part, criterion), complete, worst)
    if bad.tail is not None:
        yield _Board(f"tail@{bad.tail:g}", by_item, observed, tail)
    lines = [line for line in views.lines if line.measure != measure and not share_no_format(line, part)]
    if lines and criterion.worst is not None:
        yield _Board("veto", apply_vetoes(by_repeat(part, criterion), lines, criterion), observed, veto)


def _under_veto(values: pl.DataFrame, criterion: Criterion, failed: bool, why_none: str) -> Figures:
    """The mean with every response over a red line at the worst; those that may be over it give bounds."""
    unknown = values.filter("open").height
    reason = None
    if unknown:
        answers = count(unknown, "answer")
        reason = f"{answers} may or may not be over a red line: the scores for it are missing"
    # A veto that is unknown widens the bounds just as a failed score does.
    failed = failed or bool(unknown)
    figures = mean_of(over_repeats(values), criterion, failed=failed, why_none=reason or why_none)
    return replace(figures.with_reason(reason), n_vetoed=values.filter(pl.col("crossed")).height)
