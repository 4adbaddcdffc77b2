"""Groups of benchmarks as one figure: the mean over all their items, so that each weighs by its size.

That is sum m_i n_i / sum n_i over benchmarks with means m_i and sizes n_i, as lm-evaluation-harness weighs
the group multimedqa. The error is by case across the benchmarks, as of any mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.errors import SelectionError, suggest
from vivavoce.core.records import Measure
from vivavoce.studies.comparing.common_items import OwnMean, on_common_items
from vivavoce.studies.comparing.estimators import Figures, mean_of
from vivavoce.studies.comparing.overall_columns import ENOUGH, answering, bare, together
from vivavoce.studies.comparing.ranking import RankingRow, ranking_rows
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.row_parts import distinct, select_rows
from vivavoce.studies.score_matrix import grids_with_fillings, key_of, labels
from vivavoce.studies.score_table import ScoreTable, by_answer, resolve, with_results
from vivavoce.studies.text import count, number

DECLARED: Mapping[str, tuple[str, ...]] = {"multimedqa": ("medmcqa", "medqa", "pubmedqa", "mmlu")}
"""Groups that have a name, with their benchmarks."""
NO_RESULT = "no result: no answer could be scored"
_RANKS = ("rank", "rank_low", "rank_high", "depends_on_failed", "n_shown", "n_pairs", "n_candidates")


class BenchmarkGroup(NamedTuple):
    """A name, and the benchmarks that it stands for."""

    name: str
    benchmarks: tuple[str, ...]


class GroupBoard(NamedTuple):
    """One measure on one group: the columns of rows, the best candidate first, and its sentence."""

    rows: list[dict[str, Any]]
    sentence: str


def chosen_groups(of: str | Sequence[str], present: Sequence[str]) -> list[BenchmarkGroup]:
    """The group that `of` names or lists; without it every declared one whose benchmarks are all present.

    Raises `SelectionError` for a name of nothing, and for a benchmark without scores.
    """
    # Unasked, only whole groups are shown: a missing benchmark is no reason to complain.
    if not of:
        return [BenchmarkGroup(n, parts) for n, parts in DECLARED.items() if set(parts) <= set(present)]
    group = _named_group(of, present) if isinstance(of, str) else BenchmarkGroup(" + ".join(of), tuple(of))
    if missing := [name for name in group.benchmarks if name not in present]:
        raise SelectionError(
            f"of={group.name}: this run has no scores on {', '.join(missing)}; it has some on "
            f"{', '.join(present) or 'no benchmark, baselines apart'}."
        )
    return [group]


def _named_group(name: str, present: Sequence[str]) -> BenchmarkGroup:
    if name in DECLARED:
        return BenchmarkGroup(name, DECLARED[name])
    raise SelectionError(
        f"of={name}: no group of that name; there is {', '.join(DECLARED)}, or list benchmarks, as in "
        f"of=[{', '.join(present[:2])}].{suggest(name, list(DECLARED))}"
    )


def group_boards(scores: ScoreTable, of: str | Sequence[str], metric: str) -> Iterator[GroupBoard]:
    """A board for each measure by that metric with scores on all benchmarks of a group."""
    candidate_scores = select_rows(scores.scores, (pl.col("role") == "candidate") & (pl.col("edit") == ""))
    groups = chosen_groups(of, distinct(candidate_scores, "benchmark")["benchmark"].to_list())
    measures = {
        key: measure
        for key, measure in by_answer(scores.measures)[0].items()
        if metric in (bare(measure), measure.metric, measure.signature)
    }
    for group in groups:
        of_group = candidate_scores.filter(pl.col("benchmark").is_in(list(group.benchmarks)))
        boards = [
            _board(group, key, measure, part, scores)
            for key, measure in measures.items()
            if (part := of_group.filter(pl.col("measure_id") == key))["benchmark"].n_unique()
            == len(group.benchmarks)
        ]
        if of and not boards:
            raise SelectionError(
                f"of={group.name}: no metric {metric} has scores on all of {', '.join(group.benchmarks)}; "
                "name one with metric=."
            )
        yield from boards


def _board(
    group: BenchmarkGroup, key: int, measure: Measure, rows: pl.DataFrame, scores: ScoreTable
) -> GroupBoard:
    # One benchmark of all items: an id may stand in two of them, so it goes by its benchmark's name.
    joined = with_results(
        rows.with_columns(
            part=pl.col("benchmark"),
            benchmark=pl.lit(group.name),
            item=pl.concat_str("benchmark", pl.lit(": "), "item"),
        )
    )
    shared = {"benchmark": group.name, "metric": measure.metric, "criterion": measure.criterion.criterion,
              "rater": measure.rater, "signature": measure.signature}  # fmt: skip
    by_candidate = {
        str(name): _rows_of(group, key, measure, part, scores.measures)
        for (name,), part in joined.group_by("candidate", maintain_order=True)
    }
    overalls = {name: overall for name, (overall, *_) in by_candidate.items()}
    for name, place in _ranks_of(joined, overalls, key, measure).items():
        overalls[name] |= place
    order = sorted(by_candidate, key=lambda name: _order(by_candidate[name][0], measure, name))
    board = [shared | {"candidate": name} | row for name in order for row in by_candidate[name]]
    label = labels(scores.measures)[key_of(measure)]
    return GroupBoard(board, _sentence(group, label, measure, board))


def _rows_of(
    group: BenchmarkGroup, key: int, measure: Measure, rows: pl.DataFrame, measures: Mapping[int, Measure]
) -> list[dict[str, Any]]:
    """A candidate's overall, and a row for each benchmark of the group."""
    # Failed scores on any benchmark leave the figure of the group open.
    failed = bool((rows["status"] == "failed").any())
    criterion = measure.criterion
    parts, ways = [], []
    for name in group.benchmarks:
        of_part = rows.filter(pl.col("part") == name)
        formats = of_part["format"].unique().to_list()
        # Silence alone is no result, though it counts as worst beside other answers.
        values = resolve(with_results(of_part), criterion)
        figures = mean_of(values, criterion, failed=failed, why_none=NO_RESULT)
        # Which options were invented can be said of multiple choice alone.
        way = answering(of_part, None, measures, form=formats[0] if len(formats) == 1 else "", by=key)
        parts.append({"format": name, "column": measure.metric} | figures.columns() | way.columns)
        ways.append(way)
    missing = [part["format"] for part in parts if part["estimate"] is None]
    figures = mean_of(resolve(rows, criterion), criterion, failed=failed, why_none=NO_RESULT)
    # A mean over fewer benchmarks would be another figure under the same name.
    if missing:
        reason = f"no result on {', '.join(missing)}: the figure is the mean of all {len(parts)} benchmarks"
        figures = Figures(n_items=figures.n_items, n_groups=figures.n_groups, reason=reason)
    return [{"format": OVERALL} | figures.columns() | together(ways).columns, *parts]


