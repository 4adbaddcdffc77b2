"""Scores of real texts beside those of their controls: the edits `control:KIND` and `control:KIND:DRAW`."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core.records import Criterion, Measure
from vivavoce.studies.controls.strata import StrataTest, strata_test
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.row_parts import distinct
from vivavoce.studies.score_table import ITEM, RESPONSE, ScoreTable, counted_value, item_of
from vivavoce.variants.control_kinds import KINDS, PREFIX

PAIR = [*RESPONSE, "pass_no"]
"""The columns that a real text's score shares with that of its control."""
SILENT = ("unanswered", "unreadable")
DIFFERENCES = ("d", "d_low", "d_high", "greater")
"""Real less control as observed, with the failed scores at their worst for the real text and at their best,
and whether the real text is ahead (1), level (.5) or behind (0)."""
_EDIT = rf"(?s)^{PREFIX}([^:]+)(?::(\d+))?$"


class KindPairs(NamedTuple):
    """The pairs of one kind by one measure on one benchmark.

    `items` has a row per item that has a pair: `DIFFERENCES`, averaged over passes, repeats, draws and
    candidates in this order; a difference is null where nothing is observed, NaN where a score failed on a
    side without a limit. `strata` is the test of the strata of injections.
    `furthest` is the pair in which the control gained most, null without a pair.
    """

    kind: str
    items: pl.DataFrame
    furthest: dict[str, Any] | None
    n_pairs: int
    n_failed: int
    n_unanswered: int
    n_without_real: int
    n_candidates: int
    n_draws: int
    strata: StrataTest | None = None


def with_kinds(scores: pl.DataFrame) -> pl.DataFrame:
    """The rows of whole answers and of controls: `kind` is empty for answers, `draw` 0 where there is one.

    Other edits, pieces and ballots are left out.
    """
    parts = pl.col("edit").str.extract_groups(_EDIT)
    return (
        scores.filter((pl.col("unit") == "") & (pl.col("ballot") == ""))
        .filter((pl.col("edit") == "") | pl.col("edit").str.starts_with(PREFIX))
        .with_columns(kind=parts.struct[0].fill_null(""), draw=parts.struct[1].cast(pl.Int64).fill_null(0))
        .filter((pl.col("edit") == "") | (pl.col("kind") != ""))
    )


def kinds_of(scores: ScoreTable, answers: pl.DataFrame) -> dict[str, list[str]]:
    """By benchmark the kinds of control that candidates' answers have, in the order of `KINDS`.

    Also those that nobody has scored yet. `answers` are the scores of candidates and ceilings.
    """
    rows = with_kinds(distinct(answers, "benchmark", "candidate", "edit", "unit", "ballot"))
    tables = [rows.filter(pl.col("kind") != "").select("benchmark", "kind")]
    if scores.answers is not None:
        kind = pl.col("edit").str.extract(_EDIT, 1).alias("kind")
        edited = scores.answers("benchmark", "candidate", "edit", edited=True)
        of_texts = edited.filter(pl.col("edit").str.starts_with(PREFIX))
        names = rows["candidate"].unique().to_list()
        tables.append(of_texts.filter(pl.col("candidate").is_in(names)).select("benchmark", kind))
    place = {name: n for n, name in enumerate(KINDS)}
    pairs = set(pl.concat(tables).drop_nulls().unique().iter_rows())
    kinds: dict[str, list[str]] = {}
    for benchmark, kind in sorted(pairs, key=lambda pair: (pair[0], place.get(pair[1], len(place)), pair[1])):
        kinds.setdefault(benchmark, []).append(kind)
    return kinds


def pairs_of(rows: pl.DataFrame, measure: Measure) -> Iterator[KindPairs]:
    """The pairs of each kind that has a score, from the rows `with_kinds` of one measure and benchmark."""
    scored = _with_fillings(rows, measure.criterion)
    real = scored.filter(pl.col("kind") == "")
    answered = real.filter(~pl.col("status").is_in(SILENT)).select(
        *PAIR, *(pl.col(name).alias(f"real_{name}") for name in ("y", "worst", "best", "status", "value"))
    )
    for (kind,), controls in scored.filter(pl.col("kind") != "").group_by("kind", maintain_order=True):
        pairs = controls.join(answered, on=PAIR, validate="m:1", maintain_order="left").with_columns(
            d=pl.col("real_y") - pl.col("y"),
            d_low=pl.col("real_worst") - pl.col("best"),
            d_high=pl.col("real_best") - pl.col("worst"),
        )
        # Equal scores must tie, whatever their last digit.
        pairs = pairs.with_columns(greater=0.5 + 0.5 * pl.col("d").round(9).sign())
        of_silent = controls.join(
            real.filter(pl.col("status").is_in(SILENT)).select(PAIR), on=PAIR, how="semi"
        )
        observed = pairs.drop_nulls("d")
        failed = (pl.col("status") == "failed") | (pl.col("real_status") == "failed")
        yield KindPairs(
            str(kind),
            _by_item(pairs),
            _furthest(observed),
            observed.height,
            pairs.filter(failed).height,
            pairs.filter(pl.col("status").is_in(SILENT)).height,
            of_silent.height,
            observed["candidate"].n_unique(),
            observed["draw"].n_unique(),
            strata_test(observed) if kind == "injection" else None,
        )


def _with_fillings(rows: pl.DataFrame, criterion: Criterion) -> pl.DataFrame:
    """The rows with `y`, the score turned so that higher is better, and that of a failed one at both ends."""
    sign = 1.0 if criterion.direction == "higher" else -1.0
    observed = sign * counted_value(criterion)

    def filling(limit: float | None) -> pl.Expr:
        # Unlike a null, NaN swallows the mean: what nothing bounds must not drop out of a bound.
        end = float("nan") if limit is None else sign * limit
        return pl.when(pl.col("status") == "failed").then(pl.lit(end)).otherwise(observed)

    return rows.with_columns(y=observed, worst=filling(criterion.worst), best=filling(criterion.best)).sort(
        *PAIR, "kind", "draw"
    )


def _by_item(pairs: pl.DataFrame) -> pl.DataFrame:
    """The mean differences by item: over passes, then repeats, draws and candidates."""
    item = item_of(pairs)
    table = pairs.select(*item, "candidate", "repeat", "draw", *DIFFERENCES)
    for columns in (("candidate", "draw", "repeat"), ("candidate", "draw"), ("candidate",), ()):
        # A plain mean would weigh a candidate by how many draws and repeats it has.
        table = table.group_by(*item, *columns, maintain_order=True).agg(exact_mean(pl.col(*DIFFERENCES)))
    return table.sort(*ITEM)


def _furthest(pairs: pl.DataFrame) -> dict[str, Any] | None:
    """The pair in which the control gained most on the real text; of several the first by its names."""
    if not pairs.height:
        return None
    order = pairs.sort(pl.col("d").round(9), *PAIR, "draw")
    return order.select(*PAIR, "edit", "value", "real_value").row(0, named=True)
