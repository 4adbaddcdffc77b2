"""Overall: one figure over the seven formats of ClinIQLink, the formats beside it, and how answers fail.

Colelough et al. (2025) rank by the unweighted mean of seven columns, one for each format. Here every column
is the mean of its questions, and errors are by case: the paragraph that questions are about, across formats.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.numbers import printed
from vivavoce.core.records import Criterion, Finding, Measure
from vivavoce.core.registry import study
from vivavoce.studies.answers import BLANK
from vivavoce.studies.bounded import Bounded, reasons
from vivavoce.studies.comparing.benchmark_groups import group_boards
from vivavoce.studies.comparing.overall_columns import SEVEN, answering, bare, ranked, together
from vivavoce.studies.item_means import ItemMeans
from vivavoce.studies.naming import NamingSentence
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.row_parts import select_rows
from vivavoce.studies.score_matrix import key_of, labels, place_of
from vivavoce.studies.score_table import (
    FILLED,
    ScoreTable,
    resolve,
    unweighted,
    weights_of,
    with_results,
)
from vivavoce.studies.study import Study, columns, typed_row
from vivavoce.studies.text import count, depends_on, number


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallRow:
    """A candidate's overall, or one of its formats."""

    benchmark: str
    metric: str
    criterion: str
    rater: str
    candidate: str
    format: str
    column: str | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    set_low: float | None = None
    set_high: float | None = None
    estimate_common: float | None = None
    rank: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    depends_on_failed: bool | None = None
    tied_with: int | None = None
    n_items: int | None = None
    n_groups: int | None = None
    n_answers: int | None = None
    n_failed: int | None = None
    empty: float | None = None
    unanswered: float | None = None
    readable: float | None = None
    invented: float | None = None
    by_text: float | None = None
    by_letter: float | None = None
    by_both: float | None = None
    step_found: float | None = None
    n_candidates: int | None = None
    n_shown: int | None = None
    n_pairs: int | None = None
    n_common: int | None = None
    reason: str | None = None
    signature: str


COLUMNS = columns(OverallRow)
HEAD = ("cliniqlink", "score")
CLOSED = {"mcq": ("accuracy", "accuracy"), "true_false": ("accuracy", "accuracy"), "list": ("list_f1", "f1")}
"""Metric and criterion of a closed format, where the head itself does not score it."""
NO_HEAD = (
    "No overall: it takes scores of candidates (floor and ceiling are none) by cliniqlink, which scores all "
    "seven formats (`viva score RUN cliniqlink`)."
)
NO_MATCHES = (
    "How answers named their options, by text or letter, stands with scores by cliniqlink(rules=published) "
    "alone."
)
BY_LABELS = (
    "As published, the column of lists is F1 by label over the whole set; here it is the mean over "
    "questions, which has an error by case."
)
NOT_THE_HARNESS = (
    "rules=published is not the harness everywhere: what is unanswered or unreadable here has 0, where the "
    "harness gives some of it a score, and in multi-hop inverse the reference is the line that begins with "
    "'explanation', in the harness the first that has the word."
)


class Sheet(NamedTuple):
    """The columns of one board: which measure scores which format, and the values by candidate and item.

    `values` has a row per format, item and candidate: `observed`, `low`, `high` as `resolve` gives them.
    """

    benchmark: str
    head: Measure
    columns: Mapping[str, tuple[int, Measure]]
    values: pl.DataFrame
    rows: pl.DataFrame


RANKS = NamingSentence(
    code="overall.ranks",
    templates=(
        "{n} pairs told apart{ranks}.",
        (
            "Overall by {measure} on {benchmark} ({basis} pairs told apart), ranks left open and "
            "means of {n}: {ranks}."
        ),
    ),
    names=("candidate", "metric"),
    family="all pairs of candidates",
    correction="Holm",
    null="overall",
)
OF_GROUP = NamingSentence(
    code="overall.group",
    templates=(
        "{benchmarks} by {measure}, each question counting the same ({sizes}): {ranks}.",
        "On these: {ranks}.",
    ),
    names=("candidate", "metric"),
    family="all pairs of candidates",
    correction="Holm",
    null="overall_group",
)


