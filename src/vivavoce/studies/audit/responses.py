"""Candidates' responses with every measure's score, what they are held against, and their words.

All scores are turned so that higher is better. Non-response counts by the criterion's own rule, as on a
leaderboard; what failed or was set aside is absent.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from vivavoce import stats
from vivavoce.core.measure_names import metric_name
from vivavoce.core.records import Measure
from vivavoce.core.specs import signed
from vivavoce.studies.answers import N_WORDS
from vivavoce.studies.audit.rows import CENTRED, PEOPLE, WITHIN, Within
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.intervals import too_few
from vivavoce.studies.overall_design import OVERALL
from vivavoce.studies.primary import NO_QUALITY, is_quality
from vivavoce.studies.rater_scores import is_people, is_rated, whole_responses
from vivavoce.studies.score_matrix import key_of, labels
from vivavoce.studies.score_table import RESPONSE, ScoreTable, by_repeat

YARDSTICK, WORDS, SILENT = "yardstick", "words", "silent"
"""Columns beside those of the measures."""


class Yardstick(NamedTuple):
    """What measures are held against: people's scores or those of a trusted judge, of one criterion."""

    kind: str
    name: str
    keys: tuple[int, ...]

    calls: frozenset[tuple[str, str]] = frozenset()
    """Signature and rater of the trusted judge's calls: their other criteria agree by construction."""

    @property
    def noun(self) -> str:
        """What it is, in a word or two."""
        return "people" if self.kind == PEOPLE else "the trusted judge"

    @property
    def text(self) -> str:
        """What agreement with it is called in a sentence."""
        return self.noun if self.kind == PEOPLE else f"{self.noun} ({self.name}), which is not people"


class Responses(NamedTuple):
    """The responses of one benchmark, a row each in `table`; `measures` by their columns."""

    benchmark: str
    measures: Mapping[str, Measure]
    table: pl.DataFrame
    yardstick: Yardstick | None
    names: Mapping[str, str]
    """The short names of the measures, by column."""

    @property
    def answered(self) -> "Responses":
        """Without silent responses."""
        return self._replace(table=self.table.filter(pl.col(SILENT) == 0.0))

    def within(self, *columns: str, level: str = WITHIN) -> Within:
        """The cells (item by candidate) that have all these columns, centred at their items.

        Repeats are averaged. An item of which one candidate alone has them all tells nothing and is left out.
        With the level `CENTRED` what a candidate has on all items alike is taken out as well.
        """
        # Centred over the responses that are there: labels of some candidates alone still tell these apart.
        cells = (
            self.table.drop_nulls(columns)
            .group_by("item", "variant", "group", "candidate")
            .agg(exact_mean(pl.col(*columns)))
            .filter(pl.len().over("item", "variant") > 1)
            .sort("item", "variant", "candidate")  # a sum in another order has another last digit
        )
        if not cells.height:
            return Within(NOTHING, 0, 0, (), "no question with two candidates' scores: nothing to tell apart")
        items = cells.select(pl.struct("item", "variant").rank("dense")).to_series().to_numpy()
        groups = cells["group"].cast(pl.String)
        names = groups.unique().sort()
        codes = groups.cast(pl.Enum(names)).to_physical().to_numpy()
        systems = cells["candidate"].to_numpy() if level == CENTRED else None
        return Within(
            stats.within_items(cells.select(columns).to_numpy().T, items, codes, systems=systems),
            cells.height,
            cells["candidate"].n_unique(),
            tuple(names),
            too_few(codes),
        )


NOTHING = stats.WithinItems(np.zeros((0, 1, 1)), np.zeros(0, dtype=np.intp))


def audited(scores: ScoreTable, yardstick: Yardstick | None) -> tuple[dict[int, Measure], tuple[str, ...]]:
    """The measures that an audit is about, and lines on the others.

    They say of each response how good it is. People are the yardstick and not examined, and neither is the
    trusted judge's own criterion.
    """
    yardsticks = {*scores.people, *(yardstick.keys if yardstick else ())}
    measures = {k: m for k, m in scores.measures.items() if k not in yardsticks and not is_people(m)}
    chosen = {key: measure for key, measure in measures.items() if _is_graded(measure)}
    omitted = [
        f"{metric_name(m.metric)}, {m.criterion.criterion}"
        for key, m in measures.items()
        if key not in chosen
    ]
    line = f"Left out, being no value of each answer that says how good it is: {'; '.join(omitted)}."
    return chosen, (line,) if omitted else ()


def _is_graded(measure: Measure) -> bool:
    """Whether a measure has a value of each response that says how good it is."""
    name = signed(measure.signature).spec.name
    single = measure.criterion.pool == "mean" and name not in (*NO_QUALITY, OVERALL)
    return single and (is_quality(measure) or is_rated(measure))


def responses_of(
    scores: ScoreTable, measures: Mapping[int, Measure], yardstick: Yardstick | None
) -> list[Responses]:
    """The responses of each benchmark on which one of these measures scored a candidate."""
    rows = whole_responses(scores.scores).filter(pl.col("role") == "candidate")
    columns = {key: f"m{n}" for n, key in enumerate(measures)}
    table = rows.select(*RESPONSE, "group").unique().sort(*RESPONSE)
    for key, column in columns.items():
        table = _joined(table, _upward(rows, key, measures[key]).rename({"value": column}))
    if yardstick:
        of_yardstick = [_upward(rows, key, scores.measures[key]) for key in yardstick.keys]
        # Every person counts alike, however many labelled the response.
        mean = pl.concat(of_yardstick).group_by(RESPONSE).agg(exact_mean(pl.col("value")).alias(YARDSTICK))
        table = _joined(table, mean)
    table = _with_texts(table, rows, scores)
    short = labels(scores.measures)
    parts = table.group_by("benchmark", maintain_order=True)
    return [
        Responses(
            str(benchmark),
            {c: measures[key] for key, c in columns.items() if part[c].null_count() < part.height},
            part,
            yardstick,
            {c: short[key_of(measures[key])] for key, c in columns.items()},
        )
        for (benchmark,), part in parts
    ]


def _joined(table: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    return table.join(more, on=RESPONSE, how="left", validate="1:1", maintain_order="left")


def _upward(rows: pl.DataFrame, key: int, measure: Measure) -> pl.DataFrame:
    """The value of each response by a measure, higher being better: RESPONSE and `value`."""
    values = by_repeat(rows.filter(pl.col("measure_id") == key), measure.criterion).drop_nulls("observed")
    sign = 1.0 if measure.criterion.direction == "higher" else -1.0
    return values.select(*RESPONSE, value=sign * pl.col("observed"))


def _with_texts(table: pl.DataFrame, rows: pl.DataFrame, scores: ScoreTable) -> pl.DataFrame:
    """The table with the logarithm of each response's words, and whether it is silent.

    Silent is a blank text, and one that a measure of the run read as no answer, such as a refusal.
    """
    unread = rows.filter(pl.col("status").is_in(["unanswered", "unreadable"])).select(RESPONSE).unique()
    table = _joined(table, unread.with_columns(unread=pl.lit(value=True)))
    words = pl.DataFrame(schema={**table.select(RESPONSE).schema, "n": pl.UInt32})
    if scores.answers is not None:
        words = scores.answers(*RESPONSE, edited=False, n=N_WORDS).filter(pl.col("n").is_not_null())
    silent = pl.col("unread").fill_null(value=False) | (pl.col("n") == 0).fill_null(value=False)
    return _joined(table, words).with_columns(
        pl.col("n").cast(pl.Float64).log1p().alias(WORDS), silent.cast(pl.Float64).alias(SILENT)
    )