def _ranks_of(
    joined: pl.DataFrame, overalls: Mapping[str, Mapping[str, Any]], key: int, measure: Measure
) -> dict[str, dict[str, Any]]:
    """The ranks of candidates on the items that all of them have scores on.

    Who lacks a tenth of the items or more has no rank, and costs the others none.
    """
    sizes = {name: row["n_items"] for name, row in overalls.items() if row["estimate"] is not None}
    largest = max(sizes.values(), default=0)
    short = {
        name: {"reason": f"scores on {n:,} of {count(largest, 'question')}: no rank beside the others"}
        for name, n in sizes.items()
        if n <= ENOUGH * largest
    }
    in_full = pl.col("candidate").is_in([name for name in sizes if name not in short])
    places: dict[str, dict[str, Any]] = {}
    for matrix, fillings in grids_with_fillings(joined.filter(in_full), {key: measure}):
        rows = ranking_rows(matrix, fillings.complete if fillings else None)
        places |= {row.candidate: _place(row) for row in rows}
    return short | places


def _place(row: RankingRow) -> dict[str, Any]:
    """The columns of a candidate's rank."""
    reason = {"reason": row.reason} if row.reason else {}
    ranks = {name: getattr(row, name) for name in _RANKS}
    return {**ranks, "estimate_common": row.mean, "n_common": row.n_items, **reason}