@study("overall")
class Overall(Study):
    """A row per candidate for its overall (`format` is 'overall') and one for each of its formats.

    `estimate` is the mean over the candidate's own items; an overall is the unweighted mean of the seven,
    with its interval by group across formats, and null where a format is missing. `rank` is by overall on the
    `n_common` items that all have scores on; `estimate_common` is the overall there. `rank_low` to
    `rank_high` is what the pairs leave open (Holm over all of them) under both fillings of failed scores, and
    `depends_on_failed` says whether these make it wider; `tied_with` counts the candidates that no test
    separates from it. The rates are those of `response_failures`, of an overall over all responses. `column`
    is the measure of a format, null for an overall.

    `of` names a group of benchmarks (multimedqa) or lists them: its overall is the mean over all items by
    `metric`, so that each benchmark weighs by its size, and `format` is then a benchmark. Without `of` a
    declared group is shown where the run has scores on all of its benchmarks.
    """

    about = (
        "The unweighted mean of the seven formats of ClinIQLink, or a group of benchmarks weighted by size, "
        "with rank intervals, ties and the rates at which answers fail."
    )
    row = OverallRow
    sentences = (RANKS, OF_GROUP)
    special = True
    of: str | tuple[str, ...] = ()
    metric: str = "accuracy"

    def findings(self, scores: ScoreTable) -> Finding:
        """The leaderboard of every benchmark with scores by cliniqlink, and of every group of benchmarks.

        Raises `SelectionError` for an `of` that names no group, or benchmarks without scores by `metric`.
        """
        rows: list[dict[str, Any]] = []
        names = labels(scores.measures)
        sentences: list[str] = []
        notes = list(unweighted(scores.scores, "means are weighted; rates count"))
        for board in group_boards(scores, self.of, self.metric):
            rows.extend(board.rows)
            sentences.append(board.sentence)
        n_of_groups = len(rows)
        for sheet in () if self.of else _sheets(scores):
            sheet_rows = list(_rows(sheet, scores))
            rows.extend(sheet_rows)
            sentences += _sentences(sheet, names[key_of(sheet.head)], sheet_rows)
            notes += _notes(sheet, names, sheet_rows)
        # Groups of benchmarks have no such columns to miss.
        of_sheets = rows[n_of_groups:]
        if of_sheets and all(row.get("by_text") is None for row in of_sheets):
            notes.append(NO_MATCHES)
        text = "\n".join(sentences) or NO_HEAD
        return self.finding([typed_row(OverallRow, row) for row in rows], text, dict.fromkeys(notes))


def _sheets(marks: ScoreTable) -> Iterator[Sheet]:
    of_candidates = (pl.col("role") == "candidate") & (pl.col("edit") == "")
    candidate_scores = select_rows(marks.scores, of_candidates)
    for key, head in marks.measures.items():
        if (bare(head), head.criterion.criterion) != HEAD or head.criterion.pool != "mean":
            continue
        for benchmark in candidate_scores.filter(pl.col("measure_id") == key)["benchmark"].unique(
            maintain_order=True
        ):
            benchmark_scores = candidate_scores.filter(
                (pl.col("benchmark") == benchmark) & pl.col("format").is_in(list(SEVEN))
            )
            columns = {}
            for form in SEVEN:
                present = (
                    benchmark_scores.filter(pl.col("format") == form)["measure_id"].unique().sort().to_list()
                )
                column_key = key if key in present else _closed(form, present, marks.measures)
                if column_key is not None:
                    columns[form] = column_key, marks.measures[column_key]
            parts = []
            for form, (column, measure) in columns.items():
                part = benchmark_scores.filter((pl.col("measure_id") == column) & (pl.col("format") == form))
                parts.append(resolve(part, measure.criterion).with_columns(format=pl.lit(form)))
            yield Sheet(benchmark, head, columns, _with_results(parts, benchmark_scores), benchmark_scores)


def _with_results(parts: Sequence[pl.DataFrame], rows: pl.DataFrame) -> pl.DataFrame:
    """The values of all formats, null for a candidate of which no score is ok in any: that is no result."""
    has_result = pl.col("candidate").is_in(with_results(rows)["candidate"].unique().to_list())
    return pl.concat(parts).with_columns(pl.when(has_result).then(pl.col(name)) for name in FILLED)


def _closed(form: str, present: Sequence[int], measures: Mapping[int, Measure]) -> int | None:
    """The measure of a closed format among those present, of several versions the newest; null if none is."""
    fits = [
        key for key in present
        if (bare(measures[key]), measures[key].criterion.criterion) == CLOSED.get(form)
    ]  # fmt: skip
    return fits[-1] if fits else None


