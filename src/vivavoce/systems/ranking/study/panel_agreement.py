"""An evaluator beside a panel of people who ranked the same arguments, and beside words alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.panels.rank_data import Board
from vivavoce.studies.score_table import ITEM_KEY, ScoreTable
from vivavoce.studies.text import count
from vivavoce.systems.ranking.study.order_agreement import (
    LEAST_SOURCES,
    TwoOrders,
    over_sources,
    within_items,
)
from vivavoce.systems.ranking.study.ranks import Lineup
from vivavoce.systems.ranking.study.rows import ArgumentsRow, family_row, run_row
from vivavoce.systems.ranking.study.source_scores import SourceScores

REFERENCE = "reference"
"""What a panel calls the first reference of an item, shown among the answers."""


def panel_rows(lineup: Lineup, board: Board, scores: ScoreTable) -> Iterator[ArgumentsRow]:
    """How a family's order agrees with a panel's, on the sources and items that both have.

    `tau` over the means of sources, `tau_by_item`, `within` (Spearman, item-centred) and `top1` by item, with
    the interval by case; `proxy_score` is the evaluator's mean over the arguments, and `best_source` that of
    the best of them, which the paper holds against the agreement (table 1).
    """
    table = lineup.scores
    row = partial(family_row, table, "panel", against=board.panel, among=lineup.among)
    if table.sources and table.items:
        yield from _proxy_scores(table, row)
    names = _names_on_board(table, board, scores)
    sources = [name for name in table.sources if names.get(name) in board.systems]
    items = sorted(set(board.items) & set(table.items))
    if not sources or not items:
        yield row("tau", n=len(sources), n_items=len(items), reason="no argument that the panel ranked")
        return
    columns = [table.items.index(item) for item in items]
    on_board = np.ix_(
        [board.systems.index(names[name]) for name in sources], [board.items.index(item) for item in items]
    )
    # Rank 1 is the best of a panel, and a high score of an evaluator.
    orders = TwoOrders(
        sources, table.of(sources).means[:, columns], -board.means[on_board], table.groups[columns]
    )
    row = partial(row, n_items=len(items))
    yield from over_sources(orders, partial(row, n_groups=len(set(orders.groups.tolist()))))
    yield from within_items(orders, row)


def _proxy_scores(table: SourceScores, row: Callable[..., ArgumentsRow]) -> Iterator[ArgumentsRow]:
    means = table.means.mean(axis=1)
    best = int(np.argmax(means))
    yield row("proxy_score", value=stats.exact_mean(means) * table.sign, n=len(means))
    yield row("best_source", value=float(means[best]) * table.sign, candidate=table.sources[best])


def _names_on_board(table: SourceScores, board: Board, scores: ScoreTable) -> Mapping[str, str]:
    """What the panel calls each source: its own name, and `reference` for the source of those texts."""
    names = {name: name for name in table.sources}
    if REFERENCE not in board.systems or scores.items is None or scores.answers is None:
        return names
    first = scores.items.filter(pl.col("references").list.len() > 0).select(
        "benchmark", "item", "variant", reference=pl.col("references").list.first().str.strip_chars()
    )
    of_benchmark = first.filter(pl.col("benchmark") == table.benchmark)
    texts = (
        scores.answers(*ITEM_KEY, "candidate", "text", edited=False, items=of_benchmark)
        .filter(pl.col("text").is_not_null())
        .join(of_benchmark, on=ITEM_KEY)
    )
    is_reference = texts.group_by("candidate").agg(
        (pl.col("text").str.strip_chars() == pl.col("reference")).all()
    )
    for name, alike in is_reference.sort("candidate").iter_rows():
        if alike and name in names and table.roles[name] == "ceiling" and name not in board.systems:
            names[name] = REFERENCE
    return names


def across_evaluators(rows: Sequence[ArgumentsRow]) -> Iterator[ArgumentsRow]:
    """Whether evaluators with a higher proxy score agree more with the panel: tau over evaluators."""
    of_panels: dict[tuple[str, str], list[ArgumentsRow]] = {}
    for row in rows:
        if row.part == "panel":
            of_panels.setdefault((row.benchmark, row.against or ""), []).append(row)
    for (benchmark, panel), of_panel in of_panels.items():
        pairs = _score_and_agreement(of_panel)
        k, tau, reason = len(pairs), None, None
        if k < LEAST_SOURCES:
            reason = f"{count(k, 'evaluator')} with both figures: too few to order"
        else:
            tau = stats.kendall(*zip(*pairs, strict=True))
            reason = "one side puts all evaluators level" if tau is None else None
        yield run_row(
            benchmark, "panel", "score_against_agreement", against=panel, value=tau, n=k, reason=reason
        )


def _score_and_agreement(rows: Sequence[ArgumentsRow]) -> list[tuple[float, float]]:
    """The two figures of each evaluator that has both."""
    figures: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        if row.value is not None:
            figures.setdefault((row.metric, row.criterion, row.rater), {})[row.figure] = row.value
    return [
        (f["proxy_score"], f["within"]) for f in figures.values() if {"proxy_score", "within"} <= f.keys()
    ]


def lexical_rows(lineup: Lineup, words: Lineup) -> Iterator[ArgumentsRow]:
    """How much of an evaluator's order words alone explain, on the sources and items that both have."""
    table, lexical = lineup.scores, words.scores
    sources = [name for name in table.sources if name in lexical.sources]
    items = [item for item in table.items if item in set(lexical.items)]
    row = partial(
        family_row,
        table,
        "lexical",
        among=lineup.among,
        against=lexical.family.label,
        n_items=len(items),
    )
    columns = [[t.items.index(item) for item in items] for t in (table, lexical)]
    orders = TwoOrders(
        sources,
        table.of(sources).means[:, columns[0]],
        lexical.of(sources).means[:, columns[1]],
        table.groups[columns[0]],
    )
    yield from over_sources(orders, partial(row, n_groups=len(set(orders.groups.tolist()))))
    yield from within_items(orders, row)
