"""What answers bring beside their scores: how long each took, and how sure its writer was."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from vivavoce.core import registry, specs
from vivavoce.core.errors import SelectionError
from vivavoce.core.records import ItemKey, Measure
from vivavoce.run.tables.load import answers_of, load_items
from vivavoce.store import read
from vivavoce.store.person_answers import ORIGIN
from vivavoce.store.view import View
from vivavoce.studies.answers import BLANK
from vivavoce.studies.score_table import CONFIDENCE, ITEM, ITEM_KEY, SECONDS, SECONDS_MEASURE, ScoreTable
from vivavoce.studies.text import listed

OUTCOMES = (SECONDS, CONFIDENCE)
"""What is recorded with answers, in the order of questions: how fast, and how sure."""
_STATED = "confidence(of=stated)"
_PLACE = (*ITEM, "format", "candidate", "role", "repeat")


class _Outcome(NamedTuple):
    """An outcome: the key of its rows, its measure, its value of an answer, and where values come from."""

    key: int
    measure: Measure
    value: pl.Expr
    source: str


def is_outcome(view: View, metric: str | None, *, assisted: bool) -> bool:
    """Whether a metric's name means what is recorded with answers.

    Scores of that name that the run holds come first, but for what people said of their own answers.
    """
    if metric not in OUTCOMES:
        return False
    measures = [keyed.measure for keyed in view.fetch(read.measures)]
    return assisted or metric not in {specs.signed(m.signature).spec.name for m in measures}


def no_better_end(view: View) -> str:
    """The line on a scale without a better end."""
    command = f"viva study {view.path} calibration"
    return f"More confident is not better: `{command}` compares confidence with right and wrong."


_TIMES = (
    "Seconds are as they were recorded with the answers: a candidate's depend on endpoint, machine and load "
    "too, a person's run from opening the page to the last change."
)


def outcome_to_compare(view: View, name: str, names: Sequence[str], items: set[ItemKey] | None) -> ScoreTable:
    """An outcome of these candidates, with the line on what it is.

    Raises `SelectionError` where nothing is known.
    """
    table = outcome_scores(view, name, items, names)
    return table._replace(notes=(_TIMES if name == SECONDS else no_better_end(view), *table.notes))


def outcomes_of_people(view: View, people: Sequence[str], items: set[ItemKey] | None) -> ScoreTable | None:
    """How long people took and how sure they were, as far as either is known; with notes on what is not."""
    tables, notes = list[ScoreTable](), list[str]()
    for name in OUTCOMES:
        try:
            tables.append(outcome_to_compare(view, name, people, items))
        except SelectionError as error:
            notes.append(f"Not compared: {error}")
        else:
            notes += tables[-1].notes
    if not tables:
        return None
    joined = tables[0] if len(tables) == 1 else tables[0].joined(tables[1])
    return joined._replace(notes=tuple(notes))


def outcome_scores(
    view: View, name: str, items: set[ItemKey] | None, candidates: Sequence[str]
) -> ScoreTable:
    """An outcome of the unedited answers of these candidates, as score rows.

    A time of 0, or below, is not known and has no row. That of an answer that did not arrive has failed: the
    slow ones may be those that time out. A blank answer is unanswered. Raises `SelectionError` where nothing
    is known of any candidate.
    """
    outcome = _outcome(name)
    answers = answers_of(view, items)(
        *_PLACE, "status", edited=False, value=outcome.value, is_blank=BLANK
    )  # fmt: skip
    answers = answers.filter(pl.col("candidate").is_in(list(candidates)))
    arrived, failed = pl.col("status") == "ok", pl.col("status") == "failed"
    is_known = (arrived & pl.col("value").is_finite()).fill_null(value=False)
    if not answers.select(is_known.any()).item():
        raise SelectionError(f"no {name} of these answers are known: {outcome.source}")
    blank = pl.col("is_blank").fill_null(value=False)
    scores = answers.filter(is_known | failed | blank).select(
        *_PLACE,
        pl.lit("").alias("edit"),
        pl.lit("").alias("unit"),
        pl.lit("").alias("ballot"),
        pl.lit(1).alias("pass_no"),
        pl.when(arrived & ~blank).then("value").alias("value"),
        status=pl.when(failed).then(pl.lit("failed"))
        .when(blank).then(pl.lit("unanswered")).otherwise(pl.lit("ok")),
        measure_id=pl.lit(outcome.key, pl.Int64),
    )  # fmt: skip
    scores = _weighed(view, scores, items)
    notes = _notes(name, answers, is_known, blank)
    return ScoreTable(scores, {outcome.key: outcome.measure}, notes=tuple(notes))


def _outcome(name: str) -> _Outcome:
    if name == SECONDS:
        source = (
            "they come with answers that are asked for here, or with `viva import … --map seconds=COLUMN`."
        )
        return _Outcome(-1, SECONDS_MEASURE, _log_seconds(), source)
    metric = registry.build("metric", _STATED)
    measure = Measure(metric=str(metric), signature=registry.signature(metric), criterion=metric.criteria[0])
    source = (
        "`viva collect … --confidence` asks for it, and `viva import … --map confidence=COLUMN` brings it."
    )
    return _Outcome(-2, measure, _stated_confidence(), source)


def _log_seconds() -> pl.Expr:
    """The logarithm of the seconds of an answer; null for 0, below, and what is not known."""
    of_person = _of_meta(SECONDS, lambda meta, text: meta[SECONDS] if meta.get("origin") == ORIGIN else None)
    seconds = pl.coalesce(pl.col("seconds"), of_person)
    return pl.when(seconds > 0).then(seconds.log())


def _stated_confidence() -> pl.Expr:
    """The confidence that an answer states, from 0 to 1; null for none, and one that cannot be read."""
    from vivavoce.logprobs.confidence import statement_of

    return _of_meta(CONFIDENCE, lambda meta, text: statement_of(meta[CONFIDENCE], text).value)


def _of_meta(field: str, value: Callable[[Mapping[str, Any], str], Any]) -> pl.Expr:
    """What a function makes of the `meta` and the text of an answer; null where `meta` lacks the field."""

    def value_of(fields: Mapping[str, str | None]) -> float | None:
        meta = json.loads(fields["meta"] or "{}")
        if not isinstance(meta, dict) or meta.get(field) is None:
            return None
        number = value(meta, fields["text"] or "")
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        return float(number) if is_number and math.isfinite(number) else None

    has_field = pl.col("meta").str.contains(f'"{field}"', literal=True)
    fields = pl.when(has_field).then(pl.struct("meta", "text"))
    return fields.map_elements(value_of, return_dtype=pl.Float64, skip_nulls=True)


def _weighed(view: View, scores: pl.DataFrame, items: set[ItemKey] | None) -> pl.DataFrame:
    """The score rows with the weights of their items, where a sample of a benchmark was asked."""
    weights = load_items(view, items).select(*ITEM_KEY, "weight")
    if not (weights["weight"] != 1).any():
        return scores
    return scores.join(weights, on=ITEM_KEY, how="left", validate="m:1", maintain_order="left")


def _notes(name: str, answers: pl.DataFrame, is_known: pl.Expr, blank: pl.Expr) -> Iterator[str]:
    """How many answers failed, have no known value, or are blank and set aside, by candidate."""
    failed = pl.col("status") == "failed"
    counts = answers.group_by("candidate", maintain_order=True).agg(
        n=pl.len(), failed=failed.sum(), unknown=(~is_known & ~blank & ~failed).sum(), blank=blank.sum()
    )
    kinds = {
        "failed": "lost with what failed",
        "unknown": "not known",
        "blank": "set aside for blank answers",
    }
    for column, words in kinds.items():
        parts = [f"{row[column]:,} of {row['n']:,} ({row['candidate']})"
                 for row in counts.sort("candidate").iter_rows(named=True) if row[column]]  # fmt: skip
        if parts:
            yield f"{name}: {words} in {listed(parts)} answers."
