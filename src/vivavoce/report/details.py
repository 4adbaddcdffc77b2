"""The second layer of the page: what stands behind the answer, each part in one table or one line."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from vivavoce.report.data import Board, ReportData, board_of
from vivavoce.report.sections.comparisons import matrices
from vivavoce.report.sections.costs import costs
from vivavoce.report.sections.earlier import earlier_comparisons, scores_by_day
from vivavoce.report.sections.examples import example_rows, examples, leading_pair, measure_of
from vivavoce.report.sections.grids import (
    Grid,
    candidates_in_order,
    category_grid,
    criteria_grid,
    grid_rows,
    overall_row,
    primary_of_boards,
)
from vivavoce.report.sections.leaderboard import Leaderboard
from vivavoce.report.sections.response_gaps import response_gaps
from vivavoce.studies.row_parts import select_rows


def details(
    data: ReportData,
    visible: ReportData,
    leaderboards: Sequence[Leaderboard],
    profiles: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """The template's variables of the second layer; `visible` are the tables with the texts to show."""
    first = primary_of_boards(leaderboards, data.primary)
    candidates = candidates_in_order(leaderboards, data.primary_rows)
    answered, plain = visible.without_logprobs, data.without_logprobs
    pair = leading_pair(data.primary_rows, data.primary_pairs)
    measure = measure_of(plain.scores, plain.measures, data.primary)
    benchmark = data.primary.benchmark if data.primary else ""
    by_day = scores_by_day(
        select_rows(plain.scores, pl.col("measure_id") == (-1 if measure is None else measure)),
        None if measure is None else plain.measures[measure],
        data.days,
        benchmark,
    )
    of_answers = plain.scores
    if data.overall_scores is not None:  # an overall scores each answer by the metric of its group
        of_answers = pl.concat([plain.scores, data.overall_scores], how="diagonal_relaxed")
    order = {name: place for place, name in enumerate(candidates)}
    missing = response_gaps(data.requests, plain.responses, plain.scores)
    spent = costs(plain.responses, data.primary_rows)
    return {
        "primary_boards": frozenset(map(board_of, first.rows)) if first else frozenset(),
        "grid": criteria_grid(
            leaderboards,
            first,
            candidates,
            None if first else overall_row(data.primary, data.primary_rows, candidates),
        ),
        "primary_matrix": next(iter(matrices(data.primary_pairs)), None),
        "categories": category_grid(profiles, first, candidates)
        if data.overall_scores is None
        else Grid((), (), reason="An overall has no figure by category; those of its metrics are below."),
        "tested_categories": _category_test(profiles, first),
        "missing": sorted(missing, key=lambda row: order.get(row["candidate"], len(order))),
        "costs": sorted(spent, key=lambda row: order.get(row["candidate"], len(order))),
        "examples": examples(
            answered.items, answered.answers, of_answers, plain.measures, data.primary, pair
        ),
        "earlier": earlier_comparisons(data.comparisons, data.primary),
        "by_day": by_day,
    }


def _category_test(profiles: Sequence[Mapping[str, Any]], first: Leaderboard | None) -> str | None:
    """The sentence on whether categories differ, by the primary criterion."""
    places: set[Board] = {board_of(row) for row in first.rows} if first else set()
    of_first = (p["said"] for p in profiles if p["by"] == "category" and board_of(p) in places)
    return next(of_first, None)


def detail_rows(v: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The second layer as rows, each part under its section."""
    yield from (("grid", row) for row in grid_rows(v["grid"], "criterion"))
    yield from (("category", row) for row in grid_rows(v["categories"], "category"))
    yield from (("missing", row) for row in v["missing"])
    yield from (("cost", row) for row in v["costs"])
    yield from (("example", row) for row in example_rows(v["examples"]))
    yield from (("earlier", row) for row in v["earlier"])
    yield from (("by day", row) for row in v["by_day"])
