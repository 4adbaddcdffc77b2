"""Length: do longer arguments get the higher scores?"""

from collections.abc import Iterator

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.studies.answers import N_WORDS
from vivavoce.studies.intervals import too_few
from vivavoce.studies.score_table import ScoreTable
from vivavoce.studies.text import count
from vivavoce.systems.ranking.study.order_agreement import LEAST_SOURCES, LEVEL, few_sources
from vivavoce.systems.ranking.study.ranks import Lineup
from vivavoce.systems.ranking.study.rows import ArgumentsRow, family_row
from vivavoce.systems.ranking.study.source_scores import Floats


def length_rows(lineup: Lineup, scores: ScoreTable) -> Iterator[ArgumentsRow]:
    """By source the mean number of words; then the correlation with the score, inside items and over sources.

    Inside items both are ranked among the sources, so that hard questions with long arguments have no part
    in it. Blank arguments have no length: their worst score would make length right by construction.
    """
    table = lineup.scores
    words = _words(lineup, scores)
    has_text = ~np.isnan(words)
    for column, name in enumerate(table.sources):
        mean = float(words[column][has_text[column]].mean()) if has_text[column].any() else None
        yield family_row(
            table,
            "length",
            "words",
            candidate=name,
            role=table.roles[name],
            value=mean,
            n=int(has_text[column].sum()),
            reason=None if mean is not None else "no argument with a text",
        )
    if not table.items or len(table.sources) < 2:
        return
    yield _within(lineup, words, has_text)
    k, shared = len(table.sources), has_text.all(axis=0)
    if k < LEAST_SOURCES or not shared.any():
        why = (
            f"{count(k, 'source')}: too few to order"
            if shared.any()
            else "no question with a text of each source"
        )
        yield family_row(table, "length", "tau", n=k, reason=why)
        return
    tau = stats.kendall(words[:, shared].mean(axis=1), table.means[:, shared].mean(axis=1))
    reason = LEVEL if tau is None else few_sources(k)
    yield family_row(table, "length", "tau", value=tau, n=k, n_items=int(shared.sum()), reason=reason)


def _within(lineup: Lineup, words: Floats, has_text: np.ndarray) -> ArgumentsRow:
    table = lineup.scores
    source, item = np.nonzero(has_text)
    ranks = np.zeros((2, len(item)))
    for column in range(len(table.items)):
        of_item = item == column
        if of_item.any():
            for place, values in enumerate((words, table.means)):
                ranks[place, of_item] = _ranks(values[source[of_item], column])
    groups = table.groups[item]
    if not len(item) or (why := too_few(groups)):
        return family_row(
            table, "length", "within", n=len(item), reason=why if len(item) else "no argument with a text"
        )
    figure = stats.within_items(ranks, item, groups).correlation(0, 1)
    interval = figure.jackknife()
    reason = "one side does not vary inside questions" if figure.value is None else None
    return family_row(
        table,
        "length",
        "within",
        value=figure.value,
        low=interval.low,
        high=interval.high,
        n=len(item),
        reason=reason,
    )


def _ranks(values: Floats) -> Floats:
    """Mid-ranks of a few values, the lowest first."""
    rounded = np.round(values, 9)
    return np.asarray(
        (rounded[:, None] > rounded).sum(axis=1) + ((rounded[:, None] == rounded).sum(axis=1) + 1) / 2
    )


def _words(lineup: Lineup, scores: ScoreTable) -> Floats:
    """Words of each source's argument by item, a mean over repeats; NaN where it has no text."""
    table = lineup.scores
    words = np.full((len(table.sources), len(table.items)), np.nan)
    if scores.answers is None:
        return words
    counted = (
        scores.answers("benchmark", "item", "variant", "candidate", edited=False, words=N_WORDS)
        .filter((pl.col("benchmark") == table.benchmark) & (pl.col("words") > 0))
        .group_by("candidate", "item", "variant")
        .agg(pl.col("words").mean())
    )
    source_at = {name: n for n, name in enumerate(table.sources)}
    item_at = {item: n for n, item in enumerate(table.items)}
    for name, item, variant, n in counted.iter_rows():
        if name in source_at and (item, variant) in item_at:
            words[source_at[name], item_at[item, variant]] = n
    return words
