"""Pairs of answers to one question, the better one first, as preference training (such as DPO) reads them.

Both answers are one candidate's repeats or two candidates'. Nothing is guessed: an answer without a score is
in no pair, and `left_out.json` counts what was left out, by reason.
"""

import json
import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, get_args

import polars as pl

from vivavoce.core.errors import InputError, SelectionError
from vivavoce.core.private_files import new_text, write_private
from vivavoce.core.records import Item, ItemKey, Measure
from vivavoce.core.registry import exporter
from vivavoce.core.tables import restrict_to_items
from vivavoce.facts.fact import Fate, VerdictWord
from vivavoce.run.exchange.export_folder import MADE_BY, README, export_folder
from vivavoce.run.exchange.exporters import Exporter
from vivavoce.run.exchange.sft import json_line, question_names
from vivavoce.run.tables.load import refuse_retired, select_items
from vivavoce.run.tables.run_tables import RunTables
from vivavoce.store import read
from vivavoce.store.forgotten import NOTE, forgotten_answers
from vivavoce.store.integrity import check_texts
from vivavoce.store.redacted import refuse_redacted
from vivavoce.store.view import view_of
from vivavoce.studies.exact_mean import exact_mean
from vivavoce.studies.primary import measures_named
from vivavoce.studies.score_table import ITEM_KEY, RESPONSE, is_confidence

PAIRS, LEFT_OUT = "preferences.jsonl", "left_out.json"
ROUNDING = 1e-9
"""A difference of the margin, and no more, may exceed it by its last digits."""
_VERDICTS = {*get_args(VerdictWord), *get_args(Fate), "failed"}
_WITHOUT_VALUE = ("failed", "set_aside", "unreadable", "unanswered")

_ABOUT = f"""
Pairs of answers to one question, the better one first, as preference training reads them. Not for clinical
use: a score says how an answer compares by one measure, not what helps a patient.
Answers are raw: they are what candidates wrote, and may hold anything, instructions to a model included.

{PAIRS}: one JSON object a line
  benchmark, licence             the benchmark, and the licence of its questions
  item, variant, category, group the question's names; the answers to one group go into one split
  question, context, options     what was asked; null or empty where it has none
  chosen, rejected               the two answers, as they were written
  chosen_score, rejected_score   what the measure says of them: the mean of its passes
  chosen_candidate, …_repeat     who wrote it, and in which repeat
  pair                           candidates: of two candidates; repeats: two repeats of one candidate
  metric, criterion, rater       the measure, with its signature, and in direction its better end
  margin                         the scores of a pair differ by more
  chosen_units, rejected_units   where the metric scores units, such as facts: unit, criterion, text,
                                 verdict, weight, value, status, note and pass of each; else null

{LEFT_OUT}: what is in no pair, by reason
"""


class PreferencesWritten(NamedTuple):
    """The file of pairs, its rows and size, and what was left out: how many, by reason."""

    table: str
    path: Path
    rows: int
    bytes: int
    left_out: Mapping[str, int]


class Scored(NamedTuple):
    """An answer that has a score and a text, and what its units were given."""

    candidate: str
    repeat: int
    text: str
    score: float
    units: list[dict[str, Any]] | None