def _rows(sheet: Sheet, marks: ScoreTable) -> list[dict[str, Any]]:
    """The rows of a board: the overalls with the best first, each followed by its formats."""
    places = ranked(sheet.values)
    rows = sheet.rows.partition_by("candidate", "format", as_dict=True)
    texts = _texts(sheet, marks)
    boards = []
    for name in sorted(sheet.values["candidate"].unique()):
        place = place_of(sheet.benchmark, sheet.head)
        shared = dict.fromkeys(COLUMNS) | place | {"signature": sheet.head.signature, "candidate": name}
        values = sheet.values.filter(pl.col("candidate") == name)
        columns, ways = [], []
        for form, (key, measure) in sheet.columns.items():
            format_rows = rows.get((name, form), sheet.rows.clear())
            format_texts = None if texts is None else texts.get((name, form))
            way = answering(format_rows, format_texts, marks.measures, form=form, by=key)
            mean = _column(values.filter(pl.col("format") == form), measure.criterion)
            columns.append(shared | {"format": form, "column": measure.metric} | mean | way.columns)
            ways.append(way)
        overall = shared | {"format": OVERALL} | _overall(sheet, values, columns) | together(ways).columns
        placed = places.get(name, {})
        reason = reasons(overall["reason"], placed.get("reason"))
        boards.append((overall | placed | {"reason": reason}, columns))
    # Means over different questions would rank the questions too: without a common mean names decide.
    boards.sort(
        key=lambda m: (m[0]["rank"] is None, m[0]["rank"] or 0, m[0]["estimate_common"] is None,
                       -(m[0]["estimate_common"] or 0), m[0]["candidate"])
    )  # fmt: skip
    return [row for overall, columns in boards for row in (overall, *columns)]


def _texts(sheet: Sheet, marks: ScoreTable) -> dict[tuple[Any, ...], pl.DataFrame] | None:
    """Which answers are blank by candidate and format, if they are at hand."""
    if marks.answers is None:
        return None
    answers = marks.answers("benchmark", "candidate", "format", edited=False, blank=BLANK)
    return answers.filter(pl.col("benchmark") == sheet.benchmark).partition_by(
        "candidate", "format", as_dict=True
    )


def _column(values: pl.DataFrame, criterion: Criterion) -> dict[str, Any]:
    """A candidate's mean of one format."""
    means = ItemMeans(values)
    if not means.observed.height:
        return {"n_items": 0, "n_groups": 0, "reason": "no score that counts"}
    estimate = means.arrays().mean(criterion.low, criterion.high)
    ends = {f"set_{side}": _filled(values, side) for side in ("low", "high")}
    figures = Bounded.from_figure(estimate).columns("estimate")
    return {**figures, **ends, "n_items": estimate.n, "n_groups": estimate.n_groups}


def _filled(values: pl.DataFrame, side: str) -> float | None:
    """The mean with every failed score at one end of the scale; null where the scale has none."""
    filled = values.filter(pl.col(side).is_not_null())
    mean = stats.exact_mean(filled[side].to_numpy(), weights_of(filled)) if filled.height else float("nan")
    return None if np.isnan(mean) else mean