def _order(overall: Mapping[str, Any], measure: Measure, name: str) -> tuple[Any, ...]:
    """The best on common items first; without a rank by name."""
    # Means over different questions would rank the questions too.
    estimate = overall.get("estimate_common")
    upward = -1 if measure.criterion.direction == "higher" else 1
    return overall.get("rank") is None, overall.get("rank") or 0, upward * (estimate or 0.0), name


def _sentence(group: BenchmarkGroup, label: str, measure: Measure, board: Sequence[Mapping[str, Any]]) -> str:
    """The order in one line, with what each benchmark gives; first, where questions differ, that they do."""
    overalls = [row for row in board if row["format"] == OVERALL]
    compared = [row for row in overalls if row.get("n_common") is not None]
    subject = f"{group.name} by {label}, each question counting the same"
    if differ := _on_common(compared, measure):
        on_common = "; ".join(_placed_on_common(row, measure) for row in overalls)
        return f"{subject}: {differ} On these: {on_common}."
    # Equal numbers of questions are equal questions here: those that all share are a part of everyone's.
    basis = _sizes(board, (compared or overalls)[0]["candidate"])
    placed = "; ".join(_placed(row, measure, basis, _sizes(board, row["candidate"])) for row in overalls)
    return f"{subject} ({basis}): {placed}."


def _on_common(compared: Sequence[Mapping[str, Any]], measure: Measure) -> str | None:
    """The sentence on an order by common questions; null where all have the same."""
    if not compared:
        return None
    means = [OwnMean(row["candidate"], row["estimate"], row["n_items"]) for row in compared]
    order = "ranked" if compared[0].get("rank") else "ordered"
    lines = on_common_items(means, compared[0]["n_common"], lambda x: number(x, measure.criterion), order)
    return next(lines, None)


def _sizes(board: Sequence[Mapping[str, Any]], candidate: str) -> str:
    """How many questions of each benchmark a candidate has scores on."""
    of_candidate = (row for row in board if row["candidate"] == candidate and row["format"] != OVERALL)
    return ", ".join(f"{row['format']} {row['n_items']:,}" for row in of_candidate)


def _placed(row: Mapping[str, Any], measure: Measure, basis: str, sizes: str) -> str:
    if row["estimate"] is None:
        return f"{row['candidate']}: {row['reason']}"
    figures = [
        number(row[name], measure.criterion) for name in ("estimate", "low", "high") if row[name] is not None
    ]
    interval = f" ({figures[1]} to {figures[2]})" if len(figures) == 3 else ""
    questions = "" if sizes == basis else f" on its own questions ({sizes})"
    reason = f", {row['reason']}" if row["reason"] else ""
    return f"{row['candidate']}{_places(row)}: {figures[0]}{interval}{questions}{reason}"


def _placed_on_common(row: Mapping[str, Any], measure: Measure) -> str:
    """A candidate with its mean on the questions that all share; its own stands in the rows."""
    mean = row.get("estimate_common")
    figure = "" if mean is None else number(mean, measure.criterion)
    return f"{row['candidate']}{_places(row)}: {', '.join(filter(None, (figure, row['reason'])))}"


def _places(row: Mapping[str, Any]) -> str:
    """The ranks left open to a candidate, after a space; nothing where it has none."""
    low, high = row.get("rank_low"), row.get("rank_high")
    return "" if low is None else f" {low}" if low == high else f" {low}-{high}"