@exporter("preferences")
class Preferences(Exporter):
    """Pairs of answers to one question whose scores differ by more than a margin, for preference training."""

    metric: str | None = None
    rater: str | None = None
    margin: float | None = None
    items: str | None = None
    redact: bool = False
    skips_credentialed: ClassVar[bool] = True

    def write(self, run: RunTables, to: Path) -> tuple[PreferencesWritten, ...]:
        """Write the pairs, and beside them what was left out.

        Raises `InputError` without a margin or a metric, or where texts are hidden; `SelectionError` where
        the metric names no measure that scores answers, or several.
        """
        margin = self._checked_margin()
        left_out: Counter[str] = Counter()
        with view_of(run.file) as view:
            chosen, db = select_items(view, self.items), view.db
            refuse_redacted(db, "a pair is two texts")
            refuse_retired(view, self.metric or "", self.rater)
            key, measure = _measure(db, self.metric or "", self.rater)
            check_texts(db)
            head = {
                "metric": measure.metric, "criterion": measure.criterion.criterion, "rater": measure.rater,
                "signature": measure.signature, "direction": measure.criterion.direction, "margin": margin,
            }  # fmt: skip
            questions = _questions(db, key, measure, chosen, left_out)
            with export_folder(to, run.file, (PAIRS, LEFT_OUT)) as folder:
                path, n = folder / PAIRS, 0
                with new_text(path) as stream:
                    for question, answers in questions:
                        for pair in _pairs(answers, measure, margin, left_out):
                            stream.write(f"{json_line(question | pair | head)}\n")
                            n += 1
                counts = {reason: count for reason, count in sorted(left_out.items()) if count}
                body = {**head, "pairs": n, "left_out": counts}
                write_private(folder / LEFT_OUT, json.dumps(body, ensure_ascii=False, indent=1) + "\n")
                write_private(folder / README, f"{MADE_BY}: {run.file.path.name}\n{_ABOUT}")
        return (PreferencesWritten("preferences", to / PAIRS, n, (to / PAIRS).stat().st_size, counts),)

    def _checked_margin(self) -> float:
        if self.redact:
            raise InputError("a pair is two texts, and --redact hides them: export preferences without it.")
        if not self.metric:
            raise InputError("preferences are by one measure: name it, such as --metric METRIC:CRITERION.")
        if self.margin is None:
            raise InputError(
                "preferences need a --margin: pairs whose scores differ by that much or less are left out. "
                "It has no default, since what difference matters depends on the measure."
            )
        if not 0 <= self.margin < math.inf:
            raise InputError(f"--margin is a number, 0 or more, in the measure's units, not {self.margin}.")
        return self.margin


def _measure(db: sqlite3.Connection, reference: str, rater: str | None) -> read.KeyedMeasure:
    """The one measure that a reference names. Raises `SelectionError` where it is none, or several."""
    single = [keyed for keyed in _named(db, reference, rater) if _scores_answers(keyed.measure)]
    if not single:
        raise SelectionError(
            f"{reference} has no value for each answer (a pooled figure, a rank or a confidence is none): "
            "name a measure that scores single answers."
        )
    if len(single) > 1:
        raise _several(reference, [keyed.measure for keyed in single])
    return single[0]


def _named(db: sqlite3.Connection, reference: str, rater: str | None) -> list[read.KeyedMeasure]:
    """The measures that a reference names, at least one."""
    every = {keyed.key: keyed.measure for keyed in read.measures(db)}
    named = [read.KeyedMeasure(*entry) for entry in measures_named(reference, every).items()]
    if rater is not None:
        named = [keyed for keyed in named if keyed.measure.rater == rater]
    if not named:
        names = ", ".join(dict.fromkeys(f"{m.metric}:{m.criterion.criterion}" for m in every.values()))
        by = "" if rater is None else f" by the rater {rater!r}"
        raise SelectionError(f"no measure of this run is {reference!r}{by}: it has {names or 'no scores'}.")
    return named


def _scores_answers(measure: Measure) -> bool:
    return measure.criterion.pool == "mean" and not is_confidence(measure)


def _several(reference: str, fitting: Sequence[Measure]) -> SelectionError:
    """The error for a reference that leaves several measures open: which they are."""
    criteria = list(dict.fromkeys(f"{m.metric}:{m.criterion.criterion}" for m in fitting))
    if len(criteria) > 1:
        return SelectionError(f"{reference} is several measures: --metric is one of {', '.join(criteria)}.")
    raters = list(dict.fromkeys(m.rater for m in fitting))
    if len(raters) > 1:
        return SelectionError(f"{criteria[0]} has several raters: --rater is one of {', '.join(raters)}.")
    signatures = [f"{m.signature}:{m.criterion.criterion}" for m in fitting]
    return SelectionError(f"{reference} is several measures: --metric is one of {', '.join(signatures)}.")