def _overall(sheet: Sheet, values: pl.DataFrame, by_format: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A candidate's mean of its seven columns, or why there is none."""
    observed = values.filter(pl.col("observed").is_not_null())
    overall: dict[str, Any] = {"n_items": observed.height, "n_groups": observed["group"].n_unique()}
    formats = {row["format"] for row in by_format if row["estimate"] is not None}
    missing = [name for form, name in SEVEN.items() if form not in formats]
    if missing:
        return overall | {
            "reason": f"no scores on {', '.join(missing)}: an overall is the mean of all seven formats"
        }
    low, high = _limits(sheet)
    estimate = stats.estimate_macro(
        observed["observed"].to_numpy(),
        observed["group"].to_numpy(),
        categories=observed["format"].to_numpy(),
        weights=weights_of(observed),
        low=low,
        high=high,
        floor=True,
    )
    lone = [SEVEN[row["format"]] for row in by_format if row["n_groups"] < 2]
    if lone:  # its column would pass for known without error
        estimate = estimate._replace(low=None, high=None)
        overall["reason"] = f"one case of {', '.join(lone)}: no interval"
    overall |= {name: _mean_of(by_format, name) for name in ("set_low", "set_high")}
    return overall | Bounded.from_figure(estimate).columns("estimate")


def _mean_of(by_format: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """The mean of a figure over the formats; null if a format lacks it."""
    figures = [row[name] for row in by_format]
    return None if None in figures else stats.exact_mean(figures)


def _limits(sheet: Sheet) -> tuple[float | None, float | None]:
    """The ends of the scale that all columns share; none where they differ."""
    ends = {(m.criterion.low, m.criterion.high) for _, m in sheet.columns.values()}
    return ends.pop() if len(ends) == 1 else (None, None)


def _sentences(sheet: Sheet, name: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The order with its ranks in one line, and a line for each candidate's columns and failings."""
    overalls = [row for row in rows if row["format"] == OVERALL]
    subject = f"Overall by {name} on {sheet.benchmark}"
    estimated = [row for row in overalls if row["estimate"] is not None]
    c = sheet.head.criterion
    if not estimated:
        yield f"{subject}: {overalls[0]['reason']}."
    else:
        yield f"{subject}{_order_words(estimated, c)}: {'; '.join(_placed(row, c) for row in estimated)}."
    for overall in overalls:
        columns = [r for r in rows if r["candidate"] == overall["candidate"] and r["format"] != OVERALL]
        figures = ", ".join(
            f"{SEVEN[r['format']]} {number(r['estimate'], c)}" for r in columns if r["estimate"] is not None
        )
        rates = [
            f"{subject} {printed(overall[key], '.0%')}"
            for key, subject in _SAID.items()
            if overall[key] is not None
        ]
        yield f"{overall['candidate']}: {'; '.join([figures or 'no score that counts', *rates])}."


def _order_words(estimated: Sequence[Mapping[str, Any]], criterion: Criterion) -> str:
    """What the order rests on, and first what a reader must know of it."""
    first = estimated[0]
    ranked = first["rank"] is not None
    basis = f"{count(first['n_items'], 'question')} in {count(first['n_groups'], 'case')}"
    separation = f"{first['n_shown']} of {first['n_pairs']} pairs told apart" if ranked else first["reason"]
    means = "ranks left open and means of seven formats" if ranked else "means of seven formats"
    warnings = list(_warnings(estimated, criterion))
    if not warnings:
        return f" ({basis}; {separation}), {means}"
    return f": {' '.join(warnings)} {separation[0].upper()}{separation[1:]}; {means} on their own questions"


def _warnings(estimated: Sequence[Mapping[str, Any]], criterion: Criterion) -> Iterator[str]:
    """The sentences on failed scores that decide a rank, and on an order by common questions."""
    undecided = [row["candidate"] for row in estimated if row["depends_on_failed"]]
    if undecided:
        yield depends_on("rank", undecided, sum(row["n_failed"] or 0 for row in estimated))
    yield from _on_common(estimated, criterion)


def _on_common(estimated: Sequence[Mapping[str, Any]], criterion: Criterion) -> Iterator[str]:
    """The sentence on an order by common questions, where some have others of their own."""
    ordered = [row for row in estimated if row["estimate_common"] is not None]
    if any(row["n_items"] != row["n_common"] for row in ordered):
        figures = ", ".join(
            f"{row['candidate']} {number(row['estimate_common'], criterion)}" for row in ordered
        )
        yield (
            "Candidates have scores on different questions, so they are ordered by their means on the "
            f"{count(ordered[0]['n_common'], 'question')} that all share: {figures}."
        )


_SAID = {
    "empty": "empty",
    "unanswered": "unanswered",
    "readable": "readable",
    "invented": "options invented",
    "step_found": "wrong steps found",
}
"""The rates that stand in a sentence."""


def _placed(row: Mapping[str, Any], criterion: Criterion) -> str:
    """A candidate with the ranks left open to it and its overall."""
    places = dict.fromkeys((row["rank_low"], row["rank_high"])) if row["rank"] else ()
    estimate, *ends = (row[k] for k in ("estimate", "low", "high"))
    sure = "" if None in ends else f" ({' to '.join(number(end, criterion) for end in ends)})"
    label = " ".join(filter(None, (row["candidate"], "-".join(map(str, places)))))
    alone = "" if row["rank"] or not row["reason"] else f", {row['reason']}"
    return f"{label}: {number(estimate, criterion)}{sure}{alone}"


def _notes(
    sheet: Sheet, names: Mapping[tuple[str, str, str], str], rows: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    by: dict[str, list[str]] = {}
    for form, (_, measure) in sheet.columns.items():
        by.setdefault(names[key_of(measure)], []).append(SEVEN[form])
    if len(by) > 1:
        by_measure = "; ".join(f"{', '.join(forms)} by {name}" for name, forms in by.items())
        yield f"Columns on {sheet.benchmark}: {by_measure}."
    if "rules=published" in sheet.head.metric:
        yield BY_LABELS
        yield NOT_THE_HARNESS
    overalls = [row for row in rows if row["format"] == OVERALL]
    lacking = [row for row in overalls if row["estimate"] is None]
    if lacking and len(lacking) < len(overalls):
        yield " ".join(f"{row['candidate']} has no overall: {row['reason']}." for row in lacking)
    ranked = [row for row in overalls if row["n_common"] is not None and row["estimate"] is not None]
    if ranked and any(row["n_items"] != row["n_common"] for row in ranked):
        yield (
            f"Ranks rest on the {count(ranked[0]['n_common'], 'question')} that all have scores on; means "
            "are of each candidate's own."
        )