def _questions(
    db: sqlite3.Connection, key: int, measure: Measure, chosen: set[ItemKey] | None, left_out: Counter[str]
) -> Iterator[tuple[dict[str, Any], list[Scored]]]:
    """The questions with at least two answers that may stand in pairs; the others are counted."""
    benchmarks = {entry.benchmark: entry.card for entry in read.benchmarks(db)}
    scored = restrict_to_items(read.scores(db, measures=[key], details=True), chosen)
    responses = restrict_to_items(read.responses(db, probed=False).filter(edit=""), chosen)
    if read.measure_probe(db, key):
        raise SelectionError(f"{measure.metric} scores log-likelihoods, and a pair is of answers in words.")
    left_out["answers: made by `viva vary`"] += (
        scored.filter(pl.col("edit") != "").select(RESPONSE).n_unique()
    )
    items = {(item.benchmark, item.item, item.variant): item for item in read.items_by_id(db).values()}
    by_answer = (
        scored.filter(edit="")
        .group_by(*RESPONSE, "role", "group", maintain_order=True)
        .agg(pl.col("status").unique(), exact_mean(pl.col("value")))
    )
    joined = responses.select(*RESPONSE, "role", "group", "final").join(
        by_answer.select(*RESPONSE, "status", "value"), on=RESPONSE, how="left", validate="1:1"
    )
    units, gone = _units(db, measure), forgotten_answers(db)
    for place, rows in joined.sort(RESPONSE).group_by(ITEM_KEY, maintain_order=True):
        item, card = items[place], benchmarks[place[0]]
        answers = []
        for row in rows.iter_rows(named=True):
            is_gone = (*place, row["candidate"], row["repeat"]) in gone
            if reason := _reason(row, item, card.access == "credentialed", is_gone):
                left_out[f"answers: {reason}"] += 1
                continue
            name = tuple(row[column] for column in RESPONSE)
            of_answer = None if units is None else units.get(name, [])
            answers.append(Scored(row["candidate"], row["repeat"], row["final"], row["value"], of_answer))
        left_out["questions: fewer than two scored answers"] += len(answers) < 2
        if len(answers) > 1:
            yield _question(item, card.licence, rows["group"][0]), answers


def _reason(row: Mapping[str, Any], item: Item, credentialed: bool, is_gone: bool) -> str | None:
    """Why an answer is in no pair; null for one that may be."""
    if credentialed:
        return "of a credentialed benchmark"
    if row["role"] != "candidate":
        return f"of a {row['role']}"
    if is_gone:
        return NOTE
    if item.origin is not None:
        return "to a question made by `viva vary`"
    if row["status"] is None:
        return "not scored"
    if without := [status for status in _WITHOUT_VALUE if status in row["status"]]:
        return without[0].replace("_", " ")
    return None if row["final"] else "without a text"


def _question(item: Item, licence: str, group: str) -> dict[str, Any]:
    return {
        **question_names(item, licence, group), "question": item.question, "context": item.context,
        "options": list(item.options),
    }  # fmt: skip


def _pairs(
    answers: Sequence[Scored], measure: Measure, margin: float, left_out: Counter[str]
) -> Iterator[dict[str, Any]]:
    """The pairs of one question; those of equal texts or too near scores are counted."""
    sign = 1 if measure.criterion.direction == "higher" else -1
    for first, second in combinations(answers, 2):
        difference = sign * (first.score - second.score)
        if first.text == second.text:
            left_out["pairs: equal texts"] += 1
        elif abs(difference) <= margin + ROUNDING * max(1.0, abs(first.score), abs(second.score)):
            left_out["pairs: scores differ by no more than the margin"] += 1
        else:
            chosen, rejected = (first, second) if difference > 0 else (second, first)
            yield {
                "chosen": chosen.text, "rejected": rejected.text,
                "chosen_score": chosen.score, "rejected_score": rejected.score,
                "chosen_candidate": chosen.candidate, "chosen_repeat": chosen.repeat,
                "rejected_candidate": rejected.candidate, "rejected_repeat": rejected.repeat,
                "pair": "repeats" if chosen.candidate == rejected.candidate else "candidates",
                "chosen_units": chosen.units, "rejected_units": rejected.units,
            }  # fmt: skip


def _units(db: sqlite3.Connection, measure: Measure) -> dict[tuple[Any, ...], list[dict[str, Any]]] | None:
    """By answer the scores of its units, by the same metric and rater; null where it scores none."""
    keys = [
        key
        for key, of_units in read.measures(db)
        if (of_units.signature, of_units.rater, of_units.criterion.pool)
        == (measure.signature, measure.rater, "unit")
    ]
    if not keys:
        return None
    rows = read.scores(db, measures=keys, details=True, unit_texts=True).filter(edit="")
    rows = rows.filter(pl.col("unit") != "").sort(
        *RESPONSE, "criterion", pl.col("unit").str.len_chars(), "unit", "text", "pass_no"
    )
    units: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        word = (row["note"] or "").partition(":")[0]
        units[tuple(row[name] for name in RESPONSE)].append(
            {
                "unit": row["unit"], "criterion": row["criterion"], "text": row["text"],
                "weight": row["unit_weight"], "value": row["value"],
                "verdict": word if word in _VERDICTS else None, "status": row["status"],
                "note": row["note"], "pass": row["pass_no"],
            }
        )  # fmt: skip
    return units
